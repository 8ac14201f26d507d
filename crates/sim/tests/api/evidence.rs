//! The recorded step that shows a rule is refused here by that very rule, not by another with the same code.

use std::sync::{Arc, Mutex};

use peermap_driver::{Call, Driver, DriverError, Intercepted, Interceptor, Value};
use peermap_model::{Evidence, rules};
use peermap_sim::SimMachine;
use peermap_trace::{End, Player, Processes, StartError, Trace};

use crate::recordings::recordings;

/// Keeps the rule of the last call that was refused.
#[derive(Clone, Default)]
struct LastRefusal(Arc<Mutex<Option<&'static str>>>);

impl Interceptor for LastRefusal {
    fn before(&self, _: Call, _: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<(), DriverError> {
        Ok(())
    }

    fn after(&self, _: Call, error: Option<&DriverError>) {
        if let Some(error) = error {
            *self.0.lock().unwrap() = error.rule().map(|rule| rule.0);
        }
    }
}

struct Watched(SimMachine, LastRefusal);

impl Processes for Watched {
    fn start(&mut self, _: u32) -> Result<Box<dyn Driver>, StartError> {
        Ok(Box::new(Intercepted::new(self.0.process()?, self.1.clone())))
    }

    fn end(&mut self, _: u32, driver: Box<dyn Driver>, _: End) {
        drop(driver);
    }
}

/// The rule that refuses the last step of a trace that is cut after some steps.
fn refused_by(trace: &Trace, steps: usize) -> Option<&'static str> {
    let mut cut = trace.clone();
    cut.steps.truncate(steps);
    let last = LastRefusal::default();
    Player::play(&cut, &mut Watched(SimMachine::named("h200-x2").unwrap(), last.clone()));
    *last.0.lock().unwrap()
}

#[test]
fn each_rule_refuses_the_steps_that_show_it() {
    let traces = recordings();
    let mut wrong = Vec::new();
    for rule in rules::all().filter(|rule| !rule.result.is_success() || rule.crashes() || rule.hangs()) {
        for evidence in rule.evidence {
            let Evidence::Step(file, name, step) = *evidence else { continue };
            let trace = &traces[&(file.to_owned(), name.to_owned())];
            let got = refused_by(trace, usize::try_from(step).unwrap());
            if got != Some(rule.id.0) {
                wrong.push(format!("{}: step {step} of {name} in {file}.jsonl is refused by {got:?}", rule.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
