//! A file that appears once it is complete.

use std::ffi::OsString;
use std::fs::Permissions;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Args;
use peermap_report::ExitCode;
use tempfile::{Builder, NamedTempFile};

use crate::refusal::Refusal;

/// Whether a file that can be made again replaces an earlier one. What was measured or recorded is never replaced.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Force {
    /// Replace a file that is there already.
    #[arg(long)]
    force: bool,
}

/// A file that gets its name once it is complete. Until then it lies beside that name, and it goes if it is given up.
///
/// Only what kills this process leaves it there, so that what was written before is not lost with the host.
pub(crate) struct Output {
    path: PathBuf,
    replaces: bool,
    file: BufWriter<NamedTempFile>,
}

impl Output {
    /// Begins a file. An earlier one is worth more than the trouble to name the new one differently.
    pub(crate) fn create(path: &Path) -> Result<Self, Refusal> {
        let fresh = if path.symlink_metadata().is_err() { Ok(()) } else { Err(anyhow::anyhow!("it exists already")) };
        Self::begin(path, false, fresh)
    }

    /// Begins a file that can be made again, and so may take the place of an earlier one where the user says so.
    pub(crate) fn again(path: &Path, Force { force }: Force) -> Result<Self, Refusal> {
        let found = path.symlink_metadata().ok();
        let allowed = match found {
            None => Ok(()),
            // It would be lost, and what it leads to would stay as it was.
            Some(found) if found.is_symlink() => Err(anyhow::anyhow!("it is a link; name the file that it leads to")),
            // A folder, a device or a pipe would be lost.
            Some(found) if !found.is_file() => Err(anyhow::anyhow!("it is no ordinary file")),
            Some(_) if !force => Err(anyhow::anyhow!("it exists already; --force replaces it")),
            Some(_) => Ok(()),
        };
        Self::begin(path, force, allowed)
    }

    fn begin(path: &Path, replaces: bool, allowed: anyhow::Result<()>) -> Result<Self, Refusal> {
        allowed
            .and_then(|()| beside(path))
            .with_context(|| format!("{} cannot be created", path.display()))
            .map(|file| Self { path: path.to_owned(), replaces, file: BufWriter::new(file) })
            .map_err(|error| Refusal::new(ExitCode::Usage, error))
    }

    /// Says whether a file can be begun, and leaves nothing there.
    pub(crate) fn check(path: &Path) -> Result<(), Refusal> {
        Self::create(path).map(drop)
    }

    /// Writes all of it, and gives the file its name.
    pub(crate) fn write_whole(mut self, text: &str) -> Result<(), Refusal> {
        self.write_all(text.as_bytes()).map_err(unwritten)?;
        self.finish()
    }

    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<(), Refusal> {
        let Self { path, replaces, file } = self;
        let file = file.into_inner().map_err(|error| unwritten(error.into_error()))?;
        file.as_file().sync_all().map_err(unwritten)?;
        // Whatever has taken the name meanwhile keeps it, unless it was to be replaced.
        let named = if replaces { file.persist(path) } else { file.persist_noclobber(path) };
        named.map(drop).map_err(|error| unwritten(error.error))
    }
}

fn beside(path: &Path) -> anyhow::Result<NamedTempFile> {
    let mut prefix = path.file_name().map(OsString::from).context("it is no name of a file")?;
    prefix.push(".");
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // As for any other file, the mask of the user decides who may read it.
    let permissions = Permissions::from_mode(0o666);
    // What is wrong with the folder is better said of it than of a name that nobody has heard of.
    folder.metadata().with_context(|| format!("its folder {} cannot be used", folder.display()))?;
    Ok(Builder::new().prefix(&prefix).suffix(".part").permissions(permissions).tempfile_in(folder)?)
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// What is wrong where a file cannot be written.
pub(crate) fn unwritten(error: io::Error) -> Refusal {
    Refusal::unexpected(anyhow::Error::from(error).context("the file cannot be written"))
}
