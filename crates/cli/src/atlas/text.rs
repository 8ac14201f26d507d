//! The atlas as text.

use peermap_model::rules;

use super::collect::{Atlas, Pair, Proof, shown_by, words};
use super::play::Place;

/// Calls, under each the answers, under each the rules.
pub(super) fn text(atlas: &Atlas) -> String {
    let mut text = String::new();
    for pairs in atlas.by_call() {
        text.push_str(&format!("{}\n", pairs[0].call));
        for pairs in pairs.chunk_by(|one, other| one.answer == other.answer) {
            text.push_str(&format!("  {}\n", pairs[0].answer.name()));
            pairs.iter().for_each(|pair| text.push_str(&rule(pair)));
        }
        text.push('\n');
    }
    text.push_str(&summary(atlas).join("\n"));
    text.push('\n');
    text
}

fn rule(pair: &Pair) -> String {
    let Pair { rule, steps, .. } = pair;
    let (id, sentence, unit) = (rule.id.0, rule.sentence, if *steps == 1 { "step " } else { "steps" });
    format!("    {id:<12} {steps:>4} {unit}  {sentence}\n{:29}{}\n", "", evidence(pair).join("; "))
}

/// The evidence of a rule about many calls is of some of them, so a step of this one is named too.
fn evidence(Pair { rule, first, .. }: &Pair) -> Vec<String> {
    let mut evidence: Vec<String> = rule.evidence.iter().map(|evidence| words(rule, evidence)).collect();
    if let Some(first) = first.as_ref().map(Place::to_string)
        && rule.calls.len() > 1
        && !evidence.contains(&first)
    {
        evidence.push(format!("this call {first}"));
    }
    evidence
}

/// What there is, in sentences.
pub(super) fn summary(atlas: &Atlas) -> Vec<String> {
    let counts = &atlas.counts;
    let mut lines = vec![
        format!(
            "{} rules: {} shown by recordings, {} by hardware tests, {} by the manual or a report alone",
            rules::all().count(),
            shown_by(Proof::Recording),
            shown_by(Proof::Hardware),
            shown_by(Proof::Manual),
        ),
        format!(
            "{} traces, {} steps: {} calls fail, {} of them by a rule; surprising acceptances: {}; failing steps outside \
             the driver: {}",
            counts.traces, counts.steps, counts.failing, counts.ruled, counts.accepted, counts.outside
        ),
    ];
    lines.extend(counts.machines.iter().map(|machine| format!("recorded on {machine}")));
    if counts.left_out > 0 {
        lines.push(format!("{} traces left out, they need more devices", counts.left_out));
    }
    lines
}
