//! The pattern of `fill_pattern` and `verify_pattern`; `kernels/README.md` defines it.
//!
//! A word costs two multiplications of 64 bits, for which the baseline of x86-64 has no vector instruction. So the loops
//! are compiled again for wider vectors, and the widest that the processor has is taken.

use peermap_memory::{Difference, Fault, View};

/// The mixing function.
const fn mix(mut z: u64) -> u64 {
    const FACTOR: u64 = 0xD6E8_FEB8_6659_FD93;
    z ^= z >> 32;
    z = z.wrapping_mul(FACTOR);
    z ^= z >> 32;
    z = z.wrapping_mul(FACTOR);
    z ^ (z >> 32)
}

/// What makes the pattern of a worker and a step its own.
pub(crate) const fn key(worker: u32, step: u32) -> u64 {
    mix(((worker as u64) << 32 | step as u64).wrapping_add(0x9E37_79B9_7F4A_7C15))
}

const fn word(key: u64, offset: u64) -> u64 {
    mix(key.wrapping_add(offset / 8))
}

/// Makes a function that runs its body compiled for the widest vectors of this processor.
macro_rules! widest {
    ($(#[$doc:meta])* fn $name:ident($($arg:ident: $kind:ty),*) -> $output:ty $body:block) => {
        $(#[$doc])*
        pub(crate) fn $name($($arg: $kind),*) -> $output {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512dq,avx512vl")]
                fn with_avx512($($arg: $kind),*) -> $output $body
                #[target_feature(enable = "avx2")]
                fn with_avx2($($arg: $kind),*) -> $output $body
                if is_x86_feature_detected!("avx512dq") && is_x86_feature_detected!("avx512vl") {
                    // SAFETY: a function may be called where the processor has the features that it was compiled for.
                    return unsafe { with_avx512($($arg),*) };
                }
                if is_x86_feature_detected!("avx2") {
                    // SAFETY: a function may be called where the processor has the features that it was compiled for.
                    return unsafe { with_avx2($($arg),*) };
                }
            }
            $body
        }
    };
}

widest! {
    /// Fills with the pattern of a key.
    fn fill(view: &View<'_>, ptr: u64, n: u64, key: u64) -> Result<(), Fault> {
        view.fill_words(ptr, n, |offset| word(key, offset))
    }
}

widest! {
    /// Compares with the pattern of a key.
    fn compare(view: &View<'_>, ptr: u64, n: u64, key: u64) -> Result<Difference, Fault> {
        view.compare_words(ptr, n, |offset| word(key, offset))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pattern_is_the_documented_one() {
        assert_eq!(word(key(0, 0), 0), 0x3DA4_588B_8C08_334F);
        assert_eq!(word(key(3, 7), 8), 0x87D2_944D_5752_0708);
        assert_eq!(word(key(u32::MAX, u32::MAX), 536_870_912 * 8), 0x142C_487E_8B07_50E7);
    }
}
