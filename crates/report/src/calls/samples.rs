//! Calls to test with.

use super::{Argument, CallError, CallRecord, LostCalls, ProcessCalls};

/// A call without arguments that succeeds.
pub(crate) fn call(name: &str, start_ns: u64, duration_ns: u64) -> CallRecord {
    CallRecord { call: name.to_owned(), thread: 4712, start_ns, duration_ns, arguments: Vec::new(), error: None }
}

/// The calls of a parent, which began earlier than its worker's.
pub(crate) fn parent() -> ProcessCalls {
    let calls = vec![call("cuInit", 5_000_000_000, 1_500)];
    ProcessCalls { pid: 4711, name: "parent".to_owned(), calls, lost: None }
}

/// The calls of a worker whose last one was refused, and which took others with it.
pub(crate) fn worker() -> ProcessCalls {
    let refused = CallRecord {
        arguments: vec![
            ("ptr".to_owned(), Argument::Hex(0x20_0000)),
            ("size".to_owned(), Argument::Number(4 << 20)),
            ("stream".to_owned(), Argument::None),
            ("location".to_owned(), Argument::Fields(vec![("id".to_owned(), Argument::Number(-1))])),
            ("peers".to_owned(), Argument::List(vec![Argument::Number(1), Argument::Number(2)])),
        ],
        error: Some(CallError {
            result: Some("CUDA_ERROR_INVALID_VALUE".to_owned()),
            rule: Some("MAP-7".to_owned()),
            message: "a mapping may not overlap another".to_owned(),
        }),
        ..call("cuMemMap", 5_000_002_345, 10)
    };
    let calls = vec![call("cuInit", 5_000_000_500, 700), refused];
    let lost = Some(LostCalls { at_ns: 5_000_009_000, how: "killed by SIGKILL".to_owned() });
    ProcessCalls { pid: 4712, name: "worker 0 (device 0)".to_owned(), calls, lost }
}
