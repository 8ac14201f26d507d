//! A trace that is being written, by the recorders of all its processes.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use peermap_driver::{Call, CuResult, DevicePtr, Driver, DriverError};
use serde_json::{Map, Value as Json, json};

use super::argument::Given;
use super::noted::{Noted, shared_value};
use super::output::Output;
use super::recorder::Recorder;
use super::step::{self, Arguments};
use crate::call::StepCall;
use crate::format::{Header, Step};
use crate::player::{PTX, Value, runs};
use crate::result::StepResult;
use crate::write::Writer;

/// How often each call passed through that no step can say.
pub type OmittedCalls = BTreeMap<Call, u64>;

/// The most steps that one copy from the host becomes. The format fills with one value, so each run of equal bytes is a
/// step of its own.
const MOST_RUNS: usize = 48;

/// A trace that is being written.
///
/// What a process gets from another one of the same recording, a descriptor or the bytes of a handle, is written as a
/// `send` before its first use. A descriptor is known by its number, so between OS processes it is not found.
pub struct Recording<W: Write> {
    log: Arc<Mutex<Log<W>>>,
}

struct Log<W: Write> {
    writer: Writer<W>,
    /// The first error of the writer; nothing is written after it.
    error: Option<io::Error>,
    processes: BTreeMap<u32, Noted>,
    /// How many names there are with each first letter.
    names: BTreeMap<char, u64>,
    omitted: OmittedCalls,
    lines: u64,
}

impl<W: Write> Clone for Recording<W> {
    fn clone(&self) -> Self {
        Self { log: Arc::clone(&self.log) }
    }
}

impl<W: Write> Recording<W> {
    /// Opens a trace in a text.
    ///
    /// # Errors
    /// If the header cannot be written.
    pub fn new(text: W, header: &Header) -> io::Result<Self> {
        let mut writer = Writer::new(text);
        writer.header(header)?;
        let log = Log {
            writer,
            error: None,
            processes: BTreeMap::new(),
            names: BTreeMap::new(),
            omitted: OmittedCalls::new(),
            lines: 1,
        };
        Ok(Self { log: Arc::new(Mutex::new(log)) })
    }

    /// Records a process: the next number, from 0.
    #[must_use]
    pub fn process<D: Driver>(&self, driver: D) -> Recorder<D, W> {
        let mut log = self.lock();
        let number = log.processes.keys().next_back().map_or(0, |last| last + 1);
        log.processes.insert(number, Noted::default());
        drop(log);
        Recorder::new(driver, self.clone(), number)
    }

    /// Which calls passed through that no step can say, and how often.
    #[must_use]
    pub fn omitted(&self) -> OmittedCalls {
        self.lock().omitted.clone()
    }

    /// Hands on what was written.
    ///
    /// # Errors
    /// The first error of the text. The trace ends before the step that it kept from being written.
    pub fn flush(&self) -> io::Result<()> {
        let mut log = self.lock();
        match log.error.take() {
            Some(error) => Err(error),
            None => log.writer.flush(),
        }
    }

    pub(super) fn note(
        &self,
        process: u32,
        call: Call,
        given: Arguments<'_, '_>,
        answer: Result<Output, &DriverError>,
    ) {
        self.lock().note(process, call, given, answer);
    }

    pub(super) fn note_close(&self, process: u32, number: RawFd) {
        let mut log = self.lock();
        let noted = log.processes.entry(process).or_default();
        let name = noted.values.name_of(|value| matches!(value, Value::Closed(known) if *known == number));
        if let Some(name) = name.map(str::to_owned) {
            // The number may come again, and then for something else.
            noted.values.retire(&name);
            if let Some(value) = noted.values.get_mut(&name) {
                *value = Value::Closed(-1);
            }
            log.os_step(process, "close_fd", [("fd", json!(format!("${name}")))], None);
        }
    }

    pub(super) fn note_end(&self, process: u32) {
        let mut log = self.lock();
        if !std::mem::replace(&mut log.processes.entry(process).or_default().ended, true) {
            log.os_step(process, "exit", [], None);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Log<W>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<W: Write> Log<W> {
    fn note(&mut self, process: u32, call: Call, given: Arguments<'_, '_>, answer: Result<Output, &DriverError>) {
        if self.processes.entry(process).or_default().ended || self.note_code(process, call, given, answer) {
            return;
        }
        self.deliver(process, given);
        let noted = self.processes.entry(process).or_default();
        let result = match answer {
            Ok(_) => Some(StepResult::Cuda(CuResult::SUCCESS)),
            Err(DriverError::Refused { result, .. }) => Some(StepResult::Cuda(*result)),
            Err(DriverError::WouldCrash { .. }) => Some(StepResult::SegmentationFault),
            Err(DriverError::WouldHang { .. }) => Some(StepResult::TimedOut),
            Err(DriverError::NotModelled { .. } | DriverError::Finding { .. } | DriverError::Host { .. }) => None,
        };
        let arguments = step::arguments(noted, call, given);
        let (Some(step_call), Some(result), Some(arguments)) = (StepCall::from_name(call.name()), result, arguments)
        else {
            *self.omitted.entry(call).or_default() += 1;
            return;
        };
        noted.ended = result.ends_the_process();
        let out = answer.ok().and_then(|output| step::out(noted, call, given, output));
        let name = self.name_for(call, process, answer.ok());
        if answer.is_ok() {
            self.processes.entry(process).or_default().retire(call, given);
        }
        if call == Call::cuMemcpyHtoD && answer.is_ok() {
            self.copy_from_host(process, step_call, &arguments, given);
        } else {
            self.write(Step { process, call: step_call, arguments, name, result, out, line: 0 });
        }
    }

    /// Notes loaded code and kernels, which a player loads by itself. True if the call needs no step for that reason.
    fn note_code(
        &mut self,
        process: u32,
        call: Call,
        given: Arguments<'_, '_>,
        answer: Result<Output, &DriverError>,
    ) -> bool {
        let noted = self.processes.entry(process).or_default();
        match (call, given, answer) {
            (Call::cuModuleLoadDataEx, [(_, Given::Bytes(image)), ..], Ok(Output::Module(module)))
                if image.strip_suffix(&[0]).unwrap_or(image) == PTX.as_bytes() =>
            {
                noted.modules.push(module);
                true
            }
            (
                Call::cuModuleGetFunction,
                [(_, Given::Module(module)), (_, Given::Text(name))],
                Ok(Output::Function(function)),
            ) if noted.modules.contains(module) => {
                noted.functions.push((function, name.clone()));
                true
            }
            _ => false,
        }
    }

    /// Writes a `send` for each thing that the process got from another one.
    fn deliver(&mut self, process: u32, given: Arguments<'_, '_>) {
        for (_, value) in given {
            let has_it = self.processes.get(&process).is_some_and(|noted| noted.shared(value).is_some());
            let others = self.processes.iter().filter(|(other, noted)| **other != process && !noted.ended);
            let sender = others.filter_map(|(other, noted)| Some((*other, noted.shared(value)?.to_owned()))).next();
            let (false, Some((sender, name)), Some(value)) = (has_it, sender, shared_value(value)) else { continue };
            let received = self.fresh_name(letter(&value));
            self.os_step(
                sender,
                "send",
                [("value", json!(format!("${name}"))), ("to", json!(process))],
                Some(&received),
            );
            self.processes.entry(process).or_default().values.define(&received, value);
        }
    }

    /// Names what a call gave, or would have given: a player wants a name wherever there is a value.
    fn name_for(&mut self, call: Call, process: u32, output: Option<Output>) -> Option<String> {
        let value = match output? {
            Output::Address(address) => Value::Address(address),
            Output::Memory(handle) => Value::Memory(handle),
            Output::Context(Some(context)) if !matches!(call, Call::cuCtxGetCurrent | Call::cuCtxPopCurrent) => {
                Value::Context(context)
            }
            Output::Stream(stream) => Value::Stream(stream),
            Output::Event(event) => Value::Event(event),
            Output::Descriptor(number) => Value::Closed(number),
            Output::Fabric(handle) => Value::Fabric(handle),
            Output::Win32(handle) => Value::Win32(handle),
            Output::Legacy(handle) => Value::Legacy(handle),
            Output::EventHandle(handle) => Value::EventHandle(handle),
            Output::Pool(pool) => Value::Pool(pool),
            Output::PoolPointer(data) => Value::PoolPointer(data),
            _ => return None,
        };
        let name = self.fresh_name(letter(&value));
        self.processes.entry(process).or_default().values.define(&name, value);
        Some(name)
    }

    fn fresh_name(&mut self, letter: char) -> String {
        let count = self.names.entry(letter).or_default();
        *count += 1;
        format!("{letter}{}", *count - 1)
    }

    /// A copy from the host as steps that each fill with one value.
    fn copy_from_host(
        &mut self,
        process: u32,
        call: StepCall,
        arguments: &Map<String, Json>,
        given: Arguments<'_, '_>,
    ) {
        let [(_, Given::Address(start)), (_, Given::Bytes(bytes))] = given else { return };
        let runs = runs(bytes);
        if runs.len() > MOST_RUNS {
            *self.omitted.entry(Call::cuMemcpyHtoD).or_default() += 1;
            return;
        }
        let mut offset = 0;
        for run in &runs {
            let (value, size) = (run[0].clone(), run[1].as_u64().unwrap_or(0));
            let mut arguments = arguments.clone();
            let address = DevicePtr::new(start.get().wrapping_add(offset));
            let ptr = self.processes.entry(process).or_default().address(address);
            arguments.insert("ptr".to_owned(), ptr);
            arguments.insert("size".to_owned(), size.into());
            arguments.insert("value".to_owned(), value);
            let result = StepResult::success_of(call);
            self.write(Step { process, call, arguments, name: None, result, out: None, line: 0 });
            offset += size;
        }
    }

    fn os_step<const N: usize>(&mut self, process: u32, call: &str, arguments: [(&str, Json); N], name: Option<&str>) {
        let Some(call) = StepCall::from_name(call) else { return };
        let arguments = arguments.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let name = name.map(str::to_owned);
        self.write(Step { process, call, arguments, name, result: StepResult::Ok, out: None, line: 0 });
    }

    fn write(&mut self, mut step: Step) {
        self.lines += 1;
        step.line = self.lines;
        if self.error.is_none() {
            self.error = self.writer.step(&step).err();
        }
    }
}

/// The first letter of a name, as the fixtures have it.
fn letter(value: &Value) -> char {
    match value {
        Value::Address(_) => 'v',
        Value::Memory(_) => 'h',
        Value::Context(_) => 'c',
        Value::Pool(_) => 'p',
        Value::Stream(_) => 's',
        Value::Event(_) => 'e',
        Value::Descriptor(_) | Value::Closed(_) => 'f',
        Value::Fabric(_) | Value::Win32(_) | Value::Legacy(_) | Value::EventHandle(_) | Value::PoolPointer(_) => 'm',
    }
}
