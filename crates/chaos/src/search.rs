//! Many seeds, and the fewest faults with which one fails.

use crate::codes::codes;
use crate::fault::{Fault, What, Who};
use crate::plan::Plan;
use crate::saboteur::Tally;

/// Takes faults out of a plan that fails, for as long as it goes on failing.
pub fn shrink<E>(plan: &Plan, mut fails: impl FnMut(&Plan) -> Result<bool, E>) -> Result<Plan, E> {
    let mut least = plan.clone();
    let mut index = 0;
    while index < least.faults.len() {
        let mut fewer = least.clone();
        fewer.faults.remove(index);
        if fails(&fewer)? {
            least = fewer;
        } else {
            index += 1;
        }
    }
    Ok(least)
}

/// Every single fault of a run in which nothing goes wrong, after what its processes did: each call refused with each code
/// that it can give, each process killed at each of its events.
#[must_use]
pub fn single_faults(processes: &[(Who, Tally)]) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (who, tally) in processes {
        let fault = |what| Fault { who: *who, what };
        for (call, made) in (0..).zip(&tally.calls) {
            let picks = 0..codes(*made).len() as u32;
            faults.extend(picks.map(|pick| fault(What::Refuse { call, pick })));
        }
        faults.extend((0..tally.events).map(|event| fault(What::Kill { event })));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Processes;

    fn plan(faults: &[&str]) -> Plan {
        let faults = faults.iter().map(|text| text.parse().expect("a fault")).collect();
        Plan { faults, ..Plan::of_seed(1, Processes::InOne, Plan::MOST_DEVICES) }
    }

    #[test]
    fn what_does_not_matter_is_taken_out() {
        let both = plan(&["kill:0:1", "stop:1:2:3", "lose:0:4"]);
        let needs = |plan: &Plan, what: &str| plan.faults.iter().any(|fault| fault.to_string() == what);
        let shrunk = shrink::<()>(&both, |plan| Ok(needs(plan, "lose:0:4")));
        assert_eq!(shrunk.map(|plan| plan.faults), Ok(plan(&["lose:0:4"]).faults));
        let shrunk = shrink::<()>(&both, |plan| Ok(needs(plan, "lose:0:4") && needs(plan, "kill:0:1")));
        assert_eq!(shrunk.map(|plan| plan.faults), Ok(plan(&["kill:0:1", "lose:0:4"]).faults));
    }
}
