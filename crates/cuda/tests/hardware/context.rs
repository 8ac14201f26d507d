//! Contexts. Each test uses a thread of its own, whose stack of contexts is empty at the start.

use std::thread;

use peermap_driver::{ByteSize, CuResult, Driver};

use crate::rig::{Current, DEVICE, driver, refused};

fn on_a_new_thread(test: fn()) {
    thread::spawn(test).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

/// Trace edges, context-stack.
pub fn contexts_form_a_stack_per_thread() {
    on_a_new_thread(|| {
        let driver = driver();
        assert_eq!(driver.ctx_get_current(), Ok(None));
        assert_eq!(driver.ctx_pop_current(), refused(CuResult::INVALID_CONTEXT));
        let lower = driver.ctx_create(0, DEVICE).expect("a context");
        let upper = driver.ctx_create(0, DEVICE).expect("a context");
        assert_eq!(driver.ctx_get_current(), Ok(Some(upper)));
        assert_eq!(driver.ctx_get_device(), Ok(DEVICE));
        assert_eq!(driver.ctx_push_current(lower), Ok(()));
        assert_eq!(driver.ctx_get_current(), Ok(Some(lower)));
        assert_eq!(driver.ctx_pop_current(), Ok(lower));
        assert_eq!(driver.ctx_get_current(), Ok(Some(upper)));
        assert_eq!(driver.ctx_set_current(Some(lower)), Ok(()));
        assert_eq!(driver.ctx_pop_current(), Ok(lower));
        assert_eq!(driver.ctx_get_current(), Ok(Some(lower)));
        assert_eq!(driver.ctx_set_current(None), Ok(()));
        assert_eq!(driver.ctx_get_current(), Ok(None));
        assert_eq!(driver.ctx_destroy(lower), Ok(()));
        assert_eq!(driver.ctx_destroy(upper), Ok(()));
    });
}

/// Trace legacy, ctx-life; trace edges, context-stack.
pub fn a_destroyed_context_leaves_its_thread_without_one() {
    on_a_new_thread(|| {
        drop(Current::new());
        assert_eq!(driver().ctx_get_current(), Ok(None));
        assert_eq!(driver().ctx_synchronize(), refused(CuResult::INVALID_CONTEXT));
        assert_eq!(driver().mem_alloc(ByteSize::mib(2)), refused(CuResult::INVALID_CONTEXT));
    });
}

pub fn the_primary_context_is_one_and_does_not_become_current() {
    on_a_new_thread(|| {
        let driver = driver();
        let primary = driver.device_primary_ctx_retain(DEVICE).expect("the primary context");
        assert_eq!(driver.device_primary_ctx_retain(DEVICE), Ok(primary));
        assert_eq!(driver.ctx_get_current(), Ok(None));
        assert_eq!(driver.device_primary_ctx_release(DEVICE), Ok(()));
        assert_eq!(driver.device_primary_ctx_release(DEVICE), Ok(()));
    });
}

/// Trace peer, peer-access-query.
pub fn peer_access_to_the_same_device_is_refused() {
    on_a_new_thread(|| {
        let context = Current::new();
        let answer = driver().ctx_enable_peer_access(context.0, 0);
        assert_eq!(answer, refused(CuResult::PEER_ACCESS_UNSUPPORTED));
    });
}
