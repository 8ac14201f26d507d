//! Benchmarks of two results, matched by their ids.

use std::collections::BTreeMap;

use serde::Serialize;

use super::floors::FloorCheck;
use super::sides::{Compared, Judge, Side};
use crate::bench::nvbandwidth;
use crate::bench::result::{BenchReport, Benchmark};
use crate::bench::verdict::{Change, Threshold, Verdict};
use crate::exit_code::ExitCode;

/// The number of the schema of [`Comparison`]. Adding a key keeps it.
const COMPARISON_SCHEMA: u32 = 1;

/// How results are compared.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct ComparisonOptions {
    /// The smallest change that matters.
    pub threshold: Threshold,
    /// Compare even what comes from machines that differ.
    pub across_machines: bool,
}

/// Two results that say nothing about each other.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the machines differ: {}", differences.join("; "))]
pub struct Incomparable {
    /// In what the machines differ, or where the samples come from.
    pub differences: Vec<String>,
}

/// How many benchmarks came to what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Counts {
    /// Slower ones.
    pub slower: usize,
    /// Faster ones.
    pub faster: usize,
    /// Those that are the same.
    pub same: usize,
    /// Those of which nothing can be said.
    pub ambiguous: usize,
    /// Those that the new result lacks, without what it skipped.
    pub missing: usize,
    /// Those that only the new result has.
    pub added: usize,
    /// What the new result skipped.
    pub skipped: usize,
    /// Those whose median misses its floor in the new result.
    pub floors_missed: usize,
}

/// Two results compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The number of its schema.
    pub schema: u32,
    /// `comparison`.
    pub kind: String,
    /// Whether nothing is slower and something can be said.
    pub ok: bool,
    /// The exit code that follows.
    pub exit_code: u8,
    /// All of it in one line.
    pub summary: String,
    /// How many benchmarks came to what.
    pub counts: Counts,
    /// The smallest change that matters, as a share.
    pub threshold: Threshold,
    /// In what the machines differ. Empty unless it was asked to compare across machines.
    pub machine_differences: Vec<String>,
    /// Whether each run of one side was made together with one of the other, so that the ratio is that of the pairs.
    pub paired: bool,
    /// What the new result is compared with.
    pub base: Side,
    /// The new result.
    pub new: Side,
    /// The benchmarks that both have: slower ones, those of which nothing can be said, faster ones, and the same; among each
    /// of them the slowest first.
    pub benchmarks: Vec<Compared>,
    /// The floors of the new result, and whether they are reached.
    pub floors: Vec<FloorCheck>,
    /// The ids of those that only the base has.
    pub only_in_base: Vec<String>,
    /// The ids of those that only the new result has.
    pub only_in_new: Vec<String>,
}

impl Comparison {
    /// Compares a new result with a base, sample by sample.
    ///
    /// The verdicts say whether the two runs differ. What made one of them slower may be chance that all its samples share, so
    /// that a third run would not show it; [`of_runs`](Self::of_runs) tells the two apart.
    ///
    /// Of two benchmarks with one id in a result the later one counts.
    ///
    /// # Errors
    /// [`Incomparable`]: the machines differ, or the samples come from different sources, and `options` does not allow it.
    pub fn new(base: &BenchReport, new: &BenchReport, options: ComparisonOptions) -> Result<Self, Incomparable> {
        Self::of_sides((base, 1), (new, 1), Change::between, options)
    }

    /// Compares several runs with several others, of which the medians are the samples: see [`BenchReport::of_runs`]. A
    /// verdict takes four on each side. Runs of both sides should alternate, so that what the machine does meanwhile disturbs
    /// both alike. With one run on each side it is [`Comparison::new`]; a side without any has no
    /// benchmark.
    ///
    /// # Errors
    /// [`Incomparable`]: as with one, any of them.
    pub fn of_runs(
        base: &[BenchReport],
        new: &[BenchReport],
        options: ComparisonOptions,
    ) -> Result<Self, Incomparable> {
        if let ([base], [new]) = (base, new) {
            return Self::new(base, new, options);
        }
        let empty = one_machine(base, new, options)?;
        let pooled = |side| BenchReport::of_runs(side).unwrap_or_else(|| empty.clone());
        Self::of_sides((&pooled(base), base.len()), (&pooled(new), new.len()), Change::between, options)
    }

    /// Compares runs that were made in pairs, the first of the base with the first new one and so on: see
    /// [`Change::of_pairs`]. Runs without a partner do not count. Fewer than [`PAIRS`](Self::PAIRS) pairs give no interval, and are
    /// compared as [`of_runs`](Self::of_runs) does.
    ///
    /// # Errors
    /// [`Incomparable`]: as there.
    pub fn of_pairs(
        base: &[BenchReport],
        new: &[BenchReport],
        options: ComparisonOptions,
    ) -> Result<Self, Incomparable> {
        let pairs = base.len().min(new.len());
        if pairs < Self::PAIRS {
            return Self::of_runs(base, new, options);
        }
        let empty = one_machine(base, new, options)?;
        let (base, new) = BenchReport::of_pairs(base, new).unwrap_or_else(|| (empty.clone(), empty));
        let paired = Self::of_sides((&base, pairs), (&new, pairs), Change::of_pairs, options)?;
        Ok(Self { paired: true, ..paired })
    }

    /// The fewest pairs of which the ratios alone give an interval.
    pub const PAIRS: usize = 6;

    fn of_sides(
        (base, base_runs): (&BenchReport, usize),
        (new, new_runs): (&BenchReport, usize),
        judge: Judge,
        options: ComparisonOptions,
    ) -> Result<Self, Incomparable> {
        let machine_differences = differences(base, new);
        if !machine_differences.is_empty() && !options.across_machines {
            return Err(Incomparable { differences: machine_differences });
        }
        let (old, fresh) = (by_id(base), by_id(new));
        let only_in = |one: &BTreeMap<String, &Benchmark>, other: &BTreeMap<String, &Benchmark>| -> Vec<String> {
            one.keys().filter(|id| !other.contains_key(*id)).cloned().collect()
        };
        let (only_in_base, only_in_new) = (only_in(&old, &fresh), only_in(&fresh, &old));
        let both = old.iter().filter_map(|(id, base)| Some((*base, *fresh.get(id)?)));
        let mut benchmarks: Vec<Compared> =
            both.map(|(base, new)| Compared::of(base, new, judge, options.threshold)).collect();
        benchmarks.sort_by(|one, two| one.verdict.cmp(&two.verdict).then_with(|| two.ratio().total_cmp(&one.ratio())));

        let floors: Vec<FloorCheck> = fresh.values().filter_map(|benchmark| FloorCheck::of(benchmark)).collect();
        let is_skipped = |id: &String| new.skipped.iter().any(|skipped| skipped.covers(id));
        let of = |verdict| benchmarks.iter().filter(|compared| compared.verdict == verdict).count();
        let counts = Counts {
            slower: of(Verdict::Slower),
            faster: of(Verdict::Faster),
            same: of(Verdict::Same),
            ambiguous: of(Verdict::Ambiguous),
            missing: only_in_base.iter().filter(|id| !is_skipped(id)).count(),
            added: only_in_new.len(),
            skipped: new.skipped.len(),
            floors_missed: floors.iter().filter(|floor| !floor.reached).count(),
        };
        let exit_code = counts.exit_code();
        Ok(Self {
            schema: COMPARISON_SCHEMA,
            kind: "comparison".to_owned(),
            ok: exit_code == ExitCode::Ok,
            exit_code: exit_code.code(),
            summary: counts.summary(),
            counts,
            threshold: options.threshold,
            machine_differences,
            paired: false,
            base: Side::of(base, base_runs),
            new: Side::of(new, new_runs),
            benchmarks,
            floors,
            only_in_base,
            only_in_new,
        })
    }

    /// The exit code that follows.
    #[must_use]
    pub fn exit_code(&self) -> ExitCode {
        self.counts.exit_code()
    }

    /// Whether each side has one run alone, so that the verdicts do not tell a change from what differs between any two runs. In
    /// an imported result each sample is a run of its own.
    #[must_use]
    pub fn is_of_single_runs(&self) -> bool {
        self.base.runs == 1 && self.new.runs == 1 && self.base.source != nvbandwidth::NAME
    }

    /// The floors that the new result misses.
    pub fn missed_floors(&self) -> impl Iterator<Item = &FloorCheck> {
        self.floors.iter().filter(|floor| !floor.reached)
    }

    /// The comparison as one JSON object.
    ///
    /// # Panics
    /// Never: it has only texts as keys.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a comparison has only texts as keys")
    }
}

impl Counts {
    /// The exit code that follows: a regression if anything is slower or misses its floor; ambiguous if of no benchmark at all
    /// anything can be said, as when none has a counterpart; else ok. A few that are ambiguous, or missing, are only counted:
    /// with noise there are always some, and a benchmark may go on purpose.
    #[must_use]
    pub const fn exit_code(self) -> ExitCode {
        if self.slower + self.floors_missed > 0 {
            ExitCode::Regression
        } else if self.faster + self.same == 0 {
            ExitCode::Ambiguous
        } else {
            ExitCode::Ok
        }
    }

    /// `3 slower, 1 faster, 40 same, 2 ambiguous, 1 missing`; what did not happen at the end is left out.
    #[must_use]
    pub fn summary(self) -> String {
        let Self { slower, faster, same, ambiguous, missing, added, skipped, floors_missed } = self;
        let floors = if floors_missed == 1 { "floor missed" } else { "floors missed" };
        let mut text = format!("{slower} slower, {faster} faster, {same} same, {ambiguous} ambiguous");
        for (count, what) in [(missing, "missing"), (added, "added"), (skipped, "skipped"), (floors_missed, floors)] {
            if count > 0 {
                text.push_str(&format!(", {count} {what}"));
            }
        }
        text
    }
}

/// The first of all runs without its samples, if the others are comparable with it.
fn one_machine(
    base: &[BenchReport],
    new: &[BenchReport],
    options: ComparisonOptions,
) -> Result<BenchReport, Incomparable> {
    let mut runs = base.iter().chain(new);
    let first = runs.next().map_or_else(|| BenchReport::new("", ""), BenchReport::without_samples);
    let others = runs.map(|run| differences(&first, run));
    match others.into_iter().find(|found| !found.is_empty() && !options.across_machines) {
        Some(differences) => Err(Incomparable { differences }),
        None => Ok(first),
    }
}

/// In what two results differ, so that they say nothing about each other.
fn differences(base: &BenchReport, new: &BenchReport) -> Vec<String> {
    let profile = |report: &BenchReport| report.profile.clone().unwrap_or_default();
    let facts = [("source", base.source.clone(), new.source.clone()), ("profile", profile(base), profile(new))];
    let differ = facts.into_iter().filter(|(_, one, two)| one != two);
    let mut all: Vec<String> = differ.map(|(what, one, two)| format!("{what}: {one:?} and {two:?}")).collect();
    all.extend(base.machine.differences(&new.machine));
    all
}

fn by_id(report: &BenchReport) -> BTreeMap<String, &Benchmark> {
    report.benchmarks.iter().map(|benchmark| (benchmark.id(), benchmark)).collect()
}
