//! Forms of instructions, run on simulated memory and compared with what Rust computes.

use peermap_exec::Stop;
use peermap_forms::{Form, Program, Spread, check, integers, numbers};

use crate::rig::{Rig, kernel};

/// Where the results lie: behind the operands.
const RESULTS: u64 = 1 << 20;

fn run(program: &Program) -> Result<Vec<u8>, Box<Stop>> {
    let rig = Rig::new(32);
    rig.view().write(rig.base, &program.operands).expect("memory of the rig");
    let parameters = [rig.base, rig.base + RESULTS].map(u64::to_le_bytes).concat();
    let kernel = kernel(&program.ptx, Program::ENTRY);
    rig.launch(&kernel, [program.blocks, 1, 1], [program.threads, 1, 1], &parameters)
        .expect("a launch without a fault");
    Ok(rig.bytes(RESULTS, program.result_bytes))
}

fn check_all(forms: &[Form], spread: Spread) {
    let failures: Vec<String> =
        forms.iter().filter_map(|form| check(form, spread, 20, run).err()).map(|failure| failure.to_string()).collect();
    assert!(failures.is_empty(), "{} of {} forms:\n{}", failures.len(), forms.len(), failures.join("\n"));
}

#[test]
fn integers_that_differ_from_thread_to_thread() {
    check_all(&integers(), Spread::Threads);
}

#[test]
fn integers_that_all_threads_share() {
    check_all(&integers(), Spread::Blocks);
}

#[test]
fn integers_that_grow_from_thread_to_thread() {
    check_all(&integers(), Spread::Grows);
}

#[test]
fn numbers_that_differ_from_thread_to_thread() {
    check_all(&numbers(), Spread::Threads);
}

#[test]
fn numbers_that_all_threads_share() {
    check_all(&numbers(), Spread::Blocks);
}
