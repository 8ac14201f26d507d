//! A rule of the driver's behaviour: which call answers what, in which case, and who says so.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use peermap_driver::{Argument, Call, CallSite, CuResult, DriverError, Explanation, RuleId, Value};

/// What a rule that is switched off answers where nothing can be accepted. No driver answers that.
const SWITCHED_OFF: CuResult = CuResult::new(u32::MAX);

/// One cause for one answer of one call.
#[derive(Debug)]
pub struct Rule {
    /// Its name, such as `MAP-3`.
    pub id: RuleId,
    /// The calls that it holds for.
    pub calls: &'static [Call],
    /// What they answer where it is broken; success for a rule about a surprising acceptance.
    pub result: CuResult,
    /// The rule in a sentence.
    pub sentence: &'static str,
    /// Who says so.
    pub evidence: &'static [Evidence],
    /// Whether a test has switched it off.
    off: AtomicBool,
}

/// Who proves a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Evidence {
    /// A recorded step: file, trace, and number of the step in the trace, counted from 1.
    Step(&'static str, &'static str, u32),
    /// A test of the real driver in `crates/cuda/tests/hardware`, by its name, where the recordings have no such call.
    Hardware(&'static str),
    /// A public report of what the driver was seen to do, where neither a recording nor the manual says it.
    Report(&'static str),
    /// The manual's page: alone, where no recording reaches the rule; beside a step, where the page says something else
    /// than the driver does.
    Manual(&'static str),
}

impl Rule {
    pub(crate) const fn new(
        id: RuleId,
        calls: &'static [Call],
        result: CuResult,
        sentence: &'static str,
        evidence: &'static [Evidence],
    ) -> Self {
        Self { id, calls, result, sentence, evidence, off: AtomicBool::new(false) }
    }

    /// Whether the real driver crashes where the rule is broken: it follows a handle that is none.
    #[must_use]
    pub fn crashes(&self) -> bool {
        self.id.0.starts_with("HANDLE-")
    }

    /// Whether the real driver does not return where the rule is broken: it waits for what does not come.
    #[must_use]
    pub fn hangs(&self) -> bool {
        self.id.0.starts_with("WAIT-")
    }

    /// Switches the rule off or on again, in the whole OS process. It is for tests that show that something notices: what the
    /// rule refuses is then accepted, or, where there is nothing to go on with, refused with a code of no meaning.
    pub fn switch(&self, on: bool) {
        self.off.store(!on, Ordering::Relaxed);
    }

    /// Whether the rule holds. It is asked only where the rule is broken.
    pub(crate) fn is_on(&self) -> bool {
        !self.off.load(Ordering::Relaxed)
    }

    /// The refusal of a call that breaks this rule.
    #[must_use]
    pub fn refuse(&'static self, facts: &[(&'static str, &dyn Argument)], earlier: Option<CallSite>) -> DriverError {
        let result = if self.is_on() { self.result } else { SWITCHED_OFF };
        DriverError::Refused { result, explanation: Some(Box::new(self.explain(facts, earlier))) }
    }

    /// The end of a call on which the real driver crashes.
    #[must_use]
    pub fn crash(&'static self, facts: &[(&'static str, &dyn Argument)], earlier: Option<CallSite>) -> DriverError {
        if !self.is_on() {
            return DriverError::refused(SWITCHED_OFF);
        }
        DriverError::WouldCrash { explanation: Box::new(self.explain(facts, earlier)) }
    }

    /// What is noted if somebody does what the rule is about although the driver accepts it: both sides of it. Nothing if the
    /// rule is switched off.
    pub(crate) fn misuse(
        &'static self,
        facts: &[(&'static str, &dyn Argument)],
        by: &dyn fmt::Display,
        earlier: Option<CallSite>,
    ) -> Option<Explanation> {
        let mut misuse = self.explain(facts, earlier);
        misuse.facts.push(("by", Value::Text(by.to_string())));
        self.is_on().then_some(misuse)
    }

    /// The rule with the values that decided.
    #[must_use]
    pub fn explain(&'static self, facts: &[(&'static str, &dyn Argument)], earlier: Option<CallSite>) -> Explanation {
        let facts = facts.iter().map(|(name, value)| (*name, value.value())).collect::<Vec<(&'static str, Value)>>();
        Explanation { rule: self.id, sentence: self.sentence, facts, earlier }
    }
}
