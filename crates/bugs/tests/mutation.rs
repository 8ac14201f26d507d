//! Every rule that is said to catch an entry does: with the rule switched off, the entry fails.
//!
//! In a binary of its own, because switching a rule off concerns the whole OS process, and in its first thread, because entries
//! fork.

use std::process::ExitCode;

use peermap_bugs::{ENTRIES, Launch, Stage, Verdict};
use peermap_testing::{Arguments, Trial};

fn main() -> ExitCode {
    let trial = Trial::test("each_rule_of_an_entry_catches_it", || {
        each_rule_of_an_entry_catches_it();
        Ok(())
    });
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    peermap_testing::run(&arguments, vec![trial]).exit_code()
}

fn each_rule_of_an_entry_catches_it() {
    let launch = Launch { exe: std::env::current_exe().unwrap(), args: Vec::new() };
    let stage = Stage::simulated(launch, 1);
    for entry in ENTRIES {
        for rule in entry.rules {
            assert_eq!(entry.play_here(&stage), Verdict::Passed, "{} with {}", entry.id, rule.id);
            rule.switch(false);
            let verdict = entry.play_here(&stage);
            rule.switch(true);
            assert!(matches!(verdict, Verdict::Failed(_)), "{} without {}: {verdict:?}", entry.id, rule.id);
        }
    }
}
