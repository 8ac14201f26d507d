//! Numbers as values of the compiler.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Type, Value, types};
use peermap_ptx::instruction::Rounding;
use peermap_ptx::{FloatType, RegisterId, Source};

use super::super::emitter::Emitter;
use crate::float::{Format, Function, Request};

/// The type that the bits of a number are computed in.
pub(super) fn host(format: Format) -> Type {
    if format == Format::F64 { types::I64 } else { types::I32 }
}

/// The host's type of numbers of a format; halves are computed as `f32`.
pub(super) fn native_type(format: Format) -> Type {
    if format == Format::F64 { types::F64 } else { types::F32 }
}

impl Emitter<'_, '_> {
    /// Computes a value of a type from others of it, each number of a pair by itself.
    pub(super) fn elementwise<const N: usize>(
        &mut self,
        ty: FloatType,
        destination: RegisterId,
        sources: [Source; N],
        mut compute: impl FnMut(&mut Self, Format, [Value; N]) -> Value,
    ) {
        let format = Format::of(ty);
        let wholes = sources.map(|source| self.integer(source, ty.bits(), false));
        let result = if ty.is_packed() {
            let [low, high] = [0, 1].map(|place| wholes.map(|whole| self.number_at(format, whole, place)));
            let (low, high) = (compute(self, format, low), compute(self, format, high));
            self.joined(format, low, high)
        } else {
            compute(self, format, wholes)
        };
        self.write(destination, result, ty.bits(), false);
    }

    /// The low or the high number of a pair.
    pub(super) fn number_at(&mut self, format: Format, pair: Value, place: u32) -> Value {
        let width = format.bits();
        let moved = self.builder.ins().ushr_imm_u(pair, i64::from(place * width));
        match format {
            Format::F32 => self.builder.ins().ireduce(types::I32, moved),
            _ => self.builder.ins().band_imm_s(moved, (1 << width) - 1),
        }
    }

    /// Two numbers as a pair.
    pub(super) fn joined(&mut self, format: Format, low: Value, high: Value) -> Value {
        let whole = |emitter: &mut Self, number| match format {
            Format::F32 => emitter.builder.ins().uextend(types::I64, number),
            _ => number,
        };
        let (low, high) = (whole(self, low), whole(self, high));
        let high = self.builder.ins().ishl_imm_u(high, i64::from(format.bits()));
        self.builder.ins().bor(low, high)
    }

    /// Bits as a constant.
    pub(super) fn number(&mut self, format: Format, bits: u64) -> Value {
        self.constant(host(format), bits.cast_signed())
    }

    /// A number as the host's; a half is widened, which loses nothing.
    pub(super) fn native(&mut self, format: Format, number: Value) -> Value {
        match format {
            Format::F64 => self.builder.ins().bitcast(types::F64, MemFlagsData::new(), number),
            Format::F32 => self.builder.ins().bitcast(types::F32, MemFlagsData::new(), number),
            Format::Bf16 => {
                let wide = self.builder.ins().ishl_imm_u(number, 16);
                self.native(Format::F32, wide)
            }
            Format::F16 => {
                let wide = self.widened_f16(number);
                self.native(Format::F32, wide)
            }
        }
    }

    /// An `f16` as an `f32`: its magnitude is moved to where that of an `f32` lies, and multiplied by how much the
    /// exponents differ; infinity and NaN have an exponent of their own.
    fn widened_f16(&mut self, number: Value) -> Value {
        /// 2 to the power of 112.
        const SCALE: f32 = f32::from_bits((127 + 112) << 23);
        let magnitude = self.masked(Format::F16, number, Format::F16.magnitude());
        let moved = self.builder.ins().ishl_imm_u(magnitude, 13);
        let unscaled = self.native(Format::F32, moved);
        let scale = self.builder.ins().f32const(SCALE);
        let scaled = self.builder.ins().fmul(unscaled, scale);
        let finite = self.bits_of(scaled);
        let exponent = self.number(Format::F32, Format::F32.infinity());
        let special = self.builder.ins().bor(moved, exponent);
        let is_special = self.builder.ins().icmp_imm_u(
            IntCC::UnsignedGreaterThanOrEqual,
            magnitude,
            Format::F16.infinity().cast_signed(),
        );
        let positive = self.builder.ins().select(is_special, special, finite);
        let sign = self.masked(Format::F16, number, Format::F16.sign());
        let sign = self.builder.ins().ishl_imm_u(sign, 16);
        self.builder.ins().bor(positive, sign)
    }

    /// The bits of one of the host's numbers.
    pub(super) fn bits_of(&mut self, native: Value) -> Value {
        let ty = if self.builder.func.dfg.value_type(native) == types::F64 { types::I64 } else { types::I32 };
        self.builder.ins().bitcast(ty, MemFlagsData::new(), native)
    }

    /// Calls for what the host cannot compute.
    pub(super) fn ask(&mut self, request: Request, operands: &[Value]) -> Value {
        let mut arguments = vec![self.constant(types::I64, request.word().cast_signed())];
        for operand in operands {
            let wide = match self.builder.func.dfg.value_type(*operand) {
                types::I64 => *operand,
                _ => self.builder.ins().uextend(types::I64, *operand),
            };
            arguments.push(wide);
        }
        let nothing = self.constant(types::I64, 0);
        arguments.resize(4, nothing);
        let call = self.builder.ins().call(self.float, &arguments);
        let word = self.builder.inst_results(call)[0];
        self.low(word, request.to.bits(), false)
    }

    /// A value, or, where a condition holds, which is rare, what is computed instead.
    pub(super) fn rarely(&mut self, condition: Value, value: Value, compute: impl FnOnce(&mut Self) -> Value) -> Value {
        let (rare, done) = (self.builder.create_block(), self.builder.create_block());
        let ty = self.builder.func.dfg.value_type(value);
        let result = self.builder.append_block_param(done, ty);
        self.builder.ins().brif(condition, rare, &[], done, &[value.into()]);
        self.builder.set_cold_block(rare);
        self.builder.switch_to_block(rare);
        let other = compute(self);
        self.builder.ins().jump(done, &[other.into()]);
        self.builder.switch_to_block(done);
        result
    }

    /// A number rounded to the nearest half.
    fn narrowed(&mut self, from: Format, to: Format, number: Value) -> Value {
        let dropped = from.fraction_bits() - to.fraction_bits();
        let magnitude = self.masked(from, number, from.magnitude());
        // The exponent is moved to that of the half, and half of its last bit is added: less by one where that is even.
        let last = self.builder.ins().ushr_imm_u(magnitude, i64::from(dropped));
        let odd = self.builder.ins().band_imm_s(last, 1);
        let half = (1_u64 << (dropped - 1)) - 1;
        let moved = half.wrapping_sub((from.bias() - to.bias()) << from.fraction_bits());
        let moved = self.number(from, moved);
        let raised = self.builder.ins().iadd(magnitude, moved);
        let raised = self.builder.ins().iadd(raised, odd);
        let normal = self.builder.ins().ushr_imm_u(raised, i64::from(dropped));
        let infinity = self.number(from, to.infinity());
        let normal = self.builder.ins().umin(normal, infinity);
        // The last bit of this number is worth as much as that of a subnormal half: the host rounds a sum with it so.
        let first = from.bias() + 1 - to.bias();
        let unit = self.number(from, (first + u64::from(dropped)) << from.fraction_bits());
        let [small, large] = [magnitude, unit].map(|number| self.native(from, number));
        let sum = self.builder.ins().fadd(small, large);
        let sum = self.bits_of(sum);
        let small = self.builder.ins().isub(sum, unit);
        let smallest = first << from.fraction_bits();
        let is_small = self.magnitude_is(from, number, IntCC::UnsignedLessThan, smallest);
        let result = self.builder.ins().select(is_small, small, normal);
        let is_nan = self.is_nan(from, number);
        let nan = self.number(from, to.nan());
        let result = self.builder.ins().select(is_nan, nan, result);
        let moved = self.builder.ins().ushr_imm_u(number, i64::from(from.bits() - to.bits()));
        let sign = self.masked(from, moved, to.sign());
        let signed = self.builder.ins().bor(result, sign);
        match from {
            Format::F64 => self.builder.ins().ireduce(types::I32, signed),
            _ => signed,
        }
    }

    /// A number in another format, whatever becomes of NaN.
    pub(super) fn reformatted(&mut self, from: Format, to: Format, rounding: Rounding, number: Value) -> Value {
        match (from, to, rounding) {
            _ if from == to => number,
            (Format::F16 | Format::Bf16, Format::F32, _) => {
                let native = self.native(from, number);
                self.bits_of(native)
            }
            (_, Format::F64, _) => {
                let native = self.native(from, number);
                let wide = self.builder.ins().fpromote(types::F64, native);
                self.bits_of(wide)
            }
            (Format::F64, Format::F32, Rounding::NearestEven) => {
                let native = self.native(from, number);
                let narrow = self.builder.ins().fdemote(types::F32, native);
                self.bits_of(narrow)
            }
            (Format::F32 | Format::F64, Format::F16 | Format::Bf16, Rounding::NearestEven) => {
                self.narrowed(from, to, number)
            }
            _ => self.ask(Request { function: Function::Convert, from, to, rounding, flush: false }, &[number]),
        }
    }
}
