//! Calls as the parent keeps them.

use peermap_driver::{CuResult, DriverError, Value};
use peermap_ipc::Exit;
use peermap_ipc::clock::monotonic_ns;
use peermap_report::calls::{Argument, CallError, CallRecord, LostCalls};

use super::recorder::{CallRecorder, Noted};

impl CallRecorder {
    /// Takes the calls that have returned. The words are made only here, after all work is done.
    pub(crate) fn records(&self) -> Vec<CallRecord> {
        self.take().into_iter().filter_map(record).collect()
    }
}

fn record(noted: Noted) -> Option<CallRecord> {
    let Noted { call, thread, start_ns, end_ns, arguments, error } = noted;
    Some(CallRecord {
        call: call.name().to_owned(),
        thread,
        start_ns,
        duration_ns: end_ns?.saturating_sub(start_ns),
        arguments: fields(arguments),
        error: error.as_ref().map(call_error),
    })
}

fn fields(values: Vec<(&'static str, Value)>) -> Vec<(String, Argument)> {
    values.into_iter().map(|(name, value)| (name.to_owned(), argument(value))).collect()
}

fn argument(value: Value) -> Argument {
    match value {
        Value::Number(number) => Argument::Number(number),
        Value::Bytes(bytes) => Argument::Number(i128::from(bytes)),
        // Readers take numbers for floating-point ones, which are not exact where addresses are.
        Value::Address(_) | Value::Handle(_) => Argument::Text(value.to_string()),
        Value::Text(text) => Argument::Text(text),
        Value::List(values) => Argument::List(values.into_iter().map(argument).collect()),
        Value::Fields(values) => Argument::Fields(fields(values)),
        Value::None => Argument::None,
    }
}

fn call_error(error: &DriverError) -> CallError {
    CallError {
        result: error.result().map(CuResult::name),
        rule: error.rule().map(|rule| rule.to_string()),
        message: error.to_string(),
    }
}

/// A call whose arguments do not fit a message.
pub(crate) fn without_arguments(call: &CallRecord) -> CallRecord {
    let left_out = Argument::Text("left out, they are too long".to_owned());
    CallRecord { arguments: vec![("arguments".to_owned(), left_out)], ..call.clone() }
}

/// What the parent has heard of a worker's calls.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    calls: Vec<CallRecord>,
    /// Whether these are all.
    complete: bool,
}

impl Heard {
    /// Takes some in; `last`: they are the last ones.
    pub(crate) fn add(&mut self, mut calls: Vec<CallRecord>, last: bool) {
        self.calls.append(&mut calls);
        self.complete |= last;
    }

    /// The calls of a worker that has ended, and what is missing.
    pub(crate) fn end(&self, how: Option<Exit>) -> (Vec<CallRecord>, Option<LostCalls>) {
        let how = || how.map_or_else(|| "the process did not end".to_owned(), |how| how.to_string());
        let lost = (!self.complete).then(|| LostCalls { at_ns: monotonic_ns(), how: how() });
        (self.calls.clone(), lost)
    }
}

#[cfg(test)]
mod tests {
    use peermap_driver::{AccessDesc, Argument as _, Call, DevicePtr, Explanation, Interceptor, RuleId};

    use super::*;

    #[test]
    fn arguments_keep_their_form_and_addresses_are_texts() {
        let recorder = CallRecorder::new(true);
        let arguments = || {
            vec![
                ("ptr", DevicePtr::new(0x20_0000).value()),
                ("size", Value::Bytes(4 << 20)),
                ("handle", Value::None),
                ("access", [AccessDesc::read_write(1)].as_slice().value()),
            ]
        };
        recorder.before(Call::cuMemSetAccess, &arguments).unwrap();
        recorder.after(Call::cuMemSetAccess, None);
        let [call] = <[CallRecord; 1]>::try_from(recorder.records()).unwrap();
        let shown: Vec<&Argument> = call.arguments.iter().map(|(_, argument)| argument).collect();
        assert_eq!(shown[0], &Argument::Text("0x200000".to_owned()));
        assert_eq!(shown[1], &Argument::Number(4 << 20));
        assert_eq!(shown[2], &Argument::None);
        assert!(matches!(shown[3], Argument::List(list) if matches!(list[..], [Argument::Fields(_)])), "{shown:?}");
    }

    #[test]
    fn an_error_keeps_code_rule_and_words() {
        let rule = RuleId("MAP-3");
        let explanation = Explanation { rule, sentence: "the size is not zero", facts: Vec::new(), earlier: None };
        let error = DriverError::Refused { result: CuResult::INVALID_VALUE, explanation: Some(Box::new(explanation)) };
        let told = call_error(&error);
        assert_eq!((told.result.as_deref(), told.rule.as_deref()), (Some("CUDA_ERROR_INVALID_VALUE"), Some("MAP-3")));
        assert!(told.message.contains("the size is not zero"), "{}", told.message);
        assert_eq!(call_error(&DriverError::NotModelled { what: "a cubin".to_owned() }).result, None);
    }

    #[test]
    fn a_call_that_has_not_returned_is_left_out() {
        let recorder = CallRecorder::new(true);
        recorder.before(Call::cuStreamSynchronize, &Vec::new).unwrap();
        assert_eq!(recorder.records(), []);
    }

    #[test]
    fn calls_are_lost_unless_the_worker_sent_its_last_ones() {
        let mut heard = Heard::default();
        heard.add(Vec::new(), false);
        assert_eq!(heard.end(Some(Exit::Signal(9))).1.unwrap().how, "killed by SIGKILL");
        heard.add(Vec::new(), true);
        assert_eq!(heard.end(Some(Exit::Code(1))).1, None);
    }
}
