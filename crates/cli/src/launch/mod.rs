//! `peermap launch`: one kernel of the user's, once.

mod args;
mod collect;
mod place;
mod present;

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::{Context, anyhow};
use peermap_report::ExitCode;
use peermap_scenario::one_kernel::{Argument, Given, OneKernel, SignatureError, check, launch};

pub(crate) use args::Launch;

use crate::refusal::Refusal;
use crate::show;
use args::Out;
use collect::Collected;
use place::Place;

/// Launches, and prints what became of it.
pub(crate) fn run(arguments: &Launch) -> ExitCode {
    launch_and_print(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn launch_and_print(arguments: &Launch) -> Result<ExitCode, Refusal> {
    // What is wrong with the arguments is said before anything is started.
    check_outs(&arguments.outs)?;
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
    let written = io::stdout().write_all(text.as_bytes()).context("the result cannot be written");
    written.map_err(Refusal::unexpected)?;
    Ok(outcome.map_or_else(|error| error.exit_code(), |()| ExitCode::Ok))
}

fn kernel(arguments: &Launch) -> Result<OneKernel, Refusal> {
    let image = text_of(&arguments.file).with_context(|| format!("{} cannot be read", arguments.file.display()));
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

/// No kernels are larger than so many bytes.
const MOST_BYTES: u64 = 64 << 20;

/// The bytes of a file, which may be a pipe, but none without an end.
fn text_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(file)?.take(MOST_BYTES + 1).read_to_end(&mut text)?;
    match text.len() as u64 > MOST_BYTES {
        true => Err(io::Error::other(format!("it has more than {MOST_BYTES} bytes"))),
        false => Ok(text),
    }
}

/// Refuses two buffers for one file, of which only one would be left.
fn check_outs(outs: &[Out]) -> Result<(), Refusal> {
    let place = |out: &Out| {
        let folder = out.file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        (folder.canonicalize().unwrap_or_else(|_| folder.to_owned()), out.file.file_name().map(ToOwned::to_owned))
    };
    for (number, out) in outs.iter().enumerate() {
        if let Some(other) = outs[..number].iter().find(|other| place(other) == place(out)) {
            let (argument, before, file) = (out.argument, other.argument, out.file.display());
            let error = anyhow!("--out: {file} would get the bytes of both argument {before} and {argument}");
            return Err(Refusal::new(ExitCode::Usage, error));
        }
    }
    Ok(())
}

fn read(index: usize, argument: &Argument) -> Result<Given, Refusal> {
    argument.read().map_err(|error| {
        let file = if let Argument::File(path) = argument { path.display().to_string() } else { String::new() };
        let error = anyhow::Error::new(error).context(format!("--arg {index}: {file} cannot be read"));
        Refusal::new(ExitCode::Usage, error)
    })
}
