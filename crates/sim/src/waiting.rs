//! What happens while a kernel waits for memory to change: whatever else could change it runs.

use std::thread;
use std::time::Duration;

use peermap_ipc::stage::pause;

use crate::process::Inner;

/// How long a kernel that waits leaves the host to others before it looks again.
const INTERVAL: Duration = Duration::from_micros(100);

impl Inner {
    /// Has queued work of this process and of all others begin, as far as it can. The caller holds no lock.
    pub(crate) fn let_others_work(&self) {
        self.have_work_begin();
        let others = self.lock().link.urge_all();
        others.iter().for_each(|process| process.have_work_begin());
        pause(INTERVAL);
    }

    /// Has work that can begin run in a thread of its own: it may wait itself for the one that waits for it.
    pub(crate) fn have_work_begin(&self) {
        let mut state = self.lock();
        if state.helper_starts || !state.process.has_ready_work() {
            return;
        }
        let Some(process) = self.this.upgrade() else { return };
        let work = move || process.run_what_can_begin();
        // Without a thread the work is tried again, until the deadline of the kernel that waits.
        state.helper_starts = thread::Builder::new().name("peermap-work".to_owned()).spawn(work).is_ok();
    }
}
