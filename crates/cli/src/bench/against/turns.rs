//! Both builds in turns: which one is measured when, what of it is kept, and what it comes to.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use clap::ValueEnum;
use indicatif::ProgressBar;
use peermap_report::ExitCode;
use peermap_report::bench::{BenchReport, Comparison, ComparisonOptions};

use super::build::Build;
use super::other::Other;
use crate::bench::{Bench, chosen_suites, watch};
use crate::compare;
use crate::output::{Output, unwritten};
use crate::refusal::Refusal;
use crate::show;

/// One of the two builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Base,
    New,
}

impl Side {
    const fn name(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::New => "new",
        }
    }
}

/// The builds in the order in which a pair is measured, the first pair being number 1. Who is first alternates, so that what the
/// first of two does for the second, such as warming the machine up, favours neither.
const fn order(pair: u32) -> [Side; 2] {
    if pair % 2 == 1 { [Side::Base, Side::New] } else { [Side::New, Side::Base] }
}

/// Measures this build and another one in turns, compares and prints.
pub(in crate::bench) fn run(other: &Path, arguments: &Bench) -> Result<ExitCode, Refusal> {
    // Before anything is built or measured: what cannot be would lose minutes of work.
    chosen_suites(&arguments.suites)?;
    let kept = arguments.out.as_deref().map(Folder::check).transpose()?;
    let other = Other::find(other)?;
    let exe = env::current_exe().context("this executable has no path").map_err(Refusal::unexpected)?;
    let this = Build::new(&exe)?;
    if let Some(folder) = &kept {
        folder.create()?;
    }
    let bar = watch::bar();
    let measured = measure(&other.build, &this, arguments, kept.as_ref(), &bar);
    bar.finish_and_clear();
    let options = ComparisonOptions { threshold: arguments.against.threshold, across_machines: false };
    let compared = measured.and_then(|(base, new)| {
        let comparison = Comparison::of_pairs(&base, &new, options);
        comparison.map_err(|incomparable| Refusal::new(ExitCode::Usage, incomparable))
    });
    if let Some(folder) = &kept {
        show::note(&format!("what was measured is in {}", folder.path.display()));
    }
    let comparison = compared?;
    if let Some(folder) = &kept {
        folder.keep("comparison.json", comparison.to_json().as_bytes())?;
    }
    compare::print(&comparison, arguments.json, arguments.against.markdown)
}

/// The results of both builds, pair by pair.
fn measure(
    base: &Build,
    new: &Build,
    arguments: &Bench,
    kept: Option<&Folder>,
    bar: &ProgressBar,
) -> Result<(Vec<BenchReport>, Vec<BenchReport>), Refusal> {
    let pairs = arguments.against.pairs;
    let asked = asked(arguments);
    bar.set_length(2 * u64::from(pairs));
    bar.enable_steady_tick(Duration::from_secs(1));
    let (mut of_base, mut of_new) = (Vec::new(), Vec::new());
    for pair in 1..=pairs {
        for side in order(pair) {
            bar.set_message(format!("pair {pair} of {pairs}, {}", side.name()));
            let (build, results) = match side {
                Side::Base => (base, &mut of_base),
                Side::New => (new, &mut of_new),
            };
            let (report, text) = build.measure(&asked)?;
            results.push(report);
            if let Some(folder) = kept {
                folder.keep(&format!("{}-{pair:02}.json", side.name()), &text)?;
            }
            bar.inc(1);
        }
    }
    Ok((of_base, of_new))
}

/// What both builds are asked.
fn asked(arguments: &Bench) -> Vec<OsString> {
    let mut asked: Vec<OsString> = ["bench", "--json"].map(OsString::from).into();
    if !arguments.suites.is_empty() {
        asked.push(format!("--suite={}", arguments.suites.join(",")).into());
    }
    if !arguments.filter.is_empty() {
        asked.push(format!("--filter={}", arguments.filter).into());
    }
    if arguments.quick {
        asked.push("--quick".into());
    }
    if let Some(samples) = arguments.samples {
        asked.push(format!("--samples={samples}").into());
    }
    if let Some(backend) = arguments.place.backend.to_possible_value() {
        asked.push(format!("--backend={}", backend.get_name()).into());
    }
    if let Some(profile) = &arguments.place.profile {
        asked.push(format!("--profile={profile}").into());
    }
    asked
}

/// The folder in which results are kept.
struct Folder {
    path: PathBuf,
}

impl Folder {
    /// A folder that is not there yet.
    fn check(path: &Path) -> Result<Self, Refusal> {
        if path.symlink_metadata().is_ok() {
            let error = anyhow::anyhow!("{} cannot be created: it exists already", path.display());
            return Err(Refusal::new(ExitCode::Usage, error));
        }
        Ok(Self { path: path.to_owned() })
    }

    fn create(&self) -> Result<(), Refusal> {
        let created = fs::create_dir(&self.path).with_context(|| format!("{} cannot be created", self.path.display()));
        created.map_err(|error| Refusal::new(ExitCode::Usage, error))
    }

    fn keep(&self, name: &str, text: &[u8]) -> Result<(), Refusal> {
        let mut out = Output::create(&self.path.join(name))?;
        out.write_all(text.trim_ascii_end()).and_then(|()| out.write_all(b"\n")).map_err(unwritten)?;
        out.finish()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[test]
    fn who_is_first_alternates() {
        let order: Vec<&str> = (1..=4).flat_map(order).map(Side::name).collect();
        assert_eq!(order, ["base", "new", "new", "base", "base", "new", "new", "base"]);
    }

    #[test]
    fn both_are_asked_for_the_same() {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            bench: Bench,
        }
        let line = ["", "--suite", "control,bandwidth", "--filter=-x", "--quick", "--samples=9", "--profile=h200-x2"];
        let asked = asked(&Line::parse_from(line).bench);
        let expected = ["--suite=control,bandwidth", "--filter=-x", "--quick", "--samples=9", "--backend=auto"];
        assert_eq!(asked[..2], ["bench", "--json"]);
        assert_eq!(asked[2..7], expected);
        assert_eq!(asked[7..], ["--profile=h200-x2"]);
        assert_eq!(super::asked(&Line::parse_from([""]).bench), ["bench", "--json", "--backend=auto"]);
    }
}
