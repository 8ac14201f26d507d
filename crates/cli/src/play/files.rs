//! The files of traces, read step by step.

use std::fs::File;
use std::io::BufReader;
use std::iter::Peekable;
use std::path::Path;

use anyhow::Context;
use peermap_report::ExitCode;
use peermap_trace::{Header, Lines, ReadError, Step, TraceLine};

use crate::refusal::Refusal;

/// The steps of one trace, as they are read.
pub(crate) type Steps<'s> = dyn Iterator<Item = Result<Step, Refusal>> + 's;

/// Opens a file of traces.
pub(crate) fn open(path: &Path) -> Result<BufReader<File>, Refusal> {
    let file = File::open(path).with_context(|| format!("{} cannot be opened", path.display()));
    file.map(BufReader::new).map_err(|error| Refusal::new(ExitCode::Usage, error))
}

/// What is wrong with a file.
pub(crate) fn malformed(path: &Path, error: ReadError) -> Refusal {
    Refusal::new(ExitCode::Usage, anyhow::Error::from(error).context(path.display().to_string()))
}

/// What is wrong with a file that has no trace: most likely it is the wrong one.
pub(crate) fn without_traces(path: &Path) -> Refusal {
    let error = anyhow::anyhow!("{} has no trace; name a file that `peermap record` wrote", path.display());
    Refusal::new(ExitCode::Usage, error)
}

/// Plays each trace of a file while it is read: no more than one step of it is in memory.
pub(crate) fn each_trace(
    path: &Path,
    mut play: impl FnMut(Header, &mut Steps<'_>) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let mut lines = Lines::new(open(path)?).peekable();
    if lines.peek().is_none() {
        return Err(without_traces(path));
    }
    while let Some(line) = lines.next() {
        match line.map_err(|error| malformed(path, error))? {
            TraceLine::Header { header, .. } => {
                let mut steps = std::iter::from_fn(|| next_step(path, &mut lines));
                play(header, &mut steps)?;
                // A trace that is left out is read to its end all the same.
                steps.try_for_each(|step| step.map(drop))?;
            }
            TraceLine::Step(step) => unreachable!("the step in line {} belongs to the trace before it", step.line),
        }
    }
    Ok(())
}

fn next_step<I>(path: &Path, lines: &mut Peekable<I>) -> Option<Result<Step, Refusal>>
where
    I: Iterator<Item = Result<TraceLine, ReadError>>,
{
    match lines.next_if(|line| !matches!(line, Ok(TraceLine::Header { .. })))? {
        Ok(TraceLine::Step(step)) => Some(Ok(step)),
        Ok(TraceLine::Header { .. }) => None,
        Err(error) => Some(Err(malformed(path, error))),
    }
}
