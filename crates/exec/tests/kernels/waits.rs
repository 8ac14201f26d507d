//! Threads that wait for what others write.

use std::time::Duration;

use peermap_exec::{Cause, Kernel};

use crate::barriers::text;
use crate::calls::check;
use crate::rig::{Rig, kernel};

const DEADLINE: Duration = Duration::from_secs(20);

fn run(rig: &Rig, kernel: &Kernel, blocks: u32, threads: u32) {
    let shape = ([blocks, 1, 1], [threads, 1, 1]);
    rig.launch_for(kernel, shape, &rig.base.to_le_bytes(), DEADLINE, &|| {}).unwrap();
}

/// A lock that one thread has while all others of its warp want it: threads make progress one by one.
#[test]
fn a_lock_is_passed_on_within_a_warp() {
    let body = "add.u64 %w, %far, 64;
L: atom.global.cas.b32 %x, [%far], 0, 1; setp.ne.u32 %p, %x, 0; @%p bra L;
ld.volatile.global.u32 %y, [%w]; add.u32 %y, %y, 1; st.volatile.global.u32 [%w], %y; membar.gl;
atom.global.exch.b32 %x, [%far], 0;";
    let rig = Rig::new(1);
    run(&rig, &kernel(&text(body), "k"), 3, 64);
    assert_eq!(rig.word(4096 + 64), 3 * 64);
}

#[test]
fn a_thread_waits_for_another_of_its_block() {
    for (writer, others) in [(0, 37), (37, 0)] {
        let body = format!(
            "setp.eq.u32 %p, %t, {writer}; @%p bra WRITE; setp.ne.u32 %q, %t, {others}; @%q bra DONE;
L: ld.volatile.global.u32 %r, [%far]; setp.eq.u32 %q, %r, 0; @%q bra L; bra DONE;
WRITE: st.volatile.global.u32 [%far], 5;
DONE:"
        );
        let rig = Rig::new(1);
        run(&rig, &kernel(&text(&body), "k"), 1, 64);
        assert_eq!(rig.bytes(4 * others, 4), 5_u32.to_le_bytes());
    }
}

/// Every block waits until all have come, ten times.
#[test]
fn blocks_wait_for_each_other() {
    let body = "mov.u32 %z, 0;
NEXT: setp.ne.u32 %p, %t, 0; @%p bra MEET; atom.global.add.u32 %x, [%far], 1;
add.u32 %y, %z, 1; mul.lo.u32 %y, %y, 40;
L: ld.acquire.gpu.global.u32 %x, [%far]; setp.lt.u32 %q, %x, %y; @%q bra L;
MEET: bar.sync 0; add.u32 %z, %z, 1; setp.lt.u32 %q, %z, 10; @%q bra NEXT;
ld.global.u32 %r, [%far];";
    let rig = Rig::new(1);
    run(&rig, &kernel(&text(body), "k"), 40, 32);
    assert_eq!(rig.word(4096), 400);
}

#[test]
fn what_a_kernel_waits_for_happens_meanwhile() {
    let body = "L: ld.relaxed.sys.global.u32 %r, [%far]; setp.eq.u32 %q, %r, 0; @%q bra L;";
    let rig = Rig::new(1);
    let write = || rig.view().write(rig.base + 4096, &3_u32.to_le_bytes()).unwrap();
    let kernel = kernel(&text(body), "k");
    rig.launch_for(&kernel, ([5, 1, 1], [32, 1, 1]), &rig.base.to_le_bytes(), DEADLINE, &write).unwrap();
    assert_eq!(rig.bytes(0, 4), 3_u32.to_le_bytes());
}

#[test]
fn what_a_kernel_waited_for_is_named_at_the_deadline() {
    let body = "L: nanosleep.u32 100; ld.relaxed.sys.global.u32 %r, [%far]; setp.eq.u32 %q, %r, 0; @%q bra L;";
    let rig = Rig::new(1);
    let most = Duration::from_millis(30);
    let shape = ([5, 1, 1], [32, 1, 1]);
    let stop = rig.launch_for(&kernel(&text(body), "k"), shape, &rig.base.to_le_bytes(), most, &|| {}).unwrap_err();
    assert_eq!(stop.cause, Cause::Deadline { most, polled: Some(rig.base + 4096) });
    assert_eq!((stop.block, stop.line.ptx), ([0, 0, 0], 8));
}

/// Threads that sleep let those go on who wait where they meet, each from where it stood.
#[test]
fn who_sleeps_goes_on_where_it_fell_asleep() {
    let body = "setp.lt.u32 %p, %t, 7; @%p bra MEET; nanosleep.u32 100; MEET: add.u32 %x1, %t, 5; cvt.u64.u32 %r, %x1;";
    check("", body, |t| t + 5);
}
