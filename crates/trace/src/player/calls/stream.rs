//! Streams and events.

use crate::player::arguments::Arguments;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::Value;

/// A stream of the recordings does not wait for the null stream unless the step says otherwise.
const NON_BLOCKING: u32 = 1;

pub(super) fn create(process: &mut Process, given: Arguments<'_>) -> Answered {
    let stream = process.driver.stream_create(given.number_or("flags", NON_BLOCKING)?)?;
    Answer::value(Value::Stream(stream))
}

pub(super) fn destroy(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.stream_destroy(given.stream("stream", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn synchronize(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.stream_synchronize(given.stream_or_null("stream", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn query(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.stream_query(given.stream_or_null("stream", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn wait_event(process: &mut Process, given: Arguments<'_>) -> Answered {
    let stream = given.stream_or_null("stream", &process.values)?;
    let event = given.event("event", &process.values)?;
    process.driver.stream_wait_event(stream, event, given.number_or("flags", 0)?)?;
    Answer::nothing()
}

pub(super) fn event_create(process: &mut Process, given: Arguments<'_>) -> Answered {
    let event = process.driver.event_create(given.number_or("flags", 0)?)?;
    Answer::value(Value::Event(event))
}

pub(super) fn event_destroy(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.event_destroy(given.event("event", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn event_record(process: &mut Process, given: Arguments<'_>) -> Answered {
    let stream = given.stream_or_null("stream", &process.values)?;
    process.driver.event_record(given.event("event", &process.values)?, stream)?;
    Answer::nothing()
}

pub(super) fn event_query(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.event_query(given.event("event", &process.values)?)?;
    Answer::nothing()
}

pub(super) fn event_synchronize(process: &mut Process, given: Arguments<'_>) -> Answered {
    process.driver.event_synchronize(given.event("event", &process.values)?)?;
    Answer::nothing()
}

/// The time itself differs from run to run, so only the result is compared.
pub(super) fn event_elapsed_time(process: &mut Process, given: Arguments<'_>) -> Answered {
    let start = given.event("start", &process.values)?;
    process.driver.event_elapsed_time(start, given.event("end", &process.values)?)?;
    Answer::nothing()
}
