//! The tokens of PTX text.

use peermap_ptx::Position;
use peermap_ptx::lexer::TokenKind::{Directive, Float, Identifier, Integer, Punctuation, String};
use peermap_ptx::lexer::{TokenKind, tokenize};

fn tokens(text: &str) -> Vec<(TokenKind, &str)> {
    tokenize(text).expect("these are tokens").into_iter().map(|token| (token.kind, token.text)).collect()
}

#[test]
fn an_instruction_is_split_at_its_suffixes() {
    let wanted = [
        (Punctuation, "@"),
        (Punctuation, "!"),
        (Identifier, "%p1"),
        (Identifier, "ld"),
        (Directive, ".shared::cta"),
        (Directive, ".v2"),
        (Directive, ".u32"),
        (Punctuation, "{"),
        (Identifier, "_"),
        (Punctuation, ","),
        (Identifier, "%r2"),
        (Punctuation, "}"),
        (Punctuation, ","),
        (Punctuation, "["),
        (Identifier, "%rd1"),
        (Punctuation, "+"),
        (Punctuation, "-"),
        (Integer, "16"),
        (Punctuation, "]"),
        (Punctuation, ";"),
    ];
    assert_eq!(tokens("@!%p1 ld.shared::cta.v2.u32 {_, %r2}, [%rd1+-16];"), wanted);
}

#[test]
fn names_take_dollars_percents_and_underscores() {
    let wanted = [(Identifier, "$L__BB0_2"), (Punctuation, ":"), (Identifier, "%tid"), (Directive, ".x")];
    assert_eq!(tokens("$L__BB0_2: %tid.x"), wanted);
    assert_eq!(tokens("_Z3abc %a$b_1"), [(Identifier, "_Z3abc"), (Identifier, "%a$b_1")]);
    assert_eq!(tokens("5 % 3"), [(Integer, "5"), (Punctuation, "%"), (Integer, "3")]);
}

#[test]
fn numbers_of_every_form_are_one_token() {
    for text in ["0", "42", "017", "0x1fU", "0XFF", "0b101", "7U", "18446744073709551615"] {
        assert_eq!(tokens(text), [(Integer, text)]);
    }
    for text in ["0f3F800000", "0F3f800000", "0d3FF0000000000000", "9.0", "8.10", ".5", "1.", "1e5", "1.5E-3", "2.5e+3"]
    {
        assert_eq!(tokens(text), [(Float, text)]);
    }
}

#[test]
fn integers_have_values() {
    let value = |text| tokenize(text).expect("a token")[0].integer();
    assert_eq!(value("0"), Some(0));
    assert_eq!(value("42U"), Some(42));
    assert_eq!(value("0x1fU"), Some(31));
    assert_eq!(value("017"), Some(15));
    assert_eq!(value("0b101"), Some(5));
    assert_eq!(value("0xFFFFFFFFFFFFFFFF"), Some(u64::MAX));
    assert_eq!(value("18446744073709551616"), None);
    assert_eq!(value("1.0"), None);
    assert_eq!(value("a"), None);
}

#[test]
fn a_dot_before_digits_is_a_suffix_behind_a_name_and_a_number_elsewhere() {
    let wanted = [(Identifier, "tcgen05"), (Directive, ".ld"), (Directive, ".16x64b"), (Directive, ".scale_vec::1X")];
    assert_eq!(tokens("tcgen05.ld.16x64b.scale_vec::1X"), wanted);
    assert_eq!(tokens("tcgen05 .ld .16x64b .scale_vec::1X"), wanted);
    assert_eq!(tokens("%f1, .5"), [(Identifier, "%f1"), (Punctuation, ","), (Float, ".5")]);
    assert_eq!(tokens("{.5"), [(Punctuation, "{"), (Float, ".5")]);
    assert_eq!(tokens("1.kind"), [(Integer, "1"), (Directive, ".kind")]);
}

#[test]
fn strings_keep_their_quotes_and_escapes() {
    let text = r#"".version \" // /*" "\\""#;
    assert_eq!(tokens(text), [(String, r#"".version \" // /*""#), (String, r#""\\""#)]);
}

#[test]
fn a_string_is_never_taken_for_what_it_contains() {
    let string = tokenize("\";\"").expect("a token")[0];
    assert!(!string.is(";") && !string.is("\";\""));
}

#[test]
fn operators_of_two_characters_are_one_token() {
    let wanted = ["<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "::", "<", "=", "|"];
    let found: Vec<_> = tokens("<< >> <= >= == != && || :: < = |").into_iter().map(|(_, text)| text).collect();
    assert_eq!(found, wanted);
}

#[test]
fn comments_separate_and_vanish() {
    assert_eq!(tokens("a/* * / // */b// c\nd/**/"), [(Identifier, "a"), (Identifier, "b"), (Identifier, "d")]);
    assert_eq!(tokens("// at the very end"), []);
}

#[test]
fn places_count_lines_and_characters_from_one() {
    let places = |text| tokenize(text).expect("tokens").iter().map(|token| token.at).collect::<Vec<_>>();
    let at = |line, column| Position { line, column };
    assert_eq!(places("a b\n\tc\r\n d"), [at(1, 1), at(1, 3), at(2, 2), at(3, 2)]);
    assert_eq!(places("/* ä\n ö */ a \"ü\" b"), [at(2, 7), at(2, 9), at(2, 13)]);
}

#[test]
fn the_text_ends_at_a_nul() {
    assert_eq!(tokens("a\0#"), [(Identifier, "a")]);
}
