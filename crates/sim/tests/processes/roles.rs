//! The roles that a child can play.

use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Duration;

use peermap_driver::{Device, Driver};
use peermap_ipc::{Channel, Deadline, Spawn, take_inherited};
use peermap_model::{Grace, Profile};
use peermap_sim::{Checks, MachineOptions, SimProcess, serve};

use crate::support::{GRANULE, export, import, map, mapped, read};

/// Names the role of a child.
pub const ROLE: &str = "PEERMAP_TEST_ROLE";

/// The numbers under which a child gets its channel to us and its ticket.
pub const CHANNEL: i32 = 3;
pub const TICKET: i32 = 4;

/// Long enough for every wait that shall succeed, however busy the machine is.
pub fn patience() -> Deadline {
    Deadline::after(Duration::from_secs(60))
}

/// A child that will play `role`.
pub fn role(role: &str) -> Spawn {
    let exe = std::env::current_exe().expect("a process knows its executable");
    Spawn::new(exe).arg0("peermap-test").env(ROLE, role)
}

fn channel() -> Channel {
    Channel::to_parent(CHANNEL).expect("the parent handed it over")
}

/// Joins the machine, with a context of device 0.
fn joined() -> SimProcess {
    let ticket = take_inherited(TICKET).expect("the parent handed it over");
    let visible = std::env::var("CUDA_VISIBLE_DEVICES").ok();
    let process = SimProcess::join(ticket, visible.as_deref(), patience()).unwrap();
    process.init(0).unwrap();
    process.ctx_create(0, Device(0)).unwrap();
    process
}

/// Receives a word and at most one descriptor.
pub fn hear(channel: &Channel) -> (Vec<u8>, Option<OwnedFd>) {
    let mut received = channel.recv(1, patience()).unwrap();
    (received.payload, received.fds.pop())
}

/// Plays a role. A failed assertion ends the process with code 101.
pub fn play(role: &str) -> ExitCode {
    match role {
        "machine" => play_machine(Grace::Never, Checks::NONE),
        "machine with grace" => play_machine(Grace::Wall(Duration::from_millis(1)), Checks::NONE),
        "machine with checks" => play_machine(Grace::Never, Checks::ALL),
        "broken machine" => play_broken_machine(),
        "exporter" => play_exporter(),
        "importer" => play_importer(),
        "keeper" => play_keeper(),
        "seer" => play_seer(),
        unknown => panic!("there is no role {unknown}"),
    }
    ExitCode::SUCCESS
}

fn play_machine(grace: Grace, checks: Checks) {
    let options = MachineOptions { grace, checks, ..MachineOptions::default() };
    serve(channel(), Profile::named("h200-x2").unwrap(), options).unwrap();
}

/// A machine whose granularity no memory can have.
fn play_broken_machine() {
    let mut profile = Profile::named("h200-x2").unwrap();
    profile.granularity = peermap_driver::ByteSize::new(3);
    serve(channel(), profile, MachineOptions::default()).unwrap_err();
}

/// Shares memory full of sevens; then answers each word with the first byte that it sees.
fn play_exporter() {
    use std::os::fd::AsFd;
    let (channel, process) = (channel(), joined());
    let (handle, ptr) = mapped(&process, GRANULE);
    process.memset_d8(ptr, 7, GRANULE).unwrap();
    process.ctx_synchronize().unwrap();
    let descriptor = export(&process, handle);
    channel.send(b"memory", &[descriptor.as_fd()], patience()).unwrap();
    drop(descriptor);
    answer_with_first_byte(&channel, &process, ptr);
}

/// Maps the memory that comes first and keeps nothing but the mapping; then as the exporter.
fn play_importer() {
    let (channel, process) = (channel(), joined());
    let descriptor = hear(&channel).1.unwrap();
    let handle = import(&process, &descriptor).unwrap();
    let ptr = map(&process, handle, GRANULE);
    process.mem_release(handle).unwrap();
    drop(descriptor);
    answer_with_first_byte(&channel, &process, ptr);
}

fn answer_with_first_byte(channel: &Channel, process: &SimProcess, ptr: peermap_driver::DevicePtr) {
    while let Ok(word) = channel.recv(0, patience()) {
        if word.payload == b"fill" {
            process.memset_d8(ptr, 9, GRANULE).unwrap();
        } else if word.payload == b"wait" {
            process.ctx_synchronize().unwrap();
        }
        let seen = if word.payload == b"fill" { vec![0] } else { read(process, ptr, 1) };
        channel.send(&seen, &[], patience()).unwrap();
    }
}

/// Keeps a descriptor and knows of no machine.
fn play_keeper() {
    let channel = channel();
    let _descriptor = hear(&channel).1.unwrap();
    channel.send(b"kept", &[], patience()).unwrap();
    // Until the parent kills this process, or hangs up.
    drop(channel.recv(0, patience()));
}

/// Tells the UUIDs of its devices, and allocates on device 0.
fn play_seer() {
    let (channel, process) = (channel(), joined());
    let uuids: Vec<String> = (0..process.device_get_count().unwrap())
        .map(|ordinal| process.device_get_uuid(Device(ordinal)).unwrap().to_string())
        .collect();
    crate::support::create(&process, 0, GRANULE);
    channel.send(uuids.join(",").as_bytes(), &[], patience()).unwrap();
    drop(channel.recv(0, patience()));
}
