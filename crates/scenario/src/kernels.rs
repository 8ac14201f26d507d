//! Where kernels come from: a folder that was named, the one beside the executable, or the copy inside it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::UsageError;

/// Kernels that belong together: a file.
pub(crate) struct Image {
    /// The name of the file without its ending.
    name: &'static str,
    /// The copy inside the executable, as PTX.
    text: &'static str,
}

/// What every scenario fills and verifies with.
pub(crate) static MEMMAP_IPC: Image =
    Image { name: "memmap_ipc", text: include_str!("../../../kernels/memmap_ipc.ptx") };

/// What uses one memory by two addresses.
pub(crate) static ALIAS: Image = Image { name: "alias", text: include_str!("../../../kernels/alias.ptx") };

/// What adds vectors that lie on several devices.
pub(crate) static STRIPE: Image = Image { name: "stripe", text: include_str!("../../../kernels/stripe.ptx") };

/// What reaches memory of several devices through multicast addresses.
pub(crate) static MULTICAST: Image = Image { name: "multicast", text: include_str!("../../../kernels/multicast.ptx") };

/// The endings, in the order in which they are looked for.
const ENDINGS: [&str; 2] = ["ptx", "cubin"];
/// The folder beside the executable.
const BESIDE: &str = "kernels";

/// The kernels inside the executable that fill and verify, as PTX.
#[must_use]
pub fn embedded_kernels() -> &'static str {
    MEMMAP_IPC.text
}

/// Where the kernels of a run come from. The parent decides, the workers read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum KernelSource {
    /// The copy inside the executable.
    Embedded,
    /// A file, and those of other kernels beside it.
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
        return find(folder).ok_or_else(|| UsageError::NoKernels { folder: folder.to_owned(), name: MEMMAP_IPC.name });
    }
    let beside = exe.parent().and_then(|folder| find(&folder.join(BESIDE)));
    Ok(beside.unwrap_or(KernelSource::Embedded))
}

fn find(folder: &Path) -> Option<KernelSource> {
    let files = ENDINGS.iter().map(|ending| folder.join(MEMMAP_IPC.name).with_extension(ending));
    // Workers may have another working directory one day.
    files
        .filter(|file| file.is_file())
        .find_map(|file| fs::canonicalize(file).ok())
        .map(|file| KernelSource::File(file.into()))
}

impl KernelSource {
    /// The same for other kernels.
    pub(crate) fn of(&self, image: &Image) -> Self {
        match self {
            Self::Embedded => Self::Embedded,
            Self::File(path) => {
                let path = Path::new(path);
                let ending = path.extension().unwrap_or_default();
                Self::File(path.with_file_name(image.name).with_extension(ending).into())
            }
        }
    }

    /// The kernels, from where [`of`](Self::of) says that they are.
    pub(crate) fn read(&self, image: &Image) -> Result<Cow<'static, [u8]>, KernelError> {
        match self {
            Self::Embedded => Ok(Cow::Borrowed(image.text.as_bytes())),
            Self::File(path) => match fs::read(path) {
                Ok(image) => Ok(Cow::Owned(image)),
                Err(source) => Err(KernelError { path: path.into(), source }),
            },
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
        String::from_utf8(source.read(&MEMMAP_IPC).unwrap().into_owned()).unwrap()
    }

    #[test]
    fn ptx_comes_before_cubin() {
        let both = folder(&["memmap_ipc.ptx", "memmap_ipc.cubin"]);
        assert_eq!(content(&locate(Some(both.path()), Path::new("/exe")).unwrap()), "memmap_ipc.ptx");
        let one = folder(&["memmap_ipc.cubin"]);
        assert_eq!(content(&locate(Some(one.path()), Path::new("/exe")).unwrap()), "memmap_ipc.cubin");
    }

    #[test]
    fn other_kernels_lie_beside_those_that_fill() {
        let both = folder(&["memmap_ipc.ptx", "alias.ptx"]);
        let source = locate(Some(both.path()), Path::new("/exe")).unwrap().of(&ALIAS);
        assert_eq!(source.read(&ALIAS).unwrap(), b"alias.ptx".as_slice());
        let one = folder(&["memmap_ipc.cubin"]);
        let missing = locate(Some(one.path()), Path::new("/exe")).unwrap().of(&ALIAS);
        assert!(missing.read(&ALIAS).unwrap_err().to_string().contains("alias.cubin"));
        assert!(KernelSource::Embedded.of(&ALIAS).read(&ALIAS).unwrap().starts_with(b"//"));
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
    fn a_file_that_vanished_is_named() {
        let there = folder(&["memmap_ipc.ptx"]);
        let source = locate(Some(there.path()), Path::new("/exe")).unwrap();
        fs::remove_file(there.path().join("memmap_ipc.ptx")).unwrap();
        assert!(source.read(&MEMMAP_IPC).unwrap_err().to_string().contains("memmap_ipc.ptx"));
    }
}
