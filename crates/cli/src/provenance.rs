//! By which build and on which driver a result came about.

use std::path::{Path, PathBuf};
use std::{env, fs};

use peermap_ipc::limits;
use peermap_report::Provenance;

/// What can be found out. In a bundle, the executable lies in `bin/` beside `MANIFEST` and `BUNDLE.sha256`.
pub(crate) fn find(backend: &str) -> Provenance {
    let bundle = bundle_folder();
    let file = |name: &str| bundle.as_deref().and_then(|folder| fs::read_to_string(folder.join(name)).ok());
    Provenance {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        commit: file("MANIFEST").as_deref().and_then(commit_of).or_else(built_from),
        bundle_sha256: file("BUNDLE.sha256").map(|text| text.trim().to_owned()),
        driver: (backend == "cuda").then(driver_version).flatten(),
        kernel: fs::read_to_string("/proc/sys/kernel/osrelease").ok().map(|text| text.trim().to_owned()),
        cores: limits::usable_cores(),
    }
}

fn bundle_folder() -> Option<PathBuf> {
    let exe = env::current_exe().ok()?;
    exe.parent().and_then(Path::parent).map(Path::to_owned)
}

/// The commit that was checked out when this was built. What was changed since then it does not know.
fn built_from() -> Option<String> {
    option_env!("PEERMAP_COMMIT").map(str::to_owned)
}

/// The commit that a manifest names.
fn commit_of(manifest: &str) -> Option<String> {
    manifest.lines().find_map(|line| line.strip_prefix("# commit ")).map(str::to_owned)
}

/// The version of the driver's kernel module.
fn driver_version() -> Option<String> {
    version_in(&fs::read_to_string("/proc/driver/nvidia/version").ok()?)
}

/// The first number with two dots in the text of `/proc/driver/nvidia/version`.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        let parts: Vec<&str> = word.split('.').collect();
        parts.len() >= 2 && parts.iter().all(|part| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    text.split_whitespace().find(is_version).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_driver_says_its_version_in_a_sentence() {
        let text =
            "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\nGCC version: 13.2.0\n";
        assert_eq!(version_in(text).as_deref(), Some("580.159.04"));
        assert_eq!(version_in("no version here"), None);
    }

    #[test]
    fn a_manifest_names_its_commit() {
        assert_eq!(commit_of("# peermap bundle\n# commit abc\nx  y\n").as_deref(), Some("abc"));
        assert_eq!(commit_of(""), None);
    }
}
