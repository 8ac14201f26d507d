//! What a host may lack that a test needs.

use std::process::{Command, Stdio};

use libtest_mimic::Trial;

/// Runs a program in namespaces of its own, in which it is root: `unshare` of util-linux.
pub const UNSHARE: &str = "unshare";

/// What the host lacks if it gives an ordinary user no such namespaces: `flags` are those of `unshare`.
#[must_use]
pub fn lack_of_namespaces(flags: &[&str]) -> Option<&'static str> {
    let tried = Command::new(UNSHARE).args(flags).arg("true").stderr(Stdio::null()).status();
    (!tried.is_ok_and(|status| status.success())).then_some("needs namespaces of an ordinary user")
}

/// Lists a test as ignored if the host lacks something, with the lack as its kind.
#[must_use]
pub fn unless_lacking(lack: Option<&'static str>, trial: Trial) -> Trial {
    match lack {
        Some(lack) => trial.with_kind(lack).with_ignored_flag(true),
        None => trial,
    }
}
