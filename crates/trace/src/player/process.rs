//! A process of a trace while it plays, and what a call gives.

use peermap_driver::{Context, Driver};
use serde_json::{Map, Value as Json};

use super::arguments::Arguments;
use super::calls;
use super::compare::Got;
use super::error::Failure;
use super::modules::Modules;
use super::parcel::Parcel;
use super::values::{Value, Values};
use crate::call::StepCall;
use crate::format::Step;

/// What a step asks of its process.
#[derive(Clone, Copy)]
pub(crate) struct Action<'a> {
    pub(crate) call: StepCall,
    pub(crate) arguments: &'a Map<String, Json>,
    pub(crate) name: Option<&'a str>,
}

impl<'a> From<&'a Step> for Action<'a> {
    fn from(step: &'a Step) -> Self {
        Self { call: step.call, arguments: &step.arguments, name: step.name.as_deref() }
    }
}

/// Whether the descriptors of an OS process belong to one process of the trace or to several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Numbers {
    /// To this one: a closed descriptor's number means what it means to the driver.
    Own,
    /// To several: the number that a closed descriptor had may belong to another process of the trace by now.
    Shared,
}

/// A process that has started and not ended.
pub struct Process {
    pub(super) driver: Box<dyn Driver>,
    pub(super) values: Values,
    pub(super) modules: Modules,
    pub(super) numbers: Numbers,
    /// Free memory as the previous `cuMemGetInfo` had it.
    pub(super) free: Option<u64>,
}

impl Process {
    pub(crate) fn new(driver: Box<dyn Driver>, numbers: Numbers) -> Self {
        Self { driver, values: Values::default(), modules: Modules::default(), numbers, free: None }
    }

    /// The driver of the process.
    pub(crate) fn driver(&self) -> &dyn Driver {
        self.driver.as_ref()
    }

    /// Makes a call, of the driver or one that concerns this process alone.
    pub(crate) fn play(&mut self, action: Action<'_>) -> Got {
        let answered = match action.call.os_step() {
            Some(os_step) => calls::os_step(self, os_step, action),
            None => calls::driver_call(self, action),
        };
        Got::new(action.call, answered)
    }

    /// A copy of what a `send` sends.
    pub(crate) fn give(&self, action: Action<'_>) -> Result<Parcel, Got> {
        calls::copy_of(self, Arguments::new(action.arguments)).map_err(Got::from)
    }

    /// Takes what another process sent.
    pub(crate) fn receive(&mut self, name: &str, parcel: Parcel) {
        self.values.define(name, parcel.into());
    }

    /// Closes the descriptors, as the kernel does when a process ends, and gives the driver up.
    pub(super) fn into_driver(self) -> Box<dyn Driver> {
        self.driver
    }

    /// Forgets what died with a context.
    pub(super) fn forget_context(&mut self, name: Option<&str>, context: Context) {
        self.modules.forget(context);
        if let Some(name) = name {
            self.values.retire(name);
        }
    }
}

/// What a successful call gives: `out`, and the value that gets the step's name.
#[derive(Default)]
pub(super) struct Answer {
    pub(super) out: Option<Map<String, Json>>,
    pub(super) value: Option<Value>,
}

/// What a call gives, or how it failed.
pub(super) type Answered = Result<Answer, Failure>;

impl Answer {
    /// Nothing but success.
    pub(super) fn nothing() -> Answered {
        Ok(Self::default())
    }

    /// A value to be named.
    pub(super) fn value(value: Value) -> Answered {
        Ok(Self { out: None, value: Some(value) })
    }

    /// Values that can be compared.
    pub(super) fn out<const N: usize>(fields: [(&str, Json); N]) -> Self {
        let out = fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        Self { out: Some(out), value: None }
    }

    /// The same with a value to be named.
    pub(super) fn with(self, value: Value) -> Self {
        Self { value: Some(value), ..self }
    }
}
