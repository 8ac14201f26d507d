//! Looks at the memory of a process before it is unmapped, apart from the kernels that verify it.

use std::sync::Mutex;

use peermap_driver::{Call, DevicePtr, Driver, DriverError, Interceptor, Result, Value};
use peermap_sim::SimProcess;

/// What a process saw in a range: the byte that it is full of, or that it holds several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Full {
    /// Of this byte.
    Of(u8),
    /// Different bytes.
    Mixed,
}

/// Looks at all that a process has mapped when the first of it goes.
#[derive(Default)]
pub(crate) struct Witness {
    /// Until it ends: whoever has one of its values keeps it alive.
    process: Mutex<Option<SimProcess>>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    mapped: Vec<(DevicePtr, usize)>,
    seen: Option<Vec<Full>>,
}

impl Witness {
    /// The process begins.
    pub(crate) fn come(&self, process: SimProcess) {
        if let Ok(mut own) = self.process.lock() {
            *own = Some(process);
        }
    }

    /// The process ends.
    pub(crate) fn leave(&self) {
        if let Ok(mut process) = self.process.lock() {
            process.take();
        }
    }

    /// What it saw in each range, in the order in which they were mapped; `None` if nothing was unmapped.
    pub(crate) fn seen(&self) -> Option<Vec<Full>> {
        self.state.lock().ok()?.seen.clone()
    }

    fn look(&self, ptr: DevicePtr, size: usize) -> Option<Full> {
        let mut bytes = vec![0; size];
        self.process.lock().ok()?.as_ref()?.memcpy_dtoh(&mut bytes, ptr).ok()?;
        let first = *bytes.first()?;
        Some(if bytes.iter().all(|byte| *byte == first) { Full::Of(first) } else { Full::Mixed })
    }
}

impl Interceptor for Witness {
    fn before(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let Ok(mut state) = self.state.lock() else { return Ok(()) };
        match call {
            Call::cuMemMap => {
                let arguments = arguments();
                let argument = |name| arguments.iter().find(|(it, _)| *it == name).map(|(_, value)| value);
                if let (Some(Value::Address(ptr)), Some(Value::Bytes(size))) = (argument("ptr"), argument("size")) {
                    state.mapped.push((DevicePtr::new(*ptr), usize::try_from(*size).unwrap_or(usize::MAX)));
                }
            }
            Call::cuMemUnmap if state.seen.is_none() => {
                // A process that cannot look is one that something happened to.
                state.seen = state.mapped.iter().map(|(ptr, size)| self.look(*ptr, *size)).collect();
            }
            _ => {}
        }
        Ok(())
    }

    fn after(&self, _call: Call, _error: Option<&DriverError>) {}
}
