//! What an instruction makes of the shapes that it reads.

use super::shape::{BlockShape, Value};
use crate::body::Register;
use crate::instruction::{
    Barrier, BinaryOp, Conversion, Half, Instruction, Load, Operation, StateSpace, TernaryOp, UnaryOp,
};
use crate::operand::{AddressBase, MoveSource, RegisterId, Source, Symbol};
use crate::special::{Axis, SpecialRegister};
use crate::types::{BitType, IntegerType, ScalarType, TypeClass};

/// Reads shapes, and notes what had to be assumed.
pub(super) struct Transfer<'v> {
    pub(super) registers: &'v [Register],
    pub(super) values: &'v [Value],
    pub(super) block: BlockShape,
    /// Whether the last result is affine only if its source does not wrap around between threads.
    pub(super) assumed: bool,
}

impl Transfer<'_> {
    /// The value of each register that the instruction writes, all of one shape.
    pub(super) fn result(&mut self, instruction: &Instruction) -> Value {
        self.assumed = false;
        let reads = instruction.operation.reads();
        // What is not known yet is not guessed: a shape never gets more precise again.
        if reads.iter().any(|register| self.values[register.index()] == Value::Undefined) {
            return Value::Undefined;
        }
        let value = self.operation(&instruction.operation);
        let Some(guard) = instruction.guard else { return value };
        // Where the guard differs, some threads keep what they had.
        if self.values[guard.predicate.index()].is_uniform() { value } else { Value::Varying }
    }

    fn read(&self, source: Source) -> Value {
        match source {
            Source::Register(register) => self.values[register.index()],
            Source::Immediate(immediate) => Value::constant(immediate.bits),
        }
    }

    fn operation(&mut self, operation: &Operation) -> Value {
        match operation {
            Operation::Move { source, .. } => self.moved(*source),
            Operation::Unary { op, source, .. } => self.unary(*op, self.read(*source)),
            Operation::Binary { op, a, b, .. } => self.binary(*op, self.read(*a), self.read(*b)),
            Operation::Ternary { op, a, b, c, .. } => self.ternary(*op, self.read(*a), self.read(*b), self.read(*c)),
            Operation::Convert { conversion, destination, a, b: None } => {
                let register = self.registers[destination.index()].ty;
                self.converted(*conversion, self.read(*a), register)
            }
            Operation::Load(load) => self.loaded(load),
            // Where threads come to one barrier by number, others may learn something else at another.
            Operation::Barrier(Barrier { threads: None, barrier: Source::Immediate(_), .. }) => Value::UNIFORM,
            Operation::MoveVector { sources, .. } => {
                sources.iter().map(|source| self.moved(*source)).fold(Value::Undefined, uniform)
            }
            // What is a function of values alone is the same where they are.
            Operation::Convert { .. }
            | Operation::ConvertPack(_)
            | Operation::InsertBits { .. }
            | Operation::Lop3(_)
            | Operation::Carry(_)
            | Operation::SetPredicate(_)
            | Operation::Set(_)
            | Operation::Pack { .. }
            | Operation::Unpack { .. }
            | Operation::CreatePolicy { .. } => self.function(operation),
            _ => Value::Varying,
        }
    }

    /// Uniform if all that is read is.
    fn function(&self, operation: &Operation) -> Value {
        let reads = operation.reads();
        reads.iter().map(|register| self.values[register.index()]).fold(Value::UNIFORM, uniform)
    }

    fn moved(&self, source: MoveSource) -> Value {
        match source {
            MoveSource::Value(source) => self.read(source),
            MoveSource::Special(special) => self.special(special),
            // The address of what each thread has for itself is the same number for all.
            MoveSource::Symbol(..) => Value::UNIFORM,
        }
    }

    fn special(&self, special: SpecialRegister) -> Value {
        use SpecialRegister as S;
        match special {
            S::Tid(Axis::X) => Value::THREAD,
            S::Tid(Axis::Y | Axis::Z) if self.block == BlockShape::Any => Value::Varying,
            S::Tid(_) => Value::constant(0),
            S::Ntid(_) => Value::at_most(1024),
            S::LaneId | S::WarpId => Value::Varying,
            S::LanemaskEq | S::LanemaskGe | S::LanemaskGt | S::LanemaskLe | S::LanemaskLt => Value::Varying,
            S::Clock | S::ClockHi | S::Clock64 => Value::Varying,
            S::GlobalTimer | S::GlobalTimerLow | S::GlobalTimerHigh => Value::Varying,
            S::PerformanceMonitor(_) | S::PerformanceMonitor64(_) => Value::Varying,
            _ => Value::UNIFORM,
        }
    }

    fn unary(&self, op: UnaryOp, source: Value) -> Value {
        match op {
            UnaryOp::Neg(ty) => scaled(source, -1, ty.bits()),
            // A thread's local memory may have a generic address of its own.
            UnaryOp::ToGeneric { space: StateSpace::Local, .. } => Value::Varying,
            // Every other window begins somewhere: an address is moved by the same distance in all threads.
            UnaryOp::ToGeneric { .. } | UnaryOp::FromGeneric { .. } => without_bounds(source),
            _ => uniform(Value::UNIFORM, source),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: Value, b: Value) -> Value {
        match op {
            BinaryOp::Add { ty, saturate: false } if !ty.is_packed() => sum(a, b, 1, ty.bits()),
            BinaryOp::Sub { ty, saturate: false } if !ty.is_packed() => sum(a, b, -1, ty.bits()),
            BinaryOp::Mul { ty, half } => self.product(ty, half, a, b),
            BinaryOp::ShiftLeft(ty) => shifted(a, b, ty),
            _ => uniform(uniform(Value::UNIFORM, a), b),
        }
    }

    fn ternary(&mut self, op: TernaryOp, a: Value, b: Value, c: Value) -> Value {
        match op {
            TernaryOp::Mad { ty, half, saturate: false } => {
                let bits = if half == Half::Wide { 2 * ty.bits() } else { ty.bits() };
                sum(self.product(ty, half, a, b), c, 1, bits)
            }
            TernaryOp::Select { .. } if c.is_uniform() => a.join(b),
            _ => [a, b, c].into_iter().fold(Value::UNIFORM, uniform),
        }
    }

    fn product(&mut self, ty: IntegerType, half: Half, a: Value, b: Value) -> Value {
        if a.is_uniform() && b.is_uniform() {
            return Value::UNIFORM;
        }
        let factor = |value| if let Value::Affine { constant, .. } = value { constant } else { None };
        let (value, factor) = match (factor(a), factor(b)) {
            (_, Some(factor)) => (a, factor),
            (Some(factor), _) => (b, factor),
            _ => return Value::Varying,
        };
        let signed = sign_extended(factor, ty.bits());
        match half {
            Half::Low => scaled(value, signed, ty.bits()),
            Half::High => Value::Varying,
            Half::Wide => {
                let factor = if ty.is_signed() { signed } else { factor.cast_signed() };
                scaled(self.widened(value, ty.bits(), ty.is_signed()), factor, 2 * ty.bits())
            }
        }
    }

    /// A value with more bits in front. Between two threads it may have wrapped around before.
    fn widened(&mut self, value: Value, bits: u32, signed: bool) -> Value {
        let Value::Affine { stride, most, .. } = value else { return value };
        let limit = if signed { 1_u64 << (bits - 1) } else { u64::MAX >> (64 - bits) };
        self.assumed |= stride != 0 && most.is_none_or(|most| most >= limit);
        value
    }

    fn converted(&mut self, conversion: Conversion, source: Value, register: ScalarType) -> Value {
        let Conversion { to, from, saturate, .. } = conversion;
        let is_integer = |ty: ScalarType| matches!(ty.class(), TypeClass::Signed | TypeClass::Unsigned);
        if source.is_uniform() {
            return without_constant(source, to, from);
        }
        if saturate || !is_integer(to) || !is_integer(from) || to.bits().min(from.bits()) < 32 {
            return Value::Varying;
        }
        // A wider source is cut off, and a wider destination is filled up.
        let mut value = scaled(source, 1, from.bits());
        if to.bits() > from.bits() {
            value = self.widened(value, from.bits(), from.is_signed());
        }
        value = scaled(value, 1, to.bits());
        if register.bits() > to.bits() {
            value = self.widened(value, to.bits(), to.is_signed());
        }
        value
    }

    fn loaded(&self, load: &Load) -> Value {
        let uniform_address = match load.address.base {
            AddressBase::Register(register) => self.values[register.index()].is_uniform(),
            AddressBase::Symbol(_) | AddressBase::Absolute => true,
        };
        // What one thread reads all may read, as long as it is not memory that each has for itself.
        let is_shared = match load.space {
            StateSpace::ParamEntry => true,
            StateSpace::Const | StateSpace::Global | StateSpace::Shared | StateSpace::SharedCluster => true,
            StateSpace::Generic => matches!(load.address.base, AddressBase::Symbol(Symbol::Variable(_))),
            StateSpace::Local | StateSpace::ParamFunction => false,
        };
        if uniform_address && is_shared { Value::UNIFORM } else { Value::Varying }
    }
}

/// Uniform if both are.
fn uniform(a: Value, b: Value) -> Value {
    if a.is_uniform() && b.is_uniform() { Value::UNIFORM } else { Value::Varying }
}

fn without_bounds(value: Value) -> Value {
    match value {
        Value::Affine { stride, .. } => Value::Affine { stride, constant: None, most: None },
        other => other,
    }
}

/// A uniform value after a conversion: a small one stays what it is where nothing is cut off.
fn without_constant(value: Value, to: ScalarType, from: ScalarType) -> Value {
    let keeps = to.class() == TypeClass::Unsigned && from.class() == TypeClass::Unsigned && to.bits() >= from.bits();
    if keeps { value } else { Value::UNIFORM }
}

fn sign_extended(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.min(64);
    (value.cast_signed() << shift) >> shift
}

/// The greatest value of so many bits.
fn limit(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.min(64))
}

fn affine(stride: i64, most: Option<u64>, bits: u32) -> Value {
    Value::Affine {
        stride: sign_extended(stride.cast_unsigned(), bits),
        constant: None,
        most: most.filter(|most| *most <= limit(bits)),
    }
}

/// `a + sign * b`.
fn sum(a: Value, b: Value, sign: i64, bits: u32) -> Value {
    match (a, b) {
        (Value::Affine { stride, most, .. }, Value::Affine { stride: other, most: second, .. }) => {
            let most = most.zip(second).filter(|_| sign == 1).and_then(|(a, b)| a.checked_add(b));
            affine(stride.wrapping_add(other.wrapping_mul(sign)), most, bits)
        }
        (Value::Varying, _) | (_, Value::Varying) => Value::Varying,
        (Value::Undefined, _) | (_, Value::Undefined) => Value::Undefined,
    }
}

fn scaled(value: Value, factor: i64, bits: u32) -> Value {
    match value {
        Value::Affine { stride, most, .. } => {
            let most = most.zip(u64::try_from(factor).ok()).and_then(|(most, factor)| most.checked_mul(factor));
            affine(stride.wrapping_mul(factor), most, bits)
        }
        other => other,
    }
}

fn shifted(value: Value, amount: Value, ty: BitType) -> Value {
    match amount {
        Value::Affine { constant: Some(amount), .. } if amount < u64::from(ty.bits()) => {
            scaled(value, 1_i64.wrapping_shl(u32::try_from(amount).unwrap_or(0)), ty.bits())
        }
        _ => uniform(uniform(Value::UNIFORM, value), amount),
    }
}

/// The register that decides where an instruction goes on, if threads may part there.
pub(super) fn decides(instruction: &Instruction) -> Vec<RegisterId> {
    let guard = instruction.guard.map(|guard| guard.predicate);
    match &instruction.operation {
        Operation::Branch(_) => guard.into_iter().collect(),
        Operation::BranchTable(table) => guard.into_iter().chain([table.index]).collect(),
        _ => Vec::new(),
    }
}
