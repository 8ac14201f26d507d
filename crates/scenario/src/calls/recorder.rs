//! Notes driver calls as they are made.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use peermap_driver::{Call, DriverError, Intercepted, Interceptor, Result, Value};
use peermap_ipc::clock::{monotonic_ns, thread_id};

/// For how many calls there is room from the beginning: more than a run with few devices makes.
const ROOM: usize = 256;

/// A driver whose calls are recorded.
pub(crate) type Recorded<D> = Intercepted<D, CallRecorder>;

/// A call, as it was noted.
#[derive(Debug)]
pub(super) struct Noted {
    pub(super) call: Call,
    pub(super) thread: u32,
    pub(super) start_ns: u64,
    /// `None`: it has not returned yet.
    pub(super) end_ns: Option<u64>,
    pub(super) arguments: Vec<(&'static str, Value)>,
    pub(super) error: Option<DriverError>,
}

/// Notes each call with its times, its arguments and its error.
///
/// What a call answers when it succeeds is not noted, nor are bytes: buffers are arguments by their length only.
pub(crate) struct CallRecorder {
    records: AtomicBool,
    noted: Mutex<Vec<Noted>>,
}

impl CallRecorder {
    /// A recorder, which may be one that never records.
    pub(crate) fn new(records: bool) -> Self {
        let noted = Vec::with_capacity(if records { ROOM } else { 0 });
        Self { records: AtomicBool::new(records), noted: Mutex::new(noted) }
    }

    /// Records nothing from now on, and forgets what it has.
    pub(crate) fn stop(&self) {
        self.records.store(false, Ordering::Relaxed);
        self.take();
    }

    /// Takes the calls noted so far, in the order in which they began.
    pub(super) fn take(&self) -> Vec<Noted> {
        std::mem::take(&mut *self.noted.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_recording(&self) -> bool {
        self.records.load(Ordering::Relaxed)
    }
}

impl Interceptor for CallRecorder {
    fn before(&self, call: Call, arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        if self.is_recording() {
            let (arguments, thread) = (arguments(), thread_id());
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            noted.push(Noted { call, thread, start_ns: 0, end_ns: None, arguments, error: None });
            // The clock is read last here and first below, so that the time of a call is its own.
            if let Some(last) = noted.last_mut() {
                last.start_ns = monotonic_ns();
            }
        }
        Ok(())
    }

    fn after(&self, _call: Call, error: Option<&DriverError>) {
        if self.is_recording() {
            let (end_ns, thread) = (monotonic_ns(), thread_id());
            let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
            // A thread makes one call at a time, so it is its last one that returns.
            if let Some(noted) = noted.iter_mut().rev().find(|noted| noted.thread == thread) {
                noted.end_ns = Some(end_ns);
                noted.error = error.cloned();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use peermap_driver::CuResult;

    use super::*;

    fn make(recorder: &CallRecorder, call: Call, error: Option<&DriverError>) {
        recorder.before(call, &|| vec![("flags", Value::Number(0))]).unwrap();
        recorder.after(call, error);
    }

    #[test]
    fn each_call_has_its_arguments_times_and_error() {
        let recorder = CallRecorder::new(true);
        let refused = DriverError::refused(CuResult::INVALID_VALUE);
        make(&recorder, Call::cuInit, None);
        make(&recorder, Call::cuMemMap, Some(&refused));
        let [init, map] = <[Noted; 2]>::try_from(recorder.take()).unwrap();
        assert_eq!((init.call, init.error, init.thread), (Call::cuInit, None, thread_id()));
        assert_eq!((map.call, map.error), (Call::cuMemMap, Some(refused)));
        assert_eq!(map.arguments, [("flags", Value::Number(0))]);
        assert!(init.start_ns <= init.end_ns.unwrap() && init.end_ns.unwrap() <= map.start_ns);
        assert!(recorder.take().is_empty());
    }

    #[test]
    fn calls_of_two_threads_do_not_mix() {
        let recorder = CallRecorder::new(true);
        recorder.before(Call::cuStreamSynchronize, &Vec::new).unwrap();
        std::thread::scope(|scope| drop(scope.spawn(|| make(&recorder, Call::cuMemAlloc, None))));
        recorder.after(Call::cuStreamSynchronize, None);
        let [outer, inner] = <[Noted; 2]>::try_from(recorder.take()).unwrap();
        assert_ne!(outer.thread, inner.thread);
        assert!(outer.start_ns <= inner.start_ns && inner.end_ns <= outer.end_ns);
    }

    #[test]
    fn a_recorder_that_was_stopped_has_nothing_and_notes_nothing() {
        let recorder = CallRecorder::new(true);
        make(&recorder, Call::cuInit, None);
        recorder.stop();
        make(&recorder, Call::cuMemMap, None);
        assert!(recorder.take().is_empty());
    }
}
