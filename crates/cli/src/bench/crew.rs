//! Runs of scenarios, with workers of this executable.

use std::cell::OnceCell;
use std::env;

use peermap_bench::{BenchError, Crew, Starter};
use peermap_driver::{Driver, with_causes};
use peermap_ipc::{Channel, Child, Output, Spawn};
use peermap_report::RunReport;
use peermap_scenario::{Backend, Launcher, RunError, Scenario, one_line};

use crate::backend::Chosen;
use crate::hidden::CHANNEL;

/// Runs scenarios on a backend that is started when the first one is asked for.
pub(super) struct OwnWorkers<'c> {
    chosen: &'c Chosen,
    backend: OnceCell<Box<dyn Backend>>,
}

impl<'c> OwnWorkers<'c> {
    pub(super) const fn new(chosen: &'c Chosen) -> Self {
        Self { chosen, backend: OnceCell::new() }
    }

    fn backend(&self) -> Result<&dyn Backend, BenchError> {
        if self.backend.get().is_none() {
            let started = self.chosen.start().map_err(|refusal| BenchError::Run(with_causes(&*refusal.error)))?;
            drop(self.backend.set(started));
        }
        self.backend.get().map(|backend| &**backend).ok_or_else(|| BenchError::Run("there is no backend".to_owned()))
    }
}

impl Starter for OwnWorkers<'_> {
    fn start(&self, with_driver: bool) -> Result<(Child, Channel), BenchError> {
        let exe = env::current_exe().map_err(|error| BenchError::Run(error.to_string()))?;
        let spawn = Spawn::new(exe).arg0("peermap").args(["__partner"]).stdout(Output::Null);
        let (spawn, channel) = spawn.connect(CHANNEL)?;
        let spawn = match with_driver {
            true => {
                let endpoint = self.backend()?.worker(0).map_err(|error| BenchError::Run(one_line(&error)))?;
                let spawn = spawn.args(endpoint.args);
                endpoint.descriptors.into_iter().fold(spawn, |spawn, (fd, number)| spawn.inherit(fd, number))
            }
            false => spawn.args(["--backend", "auto"]),
        };
        let child = spawn.spawn();
        let child =
            child.map_err(|error| BenchError::NotHere(format!("no further process can be started: {error}")))?;
        Ok((child, channel))
    }
}

impl Crew for OwnWorkers<'_> {
    fn driver(&self) -> Result<Box<dyn Driver>, BenchError> {
        self.backend()?.driver().map_err(|error| BenchError::NotHere(one_line(&error)))
    }

    fn run(&self, scenario: &Scenario) -> Result<RunReport, BenchError> {
        let exe = env::current_exe().map_err(|error| BenchError::Run(error.to_string()))?;
        let launcher = Launcher { exe, args: vec!["__worker".to_owned()] };
        let report = peermap_scenario::run(scenario, self.backend()?, &launcher, &mut |_: &_| {});
        let report = report.map_err(|error| match error {
            RunError::NoUsableDevice { .. } => BenchError::NotHere(one_line(&error)),
            _ => BenchError::Run(one_line(&error)),
        })?;
        match report.failure {
            Some(failure) => Err(failure.into()),
            None => Ok(report),
        }
    }
}
