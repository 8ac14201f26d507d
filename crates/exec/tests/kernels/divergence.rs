//! Threads that part and meet again.

use crate::rig::{Rig, kernel};

/// What each of 2 times 16 threads stores: 32 bits at four times its number.
fn results(body: &str, block: [u32; 3]) -> Vec<u32> {
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.visible .entry k(.param .u64 out) {{
.reg .u32 %t, %x, %y, %n, %s, %r, %k, %w; .reg .u64 %out, %at; .reg .pred %p, %q;
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mov.u32 %k, %tid.y; mov.u32 %n, %ntid.x; mad.lo.u32 %t, %k, %n, %t;
mov.u32 %k, %ctaid.x; mad.lo.u32 %t, %k, 16, %t;
mul.wide.u32 %at, %t, 4; add.u64 %at, %out, %at;
mov.u32 %r, 0; mov.u32 %s, 0; mov.u32 %w, 0;
{body}
st.global.u32 [%at], %r;
ret; }}"
    );
    let rig = Rig::new(1);
    rig.launch(&kernel(&text, "k"), [2, 1, 1], block, &rig.base.to_le_bytes()).unwrap();
    rig.bytes(0, 128).as_chunks::<4>().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect()
}

fn check(body: &str, expected: fn(u32) -> u32) {
    let expected: Vec<u32> = (0..32).map(expected).collect();
    for block in [[16, 1, 1], [4, 4, 1]] {
        assert_eq!(results(body, block), expected, "{block:?}: {body}");
    }
}

#[test]
fn a_loop_that_each_thread_leaves_at_its_own_time() {
    let body = "add.u32 %x, %t, 1;
L: setp.eq.u32 %p, %x, 1; @%p bra DONE;
and.b32 %y, %x, 1; setp.eq.u32 %q, %y, 0; @%q bra EVEN;
mad.lo.u32 %x, %x, 3, 1; bra NEXT;
EVEN: shr.u32 %x, %x, 1;
NEXT: add.u32 %r, %r, 1; bra L;
DONE:";
    check(body, |t| {
        let next = |x: &u32| Some(if x.is_multiple_of(2) { x / 2 } else { 3 * x + 1 });
        std::iter::successors(Some(t + 1), next).take_while(|x| *x != 1).count() as u32
    });
}

#[test]
fn what_is_the_same_in_all_threads_differs_on_two_ways() {
    let body = "mov.u32 %s, 100; and.b32 %x, %t, 3; setp.lt.u32 %p, %x, 2; @%p bra A;
add.u32 %r, %s, %t; add.u32 %s, %s, 1; add.u32 %r, %r, %s; bra B;
A: add.u32 %s, %s, 50; sub.u32 %r, %s, %t;
B:";
    check(body, |t| if t & 3 < 2 { 150 - t } else { 201 + t });
}

#[test]
fn a_count_that_is_the_same_in_all_threads_while_they_are_in_a_loop() {
    let body = "L: add.u32 %s, %s, 3; setp.lt.u32 %p, %s, %t; @%p bra L;
add.u32 %r, %s, %r;";
    check(body, |t| (t.div_ceil(3) * 3).max(3));
}

/// A comparison that the first and the last thread decide says nothing of those that went another way.
#[test]
fn a_comparison_leaves_the_threads_alone_that_do_not_run() {
    let body = "and.b32 %x, %t, 1; setp.ne.u32 %q, %x, 0; setp.eq.u32 %p, %x, 0; @%p bra END;
setp.lt.u32 %q, %t, 20;
END: selp.u32 %r, 1, 0, %q;";
    check(body, |t| u32::from(t % 2 == 1 && t < 20));
}

#[test]
fn some_threads_end_before_the_others_meet() {
    let body = "setp.lt.u32 %p, %t, 5; @%p exit;
mov.u32 %s, 7; and.b32 %x, %t, 1; setp.eq.u32 %q, %x, 0; @%q bra A;
setp.gt.u32 %p, %t, 28; @%p ret; mov.u32 %s, 9;
A: bar.sync 0; add.u32 %r, %s, %t;";
    let expected = |t: u32| match t {
        0..5 => 0,
        _ if t.is_multiple_of(2) => 7 + t,
        29.. => 0,
        _ => 9 + t,
    };
    check(body, expected);
}

#[test]
fn loops_within_branches_within_loops() {
    let body = "O: and.b32 %x, %w, %t; setp.eq.u32 %p, %x, 0; @%p bra SKIP;
mov.u32 %s, 0;
I: add.u32 %r, %r, %s; add.u32 %s, %s, 1; setp.lt.u32 %q, %s, %x; @%q bra I;
SKIP: add.u32 %w, %w, 1; setp.le.u32 %p, %w, %t; @%p bra O;";
    check(body, |t| (0..=t).map(|w| (0..(w & t)).sum::<u32>()).sum());
}

#[test]
fn one_result_is_the_same_in_all_threads_and_the_other_is_not() {
    // The second result of the first comparison is written again, differently; the first stays as it is.
    let body = "setp.lt.u32 %p|%q, %w, 5; selp.u32 %s, 10, 20, %p; setp.gt.u32 %q, %t, 7; add.u32 %r, %s, 1;
@%q add.u32 %r, %r, %t;";
    check(body, |t| if t > 7 { 11 + t } else { 11 });
}

/// What one side of a branch compares is not what the other side has compared before.
#[test]
fn a_comparison_is_for_the_threads_that_make_it() {
    let body = "setp.lt.u32 %p, %t, 20; rem.u32 %x, %t, 3; setp.eq.u32 %q, %x, 0; @%q bra A; bra B;
A: setp.ge.u32 %p, %t, 5; add.u32 %r, %r, 10;
B: @%p bra C; bra D;
C: add.u32 %r, %r, 1;
D:";
    check(body, |t| if t % 3 == 0 { 10 + u32::from(t >= 5) } else { u32::from(t < 20) });
}
