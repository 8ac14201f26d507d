//! The rules, by call and answer, with the steps that reach each.

use std::collections::BTreeMap;

use peermap_driver::Call;
use peermap_model::{Evidence, Rule, rules};

use super::play::{Answer, Counts, Place, Reached};

/// A rule at one of its calls.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) call: Call,
    pub(super) answer: Answer,
    pub(super) rule: &'static Rule,
    pub(super) steps: u64,
    /// The first of them.
    pub(super) first: Option<Place>,
}

/// The rules and what the recordings reach of them.
#[derive(Debug)]
pub(super) struct Atlas {
    /// In the order of the calls, then of the answers, then of the rules.
    pub(super) pairs: Vec<Pair>,
    pub(super) counts: Counts,
}

/// Who shows a rule, in the order of how much that is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// A recorded step.
    Recording,
    /// A test of the real driver.
    Hardware,
    /// Nothing but the manual, or a public report.
    Manual,
}

impl Atlas {
    /// Puts the counts beside the rules.
    pub(super) fn new(counts: Counts) -> Self {
        let mut pairs = BTreeMap::new();
        for (order, rule) in rules::all().enumerate() {
            for call in rule.calls {
                let answer = answer(rule);
                pairs.insert((*call, answer, order), Pair { call: *call, answer, rule, steps: 0, first: None });
            }
            // What a recording reaches and the rule does not list stands here too.
            for (&(call, answer, _), Reached { steps, first }) in
                counts.reached.iter().filter(|((_, _, id), _)| id == rule.id.0)
            {
                let first = Some(first.clone());
                pairs.insert((call, answer, order), Pair { call, answer, rule, steps: *steps, first });
            }
        }
        Self { pairs: pairs.into_values().collect(), counts }
    }

    /// How many steps reach a rule by any call.
    pub(super) fn steps_of(&self, rule: &Rule) -> u64 {
        self.pairs.iter().filter(|pair| pair.rule.id == rule.id).map(|pair| pair.steps).sum()
    }

    /// The pairs of each call that has any.
    pub(super) fn by_call(&self) -> impl Iterator<Item = &[Pair]> {
        self.pairs.chunk_by(|one, other| one.call == other.call)
    }
}

/// What a call answers where it breaks a rule.
pub(super) fn answer(rule: &Rule) -> Answer {
    if rule.crashes() {
        Answer::Crash
    } else if rule.hangs() {
        Answer::Hang
    } else {
        Answer::Code(rule.result)
    }
}

/// Who shows a rule.
pub(super) fn proof(rule: &Rule) -> Proof {
    let any = |is: fn(&Evidence) -> bool| rule.evidence.iter().any(is);
    if any(|evidence| matches!(evidence, Evidence::Step(..))) {
        Proof::Recording
    } else if any(|evidence| matches!(evidence, Evidence::Hardware(_))) {
        Proof::Hardware
    } else {
        Proof::Manual
    }
}

/// How many rules somebody shows.
pub(super) fn shown_by(who: Proof) -> usize {
    rules::all().filter(|rule| proof(rule) == who).count()
}

/// A piece of evidence in a few words.
pub(super) fn words(rule: &Rule, evidence: &Evidence) -> String {
    match evidence {
        Evidence::Step(file, trace, step) => format!("{file} {trace} {step}"),
        Evidence::Hardware(test) => format!("hardware {test}"),
        Evidence::Report(report) => format!("report {report}"),
        Evidence::Manual(page) if proof(rule) == Proof::Manual => format!("manual {page}"),
        Evidence::Manual(page) => format!("unlike manual {page}"),
    }
}
