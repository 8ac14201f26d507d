//! No text makes the parser panic, and what it accepts it accepts again in its normal form.

use peermap_ptx::analysis::{BlockShape, CallGraph, ControlFlow, Dominators, Liveness, Resources, Uniformity};
use peermap_ptx::{EntryId, ImageKind, Module, Position, lexer};
use proptest::prelude::*;
use proptest::sample::{Index, select};

const REAL: [&str; 5] = [
    include_str!("../../../fixtures/traces/kernels.ptx"),
    include_str!("../../../kernels/memmap_ipc.ptx"),
    include_str!("data/uses.ptx"),
    include_str!("data/compiled_O3.ptx"),
    include_str!("data/compiled_G.ptx"),
];

/// Right statements, and the entry that they stand in.
const STATEMENTS: &str = include_str!("data/accepted.txt");
const DECLARATIONS: &str = include_str!("data/declarations.ptx");

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

/// Statements in which pieces of others stand in the place of their own.
fn mixed() -> impl Strategy<Value = String> {
    let lines: Vec<&str> = STATEMENTS.lines().filter(|line| !line.starts_with('#')).collect();
    let words: Vec<&str> = lines.iter().flat_map(|line| line.split_inclusive(['.', ',', ' ', '[', '{'])).collect();
    let line = (select(lines), prop::collection::vec((any::<Index>(), select(words)), 0..3));
    let line = line.prop_map(|(line, changes)| {
        let mut parts: Vec<&str> = line.split_inclusive(['.', ',', ' ', '[', '{']).collect();
        changes.into_iter().for_each(|(place, word)| *place.get_mut(&mut parts) = word);
        parts.concat()
    });
    prop::collection::vec(line, 1..6).prop_map(|lines| lines.join("\n"))
}

/// The lines of a real module, some of them in other places.
fn moved() -> impl Strategy<Value = String> {
    let moves = prop::collection::vec((any::<Index>(), any::<Index>()), 1..6);
    (select(REAL.as_slice()), moves).prop_map(|(text, moves)| {
        let mut lines: Vec<&str> = text.lines().collect();
        for (from, to) in moves {
            let line = lines.remove(from.index(lines.len()));
            lines.insert(to.index(lines.len() + 1), line);
        }
        lines.join("\n")
    })
}

/// What constants are written with.
const OPERATORS: [&str; 34] = [
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "<",
    "<=",
    ">",
    ">=",
    "==",
    "!=",
    "&",
    "|",
    "^",
    "&&",
    "||",
    "~",
    "!",
    "?",
    ":",
    "(",
    ")",
    "0",
    "1",
    "64",
    "-1",
    "0x8000000000000000",
    "18446744073709551615",
    "0U",
    "0f7F800000",
    "1.5",
    "WARP_SZ",
];

fn expression() -> impl Strategy<Value = String> {
    prop::collection::vec(select(OPERATORS.as_slice()), 1..16).prop_map(|parts| parts.join(" "))
}

/// Looks at everything that can be said about a module.
fn analyse(module: &Module) {
    let calls = CallGraph::of(module);
    for (number, entry) in (0..).zip(module.entries()) {
        let flow = ControlFlow::of(&entry.body);
        let liveness = Liveness::of(&entry.body, &flow);
        let found = Uniformity::of(&entry.body, &flow, &liveness, BlockShape::Any);
        assert!(found.divergent().len() <= flow.blocks().len());
        let dominators = Dominators::of(&flow);
        assert!(flow.ids().all(|block| dominators.dominates(block, block)));
        let resources = Resources::of(module, &calls, EntryId(number));
        assert!(resources.live_words as usize <= 4 * entry.body.registers.len());
    }
}

/// Reads the text. A problem lies in the text, and an entry that stands alone is the same when it is
/// read from its normal form.
fn check(text: &str) {
    let _kind = ImageKind::of(text.as_bytes());
    let lines = u32::try_from(text.lines().count()).expect("short") + 1;
    let parsed = Module::parse(text);
    let place = parsed.as_ref().err().map_or(Position { line: 1, column: 1 }, |error| error.at);
    assert!((1..=lines).contains(&place.line) && place.column >= 1, "{place}");
    parsed.iter().for_each(analyse);
    let Ok(module) = parsed else { return };
    let ((major, minor), target) = (module.version(), module.target());
    for entry in module.entries().iter().filter(|entry| entry.is_self_contained()) {
        let again = format!(".version {major}.{minor} .target {target} .address_size 64 {}", entry.normal_form());
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
    fn mixed_statements_never_panic(text in mixed()) {
        check(&format!("{DECLARATIONS}{text}\nret; }}"));
    }

    #[test]
    fn modules_with_moved_lines_never_panic(text in moved()) {
        check(&text);
    }

    #[test]
    fn expressions_never_panic(expression in expression(), ty in select(["u16", "s32", "u64", "f32", "f64"].as_slice())) {
        check(&format!("{DECLARATIONS}.reg .{ty} %z; mov.{ty} %z, {expression}; ret; }}"));
        check(&format!(".version 9.0 .target sm_90 .address_size 64 .global .{ty} z[({expression})] = {{{expression}}};"));
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
