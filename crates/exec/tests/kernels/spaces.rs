//! Memory that is no device memory, variables, and generic addresses of all of them.

use peermap_exec::{Cause, Kernel, Launch, ModuleData, Stop, Window};
use peermap_memory::Access;
use peermap_ptx::Module;

use crate::rig::Rig;

/// Where the rig puts the variables of a module.
const DATA: u64 = 4096;
const THREADS: u32 = 64;

/// A kernel whose threads store `%r` at eight times their number, with what stands before it in the module.
fn text(before: &str, body: &str) -> String {
    format!(
        ".version 8.0\n.target sm_90\n.address_size 64\n{before}
.visible .entry k(.param .u64 out, .param .align 8 .b8 more[16]) {{
.reg .u32 %t, %u, %x<9>; .reg .u64 %out, %at, %r, %a, %b, %c<9>; .reg .pred %p, %q; .reg .u16 %h<9>;
.local .align 8 .b8 own[64];
ld.param.u64 %out, [out];
mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 8; add.u64 %at, %out, %at; sub.u32 %u, 63, %t; mov.u64 %r, 0;
{body}
st.global.u64 [%at], %r;
ret; }}"
    )
}

fn launch(rig: &Rig, text: &str) -> Result<(), Box<Stop>> {
    let module = Module::parse(text).expect("PTX");
    let kernel = Kernel::compile(&module, module.entry("k").expect("an entry")).expect("a kernel that is covered");
    let image = ModuleData::of(&module).expect("variables that are covered").image(&module, rig.base + DATA);
    rig.view().write(rig.base + DATA, &image).expect("memory of the rig");
    let parameters: Vec<u8> = [rig.base, 0x1111_2222_3333_4444, 0x5555_6666_7777_8888]
        .iter()
        .flat_map(|word: &u64| word.to_le_bytes())
        .collect();
    let launch =
        Launch { shared_bytes: 256, data: rig.base + DATA, ..Launch::new([1, 1, 1], [THREADS, 1, 1], &parameters) };
    kernel.launch(&launch, rig.view())
}

fn results(before: &str, body: &str) -> Vec<u64> {
    let rig = Rig::new(1);
    launch(&rig, &text(before, body)).expect("a launch that ends well");
    let number = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    rig.bytes(0, 8 * THREADS as usize).as_chunks().0.iter().map(number).collect()
}

fn check(before: &str, body: &str, expected: impl Fn(u64) -> u64) {
    let expected: Vec<u64> = (0..u64::from(THREADS)).map(expected).collect();
    assert_eq!(results(before, body), expected, "{before} {body}");
}

fn stop(before: &str, body: &str) -> Stop {
    *launch(&Rig::new(1), &text(before, body)).expect_err("a launch that is stopped")
}

#[test]
fn what_one_thread_stores_in_shared_memory_another_reads() {
    let body = "mov.u32 %x1, tile; mad.lo.u32 %x2, %t, 4, %x1; st.shared.u32 [%x2], %t; bar.sync 0;
mad.lo.u32 %x3, %u, 4, %x1; ld.shared.u32 %x4, [%x3]; cvt.u64.u32 %r, %x4;";
    check(".shared .align 4 .b8 tile[256];", body, |t| 63 - t);
    check("", &format!(".shared .align 4 .b8 tile[256]; {body}"), |t| 63 - t);
}

#[test]
fn dynamic_shared_memory_starts_behind_static_shared_memory() {
    let before = ".extern .shared .align 16 .b8 more_shared[]; .shared .align 4 .b8 a[6]; .shared .u64 b;";
    let body = "mov.u64 %c1, a; mov.u64 %c2, b; mov.u64 %c3, more_shared; shl.b64 %c2, %c2, 16; shl.b64 %c3, %c3, 32;
or.b64 %r, %c1, %c2; or.b64 %r, %r, %c3;";
    check(before, body, |_| 0x400 | 0x408 << 16 | 0x410 << 32);
    let body = "mov.u64 %c3, more_shared; cvt.u64.u32 %c1, %t; add.u64 %c2, %c3, %c1; cvt.u16.u32 %h1, %t;
st.shared.u8 [%c2+3], %h1; bar.sync 0; ld.shared.u8 %h2, [more_shared+20]; cvt.u64.u16 %r, %h2;";
    check(before, body, |_| 17);
}

#[test]
fn each_thread_has_local_memory_of_its_own() {
    let body = "and.b32 %x1, %t, 7; mul.wide.u32 %c1, %x1, 8; mov.u64 %a, own; add.u64 %c2, %a, %c1;
mul.wide.u32 %c3, %t, 1000; st.local.u64 [%c2], %c3; st.local.u64 [own+56], %c1;
cvta.local.u64 %b, %a; add.u64 %b, %b, %c1; ld.u64 %r, [%b];";
    check("", body, |t| if t % 8 == 7 { 56 } else { 1000 * t });
}

#[test]
fn parameters_are_read_at_addresses_in_registers() {
    check("", "mov.u64 %a, more; ld.param.u64 %r, [%a+8];", |_| 0x5555_6666_7777_8888);
    let body = "mov.u64 %a, more; cvta.param.u64 %b, %a; and.b32 %x1, %t, 1; mul.wide.u32 %c1, %x1, 8;
add.u64 %b, %b, %c1; ld.u32 %x2, [%b+4]; cvt.u64.u32 %r, %x2;";
    check("", body, |t| [0x1111_2222, 0x5555_6666][t as usize % 2]);
}

#[test]
fn variables_of_the_module_have_their_initial_values() {
    let before =
        ".global .align 4 .u32 table[4] = {10, 20, 30}; .const .u64 fixed = 7; .const .align 8 .u64 other = 99;
.global .u64 pointer = generic(table)+4; .global .u64 pointer_to_constant = generic(other);
.global .u64 inner = other;";
    let sum = "ld.global.u32 %x1, [table+8]; ld.const.u64 %c1, [fixed]; cvt.u64.u32 %r, %x1; add.u64 %r, %r, %c1;";
    check(before, sum, |_| 37);
    check(before, "ld.global.u64 %a, [pointer]; ld.u32 %x1, [%a]; cvt.u64.u32 %r, %x1;", |_| 20);
    check(before, "ld.global.u64 %a, [pointer_to_constant]; ld.u64 %r, [%a];", |_| 99);
    check(before, "ld.global.u64 %a, [inner]; ld.const.u64 %r, [%a];", |_| 99);
    check(
        before,
        "mov.u64 %a, fixed; cvta.const.u64 %b, %a; cvta.to.const.u64 %c1, %b; ld.const.u64 %r, [%c1];",
        |_| 7,
    );
    let count = "atom.global.add.u32 %x1, [table+12], 1; bar.sync 0; ld.global.u32 %x2, [table+12];
cvt.u64.u32 %r, %x2;";
    check(before, count, |_| 64);
}

#[test]
fn a_generic_address_tells_its_space() {
    let before = ".shared .u64 s; .global .u64 g; .const .u64 c = 1;";
    let test = "isspacep.global %p, %a; selp.u64 %r, 1, 0, %p; isspacep.shared %p, %a; @%p add.u64 %r, %r, 2;
isspacep.local %p, %a; @%p add.u64 %r, %r, 4; isspacep.const %p, %a; @%p add.u64 %r, %r, 8;
isspacep.param %p, %a; @%p add.u64 %r, %r, 16;";
    for (address, expected) in [
        ("mov.u64 %a, g; cvta.global.u64 %a, %a;", 1),
        ("mov.u64 %a, s; cvta.shared.u64 %a, %a;", 2),
        ("mov.u64 %a, own; cvta.local.u64 %a, %a;", 4),
        ("mov.u64 %a, c; cvta.const.u64 %a, %a;", 8),
        ("mov.u64 %a, more; cvta.param.u64 %a, %a;", 17),
        ("mov.u64 %a, 0;", 1),
    ] {
        check(before, &format!("{address} {test}"), |_| expected);
    }
}

#[test]
fn vectors_lie_side_by_side_in_every_space() {
    let body = "mul.wide.u32 %c1, %t, 16; mov.u64 %a, tile; add.u64 %a, %a, %c1; mul.lo.u32 %x1, %t, 3;
st.shared.v4.u32 [%a], {%t, %x1, %u, 5}; ld.shared.v2.u64 {%c2, %c3}, [%a]; add.u64 %r, %c2, %c3;";
    check(".shared .align 16 .b8 tile[1024];", body, |t| (t | ((3 * t) << 32)) + ((63 - t) | 5 << 32));
    let body = "st.local.v4.u16 [own+8], {%h1, %h2, %h3, %h4}; ld.local.u64 %r, [own+8];";
    let set = "cvt.u16.u32 %h1, %t; mov.u16 %h2, 2; mov.u16 %h3, 3; cvt.u16.u32 %h4, %u;";
    check("", &format!("{set} {body}"), |t| t | 2 << 16 | 3 << 32 | (63 - t) << 48);
}

#[test]
fn atomic_operations_reach_shared_memory() {
    for address in ["mov.u64 %a, n; @%p bra GO; GO:", "mov.u64 %b, n; cvta.shared.u64 %a, %b;"] {
        let space = if address.contains("cvta") { "" } else { ".shared" };
        let body = format!(
            "setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [n], 5; @%p st.shared.u64 [m], 0; bar.sync 0; {address}
atom{space}.add.u32 %x1, [%a], %t; red{space}.max.u64 [%a+8], %at; bar.sync 0;
ld.shared.u32 %x2, [n]; ld.shared.u64 %c1, [m]; sub.u64 %c1, %c1, %out; cvt.u64.u32 %r, %x2; add.u64 %r, %r, %c1;"
        );
        check(".shared .align 8 .u32 n; .shared .u64 m;", &body, |_| 5 + 63 * 32 + 8 * 63);
    }
}

#[test]
fn what_is_outside_shared_memory_is_no_memory() {
    let before = ".shared .align 4 .b8 tile[64];";
    let body = "mov.u32 %x1, tile; mad.lo.u32 %x1, %t, 16, %x1; st.shared.u32 [%x1+4], %t;";
    let stopped = stop(before, body);
    let (window, access, bytes) = (Window::Shared, Access::Write, 64 + 256);
    assert_eq!((stopped.thread, stopped.line.ptx), ([24, 0, 0], 10));
    assert_eq!(stopped.cause, Cause::Outside { window, address: 0x584, bytes, access, generic: false });
    let body = "mov.u64 %a, tile; cvta.shared.u64 %a, %a; mul.wide.u32 %c1, %t, 8; add.u64 %a, %a, %c1;
ld.u64 %r, [%a];";
    let stopped = stop(before, body);
    let access = Access::Read;
    assert_eq!((stopped.thread, stopped.line.ptx), ([48, 0, 0], 11));
    assert_eq!(stopped.cause, Cause::Outside { window, address: 0x580, bytes, access, generic: true });
    let says = "read at 0x580, outside the 320 bytes from 0x400 on of the shared memory of the block";
    assert!(stopped.to_string().ends_with(says), "{stopped}");
    let stopped = stop(before, "atom.shared.add.u32 %x1, [tile+4096], 1;");
    let access = Access::ReadWrite;
    assert_eq!(stopped.cause, Cause::Outside { window, address: 0x1400, bytes, access, generic: false });
}

/// The hardware gives a block whole units of 128 bytes, and lets it reach what the system has below its own.
#[test]
fn shared_memory_is_reached_where_the_hardware_has_some() {
    let body = "setp.eq.u32 %p, %t, 0; mov.u32 %x1, tile; @%p st.shared.u32 [%x1+252], 7; mov.u32 %x3, 0;
@%p st.shared.u32 [%x3], 9; bar.sync 0; ld.shared.u32 %x2, [%x1+252]; ld.shared.u32 %x3, [%x3]; add.u32 %x2, %x2, %x3;
cvt.u64.u32 %r, %x2;";
    check(".shared .align 4 .b8 tile[132];", body, |_| 16);
}

#[test]
fn an_address_of_the_block_is_none_of_the_device() {
    let cause = |body: &str| stop(".shared .align 4 .b8 tile[64];", body).cause;
    let body = "mov.u64 %a, tile; cvta.shared.u64 %a, %a; ld.global.u32 %x1, [%a];";
    let (address, access) = (Window::Shared.base() + 0x400, Access::Read);
    assert_eq!(cause(body), Cause::WrongSpace { address, window: Window::Shared, access });
    let body = "mov.u64 %a, own; cvta.local.u64 %a, %a; st.global.u32 [%a], 1;";
    let (address, access) = (Window::Local.base(), Access::Write);
    assert_eq!(cause(body), Cause::WrongSpace { address, window: Window::Local, access });
}

#[test]
fn what_is_outside_local_memory_is_no_memory() {
    let body = "mov.u64 %a, own; mul.wide.u32 %c1, %t, 8; add.u64 %a, %a, %c1; st.local.u64 [%a], 1;";
    let stopped = stop("", body);
    let (window, access) = (Window::Local, Access::Write);
    assert_eq!(stopped.thread, [8, 0, 0]);
    assert_eq!(stopped.cause, Cause::Outside { window, address: 64, bytes: 64, access, generic: false });
}

#[test]
fn constants_that_are_not_there_are_zero() {
    let body = "mul.wide.u32 %c1, %t, 4; mov.u64 %a, table; add.u64 %a, %a, %c1; ld.const.u32 %x1, [%a];
cvt.u64.u32 %r, %x1;";
    let before = ".const .u32 table[5] = {1, 2, 3, 4, 5}; .global .u32 behind[9] = {6, 6, 6, 6, 6, 6, 6, 6, 6};";
    check(before, body, |t| if t < 5 { t + 1 } else { 0 });
}

#[test]
fn blocks_find_their_own_memory_zero() {
    let rig = Rig::new(1);
    let body = "ld.shared.u32 %x1, [n]; ld.local.u32 %x2, [own]; add.u32 %x1, %x1, %x2; bar.sync 0;
st.shared.u32 [n], 5; st.local.u32 [own], 6; mov.u32 %x3, %ctaid.x; mul.wide.u32 %c1, %x3, 8; add.u64 %at, %out, %c1;
cvt.u64.u32 %r, %x1;";
    let module = Module::parse(&text(".shared .u32 n;", body)).unwrap();
    let kernel = Kernel::compile(&module, module.entry("k").unwrap()).unwrap();
    rig.view().fill(rig.base, 0xFF, 8 * 40).unwrap();
    let parameters = [rig.base.to_le_bytes(), [0; 8], [0; 8]].concat();
    kernel.launch(&Launch::new([40, 1, 1], [THREADS, 1, 1], &parameters), rig.view()).unwrap();
    assert_eq!(rig.bytes(0, 8 * 40), [0; 8 * 40]);
}
