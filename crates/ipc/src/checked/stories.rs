//! What processes do at a barrier, and what must come of it whatever the order.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::world::{Act, Hall, World};
use crate::{BarrierError, Deadline};

/// How a member's wait ended.
type Outcome = (u32, Result<(), BarrierError>);

/// Where the ends of waits are kept. No process holds the lock while another runs.
type Outcomes = Arc<Mutex<Vec<Outcome>>>;

/// A deadline that has passed: it ends the wait at whatever moment the checker has the member look.
fn passed() -> Deadline {
    Deadline::after(Duration::ZERO)
}

/// A member waits once.
fn waits<W: World>(hall: &Arc<Hall<W>>, outcomes: &Outcomes, member: u32, deadline: Deadline) -> Act {
    let (hall, outcomes) = (Arc::clone(hall), Arc::clone(outcomes));
    Box::new(move || {
        let outcome = hall.wait(member, deadline);
        outcomes.lock().unwrap_or_else(PoisonError::into_inner).push((member, outcome));
    })
}

fn ended(outcomes: &Outcomes) -> Vec<Outcome> {
    outcomes.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn missing(outcome: &Result<(), BarrierError>) -> &[u32] {
    match outcome {
        Err(BarrierError::TimedOut { missing }) => missing,
        _ => &[],
    }
}

fn passed_it(outcomes: &[Outcome], member: u32) -> usize {
    outcomes.iter().filter(|(who, outcome)| *who == member && outcome.is_ok()).count()
}

/// In each round, each member writes its slot, and reads in all slots what was written in this round or, by somebody who
/// has gone ahead, in the next. The counter of rounds begins at `before`.
pub(super) fn nobody_is_early_and_what_was_written_is_seen<W: World>(members: u32, rounds: u32, before: u32) {
    let hall = Hall::<W>::new(members, before);
    let goes_round = |member| -> Act {
        let hall = Arc::clone(&hall);
        Box::new(move || {
            for round in 1..=rounds {
                hall.put(member, round.to_ne_bytes());
                assert_eq!(hall.wait(member, Deadline::NEVER), Ok(()));
                let seen = hall.read().into_iter().map(u32::from_ne_bytes);
                assert!(seen.into_iter().all(|other| (round..=round + 1).contains(&other)), "round {round}");
            }
        })
    };
    W::play((0..members).map(goes_round).collect());
}

/// Member 0 has no patience: either all pass, or none, and then all are told who was missing
/// when the first of them gave up, or who still is.
pub(super) fn a_deadline_ends_the_round_for_all_or_for_nobody<W: World>(members: u32) {
    let (hall, outcomes) = (Hall::<W>::new(members, 0), Outcomes::default());
    let patience = |member| if member == 0 { passed() } else { Deadline::NEVER };
    W::play((0..members).map(|member| waits(&hall, &outcomes, member, patience(member))).collect());
    let outcomes = ended(&outcomes);
    assert!(outcomes.iter().all(|(_, outcome)| outcome.is_ok() == outcomes[0].1.is_ok()), "{outcomes:?}");
    let missed = |member| outcomes.iter().find(|(who, _)| *who == member).map(|(_, outcome)| missing(outcome));
    let told = (0..members).filter_map(missed).collect::<Vec<_>>();
    assert!(
        told.iter().copied().flatten().all(|member| told[0].contains(member)),
        "nobody misses more than member 0: {told:?}"
    );
}

/// How far a member comes before it is killed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Death {
    /// Nowhere.
    Absent,
    /// It has written its slot, and has not looked at those of the others.
    Arrived,
    /// If it was the last, it has moved the state too, and has not woken the others.
    Turned,
}

/// The last member is killed, and the supervisor says so: nobody waits for ever, and all others end alike.
pub(super) fn a_death_ends_the_round_for_all_or_for_nobody<W: World>(members: u32, death: Death) {
    let (hall, outcomes) = (Hall::<W>::new(members, 0), Outcomes::default());
    let victim = members - 1;
    let killed = Arc::clone(&hall);
    let dies: Act = Box::new(move || {
        die_at_the_barrier(&killed, victim, death);
        assert_eq!(killed.barrier().poison(victim), Ok(()));
    });
    let others = (0..victim).map(|member| waits(&hall, &outcomes, member, Deadline::NEVER));
    W::play(others.chain([dies]).collect());
    let outcomes = ended(&outcomes);
    let died = Err(BarrierError::MemberDied { member: victim });
    assert_eq!(outcomes.len(), victim as usize);
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == outcomes[0].1), "{outcomes:?}");
    assert!([Ok(()), died].contains(&outcomes[0].1), "{outcomes:?}");
}

/// The steps of a wait, up to a death.
fn die_at_the_barrier<W: World>(hall: &Hall<W>, victim: u32, death: Death) {
    let barrier = hall.barrier();
    match death {
        Death::Absent => {}
        Death::Arrived => drop(barrier.arrive(victim)),
        Death::Turned => {
            if let Ok(round) = barrier.arrive(victim)
                && barrier.first_missing(round).is_none()
            {
                barrier.turn(round);
            }
        }
    }
}

/// The last member is killed once it has arrived, and nobody says so: it is enough that member 0 loses patience.
pub(super) fn a_deadline_ends_what_a_death_left_open<W: World>(members: u32) {
    let (hall, outcomes) = (Hall::<W>::new(members, 0), Outcomes::default());
    let killed = Arc::clone(&hall);
    let victim = members - 1;
    let dies: Act = Box::new(move || die_at_the_barrier(&killed, victim, Death::Arrived));
    let patience = |member| if member == 0 { passed() } else { Deadline::NEVER };
    let others = (0..victim).map(|member| waits(&hall, &outcomes, member, patience(member)));
    W::play(others.chain([dies]).collect());
    let outcomes = ended(&outcomes);
    assert_eq!(outcomes.len(), victim as usize);
    assert!(outcomes.iter().all(|(_, outcome)| outcome.is_ok() == outcomes[0].1.is_ok()), "{outcomes:?}");
}

/// Two processes use number 0 at the same time: at most one of them passes, and exactly one if member 1 does.
pub(super) fn a_number_used_twice_counts_once<W: World>() {
    let (hall, outcomes) = (Hall::<W>::new(2, 0), Outcomes::default());
    W::play([0, 0, 1].map(|member| waits(&hall, &outcomes, member, passed())).into());
    let outcomes = ended(&outcomes);
    assert_eq!(passed_it(&outcomes, 0), passed_it(&outcomes, 1), "{outcomes:?}");
}

/// One process more than the barrier has members is refused, and the others do not notice it.
pub(super) fn one_more_than_all_is_refused<W: World>(members: u32) {
    let (hall, outcomes) = (Hall::<W>::new(members, 0), Outcomes::default());
    W::play((0..=members).map(|member| waits(&hall, &outcomes, member, Deadline::NEVER)).collect());
    let outcomes = ended(&outcomes);
    let refused = Err(BarrierError::NoSuchMember { member: members, members });
    assert!(outcomes.contains(&(members, refused)), "{outcomes:?}");
    assert!((0..members).all(|member| passed_it(&outcomes, member) == 1), "{outcomes:?}");
}

/// The counter of rounds that wraps in the second round.
pub(super) const BEFORE_THE_WRAP: u32 = (u32::MAX >> 1) - 1;
