//! What a machine in a process of its own tells of its memory.

use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use peermap_driver::Driver;
use peermap_ipc::Deadline;
use peermap_report::SimulatedProcess;
use peermap_sim::accounts;

use crate::house::{House, keepers};
use crate::roles::{hear, patience};
use crate::support::{GRANULE, create};

pub fn whoever_passes_by_learns_what_a_machine_has_to_tell() {
    let mut house = House::new();
    let process = house.join();
    let memory = create(&process, 0, GRANULE);
    let machine = house.machine.pid();
    let found = || accounts(None, patience()).unwrap().into_iter().find(|(pid, _)| *pid == machine);
    let (_, account) = found().expect("the machine shows itself");
    assert_eq!(account, house.client.account(patience()).unwrap());
    assert_eq!(accounts(Some(machine), patience()).unwrap(), [(machine, account.clone())]);
    assert_eq!(account.processes, [SimulatedProcess { process: process.id().0, pid: std::process::id() }]);
    assert_eq!(keepers(&account.held[0]), [(process.id().0, "a handle")]);
    process.mem_release(memory).unwrap();
    assert_eq!(found().unwrap().1.held, []);
    drop(house);
    assert!(found().is_none(), "a machine that has ended shows nothing");
}

pub fn an_answer_that_comes_too_late_is_not_taken_for_the_next() {
    let mut house = House::new();
    let machine = Pid::from_raw(house.machine.pid().cast_signed());
    kill(machine, Signal::SIGSTOP).unwrap();
    for _ in 0..2 {
        assert!(house.client.account(Deadline::after(Duration::from_millis(20))).is_err(), "it is stopped");
    }
    kill(machine, Signal::SIGCONT).unwrap();
    let process = house.join();
    assert_eq!(house.client.account(patience()).unwrap().processes.len(), 1);
    drop(process);
}

pub fn what_a_killed_process_left_is_told() {
    let mut house = House::new();
    let exporter = house.worker("exporter", None);
    let descriptor = hear(&exporter.channel).1.unwrap();
    let before = house.client.account(patience()).unwrap();
    let ours = before.held[0].kept_by.iter().filter(|keeper| keeper.pid == Some(std::process::id())).count();
    assert_eq!((before.all_left, ours), (0, 1));
    let pid = exporter.child.pid();
    assert!(before.processes.iter().any(|there| there.pid == pid), "{:?}", before.processes);
    exporter.kill();
    let after = house.client.account(patience()).unwrap();
    assert_eq!((after.all_left, after.processes.len()), (1, 0));
    assert_eq!((after.left[0].pid, after.left[0].held[0].bytes), (Some(pid), GRANULE.get()));
    assert_eq!(keepers(&after.held[0]), [], "only the descriptor keeps it");
    drop(descriptor);
    assert_eq!(house.held(), []);
}
