//! Each way in which a text is no list of traces, with its place.

#[expect(dead_code, reason = "each test uses a part")]
mod support;

use std::io::{self, BufReader, Read};

use peermap_trace::{MAX_LINE, ReadError, Reader};
use support::{HEADER, read, with_header};

fn error(text: &str) -> (String, ReadError) {
    let error = read(text).expect_err("the text is wrong");
    (error.at().to_string(), error)
}

/// The error of a single step after a good header.
fn step_error(step: &str) -> (String, ReadError) {
    error(&with_header(&[step]))
}

macro_rules! assert_error {
    ($found:expr, $place:literal, $pattern:pat $(if $guard:expr)?) => {
        let (place, error) = $found;
        assert_eq!(place, $place, "{error}");
        assert!(matches!(&error, $pattern $(if $guard)?), "{error:?}");
        assert!(error.to_string().starts_with(concat!($place, ": ")), "{error}");
    };
}

const STEP: &str = r#"{"p": 0, "call": "cuInit", "in": {}, "result": "CUDA_SUCCESS"}"#;
const CREATE: &str = r#"{"p": 0, "call": "cuMemCreate", "in": {"size": 1}, "as": "h0", "result": "CUDA_SUCCESS"}"#;
const FAILED_CREATE: &str =
    r#"{"p": 0, "call": "cuMemCreate", "in": {"size": 1}, "as": "h0", "result": "CUDA_ERROR_INVALID_VALUE"}"#;
const RELEASE: &str = r#"{"p": 0, "call": "cuMemRelease", "in": {"handle": "$h0"}, "result": "CUDA_SUCCESS"}"#;

#[test]
fn a_line_that_is_no_json() {
    assert_error!(step_error(r#"{"p": 0, call: 1}"#), "line 2, column 10", ReadError::NotJson { .. });
}

#[test]
fn an_object_that_has_a_key_twice() {
    let found = step_error(r#"{"p": 0, "call": "cuInit", "in": {"flags": 0, "flags": 1}, "result": "CUDA_SUCCESS"}"#);
    let said = |source: &serde_json::Error| source.to_string().contains("`flags` is there twice");
    assert_error!(found, "line 2, column 53", ReadError::NotJson { source, .. } if said(source));
}

#[test]
fn a_line_that_nests_too_deep_is_refused_and_not_followed() {
    let deep = "[".repeat(100_000);
    assert_error!(step_error(&deep), "line 2, column 128", ReadError::NotJson { .. });
}

#[test]
fn a_truncated_line() {
    assert_error!(
        error(&format!("{HEADER}\n{STEP}\n{{\"p\": 0, \"ca")),
        "line 3, column 12",
        ReadError::Truncated { .. }
    );
}

#[test]
fn a_line_that_is_no_utf8() {
    let text = [HEADER.as_bytes(), b"\n{\"p\": \"\xff\"}\n"].concat();
    let error = Reader::new(text.as_slice()).next().expect("there is a trace").expect_err("it is wrong");
    assert_error!((error.at().to_string(), error), "line 2, column 8", ReadError::NotUtf8 { .. });
}

#[test]
fn a_text_that_cannot_be_read() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let text = HEADER.as_bytes().chain(&b"\n"[..]).chain(Broken);
    let error = Reader::new(BufReader::new(text)).next().expect("there is a trace").expect_err("it is broken");
    assert_error!((error.at().to_string(), error), "line 2, column 1", ReadError::Io { .. });
}

#[test]
fn steps_without_a_header() {
    assert_error!(error(&format!("\n  {STEP}")), "line 2, column 3", ReadError::NoHeader { .. });
}

#[test]
fn another_version() {
    let text = HEADER.replace("\"trace\": 1", "\"trace\": 2");
    assert_error!(error(&text), "line 1, column 11", ReadError::WrongVersion { found, .. } if found == "2");
}

#[test]
fn an_unknown_call() {
    assert_error!(
        step_error(r#"{"p": 0, "call": "cuMemMop", "in": {}, "result": "CUDA_SUCCESS"}"#),
        "line 2, column 18",
        ReadError::UnknownCall { call, .. } if call == "cuMemMop"
    );
}

#[test]
fn a_driver_call_that_traces_do_not_use() {
    assert_error!(
        step_error(r#"{"p": 0, "call": "cuMemHostAlloc", "in": {}, "result": "CUDA_SUCCESS"}"#),
        "line 2, column 18",
        ReadError::UnknownCall { call, .. } if call == "cuMemHostAlloc"
    );
}

#[test]
fn an_unknown_result() {
    assert_error!(
        step_error(r#"{"p": 0, "call": "cuInit", "in": {}, "result": "CUDA_FINE"}"#),
        "line 2, column 48",
        ReadError::UnknownResult { result, call: "cuInit", .. } if result == "CUDA_FINE"
    );
}

#[test]
fn a_result_of_the_wrong_kind_of_call() {
    assert_error!(
        step_error(r#"{"p": 0, "call": "exit", "in": {}, "result": "CUDA_SUCCESS"}"#),
        "line 2, column 46",
        ReadError::UnknownResult { call: "exit", .. }
    );
}

#[test]
fn a_missing_key() {
    assert_error!(
        step_error(r#"  {"p": 0, "call": "cuInit", "result": "CUDA_SUCCESS"}"#),
        "line 2, column 3",
        ReadError::MissingKey { key: "in", .. }
    );
}

#[test]
fn a_missing_key_of_an_inner_object() {
    assert_error!(
        error(&HEADER.replace("\"gpus\": 1, ", "")),
        "line 1, column 54",
        ReadError::MissingKey { key: "gpus", .. }
    );
}

#[test]
fn a_send_without_a_name_for_the_receiver() {
    let send = r#"{"p": 0, "call": "send", "in": {"value": "$h0", "to": 1}, "result": "OK"}"#;
    assert_error!(error(&with_header(&[CREATE, send])), "line 3, column 1", ReadError::MissingKey { key: "as", .. });
}

#[test]
fn a_send_without_a_receiver() {
    let send = r#"{"p": 0, "call": "send", "in": {"value": "$h0"}, "as": "g0", "result": "OK"}"#;
    assert_error!(error(&with_header(&[CREATE, send])), "line 3, column 32", ReadError::MissingKey { key: "to", .. });
}

#[test]
fn a_key_that_the_version_does_not_have() {
    assert_error!(
        step_error(r#"{"p": 0, "call": "cuInit", "in": {}, "result": "CUDA_SUCCESS", "outt": {}}"#),
        "line 2, column 72",
        ReadError::UnknownKey { key, .. } if key == "outt"
    );
}

#[test]
fn a_line_that_is_no_object() {
    assert_error!(
        step_error("[1]"),
        "line 2, column 1",
        ReadError::WrongType { what: "line", expected: "an object", .. }
    );
}

#[test]
fn a_process_that_is_no_number() {
    assert_error!(
        step_error(r#"{"p": -1, "call": "cuInit", "in": {}, "result": "CUDA_SUCCESS"}"#),
        "line 2, column 7",
        ReadError::WrongType { what: "p", .. }
    );
}

#[test]
fn arguments_that_are_no_object() {
    assert_error!(
        step_error(r#"{"p": 0, "call": "cuInit", "in": [], "result": "CUDA_SUCCESS"}"#),
        "line 2, column 34",
        ReadError::WrongType { what: "in", .. }
    );
}

#[test]
fn a_reference_to_an_unknown_name() {
    assert_error!(
        step_error(RELEASE),
        "line 2, column 51",
        ReadError::UnknownName { name, .. } if name == "h0"
    );
}

#[test]
fn a_reference_deep_in_the_arguments_is_found() {
    let launch = r#"{"p": 0, "call": "cuLaunchKernel", "in": {"args": [["i32", 1], ["ptr", "$v+1"]]}, "result": "CUDA_SUCCESS"}"#;
    assert_error!(step_error(launch), "line 2, column 72", ReadError::UnknownName { name, .. } if name == "v");
}

#[test]
fn a_reference_in_what_was_returned() {
    let range = r#"{"p": 0, "call": "cuMemGetAddressRange", "in": {"ptr": "0x1"}, "result": "CUDA_SUCCESS", "out": {"base": "$v0+0"}}"#;
    assert_error!(step_error(range), "line 2, column 106", ReadError::UnknownName { name, .. } if name == "v0");
}

#[test]
fn names_do_not_reach_into_the_next_trace() {
    let text = with_header(&[CREATE, HEADER, RELEASE, HEADER, CREATE]);
    let mut traces = Reader::new(text.as_bytes());
    assert_eq!(traces.next().expect("the first trace").expect("it is right").steps.len(), 1);
    let error = traces.next().expect("the second trace").expect_err("it is wrong");
    assert!(matches!(error, ReadError::UnknownName { .. }), "{error}");
    assert!(traces.next().is_none(), "an error ends the reader");
}

#[test]
fn a_reference_to_the_value_of_a_call_that_failed() {
    assert_error!(
        error(&with_header(&[FAILED_CREATE, RELEASE])),
        "line 3, column 51",
        ReadError::NoValue { name, defined: 2, .. } if name == "h0"
    );
}

#[test]
fn a_reference_to_a_value_of_another_process() {
    let elsewhere = RELEASE.replace("\"p\": 0", "\"p\": 1");
    assert_error!(
        error(&with_header(&[CREATE, &elsewhere])),
        "line 3, column 51",
        ReadError::ForeignName { name, lives_in: 0, used_by: 1, .. } if name == "h0"
    );
}

#[test]
fn what_was_sent_lives_with_the_receiver() {
    let send = r#"{"p": 0, "call": "send", "in": {"value": "$h0", "to": 1}, "as": "g0", "result": "OK"}"#;
    let close = r#"{"p": 0, "call": "close_fd", "in": {"fd": "$g0"}, "result": "OK"}"#;
    assert_error!(
        error(&with_header(&[CREATE, send, close])),
        "line 4, column 43",
        ReadError::ForeignName { lives_in: 1, used_by: 0, .. }
    );
    let right = close.replace("\"p\": 0", "\"p\": 1");
    assert_eq!(read(&with_header(&[CREATE, send, &right])).expect("it is right")[0].steps.len(), 3);
}

#[test]
fn a_name_that_is_given_twice() {
    assert_error!(
        error(&with_header(&[FAILED_CREATE, CREATE])),
        "line 3, column 58",
        ReadError::DuplicateName { name, defined: 2, .. } if name == "h0"
    );
}

#[test]
fn a_malformed_name() {
    assert_error!(
        step_error(&CREATE.replace("h0", "h+0")),
        "line 2, column 58",
        ReadError::BadName { name, .. } if name == "h+0"
    );
}

#[test]
fn a_malformed_reference() {
    assert_error!(
        step_error(&RELEASE.replace("$h0", "$h0*2")),
        "line 2, column 51",
        ReadError::BadReference { text, .. } if text == "$h0*2"
    );
}

#[test]
fn a_text_without_traces_is_no_error() {
    assert_eq!(read("\n\n").expect("it is right"), []);
    assert_eq!(read("").expect("it is right"), []);
}

#[test]
fn a_trace_may_have_no_steps_and_its_last_line_no_end() {
    let traces = read(&format!("{HEADER}\n{HEADER}")).expect("it is right");
    assert_eq!(traces.iter().map(|trace| (trace.line, trace.steps.len())).collect::<Vec<_>>(), [(1, 0), (2, 0)]);
}

#[test]
fn a_line_without_an_end_is_refused_before_it_fills_the_memory() {
    let text = "x".repeat(3 * MAX_LINE);
    let error = read(&text).expect_err("it is no line of a trace");
    assert!(matches!(error, ReadError::LineTooLong { most: MAX_LINE, .. }), "{error}");
    assert_eq!((error.at().line, error.at().column), (1, MAX_LINE + 1));
}

#[test]
fn a_line_of_the_greatest_length_is_read() {
    let padding = " ".repeat(MAX_LINE - HEADER.len() - 1);
    let text = format!("{},{padding}{}\n", &HEADER[..11], &HEADER[12..]);
    assert_eq!(text.len(), MAX_LINE);
    assert_eq!(read(&text).expect("it is a header").len(), 1);
}
