//! Addresses of variables, and of spaces within the generic one.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use peermap_ptx::{RegisterId, Source, StateSpace, Symbol};

use super::emitter::Emitter;
use crate::compile::layout::Address;
use crate::window::Window;

/// How the addresses of a space are made generic.
enum Distance {
    None,
    Window(Window),
    /// Constants lie where the variables of the module start.
    Data,
}

impl Emitter<'_, '_> {
    /// The address of a symbol in its own space, and so many bytes behind it.
    pub(super) fn address_of(&mut self, symbol: Symbol, offset: i64) -> Value {
        match self.surroundings.layout.address(symbol) {
            Address::In(_, at) | Address::Code(at) | Address::Data { offset: at, constant: true } => {
                self.constant(types::I64, at.cast_signed().wrapping_add(offset))
            }
            Address::Data { offset: at, constant: false } => {
                let start = self.data();
                self.builder.ins().iadd_imm_s(start, at.cast_signed().wrapping_add(offset))
            }
        }
    }

    fn distance(&mut self, space: StateSpace) -> Option<Value> {
        match distance(space) {
            Distance::None => None,
            Distance::Window(window) => Some(self.constant(types::I64, window.base().cast_signed())),
            Distance::Data => Some(self.data()),
        }
    }

    /// `cvta`.
    pub(super) fn make_generic(&mut self, space: StateSpace, destination: RegisterId, source: Source) {
        let mut value = self.integer(source, 64, false);
        if let Some(distance) = self.distance(space) {
            value = self.builder.ins().iadd(value, distance);
        }
        self.write(destination, value, 64, false);
    }

    /// `cvta.to`.
    pub(super) fn make_of_space(&mut self, space: StateSpace, destination: RegisterId, source: Source) {
        let mut value = self.integer(source, 64, false);
        if let Some(distance) = self.distance(space) {
            value = self.builder.ins().isub(value, distance);
        }
        self.write(destination, value, 64, false);
    }

    /// `isspacep`.
    pub(super) fn is_in_space(&mut self, space: StateSpace, destination: RegisterId, source: Source) {
        let value = self.integer(source, 64, false);
        let holds = match distance(space) {
            Distance::Window(window) => self.is_in_window(value, window),
            Distance::Data => self.is_constant(value),
            // What is in no other window, or among the parameters of the launch, whose window lies in that of global
            // memory.
            Distance::None => {
                let shared = self.is_in_window(value, Window::Shared);
                let local = self.is_in_window(value, Window::Local);
                let constant = self.is_constant(value);
                let elsewhere = self.builder.ins().bor(shared, local);
                let elsewhere = self.builder.ins().bor(elsewhere, constant);
                self.builder.ins().bxor_imm_s(elsewhere, 1)
            }
        };
        let wide = self.builder.ins().uextend(types::I64, holds);
        self.write(destination, wide, 1, false);
    }

    fn is_in_window(&mut self, value: Value, window: Window) -> Value {
        let inside = self.builder.ins().iadd_imm_s(value, window.base().cast_signed().wrapping_neg());
        let above = self.builder.ins().ushr_imm_u(inside, 32);
        self.builder.ins().icmp_imm_s(IntCC::Equal, above, 0)
    }

    fn is_constant(&mut self, value: Value) -> Value {
        let start = self.data();
        let inside = self.builder.ins().isub(value, start);
        let bytes = self.surroundings.size.spaces.constant;
        self.builder.ins().icmp_imm_u(IntCC::UnsignedLessThan, inside, bytes.cast_signed())
    }

    /// `mapa`: a block is the only one of its cluster, so every address stays what it is.
    pub(super) fn map_shared(&mut self, bits: u32, destination: RegisterId, address: Source) {
        let value = self.integer(address, 64, false);
        let kept = self.cut(value, bits);
        self.write(destination, kept, bits, false);
    }

    /// `getctarank`: the first and only block of the cluster.
    pub(super) fn rank_of(&mut self, destination: RegisterId) {
        let first = self.constant(types::I64, 0);
        self.write(destination, first, 32, false);
    }
}

fn distance(space: StateSpace) -> Distance {
    match space {
        StateSpace::Generic | StateSpace::Global => Distance::None,
        StateSpace::Shared | StateSpace::SharedCluster => Distance::Window(Window::Shared),
        StateSpace::Local | StateSpace::ParamFunction => Distance::Window(Window::Local),
        StateSpace::ParamEntry => Distance::Window(Window::Parameter),
        StateSpace::Const => Distance::Data,
    }
}
