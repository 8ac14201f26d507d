//! Formats and roundings of floating-point numbers, by integers alone.

/// A format by its widths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How wide it is.
    pub bits: u32,
    /// How many bits follow the exponent.
    pub fraction: u32,
}

/// `f16`.
pub const F16: Shape = Shape { bits: 16, fraction: 10 };
/// `bf16`.
pub const BF16: Shape = Shape { bits: 16, fraction: 7 };
/// `f32`.
pub const F32: Shape = Shape { bits: 32, fraction: 23 };
/// `f64`.
pub const F64: Shape = Shape { bits: 64, fraction: 52 };

/// How a result is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// To nearest, ties to even.
    Nearest,
    /// Towards zero.
    Zero,
    /// Down.
    Down,
    /// Up.
    Up,
}

/// Each mode with its modifier.
pub const MODES: [(&str, Mode); 4] = [("rn", Mode::Nearest), ("rz", Mode::Zero), ("rm", Mode::Down), ("rp", Mode::Up)];

/// An exact number: an `f64` and what is missing, of which the sign counts.
pub type Exact = (f64, f64);

impl Shape {
    /// The bit of the sign.
    #[must_use]
    pub fn sign(self) -> u64 {
        1 << (self.bits - 1)
    }

    /// Infinity, which is the mask of the exponent too.
    #[must_use]
    pub fn infinity(self) -> u64 {
        (self.sign() - 1) >> self.fraction << self.fraction
    }

    /// The NaN that the hardware makes where no operand is one.
    #[must_use]
    pub fn nan(self) -> u64 {
        if self == F64 { 0xFFF8_0000_0000_0000 } else { self.sign() - 1 }
    }

    /// A NaN of `f64` in this format: it keeps its sign and what fits of its other bits, and is made quiet.
    #[must_use]
    pub fn shortened_nan(self, nan: u64) -> u64 {
        let quiet = |shape: Self| 1 << (shape.fraction - 1);
        let rest = (nan & (quiet(F64) - 1)) >> (F64.fraction - self.fraction);
        (nan >> 63) << (self.bits - 1) | self.infinity() | quiet(self) | rest
    }

    fn bias(self) -> i32 {
        (1 << (self.bits - self.fraction - 2)) - 1
    }

    /// 1.0.
    #[must_use]
    pub fn one(self) -> u64 {
        (self.bias() as u64) << self.fraction
    }

    /// Whether bits are NaN.
    #[must_use]
    pub fn is_nan(self, bits: u64) -> bool {
        bits & (self.sign() - 1) > self.infinity()
    }

    /// Whether bits are a subnormal number.
    #[must_use]
    pub fn is_subnormal(self, bits: u64) -> bool {
        bits & self.infinity() == 0 && bits & (self.sign() - 1) != 0
    }

    /// The bits, or a zero of their sign if they are subnormal.
    #[must_use]
    pub fn flushed(self, bits: u64) -> u64 {
        if self.is_subnormal(bits) { bits & self.sign() } else { bits }
    }

    /// The number that bits are.
    #[must_use]
    pub fn value(self, bits: u64) -> f64 {
        if self == F64 {
            return f64::from_bits(bits);
        }
        let (fraction, exponent) = (bits & ((1 << self.fraction) - 1), (bits & self.infinity()) >> self.fraction);
        let magnitude = match (exponent == self.infinity() >> self.fraction, exponent) {
            (true, _) if fraction == 0 => f64::INFINITY,
            (true, _) => f64::NAN,
            (false, 0) => fraction as f64 * power(1 - self.bias() - self.fraction as i32),
            (false, _) => {
                (fraction | 1 << self.fraction) as f64 * power(exponent as i32 - self.bias() - self.fraction as i32)
            }
        };
        if bits & self.sign() == 0 { magnitude } else { -magnitude }
    }

    /// Rounds an exact number, which is none of those that have fewer bits in `f64`. NaN is the canonical one.
    #[must_use]
    pub fn rounded(self, (high, low): Exact, mode: Mode, ftz: bool) -> u64 {
        let sign = if high.is_sign_negative() { self.sign() } else { 0 };
        if high.is_nan() {
            return self.nan();
        }
        if high.is_infinite() {
            return sign | self.infinity();
        }
        if high == 0.0 {
            return sign;
        }
        // The magnitude, cut off, with a last bit that says whether anything is missing.
        let bits = high.abs().to_bits();
        let magnitude = match low.partial_cmp(&0.0) {
            Some(std::cmp::Ordering::Equal) | None => bits,
            _ if low.is_sign_negative() == high.is_sign_negative() => bits | 1,
            _ => (bits - 1) | 1,
        };
        let exponent = (magnitude >> 52) as i32 - 1023 - 52;
        let significand = magnitude & ((1 << 52) - 1) | 1 << 52;
        let free = exponent + 52 - self.fraction as i32;
        let least = 1 - self.bias() - self.fraction as i32;
        let kept = |quantum: i32| shifted(significand, quantum - exponent, mode, sign != 0);
        let unbounded = kept(free);
        let is_tiny = free + unbounded.ilog2() as i32 - (self.fraction as i32) < least;
        if ftz && is_tiny {
            return sign;
        }
        let quantum = free.max(least);
        let field = (quantum - least) as u64;
        let result = (field << self.fraction) + kept(quantum);
        let outwards = match mode {
            Mode::Nearest => true,
            Mode::Zero => false,
            Mode::Down => sign != 0,
            Mode::Up => sign == 0,
        };
        match result >= self.infinity() {
            true if outwards => sign | self.infinity(),
            true => sign | (self.infinity() - 1),
            false => sign | result,
        }
    }
}

fn power(exponent: i32) -> f64 {
    f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// An integer without its low bits, rounded.
fn shifted(integer: u64, by: i32, mode: Mode, negative: bool) -> u64 {
    let (integer, by) = (u128::from(integer) << 64, by.min(60) as u32 + 64);
    let (kept, rest, half) = (integer >> by, integer & ((1 << by) - 1), 1 << (by - 1));
    let up = match mode {
        Mode::Nearest => rest > half || rest == half && kept & 1 == 1,
        Mode::Zero => false,
        Mode::Down => negative && rest != 0,
        Mode::Up => !negative && rest != 0,
    };
    (kept + u128::from(up)) as u64
}

/// The zero that a sum is if it is none of zeros of one sign.
fn signed_zero((high, low): Exact, terms: [f64; 2], mode: Mode) -> Exact {
    let same = terms[0].is_sign_negative() == terms[1].is_sign_negative();
    match high == 0.0 && low == 0.0 && !same {
        true => (if mode == Mode::Down { -0.0 } else { 0.0 }, 0.0),
        false => (high, low),
    }
}

/// Knuth's sum of two numbers without loss.
#[must_use]
pub fn sum(a: f64, b: f64, mode: Mode) -> Exact {
    let high = a + b;
    let second = high - a;
    let low = (a - (high - second)) + (b - second);
    signed_zero((high, if high.is_finite() { low } else { 0.0 }), [a, b], mode)
}

/// The product of two numbers of at most 24 bits.
#[must_use]
pub fn product(a: f64, b: f64) -> Exact {
    (a * b, 0.0)
}

/// The quotient of two numbers of at most 24 bits.
#[must_use]
pub fn quotient(a: f64, b: f64) -> Exact {
    let high = a / b;
    let rest = if high.is_finite() { (-high).mul_add(b, a) } else { 0.0 };
    (high, if b.is_sign_negative() { -rest } else { rest })
}

/// The square root.
#[must_use]
pub fn root(number: f64) -> Exact {
    let high = number.sqrt();
    (high, if high.is_finite() { -high.mul_add(high, -number) } else { 0.0 })
}
