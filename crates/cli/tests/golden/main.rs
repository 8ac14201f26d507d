//! Programs with what they must do, each launched by the command: those of `fixtures/ptx/golden`, which say it in a file
//! beside them, and those that nvcc made of `fixtures/ptx/cuda`, whose results are worked out again here.
//!
//! The same tests run on a GPU. `scripts/golden.sh` says how; what it sets is read in `command.rs`.

mod case;
mod command;
mod programs;
mod sidecar;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use crate::case::Case;
use crate::command::Command;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let command = Command::of_environment();
    let cases = sidecar::cases(&command.fixtures).into_iter().chain(programs::cases(&command.fixtures));
    let trials = cases
        .flat_map(|case| {
            let case = Arc::new(case);
            let ignored = command.on_hardware() && !case.means_something_on_hardware();
            let plain = trial(&command, &case, None).with_ignored_flag(ignored);
            // What is right stays right when it is looked at.
            let watched = case.ends_well() && !command.on_hardware();
            let watched = watched.then(|| trial(&command, &case, Some("all")));
            [Some(plain), watched].into_iter().flatten()
        })
        .collect();
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// A launch of a program, with checks or without.
fn trial(command: &Command, case: &Arc<Case>, checks: Option<&'static str>) -> Trial {
    let name = if checks.is_some() { format!("{} with checks", case.name) } else { case.name.clone() };
    let (command, case) = (command.clone(), Arc::clone(case));
    Trial::test(name, move || command.judge(&case, checks).map_err(Into::into))
}
