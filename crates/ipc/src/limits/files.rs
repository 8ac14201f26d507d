//! Open files.

use std::fs;

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use super::error::LimitError;

const DESCRIPTORS: &str = "/proc/self/fd";

/// How many files this process may have open (`RLIMIT_NOFILE`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFiles {
    /// The limit that counts now.
    pub soft: u64,
    /// The limit up to which an ordinary user may raise it.
    pub hard: u64,
}

/// The limit on open files.
///
/// # Errors
/// [`LimitError::System`].
pub fn open_files() -> Result<OpenFiles, LimitError> {
    let (soft, hard) =
        getrlimit(Resource::RLIMIT_NOFILE).map_err(|source| LimitError::System { call: "getrlimit", source })?;
    Ok(OpenFiles { soft, hard })
}

/// How many descriptors this process has open.
///
/// # Errors
/// [`LimitError::Read`] if `/proc` is not mounted, or not readable since the process changed its user.
pub fn open_descriptors() -> Result<usize, LimitError> {
    let read = |source| LimitError::Read { path: DESCRIPTORS.into(), source };
    let entries = fs::read_dir(DESCRIPTORS).map_err(read)?.collect::<Result<Vec<_>, _>>().map_err(read)?;
    // One of them is the descriptor that reads the folder.
    Ok(entries.len() - 1)
}

/// Makes sure that this process may have `needed` files open: raises the soft limit if it is lower, never beyond the hard
/// one. Returns the limits that hold now.
///
/// # Errors
/// [`LimitError::OpenFiles`] with both numbers if the hard limit is too low; then nothing is changed.
pub fn raise_open_files(needed: u64) -> Result<OpenFiles, LimitError> {
    let OpenFiles { soft, hard } = open_files()?;
    if needed <= soft {
        return Ok(OpenFiles { soft, hard });
    }
    if needed > hard {
        return Err(LimitError::OpenFiles { needed, soft, hard });
    }
    setrlimit(Resource::RLIMIT_NOFILE, needed, hard)
        .map_err(|source| LimitError::System { call: "setrlimit", source })?;
    Ok(OpenFiles { soft: needed, hard })
}
