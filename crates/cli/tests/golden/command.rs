//! Launching a program with the command, and judging what came of it.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command as Process, Output, Stdio};

use crate::case::{Argument, Case, Expected};

/// The command, where it runs kernels, and where the programs are.
#[derive(Clone)]
pub(crate) struct Command {
    exe: PathBuf,
    backend: String,
    pub(crate) fixtures: PathBuf,
}

impl Command {
    /// What `PEERMAP_GOLDEN_EXE`, `PEERMAP_GOLDEN_BACKEND` and `PEERMAP_GOLDEN_FIXTURES` say; without them, what was built
    /// here, on the simulator.
    pub(crate) fn of_environment() -> Self {
        let path = |name, other: &str| env::var_os(name).unwrap_or_else(|| OsString::from(other)).into();
        Self {
            exe: path("PEERMAP_GOLDEN_EXE", env!("CARGO_BIN_EXE_peermap")),
            backend: env::var("PEERMAP_GOLDEN_BACKEND").unwrap_or_else(|_| "sim".to_owned()),
            fixtures: path("PEERMAP_GOLDEN_FIXTURES", concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/ptx")),
        }
    }

    pub(crate) fn on_hardware(&self) -> bool {
        self.backend != "sim"
    }

    /// Launches a program, with the checks that are asked for, and compares.
    ///
    /// # Errors
    /// What is different from what must be.
    pub(crate) fn judge(&self, case: &Case, checks: Option<&str>) -> Result<(), String> {
        let scratch = tempfile::tempdir().map_err(|error| format!("no folder for files: {error}"))?;
        let output =
            self.launch(case, checks, scratch.path()).map_err(|error| format!("{}: {error}", self.exe.display()))?;
        let said = Said::of(&output);
        if let Some(found) = case.finds.as_ref().filter(|_| checks.is_some()) {
            said.ends_with(18)?;
            return said.names(found);
        }
        match &case.expected {
            Expected::Buffers(buffers) => {
                said.ends_with(0)?;
                case.prints.iter().try_for_each(|line| said.names(line))?;
                compare(buffers, scratch.path())
            }
            Expected::Fault(fault) => {
                said.ends_with(17)?;
                said.names(&fault.result)?;
                let explained = if self.on_hardware() { Vec::new() } else { fault.explanation() };
                explained.iter().try_for_each(|part| said.names(part))
            }
            Expected::NotModelled(what) => {
                said.ends_with(14)?;
                said.names(&format!("line {}:", what.line))?;
                said.names(&what.name)
            }
        }
    }

    fn launch(&self, case: &Case, checks: Option<&str>, scratch: &Path) -> std::io::Result<Output> {
        let mut process = Process::new(&self.exe);
        process.stdin(Stdio::null()).arg("launch").arg(&case.file).args(["--entry", &case.entry]);
        process.args(["--backend", &self.backend, "--grid", &case.grid, "--block", &case.block]);
        process.args(["--shared", &case.shared.to_string()]);
        process.args(checks.iter().flat_map(|checks| ["--check", checks]));
        process.args(case.deadline.iter().flat_map(|seconds| ["--deadline".to_owned(), seconds.to_string()]));
        for (index, argument) in case.arguments.iter().enumerate() {
            let text = match argument {
                Argument::Text(text) => text.clone(),
                Argument::Bytes(bytes) => {
                    let file = scratch.join(format!("in{index}"));
                    fs::write(&file, bytes)?;
                    format!("buf@{}", file.display())
                }
            };
            process.args(["--arg", &text]);
        }
        if let Expected::Buffers(buffers) = &case.expected {
            for index in buffers.keys() {
                process.args(["--out", &format!("{index}={}", out(scratch, *index).display())]);
            }
        }
        process.output()
    }
}

fn out(scratch: &Path, argument: usize) -> PathBuf {
    scratch.join(format!("out{argument}"))
}

/// How the command ended.
struct Said {
    code: Option<i32>,
    text: String,
}

impl Said {
    fn of(output: &Output) -> Self {
        let text = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned()).concat();
        Self { code: output.status.code(), text }
    }

    fn ends_with(&self, code: i32) -> Result<(), String> {
        let Self { code: ended, text } = self;
        if *ended == Some(code) { Ok(()) } else { Err(format!("exit status {ended:?}, expected {code}:\n{text}")) }
    }

    fn names(&self, what: &str) -> Result<(), String> {
        let Self { text, .. } = self;
        if text.contains(what) { Ok(()) } else { Err(format!("expected {what:?} in:\n{text}")) }
    }
}

fn compare(buffers: &BTreeMap<usize, Vec<u8>>, scratch: &Path) -> Result<(), String> {
    buffers.iter().try_for_each(|(argument, expected)| {
        let bytes = fs::read(out(scratch, *argument)).map_err(|error| format!("argument {argument}: {error}"))?;
        if bytes.len() != expected.len() {
            return Err(format!("argument {argument} has {} bytes, expected {}", bytes.len(), expected.len()));
        }
        let differing = |(is, must): (&u8, &u8)| is != must;
        let Some(at) = bytes.iter().zip(expected).position(differing) else { return Ok(()) };
        let all = bytes.iter().zip(expected).filter(|pair| differing(*pair)).count();
        let end = bytes.len().min(at / 8 * 8 + 16);
        let (is, must) = (&bytes[at / 8 * 8..end], &expected[at / 8 * 8..end]);
        Err(format!(
            "argument {argument}: {all} of {} bytes differ, the first at {at}; from {} on there are {is:?}, expected {must:?}",
            bytes.len(),
            at / 8 * 8
        ))
    })
}
