//! Every problem, with its place and the words that are printed.

use peermap_ptx::{Module, Position, PtxError, PtxProblem};

fn error(text: &str) -> PtxError {
    Module::parse(text).expect_err("this text is wrong")
}

/// The message for `statement` on line 4 behind a right header.
fn message(statement: &str) -> String {
    error(&format!(".version 9.0\n.target sm_90\n.address_size 64\n{statement}")).to_string()
}

#[test]
fn the_place_is_there_as_numbers_too() {
    let wrong = error(".version 9.0\n.target sm_90\n  .address_size 32");
    assert_eq!(wrong, PtxError { at: Position { line: 3, column: 17 }, problem: PtxProblem::AddressSize32 });
}

#[test]
fn a_missing_header_directive_is_named_with_what_stands_there() {
    let cases = [
        ("", "line 1; error: missing `.version` directive: expected it before the end of the text (column 1)"),
        (
            "// c\n .target sm_90",
            "line 2; error: missing `.version` directive: expected it before `.target` (column 2)",
        ),
        (".version 8.4\n.entry", "line 2; error: missing `.target` directive: expected it before `.entry` (column 1)"),
        (
            ".version 8.4\n.target sm_90",
            "line 2; error: missing `.address_size` directive: expected it before the end of the text (column 14)",
        ),
    ];
    for (text, wanted) in cases {
        assert_eq!(error(text).to_string(), wanted);
    }
}

#[test]
fn header_values_are_checked() {
    let cases = [
        (".version 8", "line 1; error: expected a version such as `8.4`, found `8` (column 10)"),
        (".version 256.0", "line 1; error: expected a version such as `8.4`, found `256.0` (column 10)"),
        (".version", "line 1; error: expected a version such as `8.4`, found the end of the text (column 9)"),
        (".version 8.4 .target 90", "line 1; error: expected a target such as `sm_75`, found `90` (column 22)"),
        (
            ".version 8.4 .target sm_90,\n.address_size 64",
            "line 2; error: expected a target option such as `debug`, found `.address_size` (column 1)",
        ),
        (
            ".version 8.4 .target sm_90 .address_size 32",
            "line 1; error: 32-bit addresses are not supported: expected `.address_size 64` (column 42)",
        ),
        (".version 8.4 .target sm_90 .address_size 48", "line 1; error: expected `64`, found `48` (column 42)"),
    ];
    for (text, wanted) in cases {
        assert_eq!(error(text).to_string(), wanted);
    }
}

#[test]
fn what_is_never_closed_is_reported_where_it_opens() {
    let cases = [
        ("\n/* no end", "line 5; error: unterminated comment: expected `*/` before the end of the text (column 1)"),
        (
            ".file 1 \"a.cu\n\"",
            "line 4; error: unterminated string: expected `\"` before the end of the line (column 9)",
        ),
        (
            ".entry f()\n  { ret;\n{ ret; }",
            "line 5; error: unterminated `{`: expected `}` before the end of the text (column 3)",
        ),
        (".func (.param .u8 a", "line 4; error: unterminated `(`: expected `)` before the end of the text (column 7)"),
        (".global .u8 a[2", "line 4; error: unterminated `[`: expected `]` before the end of the text (column 14)"),
        (".global .u8 a[2;", "line 4; error: expected `]`, found `;` (column 16)"),
        (".entry f() { ld.u8 %r1, [%rd1; }", "line 4; error: expected `]`, found `;` (column 30)"),
    ];
    for (statement, wanted) in cases {
        assert_eq!(message(statement), wanted);
    }
}

#[test]
fn characters_and_numbers_that_are_none_are_reported() {
    let cases = [
        ("# 1 \"a\"", "line 4; error: unexpected character '#' (column 1)"),
        ("ä", "line 4; error: unexpected character 'ä' (column 1)"),
        ("/* ä */ §", "line 4; error: unexpected character '§' (column 9)"),
        (".entry f() { mov 0xyz; }", "line 4; error: `0xyz` is not a number (column 18)"),
        (".entry f() { mov 0f3F80; }", "line 4; error: `0f3F80` is not a number (column 18)"),
        (".entry f() { mov 089; }", "line 4; error: `089` is not a number (column 18)"),
        (".entry f() { mov 12ab; }", "line 4; error: `12ab` is not a number (column 18)"),
        (
            ".entry f() .maxntid 4294967296 {}",
            "line 4; error: `4294967296` is too large, the most is 4294967295 here (column 21)",
        ),
    ];
    for (statement, wanted) in cases {
        assert_eq!(message(statement), wanted);
    }
}

#[test]
fn wrong_parameters_are_reported() {
    let cases = [
        (".entry f(.u64 a) {}", "line 4; error: expected `.param`, found `.u64` (column 10)"),
        (
            ".entry f(.param .u65 a) {}",
            "line 4; error: unknown parameter type: expected a fundamental type such as `.u64`, found `.u65` (column 17)",
        ),
        (
            ".entry f(.param",
            "line 4; error: unknown parameter type: expected a fundamental type such as `.u64`, found the end of the \
             text (column 16)",
        ),
        (".entry f(.param .u64) {}", "line 4; error: expected a parameter name, found `)` (column 21)"),
        (".entry f(.param .u64 a; {}", "line 4; error: expected `,` or `)`, found `;` (column 23)"),
        (".entry f(.param .u8 a, .param .u8 a) {}", "line 4; error: duplicate parameter `a` (column 35)"),
        (".entry f(.param .align 3 .u8 a) {}", "line 4; error: alignment 3 is not a power of two (column 24)"),
        (".entry f(.param .align 0 .u8 a) {}", "line 4; error: alignment 0 is not a power of two (column 24)"),
        (".entry f(.param .b8 a[]) {}", "line 4; error: expected the length of the array, found `]` (column 23)"),
        (
            ".entry f(.param .b8 a[0]) {}",
            "line 4; error: expected an array of at least one element, found `0` (column 23)",
        ),
        (".entry f(.param .b8 a[2)) {}", "line 4; error: expected `]`, found `)` (column 24)"),
        (
            ".entry f(.param .u8 a, .param .b64 b[4096]) {}",
            "line 4; error: the parameters end at byte 32776, the most is 32764 (column 24)",
        ),
    ];
    for (statement, wanted) in cases {
        assert_eq!(message(statement), wanted);
    }
}

#[test]
fn wrong_statements_are_reported() {
    let cases = [
        ("mov;", "line 4; error: expected an entry, a function or a variable of the module, found `mov` (column 1)"),
        (
            ".visible .version",
            "line 4; error: expected an entry, a function or a variable of the module, found `.version` (column 10)",
        ),
        (".entry (", "line 4; error: expected an entry name, found `(` (column 8)"),
        (".entry f() ret;", "line 4; error: expected `{`, found `ret` (column 12)"),
        (".entry f() }", "line 4; error: expected `{`, found `}` (column 12)"),
        (
            ".entry f() {}\n .entry f() {}",
            "line 5; error: duplicate entry `f`: it is already defined on line 4, column 8 (column 9)",
        ),
        (".func }", "line 4; error: expected a function name, found `}` (column 7)"),
        (
            ".entry f() .foo 4 {}",
            "line 4; error: expected a directive such as `.maxntid`, or `{`, found `.foo` (column 12)",
        ),
        (".func f .noreturn", "line 4; error: expected `{` or `;`, found the end of the text (column 18)"),
        (".global .u32 ;", "line 4; error: expected a variable name, found `;` (column 14)"),
        (".global .u32 a", "line 4; error: expected `,` or `;`, found the end of the text (column 15)"),
        (".alias 1;", "line 4; error: expected a function name, found `1` (column 8)"),
        (".section .debug_str;", "line 4; error: expected `{`, found `;` (column 20)"),
        (".section {", "line 4; error: expected a section name, found `{` (column 10)"),
        (".file a", "line 4; error: expected a file number, found `a` (column 7)"),
        (".file 1 2", "line 4; error: expected a file name in quotes, found `2` (column 9)"),
        (".entry f() { .loc 1 2; }", "line 4; error: expected a column number, found `;` (column 22)"),
    ];
    for (statement, wanted) in cases {
        assert_eq!(message(statement), wanted);
    }
}

/// The message for a statement on line 5 of an entry with some registers.
fn in_body(statement: &str) -> String {
    let registers =
        ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .f32 %f<4>; .local .u32 lo;";
    message(&format!(".entry e(.param .u64 a) {{ {registers}\n{statement} }}"))
}

#[test]
fn names_that_are_nowhere_are_reported() {
    let cases = [
        ("mov.u32 %r9, 1;", "line 5; error: unknown symbol `%r9` (column 9)"),
        ("mov.u32 %r1, %nope;", "line 5; error: unknown symbol `%nope` (column 14)"),
        ("ld.global.u32 %r1, [nope+4];", "line 5; error: unknown symbol `nope` (column 20)"),
        ("@%q1 ret;", "line 5; error: unknown symbol `%q1` (column 2)"),
        ("bra L; { L: ret; }", "line 5; error: unknown symbol `L` (column 5)"),
        ("T: .branchtargets A, B; A: brx.idx %r1, T;", "line 5; error: unknown symbol `B` (column 22)"),
        ("call nope;", "line 5; error: unknown symbol `nope` (column 6)"),
        ("call (%r1), %d1, (%r2), P;", "line 5; error: unknown symbol `P` (column 25)"),
        ("mov.u32 %r1, %tid.q;", "line 5; error: unknown symbol `%tid` (column 14)"),
        ("{ .reg .b32 %x; } mov.u32 %x, 1;", "line 5; error: unknown symbol `%x` (column 27)"),
    ];
    for (statement, wanted) in cases {
        assert_eq!(in_body(statement), wanted);
    }
}

#[test]
fn unknown_instructions_and_modifiers_are_reported() {
    let cases = [
        ("nonsense.u32 %r1;", "line 5; error: unknown instruction `nonsense` (column 1)"),
        ("add.foo.u32 %r1, %r2, %r3;", "line 5; error: `add` takes no modifier `.foo` here (column 4)"),
        ("add.u33 %r1, %r2, %r3;", "line 5; error: `add` needs a type (column 1)"),
        ("add %r1, %r2, %r3;", "line 5; error: `add` needs a type (column 1)"),
        ("add.sat.u32 %r1, %r2, %r3;", "line 5; error: `add` takes no modifier `.sat` here (column 4)"),
        ("shl.u32 %r1, %r2, %r3;", "line 5; error: `shl` takes no modifier `.u32` here (column 4)"),
        ("mul.u32 %r1, %r2, %r3;", "line 5; error: `mul` needs `.lo`, `.hi` or `.wide` (column 1)"),
        ("div.f32 %f1, %f2, %f3;", "line 5; error: `div` needs a rounding such as `.rn`, or `.approx` (column 1)"),
        (
            "setp.u32 %p1, %r1, %r2;",
            "line 5; error: `setp` needs a comparison such as `.eq` that its type has (column 1)",
        ),
        ("ld.relaxed.u32 %r1, [%d1];", "line 5; error: `ld` needs a scope such as `.gpu` (column 1)"),
        ("atom.add.f16x2 %r1, [%d1], %r2;", "line 5; error: `atom` needs `.noftz` beside this type (column 1)"),
        ("red.cas.b32 [%d1], %r1, %r2;", "line 5; error: `red` needs an operation such as `.add` (column 1)"),
        ("fence.sc;", "line 5; error: `fence` needs a scope such as `.gpu` (column 1)"),
        ("cvt.f16.f32 %h1, %f1;", "line 5; error: `cvt` needs a rounding such as `.rn` (column 1)"),
        ("multimem.foo.u32 [%d1], %r1;", "line 5; error: `multimem` needs `.ld_reduce`, `.st` or `.red` (column 1)"),
    ];
    for (statement, wanted) in cases {
        assert_eq!(in_body(statement), wanted);
    }
}

#[test]
fn operands_that_do_not_fit_are_reported() {
    let cases = [
        ("add.u32 %r1, %r2;", "line 5; error: `add` takes 3 operands, found 2 (column 1)"),
        ("ret %r1;", "line 5; error: `ret` takes 0 operands, found 1 (column 1)"),
        ("add.u64 %d1, %r2, %d3;", "line 5; error: `%r2` is declared `.b32`, which does not fit `.u64` (column 14)"),
        ("add.u32 %f1, %r2, %r3;", "line 5; error: `%f1` is declared `.f32`, which does not fit `.u32` (column 9)"),
        ("@%r1 ret;", "line 5; error: `%r1` is declared `.b32`, which does not fit `.pred` (column 2)"),
        ("ld.global.u32 %h1, [%d1];", "line 5; error: `%h1` is declared `.b16`, which does not fit `.u32` (column 15)"),
        ("ld.global.u32 %r1, [%r2];", "line 5; error: `%r2` is declared `.b32`, which does not fit `.u64` (column 20)"),
        ("mov.u64 %d1, %tid.x;", "line 5; error: `%tid` is declared `.b32`, which does not fit `.u64` (column 14)"),
        ("add.u32 %r1, %tid.x, 1;", "line 5; error: expected a register, found `%tid` (column 14)"),
        ("add.u32 5, %r2, %r3;", "line 5; error: expected a register, found a constant (column 9)"),
        ("add.u32 %r1, %r2, [%d1];", "line 5; error: expected a register or a constant, found an address (column 19)"),
        ("add.f32 %f1, %f2, 1;", "line 5; error: this constant does not fit `.f32` (column 19)"),
        ("add.u32 %r1, %r2, 1.0;", "line 5; error: this constant does not fit `.u32` (column 19)"),
        ("ld.global.u32 %r1, %d1;", "line 5; error: expected an address in brackets, found `%d1` (column 20)"),
        (
            "ld.global.v2.u32 %r1, [%d1];",
            "line 5; error: expected a vector of as many elements as the modifier says, found `%r1` (column 18)",
        ),
        (
            "ld.global.u32 %r1, [lo];",
            "line 5; error: expected an address of something in the space of the instruction, found an address (column 20)",
        ),
        (
            "st.param.u64 [a], %d1;",
            "line 5; error: expected an address that can be written, found an address (column 14)",
        ),
        ("bra %r1;", "line 5; error: unknown symbol `%r1` (column 5)"),
        ("bra 3;", "line 5; error: expected a label, found a constant (column 5)"),
        ("bar.sync 16;", "line 5; error: `16` is too large, the most is 15 here (column 10)"),
        ("add.u32 %r1, %r2, 1 / 0;", "line 5; error: `/` has no result on these values (column 21)"),
        ("add.u32 %r1, %r2, (1;", "line 5; error: expected `)`, found `;` (column 21)"),
        ("add.u32 %r1, %r2,;", "line 5; error: expected an operand, found `;` (column 18)"),
        ("add.u32 %r1 %r2;", "line 5; error: expected `,` or `;`, found `%r2` (column 13)"),
        ("ld.global.u32 %r1, [%d1-4];", "line 5; error: expected `]`, found `-` (column 24)"),
        (";", "line 5; error: expected a statement, found `;` (column 1)"),
        (".entry f() {}", "line 5; error: expected a statement, found `.entry` (column 1)"),
    ];
    for (statement, wanted) in cases {
        assert_eq!(in_body(statement), wanted);
    }
}

#[test]
fn names_that_are_there_twice_are_reported() {
    let cases = [
        (
            ".reg .b32 %x; .reg .b32 %x;",
            "line 5; error: duplicate definition of `%x`: it is already defined on line 5, column 11 (column 25)",
        ),
        (
            ".reg .b32 %r2;",
            "line 5; error: duplicate definition of `%r2`: it is already defined on line 4, column 72 (column 11)",
        ),
        (
            "L: ret; L: ret;",
            "line 5; error: duplicate definition of `L`: it is already defined on line 5, column 1 (column 9)",
        ),
    ];
    for (statement, wanted) in cases {
        assert_eq!(in_body(statement), wanted);
    }
    let modules = [
        (
            ".global .u32 a; .func a() { ret; }",
            "line 4; error: duplicate definition of `a`: it is already defined on line 4, column 14 (column 23)",
        ),
        (
            ".func a() { ret; } .func a() { ret; }",
            "line 4; error: duplicate definition of `a`: it is already defined on line 4, column 7 (column 26)",
        ),
        (
            ".func a(.param .u32 x); .func a(.param .u64 x) { ret; }",
            "line 4; error: `a` is declared otherwise on line 4, column 7 (column 31)",
        ),
    ];
    for (statement, wanted) in modules {
        assert_eq!(message(statement), wanted);
    }
}

#[test]
fn calls_that_do_not_agree_are_reported() {
    let call = |statement: &str| {
        message(&format!(
            ".func (.param .u32 r) h(.param .align 8 .b8 x[16]) {{ ret; }}\n.entry e() {{ .reg .u32 %r; .param .b8 p[16], q[8];\n{statement} }}"
        ))
    };
    let cases = [
        ("call (%r), h;", "line 6; error: `h` takes 1 values, found 0 (column 1)"),
        ("call h, (p);", "line 6; error: `h` returns 1 values, found 0 (column 1)"),
        ("call (%r), h, (%r);", "line 6; error: expected a variable in `.param`, found `%r` (column 16)"),
        (
            "call (%r), h, (q);",
            "line 6; error: expected a variable in `.param` of the size of the parameter, found `q` (column 16)",
        ),
        ("call (%r), e, (p);", "line 6; error: expected a function, found `e` (column 12)"),
        ("call;", "line 6; error: `call` needs a function (column 1)"),
    ];
    for (statement, wanted) in cases {
        assert_eq!(call(statement), wanted);
    }
}

#[test]
fn wrong_initial_values_are_reported() {
    let cases = [
        (
            ".global .u32 a[2] = {1, 2, 3};",
            "line 4; error: this initial value has more elements than its variable (column 28)",
        ),
        (".global .u32 a = 1.5;", "line 4; error: this initial value is of another sort than its variable (column 18)"),
        (
            ".shared .u32 a = 1;",
            "line 4; error: this initial value has no place: shared memory starts without values (column 16)",
        ),
        (".global .u64 p = p;", "line 4; error: unknown symbol `p` (column 18)"),
        (
            ".shared .u32 s; .global .u64 p = s;",
            "line 4; error: this initial value is an address that every block has anew (column 34)",
        ),
        (
            ".global .u32 a; .global .u16 p = a;",
            "line 4; error: this initial value is an address, which needs 32 bits or more (column 34)",
        ),
        (
            ".global .b8 a[0x800000000001];",
            "line 4; error: this variable is too large: more than 140737488355328 bytes (column 13)",
        ),
        (".global .u32 a[];", "line 4; error: expected a variable whose size is given, found `a` (column 14)"),
    ];
    for (statement, wanted) in cases {
        assert_eq!(message(statement), wanted);
    }
}

#[test]
fn nesting_has_an_end() {
    let many = 100_000;
    let braces = format!(".entry e() {{ {}", "{ ".repeat(many));
    assert_eq!(message(&braces), "line 4; error: nested more than 128 deep (column 270)");
    let brackets = format!("add.u32 %r1, %r2, {}", "(".repeat(many));
    assert_eq!(in_body(&brackets), "line 5; error: nested more than 64 deep (column 83)");
    assert!(in_body(&format!("add.u32 %r1, %r2, {}1;", "-".repeat(many))).contains("nested more than 64 deep"));
}

#[test]
fn long_tokens_are_cut_off_in_messages() {
    let found = format!("found `{}…` (column 1)", "x".repeat(40));
    assert!(message(&"x".repeat(10_000)).ends_with(&found));
}
