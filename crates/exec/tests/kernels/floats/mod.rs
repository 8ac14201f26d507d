//! Instructions on numbers, against arithmetic that is made here of what Rust has.

mod approximate;
mod arithmetic;
mod atomics;
mod compare;
mod convert;
mod double;
mod extreme;
mod halves;
mod reference;

use crate::rig::{Rig, kernel};

/// How many threads of a block run an instruction on values that differ.
const THREADS: u32 = 64;

fn text(instruction: &str, address: &str) -> String {
    let result = match instruction {
        it if it.contains("%d16") => "cvt.u64.u16 %result, %d16;",
        it if it.contains("%d32") => "cvt.u64.u32 %result, %d32;",
        it if it.contains("%q") => {
            "selp.u32 %n, 1, 0, %p; selp.u32 %k, 2, 0, %q; or.b32 %n, %n, %k; cvt.u64.u32 %result, %n;"
        }
        it if it.contains("%p") => "selp.u64 %result, 1, 0, %p;",
        _ => "mov.u64 %result, %d64;",
    };
    format!(
        ".version 8.8\n.target sm_100\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .b16 %a16, %b16, %c16, %d16; .reg .b32 %a32, %b32, %c32, %d32, %t, %n, %k;
.reg .b64 %a64, %b64, %c64, %d64, %in, %out, %at, %result; .reg .pred %p, %q, %odd;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %k, %ctaid.x; mad.lo.u32 %t, %k, %n, %t;
mul.wide.u32 %at, %t, 8; add.u64 %out, %out, %at;
mov.u32 %k, {address}; mul.wide.u32 %at, %k, 24; add.u64 %in, %in, %at;
ld.global.u64 %a64, [%in]; ld.global.u64 %b64, [%in+8]; ld.global.u64 %c64, [%in+16];
cvt.u32.u64 %a32, %a64; cvt.u32.u64 %b32, %b64; cvt.u32.u64 %c32, %c64;
cvt.u16.u64 %a16, %a64; cvt.u16.u64 %b16, %b64; cvt.u16.u64 %c16, %c64;
and.b32 %k, %c32, 1; setp.ne.u32 %odd, %k, 0; setp.ne.u32 %p, %k, %k; setp.ne.u32 %q, %k, %k;
{instruction}
{result}
st.global.u64 [%out], %result;
ret; }}"
    )
}

/// Runs an instruction on operands: `%a`, `%b` and `%c` are followed by the width that is read, `%d` by that which is
/// written; the predicates `%p` and `%q` are the result if no register is; `%odd` is whether the third operand is.
fn launched(instruction: &str, operands: &[[u64; 3]], threads: u32, address: &str) -> Vec<u64> {
    let blocks = (operands.len() as u32).div_ceil(threads);
    let lanes = (blocks * threads) as usize;
    let mut bytes: Vec<u8> = operands.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    bytes.resize(24 * lanes, 0);
    let results = (bytes.len() as u64).next_multiple_of(64);
    let rig = Rig::new((results + 8 * lanes as u64).div_ceil(crate::rig::GRANULE));
    rig.view().write(rig.base, &bytes).unwrap();
    let parameters = [rig.base.to_le_bytes(), (rig.base + results).to_le_bytes()].concat();
    rig.launch(&kernel(&text(instruction, address), "k"), [blocks, 1, 1], [threads, 1, 1], &parameters).unwrap();
    let found = rig.bytes(results, 8 * operands.len());
    found.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// The results of an instruction, which are the same where all threads have the same values.
fn results(instruction: &str, operands: &[[u64; 3]]) -> Vec<u64> {
    let found = launched(instruction, operands, THREADS, "%t");
    let few: Vec<[u64; 3]> = operands.iter().step_by(operands.len() / 40 + 1).copied().collect();
    let once = launched(instruction, &few, 1, "%ctaid.x");
    let same: Vec<u64> = found.iter().step_by(operands.len() / 40 + 1).copied().collect();
    assert_eq!(once, same, "{instruction}, with values that are kept once");
    found
}

fn check(instruction: &str, operands: &[[u64; 3]], expected: impl Fn([u64; 3]) -> u64) {
    for (operands, found) in operands.iter().zip(results(instruction, operands)) {
        let expected = expected(*operands);
        assert_eq!(found, expected, "{instruction} of {operands:#x?}: {found:#x}, not {expected:#x}");
    }
}

/// Words that look random and are always the same.
fn words(seed: u64) -> impl Iterator<Item = u64> {
    (1..).map(move |count: u64| {
        let mut word = seed.wrapping_add(count.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        word = (word ^ word >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ word >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ word >> 31
    })
}

/// Two numbers of 16 bits, or of 32, as one word.
fn pair(width: u32, low: u64, high: u64) -> u64 {
    high << width | low
}
