//! Runs whose processes are threads of this one.

use peermap_chaos::{Plan, Staged, in_one};
use peermap_model::Profile;
use peermap_report::ExitCode;

use super::present::Board;
use super::{Chaos, least, plans};
use crate::refusal::Refusal;

/// Plays seeds until they or the time are over.
pub(super) fn play(arguments: &Chaos) -> Result<Board, Refusal> {
    let profile = Profile::named(&arguments.profile).map_err(|error| Refusal::new(ExitCode::Usage, error))?;
    let name = arguments.scenario;
    let staged = Staged { scenario: Box::new(move |options| name.scenario(options)), profile: &profile };
    let play = |plan: &Plan| in_one(&staged, plan).map_err(Refusal::unexpected);
    let mut board = Board::default();
    for plan in plans(arguments) {
        let trial = play(&plan)?;
        board.count(trial.outcome.as_ref().map(|outcome| outcome.kind));
        if arguments.log {
            board.logs.push((plan.clone(), trial.log));
        }
        if !trial.wrong.is_empty() {
            board.failed.push(least(&plan, trial.wrong, |fewer| play(fewer).map(|trial| trial.wrong))?);
        }
    }
    Ok(board)
}
