//! The atlas as one JSON object.

use peermap_model::{Evidence, Rule, rules};
use serde::Serialize;

use super::collect::{Atlas, Pair, Proof, answer, shown_by};
use super::play::Place;

/// The version of the object.
const SCHEMA: u32 = 1;

#[derive(Serialize)]
struct Object<'a> {
    schema: u32,
    rules: Vec<RuleObject>,
    pairs: Vec<PairObject<'a>>,
    summary: Summary,
}

#[derive(Serialize)]
struct RuleObject {
    id: &'static str,
    calls: Vec<&'static str>,
    result: String,
    sentence: &'static str,
    evidence: Vec<EvidenceObject>,
    steps: u64,
}

/// Beside a step, the manual's page says something else than the driver does.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum EvidenceObject {
    Step { file: &'static str, trace: &'static str, step: u32 },
    Hardware { test: &'static str },
    Report { report: &'static str },
    Manual { page: &'static str },
}

#[derive(Serialize)]
struct PairObject<'a> {
    call: &'static str,
    result: String,
    rule: &'static str,
    steps: u64,
    /// The first of the steps.
    first: Option<&'a Place>,
}

#[derive(Serialize)]
struct Summary {
    rules: usize,
    shown_by_recordings: usize,
    shown_by_hardware_tests: usize,
    manual_only: usize,
    machines: Vec<String>,
    traces: u64,
    left_out: u64,
    steps: u64,
    failing: u64,
    attributed: u64,
    accepted: u64,
    failing_outside_the_driver: u64,
}

/// The object and a line break.
///
/// # Errors
/// Those of the serialiser.
pub(super) fn text(atlas: &Atlas) -> serde_json::Result<String> {
    let object = Object {
        schema: SCHEMA,
        rules: rules::all().map(|rule| rule_object(atlas, rule)).collect(),
        pairs: atlas.pairs.iter().map(PairObject::from).collect(),
        summary: atlas.into(),
    };
    serde_json::to_string(&object).map(|text| text + "\n")
}

fn rule_object(atlas: &Atlas, rule: &Rule) -> RuleObject {
    RuleObject {
        id: rule.id.0,
        calls: rule.calls.iter().map(|call| call.name()).collect(),
        result: answer(rule).name(),
        sentence: rule.sentence,
        evidence: rule.evidence.iter().map(EvidenceObject::from).collect(),
        steps: atlas.steps_of(rule),
    }
}

impl From<&Evidence> for EvidenceObject {
    fn from(evidence: &Evidence) -> Self {
        match *evidence {
            Evidence::Step(file, trace, step) => Self::Step { file, trace, step },
            Evidence::Hardware(test) => Self::Hardware { test },
            Evidence::Report(report) => Self::Report { report },
            Evidence::Manual(page) => Self::Manual { page },
        }
    }
}

impl<'a> From<&'a Pair> for PairObject<'a> {
    fn from(Pair { call, answer, rule, steps, first }: &'a Pair) -> Self {
        Self { call: call.name(), result: answer.name(), rule: rule.id.0, steps: *steps, first: first.as_ref() }
    }
}

impl From<&Atlas> for Summary {
    fn from(Atlas { counts, .. }: &Atlas) -> Self {
        Self {
            rules: rules::all().count(),
            shown_by_recordings: shown_by(Proof::Recording),
            shown_by_hardware_tests: shown_by(Proof::Hardware),
            manual_only: shown_by(Proof::Manual),
            machines: counts.machines.iter().cloned().collect(),
            traces: counts.traces,
            left_out: counts.left_out,
            steps: counts.steps,
            failing: counts.failing,
            attributed: counts.ruled,
            accepted: counts.accepted,
            failing_outside_the_driver: counts.outside,
        }
    }
}
