//! The recordings are traces of the format.

#[expect(dead_code, reason = "each test uses a part")]
mod support;

use std::collections::HashSet;

use peermap_trace::{Got, Lines, Mismatch, Needs, Outcome, PlayError, Player, StepResult, Trace, TraceLine, Writer};
use support::obliging::ObligingProcesses;
use support::{FILES, fixture, read};

fn all() -> Vec<(&'static str, Vec<Trace>)> {
    let read_file = |name| read(&fixture(name)).unwrap_or_else(|error| panic!("{name}.jsonl: {error}"));
    FILES.into_iter().map(|name| (name, read_file(name))).collect()
}

#[test]
fn every_recording_reads_with_the_counts_of_its_index() {
    let counts: Vec<_> = all()
        .iter()
        .map(|(name, traces)| (*name, traces.len(), traces.iter().map(|trace| trace.steps.len()).sum::<usize>()))
        .collect();
    assert_eq!(
        counts,
        [
            ("vmm", 41, 811),
            ("share", 15, 263),
            ("legacy", 13, 167),
            ("peer", 9, 149),
            ("edges", 12, 208),
            ("inflight", 7, 82),
            ("random_1", 100, 2664),
            ("random_2", 50, 1528),
            ("random_peer", 50, 1478),
        ]
    );
    assert_eq!(counts.iter().map(|(_, traces, _)| traces).sum::<usize>(), 297);
    assert_eq!(counts.iter().map(|(_, _, steps)| steps).sum::<usize>(), 7350);
}

#[test]
fn headers_and_steps_have_what_their_lines_say() {
    let traces = read(&fixture("share")).expect("the recording reads");
    let first = &traces[0];
    assert_eq!((first.header.name.as_str(), first.line), ("export-args", 1));
    assert_eq!(first.header.needs, Needs { devices: 1 });
    assert_eq!(first.header.machine.model, "NVIDIA H200");
    assert_eq!(first.header.machine.link.as_deref(), Some("NVLink NV18"));

    let closed_twice = &first.steps[11];
    assert_eq!((closed_twice.line, closed_twice.process, closed_twice.call.name()), (13, 0, "close_fd"));
    assert_eq!(closed_twice.arguments["fd"], "$f0");
    assert_eq!(closed_twice.result.to_string(), "EBADF");
    assert_eq!((&closed_twice.name, &closed_twice.out), (&None, &None));

    let second = &traces[1];
    assert_eq!(second.line, first.steps.last().expect("it has steps").line + 1);
}

#[test]
fn names_of_traces_are_unique() {
    let recordings = all();
    let names: HashSet<&str> =
        recordings.iter().flat_map(|(_, traces)| traces).map(|trace| trace.header.name.as_str()).collect();
    assert_eq!(names.len(), 297);
}

#[test]
fn three_steps_crashed_the_driver() {
    let recordings = all();
    let steps = recordings.iter().flat_map(|(_, traces)| traces).flat_map(|trace| &trace.steps);
    assert_eq!(steps.filter(|step| step.result == StepResult::SegmentationFault).count(), 3);
}

#[test]
fn every_recording_is_written_as_it_was_read_byte_for_byte() {
    for name in FILES {
        let text = fixture(name);
        let mut written = Vec::new();
        let mut writer = Writer::new(&mut written);
        read(&text).expect("it reads").iter().for_each(|trace| writer.trace(trace).expect("memory takes it"));
        assert!(written == text.as_bytes(), "{name}.jsonl is written differently");
    }
}

#[test]
fn reading_line_by_line_gives_the_same_steps() {
    let text = fixture("share");
    let lines: Vec<TraceLine> = Lines::new(text.as_bytes()).collect::<Result<_, _>>().expect("it reads");
    let whole = read(&text).expect("it reads").into_iter().flat_map(|trace| {
        let header = TraceLine::Header { header: trace.header, line: trace.line };
        std::iter::once(header).chain(trace.steps.into_iter().map(TraceLine::Step))
    });
    assert_eq!(lines, whole.collect::<Vec<_>>());
}

/// What comes of all recordings on a driver that grants every call.
fn obliging_outcome() -> Outcome {
    all().iter().flat_map(|(_, traces)| traces).map(|trace| Player::play(trace, &mut ObligingProcesses)).sum()
}

fn why_not_played(mismatch: &Mismatch) -> Option<&PlayError> {
    match &mismatch.got {
        Got::NotPlayed(error) => Some(error),
        _ => None,
    }
}

#[test]
fn every_step_can_be_played_but_those_whose_call_the_trait_lacks() {
    let outcome = obliging_outcome();
    let (lacking, wrong): (Vec<&Mismatch>, Vec<&Mismatch>) = outcome
        .mismatches
        .iter()
        .filter(|mismatch| why_not_played(mismatch).is_some())
        .partition(|mismatch| matches!(why_not_played(mismatch), Some(PlayError::NotPlayable { .. })));
    assert!(lacking.iter().all(|mismatch| mismatch.call.driver_call().is_none()), "{lacking:?}");

    // What such a step would have named is missing afterwards.
    let traces_that_lack: HashSet<&str> = lacking.iter().map(|mismatch| mismatch.trace.as_str()).collect();
    let unexplained: Vec<String> = wrong
        .iter()
        .filter(|mismatch| !matches!(why_not_played(mismatch), Some(PlayError::NoValue { .. })))
        .chain(wrong.iter().filter(|mismatch| !traces_that_lack.contains(mismatch.trace.as_str())))
        .map(ToString::to_string)
        .collect();
    assert_eq!(unexplained, [""; 0]);
}

#[test]
fn steps_outside_the_driver_end_as_recorded() {
    let outcome = obliging_outcome();
    let wrong: Vec<String> = outcome
        .mismatches
        .iter()
        .filter(|mismatch| mismatch.call.os_step().is_some() && why_not_played(mismatch).is_none())
        .map(ToString::to_string)
        .collect();
    assert_eq!(wrong, [""; 0]);
}
