//! Threads that play processes: whoever sets the stage decides what time it is for them and who goes on.
//!
//! Tests of a protocol put all of its processes into one, a thread for each. On a stage no such thread waits by itself: it
//! says what it waits for, and until when.

use std::cell::RefCell;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// Decides what time it is and who goes on.
pub trait Stage: Send + Sync {
    /// The time.
    fn now(&self) -> Instant;

    /// Waits until `ready` holds; `false` if the moment came first.
    fn wait(&self, ready: &mut dyn FnMut() -> bool, until: Option<Instant>) -> bool;
}

thread_local! {
    static STAGE: RefCell<Option<Arc<dyn Stage>>> = const { RefCell::new(None) };
}

/// The calling thread is on a stage for as long as this lives.
#[derive(Debug)]
#[must_use = "the thread leaves the stage when this is dropped"]
pub struct OnStage(());

impl OnStage {
    /// Puts the calling thread on a stage.
    pub fn enter(stage: Arc<dyn Stage>) -> Self {
        STAGE.with(|own| *own.borrow_mut() = Some(stage));
        Self(())
    }
}

impl Drop for OnStage {
    fn drop(&mut self) {
        STAGE.with(|own| own.borrow_mut().take());
    }
}

/// The stage of the calling thread, if it is on one.
pub(crate) fn current() -> Option<Arc<dyn Stage>> {
    STAGE.with(|own| own.borrow().clone())
}

/// What time it is for the calling thread.
pub(crate) fn now() -> Instant {
    current().map_or_else(Instant::now, |stage| stage.now())
}

/// Lets a time pass.
pub fn pause(time: Duration) {
    match current() {
        Some(stage) => {
            stage.wait(&mut || false, stage.now().checked_add(time));
        }
        None => thread::sleep(time),
    }
}
