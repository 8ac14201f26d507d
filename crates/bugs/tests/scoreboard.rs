//! Each entry on the simulator, in a process of its own: this executable again, with an argument that makes it a player instead
//! of a list of tests.

use std::process::ExitCode;
use std::time::Duration;

use peermap_bugs::{Launch, Verdict, choose, play, player_main};
use peermap_ipc::{Channel, take_inherited};
use peermap_testing::{Arguments, Trial};

const PLAYER: &str = "--player";

fn launch() -> Launch {
    Launch { exe: std::env::current_exe().unwrap(), args: vec![PLAYER.to_owned()] }
}

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == PLAYER) {
        let channel = Channel::from_fd(take_inherited(3).unwrap()).unwrap();
        player_main(channel, None, launch()).unwrap();
        return ExitCode::SUCCESS;
    }
    // One at a time: the kernel ends a player with the thread that started it, and an entry may look at what this host has left.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    peermap_testing::run(&arguments, trials()).exit_code()
}

fn plays(id: &str) {
    let entry = choose(&[id.to_owned()]).unwrap()[0];
    let played = play(entry, &launch(), 1, Duration::from_secs(60)).unwrap();
    assert_eq!(played.verdict, Verdict::Passed);
}

/// A test for each entry, named after it.
macro_rules! entries {
    ($($id:literal $name:ident),* $(,)?) => {
        vec![$(Trial::test(stringify!($name), || {
            plays($id);
            Ok(())
        })),*]
    };
}

fn trials() -> Vec<Trial> {
    entries![
        "A1" a1_legacy_export_of_mapped_memory,
    ]
}
