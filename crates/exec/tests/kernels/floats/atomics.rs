//! Sums in memory.

use super::pair;
use super::reference::{BF16, F16, F32, F64, Mode, Shape, operands, sum};
use crate::rig::{Rig, kernel};

fn added(shape: Shape, flush: bool, a: u64, b: u64) -> u64 {
    let seen = |bits| shape.value(if flush { shape.flushed(bits) } else { bits });
    shape.rounded(sum(seen(a), seen(b), Mode::Nearest), Mode::Nearest, flush)
}

/// What lay in memory and what lies there then, after each operand was added to the one before it in memory. Operands
/// and what they are added to are each `bytes` long, one behind the other.
fn launched(instruction: &str, bytes: u64, operands: &[[u64; 2]]) -> Vec<[u64; 2]> {
    let width = 8 * bytes;
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 memory) {{
.reg .b{width} %v, %d; .reg .b32 %t, %n, %k; .reg .b64 %m, %x, %at;
ld.param.u64 %m, [memory];
mov.u32 %t, %tid.x; mov.u32 %n, %ntid.x; mov.u32 %k, %ctaid.x; mad.lo.u32 %t, %k, %n, %t;
mul.wide.u32 %at, %t, {bytes}; add.u64 %m, %m, %at;
ld.global.b{width} %v, [%m+65536];
mov.b{width} %d, 0;
{instruction}
st.global.b{width} [%m+131072], %d;
ret; }}"
    );
    let rig = Rig::new(3);
    let column = |place: usize| -> Vec<u8> {
        operands.iter().flat_map(|row| row[place].to_le_bytes()[..bytes as usize].to_vec()).collect()
    };
    rig.view().write(rig.base, &column(0)).unwrap();
    rig.view().write(rig.base + 65_536, &column(1)).unwrap();
    let blocks = operands.len() as u32 / 32;
    rig.launch(&kernel(&text, "k"), [blocks, 1, 1], [32, 1, 1], &rig.base.to_le_bytes()).unwrap();
    let read = |start: u64, index: usize| {
        let mut word = [0; 8];
        word[..bytes as usize].copy_from_slice(&rig.bytes(start + bytes * index as u64, bytes as usize));
        u64::from_le_bytes(word)
    };
    (0..operands.len()).map(|index| [read(131_072, index), read(0, index)]).collect()
}

fn check(instruction: &str, bytes: u64, operands: &[[u64; 2]], expected: impl Fn(u64, u64) -> u64) {
    let operands = &operands[..operands.len() / 32 * 32];
    for ([old, operand], found) in operands.iter().zip(launched(instruction, bytes, operands)) {
        assert_eq!(found, [*old, expected(*old, *operand)], "{instruction} of {old:#x} and {operand:#x}");
    }
}

fn rows(shape: Shape) -> Vec<[u64; 2]> {
    operands(shape).iter().map(|[a, b, _]| [*a, *b]).collect()
}

#[test]
fn one_number() {
    check("atom.global.add.f32 %d, [%m], %v;", 4, &rows(F32), |a, b| added(F32, true, a, b));
    let double = |a: u64, b: u64| {
        let result = f64::from_bits(a) + f64::from_bits(b);
        let nan = [a, b].into_iter().find(|it| F64.is_nan(*it)).map_or(F64.nan(), |it| it | 1 << 51);
        if result.is_nan() { nan } else { result.to_bits() }
    };
    check("atom.global.add.f64 %d, [%m], %v;", 8, &rows(F64), double);
    check("atom.add.noftz.f16 %d, [%m], %v;", 2, &rows(F16), |a, b| added(F16, false, a, b));
    check("atom.add.noftz.bf16 %d, [%m], %v;", 2, &rows(BF16), |a, b| added(BF16, false, a, b));
}

#[test]
fn pairs() {
    for (ty, shape) in [("f16x2", F16), ("bf16x2", BF16)] {
        let pairs: Vec<[u64; 2]> =
            rows(shape).windows(2).map(|two| [0, 1].map(|place| pair(16, two[0][place], two[1][place]))).collect();
        check(&format!("atom.global.add.noftz.{ty} %d, [%m], %v;"), 4, &pairs, |a, b| {
            let number = |a, b| added(shape, false, a, b);
            pair(16, number(a & 0xFFFF, b & 0xFFFF), number(a >> 16, b >> 16))
        });
    }
}

#[test]
fn half_a_word_is_exchanged_where_it_is_the_same() {
    let rows: Vec<[u64; 2]> = (0..64).map(|it| [it % 4, it % 3]).collect();
    check("atom.global.cas.b16 %d, [%m], %v, 77;", 2, &rows, |old, operand| if old == operand { 77 } else { old });
}

/// Subnormal numbers stay in shared memory, by whatever address it is reached.
#[test]
fn in_shared_memory() {
    let sums = |instruction: &str| {
        let text = format!(
            ".version 8.6\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 memory) {{
.reg .b32 %v, %d, %s; .reg .b64 %m, %g; .shared .align 4 .b32 x;
ld.param.u64 %m, [memory]; mov.b32 %v, 3; mov.u32 %s, x; st.shared.b32 [%s], 5; mov.u64 %g, x; cvta.shared.u64 %g, %g;
{instruction}
ld.shared.b32 %d, [%s]; st.global.b32 [%m], %d; ret; }}"
        );
        let rig = Rig::new(1);
        rig.launch(&kernel(&text, "k"), [1, 1, 1], [1, 1, 1], &rig.base.to_le_bytes()).unwrap();
        rig.word(0)
    };
    assert_eq!(sums("red.shared.add.f32 [%s], %v;"), 8);
    assert_eq!(sums("atom.add.f32 %d, [%g], %v;"), 8);
}

/// Vectors lie side by side, and each element is added by itself.
#[test]
fn vectors() {
    let rows: Vec<[u64; 2]> = (0..64)
        .map(|it| [it * 3 % 7, it * 5 % 11])
        .map(|row| row.map(|it| F16.rounded((it as f64, 0.0), Mode::Nearest, false)))
        .collect();
    let of_four = |place: usize| -> Vec<u64> {
        rows.chunks(4).map(|four| four.iter().rev().fold(0, |word, row| word << 16 | row[place])).collect()
    };
    let words: Vec<[u64; 2]> = of_four(0).into_iter().zip(of_four(1)).map(|(a, b)| [a, b]).collect();
    let instruction = "{ .reg .b16 %h<8>; mov.b64 {%h0, %h1, %h2, %h3}, %v;
atom.global.v4.f16.add.noftz {%h4, %h5, %h6, %h7}, [%m], {%h0, %h1, %h2, %h3};
mov.b64 %d, {%h4, %h5, %h6, %h7}; }";
    let doubled = words.repeat(2);
    check(instruction, 8, &doubled, |old, operand| {
        (0..64).step_by(16).map(|at| added(F16, false, old >> at & 0xFFFF, operand >> at & 0xFFFF) << at).sum()
    });
}

/// All threads add to one number.
#[test]
fn reductions() {
    let cases = [("f32", "0f3F800000", 1000_f32.to_bits().into()), ("f64", "0d3FF0000000000000", 1000_f64.to_bits())];
    for (ty, one, expected) in cases {
        let text = format!(
            ".version 8.6\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 memory) {{
.reg .b64 %m; ld.param.u64 %m, [memory]; red.global.add.{ty} [%m], {one}; ret; }}"
        );
        let rig = Rig::new(1);
        rig.launch(&kernel(&text, "k"), [10, 1, 1], [100, 1, 1], &rig.base.to_le_bytes()).unwrap();
        assert_eq!(rig.word(0), expected, "{ty}");
    }
}
