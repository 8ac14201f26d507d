//! Where kernels come from: a folder that was named, the one beside the executable, or the copy inside it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::UsageError;

/// The name of the files without their ending.
const NAME: &str = "memmap_ipc";
/// The endings, in the order in which they are looked for.
const ENDINGS: [&str; 2] = ["ptx", "cubin"];
/// The folder beside the executable.
const BESIDE: &str = "kernels";

static EMBEDDED: &str = include_str!("../../../kernels/memmap_ipc.ptx");

/// The name of the files with kernels for teams, which lie beside the others.
const MULTICAST: &str = "multicast";

static EMBEDDED_MULTICAST: &str = include_str!("../../../kernels/multicast.ptx");

/// The kernels inside the executable, as PTX.
#[must_use]
pub fn embedded_kernels() -> &'static str {
    EMBEDDED
}

/// Where the kernels of a run come from. The parent decides, the workers read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KernelSource {
    /// The copy inside the executable.
    Embedded,
    /// A file.
    File(OsString),
}

/// The kernels cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the kernels {path}; was the file moved or deleted during the run?", path = path.display())]
pub(crate) struct KernelError {
    path: PathBuf,
    source: io::Error,
}

/// Decides where the kernels come from.
///
/// # Errors
/// [`UsageError::NoKernels`] if `folder` was named and has none.
pub(crate) fn locate(folder: Option<&Path>, exe: &Path) -> Result<KernelSource, UsageError> {
    if let Some(folder) = folder {
        return find(folder).ok_or_else(|| UsageError::NoKernels { folder: folder.to_owned(), name: NAME });
    }
    let beside = exe.parent().and_then(|folder| find(&folder.join(BESIDE)));
    Ok(beside.unwrap_or(KernelSource::Embedded))
}

fn find(folder: &Path) -> Option<KernelSource> {
    let files = ENDINGS.iter().map(|ending| folder.join(NAME).with_extension(ending));
    // Workers may have another working directory one day.
    files
        .filter(|file| file.is_file())
        .find_map(|file| fs::canonicalize(file).ok())
        .map(|file| KernelSource::File(file.into()))
}

impl KernelSource {
    /// The image.
    pub(crate) fn read(&self) -> Result<Cow<'static, [u8]>, KernelError> {
        self.read_as(EMBEDDED, NAME)
    }

    /// The image of the kernels for teams.
    pub(crate) fn read_multicast(&self) -> Result<Cow<'static, [u8]>, KernelError> {
        self.read_as(EMBEDDED_MULTICAST, MULTICAST)
    }

    /// A text inside the executable, or the file of a name in the folder of the kernels.
    fn read_as(&self, embedded: &'static str, name: &str) -> Result<Cow<'static, [u8]>, KernelError> {
        let Self::File(path) = self else { return Ok(Cow::Borrowed(embedded.as_bytes())) };
        let known = Path::new(path);
        let file = known.with_file_name(name).with_extension(known.extension().unwrap_or_default());
        match fs::read(&file) {
            Ok(image) => Ok(Cow::Owned(image)),
            Err(source) => Err(KernelError { path: file, source }),
        }
    }
}

impl fmt::Display for KernelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedded => f.write_str("the embedded PTX"),
            Self::File(path) => write!(f, "{}", Path::new(path).display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for name in names {
            fs::create_dir_all(folder.path().join(name).parent().unwrap()).unwrap();
            fs::write(folder.path().join(name), name).unwrap();
        }
        folder
    }

    fn content(source: &KernelSource) -> String {
        String::from_utf8(source.read().unwrap().into_owned()).unwrap()
    }

    #[test]
    fn ptx_comes_before_cubin() {
        let both = folder(&["memmap_ipc.ptx", "memmap_ipc.cubin"]);
        assert_eq!(content(&locate(Some(both.path()), Path::new("/exe")).unwrap()), "memmap_ipc.ptx");
        let one = folder(&["memmap_ipc.cubin"]);
        assert_eq!(content(&locate(Some(one.path()), Path::new("/exe")).unwrap()), "memmap_ipc.cubin");
    }

    #[test]
    fn a_named_folder_without_kernels_is_an_error_and_not_replaced() {
        let empty = folder(&[]);
        let error = locate(Some(empty.path()), Path::new("/exe")).unwrap_err();
        assert!(error.to_string().contains("has neither memmap_ipc.ptx nor memmap_ipc.cubin"), "{error}");
    }

    #[test]
    fn kernels_beside_the_executable_come_before_the_embedded_ones() {
        let beside = folder(&["kernels/memmap_ipc.ptx", "exe"]);
        let source = locate(None, &beside.path().join("exe")).unwrap();
        assert_eq!(content(&source), "kernels/memmap_ipc.ptx");
        let alone = folder(&["exe"]);
        assert_eq!(locate(None, &alone.path().join("exe")).unwrap(), KernelSource::Embedded);
    }

    #[test]
    fn the_embedded_kernels_have_the_four_entries() {
        let text = content(&KernelSource::Embedded);
        for entry in ["fill_id", "fill_pattern", "verify_id", "verify_pattern"] {
            assert!(text.contains(&format!(".entry {entry}(")), "{entry}");
        }
    }

    #[test]
    fn the_kernels_for_teams_lie_beside_the_others() {
        let text = String::from_utf8(KernelSource::Embedded.read_multicast().unwrap().into_owned()).unwrap();
        assert!(text.contains(".entry all_reduce_norm_barrier("), "{text}");
        let both = folder(&["memmap_ipc.cubin", "multicast.cubin"]);
        let source = locate(Some(both.path()), Path::new("/exe")).unwrap();
        assert_eq!(source.read_multicast().unwrap().as_ref(), b"multicast.cubin");
        let one = folder(&["memmap_ipc.ptx"]);
        let source = locate(Some(one.path()), Path::new("/exe")).unwrap();
        assert!(source.read_multicast().unwrap_err().to_string().contains("multicast.ptx"));
    }

    #[test]
    fn a_file_that_vanished_is_named() {
        let there = folder(&["memmap_ipc.ptx"]);
        let source = locate(Some(there.path()), Path::new("/exe")).unwrap();
        fs::remove_file(there.path().join("memmap_ipc.ptx")).unwrap();
        assert!(source.read().unwrap_err().to_string().contains("memmap_ipc.ptx"));
    }
}
