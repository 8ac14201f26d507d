//! Registers as values of the compiler.

use std::collections::{BTreeSet, HashMap};

use cranelift_codegen::ir::{FuncRef, InstBuilder, MemFlagsData, Type, Value, types};
use cranelift_frontend::FunctionBuilder;
use peermap_ptx::analysis::BlockShape;
use peermap_ptx::{Guard, PredicateSource, RegisterId, Source};

use super::Surroundings;
use crate::block::frame::{PITCH, SPECIALS, Special, TID_ARRAYS};
use crate::compile::place::Place;
use crate::error::CompileError;

/// Emits instructions one after the other.
pub(super) struct Emitter<'a, 'f> {
    pub(super) surroundings: &'a Surroundings<'a>,
    pub(super) builder: FunctionBuilder<'f>,
    /// What computes with numbers where the host does not.
    pub(super) float: FuncRef,
    words: Value,
    predicates: Value,
    /// The lane, in the half that runs for each.
    pub(super) lane: Option<Value>,
    /// What registers hold.
    values: HashMap<RegisterId, Value>,
    /// What scalars hold in a thread whose `%tid.x` is zero.
    bases: HashMap<RegisterId, Value>,
    /// The number of the instruction that is emitted.
    current: u32,
}

impl<'a, 'f> Emitter<'a, 'f> {
    pub(super) fn new(
        surroundings: &'a Surroundings<'a>,
        builder: FunctionBuilder<'f>,
        float: FuncRef,
        words: Value,
        predicates: Value,
    ) -> Self {
        let (values, bases) = (HashMap::new(), HashMap::new());
        Self { surroundings, builder, float, words, predicates, lane: None, values, bases, current: 0 }
    }

    /// Loads, before the loop, the scalars that instructions read in it.
    pub(super) fn load_scalars(&mut self, instructions: &[u32]) {
        for index in instructions {
            for register in self.surroundings.body.instructions[*index as usize].reads() {
                if let Place::Scalar { word, .. } = self.surroundings.places.of_register(register) {
                    let base = self.load_word(SPECIALS + word);
                    self.bases.insert(register, base);
                }
            }
        }
    }

    /// Enters the loop.
    pub(super) fn enter(&mut self, lane: Value) {
        self.lane = Some(lane);
    }

    /// Emits instructions, and keeps what is read later.
    pub(super) fn all(&mut self, instructions: &[u32], stored: &BTreeSet<RegisterId>) -> Result<(), CompileError> {
        let body = self.surroundings.body;
        for index in instructions {
            let instruction = &body.instructions[*index as usize];
            self.current = *index;
            let written = instruction.writes();
            let guard = instruction.guard.filter(|_| !written.is_empty());
            let guard = guard.map(|guard| (guard, self.olds(&written)));
            self.operation(&instruction.operation)?;
            if let Some((guard, olds)) = guard {
                self.choose(guard, &olds);
            }
        }
        let written: BTreeSet<RegisterId> =
            instructions.iter().flat_map(|index| body.instructions[*index as usize].writes()).collect();
        for register in written.intersection(stored) {
            self.store(*register);
        }
        Ok(())
    }

    fn olds(&mut self, registers: &[RegisterId]) -> Vec<(RegisterId, Value)> {
        registers.iter().map(|register| (*register, self.read(*register))).collect()
    }

    /// Takes the old values where a guard does not hold.
    fn choose(&mut self, guard: Guard, olds: &[(RegisterId, Value)]) {
        // An instruction may write the very predicate that guards it.
        let old = olds.iter().find(|(register, _)| *register == guard.predicate).map(|(_, old)| *old);
        let predicate = old.unwrap_or_else(|| self.read(guard.predicate));
        for (register, old) in olds {
            let new = self.values[register];
            let (yes, no) = if guard.negated { (*old, new) } else { (new, *old) };
            let chosen = self.builder.ins().select(predicate, yes, no);
            self.values.insert(*register, chosen);
        }
    }

    pub(super) fn not_modelled<T>(&self, what: impl Into<String>) -> Result<T, CompileError> {
        let line = self.surroundings.body.instructions[self.current as usize].at.line;
        Err(CompileError::NotModelled { line, what: what.into() })
    }

    /// Refuses the instruction by its name.
    pub(super) fn unmodelled<T>(&self) -> Result<T, CompileError> {
        self.not_modelled(&*self.surroundings.body.instructions[self.current as usize].name)
    }

    /// A constant of an integer type.
    pub(super) fn constant(&mut self, ty: Type, value: i64) -> Value {
        let bits = ty.bits();
        let kept = if bits == 64 { value } else { value & ((1 << bits) - 1) };
        self.builder.ins().iconst(ty, kept)
    }

    /// What a register holds: 64 bits.
    pub(super) fn read(&mut self, register: RegisterId) -> Value {
        if let Some(value) = self.values.get(&register) {
            return *value;
        }
        let value = match self.surroundings.places.of_register(register) {
            Place::Scalar { word, stride } => self.scalar(register, word, stride),
            Place::Lanes { array } => {
                let (address, offset) = self.element(TID_ARRAYS + array);
                self.builder.ins().load(types::I64, MemFlagsData::trusted(), address, offset)
            }
            Place::Predicates { array } => {
                let (address, offset) = self.predicate(array);
                self.builder.ins().uload8(types::I64, MemFlagsData::trusted(), address, offset)
            }
        };
        self.values.insert(register, value);
        value
    }

    fn scalar(&mut self, register: RegisterId, word: u32, stride: i64) -> Value {
        let Some(base) = self.bases.get(&register).copied() else { return self.load_word(SPECIALS + word) };
        if stride == 0 {
            return base;
        }
        let tid = self.tid_x();
        let further = self.builder.ins().imul_imm_s(tid, stride);
        let sum = self.builder.ins().iadd(base, further);
        self.cut(sum, self.surroundings.places.bits(register))
    }

    /// `%tid.x` of the lane.
    pub(super) fn tid_x(&mut self) -> Value {
        match (self.lane, self.surroundings.shape) {
            (None, _) => self.constant(types::I64, 0),
            (Some(lane), BlockShape::Line) => lane,
            (Some(_), BlockShape::Any) => self.tid(0),
        }
    }

    /// `%tid.x`, `%tid.y` or `%tid.z` of a lane, from its array.
    pub(super) fn tid(&mut self, axis: u32) -> Value {
        let (address, offset) = self.element(axis);
        self.builder.ins().load(types::I64, MemFlagsData::trusted(), address, offset)
    }

    pub(super) fn special(&mut self, special: Special) -> Value {
        self.load_word(special as u32)
    }

    /// Where the variables of the module start.
    pub(super) fn data(&mut self) -> Value {
        self.load_word(SPECIALS + self.surroundings.size.data)
    }

    fn load_word(&mut self, word: u32) -> Value {
        self.builder.ins().load(types::I64, MemFlagsData::trusted(), self.words, byte_offset(word))
    }

    /// A parameter of the launch, of an integer type.
    pub(super) fn parameter(&mut self, ty: Type, offset: u32) -> Value {
        let start = byte_offset(self.surroundings.size.parameters());
        self.builder.ins().load(ty, MemFlagsData::trusted(), self.words, start + offset.cast_signed())
    }

    fn element(&mut self, array: u32) -> (Value, i32) {
        let lane = self.in_loop();
        let offset = self.builder.ins().ishl_imm_u(lane, 3);
        let address = self.builder.ins().iadd(self.words, offset);
        (address, byte_offset(self.surroundings.size.arrays() + array * PITCH as u32))
    }

    /// The lane, where there is one. Without, an address would be anywhere.
    fn in_loop(&self) -> Value {
        self.lane.expect("the half that runs once reads and writes nothing that differs from lane to lane")
    }

    fn predicate(&mut self, array: u32) -> (Value, i32) {
        let lane = self.in_loop();
        (self.builder.ins().iadd(self.predicates, lane), (array * PITCH as u32).cast_signed())
    }

    fn store(&mut self, register: RegisterId) {
        let value = self.values[&register];
        match self.surroundings.places.of_register(register) {
            Place::Scalar { word, .. } => {
                let offset = byte_offset(SPECIALS + word);
                self.builder.ins().store(MemFlagsData::trusted(), value, self.words, offset);
            }
            Place::Lanes { array } => {
                let (address, offset) = self.element(TID_ARRAYS + array);
                self.builder.ins().store(MemFlagsData::trusted(), value, address, offset);
            }
            Place::Predicates { array } => {
                let (address, offset) = self.predicate(array);
                self.builder.ins().istore8(MemFlagsData::trusted(), value, address, offset);
            }
        }
    }

    /// The low bits of a word; the others become zero.
    pub(super) fn cut(&mut self, word: Value, bits: u32) -> Value {
        match bits {
            64.. => word,
            _ => self.builder.ins().band_imm_s(word, (1 << bits) - 1),
        }
    }

    /// The low bits of a value as an integer of that many bits, or of 32 if that is less, with its sign or without.
    pub(super) fn integer(&mut self, source: Source, bits: u32, signed: bool) -> Value {
        let word = match source {
            Source::Register(register) => self.read(register),
            Source::Immediate(immediate) => self.builder.ins().iconst(types::I64, immediate.bits.cast_signed()),
        };
        self.low(word, bits, signed)
    }

    /// The low bits of a word, as [`Self::integer`] gives them.
    pub(super) fn low(&mut self, word: Value, bits: u32, signed: bool) -> Value {
        match bits {
            64.. => word,
            32 => self.builder.ins().ireduce(types::I32, word),
            _ => {
                let narrow = self.builder.ins().ireduce(if bits == 16 { types::I16 } else { types::I8 }, word);
                match signed {
                    true => self.builder.ins().sextend(types::I32, narrow),
                    false => self.builder.ins().uextend(types::I32, narrow),
                }
            }
        }
    }

    /// A predicate: 0 or 1 in 64 bits.
    pub(super) fn truth(&mut self, source: PredicateSource) -> Value {
        let value = match source.value {
            Source::Register(register) => self.read(register),
            Source::Immediate(immediate) => self.builder.ins().iconst(types::I64, immediate.bits.cast_signed()),
        };
        if source.negated { self.builder.ins().bxor_imm_s(value, 1) } else { value }
    }

    /// Writes the low `bits` bits of an integer; a wider register receives them extended.
    pub(super) fn write(&mut self, register: RegisterId, value: Value, bits: u32, signed: bool) {
        let ty = self.builder.func.dfg.value_type(value);
        let wide = if ty == types::I64 { value } else { self.builder.ins().uextend(types::I64, value) };
        let width = self.surroundings.places.bits(register);
        let written = match (bits < width, signed) {
            (true, true) => {
                let up = self.builder.ins().ishl_imm_u(wide, i64::from(64 - bits));
                let down = self.builder.ins().sshr_imm_u(up, i64::from(64 - bits));
                self.cut(down, width)
            }
            (false, _) if ty.bits() <= width => wide,
            _ => self.cut(wide, bits.min(width)),
        };
        self.values.insert(register, written);
    }
}

fn byte_offset(word: u32) -> i32 {
    (8 * word).cast_signed()
}
