//! `setp`, `set`, `slct` and `testp` of numbers.

use super::reference::{BF16, F16, F32, F64, Shape, operands};
use super::{check, pair};

/// Whether a relation holds.
type Relation = fn(f64, f64) -> bool;

const RELATIONS: [(&str, Relation); 14] = [
    ("eq", |a, b| a == b),
    ("ne", |a, b| a < b || a > b),
    ("lt", |a, b| a < b),
    ("le", |a, b| a <= b),
    ("gt", |a, b| a > b),
    ("ge", |a, b| a >= b),
    ("equ", |a, b| a == b || a.is_nan() || b.is_nan()),
    ("neu", |a, b| a != b),
    ("ltu", |a, b| !(a >= b)),
    ("leu", |a, b| !(a > b)),
    ("gtu", |a, b| !(a <= b)),
    ("geu", |a, b| !(a < b)),
    ("num", |a, b| !a.is_nan() && !b.is_nan()),
    ("nan", |a, b| a.is_nan() || b.is_nan()),
];

const FORMATS: [(&str, Shape); 4] = [("f16", F16), ("bf16", BF16), ("f32", F32), ("f64", F64)];

fn predicates(p: bool, q: bool) -> u64 {
    u64::from(p) | u64::from(q) << 1
}

#[test]
fn predicates_of_relations() {
    for (ty, shape) in FORMATS {
        let (all, width) = (operands(shape), shape.bits);
        for (name, relation) in RELATIONS {
            let holds = |a, b| relation(shape.value(a), shape.value(b));
            let operands = format!("%a{width}, %b{width}");
            check(&format!("setp.{name}.{ty} %p|%q, {operands};"), &all, |[a, b, _]| {
                predicates(holds(a, b), !holds(a, b))
            });
            check(&format!("setp.{name}.and.{ty} %p|%q, {operands}, !%odd;"), &all, |[a, b, c]| {
                let even = c & 1 == 0;
                predicates(holds(a, b) && even, !holds(a, b) && even)
            });
        }
    }
    for (name, relation) in RELATIONS {
        check(&format!("setp.{name}.ftz.f32 %p, %a32, %b32;"), &operands(F32), |[a, b, _]| {
            u64::from(relation(F32.value(F32.flushed(a)), F32.value(F32.flushed(b))))
        });
    }
}

#[test]
fn relations_as_numbers() {
    for (name, relation) in RELATIONS {
        let single = |a, b| relation(F32.value(a), F32.value(b));
        check(&format!("set.{name}.f32.f32 %d32, %a32, %b32;"), &operands(F32), |[a, b, _]| {
            if single(a, b) { F32.one() } else { 0 }
        });
        check(&format!("set.{name}.xor.u32.f32 %d32, %a32, %b32, %odd;"), &operands(F32), |[a, b, c]| {
            if single(a, b) ^ (c & 1 == 1) { 0xFFFF_FFFF } else { 0 }
        });
        check(&format!("set.{name}.s32.f64 %d32, %a64, %b64;"), &operands(F64), |[a, b, _]| {
            if relation(F64.value(a), F64.value(b)) { 0xFFFF_FFFF } else { 0 }
        });
        for (ty, shape) in &FORMATS[..2] {
            let holds = |a, b| relation(shape.value(a), shape.value(b));
            check(&format!("set.{name}.{ty}.{ty} %d16, %a16, %b16;"), &operands(*shape), |[a, b, _]| {
                if holds(a, b) { shape.one() } else { 0 }
            });
            check(&format!("set.{name}.u16.{ty} %d16, %a16, %b16;"), &operands(*shape), |[a, b, _]| {
                if holds(a, b) { 0xFFFF } else { 0 }
            });
        }
    }
    let integers: Vec<[u64; 3]> = (0..9).map(|it| [it % 3, it / 3, 0]).collect();
    check("set.lt.f16.u32 %d16, %a32, %b32;", &integers, |[a, b, _]| if a < b { F16.one() } else { 0 });
    check("set.ge.f32.s64 %d32, %a64, %b64;", &integers, |[a, b, _]| if a >= b { F32.one() } else { 0 });
}

#[test]
fn relations_of_pairs() {
    for (ty, shape) in [("f16x2", F16), ("bf16x2", BF16)] {
        let pairs: Vec<[u64; 3]> =
            operands(shape).windows(2).map(|two| [0, 1, 2].map(|it| pair(16, two[0][it], two[1][it]))).collect();
        for (name, relation) in RELATIONS {
            let low = |a: u64, b: u64| relation(shape.value(a & 0xFFFF), shape.value(b & 0xFFFF));
            let high = |a: u64, b: u64| relation(shape.value(a >> 16), shape.value(b >> 16));
            check(&format!("setp.{name}.{ty} %p|%q, %a32, %b32;"), &pairs, |[a, b, _]| {
                predicates(low(a, b), high(a, b))
            });
            check(&format!("setp.{name}.or.{ty} %p|%q, %a32, %b32, %odd;"), &pairs, |[a, b, c]| {
                let odd = c & 1 == 1;
                predicates(low(a, b) || odd, high(a, b) || odd)
            });
            let each = |truth: u64, a, b| pair(16, truth * u64::from(low(a, b)), truth * u64::from(high(a, b)));
            check(&format!("set.{name}.{ty}.{ty} %d32, %a32, %b32;"), &pairs, |[a, b, _]| each(shape.one(), a, b));
            check(&format!("set.{name}.u32.{ty} %d32, %a32, %b32;"), &pairs, |[a, b, _]| each(0xFFFF, a, b));
        }
    }
}

#[test]
fn choices_by_sign() {
    let by = |c: u64, a, b| if F32.value(c) >= 0.0 { a } else { b };
    check("slct.f32.f32 %d32, %a32, %b32, %c32;", &operands(F32), |[a, b, c]| by(c, a, b));
    check("slct.ftz.u32.f32 %d32, %a32, %b32, %c32;", &operands(F32), |[a, b, c]| by(F32.flushed(c), a, b));
    check("slct.b64.f32 %d64, %a64, %b64, %c32;", &operands(F32), |[a, b, c]| by(c, a, b));
    check("selp.f32 %d32, %a32, %b32, %odd;", &operands(F32), |[a, b, c]| if c & 1 == 1 { a } else { b });
}

#[test]
fn classes() {
    for (ty, shape) in &FORMATS[2..] {
        let tests: [(&str, fn(Shape, u64) -> bool); 6] = [
            ("finite", |shape, it| shape.value(it).is_finite()),
            ("infinite", |shape, it| shape.value(it).is_infinite()),
            ("number", |shape, it| !shape.value(it).is_nan()),
            ("notanumber", |shape, it| shape.value(it).is_nan()),
            ("normal", |shape, it| shape.value(it).is_finite() && !shape.is_subnormal(it)),
            ("subnormal", Shape::is_subnormal),
        ];
        for (name, test) in tests {
            let width = shape.bits;
            check(&format!("testp.{name}.{ty} %p, %a{width};"), &operands(*shape), |[a, ..]| {
                u64::from(test(*shape, a))
            });
        }
    }
}
