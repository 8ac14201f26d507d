//! Barriers of a block: who waits, who only arrives, and what they learn.

use peermap_exec::Cause;

use crate::rig::{Rig, kernel};

/// A kernel in which `%t` is the number of a thread in its block and `%at` the place of its result, four bytes each. Words
/// from 1,024 on are for what threads tell each other; `%far` is the address of the first.
pub(crate) fn text(body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .u32 %t, %x, %y, %z, %r, %v; .reg .u64 %out, %at, %far, %w; .reg .pred %p, %q;
ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;
mul.wide.u32 %at, %t, 4; add.u64 %at, %out, %at; add.u64 %far, %out, 4096; mov.u32 %r, 0;
{body}
st.global.u32 [%at], %r; ret; }}"
    )
}

/// What the threads of one block store.
pub(crate) fn results(body: &str, threads: u32) -> Vec<u32> {
    let rig = Rig::new(1);
    rig.launch(&kernel(&text(body), "k"), [1, 1, 1], [threads, 1, 1], &rig.base.to_le_bytes()).unwrap();
    rig.bytes(0, 4 * threads as usize).as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn stop(body: &str, threads: u32) -> Cause {
    let rig = Rig::new(1);
    rig.launch(&kernel(&text(body), "k"), [1, 1, 1], [threads, 1, 1], &rig.base.to_le_bytes()).unwrap_err().cause
}

#[test]
fn threads_learn_for_how_many_something_holds() {
    let body = |asks: &str| format!("setp.lt.u32 %p, %t, 5; {asks} selp.u32 %r, 1, 0, %q;");
    assert_eq!(results("setp.lt.u32 %p, %t, 5; bar.red.popc.u32 %r, 0, %p;", 96), [5; 96]);
    assert_eq!(results("setp.lt.u32 %p, %t, 5; bar.red.popc.u32 %r, 0, !%p;", 96), [91; 96]);
    assert_eq!(results(&body("bar.red.and.pred %q, 0, %p;"), 96), [0; 96]);
    assert_eq!(results(&body("bar.red.or.pred %q, 0, %p;"), 96), [1; 96]);
}

#[test]
fn two_halves_of_a_block_learn_different_things_at_two_barriers() {
    let body = "shr.u32 %x, %t, 6; add.u32 %y, %x, 1; mul.lo.u32 %z, %t, %t; rem.u32 %z, %z, 7;
setp.eq.u32 %p, %z, 1; bar.red.popc.u32 %r, %y, 64, %p;";
    let holding = |half: u32| (64 * half..64 * half + 64).filter(|t| t * t % 7 == 1).count() as u32;
    let expected: Vec<u32> = (0..128).map(|t| holding(t / 64)).collect();
    assert_ne!(holding(0), holding(1));
    assert_eq!(results(body, 128), expected);
}

/// The second warp reads what the first writes late, and the other way round.
#[test]
fn who_only_arrives_does_not_wait_and_who_waits_sees_what_was_written() {
    for writer in [0, 1] {
        let body = format!(
            "shr.u32 %x, %t, 5; setp.eq.u32 %p, %x, {writer}; @%p bra WRITE;
bar.sync 3, 64; ld.global.u32 %r, [%far]; bra DONE;
WRITE: mov.u32 %y, 0;
L: add.u32 %y, %y, 1; setp.lt.u32 %q, %y, 500; @%q bra L;
st.global.u32 [%far], %y; bar.arrive 3, 64; mov.u32 %r, 7;
DONE:"
        );
        let expected: Vec<u32> = (0..64).map(|t| if t / 32 == writer { 7 } else { 500 }).collect();
        assert_eq!(results(&body, 64), expected);
    }
}

#[test]
fn one_barrier_is_reached_by_different_ways() {
    let body = "and.b32 %x, %t, 1; setp.eq.u32 %p, %x, 1; @%p bra ODD;
atom.global.add.u32 %y, [%far], 1; bar.sync 0; bra DONE;
ODD: atom.global.add.u32 %y, [%far], 1; bar.sync 0; add.u32 %r, %r, 100;
DONE: ld.global.u32 %y, [%far]; add.u32 %r, %r, %y;";
    let expected: Vec<u32> = (0..64).map(|t| 64 + 100 * (t & 1)).collect();
    assert_eq!(results(body, 64), expected);
}

#[test]
fn a_barrier_in_a_loop_keeps_threads_in_step() {
    let body = "add.u64 %w, %far, 4; mov.u32 %x, 0; mul.lo.u32 %z, %t, 3;
L: setp.eq.u32 %p, %t, %x; @!%p bra SKIP; st.global.u32 [%far], %z;
SKIP: bar.sync 0; ld.global.u32 %y, [%far]; add.u32 %r, %r, %y; bar.sync 0;
add.u32 %x, %x, 1; setp.lt.u32 %q, %x, 40; @%q bra L;";
    assert_eq!(results(body, 40), [(0..40).map(|t| 3 * t).sum(); 40]);
}

#[test]
fn nobody_waits_for_threads_that_have_ended() {
    let body = "setp.gt.u32 %p, %t, 40; @%p bra WAIT; st.global.u32 [%at], 9; ret;
WAIT: bar.sync 0; mov.u32 %r, 1;";
    let expected: Vec<u32> = (0..96).map(|t| if t > 40 { 1 } else { 9 }).collect();
    assert_eq!(results(body, 96), expected);
}

#[test]
fn a_barrier_that_nobody_else_can_reach_says_who_came() {
    let what = "barrier 1 waits for 64 threads, 32 came".to_owned();
    assert_eq!(stop("bar.sync 1, 64;", 32), Cause::Stuck(what));
    let apart = "shr.u32 %x, %t, 5; bar.sync %x;";
    assert_eq!(stop(apart, 64), Cause::Stuck("barrier 0 waits for all threads, 32 came".to_owned()));
}

#[test]
fn what_a_barrier_cannot_be_is_not_modelled() {
    assert!(matches!(stop("bar.sync %t;", 64), Cause::NotModelled(what) if what.starts_with("barrier 16")));
    assert!(matches!(stop("add.u32 %x, %t, 1; bar.sync 1, %x;", 64), Cause::NotModelled(_)));
}
