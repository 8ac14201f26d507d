//! From addresses and calls as instructions name them to those of steps.

use peermap_ptx::instruction::{Call, CallArgument, CallReturn, CallTarget};
use peermap_ptx::{Address, AddressBase, Source, StateSpace};

use crate::compile::layout;
use crate::compile::plan::Planner;
use crate::step::{Location, Operand, Space, Step, SystemStep};
use crate::window::Window;

impl Planner<'_> {
    /// Where an instruction reaches in a space.
    pub(super) fn location(&self, space: StateSpace, address: Address) -> Location {
        let offset = address.offset;
        let (space, base, further, bits) = match address.base {
            AddressBase::Register(register) => {
                (of(space), self.operand(Source::Register(register)), 0, self.places.bits(register))
            }
            AddressBase::Absolute => (of(space), Operand::Constant(0), 0, 64),
            // A symbol tells its space, whether the instruction names one or not.
            AddressBase::Symbol(symbol) => match self.layout.address(symbol) {
                layout::Address::In(window, at) => (Space::Own(window), Operand::Constant(at), 0, 64),
                layout::Address::Data { offset, constant: true } => (Space::Constant, Operand::Constant(offset), 0, 64),
                layout::Address::Data { offset, constant: false } => {
                    (Space::Global, Operand::Scalar { word: self.places.data, stride: 0 }, offset, 64)
                }
                layout::Address::Code(at) => (Space::Global, Operand::Constant(at), 0, 64),
            },
        };
        Location { space, base, offset: offset.wrapping_add_unsigned(further), bits }
    }

    /// The step of a call; `None` if it is of something else than the system has.
    pub(super) fn system_call(&self, index: u32, call: &Call) -> Option<Step> {
        let CallTarget::Direct(id) = &call.target else { return None };
        let value = |argument: &CallArgument| match argument {
            CallArgument::Value(source) => Some(self.operand(*source)),
            CallArgument::Local(_) => None,
        };
        let returned = call.returns.first().and_then(|returned| match returned {
            CallReturn::Register(register) => *register,
            CallReturn::Local(_) => None,
        });
        Some(Step::System(SystemStep {
            instruction: index,
            function: *self.system.get(id)?,
            arguments: call.arguments.iter().map(value).collect::<Option<_>>()?,
            target: returned.map(|register| self.target(register)),
        }))
    }
}

fn of(space: StateSpace) -> Space {
    match space {
        StateSpace::Generic => Space::Generic,
        StateSpace::Global => Space::Global,
        StateSpace::Const => Space::Constant,
        // A block is the only one of its cluster.
        StateSpace::Shared | StateSpace::SharedCluster => Space::Own(Window::Shared),
        StateSpace::Local | StateSpace::ParamFunction => Space::Own(Window::Local),
        StateSpace::ParamEntry => Space::Own(Window::Parameter),
    }
}
