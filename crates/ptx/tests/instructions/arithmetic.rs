//! Integers and floating-point numbers.

use peermap_ptx::instruction::BinaryOp::*;
use peermap_ptx::instruction::TernaryOp::*;
use peermap_ptx::instruction::UnaryOp::{
    Abs, FindLeading, FloatAbs, FloatNeg, Neg, Reciprocal, Sqrt, Test, Transcendental as Approximate,
};
use peermap_ptx::instruction::{
    Carry, CarryOp, FloatMinMax, FloatTest, Half, Operation, Precision, Rounding, Transcendental,
};
use peermap_ptx::{FloatType as F, IntegerType as I, ScalarType};

use crate::{binary, immediate, operation, read, register, source, ternary, unary};

const NEAREST: Rounding = Rounding::NearestEven;

#[test]
fn integer_sums_products_and_quotients() {
    let cases = [
        ("add.u32 %r1, %r2, %r3;", Add { ty: I::U32, saturate: false }),
        ("add.s64 %d1, %d2, %d3;", Add { ty: I::S64, saturate: false }),
        ("add.sat.s32 %r1, %r2, %r3;", Add { ty: I::S32, saturate: true }),
        ("add.u16x2 %r1, %r2, %r3;", Add { ty: I::U16x2, saturate: false }),
        ("sub.s16 %h1, %h2, %h3;", Sub { ty: I::S16, saturate: false }),
        ("sub.s32.sat %r1, %r2, %r3;", Sub { ty: I::S32, saturate: true }),
        ("mul.lo.u16 %h1, %h2, %h3;", Mul { ty: I::U16, half: Half::Low }),
        ("mul.hi.u64 %d1, %d2, %d3;", Mul { ty: I::U64, half: Half::High }),
        ("mul.wide.u16 %r1, %h2, %h3;", Mul { ty: I::U16, half: Half::Wide }),
        ("mul.wide.s32 %d1, %r2, %r3;", Mul { ty: I::S32, half: Half::Wide }),
        ("mul24.lo.s32 %r1, %r2, %r3;", Mul24 { ty: I::S32, half: Half::Low }),
        ("mul24.hi.u32 %r1, %r2, %r3;", Mul24 { ty: I::U32, half: Half::High }),
        ("div.s64 %d1, %d2, %d3;", Div(I::S64)),
        ("div.u16 %h1, %h2, %h3;", Div(I::U16)),
        ("rem.u32 %r1, %r2, %r3;", Rem(I::U32)),
        ("min.s16 %h1, %h2, %h3;", Min { ty: I::S16, relu: false }),
        ("min.relu.s16x2 %r1, %r2, %r3;", Min { ty: I::S16x2, relu: true }),
        ("max.s32.relu %r1, %r2, %r3;", Max { ty: I::S32, relu: true }),
        ("max.u64 %d1, %d2, %d3;", Max { ty: I::U64, relu: false }),
        ("szext.wrap.s32 %r1, %r2, %r3;", Extend { ty: I::S32, clamp: false }),
        ("szext.clamp.u32 %r1, %r2, %r3;", Extend { ty: I::U32, clamp: true }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(binary(statement), wanted, "{statement}");
    }
}

#[test]
fn integer_operations_on_three_values() {
    let cases = [
        ("mad.lo.s32 %r1, %r2, %r3, %r4;", Mad { ty: I::S32, half: Half::Low, saturate: false }),
        ("mad.hi.sat.s32 %r1, %r2, %r3, %r4;", Mad { ty: I::S32, half: Half::High, saturate: true }),
        ("mad.wide.u16 %r1, %h2, %h3, %r4;", Mad { ty: I::U16, half: Half::Wide, saturate: false }),
        ("mad.wide.s32 %d1, %r2, %r3, %d4;", Mad { ty: I::S32, half: Half::Wide, saturate: false }),
        ("mad24.lo.u32 %r1, %r2, %r3, %r4;", Mad24 { ty: I::U32, half: Half::Low, saturate: false }),
        ("mad24.hi.sat.s32 %r1, %r2, %r3, %r4;", Mad24 { ty: I::S32, half: Half::High, saturate: true }),
        ("sad.u16 %h1, %h2, %h3, %h4;", SumOfDifferences(I::U16)),
        ("bfe.s64 %d1, %d2, %r3, %r4;", ExtractBits(I::S64)),
        ("dp4a.u32.s32 %r1, %r2, %r3, %r4;", Dot4 { a_signed: false, b_signed: true }),
        ("dp2a.hi.s32.u32 %r1, %r2, %r3, %r4;", Dot2 { a_signed: true, b_signed: false, upper: true }),
        ("dp2a.lo.u32.u32 %r1, %r2, %r3, %r4;", Dot2 { a_signed: false, b_signed: false, upper: false }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(ternary(statement), wanted, "{statement}");
    }
}

#[test]
fn integer_operations_on_one_value() {
    let cases = [
        ("neg.s16 %h1, %h2;", Neg(I::S16)),
        ("abs.s64 %d1, %d2;", Abs(I::S64)),
        ("bfind.u32 %r1, %r2;", FindLeading { ty: I::U32, shift_amount: false }),
        ("bfind.shiftamt.s64 %r1, %d2;", FindLeading { ty: I::S64, shift_amount: true }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(unary(statement), wanted, "{statement}");
    }
}

#[test]
fn the_carry_goes_in_and_out() {
    let cases = [
        ("add.cc.u32 %r1, %r2, %r3;", CarryOp::Add, I::U32, (false, true)),
        ("addc.cc.u32 %r1, %r2, %r3;", CarryOp::Add, I::U32, (true, true)),
        ("addc.s32 %r1, %r2, %r3;", CarryOp::Add, I::S32, (true, false)),
        ("sub.cc.s32 %r1, %r2, %r3;", CarryOp::Sub, I::S32, (false, true)),
        ("subc.u32 %r1, %r2, %r3;", CarryOp::Sub, I::U32, (true, false)),
    ];
    for (statement, op, ty, (carry_in, carry_out)) in cases {
        let (body, found) = read(statement);
        let (a, b, destination) = (source(&body, "%r2"), source(&body, "%r3"), register(&body, "%r1"));
        let flag = |named: bool| named.then(|| register(&body, "CC.CF"));
        let (carry_in, carry_out) = (flag(carry_in), flag(carry_out));
        assert_eq!(found, Operation::Carry(Carry { op, ty, carry_in, carry_out, destination, a, b, c: None }));
    }
    let (body, found) = read("madc.hi.cc.u64 %d1, %d2, 5, %d4;");
    let wanted = Carry {
        op: CarryOp::MadHigh,
        ty: I::U64,
        carry_in: Some(register(&body, "CC.CF")),
        carry_out: Some(register(&body, "CC.CF")),
        destination: register(&body, "%d1"),
        a: source(&body, "%d2"),
        b: immediate(ScalarType::U64, 5),
        c: Some(source(&body, "%d4")),
    };
    assert_eq!(found, Operation::Carry(wanted));
    let low = operation("mad.lo.cc.u32 %r1, %r2, %r3, %r4;");
    assert!(matches!(low, Operation::Carry(Carry { op: CarryOp::MadLow, carry_in: None, carry_out: Some(_), .. })));
}

#[test]
fn sums_and_products_of_numbers() {
    let add = |ty, rounding, ftz, saturate| FloatAdd { ty, from: None, rounding, ftz, saturate };
    let cases = [
        ("add.f32 %f1, %f2, %f3;", add(F::F32, NEAREST, false, false)),
        ("add.rz.ftz.sat.f32 %f1, %f2, %f3;", add(F::F32, Rounding::Zero, true, true)),
        ("add.rm.f64 %e1, %e2, %e3;", add(F::F64, Rounding::Down, false, false)),
        ("add.rn.sat.f16 %h1, %h2, %h3;", add(F::F16, NEAREST, false, true)),
        ("add.ftz.f16x2 %r1, %r2, %r3;", add(F::F16x2, NEAREST, true, false)),
        ("add.bf16x2 %r1, %r2, %r3;", add(F::Bf16x2, NEAREST, false, false)),
        ("add.rp.ftz.f32x2 %d1, %d2, %d3;", add(F::F32x2, Rounding::Up, true, false)),
        (
            "add.f32.bf16 %f1, %h2, %f3;",
            FloatAdd { ty: F::F32, from: Some(F::Bf16), rounding: NEAREST, ftz: false, saturate: false },
        ),
        (
            "sub.rz.sat.f32.f16 %f1, %h2, %f3;",
            FloatSub { ty: F::F32, from: Some(F::F16), rounding: Rounding::Zero, ftz: false, saturate: true },
        ),
        (
            "sub.bf16 %h1, %h2, %h3;",
            FloatSub { ty: F::Bf16, from: None, rounding: NEAREST, ftz: false, saturate: false },
        ),
        ("mul.rm.f32 %f1, %f2, %f3;", FloatMul { ty: F::F32, rounding: Rounding::Down, ftz: false, saturate: false }),
        ("mul.ftz.sat.f16x2 %r1, %r2, %r3;", FloatMul { ty: F::F16x2, rounding: NEAREST, ftz: true, saturate: true }),
        ("copysign.f64 %e1, %e2, %e3;", CopySign(F::F64)),
    ];
    for (statement, wanted) in cases {
        assert_eq!(binary(statement), wanted, "{statement}");
    }
}

#[test]
fn fused_products() {
    let fma = |ty, ftz, saturate, relu, oob| Fma { ty, from: None, rounding: NEAREST, ftz, saturate, relu, oob };
    let mixed = Fma {
        ty: F::F32,
        from: Some(F::F16),
        rounding: Rounding::Up,
        ftz: false,
        saturate: true,
        relu: false,
        oob: false,
    };
    let cases = [
        ("fma.rn.f32 %f1, %f2, %f3, %f4;", fma(F::F32, false, false, false, false)),
        ("fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4;", fma(F::F32, true, true, false, false)),
        ("fma.rn.f64 %e1, %e2, %e3, %e4;", fma(F::F64, false, false, false, false)),
        ("mad.rn.f32 %f1, %f2, %f3, %f4;", fma(F::F32, false, false, false, false)),
        ("fma.rn.ftz.relu.f16x2 %r1, %r2, %r3, %r4;", fma(F::F16x2, true, false, true, false)),
        ("fma.rn.oob.relu.bf16 %h1, %h2, %h3, %h4;", fma(F::Bf16, false, false, true, true)),
        ("fma.rn.f32x2 %d1, %d2, %d3, %d4;", fma(F::F32x2, false, false, false, false)),
        ("fma.rp.sat.f32.f16 %f1, %h2, %h3, %f4;", mixed),
    ];
    for (statement, wanted) in cases {
        assert_eq!(ternary(statement), wanted, "{statement}");
    }
}

#[test]
fn quotients_roots_and_what_is_approximated() {
    let exact = Precision::Rounded(NEAREST);
    let divisions = [
        ("div.approx.ftz.f32 %f1, %f2, %f3;", FloatDiv { ty: F::F32, precision: Precision::Approximate, ftz: true }),
        ("div.full.f32 %f1, %f2, %f3;", FloatDiv { ty: F::F32, precision: Precision::Full, ftz: false }),
        ("div.rn.f64 %e1, %e2, %e3;", FloatDiv { ty: F::F64, precision: exact, ftz: false }),
    ];
    for (statement, wanted) in divisions {
        assert_eq!(binary(statement), wanted, "{statement}");
    }
    let about = |function, ty, ftz| Approximate { function, ty, ftz };
    let cases = [
        ("rcp.approx.ftz.f64 %e1, %e2;", Reciprocal { ty: F::F64, precision: Precision::Approximate, ftz: true }),
        ("rcp.rm.f32 %f1, %f2;", Reciprocal { ty: F::F32, precision: Precision::Rounded(Rounding::Down), ftz: false }),
        ("sqrt.approx.f32 %f1, %f2;", Sqrt { ty: F::F32, precision: Precision::Approximate, ftz: false }),
        ("sqrt.rn.f64 %e1, %e2;", Sqrt { ty: F::F64, precision: exact, ftz: false }),
        ("rsqrt.approx.f64 %e1, %e2;", about(Transcendental::ReciprocalSqrt, F::F64, false)),
        ("sin.approx.ftz.f32 %f1, %f2;", about(Transcendental::Sin, F::F32, true)),
        ("cos.approx.f32 %f1, %f2;", about(Transcendental::Cos, F::F32, false)),
        ("lg2.approx.f32 %f1, %f2;", about(Transcendental::Log2, F::F32, false)),
        ("ex2.approx.ftz.bf16x2 %r1, %r2;", about(Transcendental::Exp2, F::Bf16x2, true)),
        ("ex2.approx.f16 %h1, %h2;", about(Transcendental::Exp2, F::F16, false)),
        ("tanh.approx.bf16 %h1, %h2;", about(Transcendental::Tanh, F::Bf16, false)),
        ("neg.ftz.f16 %h1, %h2;", FloatNeg { ty: F::F16, ftz: true }),
        ("abs.f64 %e1, %e2;", FloatAbs { ty: F::F64, ftz: false }),
        ("testp.subnormal.f64 %p1, %e2;", Test { test: FloatTest::Subnormal, ty: F::F64 }),
        ("testp.notanumber.f32 %p1, %f2;", Test { test: FloatTest::NotANumber, ty: F::F32 }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(unary(statement), wanted, "{statement}");
    }
}

#[test]
fn smaller_and_larger_numbers() {
    let plain = |ty| FloatMinMax { ty, ftz: false, nan: false, abs: false, xorsign: false };
    let full = |ty| FloatMinMax { ty, ftz: true, nan: true, abs: true, xorsign: true };
    let cases = [
        ("min.f64 %e1, %e2, %e3;", FloatMin(plain(F::F64))),
        ("max.ftz.NaN.xorsign.abs.f32 %f1, %f2, %f3;", FloatMax(full(F::F32))),
        ("max.NaN.bf16 %h1, %h2, %h3;", FloatMax(FloatMinMax { nan: true, ..plain(F::Bf16) })),
    ];
    for (statement, wanted) in cases {
        assert_eq!(binary(statement), wanted, "{statement}");
    }
    let of_three = FloatMinMax { ftz: true, abs: true, ..plain(F::F32) };
    assert_eq!(ternary("min.ftz.abs.f32 %f1, %f2, %f3, %f4;"), FloatMin3(of_three));
    assert_eq!(ternary("max.f32 %f1, %f2, %f3, %f4;"), FloatMax3(plain(F::F32)));
}

#[test]
fn constants_have_the_form_of_the_type_that_reads_them() {
    let constant = |statement: &str| match operation(statement) {
        Operation::Binary { b, .. } => b,
        other => panic!("{other:?}"),
    };
    let cases = [
        ("add.u32 %r1, %r2, -1;", ScalarType::U32, 0xFFFF_FFFF),
        ("add.u16 %h1, %h2, 70000;", ScalarType::U16, 4464),
        ("add.u64 %d1, %d2, 0xFFFFFFFFFFFFFFFF;", ScalarType::U64, u64::MAX),
        ("add.u32 %r1, %r2, (1 + 2) * 3 - 0x10 / 4 % 3 << 1;", ScalarType::U32, 16),
        ("add.u32 %r1, %r2, ~5 & 0xFF | 1 ^ 1;", ScalarType::U32, 250),
        ("add.u32 %r1, %r2, !5 + !0;", ScalarType::U32, 1),
        ("add.u32 %r1, %r2, (5 > 3 && 2 != 2) ? 7 : -3 < 2U ? 8 : 9;", ScalarType::U32, 9),
        ("add.s32 %r1, %r2, (.s64) -8 >> 1;", ScalarType::S32, 0xFFFF_FFFC),
        ("add.u32 %r1, %r2, WARP_SZ;", ScalarType::U32, 32),
        ("add.f32 %f1, %f2, 0.1;", ScalarType::F32, 0x3DCC_CCCD),
        ("add.f32 %f1, %f2, 0f3F800000;", ScalarType::F32, 0x3F80_0000),
        ("add.f32 %f1, %f2, -1.5;", ScalarType::F32, 0xBFC0_0000),
        ("add.f64 %e1, %e2, 0f3F800000;", ScalarType::F64, 0x3FF0_0000_0000_0000),
        ("add.f64 %e1, %e2, 1.0 / 4.0;", ScalarType::F64, 0x3FD0_0000_0000_0000),
        ("and.b32 %r1, %r2, 0f3F800000;", ScalarType::B32, 0x3F80_0000),
        ("and.b64 %d1, %d2, 1.0;", ScalarType::B64, 0x3FF0_0000_0000_0000),
        ("and.pred %p1, %p2, 4;", ScalarType::Pred, 1),
    ];
    for (statement, ty, bits) in cases {
        assert_eq!(constant(statement), immediate(ty, bits), "{statement}");
    }
}
