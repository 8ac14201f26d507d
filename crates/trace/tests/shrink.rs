//! A planted difference is found and shrunk.
//!
//! A binary of its own, because switching a rule off concerns the whole OS process.

use peermap_driver::Driver;
use peermap_model::rules;
use peermap_sim::SimMachine;
use peermap_trace::{Generator, InOne, Machine, Processes, Session, Shrunk, StartError, Step, Trace, Weights, shrink};

/// Processes of one simulated machine.
struct OnOne(SimMachine);

impl Processes for OnOne {
    fn start(&mut self, _process: u32) -> Result<Box<dyn Driver>, StartError> {
        Ok(Box::new(self.0.process()?))
    }
}

fn fresh() -> Result<OnOne, StartError> {
    Ok(OnOne(SimMachine::named("h200-x2")?))
}

/// The steps with the answers of a machine; `None` where there is none.
fn answers(trace: &Trace) -> Vec<Option<Step>> {
    let mut machine = fresh().unwrap();
    let mut session = Session::new(InOne::new(&mut machine));
    let answer = |step: &Step| {
        let got = session.step(step);
        Some(Step { result: got.result()?, out: got.out().cloned(), ..step.clone() })
    };
    trace.steps.iter().map(answer).collect()
}

/// The part of a trace up to the first step that the machine answers differently without the rule that mappings do not
/// overlap.
fn first_difference(trace: &Trace) -> Option<Trace> {
    let right: Vec<Step> = answers(trace).into_iter().collect::<Option<_>>()?;
    rules::MAP_8.switch(false);
    let wrong = answers(trace);
    rules::MAP_8.switch(true);
    let end = right.iter().zip(&wrong).position(|(right, wrong)| Some(right) != wrong.as_ref())?;
    Some(Trace { steps: right[..=end].to_vec(), ..trace.clone() })
}

#[test]
fn a_rule_that_is_switched_off_is_found_and_shrunk_to_a_handful_of_steps() {
    let machine = Machine { gpus: 2, model: "m".to_owned(), driver: "d".to_owned(), cuda: 13_000, link: None };
    let generator = Generator { seed: 5, steps: 60, processes: 2, devices: 1, weights: Weights::default(), machine };
    let found = (0..50).find_map(|number| first_difference(&generator.trace(number, fresh).unwrap())).unwrap();
    assert!(found.steps.len() > 10, "the difference was there from the beginning");

    let Shrunk { trace, tries, is_minimal } = shrink(found, 200, first_difference);
    assert!(is_minimal && tries < 200, "{tries}");
    let calls: Vec<&str> = trace.steps.iter().map(|step| step.call.name()).collect();
    assert_eq!(calls.last(), Some(&"cuMemMap"));
    assert!(calls.len() <= 7, "{calls:?}");
    assert!(first_difference(&trace).is_some());
}

#[test]
fn where_the_tries_run_out_it_says_so() {
    let machine = Machine { gpus: 2, model: "m".to_owned(), driver: "d".to_owned(), cuda: 13_000, link: None };
    let generator = Generator { seed: 6, steps: 40, processes: 1, devices: 1, weights: Weights::default(), machine };
    let trace = generator.trace(0, fresh).unwrap();
    let shrunk = shrink(trace.clone(), 3, |_| None);
    assert_eq!((shrunk.trace, shrunk.tries, shrunk.is_minimal), (trace, 3, false));
}
