//! The atlas as a page: a matrix of calls and answers, then every call, then every rule.

use std::collections::BTreeSet;

use maud::{Markup, html};
use peermap_driver::Call;
use peermap_model::{Rule, rules};
use peermap_report::page::frame;

use super::collect::{Atlas, Pair, Proof, answer, proof, words};
use super::play::Answer;
use super::text::summary;

const STYLE: &str = include_str!("atlas.css");

/// The page. It loads nothing.
pub(super) fn page(atlas: &Atlas) -> String {
    let body = html! {
        header {
            h1 { "Which call answers which error, and why" }
            @for line in summary(atlas) {
                p { (line) "." }
            }
            nav { a href="#matrix" { "Matrix" } a href="#calls" { "Calls" } a href="#rules" { "Rules" } }
        }
        main {
            (matrix(atlas))
            h2 id="calls" { "Calls" }
            div.calls { @for pairs in atlas.by_call() { (call(pairs)) } }
            h2 id="rules" { "Rules" }
            p.legend {
                "Evidence is a recorded step (file, trace, number), a test on hardware, a public report, or a page of the manual. A page that \
                 says something else than the recordings is marked “unlike”."
            }
            div.rules { @for one in rules::all() { (rule(atlas, one)) } }
        }
    };
    frame("Atlas of driver answers", STYLE, &body)
}

fn matrix(atlas: &Atlas) -> Markup {
    let answers: BTreeSet<Answer> = atlas.pairs.iter().map(|pair| pair.answer).collect();
    html! {
        h2 id="matrix" { "Calls and answers" }
        p.legend {
            "A number is how many recorded steps end so. "
            span.cell.zero { "0" } " no step of this call, but of another that the same rule holds for; "
            span.cell.zero { "hw" } " a test on hardware; "
            span.cell.zero { "man" } " the manual alone. SUCCESS counts surprising acceptances, SIGSEGV crashes of the driver, TIMEOUT calls that do not return."
        }
        div.scroll tabindex="0" role="region" aria-label="Matrix of calls and answers" {
            table {
                thead {
                    tr {
                        th scope="col" { "call" }
                        @for answer in &answers { th.answer scope="col" { span { (short(*answer)) } } }
                    }
                }
                tbody {
                    @for pairs in atlas.by_call() {
                        tr {
                            th scope="row" { a href={ "#" (pairs[0].call) } { (breakable(pairs[0].call)) } }
                            @for answer in &answers { (cell(pairs, *answer)) }
                        }
                    }
                }
            }
        }
    }
}

/// A name that may be broken before its capitals: `cuMem|Map`.
fn breakable(call: Call) -> Markup {
    html! {
        @for letter in call.name().chars() {
            @if letter.is_ascii_uppercase() { wbr; }
            (letter)
        }
    }
}

fn cell(pairs: &[Pair], answer: Answer) -> Markup {
    let here: Vec<&Pair> = pairs.iter().filter(|pair| pair.answer == answer).collect();
    let Some(first) = here.first() else { return html! { td {} } };
    let steps = here.iter().map(|pair| pair.steps).sum();
    let ids: Vec<&str> = here.iter().map(|pair| pair.rule.id.0).collect();
    html! {
        td.cell.(shade(steps)) {
            a href={ "#" (anchor(first.call, answer)) } title=(ids.join(", ")) {
                @if steps > 0 { (steps) } @else { (unreached(&here)) }
            }
        }
    }
}

/// The darker, the more steps.
const fn shade(steps: u64) -> &'static str {
    match steps {
        0 => "zero",
        1..10 => "few",
        10..100 => "some",
        _ => "many",
    }
}

/// What stands for the number of steps where there are none.
fn unreached(pairs: &[&Pair]) -> &'static str {
    let shown = |who| pairs.iter().any(|pair| proof(pair.rule) == who);
    if shown(Proof::Recording) {
        "0"
    } else if shown(Proof::Hardware) {
        "hw"
    } else {
        "man"
    }
}

fn short(answer: Answer) -> String {
    let name = answer.name();
    name.trim_start_matches("CUDA_").trim_start_matches("ERROR_").to_owned()
}

fn anchor(call: Call, answer: Answer) -> String {
    format!("{call}-{}", short(answer))
}

fn call(pairs: &[Pair]) -> Markup {
    let call = pairs[0].call;
    html! {
        section id=(call) {
            h3 { (call) }
            @for pairs in pairs.chunk_by(|one, other| one.answer == other.answer) {
                h4 id=(anchor(call, pairs[0].answer)) { (short(pairs[0].answer)) }
                ul {
                    @for Pair { rule, steps, first, .. } in pairs {
                        li {
                            a href={ "#" (rule.id) } { (rule.id) } " " (rule.sentence) " " (count(*steps))
                            @if let Some(first) = first { " " span.first { "first " (first) } }
                        }
                    }
                }
            }
        }
    }
}

fn rule(atlas: &Atlas, rule: &Rule) -> Markup {
    html! {
        section id=(rule.id) {
            h3 { (rule.id) " " span.result { (short(answer(rule))) } " " (count(atlas.steps_of(rule))) }
            p { (rule.sentence) }
            p.of { @for call in rule.calls { a href={ "#" (call) } { (call) } " " } }
            ul.evidence { @for evidence in rule.evidence { li { (words(rule, evidence)) } } }
        }
    }
}

fn count(steps: u64) -> Markup {
    let unit = if steps == 1 { "step" } else { "steps" };
    html! { span.count.(shade(steps)) { (steps) " " (unit) } }
}
