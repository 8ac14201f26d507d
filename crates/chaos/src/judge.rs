//! Which ends of a run its faults allow.

use peermap_report::FailureKind;

use crate::fault::{Fault, What};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What kind of failure; `None` if it succeeded.
    pub kind: Option<FailureKind>,
    /// What it says.
    pub message: String,
}

/// What is wrong about an end, after the faults that happened.
#[must_use]
pub fn judge(outcome: &Outcome, happened: &[Fault]) -> Option<String> {
    let Some(kind) = outcome.kind else {
        // A refused call must not go unnoticed: whoever ignores one does not know what it did.
        let ignored = happened.iter().find(|fault| matches!(fault.what, What::Refuse { .. }));
        return ignored.map(|fault| format!("it succeeds after {fault}"));
    };
    let is_allowed = happened.iter().any(|fault| allowed(*fault).contains(&kind));
    let faults = || happened.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match happened {
        [] => Some(format!("nothing went wrong and it ends as {kind:?}: {}", outcome.message)),
        _ if !is_allowed => Some(format!("it ends as {kind:?} after {}: {}", faults(), outcome.message)),
        _ => None,
    }
}

/// What is wrong about an end, where it is not known which of the faults happened.
pub(crate) fn may_be(outcome: &Outcome, faults: &[Fault]) -> Option<String> {
    outcome.kind.and_then(|_| judge(outcome, faults))
}

/// The kinds of failure that may come of a fault.
fn allowed(fault: Fault) -> &'static [FailureKind] {
    use FailureKind as K;
    match fault.what {
        // A device that refuses to say what it can do is none that can be used.
        What::Refuse { .. } => &[K::Driver, K::DeviceFault, K::Backend, K::Usage],
        What::NoAddresses { .. } | What::NoMemory { .. } => &[K::Driver],
        What::Kill { .. } => &[K::WorkerDied],
        What::Stop { .. } | What::Delay { .. } => &[K::TimedOut],
        // Whoever waits for what never comes is late; half a message is none; what arrives twice may be taken for
        // something else.
        What::Lose { .. } => &[K::TimedOut, K::WorkerDied, K::Unexpected],
        What::Double { .. } | What::Cut { .. } => &[K::Unexpected, K::WorkerDied, K::TimedOut],
        What::Files { .. } => &[K::Limit, K::Unexpected, K::Backend, K::Driver],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(kind: Option<FailureKind>, happened: &[&str]) -> Option<String> {
        let happened: Vec<Fault> = happened.iter().map(|text| text.parse().expect("a fault")).collect();
        judge(&Outcome { kind, message: "why".to_owned() }, &happened)
    }

    #[test]
    fn a_run_without_faults_must_succeed() {
        assert_eq!(judged(None, &[]), None);
        let wrong = judged(Some(FailureKind::TimedOut), &[]);
        assert_eq!(wrong.as_deref(), Some("nothing went wrong and it ends as TimedOut: why"));
    }

    #[test]
    fn no_fault_explains_wrong_bytes_and_a_death_is_no_driver_error() {
        for fault in ["kill:0:1", "refuse:0:1:0", "lose:0:1", "stop:0:1:5", "no-memory:0:1"] {
            assert!(judged(Some(FailureKind::Mismatch), &[fault]).is_some(), "{fault}");
        }
        assert_eq!(judged(Some(FailureKind::WorkerDied), &["kill:0:1"]), None);
        let wrong = judged(Some(FailureKind::Driver), &["kill:0:1"]);
        assert_eq!(wrong.as_deref(), Some("it ends as Driver after kill:0:1: why"));
    }

    #[test]
    fn a_refusal_that_nobody_notices_is_wrong() {
        assert_eq!(judged(Some(FailureKind::Driver), &["refuse:0:1:0"]), None);
        assert_eq!(judged(None, &["refuse:0:1:0"]).as_deref(), Some("it succeeds after refuse:0:1:0"));
        assert_eq!(judged(None, &["double:0:1"]), None);
    }
}
