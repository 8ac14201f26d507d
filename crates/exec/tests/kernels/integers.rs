//! Integer instructions against Rust's arithmetic, with values that differ from thread to thread, and with values that
//! are the same in all.

use crate::rig::{Rig, kernel};

/// Values at which instructions change what they do.
const EDGES: [u64; 12] =
    [0, 1, 7, 31, 33, 0x7FFF, 0x8000, 0x7FFF_FFFF, 0x8000_0000, 0x0123_4567_89AB_CDEF, 0x8000_0000_0000_0000, u64::MAX];

/// What an instruction makes of three words: `%a`, `%b` and `%c` are followed by the width that is read, `%d` by that
/// which is written; `%p` is a predicate that is set if `%c` is odd, `%q` one that counts as a result of 32 bits.
type Case = (&'static str, fn(u64, u64, u64) -> u64);

fn text(instruction: &str, address: &str) -> String {
    let result = match instruction {
        it if it.contains("%d16") => "cvt.u64.u16 %result, %d16;",
        it if it.contains("%d32") => "cvt.u64.u32 %result, %d32;",
        it if it.contains("%q") => "selp.u64 %result, 1, 0, %q;",
        _ => "mov.u64 %result, %d64;",
    };
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {{
.reg .b16 %a16, %b16, %c16, %d16; .reg .b32 %a32, %b32, %c32, %d32, %t, %n, %k;
.reg .b64 %a64, %b64, %c64, %d64, %in, %out, %at, %result; .reg .pred %p, %q;
ld.param.u64 %in, [in]; ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %k, %ctaid.x; mad.lo.u32 %t, %k, %n, %t;
mul.wide.u32 %at, %t, 8; add.u64 %out, %out, %at;
mov.u32 %k, {address}; mul.wide.u32 %at, %k, 24; add.u64 %in, %in, %at;
ld.global.u64 %a64, [%in]; ld.global.u64 %b64, [%in+8]; ld.global.u64 %c64, [%in+16];
cvt.u32.u64 %a32, %a64; cvt.u32.u64 %b32, %b64; cvt.u32.u64 %c32, %c64;
cvt.u16.u64 %a16, %a64; cvt.u16.u64 %b16, %b64; cvt.u16.u64 %c16, %c64;
and.b32 %k, %c32, 1; setp.ne.u32 %p, %k, 0;
mov.u64 %d64, 5; mov.u32 %d32, 5; mov.u16 %d16, 5;
{instruction}
{result}
st.global.u64 [%out], %result;
ret; }}"
    )
}

fn check(case: Case, threads: u32, address: &str) {
    let (instruction, expected) = case;
    let inputs: Vec<[u64; 3]> =
        EDGES.iter().flat_map(|a| EDGES.iter().flat_map(|b| EDGES.map(|c| [*a, *b, c]))).collect();
    let rig = Rig::new(2);
    let bytes: Vec<u8> = inputs.iter().flatten().flat_map(|word| word.to_le_bytes()).collect();
    rig.view().write(rig.base, &bytes).unwrap();
    let parameters = [rig.base.to_le_bytes(), (rig.base + 65_536).to_le_bytes()].concat();
    let kernel = kernel(&text(instruction, address), "k");
    rig.launch(&kernel, [inputs.len() as u32 / threads, 1, 1], [threads, 1, 1], &parameters).unwrap();
    for (index, [a, b, c]) in inputs.iter().enumerate() {
        let found = rig.word(65_536 + 8 * index as u64);
        assert_eq!(found, expected(*a, *b, *c), "{instruction} of {a:#x}, {b:#x}, {c:#x}");
    }
}

fn check_all(cases: &[Case]) {
    for case in cases {
        check(*case, 144, "%t");
        check(*case, 1, "%ctaid.x");
    }
}

fn w16(value: u64) -> u16 {
    value as u16
}

fn w32(value: u64) -> u32 {
    value as u32
}

fn s16(value: u64) -> i16 {
    value as i16
}

fn s32(value: u64) -> i32 {
    value as i32
}

fn s64(value: u64) -> i64 {
    value as i64
}

fn u(value: i32) -> u64 {
    u64::from(value as u32)
}

#[test]
fn arithmetic() {
    check_all(&[
        ("add.u16 %d16, %a16, %b16;", |a, b, _| u64::from(w16(a).wrapping_add(w16(b)))),
        ("sub.s32 %d32, %a32, %b32;", |a, b, _| u64::from(w32(a).wrapping_sub(w32(b)))),
        ("add.sat.s32 %d32, %a32, %b32;", |a, b, _| u(s32(a).saturating_add(s32(b)))),
        ("sub.sat.s32 %d32, %a32, %b32;", |a, b, _| u(s32(a).saturating_sub(s32(b)))),
        ("mul.lo.s16 %d16, %a16, %b16;", |a, b, _| u64::from(w16(a).wrapping_mul(w16(b)))),
        ("mul.hi.u16 %d16, %a16, %b16;", |a, b, _| (u64::from(w16(a)) * u64::from(w16(b))) >> 16),
        ("mul.hi.s16 %d16, %a16, %b16;", |a, b, _| u64::from(((i32::from(s16(a)) * i32::from(s16(b))) >> 16) as u16)),
        ("mul.wide.s16 %d32, %a16, %b16;", |a, b, _| u(i32::from(s16(a)) * i32::from(s16(b)))),
        ("mul.hi.u32 %d32, %a32, %b32;", |a, b, _| (u64::from(w32(a)) * u64::from(w32(b))) >> 32),
        ("mul.hi.s32 %d32, %a32, %b32;", |a, b, _| u(((i64::from(s32(a)) * i64::from(s32(b))) >> 32) as i32)),
        ("mul.wide.s32 %d64, %a32, %b32;", |a, b, _| (i64::from(s32(a)) * i64::from(s32(b))) as u64),
        ("mul.hi.u64 %d64, %a64, %b64;", |a, b, _| ((u128::from(a) * u128::from(b)) >> 64) as u64),
        ("mul.hi.s64 %d64, %a64, %b64;", |a, b, _| ((i128::from(s64(a)) * i128::from(s64(b))) >> 64) as u64),
        ("mad.lo.s32 %d32, %a32, %b32, %c32;", |a, b, c| u64::from(w32(a).wrapping_mul(w32(b)).wrapping_add(w32(c)))),
        ("mad.wide.u32 %d64, %a32, %b32, %c64;", |a, b, c| (u64::from(w32(a)) * u64::from(w32(b))).wrapping_add(c)),
        ("sad.s32 %d32, %a32, %b32, %c32;", |a, b, c| u64::from(w32(c).wrapping_add(s32(a).abs_diff(s32(b))))),
        ("sad.u64 %d64, %a64, %b64, %c64;", |a, b, c| c.wrapping_add(a.abs_diff(b))),
        ("min.s16 %d16, %a16, %b16;", |a, b, _| u64::from(s16(a).min(s16(b)) as u16)),
        ("max.s32 %d32, %a32, %b32;", |a, b, _| u(s32(a).max(s32(b)))),
        ("min.u64 %d64, %a64, %b64;", |a, b, _| a.min(b)),
        ("max.s64 %d64, %a64, %b64;", |a, b, _| s64(a).max(s64(b)) as u64),
        ("neg.s16 %d16, %a16;", |a, _, _| u64::from(s16(a).wrapping_neg() as u16)),
        ("abs.s32 %d32, %a32;", |a, _, _| u(s32(a).wrapping_abs())),
        ("abs.s64 %d64, %a64;", |a, _, _| s64(a).wrapping_abs() as u64),
        ("div.u32 %d32, %a32, %b32;", |a, b, _| w32(a).checked_div(w32(b)).map_or(0xFFFF_FFFF, u64::from)),
        ("rem.u32 %d32, %a32, %b32;", |a, b, _| u64::from(w32(a).checked_rem(w32(b)).unwrap_or(w32(a)))),
        ("div.s64 %d64, %a64, %b64;", |a, b, _| if b == 0 { u64::MAX } else { s64(a).wrapping_div(s64(b)) as u64 }),
        ("rem.s64 %d64, %a64, %b64;", |a, b, _| if b == 0 { a } else { s64(a).wrapping_rem(s64(b)) as u64 }),
        (
            "div.s16 %d16, %a16, %b16;",
            |a, b, _| {
                if w16(b) == 0 { 0xFFFF } else { u64::from(s16(a).wrapping_div(s16(b)) as u16) }
            },
        ),
    ]);
}

#[test]
fn bits() {
    check_all(&[
        ("and.b16 %d16, %a16, %b16;", |a, b, _| u64::from(w16(a & b))),
        ("or.b32 %d32, %a32, %b32;", |a, b, _| u64::from(w32(a | b))),
        ("xor.b64 %d64, %a64, %b64;", |a, b, _| a ^ b),
        ("not.b16 %d16, %a16;", |a, _, _| u64::from(!w16(a))),
        ("cnot.b32 %d32, %a32;", |a, _, _| u64::from(w32(a) == 0)),
        ("popc.b64 %d32, %a64;", |a, _, _| u64::from(a.count_ones())),
        ("clz.b32 %d32, %a32;", |a, _, _| u64::from(w32(a).leading_zeros())),
        ("brev.b64 %d64, %a64;", |a, _, _| a.reverse_bits()),
        ("brev.b32 %d32, %a32;", |a, _, _| u64::from(w32(a).reverse_bits())),
        ("bfind.u32 %d32, %a32;", |a, _, _| u64::from(w32(a).checked_ilog2().unwrap_or(u32::MAX))),
        ("bfind.s64 %d32, %a64;", |a, _, _| {
            let turned = if s64(a) < 0 { !a } else { a };
            u64::from(turned.checked_ilog2().unwrap_or(u32::MAX))
        }),
        ("bfind.shiftamt.u64 %d32, %a64;", |a, _, _| if a == 0 { 0xFFFF_FFFF } else { u64::from(a.leading_zeros()) }),
        ("shl.b16 %d16, %a16, %b32;", |a, b, _| u64::from(w16(a).checked_shl(w32(b)).unwrap_or(0))),
        ("shl.b64 %d64, %a64, %b32;", |a, b, _| a.checked_shl(w32(b)).unwrap_or(0)),
        ("shr.u32 %d32, %a32, %b32;", |a, b, _| u64::from(w32(a).checked_shr(w32(b)).unwrap_or(0))),
        ("shr.s16 %d16, %a16, %b32;", |a, b, _| u64::from((s16(a) >> w32(b).min(15)) as u16)),
        ("shr.s64 %d64, %a64, %b32;", |a, b, _| (s64(a) >> w32(b).min(63)) as u64),
        ("bfi.b32 %d32, %a32, %b32, %c32, 9;", |a, b, c| {
            let (start, mask) = (c & 0xFF, if c & 0xFF > 31 { 0 } else { 0x1FF_u64 << (c & 0xFF) });
            u64::from(w32(b & !mask | if start > 31 { 0 } else { a << start } & mask))
        }),
        ("bfe.u64 %d64, %a64, %b32, %c32;", |a, b, c| {
            (0..(c & 0xFF))
                .filter(|bit| bit + (b & 0xFF) < 64 && a >> (bit + (b & 0xFF)) & 1 == 1)
                .map(|bit| 1 << bit)
                .sum()
        }),
        ("bfe.s32 %d32, %a32, %b32, %c32;", |a, b, c| {
            let (start, length) = (b & 0xFF, c & 0xFF);
            let sign = if length == 0 { 0 } else { a >> (start + length - 1).min(31) & 1 };
            let bit = |at: u64| if at < length && start + at <= 31 { a >> (start + at) & 1 } else { sign };
            (0..32).map(|at| bit(at) << at).sum()
        }),
        ("shf.l.wrap.b32 %d32, %a32, %b32, %c32;", |a, b, c| {
            u64::from(w32(((b << 32 | a & 0xFFFF_FFFF) << (c & 31)) >> 32))
        }),
        ("shf.r.clamp.b32 %d32, %a32, %b32, %c32;", |a, b, c| {
            u64::from(w32((b << 32 | a & 0xFFFF_FFFF) >> w32(c).min(32)))
        }),
        ("lop3.b32 %d32, %a32, %b32, %c32, 0xE8;", |a, b, c| u64::from(w32(a & b | a & c | b & c))),
        ("mov.b64 %d64, {%a32, %b32};", |a, b, _| b << 32 | a & 0xFFFF_FFFF),
        ("mov.b32 {%d16, %b16}, %a32;", |a, _, _| a & 0xFFFF),
    ]);
}

#[test]
fn predicates_and_selections() {
    check_all(&[
        ("setp.lt.s32 %q, %a32, %b32;", |a, b, _| u64::from(s32(a) < s32(b))),
        ("setp.hs.u16 %q, %a16, %b16;", |a, b, _| u64::from(w16(a) >= w16(b))),
        ("setp.gt.and.u64 %q, %a64, %b64, %p;", |a, b, c| u64::from(a > b && c & 1 == 1)),
        ("setp.ne.xor.s64 %q, %a64, %b64, !%p;", |a, b, c| u64::from((a != b) ^ (c & 1 == 0))),
        ("set.le.u32.s16 %d32, %a16, %b16;", |a, b, _| if s16(a) <= s16(b) { 0xFFFF_FFFF } else { 0 }),
        ("selp.b16 %d16, %a16, %b16, %p;", |a, b, c| u64::from(w16(if c & 1 == 1 { a } else { b }))),
        ("slct.u64.s32 %d64, %a64, %b64, %c32;", |a, b, c| if s32(c) >= 0 { a } else { b }),
        ("@%p add.u32 %d32, %a32, 1;", |a, _, c| if c & 1 == 1 { u64::from(w32(a).wrapping_add(1)) } else { 5 }),
        ("@!%p mov.u64 %d64, %b64;", |_, b, c| if c & 1 == 1 { 5 } else { b }),
        ("@%p bra L; mov.u64 %d64, %a64; L:", |a, _, c| if c & 1 == 1 { 5 } else { a }),
    ]);
}

#[test]
fn conversions() {
    check_all(&[
        ("cvt.u32.u8 %d32, %a32;", |a, _, _| a & 0xFF),
        ("cvt.s32.s8 %d32, %a32;", |a, _, _| u(i32::from(a as i8))),
        ("cvt.s64.s16 %d64, %a16;", |a, _, _| i64::from(s16(a)) as u64),
        ("cvt.u64.s32 %d64, %a32;", |a, _, _| i64::from(s32(a)) as u64),
        ("cvt.u16.u64 %d16, %a64;", |a, _, _| u64::from(w16(a))),
        ("cvt.s8.s64 %d32, %a64;", |a, _, _| u(i32::from(a as i8))),
    ]);
}
