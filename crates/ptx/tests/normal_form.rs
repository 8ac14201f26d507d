//! What the normal form of an entry keeps, what it drops, and when it alone says what a kernel does.

use peermap_ptx::{Entry, Module};

const KERNELS: &str = include_str!("../../../kernels/memmap_ipc.ptx");

fn only_entry(module: &str) -> Entry {
    let text = format!(".version 9.0\n.target sm_90\n.address_size 64\n{module}");
    let parsed = Module::parse(&text).expect("parses");
    parsed.entries().first().expect("has an entry").clone()
}

fn normal_form(module: &str) -> String {
    only_entry(module).normal_form().to_owned()
}

fn is_self_contained(module: &str) -> bool {
    only_entry(module).is_self_contained()
}

const ENTRY: &str = ".visible .entry f(.param .u64 p) .maxntid 32 {
    .reg .pred %p<3>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [p];
$L__BB0_1:
    @!%p1 bra $L__BB0_1;
    .pragma \"nounroll\";
    ret;
}";

#[test]
fn it_is_the_tokens_joined_by_one_space() {
    let wanted = ".entry f ( .param .u64 p ) .maxntid 32 { .reg .pred %p < 3 > ; .reg .b64 %rd < 3 > ; ld .param .u64 %rd1 , [ p ] ; \
                  $L__BB0_1 : @ ! %p1 bra $L__BB0_1 ; .pragma \"nounroll\" ; ret ; }";
    assert_eq!(normal_form(ENTRY), wanted);
}

#[test]
fn it_ignores_comments_white_space_linkage_and_debug_directives() {
    let dressed = ".weak .entry\tf // name\n(.param/* in */.u64 p)\r\n.maxntid 32{.loc 1 2 0
        .reg .pred %p<3>; .reg .b64 %rd<3>; .loc 1 2 3
        .loc 1 2 3, function_name $L__info_string0, inlined_at 1 10 3
        ld.param.u64 %rd1,[p]; $L__BB0_1: .loc 2 5 7, function_name $x + 16, inlined_at 1 1 1
        .file 2 \"b.cu\"
        @!%p1 bra $L__BB0_1; .pragma \"nounroll\"; ret; .loc 1 9 1\n}";
    assert_eq!(normal_form(dressed), normal_form(ENTRY));
}

#[test]
fn it_changes_with_every_token() {
    let changes = [
        ("%rd<3>", "%rd<4>"),
        ("ld.param.u64", "ld.param.b64"),
        ("%rd1, [p]", "%rd2, [p]"),
        ("@!%p1", "@%p1"),
        (".maxntid 32", ".maxntid 64"),
        (".entry f(", ".entry g("),
        ("bra $L__BB0_1", "bra.uni $L__BB0_1"),
        ("\"nounroll\"", "\"no unroll\""),
        ("ret;", "ret; ret;"),
    ];
    for (from, to) in changes {
        assert!(ENTRY.contains(from), "{from}");
        assert_ne!(normal_form(&ENTRY.replace(from, to)), normal_form(ENTRY), "{from} -> {to}");
    }
}

#[test]
fn it_is_a_fixed_point() {
    for entry in Module::parse(KERNELS).expect("parses").entries() {
        assert_eq!(normal_form(entry.normal_form()), entry.normal_form());
    }
}

#[test]
fn equal_bodies_under_other_names_stay_apart() {
    let module = Module::parse(KERNELS).expect("parses");
    let mut forms: Vec<_> = module.entries().iter().map(Entry::normal_form).collect();
    forms.sort_unstable();
    forms.dedup();
    assert_eq!(forms.len(), 5);
}

#[test]
fn a_body_that_uses_nothing_of_the_module_stands_alone() {
    let local = ".global .u32 unused; .entry f(.param .u32 p) { .reg .b32 %r1; .shared .b8 own[4]; mov.u32 %r1, own; }";
    assert!(is_self_contained(local));
}

#[test]
fn a_body_that_names_anything_of_the_module_does_not_stand_alone() {
    let naming = [
        ".global .u32 a, g; .entry f { .reg .b64 %d; mov.u64 %d, g; }",
        ".const .u32 c[2]; .entry f { .reg .b32 %r; ld.const.u32 %r, [c+4]; }",
        ".shared .align 16 .b8 s[16]; .entry f { .reg .b32 %r; st.shared.u32 [s], %r; }",
        ".global .u32 slot<4>; .entry f { .reg .b32 %r; ld.global.u32 %r, [slot3]; }",
        ".func h() { ret; } .entry f { .reg .b64 %d; mov.u64 %d, h; }",
        ".func h() { ret; } .func i(); .alias i, h; .entry f { .reg .b64 %d; mov.u64 %d, i; }",
        ".func h() { ret; } .entry f { call h; }",
        ".func h() { ret; } .entry f { .reg .pred %p; @%p call.uni h; }",
        ".entry f { .reg .b64 %d; mov.u64 %d, f; }",
    ];
    for module in naming {
        assert!(!is_self_contained(module), "{module}");
    }
}

#[test]
fn names_in_strings_suffixes_and_other_names_are_no_use_of_the_module() {
    let module = ".global .u32 g; .global .u32 u32; .global .u32 slot<4>;
        .entry f { .reg .b32 %g, gg, $g, g, slot, slots1; .pragma \"g\"; add.u32 %g, gg, $g; add.u32 slot, g, slots1; }";
    assert!(is_self_contained(module));
}
