//! Calls of functions, branch tables, and what the system has.

use std::sync::Mutex;

use peermap_exec::{Cause, CompileError, Kernel, Launch, ModuleData, Stop};
use peermap_ptx::Module;

use crate::rig::{GRANULE, Rig};

/// A kernel whose 32 threads store `%r` at eight times their number, with what stands before it in the module.
pub(crate) fn text(before: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{before}
.visible .entry k(.param .u64 out) {{
.reg .u32 %t, %x<9>; .reg .u64 %out, %at, %r, %a, %b, %c<9>; .reg .pred %p, %q; .reg .f64 %d<3>;
.local .align 8 .b8 list[64];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 8; add.u64 %at, %out, %at; mov.u64 %r, 0;
{body}
st.global.u64 [%at], %r;
ret; }}"
    )
}

fn compiled(text: &str) -> Result<(Module, Kernel), CompileError> {
    let module = Module::parse(text).expect("PTX");
    let kernel = Kernel::compile(&module, module.entry("k").expect("an entry"))?;
    Ok((module, kernel))
}

/// How a launch ended, and what was printed.
pub(crate) fn launch(rig: &Rig, text: &str) -> (Result<(), Box<Stop>>, String) {
    let (module, kernel) = compiled(text).expect("a kernel that is covered");
    let data = rig.base + GRANULE;
    let image = ModuleData::of(&module).expect("variables that are covered").image(&module, data);
    rig.view().write(data, &image).expect("memory of the rig");
    let printed = Mutex::new(Vec::new());
    let print = |text: &[u8]| printed.lock().expect("no thread failed").extend_from_slice(text);
    let parameters = rig.base.to_le_bytes();
    let launch = Launch { data, print: &print, ..Launch::new([1, 1, 1], [32, 1, 1], &parameters) };
    let ended = kernel.launch(&launch, rig.view());
    (ended, String::from_utf8(printed.into_inner().expect("no thread failed")).expect("text"))
}

pub(crate) fn check(before: &str, body: &str, expected: impl Fn(u64) -> u64) {
    let rig = Rig::new(2);
    launch(&rig, &text(before, body)).0.expect("a launch that ends well");
    let expected: Vec<u64> = (0..32).map(expected).collect();
    let found: Vec<u64> = (0..32).map(|thread| rig.word(8 * thread)).collect();
    assert_eq!(found, expected, "{before}\n{body}");
}

const TWICE: &str = ".func (.param .b32 res) twice(.param .b32 n) {
.reg .u32 %a; ld.param.u32 %a, [n]; add.u32 %a, %a, %a; st.param.b32 [res], %a; ret; }";

/// A call with variables of its own, as compilers write it.
fn call(function: &str, from: &str, to: &str) -> String {
    format!(
        "{{ .param .b32 given; .param .b32 got; st.param.b32 [given], {from};
call.uni (got), {function}, (given); ld.param.b32 {to}, [got]; }}"
    )
}

#[test]
fn functions_take_and_return_numbers() {
    let twice = call("twice", "%t", "%x1");
    check(TWICE, &format!("{twice} cvt.u64.u32 %r, %x1;"), |t| 2 * t);
    let again = call("twice", "%x1", "%x1");
    check(TWICE, &format!("{twice} {again} {again} cvt.u64.u32 %r, %x1;"), |t| 8 * t);
    let registers = ".func (.reg .u32 %res) add5(.reg .u32 %n) { add.u32 %res, %n, 5; ret; }";
    check(registers, "call (%x1), add5, (%t); cvt.u64.u32 %r, %x1;", |t| t + 5);
    check(
        TWICE,
        "call (%x1), twice, (%t); call (%x2), twice, (21); add.u32 %x1, %x1, %x2; cvt.u64.u32 %r, %x1;",
        |t| 2 * t + 42,
    );
}

#[test]
fn a_function_has_a_carry_flag_of_its_own() {
    let sum = ".func (.reg .u64 %res) sum(.reg .u32 %n) { .reg .u32 %low, %high;
add.cc.u32 %low, %n, 0xFFFFFFF0; addc.u32 %high, 0, 0; mov.b64 %res, {%low, %high}; ret; }";
    let body = "sub.cc.u32 %x1, 0, 1; call (%r), sum, (%t); subc.u32 %x1, 100, %t; cvt.u64.u32 %x, %x1;
mad.lo.u64 %r, %x, 0x1000000000, %r;";
    let body = format!(".reg .u64 %x; {body}");
    check(sum, &body, |t| (99 - t) * 0x10_0000_0000 + t + 0xFFFF_FFF0);
}

#[test]
fn functions_call_functions_and_return_from_the_middle() {
    let before = format!(
        "{TWICE} .func (.param .b32 res) steps(.param .b32 n) {{
.reg .u32 %a, %b; .reg .pred %p; ld.param.u32 %a, [n]; mov.u32 %b, 0; st.param.b32 [res], 1000;
setp.gt.u32 %p, %a, 20; @%p ret;
LOOP: {} add.u32 %b, %b, 1; setp.lt.u32 %p, %a, 40; @%p bra LOOP;
setp.eq.u32 %p, %b, 2; st.param.b32 [res], %b; @!%p bra END; st.param.b32 [res], 77; ret;
END: }}",
        call("twice", "%a", "%a")
    );
    let body = format!("add.u32 %x2, %t, 1; {} cvt.u64.u32 %r, %x1;", call("steps", "%x2", "%x1"));
    let expected = |t: u64| match t + 1 {
        21.. => 1000,
        n => Some((1..).find(|step| n << step >= 40).unwrap_or(0)).map_or(0, |b| if b == 2 { 77 } else { b }),
    };
    check(&before, &body, expected);
}

#[test]
fn threads_that_part_call_what_others_do_not() {
    let body = format!(
        "and.b32 %x3, %t, 1; setp.eq.u32 %p, %x3, 0; mov.u32 %x1, %t;
@%p bra EVEN; {} bra MEET; EVEN: add.u32 %x1, %x1, 100; MEET: {} cvt.u64.u32 %r, %x1;",
        call("twice", "%x1", "%x1"),
        call("twice", "%x1", "%x1")
    );
    check(TWICE, &body, |t| if t.is_multiple_of(2) { 2 * (t + 100) } else { 4 * t });
    let guarded = ".func (.reg .u32 %res) nine() { mov.u32 %res, 9; ret; }";
    let body = "setp.lt.u32 %p, %t, 4; mov.u32 %x1, 1; @%p call (%x1), nine; cvt.u64.u32 %r, %x1;";
    check(guarded, body, |t| if t < 4 { 9 } else { 1 });
}

#[test]
fn structures_are_passed_in_pieces_or_as_memory() {
    let before = ".func (.param .align 8 .b8 res[16]) swap(.param .align 8 .b8 pair[16]) {
.reg .u64 %a, %b; ld.param.v2.u64 {%a, %b}, [pair]; st.param.u64 [res], %b; st.param.u64 [res+8], %a; ret; }";
    let call = "{ .param .align 8 .b8 given[16]; .param .align 8 .b8 got[16];
st.param.u64 [given], %at; st.param.u64 [given+8], 5; call (got), swap, (given);";
    check(
        before,
        &format!(
            "{call} ld.param.v2.u64 {{%c1, %c2}}, [got]; sub.u64 %c2, %c2, %out; mad.lo.u64 %r, %c1, 1000, %c2; }}"
        ),
        |t| 5000 + 8 * t,
    );
    // The halves of a piece are reached too, so it lies in memory.
    check(
        before,
        &format!(
            "{call} ld.param.u32 %x1, [got]; ld.param.u64 %c1, [got]; cvt.u64.u32 %c2, %x1; add.u64 %r, %c1, %c2; }}"
        ),
        |_| 10,
    );
    let signed = ".func (.param .b32 res) wide(.param .b8 n) {
.reg .u32 %a; ld.param.s8 %a, [n]; st.param.b32 [res], %a; ret; }";
    let body = "{ .param .b8 given; .param .b32 got; sub.u32 %x1, %t, 16; st.param.b8 [given], %x1;
call (got), wide, (given); ld.param.b32 %x2, [got]; } cvt.s64.s32 %r, %x2;";
    check(signed, body, |t| t.wrapping_sub(16));
}

#[test]
fn each_call_has_local_memory_of_its_own() {
    let before = ".func (.param .b64 res) sum(.param .b64 n) {
.local .align 8 .b8 buf[16]; .reg .u64 %a, %b, %p; ld.param.u64 %a, [n];
mov.u64 %p, buf; st.local.u64 [%p], %a; st.local.u64 [%p+8], 1; ld.local.u64 %b, [buf];
ld.local.u64 %a, [buf+8]; add.u64 %a, %a, %b; st.param.b64 [res], %a; ret; }";
    let body = "st.local.u64 [list], 7; call (%c1), sum, (%at); call (%c2), sum, (%c1); ld.local.u64 %c3, [list];
add.u64 %r, %c2, %c3; sub.u64 %r, %r, %out;";
    check(before, body, |t| 8 * t + 9);
}

#[test]
fn a_fault_in_a_function_names_its_line() {
    let before = ".func store(.param .b64 at) {\n.reg .u64 %a; ld.param.u64 %a, [at];\nst.u64 [%a], 1;\nret; }";
    let (ended, _) =
        launch(&Rig::new(2), &text(before, "mul.wide.u32 %c1, %t, 8192; add.u64 %a, %out, %c1; call store, (%a);"));
    let stop = ended.unwrap_err();
    assert_eq!((stop.thread, stop.line.ptx), ([16, 0, 0], 6));
}

#[test]
fn branch_tables_go_where_their_index_says() {
    let body = "and.b32 %x1, %t, 7; T: .branchtargets A, B, C, A, D, D, B, A;
brx.idx %x1, T;
A: mov.u64 %r, 10; bra END;
B: mov.u64 %r, 11; bra END;
C: add.u64 %r, %r, 5; bra B2;
D: mov.u64 %r, 13; bra END;
B2: add.u64 %r, %r, 7;
END:";
    check("", body, |t| [10, 11, 12, 10, 13, 13, 11, 10][t as usize % 8]);
    let guarded = "and.b32 %x1, %t, 1; setp.lt.u32 %p, %t, 10; T: .branchtargets A, B;
@%p brx.idx %x1, T; mov.u64 %r, 3; bra END; A: mov.u64 %r, 1; bra END; B: mov.u64 %r, 2; END:";
    check("", guarded, |t| if t < 10 { 1 + t % 2 } else { 3 });
}

const PRINT: &str = ".extern .func (.param .b32 res) vprintf(.param .b64 format, .param .b64 list);
.global .align 1 .b8 format[20] = {37,100,32,37,53,46,49,102,124,37,53,115,124,37,108,108,120,33,10,0};
.global .align 1 .b8 word[4] = {122,111,111,0};";

#[test]
fn what_threads_print_is_what_the_c_library_makes_of_it() {
    let body = "setp.eq.u32 %p, %t, 3; setp.eq.or.u32 %p, %t, 7, %p; @!%p bra END;
sub.u32 %x1, %t, 5; st.local.u32 [list], %x1; mov.b64 %c1, 0x4004000000000000; st.local.u64 [list+8], %c1;
mov.u64 %a, word; cvta.global.u64 %a, %a; st.local.u64 [list+16], %a; st.local.u64 [list+24], 0xABCDEF0123;
mov.u64 %a, format; cvta.global.u64 %a, %a; mov.u64 %b, list; cvta.local.u64 %b, %b;
{ .param .b64 one; .param .b64 two; .param .b32 got; st.param.b64 [one], %a; st.param.b64 [two], %b;
call.uni (got), vprintf, (one, two); ld.param.b32 %x2, [got]; } cvt.u64.u32 %r, %x2;
END:";
    let rig = Rig::new(2);
    let (ended, printed) = launch(&rig, &text(PRINT, body));
    ended.unwrap();
    assert_eq!(printed, "-2   2.5|  zoo|abcdef0123!\n2   2.5|  zoo|abcdef0123!\n");
    assert_eq!((rig.word(24), rig.word(32)), (4, 0));
}

#[test]
fn an_assertion_that_fails_ends_the_launch() {
    let before =
        ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 message[6] = {110,32,62,32,48,0}; .global .align 1 .b8 file[5] = {97,46,99,117,0};";
    let body = "mov.u64 %a, message; mov.u64 %b, file; setp.ne.u32 %p, %t, 9;
@!%p call __assertfail, (%a, %b, 12, %b, 1);";
    let stop = launch(&Rig::new(2), &text(before, body)).0.unwrap_err();
    let (message, file, function) = ("n > 0".to_owned(), "a.cu".to_owned(), "a.cu".to_owned());
    assert_eq!(stop.thread, [9, 0, 0]);
    assert_eq!(stop.cause, Cause::Assertion { message, file, line: 12, function });
}

#[test]
fn functions_are_called_by_their_addresses() {
    let before = ".func (.param .b32 res) plus(.param .b32 n) {
.reg .u32 %a; ld.param.u32 %a, [n]; add.u32 %a, %a, 7; st.param.b32 [res], %a; ret; }
.func (.param .b32 res) times(.param .b32 n) {
.reg .u32 %a; ld.param.u32 %a, [n]; mul.lo.u32 %a, %a, 7; st.param.b32 [res], %a; ret; }
.func other(.param .b64 n) { ret; }
.global .align 8 .u64 table[3] = {plus, times, other};";
    let body = "and.b32 %x1, %t, 1; mul.wide.u32 %c1, %x1, 8; mov.u64 %a, table; add.u64 %a, %a, %c1;
ld.global.u64 %b, [%a]; { .param .b32 given; .param .b32 got; st.param.b32 [given], %t;
P: .callprototype (.param .b32 _) _ (.param .b32 _); call (got), %b, (given), P; ld.param.b32 %x2, [got]; }
cvt.u64.u32 %r, %x2;";
    check(before, body, |t| if t.is_multiple_of(2) { t + 7 } else { 7 * t });
    let nothing = "mov.u64 %b, 16; P: .callprototype (.param .b32 _) _ (.param .b32 _); call (%x1), %b, (%t), P;";
    let stop = launch(&Rig::new(2), &text(before, nothing)).0.unwrap_err();
    assert_eq!(stop.cause, Cause::Trap);
}

#[test]
fn calls_that_cannot_be_put_in_place_are_not_modelled() {
    let refused = |before: &str, body: &str| compiled(&text(before, body)).err().expect("a refusal").to_string();
    let elsewhere = ".extern .func (.param .b64 res) malloc(.param .b64 n);";
    assert_eq!(
        refused(elsewhere, "call (%a), malloc, (8);"),
        "line 10: a call of \"malloc\", which has no body here, is not modelled"
    );
    let many = |number: usize| format!(".func f{number}() {{ call f{0}; call f{0}; ret; }}", number + 1);
    let doubling: Vec<String> = (0..20).rev().map(many).collect();
    let before = format!(".func f20() {{ ret; }} {}", doubling.join(" "));
    assert!(refused(&before, "call f0;").contains("65536 instructions"));
}
