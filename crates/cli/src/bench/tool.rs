//! The tool of the NVIDIA driver.

use std::process::Command;

/// What it answers, by line. `None`: it is not there, or refuses.
pub(super) fn query(what: &str, fields: &str) -> Option<Vec<String>> {
    ask(&[&format!("--query-{what}={fields}"), "--format=csv,noheader,nounits"])
}

/// The links of the first device.
pub(super) fn nvlinks() -> Option<Vec<String>> {
    ask(&["nvlink", "--status", "-i", "0"])
}

fn ask(arguments: &[&str]) -> Option<Vec<String>> {
    let output = Command::new("nvidia-smi").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}
