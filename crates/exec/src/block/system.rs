//! What the system has: printing, and assertions that fail.

use super::access::{LaneFault, memory_cause, value};
use super::frame::Frame;
use super::mask::Mask;
use super::print::{Arguments, printed};
use super::run::Setting;
use super::spaces::{Place, Reach};
use crate::error::Cause;
use crate::step::{Space, SystemFunction, SystemStep};
use peermap_memory::Access;

/// Memory at generic addresses, as a lane sees it.
#[derive(Clone, Copy)]
pub(crate) struct LaneMemory<'m> {
    pub(crate) frame: &'m Frame,
    pub(crate) setting: Setting<'m>,
    pub(crate) lane: usize,
}

impl LaneMemory<'_> {
    /// Reads so many bytes.
    pub(crate) fn bytes<const N: usize>(&self, address: u64) -> Result<[u8; N], LaneFault> {
        let reach = Reach { space: Space::Generic, access: Access::Read, lane: self.lane };
        let mut bytes = [0; N];
        match self.frame.spaces.place(reach, address, N)? {
            // No generic address is one of constants alone.
            Place::BehindConstants(_) => {}
            Place::Own(window, inside) => bytes.copy_from_slice(self.frame.spaces.read(reach, window, inside, N)?),
            Place::Device(address) => {
                let fault = |fault| LaneFault { lane: self.lane, cause: memory_cause(fault, Access::Read) };
                self.setting.view.read(address, &mut bytes).map_err(fault)?;
            }
        }
        Ok(bytes)
    }

    /// Reads up to the first byte that is zero.
    pub(crate) fn text(&self, address: u64) -> Result<Vec<u8>, LaneFault> {
        let mut text = Vec::new();
        loop {
            match self.bytes(address.wrapping_add(text.len() as u64))? {
                [0] => return Ok(text),
                [byte] => text.push(byte),
            }
        }
    }
}

/// Carries out a call for all lanes, in order.
pub(crate) fn call_system(
    step: &SystemStep,
    frame: &mut Frame,
    lanes: &Mask,
    setting: Setting<'_>,
) -> Result<(), LaneFault> {
    for lane in lanes.lanes() {
        let argument = |number: usize| step.arguments.get(number).map_or(0, |operand| value(*operand, frame, lane));
        let memory = LaneMemory { frame, setting, lane };
        match step.function {
            SystemFunction::Print => {
                let result = print(memory, argument(0), argument(1))?;
                if let Some(target) = step.target {
                    frame.set_lane(target, lane, u64::from(result.cast_unsigned()));
                }
            }
            SystemFunction::AssertFail => return Err(LaneFault { lane, cause: failed(memory, argument)? }),
        }
    }
    Ok(())
}

/// `vprintf`: how many arguments there are, or -1 for no format.
fn print(memory: LaneMemory<'_>, format: u64, arguments: u64) -> Result<i32, LaneFault> {
    if format == 0 {
        return Ok(-1);
    }
    let format = memory.text(format)?;
    let mut arguments = Arguments::new(memory, arguments);
    let text = printed(&format, &mut arguments)?;
    (memory.setting.print)(&text);
    Ok(arguments.count())
}

/// `__assertfail`.
fn failed(memory: LaneMemory<'_>, argument: impl Fn(usize) -> u64) -> Result<Cause, LaneFault> {
    let text = |number| Ok(String::from_utf8_lossy(&memory.text(argument(number))?).into_owned());
    Ok(Cause::Assertion { message: text(0)?, file: text(1)?, line: argument(2) as u32, function: text(3)? })
}
