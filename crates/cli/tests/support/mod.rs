//! Running the command and reading what it says.

use std::process::{Command, Output, Stdio};

/// The command, with nothing of the caller's environment that changes what it does.
pub fn peermap() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_peermap"));
    command.env_remove("CUDA_VISIBLE_DEVICES").stdin(Stdio::null());
    command
}

/// The main job on the simulator with these arguments.
pub fn memmap_ipc(arguments: &[&str]) -> Command {
    scenario("memmap-ipc", arguments)
}

/// simple-ipc on the simulator with these arguments.
pub fn simple_ipc(arguments: &[&str]) -> Command {
    scenario("simple-ipc", arguments)
}

/// A scenario on the simulator with these arguments.
pub fn scenario(name: &str, arguments: &[&str]) -> Command {
    let mut command = peermap();
    command.args(["run", name, "--backend", "sim"]).args(arguments);
    command
}

/// Runs to the end.
pub fn run(command: &mut Command) -> Output {
    command.output().expect("the command starts")
}

/// Standard error as text.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The JSON object on standard output.
pub fn json(output: &Output) -> serde_json::Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object on standard output")
}
