//! Sessions whose players are this executable.

use std::cell::RefCell;
use std::os::fd::OwnedFd;
use std::time::Duration;

use peermap_trace::{Expected, Got, Launch, PlayerCommand, Separate, Session, StartError, Step};

use crate::support::{read, with_header};

/// The argument that makes this executable a player.
pub const PLAYER: &str = "__player";

/// The numbers of a player's channel, and of a descriptor that it gets besides.
pub const CHANNEL: i32 = 3;
pub const WATCHED: i32 = 4;

/// What a player finds instead of a driver.
#[derive(Debug, Clone, Copy)]
pub enum Instead {
    /// Nothing.
    Nothing,
    /// A library that does not load.
    Hang,
    /// A library that kills it.
    Death,
}

/// Starts players.
#[derive(Default)]
pub struct ThisExecutable {
    /// Whether a crash is the driver's answer.
    pub is_real: bool,
    /// What players find instead of a driver.
    pub instead: Option<Instead>,
    /// A descriptor for the first player.
    pub watched: RefCell<Option<OwnedFd>>,
}

impl Launch for ThisExecutable {
    fn command(&self) -> Result<PlayerCommand, StartError> {
        let driver = self.instead.map_or_else(|| "misbehaving".to_owned(), |instead| format!("{instead:?}"));
        Ok(PlayerCommand {
            exe: std::env::current_exe()?,
            args: vec![PLAYER.to_owned(), driver],
            env: Vec::new(),
            channel: CHANNEL,
            descriptors: self.watched.take().map(|fd| (fd, WATCHED)).into_iter().collect(),
        })
    }

    fn may_crash(&self) -> bool {
        self.is_real
    }
}

/// Long enough for every step that shall succeed, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn session(launch: &ThisExecutable) -> Session<Separate<'_>> {
    Session::new(Separate::new(launch, PATIENCE))
}

/// A session in which hanging is noticed soon.
pub fn hasty_session(launch: &ThisExecutable) -> Session<Separate<'_>> {
    Session::new(Separate::new(launch, Duration::from_millis(300)))
}

/// Reads steps.
pub fn steps(lines: &[&str]) -> Vec<Step> {
    read(&with_header(lines)).expect("the steps are well-formed").remove(0).steps
}

/// What comes of steps, and whether it is what they say.
pub fn play(session: &mut Session<Separate<'_>>, lines: &[&str]) -> Vec<(Got, bool)> {
    let play_one = |step: &Step| {
        let got = session.step(step);
        let matches = got.matches(&Expected::from(step));
        (got, matches)
    };
    steps(lines).iter().map(play_one).collect()
}
