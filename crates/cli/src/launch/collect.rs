//! What buffers hold after a launch: in files, or in short.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

use peermap_report::ExitCode;
use peermap_scenario::one_kernel::Runs;

use super::args::{Launch, Out};
use crate::output::Output;
use crate::refusal::Refusal;

/// What is collected of a buffer.
enum Into {
    Short(Runs),
    File(Output, PathBuf),
}

/// What is collected of each buffer, by the number of the argument.
pub(super) struct Collected(BTreeMap<usize, (u64, Into)>);

/// What a buffer held.
pub(super) enum Held {
    Short(Runs),
    File(PathBuf),
}

/// What all buffers held, with their sizes, by the number of the argument.
pub(super) struct Finished(pub(super) BTreeMap<usize, (u64, Held)>);

impl Collected {
    /// Begins the files that are asked for, so that one that cannot be written is known before the launch.
    pub(super) fn new(arguments: &Launch) -> Result<Self, Refusal> {
        let given = arguments.arguments.iter().enumerate();
        let buffers = given.filter(|(_, argument)| argument.is_buffer());
        let mut all: BTreeMap<_, _> = buffers.map(|(index, _)| (index, (0, Into::Short(Runs::default())))).collect();
        for Out { argument, file } in &arguments.outs {
            let usage = |says: &str| Refusal::new(ExitCode::Usage, anyhow::anyhow!("--out {argument}: {says}"));
            match all.get_mut(argument) {
                None => return Err(usage("this argument is no buffer")),
                Some((_, Into::File(..))) => return Err(usage("this buffer has a file already")),
                Some((_, into)) => *into = Into::File(Output::again(file, arguments.force)?, file.clone()),
            }
        }
        Ok(Self(all))
    }

    /// Takes the bytes of a buffer that follow.
    pub(super) fn take(&mut self, argument: usize, piece: &[u8]) -> io::Result<()> {
        let Some((bytes, into)) = self.0.get_mut(&argument) else { return Ok(()) };
        *bytes += piece.len() as u64;
        match into {
            Into::Short(runs) => runs.extend(piece),
            Into::File(output, _) => output.write_all(piece)?,
        }
        Ok(())
    }

    /// Gives the files their names.
    pub(super) fn finish(self) -> Result<Finished, Refusal> {
        let held = self.0.into_iter().map(|(argument, (bytes, into))| {
            let held = match into {
                Into::Short(runs) => Held::Short(runs),
                Into::File(output, path) => {
                    output.finish()?;
                    Held::File(path)
                }
            };
            Ok((argument, (bytes, held)))
        });
        held.collect::<Result<_, _>>().map(Finished)
    }
}
