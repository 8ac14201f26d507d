//! `setp`, `set`, `slct` and `testp` of numbers.

use std::cmp::Ordering::{self, Equal, Greater, Less};

use super::reference::{BF16, F16, F32, F64, Shape, operands};
use super::{check, pair};

/// Whether a relation holds of two numbers that are in this order, or in none.
type Relation = fn(Option<Ordering>) -> bool;

const RELATIONS: [(&str, Relation); 14] = [
    ("eq", |order| order == Some(Equal)),
    ("ne", |order| matches!(order, Some(Less | Greater))),
    ("lt", |order| order == Some(Less)),
    ("le", |order| matches!(order, Some(Less | Equal))),
    ("gt", |order| order == Some(Greater)),
    ("ge", |order| matches!(order, Some(Greater | Equal))),
    ("equ", |order| matches!(order, None | Some(Equal))),
    ("neu", |order| order != Some(Equal)),
    ("ltu", |order| matches!(order, None | Some(Less))),
    ("leu", |order| order != Some(Greater)),
    ("gtu", |order| matches!(order, None | Some(Greater))),
    ("geu", |order| order != Some(Less)),
    ("num", |order| order.is_some()),
    ("nan", |order| order.is_none()),
];

/// How two numbers are ordered.
fn order(shape: Shape, a: u64, b: u64) -> Option<Ordering> {
    shape.value(a).partial_cmp(&shape.value(b))
}

/// Whether a number is of a class.
type Test = fn(Shape, u64) -> bool;

const FORMATS: [(&str, Shape); 4] = [("f16", F16), ("bf16", BF16), ("f32", F32), ("f64", F64)];

fn predicates(p: bool, q: bool) -> u64 {
    u64::from(p) | u64::from(q) << 1
}

#[test]
fn predicates_of_relations() {
    // Halves have no second predicate.
    let outcomes = [("%p", 0b01), ("%p", 0b01), ("%p|%q", 0b11), ("%p|%q", 0b11)];
    for ((ty, shape), (outcome, written)) in FORMATS.into_iter().zip(outcomes) {
        let (all, width) = (operands(shape), shape.bits);
        for (name, relation) in RELATIONS {
            let holds = |a, b| relation(order(shape, a, b));
            let operands = format!("%a{width}, %b{width}");
            check(&format!("setp.{name}.{ty} {outcome}, {operands};"), &all, |[a, b, _]| {
                predicates(holds(a, b), !holds(a, b)) & written
            });
            check(&format!("setp.{name}.and.{ty} {outcome}, {operands}, !%odd;"), &all, |[a, b, c]| {
                let even = c & 1 == 0;
                predicates(holds(a, b) && even, !holds(a, b) && even) & written
            });
        }
    }
    for (name, relation) in RELATIONS {
        check(&format!("setp.{name}.ftz.f32 %p, %a32, %b32;"), &operands(F32), |[a, b, _]| {
            u64::from(relation(order(F32, F32.flushed(a), F32.flushed(b))))
        });
    }
}

#[test]
fn relations_as_numbers() {
    for (name, relation) in RELATIONS {
        let single = |a, b| relation(order(F32, a, b));
        check(&format!("set.{name}.f32.f32 %d32, %a32, %b32;"), &operands(F32), |[a, b, _]| {
            if single(a, b) { F32.one() } else { 0 }
        });
        check(&format!("set.{name}.xor.u32.f32 %d32, %a32, %b32, %odd;"), &operands(F32), |[a, b, c]| {
            if single(a, b) ^ (c & 1 == 1) { 0xFFFF_FFFF } else { 0 }
        });
        check(&format!("set.{name}.s32.f64 %d32, %a64, %b64;"), &operands(F64), |[a, b, _]| {
            if relation(order(F64, a, b)) { 0xFFFF_FFFF } else { 0 }
        });
        for (ty, shape) in &FORMATS[..2] {
            let holds = |a, b| relation(order(*shape, a, b));
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
            let low = |a: u64, b: u64| relation(order(shape, a & 0xFFFF, b & 0xFFFF));
            let high = |a: u64, b: u64| relation(order(shape, a >> 16, b >> 16));
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
        let tests: [(&str, Test); 6] = [
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
