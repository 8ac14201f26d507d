//! Functions that call themselves, directly or in a circle.

use peermap_exec::{Cause, Window};
use peermap_memory::Access;

use crate::calls::{check, launch, text};
use crate::rig::Rig;

fn ackermann(m: u64, n: u64) -> u64 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

/// Each thread has a depth of its own, and what a call returns is an argument of the next.
#[test]
fn threads_are_at_different_depths() {
    let before = ".func (.param .b32 res) deep(.param .b32 m, .param .b32 n) {
.reg .u32 %m, %n, %r; .reg .pred %p;
ld.param.u32 %m, [m]; ld.param.u32 %n, [n];
setp.eq.u32 %p, %m, 0; @%p bra LAST;
setp.eq.u32 %p, %n, 0; sub.u32 %n, %n, 1; mov.u32 %r, 1;
{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %m; st.param.b32 [b], %n;
@!%p call (c), deep, (a, b); @!%p ld.param.b32 %r, [c]; }
sub.u32 %m, %m, 1;
{ .param .b32 a; .param .b32 b; .param .b32 c; st.param.b32 [a], %m; st.param.b32 [b], %r;
call (c), deep, (a, b); ld.param.b32 %r, [c]; }
st.param.b32 [res], %r; ret;
LAST: add.u32 %n, %n, 1; st.param.b32 [res], %n; ret; }";
    let body = "and.b32 %x1, %t, 3; shr.u32 %x2, %t, 2; min.u32 %x1, %x1, 2; call (%x3), deep, (%x1, %x2);
cvt.u64.u32 %r, %x3;";
    check(before, body, |t| ackermann((t % 4).min(2), t / 4));
}

fn female(n: u64) -> u64 {
    if n == 0 { 1 } else { n - male(female(n - 1)) }
}

fn male(n: u64) -> u64 {
    if n == 0 { 0 } else { n - female(male(n - 1)) }
}

/// The two sequences of Hofstadter, each of which is defined by the other and itself.
#[test]
fn two_functions_call_each_other() {
    let sequence = |name: &str, other: &str, first: u32| {
        format!(
            ".func (.reg .u32 res) {name}(.reg .u32 n) {{
.reg .u32 %a; .reg .pred %p;
mov.u32 res, {first}; setp.eq.u32 %p, n, 0; @%p ret;
sub.u32 %a, n, 1; call (%a), {name}, (%a); call (%a), {other}, (%a); sub.u32 res, n, %a; ret; }}"
        )
    };
    let declared = ".func (.reg .u32 res) male(.reg .u32 n);";
    let before = format!("{declared}\n{}\n{}", sequence("female", "male", 1), sequence("male", "female", 0));
    let body = "call (%x1), female, (%t); call (%x2), male, (%t); mad.lo.u32 %x1, %x1, 100, %x2; cvt.u64.u32 %r, %x1;";
    check(&before, body, |t| 100 * female(t) + male(t));
}

/// Variables of a call stay where they are while deeper calls run, which reach them by their addresses.
#[test]
fn each_call_has_variables_of_its_own() {
    let before = ".func (.param .b64 res) walk(.param .align 16 .b8 given[16]) {
.local .align 8 .b8 own[16]; .reg .u64 %n, %up, %own, %sum, %a; .reg .pred %p;
ld.param.v2.u64 {%n, %up}, [given];
mov.u64 %own, own; cvta.local.u64 %own, %own; st.u64 [%own], %n; st.local.u64 [own+8], %up;
mov.u64 %sum, 0; setp.eq.u64 %p, %n, 0; @%p bra UP;
sub.u64 %a, %n, 1;
{ .param .align 16 .b8 next[16]; .param .b64 got; st.param.v2.u64 [next], {%a, %own};
call (got), walk, (next); ld.param.u64 %sum, [got]; }
ld.local.u64 %a, [own]; mad.lo.u64 %sum, %a, 1000, %sum;
bra LAST;
UP: setp.eq.u64 %p, %own, 0; @%p bra LAST;
ld.u64 %a, [%own]; add.u64 %sum, %sum, %a; ld.u64 %own, [%own+8]; bra UP;
LAST: st.param.u64 [res], %sum; ret; }";
    let body = "and.b32 %x1, %t, 15; cvt.u64.u32 %a, %x1;
{ .param .align 16 .b8 next[16]; .param .b64 got; st.param.u64 [next], %a; st.param.u64 [next+8], 0;
call (got), walk, (next); ld.param.u64 %r, [got]; }";
    check(before, body, |t| 1001 * (t % 16) * (t % 16 + 1) / 2);
}

/// Registers of every kind are what they were, also where arguments change places.
#[test]
fn registers_survive_a_call() {
    let before = ".func (.reg .u64 res) mix(.reg .u64 a, .reg .u64 b, .reg .u32 n) {
.reg .pred %odd, %p; .reg .u16 %h; .reg .f64 %d; .reg .u32 %m; .reg .u64 %s, %w;
mov.u64 res, a; setp.eq.u32 %p, n, 0; @%p ret;
and.b32 %m, n, 1; setp.ne.u32 %odd, %m, 0; cvt.u16.u32 %h, n; cvt.rn.f64.u32 %d, n; sub.u32 %m, n, 1;
call (%s), mix, (b, a, %m);
cvt.u64.u16 %w, %h; add.u64 res, %s, %w; @%odd add.u64 res, res, 1000; cvt.rzi.u64.f64 %w, %d; add.u64 res, res, %w;
sub.u64 res, res, a; add.u64 res, res, b; ret; }";
    let body = "and.b32 %x1, %t, 7; mov.u64 %a, 5; mov.u64 %b, 5000; call (%r), mix, (%a, %b, %x1);";
    check(before, body, |t| mix(5, 5000, t % 8));
}

fn mix(a: u64, b: u64, n: u64) -> u64 {
    if n == 0 { a } else { (mix(b, a, n - 1) + 2 * n + 1000 * (n % 2)).wrapping_sub(a).wrapping_add(b) }
}

/// One function that may call itself calls another by way of a third, and by its address.
#[test]
fn recursive_functions_call_others_that_are() {
    let before = ".func (.reg .u32 res) sum(.reg .u32 n) { .reg .u32 %a; .reg .pred %p;
mov.u32 res, 0; setp.eq.u32 %p, n, 0; @%p ret; sub.u32 %a, n, 1; call (%a), sum, (%a); add.u32 res, %a, n; ret; }
.func (.reg .u32 res) twice(.reg .u32 n) { .reg .u32 %a; call (%a), sum, (n); add.u32 res, %a, %a; ret; }
.func (.reg .u32 res) sums(.reg .u32 n) { .reg .u32 %a, %b; .reg .pred %p;
mov.u32 res, 0; setp.eq.u32 %p, n, 0; @%p ret;
call (%b), twice, (n); sub.u32 %a, n, 1; call (%a), sums, (%a); add.u32 res, %a, %b; ret; }";
    let body = "mov.u64 %a, sums; P: .callprototype (.reg .u32 _) _ (.reg .u32 _);
call (%x1), %a, (%t), P; cvt.u64.u32 %r, %x1;";
    check(before, body, |t| (0..=t).map(|n| n * (n + 1)).sum());
}

/// Threads that end in the depth do not keep others from coming back.
#[test]
fn threads_end_in_the_depth() {
    let before = ".func down(.reg .u32 n) { .reg .u32 %a; .reg .pred %p;
setp.eq.u32 %p, n, 13; @%p exit; setp.lt.u32 %p, n, 2; @%p ret; sub.u32 %a, n, 2; call down, (%a); ret; }";
    check(before, "call down, (%t); mov.u64 %r, 1;", |t| u64::from(t < 13 || t.is_multiple_of(2)));
}

#[test]
fn a_stack_that_overflows_ends_the_launch() {
    let before = ".func again(.reg .u32 n) { .reg .pred %p;
setp.ne.u32 %p, n, 9; @%p ret;
call again, (n); ret; }";
    let stop = launch(&Rig::new(2), &text(before, "call again, (%t);")).0.unwrap_err();
    assert_eq!((stop.thread, stop.line.ptx), ([9, 0, 0], 6));
    let Cause::Outside { window: Window::Local, access: Access::Write, bytes, .. } = stop.cause else {
        panic!("{stop}");
    };
    assert!(bytes >= 16 << 10, "{bytes}");
}

/// A function that has no way back.
#[test]
fn a_call_without_an_end_overflows() {
    let before = ".func again() { call again; ret; }";
    let stop = launch(&Rig::new(2), &text(before, "call again;")).0.unwrap_err();
    assert!(matches!(stop.cause, Cause::Outside { window: Window::Local, .. }), "{stop}");
}
