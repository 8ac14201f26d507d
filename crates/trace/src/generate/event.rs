//! Streams and events. Whatever is recorded is waited for before anybody asks.

use serde_json::json;

use super::error::GenerateError;
use super::picture::Queued;
use super::share::receiver;
use super::writing::Writing;

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(context) = writing.process(process).current() else {
        // Without a context neither can be made.
        let (call, name) = writing.random.one([("cuStreamCreate", 's'), ("cuEventCreate", 'e')]);
        let name = writing.name(name);
        writing.name_by(process, call, json!({"flags": 0}), &name)?;
        return Ok(());
    };
    match writing.random.below(26) {
        0..=2 => create_stream(writing, process, context),
        3..=6 => create_event(writing, process, context),
        7..=11 => record(writing, process, context),
        12..=13 => elapsed(writing, process, context),
        14..=15 => get_handle(writing, process, context),
        16 => send(writing, process),
        17 => share(writing, process, context),
        18..=19 => open(writing, process, context),
        20 => destroy_stream(writing, process, context),
        21 => destroy_event(writing, process, context),
        22..=23 => share(writing, process, context),
        _ => stream_query(writing, process, context),
    }
}

fn pick_of(writing: &mut Writing<'_>, mut all: Vec<Queued>, context: usize) -> Option<String> {
    all.retain(|one| one.context == context);
    writing.random.pick(&all).map(|one| one.name.clone())
}

fn pick_stream(writing: &mut Writing<'_>, process: u32, context: usize) -> Option<String> {
    let streams = writing.process(process).streams.clone();
    pick_of(writing, streams, context)
}

fn pick_event(writing: &mut Writing<'_>, process: u32, context: usize) -> Option<String> {
    let events = writing.process(process).events.clone();
    pick_of(writing, events, context)
}

fn create_stream(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let flags = writing.random.one([0, 1, 1, 2, 7]);
    let name = writing.name('s');
    if writing.name_by(process, "cuStreamCreate", json!({"flags": flags}), &name)? {
        writing.process(process).streams.push(Queued { name, context });
    }
    Ok(())
}

fn create_event(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let flags = writing.random.one([0, 0, 1, 2, 3, 4, 6, 6, 6, 7]);
    let name = writing.name('e');
    if writing.name_by(process, "cuEventCreate", json!({"flags": flags}), &name)? {
        writing.process(process).events.push(Queued { name, context });
    }
    Ok(())
}

fn record(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let Some(event) = pick_event(writing, process, context) else { return create_event(writing, process, context) };
    let event = format!("${event}");
    let stream = pick_stream(writing, process, context).filter(|_| !writing.random.percent(30));
    let mut arguments = json!({"event": event});
    if let Some(stream) = &stream {
        arguments["stream"] = format!("${stream}").into();
    }
    writing.say(process, "cuEventRecord", arguments.clone())?;
    if writing.random.percent(30) {
        writing.say(process, "cuStreamWaitEvent", arguments)?;
    }
    match stream {
        Some(stream) if writing.random.percent(50) => {
            writing.say(process, "cuStreamSynchronize", json!({"stream": format!("${stream}")}))?;
        }
        _ => writing.wait(process)?,
    }
    let call = writing.random.one(["cuEventQuery", "cuEventSynchronize"]);
    writing.say(process, call, json!({"event": event}))?;
    Ok(())
}

fn elapsed(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let start = pick_event(writing, process, context);
    let end = pick_event(writing, process, context);
    if let (Some(start), Some(end)) = (start, end) {
        let arguments = json!({"start": format!("${start}"), "end": format!("${end}")});
        writing.say(process, "cuEventElapsedTime", arguments)?;
    }
    Ok(())
}

fn get_handle(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let Some(event) = pick_event(writing, process, context) else { return create_event(writing, process, context) };
    let name = writing.name('i');
    if writing.name_by(process, "cuIpcGetEventHandle", json!({"event": format!("${event}")}), &name)? {
        writing.process(process).event_handles.push(name);
    }
    Ok(())
}

fn pick_handle(writing: &mut Writing<'_>, process: u32) -> Option<String> {
    let handles = writing.process(process).event_handles.clone();
    writing.random.pick(&handles).cloned()
}

fn send(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(to) = receiver(writing, process) else { return Ok(()) };
    let Some(handle) = pick_handle(writing, process) else { return Ok(()) };
    let name = writing.name('i');
    if writing.name_by(process, "send", json!({"value": format!("${handle}"), "to": to}), &name)? {
        writing.process(to).event_handles.push(name);
    }
    Ok(())
}

fn open(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let Some(handle) = pick_handle(writing, process) else { return get_handle(writing, process, context) };
    let name = writing.name('e');
    if writing.name_by(process, "cuIpcOpenEventHandle", json!({"handle": format!("${handle}")}), &name)? {
        writing.process(process).events.push(Queued { name, context });
    }
    Ok(())
}

/// An event for other processes on its way: made, sent and opened at the other end.
fn share(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let Some(to) = receiver(writing, process) else { return get_handle(writing, process, context) };
    let (event, made, sent) = (writing.name('e'), writing.name('i'), writing.name('i'));
    if writing.name_by(process, "cuEventCreate", json!({"flags": 6}), &event)?
        && writing.name_by(process, "cuIpcGetEventHandle", json!({"event": format!("${event}")}), &made)?
        && writing.name_by(process, "send", json!({"value": format!("${made}"), "to": to}), &sent)?
    {
        writing.process(process).events.push(Queued { name: event, context });
        writing.process(to).event_handles.push(sent);
        if let (Some(context), None) = (writing.process(to).current(), writing.process(to).after_fault) {
            open(writing, to, context)?;
        }
    }
    Ok(())
}

fn destroy_stream(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let Some(stream) = pick_stream(writing, process, context) else { return Ok(()) };
    if writing.say(process, "cuStreamDestroy", json!({"stream": format!("${stream}")}))? {
        writing.process(process).streams.retain(|other| other.name != stream);
    }
    Ok(())
}

fn destroy_event(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let Some(event) = pick_event(writing, process, context) else { return Ok(()) };
    if writing.say(process, "cuEventDestroy", json!({"event": format!("${event}")}))? {
        writing.process(process).events.retain(|other| other.name != event);
    }
    Ok(())
}

fn stream_query(writing: &mut Writing<'_>, process: u32, context: usize) -> Result<(), GenerateError> {
    let Some(stream) = pick_stream(writing, process, context) else { return Ok(()) };
    let call = writing.random.one(["cuStreamQuery", "cuStreamSynchronize"]);
    writing.say(process, call, json!({"stream": format!("${stream}")}))?;
    Ok(())
}
