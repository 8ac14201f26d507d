//! A process of a trace while it plays, and what a call gives.

use peermap_driver::{Context, Driver};
use serde_json::{Map, Value as Json};

use super::error::Failure;
use super::modules::Modules;
use super::values::{Value, Values};

/// A process that has started and not ended.
pub(super) struct Process {
    pub(super) driver: Box<dyn Driver>,
    pub(super) values: Values,
    pub(super) modules: Modules,
    /// Free memory as the previous `cuMemGetInfo` had it.
    pub(super) free: Option<u64>,
}

impl Process {
    pub(super) fn new(driver: Box<dyn Driver>) -> Self {
        Self { driver, values: Values::default(), modules: Modules::default(), free: None }
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
