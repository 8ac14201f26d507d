//! Runs whose processes are threads of this one.

use peermap_chaos::{Plan, Staged, in_one};
use peermap_model::Profile;
use peermap_report::ExitCode;

use super::present::{End, Failed};
use super::{Chaos, Turns, least, plans};
use crate::refusal::Refusal;

/// What became of a plan.
pub(super) struct Played {
    pub(super) plan: Plan,
    pub(super) end: End,
    pub(super) log: Vec<String>,
    pub(super) failed: Option<Failed>,
}

/// Plays seeds until they or the time are over, and tells each.
pub(super) fn play(
    arguments: &Chaos,
    turns: Turns,
    most_devices: u32,
    tell: &mut dyn FnMut(Played) -> Result<(), Refusal>,
) -> Result<(), Refusal> {
    let profile = Profile::named(&arguments.profile).map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    let name = arguments.scenario;
    let staged = Staged { scenario: Box::new(move |options| name.scenario(options)), profile: &profile };
    let play = |plan: &Plan| in_one(&staged, plan).map_err(Refusal::unexpected);
    for plan in plans(arguments, turns, most_devices) {
        let trial = play(&plan)?;
        let failed = match trial.wrong {
            wrong if wrong.is_empty() => None,
            wrong => Some(least(&plan, wrong, |fewer| play(fewer).map(|trial| trial.wrong))?),
        };
        let end = trial.outcome.map(|outcome| outcome.kind);
        tell(Played { plan, end, log: trial.log, failed })?;
    }
    Ok(())
}
