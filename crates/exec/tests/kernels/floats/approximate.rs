//! What PTX approximates, against the bounds and the tables of the manual.

use super::reference::{BF16, F16, F32, F64, Shape, operands};
use super::{check, results};

const INFINITE: f64 = f64::INFINITY;

/// An instruction, the function that it approximates, and how far off it may be, for an operand and the exact result.
type Case = (&'static str, Shape, fn([f64; 3]) -> f64, fn([f64; 3], f64) -> f64);

/// How far apart the numbers around an exact result are.
fn ulp(shape: Shape, exact: f64) -> f64 {
    let least = shape.value(1);
    let exponent = exact.abs().to_bits() >> 52;
    let distance = f64::from_bits(exponent.saturating_sub(shape.fraction.into()).max(1) << 52);
    distance.max(least)
}

fn within(case: Case, ftz: bool) {
    let (instruction, shape, function, bound) = case;
    let all = operands(shape);
    let seen = |bits| if ftz { shape.flushed(bits) } else { bits };
    for (operands, found) in all.iter().zip(results(instruction, &all)) {
        let values = operands.map(|bits| shape.value(seen(bits)));
        let (exact, value) = (function(values), shape.value(found));
        let largest = shape.value(shape.infinity() - 1);
        let allowed = bound(values, exact) + if ftz { shape.value(1 << shape.fraction) } else { 0.0 };
        let fits = (value - exact).abs() <= allowed
            || value == exact
            || value.is_infinite() && exact.abs() > largest && value.signum() == exact.signum()
            || found == shape.nan() && exact.is_nan();
        assert!(fits, "{instruction} of {values:?}: {value:e} is not {exact:e}, off by more than {allowed:e}");
        assert!(!(ftz && shape.is_subnormal(found)), "{instruction} of {values:?} is subnormal");
    }
}

#[test]
fn single_numbers() {
    let cases: [(Case, bool); 14] = [
        (("rcp.approx.f32 %d32, %a32;", F32, |[a, ..]| 1.0 / a, |_, exact| ulp(F32, exact)), false),
        (("rcp.approx.ftz.f32 %d32, %a32;", F32, |[a, ..]| 1.0 / a, |_, exact| ulp(F32, exact)), true),
        (("sqrt.approx.f32 %d32, %a32;", F32, |[a, ..]| a.sqrt(), |_, exact| exact * 2_f64.powi(-23)), false),
        (("sqrt.approx.ftz.f32 %d32, %a32;", F32, |[a, ..]| a.sqrt(), |_, exact| exact * 2_f64.powi(-23)), true),
        (("rsqrt.approx.f32 %d32, %a32;", F32, |[a, ..]| 1.0 / a.sqrt(), |_, exact| exact * 2_f64.powf(-22.9)), false),
        (
            ("rsqrt.approx.ftz.f32 %d32, %a32;", F32, |[a, ..]| 1.0 / a.sqrt(), |_, exact| exact * 2_f64.powf(-22.9)),
            true,
        ),
        (("sin.approx.f32 %d32, %a32;", F32, |[a, ..]| a.sin(), |_, _| 2_f64.powf(-20.5)), false),
        (("sin.approx.ftz.f32 %d32, %a32;", F32, |[a, ..]| a.sin(), |_, _| 2_f64.powf(-20.5)), true),
        (("cos.approx.f32 %d32, %a32;", F32, |[a, ..]| a.cos(), |_, _| 2_f64.powf(-20.5)), false),
        (("lg2.approx.f32 %d32, %a32;", F32, |[a, ..]| a.log2(), |[a, ..], exact| LOG_BOUND(a, exact)), false),
        (("lg2.approx.ftz.f32 %d32, %a32;", F32, |[a, ..]| a.log2(), |[a, ..], exact| LOG_BOUND(a, exact)), true),
        (("ex2.approx.f32 %d32, %a32;", F32, |[a, ..]| a.exp2(), |_, exact| 2.0 * ulp(F32, exact)), false),
        (("ex2.approx.ftz.f32 %d32, %a32;", F32, |[a, ..]| a.exp2(), |_, exact| 2.0 * ulp(F32, exact)), true),
        (("tanh.approx.f32 %d32, %a32;", F32, |[a, ..]| a.tanh(), |_, exact| exact.abs() * 2_f64.powi(-11)), false),
    ];
    cases.into_iter().for_each(|(case, ftz)| within(case, ftz));
}

const LOG_BOUND: fn(f64, f64) -> f64 =
    |number, exact| if (0.5..2.0).contains(&number) { 2_f64.powi(-22) } else { exact.abs() * 2_f64.powi(-22) };

#[test]
fn halves() {
    let exp2: fn([f64; 3]) -> f64 = |[a, ..]| a.exp2();
    let tanh: fn([f64; 3]) -> f64 = |[a, ..]| a.tanh();
    // Beside the bound for the result there is the rounding of subnormal numbers.
    within(("ex2.approx.f16 %d16, %a16;", F16, exp2, |_, exact| exact * 2_f64.powf(-9.9) + F16.value(1)), false);
    within(("ex2.approx.ftz.bf16 %d16, %a16;", BF16, exp2, |_, exact| exact * 2_f64.powi(-7)), true);
    within(("tanh.approx.f16 %d16, %a16;", F16, tanh, |_, _| 2_f64.powf(-10.987)), false);
    within(("tanh.approx.bf16 %d16, %a16;", BF16, tanh, |_, _| 2_f64.powi(-8)), false);
}

#[test]
fn divisions() {
    let quotient: fn([f64; 3]) -> f64 = |[a, b, _]| a / b;
    within(("div.full.f32 %d32, %a32, %b32;", F32, quotient, |_, exact| 2.0 * ulp(F32, exact)), false);
    within(("div.full.ftz.f32 %d32, %a32, %b32;", F32, quotient, |_, exact| 2.0 * ulp(F32, exact)), true);
    let quotient: fn([f64; 3]) -> f64 = |[a, b, _]| match b.abs() > 2_f64.powi(126) && b.is_finite() {
        true => a * 0.0_f64.copysign(b),
        false => a / b,
    };
    within(("div.approx.f32 %d32, %a32, %b32;", F32, quotient, |_, exact| 2.0 * ulp(F32, exact)), false);
    within(("div.approx.ftz.f32 %d32, %a32, %b32;", F32, quotient, |_, exact| 2.0 * ulp(F32, exact)), true);
}

/// The tables of the manual, sign by sign.
#[test]
fn tables() {
    let bits = |value: f64| u64::from((value as f32).to_bits());
    let nan = F32.nan();
    let cases = [
        ("rcp.approx.f32", [-0.0, -INFINITE, INFINITE, 0.0], [bits(-INFINITE), bits(-0.0), bits(0.0), bits(INFINITE)]),
        ("sqrt.approx.f32", [-INFINITE, -1.0, -0.0, INFINITE], [nan, nan, bits(-0.0), bits(INFINITE)]),
        ("rsqrt.approx.f32", [-INFINITE, -1.0, -0.0, INFINITE], [nan, nan, bits(-INFINITE), bits(0.0)]),
        ("sin.approx.f32", [-INFINITE, -0.0, 0.0, INFINITE], [nan, bits(-0.0), bits(0.0), nan]),
        ("cos.approx.f32", [-INFINITE, -0.0, 0.0, INFINITE], [nan, bits(1.0), bits(1.0), nan]),
        ("lg2.approx.f32", [-INFINITE, -1.0, -0.0, 0.0], [nan, nan, bits(-INFINITE), bits(-INFINITE)]),
        ("ex2.approx.f32", [-INFINITE, -0.0, 0.0, INFINITE], [bits(0.0), bits(1.0), bits(1.0), bits(INFINITE)]),
        ("tanh.approx.f32", [-INFINITE, -0.0, 0.0, INFINITE], [bits(-1.0), bits(-0.0), bits(0.0), bits(1.0)]),
        ("tanh.approx.f32", [f64::NAN, 1e-40, -1e-40, 30.0], [nan, bits(1e-40), bits(-1e-40), bits(1.0)]),
    ];
    for (name, operands, expected) in cases {
        let operands = operands.map(|value| [bits(value), 0, 0]);
        assert_eq!(results(&format!("{name} %d32, %a32;"), &operands), expected, "{name}");
    }
}

#[test]
fn double_numbers() {
    let exact: fn([f64; 3]) -> f64 = |[a, ..]| 1.0 / a.sqrt();
    let upper = |bits: u64| F64.flushed(bits >> 32 << 32);
    for (operands, found) in operands(F64).iter().zip(results("rsqrt.approx.f64 %d64, %a64;", &operands(F64))) {
        let (expected, value) = (exact([F64.value(operands[0]), 0.0, 0.0]), F64.value(found));
        let fits = (value - expected).abs() <= 2.0 * ulp(F64, expected) || value == expected;
        assert!(fits || value.is_nan() && expected.is_nan(), "{operands:#x?}: {value:e}, not {expected:e}");
    }
    let rcp: fn(f64) -> f64 = |a| 1.0 / a;
    let rsqrt: fn(f64) -> f64 = |a| 1.0 / a.sqrt();
    for (name, function) in [("rcp", rcp), ("rsqrt", rsqrt)] {
        check(&format!("{name}.approx.ftz.f64 %d64, %a64;"), &operands(F64), |[a, ..]| {
            let result = function(F64.value(upper(a)));
            if result.is_nan() { 0x7FFF_FFFF_0000_0000 } else { upper(result.to_bits()) }
        });
    }
}
