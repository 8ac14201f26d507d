//! A temporary folder for a worktree, which goes however this process ends.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::Builder;

/// Waits until its standard input ends, which it does with this process at the latest, and removes the folder. The signals that end
/// a command are not for it. What a compiler still writes while the folder goes needs a second try.
const WARDEN: &str = r#"
trap '' HUP INT TERM
cat
git -C "$1" worktree remove --force "$2/sources"
rm -rf "$2" || { sleep 1; rm -rf "$2"; }
"#;

/// A temporary folder. Builds take minutes and a gigabyte, so whoever interrupts one must not be left with it.
pub(super) struct Scratch {
    path: PathBuf,
    warden: Child,
}

impl Scratch {
    /// A folder in which `sources` is to be a worktree of a repository.
    pub(super) fn new(repository: &Path) -> io::Result<Self> {
        let folder = Builder::new().prefix("peermap-against-").tempdir()?;
        let mut warden = Command::new("sh");
        warden.args(["-c", WARDEN, "sh"]).arg(repository).arg(folder.path()).process_group(0);
        warden.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let warden = warden.spawn()?;
        Ok(Self { path: folder.keep(), warden })
    }

    pub(super) fn sources(&self) -> PathBuf {
        self.path.join("sources")
    }

    /// Where whatever is made of the sources goes.
    pub(super) fn target(&self) -> PathBuf {
        self.path.join("target")
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        drop(self.warden.stdin.take());
        // Whoever looks afterwards finds nothing.
        drop(self.warden.wait());
    }
}
