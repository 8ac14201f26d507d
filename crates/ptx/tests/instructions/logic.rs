//! Logic, shifts and bits.

use peermap_ptx::instruction::BinaryOp::{And, BitMask, Or, ShiftLeft, ShiftRight, Xor};
use peermap_ptx::instruction::TernaryOp::{FindNthSet, FunnelLeft, FunnelRight, Permute as Bytes};
use peermap_ptx::instruction::UnaryOp::{LeadingZeros, LogicalNot, Not, PopCount, ReverseBits};
use peermap_ptx::instruction::{Lop3, Lop3Predicate, Operation, Permute};
use peermap_ptx::{BitType as B, IntegerType as I, ScalarType};

use crate::{binary, immediate, predicate, read, register, source, ternary, unary};

#[test]
fn one_value() {
    let cases = [
        ("not.b16 %h1, %h2;", Not(B::B16)),
        ("not.pred %p1, %p2;", Not(B::Pred)),
        ("cnot.b64 %d1, %d2;", LogicalNot(B::B64)),
        ("popc.b64 %r1, %d2;", PopCount(B::B64)),
        ("clz.b32 %r1, %r2;", LeadingZeros(B::B32)),
        ("brev.b64 %d1, %d2;", ReverseBits(B::B64)),
    ];
    for (statement, wanted) in cases {
        assert_eq!(unary(statement), wanted, "{statement}");
    }
}

#[test]
fn two_values() {
    let cases = [
        ("and.b64 %d1, %d2, %d3;", And(B::B64)),
        ("or.pred %p1, %p2, %p3;", Or(B::Pred)),
        ("xor.b16 %h1, %h2, %h3;", Xor(B::B16)),
        ("shl.b16 %h1, %h2, %r3;", ShiftLeft(B::B16)),
        ("shr.b64 %d1, %d2, %r3;", ShiftRight(I::U64)),
        ("shr.u16 %h1, %h2, %r3;", ShiftRight(I::U16)),
        ("shr.s32 %r1, %r2, %r3;", ShiftRight(I::S32)),
        ("bmsk.clamp.b32 %r1, %r2, %r3;", BitMask { clamp: true }),
        ("bmsk.wrap.b32 %r1, %r2, %r3;", BitMask { clamp: false }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(binary(statement), wanted, "{statement}");
    }
}

#[test]
fn three_values() {
    let cases = [
        ("shf.l.wrap.b32 %r1, %r2, %r3, %r4;", FunnelLeft { wrap: true }),
        ("shf.r.clamp.b32 %r1, %r2, %r3, %r4;", FunnelRight { wrap: false }),
        ("prmt.b32 %r1, %r2, %r3, %r4;", Bytes(Permute::Default)),
        ("prmt.b32.f4e %r1, %r2, %r3, %r4;", Bytes(Permute::Forward4)),
        ("prmt.b32.b4e %r1, %r2, %r3, %r4;", Bytes(Permute::Backward4)),
        ("prmt.b32.rc8 %r1, %r2, %r3, %r4;", Bytes(Permute::Replicate8)),
        ("prmt.b32.ecl %r1, %r2, %r3, %r4;", Bytes(Permute::ClampLeft)),
        ("prmt.b32.ecr %r1, %r2, %r3, %r4;", Bytes(Permute::ClampRight)),
        ("prmt.b32.rc16 %r1, %r2, %r3, %r4;", Bytes(Permute::Replicate16)),
        ("fns.b32 %r1, %r2, %r3, %r4;", FindNthSet),
    ];
    for (statement, wanted) in cases {
        assert_eq!(ternary(statement), wanted, "{statement}");
    }
}

#[test]
fn bits_are_put_in() {
    let (body, found) = read("bfi.b64 %d1, %d2, %d3, %r4, 8;");
    let wanted = Operation::InsertBits {
        ty: ScalarType::B64,
        destination: register(&body, "%d1"),
        a: source(&body, "%d2"),
        b: source(&body, "%d3"),
        start: source(&body, "%r4"),
        length: immediate(ScalarType::U32, 8),
    };
    assert_eq!(found, wanted);
}

#[test]
fn any_function_of_three_bits() {
    let (body, found) = read("lop3.b32 %r1, %r2, %r3, %r4, 0x1A;");
    let plain = Lop3 {
        table: 0x1A,
        destination: Some(register(&body, "%r1")),
        a: source(&body, "%r2"),
        b: source(&body, "%r3"),
        c: source(&body, "%r4"),
        predicate: None,
    };
    assert_eq!(found, Operation::Lop3(plain));

    let (body, found) = read("lop3.and.b32 _|%p1, %r2, %r3, %r4, 128, !%p2;");
    let wanted = Lop3Predicate { and: true, destination: register(&body, "%p1"), with: predicate(&body, "%p2", true) };
    let Operation::Lop3(joined) = found else { panic!("{found:?}") };
    assert_eq!((joined.table, joined.destination, joined.predicate), (128, None, Some(wanted)));
}
