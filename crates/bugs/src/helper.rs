//! Processes of entries that need no driver.

use peermap_ipc::{Channel, IpcError};
use serde::{Deserialize, Serialize};

/// What such a process is for.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Help {
}

/// Does what it is for.
pub(crate) fn serve(_channel: Channel, help: &Help) -> Result<(), IpcError> {
    match *help {}
}
