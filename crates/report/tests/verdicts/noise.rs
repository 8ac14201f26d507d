//! Noise as benchmarks have it, from a seed.

use std::f64::consts::TAU;

/// Random numbers: `SplitMix64`, which is a counter and three multiplications.
pub struct Random(pub u64);

impl Random {
    /// A number above 0 and below 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^= bits >> 31;
        ((bits >> 12) as f64 + 0.5) / (1_u64 << 52) as f64
    }

    /// A number of the normal distribution with deviation 1, after Box and Muller.
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (TAU * self.uniform()).cos()
    }
}

/// How samples vary.
pub struct Noise {
    pub name: &'static str,
    /// The deviation of one sample, as a share.
    pub draw: fn(&mut Random) -> f64,
}

/// The kinds, each with a deviation of about 4 % unless its name says less or more.
pub const KINDS: &[Noise] = &[
    Noise { name: "normal, 1 %", draw: |random| 0.01 * random.normal() },
    Noise { name: "normal, 2 %", draw: |random| 0.02 * random.normal() },
    Noise { name: "normal, 4 %", draw: |random| 0.04 * random.normal() },
    // Student's with three degrees of freedom, whose deviation is the square root of three.
    Noise { name: "heavy tails on both sides", draw: |random| 0.04 / 3_f64.sqrt() * student(random) },
    // A floor that no sample is below, and a long way up: what an operating system does to a short call.
    Noise { name: "one long tail", draw: |random| -0.04 * random.uniform().ln() },
    Noise { name: "one in ten disturbed, by up to 20 %", draw: disturbed },
    // Not worse than 4 %, but with nothing where the median is.
    Noise { name: "two clocks, 6 % apart", draw: |random| clock(random, 0.3, 0.06) },
    Noise { name: "two clocks, each half the time, 8 % apart", draw: |random| clock(random, 0.5, 0.078) },
];

fn student(random: &mut Random) -> f64 {
    let squares: f64 = [(); 3].map(|()| random.normal().powi(2)).iter().sum();
    random.normal() / (squares / 3.0).sqrt()
}

fn disturbed(random: &mut Random) -> f64 {
    let quiet = 0.03 * random.normal();
    if random.uniform() < 0.1 { 0.2 * random.uniform() } else { quiet }
}

fn clock(random: &mut Random, share: f64, apart: f64) -> f64 {
    let slow = if random.uniform() < share { apart } else { 0.0 };
    slow + 0.005 * random.normal()
}
