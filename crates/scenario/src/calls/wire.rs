//! Calls on their way to the parent.
//!
//! A worker only writes its notes down one behind the other, by reference, and the parent makes records of them after the
//! run: whatever takes time is done when it no longer matters.

use peermap_driver::{CuResult, DriverError, Value};
use peermap_report::calls::{CallError, CallRecord};
use serde::{Serialize, Serializer};

use super::arrived::Arrived;
use super::recorder::{CallRecorder, Noted};

impl CallRecorder {
    /// Takes the calls that have returned, as bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let noted = self.take();
        let write = |bytes, call| postcard::to_extend(&call, bytes).expect("a call is plain data");
        noted.iter().filter_map(Sent::of).fold(Vec::new(), write)
    }

    /// Takes the calls that have returned, as records.
    pub(crate) fn records(&self) -> Vec<CallRecord> {
        read(&self.bytes())
    }
}

/// The calls in some bytes, up to the first that is not whole.
pub(super) fn read(mut bytes: &[u8]) -> Vec<CallRecord> {
    let next = || {
        let (call, rest) = postcard::take_from_bytes::<Arrived>(bytes).ok()?;
        bytes = rest;
        Some(call.into())
    };
    std::iter::from_fn(next).collect()
}

/// A call that has returned, with the fields of an [`Arrived`].
#[derive(Serialize)]
struct Sent<'a> {
    call: &'static str,
    thread: u32,
    start_ns: u64,
    duration_ns: u64,
    arguments: Fields<'a>,
    error: Option<CallError>,
}

impl<'a> Sent<'a> {
    fn of(noted: &'a Noted) -> Option<Self> {
        Some(Self {
            call: noted.call.name(),
            thread: noted.thread,
            start_ns: noted.start_ns,
            duration_ns: noted.end_ns?.saturating_sub(noted.start_ns),
            arguments: Fields(&noted.arguments),
            error: noted.error.as_ref().map(call_error),
        })
    }
}

fn call_error(error: &DriverError) -> CallError {
    CallError {
        result: error.result().map(CuResult::name),
        rule: error.rule().map(|rule| rule.to_string()),
        message: error.to_string(),
    }
}

/// Values with names.
struct Fields<'a>(&'a [(&'static str, Value)]);

impl Serialize for Fields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|(name, value)| (name, One(value))))
    }
}

/// A value as an [`Argument`](peermap_report::calls::Argument).
struct One<'a>(&'a Value);

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NAME: &str = "Argument";
        match self.0 {
            Value::Number(number) => serializer.serialize_newtype_variant(NAME, 0, "Number", number),
            Value::Bytes(bytes) => serializer.serialize_newtype_variant(NAME, 0, "Number", &i128::from(*bytes)),
            Value::Address(value) | Value::Handle(value) => serializer.serialize_newtype_variant(NAME, 1, "Hex", value),
            Value::Text(text) => serializer.serialize_newtype_variant(NAME, 2, "Text", text),
            Value::List(values) => serializer.serialize_newtype_variant(NAME, 3, "List", &Several(values)),
            Value::Fields(values) => serializer.serialize_newtype_variant(NAME, 4, "Fields", &Fields(values)),
            Value::None => serializer.serialize_unit_variant(NAME, 5, "None"),
        }
    }
}

/// Values without names.
struct Several<'a>(&'a [Value]);

impl Serialize for Several<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(One))
    }
}

#[cfg(test)]
mod tests {
    use peermap_driver::{Call, Explanation, Interceptor, RuleId};
    use peermap_report::calls::Argument;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    /// A recorder that has seen one call.
    fn recorder(arguments: Vec<(&'static str, Value)>, error: Option<&DriverError>) -> CallRecorder {
        let recorder = CallRecorder::new(true);
        recorder.before(Call::cuMemMap, &|| arguments.clone()).unwrap();
        recorder.after(Call::cuMemMap, error);
        recorder
    }

    #[test]
    fn every_kind_of_argument_arrives_as_what_it_is() {
        let number = Value::Number(-1);
        let kinds = [
            (number.clone(), Argument::Number(-1)),
            (Value::Bytes(4 << 20), Argument::Number(4 << 20)),
            (Value::Address(0x20_0000), Argument::Hex(0x20_0000)),
            (Value::Handle(u64::MAX), Argument::Hex(u64::MAX)),
            (Value::Text("name".to_owned()), Argument::Text("name".to_owned())),
            (Value::List(vec![number.clone()]), Argument::List(vec![Argument::Number(-1)])),
            (Value::Fields(vec![("id", number)]), Argument::Fields(vec![("id".to_owned(), Argument::Number(-1))])),
            (Value::None, Argument::None),
        ];
        let (given, expected): (Vec<Value>, Vec<Argument>) = kinds.into_iter().unzip();
        let [call] =
            <[_; 1]>::try_from(recorder(given.into_iter().map(|value| ("x", value)).collect(), None).records())
                .unwrap();
        assert_eq!(call.call, "cuMemMap");
        assert_eq!(call.arguments.into_iter().map(|(_, argument)| argument).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn an_error_keeps_code_rule_and_words() {
        let (rule, sentence) = (RuleId("MAP-3"), "the size is not zero");
        let explanation = Some(Box::new(Explanation { rule, sentence, facts: Vec::new(), earlier: None }));
        let error = DriverError::Refused { result: CuResult::INVALID_VALUE, explanation };
        let told = recorder(Vec::new(), Some(&error)).records()[0].error.clone().unwrap();
        assert_eq!((told.result.as_deref(), told.rule.as_deref()), (Some("CUDA_ERROR_INVALID_VALUE"), Some("MAP-3")));
        assert!(told.message.contains(sentence), "{}", told.message);
        assert_eq!(call_error(&DriverError::NotModelled { what: "a cubin".to_owned() }).result, None);
    }

    #[test]
    fn what_is_cut_off_costs_the_last_call_only() {
        let recorder = recorder(vec![("size", Value::Bytes(1))], None);
        recorder.before(Call::cuMemUnmap, &Vec::new).unwrap();
        recorder.after(Call::cuMemUnmap, None);
        let bytes = recorder.bytes();
        let names = |bytes| read(bytes).into_iter().map(|call| call.call).collect::<Vec<_>>();
        assert_eq!(names(&bytes), ["cuMemMap", "cuMemUnmap"]);
        assert_eq!(names(&bytes[..bytes.len() - 1]), ["cuMemMap"]);
    }

    /// A list with a list in it, and so on, so many times.
    fn nested(times: usize) -> Value {
        (1..times).fold(Value::List(Vec::new()), |inner, _| Value::List(vec![inner]))
    }

    #[test]
    fn a_value_is_as_deep_as_values_of_the_driver_are_and_no_deeper() {
        assert_eq!(recorder(vec![("x", nested(6))], None).records().len(), 1);
        assert_eq!(recorder(vec![("x", nested(7))], None).records(), []);
    }

    #[test]
    fn bytes_that_are_nested_as_deep_as_they_are_long_are_no_call() {
        let mut bytes = recorder(vec![("x", Value::None)], None).bytes();
        let value = bytes.len() - 2;
        bytes.truncate(value);
        bytes.extend([3, 1].repeat(1 << 20));
        assert_eq!(read(&bytes), []);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_reader_panic(at: Index, with in vec(any::<u8>(), 0..40), random: Vec<u8>) {
            let mut bytes = recorder(vec![("size", Value::Bytes(7)), ("list", nested(3))], None).bytes();
            let at = at.index(bytes.len());
            bytes.splice(at.., with);
            prop_assert!(read(&bytes).len() <= bytes.len());
            prop_assert!(read(&random).len() <= random.len());
        }
    }

    #[test]
    fn a_call_that_has_not_returned_is_left_out() {
        let recorder = CallRecorder::new(true);
        recorder.before(Call::cuStreamSynchronize, &Vec::new).unwrap();
        assert_eq!(recorder.records(), []);
    }
}
