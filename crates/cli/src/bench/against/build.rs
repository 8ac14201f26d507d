//! One of the two builds: what it is asked, what it answers, and that it stays the same.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::thread;

use anyhow::{Context, anyhow};
use peermap_ipc::{Child, Deadline, Exit, Output, Spawn};
use peermap_report::ExitCode;
use peermap_report::bench::BenchReport;

use crate::refusal::Refusal;

/// How many lines of what a build says on standard error are repeated, the last ones.
const LINES: usize = 10;

/// An executable of peermap.
pub(super) struct Build {
    path: PathBuf,
    /// What tells this file from another one that takes its name.
    identity: Identity,
}

#[derive(PartialEq)]
struct Identity {
    device: u64,
    inode: u64,
    size: u64,
    changed: (i64, i64),
}

impl Build {
    /// An executable that says that it is a peermap.
    pub(super) fn new(path: &Path) -> Result<Self, Refusal> {
        let named = || format!("{} cannot be measured", path.display());
        // A name without a folder would be looked for elsewhere.
        let path = path.canonicalize().with_context(named).map_err(usage)?;
        let identity = identity(&path).with_context(named).map_err(usage)?;
        let answer = ask(&path, &[OsStr::new("--version")]).map_err(usage)?;
        if !answer.stdout.starts_with(b"peermap ") {
            let said = String::from_utf8_lossy(&answer.stdout).lines().next().unwrap_or_default().to_owned();
            let error = anyhow!("{} is no peermap: asked for its version it says {said:?}", path.display());
            return Err(usage(error.context(answer.words())));
        }
        Ok(Self { path, identity })
    }

    /// Measures once; gives the result, and its text as it was written.
    pub(super) fn measure(&self, arguments: &[OsString]) -> Result<(BenchReport, Vec<u8>), Refusal> {
        let path = self.path.display();
        if identity(&self.path).ok().as_ref() != Some(&self.identity) {
            let error = anyhow!("{path} was changed between two runs, so they would not be of one build; give a copy");
            return Err(Refusal::unexpected(error));
        }
        let answer = ask(&self.path, arguments).map_err(Refusal::unexpected)?;
        let failed = || anyhow!("{path} did not measure: {}", answer.words());
        match answer.exit {
            // A floor that is missed is a result, too.
            Exit::Code(code)
                if [ExitCode::Ok, ExitCode::Regression].iter().any(|good| i32::from(good.code()) == code) => {}
            Exit::Code(code) => return Err(Refusal::new(meaning(code), failed())),
            Exit::Signal(_) => return Err(Refusal::new(ExitCode::WorkerLost, failed())),
        }
        let result = BenchReport::read(&String::from_utf8_lossy(&answer.stdout));
        let report = result.with_context(|| format!("what {path} wrote cannot be compared")).map_err(usage)?;
        Ok((report, answer.stdout))
    }
}

fn usage(error: anyhow::Error) -> Refusal {
    Refusal::new(ExitCode::Usage, error)
}

fn identity(path: &Path) -> io::Result<Identity> {
    let found = fs::metadata(path)?;
    let changed = (found.mtime(), found.mtime_nsec());
    Ok(Identity { device: found.dev(), inode: found.ino(), size: found.len(), changed })
}

/// The exit code of another build, whose numbers mean the same. One that we do not know means nothing to us.
fn meaning(code: i32) -> ExitCode {
    let known = ExitCode::ALL.iter().find(|known| i32::from(known.code()) == code);
    known.copied().unwrap_or(ExitCode::Unexpected)
}

/// How a build ended, and what it said.
struct Answer {
    exit: Exit,
    stdout: Vec<u8>,
    stderr: String,
}

impl Answer {
    /// How it ended and what it said last, in one line.
    fn words(&self) -> String {
        let lines: Vec<&str> = self.stderr.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LINES)..].join("; ");
        if last.is_empty() { self.exit.to_string() } else { format!("{}, {last}", self.exit) }
    }
}

/// Runs a build to its end. It dies with this process.
fn ask(path: &Path, arguments: &[impl AsRef<OsStr>]) -> anyhow::Result<Answer> {
    let spawn = Spawn::new(path).args(arguments).stdout(Output::Piped).stderr(Output::Piped);
    let mut child = spawn.spawn()?;
    let (stdout, stderr) = read(&mut child).with_context(|| format!("{} cannot be heard", path.display()))?;
    let exit = child.wait(Deadline::NEVER)?;
    Ok(Answer { exit, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
}

/// All that a child writes. Both pipes are read at once, because it stops when one of them is full.
fn read(child: &mut Child) -> io::Result<(Vec<u8>, Vec<u8>)> {
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let (from_stdout, from_stderr) = (child.take_stdout(), child.take_stderr());
    thread::scope(|scope| {
        let other = scope.spawn(|| from_stderr.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut stderr)));
        from_stdout.map_or(Ok(0), |mut pipe| pipe.read_to_end(&mut stdout))?;
        other.join().unwrap_or_else(|_| Err(io::Error::other("the reader of standard error is lost")))
    })?;
    Ok((stdout, stderr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_numbers_of_another_build_keep_their_meaning() {
        assert_eq!(meaning(12), ExitCode::BackendUnavailable);
        assert_eq!(meaning(101), ExitCode::Unexpected);
    }

    #[test]
    fn what_was_said_last_is_repeated() {
        let stderr = (1..=12).map(|number| format!("line {number}\n\n")).collect();
        let answer = Answer { exit: Exit::Code(3), stdout: Vec::new(), stderr };
        let words = answer.words();
        assert!(words.starts_with("exit code 3, line 3; line 4; "), "{words}");
        assert!(words.ends_with("; line 12"), "{words}");
    }
}
