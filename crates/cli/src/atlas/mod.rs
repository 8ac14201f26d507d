//! `peermap atlas`: which call answers which error by which rule, who says so, and how many recorded steps reach it.

mod collect;
mod html;
mod json;
mod play;
mod recordings;
mod text;

use std::io::Write;

use anyhow::Context;
use peermap_report::ExitCode;

use crate::args::Atlas as Arguments;
use crate::output::Output;
use crate::refusal::Refusal;
use crate::show;
use collect::Atlas;

/// How many steps without a rule are named.
const NAMED: usize = 5;

/// Plays the recordings on the simulator and prints what they reach.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    atlas(arguments).unwrap_or_else(|refusal| refusal.end(arguments.json))
}

fn atlas(arguments: &Arguments) -> Result<ExitCode, Refusal> {
    let page = arguments.html.as_deref().map(|path| Output::again(path, arguments.force)).transpose()?;
    let atlas = Atlas::new(play::play(recordings::choose(&arguments.files, arguments.quick)?)?);
    if let Some(page) = page {
        page.write_whole(&html::page(&atlas))?;
    }
    let text = if arguments.json { json::text(&atlas).map_err(Refusal::unexpected)? } else { text::text(&atlas) };
    let written = std::io::stdout().write_all(text.as_bytes()).context("the atlas cannot be written");
    written.map_err(Refusal::unexpected)?;
    Ok(judge(&atlas))
}

/// An atlas that leaves a failing step without a rule is not one to trust.
fn judge(atlas: &Atlas) -> ExitCode {
    let unruled = &atlas.counts.unruled;
    if unruled.is_empty() {
        return ExitCode::Ok;
    }
    for step in unruled.iter().take(NAMED) {
        show::complaint(&format!("the simulator gives no rule for the recorded answer of {step}"));
    }
    show::complaint(&format!("failing steps without a rule: {}", unruled.len()));
    ExitCode::Mismatch
}
