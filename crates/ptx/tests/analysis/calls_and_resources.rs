//! Who calls whom, and what an entry asks for.

use peermap_ptx::analysis::{CallGraph, Caller, RegisterCounts, Resources};
use peermap_ptx::{EntryId, FunctionId, StateSpace};

use crate::module;

const CALLS: &str = "
    .func even(.param .u32 n); .func odd(.param .u32 n) { call even, (1); ret; }
    .func even(.param .u32 n) { call odd, (1); ret; }
    .func leaf() { .local .align 16 .b8 l[48]; ret; }
    .func middle() { .local .b8 l[10]; call leaf; ret; }
    .func itself() { .local .b8 l[4]; call itself; ret; }
    .func lonely() { ret; }
    .entry calm() { .local .b8 l[100]; call middle; call leaf; ret; }
    .entry wild() { call itself; call even, (3); ret; }";

#[test]
fn calls_are_found_once_and_followed() {
    let module = module(CALLS);
    let calls = CallGraph::of(&module);
    let [even, odd, leaf, middle, itself, lonely] = [0, 1, 2, 3, 4, 5].map(FunctionId);
    assert_eq!(calls.callees(Caller::Entry(EntryId(0))), [leaf, middle]);
    assert_eq!(calls.callees(Caller::Function(odd)), [even]);
    assert_eq!(calls.reached(Caller::Entry(EntryId(1))), [even, odd, itself]);
    let recursive = [even, odd, leaf, middle, itself, lonely].map(|function| calls.is_recursive(function));
    assert_eq!(recursive, [true, true, false, false, true, false]);
}

#[test]
fn a_call_through_a_register_may_go_to_any_function_whose_address_is_taken() {
    let text = "
        .func a() { ret; } .func b() { ret; } .func c() { ret; }
        .global .u64 table[1] = {b};
        .entry any() { .reg .b64 %d; mov.u64 %d, a; P: .callprototype _ (); call %d, P; ret; }
        .entry some() { .reg .b64 %d; mov.u64 %d, a; T: .calltargets c; call %d, T; ret; }";
    let module = module(text);
    let calls = CallGraph::of(&module);
    assert_eq!(calls.callees(Caller::Entry(EntryId(0))), [FunctionId(0), FunctionId(1)]);
    assert_eq!(calls.callees(Caller::Entry(EntryId(1))), [FunctionId(2)]);
}

#[test]
fn local_memory_is_that_of_the_deepest_chain() {
    let module = module(CALLS);
    let calls = CallGraph::of(&module);
    let calm = Resources::of(&module, &calls, EntryId(0));
    assert_eq!((calm.local, calm.recursive), (100 + 10 + 48, false));
    let wild = Resources::of(&module, &calls, EntryId(1));
    assert_eq!((wild.local, wild.recursive), (4, true));
}

#[test]
fn shared_memory_counts_where_it_is_used() {
    let text = "
        .shared .b8 unused[1000]; .shared .b8 one[5]; .shared .align 8 .b64 two; .extern .shared .b8 rest[];
        .func touch() { .reg .b32 %r; ld.shared.u32 %r, [two]; ret; }
        .entry direct() { .reg .b32 %r; .shared .b8 own[3]; ld.shared.u8 %r, [one]; st.shared.u8 [own], %r; call touch; ret; }
        .entry launched() { .reg .b64 %d; mov.u64 %d, rest; ret; }";
    let module = module(text);
    let calls = CallGraph::of(&module);
    let direct = Resources::of(&module, &calls, EntryId(0));
    assert_eq!((direct.shared, direct.dynamic_shared), (16 + 3, false));
    let launched = Resources::of(&module, &calls, EntryId(1));
    assert_eq!((launched.shared, launched.dynamic_shared), (0, true));
}

#[test]
fn registers_are_counted_by_width_and_by_how_many_live_at_once() {
    let text = "
        .entry e(.param .u64 p) { .reg .pred %p<100>; .reg .b16 %h<100>; .reg .b32 %r<100>; .reg .b64 %d<100>;
        ld.param.u64 %d1, [p]; ld.global.u32 %r1, [%d1]; ld.global.u16 %h1, [%d1+4]; cvt.u32.u16 %r2, %h1;
        setp.eq.u32 %p1, %r1, %r2; @%p1 st.global.u32 [%d1], %r1; ret; }";
    let module = module(text);
    let resources = Resources::of(&module, &CallGraph::of(&module), EntryId(0));
    let wanted = RegisterCounts { predicates: 1, bits_16: 1, bits_32: 2, bits_64: 1, ..RegisterCounts::default() };
    assert_eq!(resources.registers, wanted);
    assert_eq!((resources.live_words, resources.estimated_registers), (4, 7));
}

#[test]
fn code_with_calls_has_the_registers_of_the_convention() {
    let text = "
        .func touch() { ret; }
        .entry calls() { call touch; ret; }
        .entry alone() { ret; }";
    let module = module(text);
    let calls = CallGraph::of(&module);
    let registers = |entry| Resources::of(&module, &calls, EntryId(entry)).estimated_registers;
    assert_eq!((registers(0), registers(1)), (24, 3));
}

#[test]
fn barriers_count_up_to_the_highest_number() {
    let text = "
        .entry none() { ret; }
        .entry two() { bar.sync 0; bar.sync 1; ret; }
        .entry sparse() { bar.sync 3; bar.arrive 5, 64; ret; }
        .entry any() { .reg .b32 %r; mov.u32 %r, %tid.x; bar.sync %r; ret; }";
    let module = module(text);
    let calls = CallGraph::of(&module);
    let barriers = |entry| Resources::of(&module, &calls, EntryId(entry)).barriers;
    assert_eq!([0, 1, 2, 3].map(barriers), [0, 2, 6, 16]);
}

#[test]
fn variables_of_a_space_lie_one_behind_the_other() {
    let text = ".const .b8 a[5]; .const .align 8 .b64 b; .global .b8 c[3]; .entry e() { ret; }";
    let module = module(text);
    assert_eq!(Resources::of_variables(&module, StateSpace::Const), 16);
    assert_eq!(Resources::of_variables(&module, StateSpace::Global), 3);
}
