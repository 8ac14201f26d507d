//! What machine code asks for, as a word.

use peermap_ptx::instruction::Rounding;
use rustc_apfloat::Round;

use super::exact::{Operation, computed, converted, of_integer, root};
use super::flush::flushed;
use super::format::Format;
use super::half;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Function {
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    Divide,
    Root,
    /// The number in another format.
    Convert,
    /// The number that a signed integer of 64 bits is.
    FromSigned,
    /// The number that an unsigned integer of 64 bits is.
    FromUnsigned,
    /// Functions of an `f64`.
    Sin,
    Cos,
    Log2,
    Exp2,
    Tanh,
}

impl Function {
    const ALL: [Self; 14] = [
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::MultiplyAdd,
        Self::Divide,
        Self::Root,
        Self::Convert,
        Self::FromSigned,
        Self::FromUnsigned,
        Self::Sin,
        Self::Cos,
        Self::Log2,
        Self::Exp2,
        Self::Tanh,
    ];
}

/// A function with the formats and the rounding that it is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) function: Function,
    /// The format of the operands.
    pub(crate) from: Format,
    /// The format of the result.
    pub(crate) to: Format,
    pub(crate) rounding: Rounding,
    /// Whether what is subnormal after rounding is zero. An `f64` never is.
    pub(crate) flush: bool,
}

const ROUNDINGS: [Rounding; 5] =
    [Rounding::NearestEven, Rounding::NearestAway, Rounding::Zero, Rounding::Down, Rounding::Up];

impl Request {
    /// The request as a word: a byte for each field.
    pub(crate) fn word(self) -> u64 {
        let rounding = ROUNDINGS.iter().position(|rounding| *rounding == self.rounding).unwrap_or(0) as u8;
        u64::from_le_bytes([self.function as u8, self.from as u8, self.to as u8, rounding, self.flush.into(), 0, 0, 0])
    }

    fn of_word(word: u64) -> Option<Self> {
        let [function, from, to, rounding, flush, ..] = word.to_le_bytes().map(usize::from);
        Some(Self {
            function: *Function::ALL.get(function)?,
            from: *Format::ALL.get(from)?,
            to: *Format::ALL.get(to)?,
            rounding: *ROUNDINGS.get(rounding)?,
            flush: flush != 0,
        })
    }

    /// The result. NaN is the canonical one, but for `f64` any.
    fn answer(self, operands: [u64; 3]) -> u64 {
        let Self { from, to, flush, .. } = self;
        let seen = |operand| if flush && from != Format::F64 { from.flushed(operand) } else { operand };
        let result = self.result(operands.map(seen));
        if to != Format::F64 && to.is_nan(result) { to.nan() } else { result }
    }

    fn result(self, operands: [u64; 3]) -> u64 {
        let Self { function, from, to, rounding, flush } = self;
        let round = match rounding {
            Rounding::NearestEven => Round::NearestTiesToEven,
            Rounding::NearestAway => Round::NearestTiesToAway,
            Rounding::Zero => Round::TowardZero,
            Rounding::Down => Round::TowardNegative,
            Rounding::Up => Round::TowardPositive,
        };
        let [a, ..] = operands;
        let of_double = |function: fn(f64) -> f64| function(f64::from_bits(a)).to_bits();
        let is_half = matches!(from, Format::F16 | Format::Bf16) && rounding == Rounding::NearestEven;
        let computed = |operation| match flush {
            true => flushed(operation, from, to, round, operands),
            false if is_half => half::computed(operation, from, operands),
            false => computed(operation, from, round, operands),
        };
        match function {
            Function::Add => computed(Operation::Sum),
            Function::Subtract => computed(Operation::Difference),
            Function::Multiply => computed(Operation::Product),
            Function::MultiplyAdd => computed(Operation::FusedProduct),
            Function::Divide => computed(Operation::Quotient),
            Function::Root => root(from, round, a),
            Function::Convert if flush => computed(Operation::Itself),
            Function::Convert => converted(from, to, round, a),
            Function::FromSigned => of_integer(a.cast_signed().into(), to, round),
            Function::FromUnsigned => of_integer(a.into(), to, round),
            Function::Sin => of_double(libm::sin),
            Function::Cos => of_double(libm::cos),
            Function::Log2 => of_double(libm::log2),
            Function::Exp2 => of_double(libm::exp2),
            Function::Tanh => of_double(libm::tanh),
        }
    }
}

/// The name of [`answer`] for machine code.
pub(crate) const SYMBOL: &str = "peermap_float";

/// Answers the request that a word is. It looks at its arguments and at nothing else.
pub(crate) extern "C" fn answer(request: u64, a: u64, b: u64, c: u64) -> u64 {
    Request::of_word(request).map_or(0, |request| request.answer([a, b, c]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_for_one_request() {
        let requests = Function::ALL.into_iter().flat_map(|function| {
            Format::ALL.into_iter().flat_map(move |from| {
                Format::ALL.into_iter().flat_map(move |to| {
                    ROUNDINGS.into_iter().flat_map(move |rounding| {
                        [false, true].map(move |flush| Request { function, from, to, rounding, flush })
                    })
                })
            })
        });
        for request in requests {
            assert_eq!(Request::of_word(request.word()), Some(request));
        }
    }
}
