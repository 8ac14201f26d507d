//! `peermap report`: results of benchmarks as a page for people.

mod args;

use std::io::Write;
use std::path::PathBuf;

use peermap_report::ExitCode;
use peermap_report::page::{Named, page};

pub(crate) use args::Report;

use crate::output::{Output, unwritten};
use crate::refusal::Refusal;
use crate::results;

/// Reads every file, then writes the page.
pub(crate) fn run(arguments: &Report) -> ExitCode {
    render(arguments).map_or_else(|refusal| refusal.end(false), |()| ExitCode::Ok)
}

fn render(arguments: &Report) -> Result<(), Refusal> {
    let (base, results) = (read(&arguments.base)?, read(&arguments.files)?);
    let mut out = Output::replace(&arguments.out)?;
    out.write_all(page(&base, &results).as_bytes()).map_err(unwritten)?;
    out.finish()
}

fn read(files: &[PathBuf]) -> Result<Vec<Named>, Refusal> {
    let named = files.iter().map(|path| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        Ok(Named { name, report: results::read(path)? })
    });
    named.collect()
}
