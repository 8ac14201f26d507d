//! What a host may lack.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::process::{Command, Output};

use nix::unistd::Uid;
use peermap_testing::{UNSHARE, leftovers};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter};

use crate::support::{memmap_ipc, run, stderr};

/// Mounts of one's own, on which one may mount: the flags of `unshare`.
pub const MOUNTS: [&str; 4] = ["--map-root-user", "--mount", "--pid", "--fork"];

const TWO: [&str; 2] = ["--profile", "h200-x2"];

/// The arguments of `command` behind those of another that runs it.
fn under(program: &str, arguments: &[&str], command: &Command) -> Command {
    let mut outer = Command::new(program);
    outer.args(arguments).arg(command.get_program()).args(command.get_args()).env_remove("CUDA_VISIBLE_DEVICES");
    outer
}

/// Runs after a line of shell.
fn after(line: &str, command: &Command) -> Command {
    under("sh", &["-c", &format!("{line} && exec \"$@\""), "sh"], command)
}

/// Runs after a line of shell in namespaces of its own.
fn unshared(line: &str, command: &Command) -> Command {
    under(UNSHARE, &MOUNTS, &after(line, command))
}

/// The run ends well, and leaves nothing.
fn ends_well(command: &mut Command) {
    let before = leftovers();
    let output: Output = run(command);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(leftovers(), before);
}

pub fn a_soft_limit_of_64_open_files_is_raised() {
    ends_well(&mut after("ulimit -Sn 64", &memmap_ipc(&TWO)));
}

pub fn a_hard_limit_of_64_open_files_is_told_with_the_number_that_is_needed() {
    let output = run(&mut after("ulimit -n 64", &memmap_ipc(&TWO)));
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let complaint = stderr(&output);
    assert!(complaint.contains("may have 64") && complaint.contains("`ulimit -n"), "{complaint}");
}

/// `/dev/shm` as containers have it by default, and smaller than one buffer.
pub fn shared_memory_of_64_kib() {
    ends_well(&mut unshared("mount -t tmpfs -o size=64k tmpfs /dev/shm", &memmap_ipc(&TWO)));
}

/// One page, and it is taken: a size of 0 would be no limit.
pub fn shared_memory_of_nothing() {
    let mount = "mount -t tmpfs -o size=4k tmpfs /dev/shm && head -c 4096 /dev/zero > /dev/shm/full";
    let full = format!("{mount} && ! echo x 2>/dev/null > /dev/shm/more");
    ends_well(&mut unshared(&full, &memmap_ipc(&TWO)));
}

pub fn a_folder_for_temporary_files_that_cannot_be_written() {
    let line = "mount --bind /tmp /tmp && mount -o remount,ro,bind /tmp && ! touch /tmp/x 2>/dev/null";
    ends_well(&mut unshared(line, &memmap_ipc(&TWO)));
}

/// The run is process 2 there, and its workers are close to it.
pub fn a_pid_namespace_of_its_own() {
    ends_well(&mut unshared("mount -t proc proc /proc", &memmap_ipc(&TWO)));
}

/// Every process of the run is killed if it makes one of these calls: descriptors travel over sockets alone.
pub fn seccomp_without_pidfd_getfd() {
    let calls = [libc::SYS_pidfd_getfd, libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev];
    let rules: BTreeMap<i64, Vec<_>> = calls.into_iter().map(|call| (call, Vec::new())).collect();
    let arch = ARCH.try_into().expect("an architecture that seccomp knows");
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::KillProcess, arch);
    let program: BpfProgram = filter.unwrap().try_into().unwrap();
    // Of this thread, which no other test has, and of what it starts.
    std::thread::spawn(move || {
        apply_filter(&program).unwrap();
        ends_well(&mut memmap_ipc(&TWO));
    })
    .join()
    .unwrap();
}

/// An ordinary user has no such capability; root gives it up for good.
pub fn no_capability_to_trace() {
    let give_up = ["--bounding-set=-sys_ptrace", "--inh-caps=-sys_ptrace"];
    let flags = if Uid::effective().is_root() { &give_up[..] } else { &[] };
    let without = "! grep -q '^CapEff:.*[89a-f]....$' /proc/self/status";
    ends_well(&mut under("setpriv", flags, &after(without, &memmap_ipc(&TWO))));
}
