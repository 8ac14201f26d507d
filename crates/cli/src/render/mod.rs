//! `peermap report`: results of benchmarks as a page for people.

mod args;

use peermap_report::ExitCode;
use peermap_report::page::page;

pub(crate) use args::Report;

use crate::output::Output;
use crate::refusal::Refusal;
use crate::results;

/// Reads every file, then writes the page.
pub(crate) fn run(arguments: &Report) -> ExitCode {
    render(arguments).map_or_else(|refusal| refusal.end(false), |()| ExitCode::Ok)
}

fn render(arguments: &Report) -> Result<(), Refusal> {
    let out = Output::again(&arguments.out, arguments.force)?;
    let (base, results) = (results::read_named(&arguments.base)?, results::read_named(&arguments.files)?);
    out.write_whole(&page(&base, &results))
}
