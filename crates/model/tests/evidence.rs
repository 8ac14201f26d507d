//! Every rule is shown by the recorded steps that it names.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use peermap_driver::CuResult;
use peermap_model::{Evidence, Rule, rules};
use serde_json::Value;

/// The files of recordings, those of pools and those that random calls found included.
fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces");
    let entries =
        [folder.clone(), folder.join("found"), folder.join("pools")].map(|folder| fs::read_dir(folder).unwrap());
    let paths = entries.into_iter().flatten().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

/// What a rule calls a file: `vmm`, or `found/NAME` and `pools/NAME`.
fn stem(file: &Path) -> String {
    let stem = file.file_stem().unwrap().to_str().unwrap();
    let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    match folder.filter(|folder| *folder != "traces") {
        Some(folder) => format!("{folder}/{stem}"),
        None => stem.to_owned(),
    }
}

/// The steps of every recorded trace, by file and name.
fn recordings() -> HashMap<(String, String), Vec<Value>> {
    let mut traces: HashMap<(String, String), Vec<Value>> = HashMap::new();
    for file in files() {
        let stem = stem(&file);
        let mut name = String::new();
        for line in fs::read_to_string(&file).unwrap().lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            match line.get("trace") {
                Some(_) => line["name"].as_str().unwrap().clone_into(&mut name),
                None => traces.entry((stem.clone(), name.clone())).or_default().push(line),
            }
        }
    }
    traces
}

/// What a step answers where the rule decides: the code by name, or the crash of the driver, or that it does not return.
fn expected(rule: &Rule) -> String {
    match (rule.crashes(), rule.hangs()) {
        (true, _) => "SIGSEGV".to_owned(),
        (_, true) => "TIMEOUT".to_owned(),
        _ => rule.result.name(),
    }
}

/// What is wrong with a piece of evidence, if anything is.
fn flaw(traces: &HashMap<(String, String), Vec<Value>>, rule: &Rule, evidence: Evidence) -> Option<String> {
    let Evidence::Step(file, trace, number) = evidence else { return None };
    let place = format!("{}: step {number} of {trace} in {file}.jsonl", rule.id);
    let Some(steps) = traces.get(&(file.to_owned(), trace.to_owned())) else {
        return Some(format!("{place}: there is no such trace"));
    };
    let Some(step) = usize::try_from(number).unwrap().checked_sub(1).and_then(|index| steps.get(index)) else {
        return Some(format!("{place}: the trace has {} steps", steps.len()));
    };
    let (call, result) = (step["call"].as_str().unwrap(), step["result"].as_str().unwrap());
    let right = rule.calls.iter().any(|of_rule| of_rule.name() == call) && result == expected(rule);
    (!right).then(|| format!("{place}: {call} answered {result}, the rule says {:?} {}", rule.calls, expected(rule)))
}

#[test]
fn every_recorded_step_that_a_rule_names_shows_it() {
    let traces = recordings();
    let flaws: Vec<String> = rules::all()
        .flat_map(|rule| rule.evidence.iter().filter_map(|evidence| flaw(&traces, rule, *evidence)))
        .collect();
    assert!(flaws.is_empty(), "{}", flaws.join("\n"));
}

#[test]
fn every_hardware_test_that_a_rule_names_is_there() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cuda/tests/hardware");
    for rule in rules::all() {
        for evidence in rule.evidence {
            let Evidence::Hardware(test) = evidence else { continue };
            let (module, name) = test.split_once("::").expect("a test is named by its module and its function");
            let source = fs::read_to_string(folder.join(module).with_extension("rs")).unwrap();
            assert!(source.contains(&format!("pub fn {name}()")), "{}: there is no test {test}", rule.id);
        }
    }
}

#[test]
fn most_rules_are_shown_by_recordings() {
    let (manual, recorded): (Vec<_>, Vec<_>) = rules::all().partition(|rule| {
        rule.evidence.iter().all(|evidence| matches!(evidence, Evidence::Manual(_) | Evidence::Report(_)))
    });
    assert!(recorded.len() > 2 * manual.len(), "{} recorded, {} by the manual alone", recorded.len(), manual.len());
}

#[test]
fn the_check_of_evidence_can_fail() {
    let traces = recordings();
    let map = &rules::MAP_8;
    assert!(flaw(&traces, map, Evidence::Step("vmm", "no-such-trace", 1)).unwrap().contains("no such trace"));
    assert!(flaw(&traces, map, Evidence::Step("vmm", "map-overlap", 10_000)).unwrap().contains("the trace has"));
    assert!(flaw(&traces, map, Evidence::Step("vmm", "map-overlap", 0)).is_some());
    assert!(flaw(&traces, map, Evidence::Step("vmm", "map-overlap", 1)).unwrap().contains(&CuResult::SUCCESS.name()));
}
