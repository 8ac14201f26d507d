//! The reader and the writer under bytes that a fuzzer makes up. As a plain test it runs for a fixed number of inputs;
//! under `cargo bolero test` it goes on for ever.

use bolero::check;
use peermap_trace::{Lines, Reader, Step, Trace, Writer};

const SEED: &[u8] = include_bytes!("../../../fixtures/traces/edges.jsonl");

#[test]
fn any_bytes_are_read_or_refused() {
    check!().for_each(|text: &[u8]| {
        let lines = Lines::new(text).map_while(Result::ok).count();
        let steps: usize = Reader::new(text).map_while(Result::ok).map(|trace| 1 + trace.steps.len()).sum();
        assert!(steps <= lines);
    });
}

#[test]
fn a_recording_with_any_bytes_in_it_is_read_or_refused() {
    check!().with_type::<(u16, u8, Vec<u8>)>().for_each(|(at, removed, inserted)| {
        let mut text = SEED[..8 * 1024].to_vec();
        let at = usize::from(*at) % text.len();
        let end = (at + usize::from(*removed)).min(text.len());
        text.splice(at..end, inserted.iter().copied());
        let lines = text.split(|byte| *byte == b'\n').count() as u64;
        let error = Reader::new(text.as_slice()).find_map(Result::err);
        assert!(error.is_none_or(|error| (1..=lines).contains(&error.at().line)));
    });
}

#[test]
fn what_is_read_is_written_so_that_it_reads_the_same() {
    check!().with_type::<(u16, Vec<u8>)>().for_each(|(at, inserted)| {
        let mut text = SEED[..8 * 1024].to_vec();
        let at = usize::from(*at) % text.len();
        text.splice(at..at, inserted.iter().copied());
        let read: Vec<_> = Reader::new(text.as_slice()).map_while(Result::ok).collect();
        let mut written = Vec::new();
        let mut writer = Writer::new(&mut written);
        read.iter().for_each(|trace| writer.trace(trace).expect("memory takes it"));
        let again: Vec<_> = Reader::new(written.as_slice()).map(|trace| trace.expect("it was written")).collect();
        assert_eq!(
            again.iter().map(without_lines).collect::<Vec<_>>(),
            read.iter().map(without_lines).collect::<Vec<_>>()
        );
    });
}

/// Blank lines are passed over, so what is written has other line numbers.
fn without_lines(trace: &Trace) -> Trace {
    let steps = trace.steps.iter().map(|step| Step { line: 0, ..step.clone() }).collect();
    Trace { line: 0, steps, ..trace.clone() }
}
