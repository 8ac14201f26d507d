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

#[test]
fn long_tokens_are_cut_off_in_messages() {
    let found = format!("found `{}…` (column 1)", "x".repeat(40));
    assert!(message(&"x".repeat(10_000)).ends_with(&found));
}
