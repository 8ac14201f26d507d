//! How steps and processes end.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use peermap_ipc::Exit;
use peermap_trace::{Got, PlayError, Signal, StepResult};

use crate::stage::{Instead, ThisExecutable, hasty_session, play, session, steps};

const CRASH: &str = r#"{"p": 0, "call": "cuMemRelease", "in": {"handle": "0xdead"}, "result": "SIGSEGV"}"#;
const ABORT: &str =
    r#"{"p": 0, "call": "cuMemMap", "in": {"ptr": "0x1", "size": 1, "handle": "0x1"}, "result": "SIGABRT"}"#;
const HANG: &str = r#"{"p": 0, "call": "cuCtxSynchronize", "in": {}, "result": "TIMEOUT"}"#;
const LEAVE: &str = r#"{"p": 0, "call": "cuMemUnmap", "in": {"ptr": "0x1", "size": 1}, "result": "CUDA_SUCCESS"}"#;
const REFUSED: &str = r#"{"p": 0, "call": "cuInit", "in": {}, "result": "CUDA_ERROR_NOT_SUPPORTED"}"#;
const OPEN: &str = r#"{"p": 0, "call": "open_fd", "in": {"kind": "null"}, "as": "f0", "result": "OK"}"#;
const CLOSE: &str = r#"{"p": 0, "call": "close_fd", "in": {"fd": "$f0"}, "result": "OK"}"#;
const SEND: &str = r#"{"p": 0, "call": "send", "in": {"value": "$f0", "to": 1}, "as": "g0", "result": "OK"}"#;
const EXIT: &str = r#"{"p": 0, "call": "exit", "in": {}, "result": "OK"}"#;
const KILL: &str = r#"{"p": 0, "call": "kill", "in": {}, "result": "OK"}"#;

fn real() -> ThisExecutable {
    ThisExecutable { is_real: true, ..ThisExecutable::default() }
}

pub fn a_crash_of_a_real_driver_matches_a_recorded_one() {
    let launch = real();
    let played = play(&mut session(&launch), &[REFUSED, CRASH]);
    assert!(matches!(played[..], [(_, true), (Got::Crashed(Signal::SIGSEGV), true)]), "{played:?}");
}

pub fn a_crash_of_a_simulator_never_matches() {
    let launch = ThisExecutable::default();
    let played = play(&mut session(&launch), &[CRASH]);
    assert!(matches!(played[..], [(Got::Died(Exit::Signal(11)), false)]), "{played:?}");
}

pub fn another_signal_has_its_own_name() {
    let launch = real();
    let played = play(&mut session(&launch), &[ABORT]);
    assert!(matches!(played[..], [(Got::Crashed(Signal::SIGABRT), true)]), "{played:?}");
    assert_eq!(played[0].0.to_string(), "SIGABRT");
}

pub fn a_step_that_hangs_ends_with_its_process() {
    let launch = real();
    let played = play(&mut hasty_session(&launch), &[HANG, REFUSED]);
    assert_eq!(played[0].0.result(), Some(StepResult::TimedOut));
    assert!(matches!(played[0], (Got::TimedOut { limit }, true) if limit == Duration::from_millis(300)), "{played:?}");
    assert!(matches!(played[1].0, Got::NotPlayed(PlayError::NotRunning { process: 0 })), "{played:?}");
}

pub fn a_process_that_ends_by_itself_gives_no_answer() {
    let launch = real();
    let played = play(&mut session(&launch), &[LEAVE]);
    assert!(matches!(played[..], [(Got::Died(Exit::Code(3)), false)]), "{played:?}");
    assert!(played[0].0.is_lost());
    assert_eq!(played[0].0.result(), None);
}

pub fn a_process_that_has_ended_makes_no_more_calls() {
    let launch = real();
    for end in [EXIT, KILL] {
        let played = play(&mut session(&launch), &[REFUSED, end, REFUSED]);
        assert!(matches!(played[..2], [(_, true), (_, true)]), "{played:?}");
        assert!(matches!(played[2].0, Got::NotPlayed(PlayError::NotRunning { process: 0 })), "{played:?}");
    }
}

pub fn a_process_that_cannot_open_its_driver_is_not_started() {
    let launch = ThisExecutable { instead: Some(Instead::Nothing), ..ThisExecutable::default() };
    let played = play(&mut session(&launch), &[REFUSED]);
    assert!(matches!(played[0].0, Got::NotPlayed(PlayError::Start { process: 0, .. })), "{played:?}");
    assert_eq!(played[0].0.to_string(), "no answer: process 0 could not be started: no driver");
    assert!(!played[0].0.is_lost(), "{played:?}");
}

pub fn a_process_that_dies_at_its_start_is_lost() {
    let launch = ThisExecutable { instead: Some(Instead::Death), ..ThisExecutable::default() };
    let played = play(&mut session(&launch), &[REFUSED]);
    let text = "no answer: process 0 could not be started: it ended at once: killed by SIGKILL";
    assert_eq!((played[0].0.to_string().as_str(), played[0].0.is_lost()), (text, true), "{played:?}");
}

pub fn a_process_that_does_not_start_in_time_is_lost() {
    let launch = ThisExecutable { instead: Some(Instead::Hang), ..ThisExecutable::default() };
    let begun = Instant::now();
    let played = play(&mut hasty_session(&launch), &[REFUSED]);
    assert!(matches!(played[0].0, Got::NotPlayed(PlayError::Start { process: 0, .. })), "{played:?}");
    assert!(played[0].0.is_lost() && begun.elapsed() < Duration::from_secs(30), "{played:?}");
}

pub fn the_descriptors_of_a_killed_process_are_closed_before_the_next_step() {
    let (mut ours, theirs) = UnixStream::pair().expect("sockets can be made");
    ours.set_nonblocking(true).expect("it is a socket");
    let launch = ThisExecutable::default();
    launch.watched.replace(Some(theirs.into()));
    let mut session = session(&launch);
    play(&mut session, &[REFUSED]);
    assert!(ours.read(&mut [0]).is_err(), "the process holds the other end");
    play(&mut session, &[KILL]);
    assert_eq!(ours.read(&mut [0]).expect("the other end has hung up"), 0);
}

pub fn a_sent_descriptor_outlives_its_sender_and_nobody_else_keeps_it() {
    let close = r#"{"p": 1, "call": "close_fd", "in": {"fd": "$g0"}, "result": "OK"}"#;
    let again = &close.replace("OK", "EBADF");
    let open = &OPEN.replace("null", "socket");
    let ours = || std::fs::read_dir("/proc/self/fd").expect("there is a list").count();
    let launch = ThisExecutable::default();
    let mut session = session(&launch);
    let second = r#"{"p": 1, "call": "cuInit", "in": {}, "result": "CUDA_ERROR_NOT_SUPPORTED"}"#;
    play(&mut session, &[REFUSED, second]);
    let before = ours();
    let played = play(&mut session, &[open, SEND]);
    assert!(played.iter().all(|(_, matches)| *matches), "{played:?}");
    assert_eq!(ours(), before);
    let played = play(&mut session, &[open, SEND, EXIT, close, again]);
    assert!(played.iter().all(|(_, matches)| *matches), "{played:?}");
}

pub fn a_closed_descriptor_reaches_the_driver_by_its_own_number() {
    let import = r#"{"p": 0, "call": "cuMemImportFromShareableHandle", "in": {"from": "$f0", "handle_type": "posix_fd"}, "as": "h0", "result": "CUDA_ERROR_UNKNOWN"}"#;
    let again = &CLOSE.replace("OK", "EBADF");
    let launch = ThisExecutable::default();
    let played = play(&mut session(&launch), &[OPEN, CLOSE, again, import]);
    assert!(played.iter().all(|(_, matches)| *matches), "{played:?}");
}

pub fn a_step_that_no_packet_holds_is_not_played() {
    let mut step = steps(&[REFUSED]).remove(0);
    step.arguments.insert("flags".to_owned(), "x".repeat(100_000).into());
    let launch = ThisExecutable::default();
    let mut session = session(&launch);
    let got = session.step(&step);
    assert!(matches!(got, Got::NotPlayed(PlayError::Unreachable { process: 0, .. })), "{got:?}");
    assert!(play(&mut session, &[REFUSED])[0].1, "the process goes on");
}

pub fn what_is_wrong_with_a_step_arrives_in_words() {
    let step = r#"{"p": 0, "call": "cuMemAlloc", "in": {"size": "much"}, "result": "CUDA_SUCCESS"}"#;
    let launch = ThisExecutable::default();
    let played = play(&mut session(&launch), &[step]);
    assert!(
        matches!(&played[0].0, Got::NotPlayed(PlayError::Elsewhere { why }) if why.contains("`size`")),
        "{played:?}"
    );
}
