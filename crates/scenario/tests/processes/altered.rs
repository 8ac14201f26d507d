//! Kernels that are not as they should be.

use peermap_scenario::embedded_kernels;
use tempfile::TempDir;

/// A folder of kernels, in which something that those of this name have once is replaced.
pub fn kernels(name: &str, text: &str, from: &str, to: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from}");
    std::fs::write(folder.path().join(format!("{name}.ptx")), text.replace(from, to)).unwrap();
    std::fs::write(folder.path().join("memmap_ipc.ptx"), embedded_kernels()).unwrap();
    folder
}
