//! The build that this one is measured against.

use std::path::Path;

use anyhow::anyhow;
use peermap_report::ExitCode;

use super::build::Build;
use super::worktree::Worktree;
use crate::refusal::Refusal;

/// The other build. The folder in which it was built goes with it.
pub(super) struct Other {
    pub(super) build: Build,
    _worktree: Option<Worktree>,
}

impl Other {
    /// An executable, if there is a file of this name; else a revision, which is built.
    pub(super) fn find(name: &Path) -> Result<Self, Refusal> {
        if name.is_file() {
            return Ok(Self { build: Build::new(name)?, _worktree: None });
        }
        if name.is_dir() {
            let error = anyhow!("{} is a folder; name the executable in it", name.display());
            return Err(Refusal::new(ExitCode::Usage, error));
        }
        let worktree = Worktree::of(name)?;
        Ok(Self { build: Build::new(&worktree.build()?)?, _worktree: Some(worktree) })
    }
}
