//! A revision of the sources in a folder of its own, and what cargo makes of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context, anyhow, bail};
use peermap_report::ExitCode;
use serde::Deserialize;

use super::scratch::Scratch;
use crate::refusal::Refusal;
use crate::show;

/// A revision that is checked out in a temporary folder, which goes with this.
pub(super) struct Worktree {
    scratch: Scratch,
    commit: String,
}

impl Worktree {
    /// Checks out a revision of the repository that this process works in.
    pub(super) fn of(revision: &Path) -> Result<Self, Refusal> {
        let (repository, commit) = resolve(revision).map_err(|error| Refusal::new(ExitCode::Usage, error))?;
        let scratch = Scratch::new(&repository).context("there is no place for a worktree");
        let scratch = scratch.map_err(Refusal::unexpected)?;
        let mut git = git(&repository);
        // What a user has others do after a checkout is not for this one.
        git.args(["-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach"]);
        said(git.arg(scratch.sources()).arg(&commit)).map_err(Refusal::unexpected)?;
        Ok(Self { scratch, commit })
    }

    /// Builds the command, optimised as this one is; gives its path.
    pub(super) fn build(&self) -> Result<PathBuf, Refusal> {
        show::note(&format!("building {} in {}", self.commit, self.scratch.path().display()));
        self.executable().map_err(Refusal::unexpected)
    }

    fn executable(&self) -> anyhow::Result<PathBuf> {
        let profile = if cfg!(debug_assertions) { "dev" } else { "release" };
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--package", "peermap-cli", "--bin", "peermap", "--profile", profile, "--target-dir"]);
        cargo.arg(self.scratch.target()).arg("--message-format=json-render-diagnostics");
        // Whoever waits sees how far it is.
        cargo.current_dir(self.scratch.sources()).stdin(Stdio::null()).stderr(Stdio::inherit());
        let output = cargo.output().context("cargo cannot be started; name an executable instead of a revision")?;
        if !output.status.success() {
            bail!("{} cannot be built: cargo ended with {}", self.commit, output.status);
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let executable = messages.lines().filter_map(|line| serde_json::from_str::<Message>(line).ok());
        let executable = executable.filter_map(Message::into_command).next_back();
        executable.ok_or_else(|| anyhow!("cargo built {} and named no executable", self.commit))
    }
}

/// What cargo says of something that it built, as far as it matters here.
#[derive(Deserialize)]
struct Message {
    target: Option<Target>,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}

impl Message {
    fn into_command(self) -> Option<PathBuf> {
        self.executable.filter(|_| self.target.is_some_and(|target| target.name == "peermap"))
    }
}

/// The repository that this process works in, and the commit of a revision there.
fn resolve(revision: &Path) -> anyhow::Result<(PathBuf, String)> {
    let no_file = || format!("{} is no file, and no revision", revision.display());
    let here = Path::new(".");
    let repository = said(git(here).args(["rev-parse", "--show-toplevel"])).with_context(no_file)?;
    let mut commit = revision.as_os_str().to_owned();
    commit.push("^{commit}");
    let commit =
        said(git(here).args(["rev-parse", "--verify", "--end-of-options"]).arg(commit)).with_context(no_file)?;
    Ok((PathBuf::from(repository), commit))
}

fn git(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).stdin(Stdio::null());
    git
}

/// What a command prints, without the line end. What it complains of is the error.
fn said(command: &mut Command) -> anyhow::Result<String> {
    let name = Path::new(command.get_program()).display().to_string();
    let Output { status, stdout, stderr } = command.output().with_context(|| format!("{name} cannot be started"))?;
    if !status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&stderr).trim());
    }
    Ok(String::from_utf8_lossy(&stdout).trim_end_matches('\n').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_names_the_command_among_what_else_it_built() {
        let read = |text: &str| serde_json::from_str::<Message>(text).unwrap().into_command();
        let library = r#"{"reason":"compiler-artifact","target":{"name":"peermap_cli"},"executable":null}"#;
        let command = r#"{"reason":"compiler-artifact","target":{"name":"peermap"},"executable":"/a/peermap"}"#;
        assert_eq!(read(library), None);
        assert_eq!(read(command), Some(PathBuf::from("/a/peermap")));
        assert_eq!(read(r#"{"reason":"build-finished","success":true}"#), None);
    }
}
