//! Whatever a text holds, reading and playing it ends in values, never in a panic.

#[expect(dead_code, reason = "each test uses a part")]
mod support;

use peermap_trace::{Player, Reader};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value as Json, json};
use support::obliging::ObligingProcesses;
use support::{FILES, fixture};

/// Pieces that mean something in the format.
const PIECES: &[&str] = &[
    "\"",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "$",
    "+",
    "-",
    "0x",
    "null",
    "true",
    "1e999",
    "-1",
    "18446744073709551615",
    "\"$v0+18446744073709551615\"",
    "\"$h0-1\"",
    "\"in\"",
    "\"as\"",
    "\"trace\": 1",
    "cuMemMap",
    "cuMemcpyDtoH",
    "send",
    "exit",
    "SIGSEGV",
    "OK",
    "\u{fe}",
    "\\u0000",
    "\\ud800",
    "\n",
];

#[derive(Clone, Debug)]
enum Change {
    Replace(Index, u8),
    Insert(Index, &'static str),
    Remove(Index, usize),
    Repeat(Index, usize),
    Cut(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let index = any::<Index>;
    prop_oneof![
        (index(), any::<u8>()).prop_map(|(at, byte)| Change::Replace(at, byte)),
        (index(), select(PIECES)).prop_map(|(at, piece)| Change::Insert(at, piece)),
        (index(), 1..40_usize).prop_map(|(at, length)| Change::Remove(at, length)),
        (index(), 1..200_usize).prop_map(|(at, length)| Change::Repeat(at, length)),
        index().prop_map(Change::Cut),
    ]
}

fn apply(text: &mut Vec<u8>, change: &Change) {
    let place = |at: &Index, text: &[u8]| at.index(text.len() + 1);
    match change {
        Change::Replace(at, byte) => {
            let at = place(at, text);
            text.splice(at..(at + 1).min(text.len()), [*byte]);
        }
        Change::Insert(at, piece) => {
            let at = place(at, text);
            text.splice(at..at, piece.bytes());
        }
        Change::Remove(at, length) => {
            let at = place(at, text);
            text.drain(at..(at + length).min(text.len()));
        }
        Change::Repeat(at, length) => {
            let at = place(at, text);
            let copy = text[at..(at + length).min(text.len())].to_vec();
            text.splice(at..at, copy);
        }
        Change::Cut(at) => text.truncate(place(at, text)),
    }
}

/// The first lines of a trace of the recordings, a window that starts at a header.
fn lines() -> impl Strategy<Value = Vec<u8>> {
    let texts: Vec<Vec<String>> = FILES
        .iter()
        .map(|name| fixture(name).split("{\"trace\"").skip(1).map(|trace| format!("{{\"trace\"{trace}")).collect())
        .collect();
    (select(texts), any::<Index>()).prop_map(|(traces, at)| traces[at.index(traces.len())].clone().into_bytes())
}

/// Arguments that some call does not expect.
fn odd_argument() -> impl Strategy<Value = Json> {
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(4096),
        json!(u64::MAX),
        json!(i64::MIN),
        json!(1.5),
        json!(""),
        json!("$"),
        json!("$v0+18446744073709551615"),
        json!("$c0"),
        json!("$h0+1"),
        json!("0xffffffffffffffff"),
        json!([]),
        json!([["ptr"]]),
        json!([["ptr", "$v0"], ["i32", 2_147_483_648_u32], ["u8", 256]]),
        json!([{"device": 0}]),
        json!({"device": {}}),
    ];
    select(values.to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_damaged_recording_is_read_or_refused_at_a_place_inside_it(
        mut text in lines(), changes in vec(change(), 1..6)
    ) {
        changes.iter().for_each(|change| apply(&mut text, change));
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        let error = Reader::new(text.as_slice()).find_map(Result::err);
        let place = error.as_ref().map_or((1, 1), |error| (error.at().line, error.at().column));
        prop_assert!(place.0 >= 1 && place.0 <= lines.len() as u64, "{error:?}");
        prop_assert!(place.1 >= 1 && place.1 <= lines[place.0 as usize - 1].len() + 1, "{error:?}");
    }

    #[test]
    fn a_recording_with_odd_arguments_is_played_to_its_end(
        text in lines(), changes in vec((any::<Index>(), any::<Index>(), odd_argument()), 1..20)
    ) {
        let mut trace = Reader::new(text.as_slice()).next().expect("there is a trace").expect("it is a recording");
        for (step, argument, value) in changes {
            let index = step.index(trace.steps.len());
            let arguments = &mut trace.steps[index].arguments;
            let keys: Vec<String> = arguments.keys().cloned().chain(["flags".to_owned()]).collect();
            arguments.insert(argument.get(&keys).clone(), value);
        }
        let outcome = Player::play(&trace, &mut ObligingProcesses);
        prop_assert_eq!(outcome.steps, trace.steps.len());
        prop_assert_eq!(outcome.matched + outcome.mismatches.len(), trace.steps.len());
        prop_assert!(outcome.mismatches.iter().all(|mismatch| mismatch.to_string().starts_with("trace ")));
    }

    #[test]
    fn any_bytes_are_read_or_refused(text in vec(any::<u8>(), 0..200)) {
        prop_assert!(Reader::new(text.as_slice()).count() <= text.len());
    }
}
