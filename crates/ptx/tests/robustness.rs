//! No text makes the parser panic, and what it accepts it accepts again in its normal form.

use peermap_ptx::{ImageKind, Module, Position, lexer};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const REAL: [&str; 3] = [
    include_str!("../../../fixtures/traces/kernels.ptx"),
    include_str!("../../../kernels/memmap_ipc.ptx"),
    include_str!("data/uses.ptx"),
];

/// Pieces that meet the grammar in many places, and some that never do.
const PIECES: [&str; 44] = [
    ".version 9.0",
    ".target sm_90",
    ".address_size 64",
    ".visible",
    ".extern",
    ".entry",
    ".func",
    "f",
    "g",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "<",
    ">",
    ";",
    ",",
    ":",
    "=",
    ".param",
    ".u64",
    ".b8",
    ".align",
    ".ptr",
    "16",
    "0",
    "4294967295",
    "0f3F800000",
    ".global",
    ".const",
    ".shared",
    ".section .debug_str",
    ".file 1 \"a\"",
    ".loc 1 2 3",
    ".pragma \"x\";",
    ".alias",
    "call",
    "%r1",
    "\"",
    "/*",
    "\0",
    "ä",
];

fn pieces() -> impl Strategy<Value = String> {
    prop::collection::vec(select(PIECES.as_slice()), 0..40).prop_map(|pieces| pieces.join(" "))
}

/// A real module with some of its characters removed, doubled or replaced.
fn mutated() -> impl Strategy<Value = String> {
    let change = (any::<Index>(), 0..8_usize, select(PIECES.as_slice()));
    (select(REAL.as_slice()), prop::collection::vec(change, 1..4)).prop_map(|(text, changes)| {
        changes.into_iter().fold(text.to_owned(), |mut text, (place, length, piece)| {
            let start = text.floor_char_boundary(place.index(text.len() + 1));
            let end = text.ceil_char_boundary(start + length);
            text.replace_range(start..end, piece);
            text
        })
    })
}

/// Reads the text. A problem lies in the text, and an entry that stands alone is the same when it is
/// read from its normal form.
fn check(text: &str) {
    let _kind = ImageKind::of(text.as_bytes());
    let lines = u32::try_from(text.lines().count()).expect("short") + 1;
    let parsed = Module::parse(text);
    let place = parsed.as_ref().err().map_or(Position { line: 1, column: 1 }, |error| error.at);
    assert!((1..=lines).contains(&place.line) && place.column >= 1, "{place}");
    for entry in parsed.iter().flat_map(Module::entries).filter(|entry| entry.is_self_contained()) {
        let again = format!(".version 9.0 .target sm_90 .address_size 64 {}", entry.normal_form());
        let again = Module::parse(&again).expect("a normal form is PTX");
        assert_eq!(again.entries()[0].normal_form(), entry.normal_form());
        assert_eq!(again.entries()[0].params, entry.params);
    }
}

proptest! {
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        check(&text);
        check(&format!(".version 9.0 .target sm_90 .address_size 64 {text}"));
    }

    #[test]
    fn any_sequence_of_pieces_never_panics(text in pieces()) {
        check(&text);
        check(&format!(".version 9.0 .target sm_90 .address_size 64 {text}"));
    }

    #[test]
    fn mutated_modules_never_panic(text in mutated()) {
        check(&text);
    }

    #[test]
    fn a_module_cut_off_anywhere_never_panics(text in select(REAL.as_slice()), end in any::<Index>()) {
        check(&text[..end.index(text.len() + 1)]);
    }

    #[test]
    fn tokens_are_pieces_of_the_text_in_order(text in pieces()) {
        let tokens = lexer::tokenize(&text).unwrap_or_default();
        let mut rest = text.as_str();
        for token in tokens {
            let start = rest.find(token.text).expect("the token is there");
            rest = &rest[start + token.text.len()..];
        }
    }
}
