//! `cvt` and what turns addresses into others.

use peermap_ptx::ScalarType as T;
use peermap_ptx::instruction::BinaryOp::MapAddress;
use peermap_ptx::instruction::UnaryOp::{CtaRank, FromGeneric, IsSpace, ToGeneric};
use peermap_ptx::instruction::{Conversion, CvtPack, CvtPackTo, Operation, Rounding, StateSpace};
use peermap_ptx::{MoveSource, SpecialRegister, Symbol, VariableId};

use crate::{binary, operation, read, register, source, unary};

/// A conversion without any modifier.
fn plain(to: T, from: T) -> Conversion {
    Conversion { to, from, rounding: None, integral: false, ftz: false, saturate: false, relu: false, satfinite: false }
}

fn rounded(to: T, from: T, rounding: Rounding) -> Conversion {
    Conversion { rounding: Some(rounding), ..plain(to, from) }
}

fn integral(to: T, from: T, rounding: Rounding) -> Conversion {
    Conversion { integral: true, ..rounded(to, from, rounding) }
}

#[test]
fn types_roundings_and_modifiers() {
    use Rounding::{Down, NearestAway, NearestEven as Nearest, Up, Zero};
    let cases = [
        ("cvt.u64.u32 %d1, %r2;", plain(T::U64, T::U32)),
        ("cvt.s8.s32 %h1, %r2;", plain(T::S8, T::S32)),
        ("cvt.sat.u8.s32 %r1, %r2;", Conversion { saturate: true, ..plain(T::U8, T::S32) }),
        ("cvt.rzi.s32.f32 %r1, %f2;", integral(T::S32, T::F32, Zero)),
        ("cvt.rni.ftz.u64.f32 %d1, %f2;", Conversion { ftz: true, ..integral(T::U64, T::F32, Nearest) }),
        ("cvt.rmi.s16.f64 %h1, %e2;", integral(T::S16, T::F64, Down)),
        ("cvt.rpi.f64.f64 %e1, %e2;", integral(T::F64, T::F64, Up)),
        ("cvt.sat.f32.f32 %f1, %f2;", Conversion { saturate: true, ..plain(T::F32, T::F32) }),
        ("cvt.rn.f32.u64 %f1, %d2;", rounded(T::F32, T::U64, Nearest)),
        ("cvt.rz.f16.f64 %h1, %e2;", rounded(T::F16, T::F64, Zero)),
        ("cvt.f32.f16 %f1, %h2;", plain(T::F32, T::F16)),
        ("cvt.f64.bf16 %e1, %h2;", plain(T::F64, T::Bf16)),
        ("cvt.rn.f16.bf16 %h1, %h2;", rounded(T::F16, T::Bf16, Nearest)),
        (
            "cvt.rn.relu.satfinite.bf16.f32 %h1, %f2;",
            Conversion { relu: true, satfinite: true, ..rounded(T::Bf16, T::F32, Nearest) },
        ),
        ("cvt.rna.tf32.f32 %r1, %f2;", rounded(T::Tf32, T::F32, NearestAway)),
        ("cvt.rn.relu.tf32.f32 %r1, %f2;", Conversion { relu: true, ..rounded(T::Tf32, T::F32, Nearest) }),
    ];
    for (statement, wanted) in cases {
        let found = operation(statement);
        let Operation::Convert { conversion, b: None, .. } = found else { panic!("{found:?}") };
        assert_eq!(conversion, wanted, "{statement}");
    }
}

#[test]
fn two_values_become_one() {
    let (body, found) = read("cvt.rz.relu.f16x2.f32 %r1, %f2, %f3;");
    let wanted = Operation::Convert {
        conversion: Conversion { relu: true, ..rounded(T::F16x2, T::F32, Rounding::Zero) },
        destination: register(&body, "%r1"),
        a: source(&body, "%f2"),
        b: Some(source(&body, "%f3")),
    };
    assert_eq!(found, wanted);
    let (body, found) = read("cvt.pack.sat.u8.s32.b32 %r1, %r2, %r3, %r4;");
    let wanted = CvtPack {
        to: CvtPackTo::U8,
        destination: register(&body, "%r1"),
        a: source(&body, "%r2"),
        b: source(&body, "%r3"),
        c: Some(source(&body, "%r4")),
    };
    assert_eq!(found, Operation::ConvertPack(wanted));
    let found = operation("cvt.pack.sat.s16.s32 %r1, %r2, %r3;");
    assert!(matches!(found, Operation::ConvertPack(CvtPack { to: CvtPackTo::S16, c: None, .. })));
}

#[test]
fn addresses_change_their_space() {
    let cases = [
        ("cvta.shared.u64 %d1, %d2;", ToGeneric { space: StateSpace::Shared, bits: 64 }),
        ("cvta.param.u64 %d1, %d2;", ToGeneric { space: StateSpace::ParamEntry, bits: 64 }),
        ("cvta.to.global.u64 %d1, %d2;", FromGeneric { space: StateSpace::Global, bits: 64 }),
        ("cvta.to.shared::cluster.u64 %d1, %d2;", FromGeneric { space: StateSpace::SharedCluster, bits: 64 }),
        ("isspacep.const %p1, %d2;", IsSpace(StateSpace::Const)),
        ("isspacep.param::entry %p1, %d2;", IsSpace(StateSpace::ParamEntry)),
        ("getctarank.shared::cluster.u32 %r1, %r2;", CtaRank { space: StateSpace::SharedCluster, bits: 32 }),
        ("getctarank.u64 %r1, %d2;", CtaRank { space: StateSpace::Generic, bits: 64 }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(unary(statement), wanted, "{statement}");
    }
    let mapped = MapAddress { space: StateSpace::SharedCluster, bits: 64 };
    assert_eq!(binary("mapa.shared::cluster.u64 %d1, %d2, %r3;"), mapped);
}

/// Where the language takes an address or a special register and everything else a register, a move comes first.
#[test]
fn what_is_no_register_is_moved_into_one_before() {
    let (body, found) = read("cvta.global.u64 %d1, g+4;");
    let Operation::Move { ty: T::U64, destination, source: moved } = body.instructions[0].operation.clone() else {
        panic!("{:?}", body.instructions);
    };
    assert_eq!(moved, MoveSource::Symbol(Symbol::Variable(VariableId(0)), 4));
    assert!(matches!(found, Operation::Unary { source: peermap_ptx::Source::Register(it), .. } if it == destination));

    let (body, found) = read("cvt.rn.f32.u32 %f1, %tid.x;");
    let Operation::Move { destination, source: moved, .. } = body.instructions[0].operation.clone() else {
        panic!("{:?}", body.instructions);
    };
    assert_eq!(moved, MoveSource::Special(SpecialRegister::Tid(peermap_ptx::Axis::X)));
    assert!(matches!(found, Operation::Convert { a: peermap_ptx::Source::Register(it), .. } if it == destination));
}
