//! What the lanes of a warp do with each other's values.

use peermap_exec::Cause;

use crate::barriers::{results, text};
use crate::rig::{Rig, kernel};

fn check(body: &str, threads: u32, expected: impl Fn(u32) -> u32) {
    let expected: Vec<u32> = (0..threads).map(expected).collect();
    assert_eq!(results(body, threads), expected, "{body}");
}

/// As the CUDA guide describes `__shfl_sync` and its like with a width.
#[test]
fn values_move_within_segments() {
    for width in [32_u32, 16, 8, 2] {
        let segment = (32 - width) << 8;
        let shuffle = |form: &str, by: u32, clamp: u32| {
            format!("mad.lo.u32 %x, %t, 7, 1; shfl.sync.{form}.b32 %r, %x, {by}, {}, -1;", segment | clamp)
        };
        let value = |t: u32| 7 * t + 1;
        for by in [0, 1, 3, 9, 31] {
            let start = |t: u32| t / width * width;
            check(&shuffle("idx", by, 31), 64, |t| value(start(t) + by % width));
            check(&shuffle("up", by, 0), 64, |t| value(if t - start(t) >= by { t - by } else { t }));
            check(&shuffle("down", by, 31), 64, |t| value(if t + by < start(t) + width { t + by } else { t }));
            check(&shuffle("bfly", by, 31), 64, |t| value(if t ^ by < start(t) + width { t ^ by } else { t }));
        }
    }
}

#[test]
fn a_lane_learns_whether_its_source_was_in_range() {
    let body = "shfl.sync.down.b32 %x|%p, %t, 5, 31, -1; selp.u32 %r, %x, 99, %p;";
    check(body, 40, |t| match t {
        0..27 => t + 5,
        32..40 => [37, 38, 39, 0, 0, 0, 0, 0][t as usize - 32],
        _ => 99,
    });
}

#[test]
fn votes_count_the_lanes_of_each_warp() {
    let vote = |form: &str| format!("rem.u32 %x, %t, 5; setp.eq.u32 %p, %x, 1; vote.sync.{form}, %p, -1;");
    let ballot = |warp: u32| (0..32).filter(|lane| (32 * warp + lane) % 5 == 1).fold(0, |all, lane| all | 1 << lane);
    check(&vote("ballot.b32 %r"), 96, |t| ballot(t / 32));
    check(&format!("{} selp.u32 %r, 1, 0, %q;", vote("any.pred %q")), 64, |_| 1);
    check(&format!("{} selp.u32 %r, 1, 0, %q;", vote("all.pred %q")), 64, |_| 0);
    let uniform = "setp.lt.u32 %p, %t, 40; vote.sync.uni.pred %q, %p, -1; selp.u32 %r, 1, 0, %q;";
    check(uniform, 96, |t| u32::from(t / 32 != 1));
}

#[test]
fn lanes_find_those_that_hold_the_same() {
    let any = "and.b32 %x, %t, 3; match.any.sync.b32 %r, %x, -1;";
    check(any, 64, |t| (0..32).filter(|lane| lane & 3 == t & 3).fold(0, |all, lane| all | 1 << lane));
    let all = "shr.u32 %x, %t, 6; setp.eq.u32 %p, %t, 70; @%p mov.u32 %x, 9;
match.all.sync.b32 %y|%q, %x, -1; selp.u32 %r, %y, 5, %q;";
    check(all, 128, |t| if t / 32 == 2 { 5 } else { u32::MAX });
}

#[test]
fn values_of_a_warp_are_reduced() {
    let reduce = |form: &str| format!("mul.lo.u32 %x, %t, 0x9E3779B1; redux.sync.{form} %r, %x, -1;");
    let values = |warp: u32| (32 * warp..32 * warp + 32).map(|t| t.wrapping_mul(0x9E37_79B1));
    check(&reduce("add.u32"), 64, |t| values(t / 32).fold(0, u32::wrapping_add));
    check(&reduce("min.u32"), 64, |t| values(t / 32).min().unwrap());
    check(&reduce("max.s32"), 64, |t| values(t / 32).map(u32::cast_signed).max().unwrap().cast_unsigned());
    check(&reduce("xor.b32"), 64, |t| values(t / 32).fold(0, |a, b| a ^ b));
}

#[test]
fn numbers_of_a_warp_are_reduced() {
    const NAN: u32 = 0x7FFF_FFFF;
    let zeros = [0_f32, -0.0, 0.0].map(f32::to_bits);
    let mixed = [2_f32, -7.5, 0.25].map(f32::to_bits);
    let with_nan = [2_f32.to_bits(), 0xFFC0_0001, 0.25_f32.to_bits()];
    for (form, [first, second, third], expected) in [
        ("min.f32", zeros, (-0_f32).to_bits()),
        ("max.f32", zeros, 0),
        ("min.f32", mixed, (-7.5_f32).to_bits()),
        ("max.f32", mixed, 2_f32.to_bits()),
        ("max.abs.f32", mixed, 7.5_f32.to_bits()),
        ("min.f32", with_nan, 0.25_f32.to_bits()),
        ("min.NaN.f32", with_nan, NAN),
        ("max.NaN.f32", mixed, 2_f32.to_bits()),
        ("max.f32", [NAN; 3], NAN),
    ] {
        let body = format!(
            "rem.u32 %x, %t, 3; setp.eq.u32 %p, %x, 0; setp.eq.u32 %q, %x, 1;
selp.b32 %y, {second}, {third}, %q; selp.b32 %y, {first}, %y, %p; .reg .f32 %f<2>; mov.b32 %f0, %y; redux.sync.{form} %f1, %f0, -1; mov.b32 %r, %f1;"
        );
        check_on(("8.6", "sm_100a"), &body, 32, |_| expected);
    }
}

#[test]
fn lanes_on_one_side_of_a_branch_are_the_active_ones() {
    let body = "and.b32 %x, %t, 1; setp.eq.u32 %p, %x, 1; @%p bra ODD; activemask.b32 %r; bra DONE;
ODD: activemask.b32 %r; shfl.sync.idx.b32 %y, %t, 3, 31, 0xAAAAAAAA; add.u32 %r, %r, %y;
DONE:";
    check(body, 64, |t| if t % 2 == 1 { 0xAAAA_AAAA + t / 32 * 32 + 3 } else { 0x5555_5555 });
}

/// The ways to the instruction have no place where threads surely meet, because some end.
#[test]
fn lanes_that_name_each_other_wait_for_each_other() {
    let body = "and.b32 %x, %t, 1; setp.eq.u32 %p, %x, 1; @%p bra HERE; setp.eq.u32 %q, %t, 4; @%q exit;
HERE: redux.sync.add.u32 %r, %t, -1;";
    let sum: u32 = (0..32).sum();
    check(body, 64, |t| if t == 4 { 0 } else { sum - 4 * u32::from(t < 32) + 1024 * u32::from(t >= 32) });
}

#[test]
fn a_barrier_of_a_warp_is_reached_by_different_ways() {
    let body = "and.b32 %x, %t, 1; setp.eq.u32 %p, %x, 1; @%p bra ODD;
atom.global.add.u32 %y, [%far], 1; bar.warp.sync -1; ld.global.u32 %r, [%far]; bra DONE;
ODD: atom.global.add.u32 %y, [%far], 1; bar.warp.sync -1; ld.global.u32 %r, [%far];
DONE:";
    check(body, 32, |_| 32);
}

#[test]
fn one_lane_is_elected() {
    let body = "elect.sync %x|%p, -1; selp.u32 %r, 1, 0, %p; mad.lo.u32 %r, %x, 10, %r;";
    check_on(("8.0", "sm_90"), body, 64, |t| u32::from(t % 32 == 0));
}

fn check_on((version, target): (&str, &str), body: &str, threads: u32, expected: impl Fn(u32) -> u32) {
    let rig = Rig::new(1);
    let text = text(body).replace(".version 8.0", &format!(".version {version}")).replace("sm_80", target);
    rig.launch(&kernel(&text, "k"), [1, 1, 1], [threads, 1, 1], &rig.base.to_le_bytes()).unwrap();
    let found = rig.bytes(0, 4 * threads as usize);
    let found: Vec<u32> = found.as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    assert_eq!(found, (0..threads).map(expected).collect::<Vec<u32>>());
}

fn stop(body: &str) -> Cause {
    let rig = Rig::new(1);
    rig.launch(&kernel(&text(body), "k"), [1, 1, 1], [32, 1, 1], &rig.base.to_le_bytes()).unwrap_err().cause
}

#[test]
fn lanes_that_never_come_are_named() {
    let body = "setp.lt.u32 %p, %t, 8; @%p bra HERE; bar.sync 1, 64; bra DONE;
HERE: redux.sync.add.u32 %r, %t, -1;
DONE:";
    assert!(matches!(stop(body), Cause::Stuck(_)));
}

#[test]
fn a_mask_without_the_lane_itself_is_not_modelled() {
    assert!(matches!(stop("redux.sync.add.u32 %r, %t, 0xFFFE;"), Cause::NotModelled(_)));
}
