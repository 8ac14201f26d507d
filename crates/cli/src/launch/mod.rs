//! `peermap launch`: one kernel of the user's, once.

mod args;
mod collect;
mod place;
mod present;

use std::fs;
use std::io::Write;

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_scenario::one_kernel::{Argument, Given, OneKernel, SignatureError, check, launch};

pub(crate) use args::Launch;

use crate::refusal::Refusal;
use crate::show;
use collect::Collected;
use place::Place;

/// Launches, and prints what became of it.
pub(crate) fn run(arguments: &Launch) -> ExitCode {
    launch_and_print(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn launch_and_print(arguments: &Launch) -> Result<ExitCode, Refusal> {
    // What is wrong with the arguments is said before anything is started.
    let mut kernel = kernel(arguments)?;
    let mut collected = Collected::new(arguments)?;
    let unread = match check(&kernel.image, &kernel.entry, &kernel.arguments) {
        Ok(()) => None,
        Err(error @ SignatureError::Unreadable(_)) => Some(error),
        Err(error) => return Err(Refusal::new(ExitCode::Usage, error)),
    };
    let place = Place::open(arguments)?;
    // The simulator refuses what cannot be read, and says why.
    if let (Some(error), None) = (unread, &place.profile) {
        show::note(&error.to_string());
    }
    kernel.patience = place.patience;
    let outcome = launch(&*place.driver, &kernel, &mut |argument, piece| collected.take(argument, piece));
    let text = match &outcome {
        Ok(()) => collected.finish()?.shown(&place, arguments),
        Err(error) => present::failure(error, arguments.json),
    };
    let written = std::io::stdout().write_all(text.as_bytes()).context("the result cannot be written");
    written.map_err(Refusal::unexpected)?;
    Ok(outcome.map_or_else(|error| error.exit_code(), |()| ExitCode::Ok))
}

fn kernel(arguments: &Launch) -> Result<OneKernel, Refusal> {
    let image = fs::read(&arguments.file).with_context(|| format!("{} cannot be read", arguments.file.display()));
    let image = image.map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    let given = arguments.arguments.iter().enumerate().map(|(index, argument)| read(index, argument));
    Ok(OneKernel {
        image,
        entry: arguments.entry.clone(),
        grid: arguments.grid(),
        block: arguments.block(),
        shared: arguments.shared,
        arguments: given.collect::<Result<_, _>>()?,
        patience: None,
    })
}

fn read(index: usize, argument: &Argument) -> Result<Given, Refusal> {
    argument.read().map_err(|error| {
        let file = if let Argument::File(path) = argument { path.display().to_string() } else { String::new() };
        let error = anyhow::Error::new(error).context(format!("--arg {index}: {file} cannot be read"));
        Refusal::new(ExitCode::Usage, error)
    })
}
