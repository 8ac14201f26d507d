//! The calls as trace events, for chrome://tracing and <https://ui.perfetto.dev>.
//!
//! # Source
//! "Trace Event Format" of the Chromium project: the JSON object form, with complete (`X`), instant (`i`) and metadata (`M`)
//! events.

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use super::summary::microseconds;
use super::{Argument, CallRecord, LostCalls, ProcessCalls};

/// What a call that succeeds answers.
const SUCCESS: &str = "CUDA_SUCCESS";

/// The lines of a file that shows the calls of some processes on one time line. Each event is a line of its own, so that one
/// can search the file by lines.
///
/// Times count from the first call of all; `origin_ns` in the file is that moment on the clock of the host.
pub fn chrome_trace(processes: &[ProcessCalls]) -> impl Iterator<Item = String> {
    let origin =
        processes.iter().flat_map(|process| &process.calls).map(|call| call.start_ns).min().unwrap_or_default();
    let head = json!({ "clock": "CLOCK_MONOTONIC", "origin_ns": origin.to_string() });
    let head = format!(r#"{{"displayTimeUnit":"ns","otherData":{head},"traceEvents":["#);
    let mut separator = "";
    let events = (0..).zip(processes).flat_map(move |(index, process)| events(index, process, origin));
    let events = events.map(move |event| format!("{}{event}", std::mem::replace(&mut separator, ",")));
    std::iter::once(head).chain(events).chain(["]}".to_owned()])
}

fn events(index: u32, process: &ProcessCalls, origin: u64) -> impl Iterator<Item = String> {
    let pid = process.pid;
    let names =
        [("process_name", json!({ "name": process.name })), ("process_sort_index", json!({ "sort_index": index }))];
    let names = names.map(|(name, args)| json!({ "ph": "M", "name": name, "pid": pid, "tid": pid, "args": args }));
    let calls = process.calls.iter().map(move |call| complete(pid, call, origin));
    let lost = process.lost.as_ref().map(|lost| gone(pid, lost, origin));
    names.into_iter().map(|name| name.to_string()).chain(calls).chain(lost)
}

/// A call.
fn complete(pid: u32, call: &CallRecord, origin: u64) -> String {
    let event = Complete {
        ph: "X",
        name: &call.call,
        cat: if call.error.is_some() { "driver,refused" } else { "driver" },
        pid,
        tid: call.thread,
        ts: microseconds(call.start_ns.saturating_sub(origin)),
        dur: microseconds(call.duration_ns),
        args: Args(call),
    };
    serde_json::to_string(&event).expect("all keys are texts, which is the only thing that could fail")
}

/// A process that took its calls with it.
fn gone(pid: u32, lost: &LostCalls, origin: u64) -> String {
    let ts = microseconds(lost.at_ns.saturating_sub(origin));
    let args = json!({ "reason": lost.how });
    json!({ "ph": "i", "name": "calls lost", "cat": "driver", "s": "p", "pid": pid, "tid": pid, "ts": ts, "args": args })
        .to_string()
}

#[derive(serde::Serialize)]
struct Complete<'a> {
    ph: &'static str,
    name: &'a str,
    cat: &'static str,
    pid: u32,
    tid: u32,
    ts: f64,
    dur: f64,
    args: Args<'a>,
}

/// The arguments of a call by name, and behind them its result.
struct Args<'a>(&'a CallRecord);

impl Serialize for Args<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(call) = self;
        let mut map = serializer.serialize_map(None)?;
        for (name, argument) in &call.arguments {
            map.serialize_entry(name, &Shown(argument))?;
        }
        match &call.error {
            None => map.serialize_entry("result", SUCCESS)?,
            Some(error) => {
                map.serialize_entry("result", &error.result)?;
                map.serialize_entry("rule", &error.rule)?;
                map.serialize_entry("message", &error.message)?;
            }
        }
        map.end()
    }
}

struct Shown<'a>(&'a Argument);

impl Serialize for Shown<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Argument::Number(number) => serializer.serialize_i128(*number),
            Argument::Hex(number) => serializer.collect_str(&format_args!("{number:#x}")),
            Argument::Text(text) => serializer.serialize_str(text),
            Argument::List(values) => serializer.collect_seq(values.iter().map(Shown)),
            Argument::Fields(fields) => serializer.collect_map(fields.iter().map(|(name, value)| (name, Shown(value)))),
            Argument::None => Value::Null.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::{parent, worker};
    use super::*;

    fn parsed(processes: &[ProcessCalls]) -> Value {
        serde_json::from_str(&chrome_trace(processes).collect::<Vec<_>>().join("\n")).unwrap()
    }

    #[test]
    fn every_process_has_its_name_and_its_place() {
        let trace = parsed(&[parent(), worker()]);
        let named: Vec<_> =
            trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "M").collect();
        assert_eq!(
            named,
            [
                &json!({ "ph": "M", "name": "process_name", "pid": 4711, "tid": 4711, "args": { "name": "parent" } }),
                &json!({ "ph": "M", "name": "process_sort_index", "pid": 4711, "tid": 4711, "args": { "sort_index": 0 } }),
                &json!({
                    "ph": "M", "name": "process_name", "pid": 4712, "tid": 4712, "args": { "name": "worker 0 (device 0)" }
                }),
                &json!({ "ph": "M", "name": "process_sort_index", "pid": 4712, "tid": 4712, "args": { "sort_index": 1 } }),
            ]
        );
    }

    #[test]
    fn a_call_has_its_times_in_fractions_of_microseconds_from_the_first_call_of_all() {
        let trace = parsed(&[worker(), parent()]);
        let times = |event: &Value| (event["pid"].as_u64().unwrap(), event["ts"].as_f64(), event["dur"].as_f64());
        let calls = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == "X");
        assert_eq!(
            calls.map(times).collect::<Vec<_>>(),
            [(4712, Some(0.5), Some(0.7)), (4712, Some(2.345), Some(0.01)), (4711, Some(0.0), Some(1.5))]
        );
        assert_eq!(trace["otherData"], json!({ "clock": "CLOCK_MONOTONIC", "origin_ns": "5000000000" }));
    }

    #[test]
    fn a_call_has_its_arguments_and_its_result() {
        let lines: Vec<String> = chrome_trace(&[worker()]).collect();
        assert!(lines[3].ends_with(r#""args":{"result":"CUDA_SUCCESS"}}"#), "{}", lines[3]);
        let refused = concat!(
            r#",{"ph":"X","name":"cuMemMap","cat":"driver,refused","pid":4712,"tid":4712,"ts":1.845,"dur":0.01,"#,
            r#""args":{"ptr":"0x200000","size":4194304,"stream":null,"location":{"id":-1},"peers":[1,2],"#,
            r#""result":"CUDA_ERROR_INVALID_VALUE","rule":"MAP-7","message":"a mapping may not overlap another"}}"#
        );
        assert_eq!(lines[4], refused);
    }

    #[test]
    fn a_process_that_took_calls_with_it_says_so() {
        let lines: Vec<String> = chrome_trace(&[worker()]).collect();
        let gone: Value = serde_json::from_str(lines[5].trim_start_matches(',')).unwrap();
        assert_eq!((&gone["ph"], &gone["name"], &gone["ts"]), (&"i".into(), &"calls lost".into(), &8.5.into()));
        assert_eq!(gone["args"]["reason"], "killed by SIGKILL");
    }

    #[test]
    fn no_processes_are_a_file_too() {
        assert_eq!(parsed(&[])["traceEvents"], json!([]));
    }
}
