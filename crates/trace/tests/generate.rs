//! Random traces on the simulator.

use std::collections::BTreeSet;

use peermap_driver::Driver;
use peermap_sim::SimMachine;
use peermap_trace::{Generator, Machine, Player, Processes, Reader, StartError, StepResult, Trace, Weights, Writer};

/// Processes of one simulated machine.
struct InOne(SimMachine);

impl Processes for InOne {
    fn start(&mut self, _process: u32) -> Result<Box<dyn Driver>, StartError> {
        Ok(Box::new(self.0.process()?))
    }
}

fn fresh() -> Result<InOne, StartError> {
    Ok(InOne(SimMachine::named("h200-x2")?))
}

fn generator(seed: u64, processes: u32, devices: u32) -> Generator {
    let machine = Machine { gpus: 2, model: "m".to_owned(), driver: "d".to_owned(), cuda: 13_000, link: None };
    Generator { seed, steps: 60, processes, devices, weights: Weights::default(), machine }
}

fn some(generator: &Generator, count: u64) -> Vec<Trace> {
    (0..count).map(|number| generator.trace(number, fresh).unwrap()).collect()
}

/// A few traces for each number of processes, on one device and on two.
fn of_all_kinds(each: u64) -> Vec<Trace> {
    with_weights(Weights::default(), each)
}

fn with_weights(weights: Weights, each: u64) -> Vec<Trace> {
    let kinds = (1..=4).flat_map(|processes| [1, 2].map(|devices| (processes, devices)));
    kinds
        .flat_map(|(processes, devices)| some(&Generator { weights, ..generator(7, processes, devices) }, each))
        .collect()
}

fn results(traces: &[Trace]) -> BTreeSet<(&'static str, String)> {
    let steps = traces.iter().flat_map(|trace| &trace.steps);
    steps.map(|step| (step.call.name(), step.result.to_string())).collect()
}

#[test]
fn the_same_seed_gives_the_same_traces_and_another_one_others() {
    assert_eq!(some(&generator(3, 2, 1), 5), some(&generator(3, 2, 1), 5));
    assert_ne!(some(&generator(3, 2, 1), 1)[0].steps, some(&generator(4, 2, 1), 1)[0].steps);
    let numbers = some(&generator(3, 2, 1), 2);
    assert_ne!(numbers[0].steps, numbers[1].steps);
}

#[test]
fn what_is_generated_is_played_with_the_same_answers() {
    for trace in of_all_kinds(25) {
        let outcome = Player::play(&trace, &mut fresh().unwrap());
        assert!(outcome.is_match(), "{}: {}", trace.header.name, outcome.mismatches[0]);
    }
}

#[test]
fn what_is_generated_reads_back() {
    let traces = of_all_kinds(3);
    let mut text = Vec::new();
    let mut writer = Writer::new(&mut text);
    traces.iter().for_each(|trace| writer.trace(trace).unwrap());
    let read: Vec<Trace> = Reader::new(text.as_slice()).map(|trace| trace.unwrap()).collect();
    let steps = |traces: &[Trace]| traces.iter().map(|trace| trace.steps.len()).collect::<Vec<_>>();
    assert_eq!(steps(&read), steps(&traces));
    assert!(read.iter().zip(&traces).all(|(read, made)| read.header == made.header));
}

#[test]
fn right_and_wrong_arguments_of_every_other_group_occur() {
    let results = results(&with_weights(Weights::default().pools(0), 25));
    for (call, result) in [
        ("cuMemCreate", "CUDA_SUCCESS"),
        ("cuMemCreate", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemCreate", "CUDA_ERROR_INVALID_DEVICE"),
        ("cuMemRelease", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemMap", "CUDA_SUCCESS"),
        ("cuMemMap", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemMap", "CUDA_ERROR_NOT_SUPPORTED"),
        ("cuMemUnmap", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemSetAccess", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemAddressFree", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemcpyDtoH", "CUDA_SUCCESS"),
        ("cuMemcpyDtoD", "CUDA_SUCCESS"),
        ("cuMemsetD8", "CUDA_ERROR_INVALID_VALUE"),
        ("cuLaunchKernel", "CUDA_SUCCESS"),
        ("cuMemImportFromShareableHandle", "CUDA_SUCCESS"),
        ("cuMemImportFromShareableHandle", "CUDA_ERROR_UNKNOWN"),
        ("cuIpcOpenMemHandle", "CUDA_SUCCESS"),
        ("cuIpcOpenMemHandle", "CUDA_ERROR_INVALID_CONTEXT"),
        ("cuIpcCloseMemHandle", "CUDA_ERROR_INVALID_VALUE"),
        ("cuIpcOpenEventHandle", "CUDA_SUCCESS"),
        ("cuEventQuery", "CUDA_SUCCESS"),
        ("cuCtxDestroy", "CUDA_SUCCESS"),
        ("cuCtxSynchronize", "CUDA_ERROR_ILLEGAL_ADDRESS"),
        ("send", "OK"),
        ("close_fd", "EBADF"),
        ("kill", "OK"),
    ] {
        assert!(results.contains(&(call, result.to_owned())), "no {call} with {result}");
    }
}

#[test]
fn right_and_wrong_arguments_of_pools_occur() {
    let weights = Weights::default().pools(1000);
    let traces = [1, 2].map(|processes| some(&Generator { weights, ..generator(9, processes, 2) }, 60)).concat();
    let results = results(&traces);
    for (call, result) in [
        ("cuMemAllocAsync", "CUDA_SUCCESS"),
        ("cuMemAllocFromPoolAsync", "CUDA_ERROR_OUT_OF_MEMORY"),
        ("cuMemFreeAsync", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemPoolCreate", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemPoolDestroy", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemPoolSetAccess", "CUDA_ERROR_NOT_SUPPORTED"),
        ("cuMemPoolSetAccess", "CUDA_ERROR_INVALID_DEVICE"),
        ("cuMemPoolSetAttribute", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMemPoolImportPointer", "CUDA_SUCCESS"),
        ("cuMemPoolImportFromShareableHandle", "CUDA_ERROR_UNKNOWN"),
    ] {
        assert!(results.contains(&(call, result.to_owned())), "no {call} with {result}");
    }
}

#[test]
fn right_and_wrong_arguments_of_multicast_occur_and_are_played_with_the_same_answers() {
    let weights = Weights::default().multicast(2000);
    let traces = [1, 2].map(|processes| some(&Generator { weights, ..generator(5, processes, 2) }, 40)).concat();
    let results = results(&traces);
    for (call, result) in [
        ("cuMulticastGetGranularity", "CUDA_SUCCESS"),
        ("cuMulticastGetGranularity", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMulticastCreate", "CUDA_SUCCESS"),
        ("cuMulticastCreate", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMulticastAddDevice", "CUDA_SUCCESS"),
        ("cuMulticastAddDevice", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMulticastAddDevice", "CUDA_ERROR_INVALID_DEVICE"),
        ("cuMulticastBindMem", "CUDA_SUCCESS"),
        ("cuMulticastBindMem", "CUDA_ERROR_INVALID_VALUE"),
        ("cuMulticastUnbind", "CUDA_SUCCESS"),
    ] {
        assert!(results.contains(&(call, result.to_owned())), "no {call} with {result}");
    }
    for trace in traces {
        let outcome = Player::play(&trace, &mut fresh().unwrap());
        assert!(outcome.is_match(), "{}: {}", trace.header.name, outcome.mismatches[0]);
    }
}

#[test]
fn nothing_of_multicast_is_made_unless_it_is_asked_for() {
    let made = results(&of_all_kinds(5));
    assert!(made.iter().all(|(call, _)| !call.starts_with("cuMulticast")), "{made:?}");
}

#[test]
fn without_their_weights_nothing_faults_waits_or_crashes() {
    for (_, result) in results(&of_all_kinds(10)) {
        assert!(result != "CUDA_ERROR_NOT_READY" && result != "SIGSEGV", "{result}");
    }
    let weights = Weights::default().faults(0).legacy(0);
    let traces = some(&Generator { weights, ..generator(1, 3, 2) }, 25);
    for (call, result) in results(&traces) {
        assert!(result != "CUDA_ERROR_ILLEGAL_ADDRESS" && call != "cuMemAlloc", "{call} {result}");
    }
}

#[test]
fn crashes_occur_where_they_are_asked_for() {
    let traces = some(&Generator { weights: Weights::default().crashes(100), ..generator(1, 1, 1) }, 10);
    let mut steps = traces.iter().flat_map(|trace| &trace.steps);
    assert!(steps.any(|step| step.result == StepResult::SegmentationFault));
}

#[test]
fn nobody_and_nothing_make_no_trace() {
    for (processes, devices) in [(0, 1), (1, 0)] {
        let error = generator(1, processes, devices).trace(0, fresh).unwrap_err();
        assert!(error.to_string().contains(&format!("not {processes} and {devices}")), "{error}");
    }
}
