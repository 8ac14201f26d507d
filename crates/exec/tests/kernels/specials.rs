//! Special registers.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::rig::{MULTIPROCESSORS, Rig, kernel};

/// A kernel that stores what a register holds, 64 bits for each thread, threads in order.
fn store(declarations: &str, read: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {{
.reg .b64 %out, %at, %d; .reg .b32 %x, %y, %z, %nx, %ny, %n, %block, %r; .reg .pred %p; {declarations}
ld.param.u64 %out, [out];
mov.u32 %x, %tid.x; mov.u32 %y, %tid.y; mov.u32 %z, %tid.z; mov.u32 %nx, %ntid.x; mov.u32 %ny, %ntid.y;
mad.lo.u32 %n, %z, %ny, %y; mad.lo.u32 %n, %n, %nx, %x;
mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %nx, %nctaid.x; mad.lo.u32 %block, %y, %nx, %x;
mad.lo.u32 %n, %block, 24, %n; mad.wide.u32 %at, %n, 8, %out;
{read}
st.global.u64 [%at], %d; ret; }}"
    )
}

/// What each thread of a grid of (2, 3, 1) blocks of (4, 3, 2) threads reads.
fn values(rig: &Rig, declarations: &str, read: &str) -> Vec<u64> {
    let kernel = kernel(&store(declarations, read), "k");
    rig.launch(&kernel, [2, 3, 1], [4, 3, 2], &rig.base.to_le_bytes()).unwrap();
    (0..144).map(|thread| rig.word(8 * thread)).collect()
}

fn words(register: &str) -> Vec<u64> {
    values(&Rig::new(1), "", &format!("mov.u32 %r, {register}; cvt.u64.u32 %d, %r;"))
}

/// What a register holds in a thread, by its block and its number there.
type OfThread = fn(u64, u64) -> u64;

/// What a mask is, by the bit of the lane.
type OfBit = fn(u64) -> u64;

fn each(of: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    (0..144).map(|thread| of(thread / 24, thread % 24)).collect()
}

#[test]
fn threads_and_blocks_know_their_places() {
    let cases: [(&str, OfThread); 22] = [
        ("%tid.x", |_, thread| thread % 4),
        ("%tid.y", |_, thread| thread / 4 % 3),
        ("%tid.z", |_, thread| thread / 12),
        ("%tid.w", |_, _| 0),
        ("%ntid.y", |_, _| 3),
        ("%ntid.w", |_, _| 0),
        ("%ctaid.x", |block, _| block % 2),
        ("%ctaid.y", |block, _| block / 2),
        ("%nctaid.y", |_, _| 3),
        ("%laneid", |_, thread| thread % 32),
        ("%warpid", |_, thread| thread / 32),
        ("%nwarpid", |_, _| MULTIPROCESSORS.warps.into()),
        ("%nsmid", |_, _| MULTIPROCESSORS.count.into()),
        ("%smid", |block, _| block),
        ("%clusterid.y", |block, _| block / 2),
        ("%nclusterid.x", |_, _| 2),
        ("%cluster_ctaid.x", |_, _| 0),
        ("%cluster_nctaid.y", |_, _| 1),
        ("%cluster_ctarank", |_, _| 0),
        ("%cluster_nctarank", |_, _| 1),
        ("%envreg7", |_, _| 0),
        ("%dynamic_smem_size", |_, _| 0),
    ];
    for (register, expected) in cases {
        assert_eq!(words(register), each(expected), "{register}");
    }
}

#[test]
fn masks_are_those_of_the_lane() {
    let cases: [(&str, OfBit); 5] = [
        ("%lanemask_eq", |bit| bit),
        ("%lanemask_lt", |bit| bit - 1),
        ("%lanemask_le", |bit| 2 * bit - 1),
        ("%lanemask_ge", |bit| 0xFFFF_FFFF - (bit - 1)),
        ("%lanemask_gt", |bit| 0xFFFF_FFFF - (2 * bit - 1)),
    ];
    for (register, expected) in cases {
        assert_eq!(words(register), each(|_, thread| expected(1 << thread)), "{register}");
    }
}

#[test]
fn no_launch_is_one_of_clusters() {
    let read = "mov.pred %p, %is_explicit_cluster; selp.u64 %d, 1, 0, %p;";
    assert_eq!(values(&Rig::new(1), "", read), each(|_, _| 0));
}

#[test]
fn each_launch_has_a_number_of_its_own() {
    let read = || values(&Rig::new(1), "", "mov.u64 %d, %gridid;");
    let (first, second) = (read(), read());
    assert!(first.iter().all(|number| *number == first[0]) && second[0] > first[0]);
}

#[test]
fn a_vector_of_special_registers_is_read_at_once() {
    let read = "mov.v4.u32 {%x, %y, %z, %r}, %tid; mad.lo.u32 %r, %z, 100, %r; mad.lo.u32 %r, %y, 10, %r;
        add.u32 %r, %r, %x; cvt.u64.u32 %d, %r;";
    assert_eq!(values(&Rig::new(1), "", read), each(|_, thread| thread / 12 * 100 + thread / 4 % 3 * 10 + thread % 4));
}

#[test]
fn clocks_go_on() {
    for clock in ["%clock64", "%globaltimer"] {
        let read = format!(
            "mov.u64 %e, {clock}; L: mov.u64 %d, {clock}; sub.u64 %d, %d, %e; setp.eq.u64 %p, %d, 0; @%p bra L;"
        );
        let passed = values(&Rig::new(1), ".reg .b64 %e;", &read);
        assert!(passed.iter().all(|passed| (1..10_000_000_000).contains(passed)), "{clock}: {passed:?}");
    }
}

#[test]
fn the_timer_tells_the_time_of_the_day() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let before = now();
    let read = values(&Rig::new(1), "", "mov.u64 %d, %globaltimer;");
    assert!(read.iter().all(|time| (before - 1..=now() + 1).contains(&(time / 1_000_000_000))));
}

#[test]
fn halves_of_a_clock_are_those_of_the_whole() {
    let read =
        "mov.u32 %x, %globaltimer_lo; mov.u32 %y, %globaltimer_hi; mov.b64 %d, {%x, %y}; mov.u64 %e, %globaltimer;
        sub.u64 %d, %e, %d;";
    let passed = values(&Rig::new(1), ".reg .b64 %e;", read);
    // The upper half grows every 4.3 seconds, and may do so between the two.
    assert!(passed.iter().all(|passed| passed.cast_signed().abs() < 1 << 33), "{passed:?}");
}

#[test]
fn only_threads_whose_guard_holds_read_a_clock() {
    let read = "mov.u64 %d, 7; setp.lt.u32 %p, %n, 30; @%p mov.u64 %d, %clock64;";
    let found = values(&Rig::new(1), "", read);
    assert!(found[..30].iter().all(|value| *value != 7) && found[30..].iter().all(|value| *value == 7));
}
