//! Programs with what they must do, each launched by the command: those of `fixtures/ptx/golden`, which say it in a file
//! beside them, and those that nvcc made of `fixtures/ptx/cuda`, whose results are worked out again here.
//!
//! The same tests run on a GPU. `scripts/golden.sh` says how; what it sets is read in `command.rs`.

mod case;
mod command;
mod programs;
mod sidecar;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

use crate::command::Command;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let command = Command::of_environment();
    let cases = sidecar::cases(&command.fixtures).into_iter().chain(programs::cases(&command.fixtures));
    let trials = cases
        .map(|case| {
            let ignored = command.on_hardware() && !case.means_something_on_hardware();
            let command = command.clone();
            Trial::test(case.name.clone(), move || command.judge(&case).map_err(Into::into)).with_ignored_flag(ignored)
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}
