//! One program as nvcc compiles it with and without optimisation.

use peermap_ptx::analysis::{BlockShape, CallGraph, Caller, ControlFlow, Liveness, Resources, Uniformity};
use peermap_ptx::{Body, EntryId, FunctionId, Linkage, Module, Operation};

const SOURCE: &str = include_str!("data/compiled.cu");
const FAST: &str = include_str!("data/compiled_O3.ptx");
const DEBUG: &str = include_str!("data/compiled_G.ptx");

fn module(text: &str) -> Module {
    Module::parse(text).expect("parses")
}

fn function(module: &Module, part: &str) -> FunctionId {
    let index = module.functions().iter().position(|function| function.name.contains(part)).expect(part);
    FunctionId(u32::try_from(index).expect("few functions"))
}

fn operations(body: &Body) -> impl Iterator<Item = &Operation> {
    body.instructions.iter().map(|instruction| &instruction.operation)
}

#[test]
fn nothing_in_it_is_not_modelled() {
    for module in [module(FAST), module(DEBUG)] {
        let bodies = module.functions().iter().filter_map(|function| function.body.as_ref());
        let mut all = bodies.chain(module.entries().iter().map(|entry| &entry.body)).flat_map(operations);
        assert!(all.all(|operation| !matches!(operation, Operation::Unmodelled)));
    }
}

#[test]
fn its_variables_and_functions_are_those_of_the_source() {
    for module in [module(FAST), module(DEBUG)] {
        let scale = module.variable("scale").expect("it is there");
        let floats = [1.0_f32, 0.5, 0.25, 0.125].map(f32::to_le_bytes);
        assert_eq!(scale.initial.runs[0].bytes, floats.concat());
        assert!(module.variable("shared").expect("it is there").dynamic);
        let steps = module.variable("steps").expect("it is there");
        assert_eq!(steps.initial.addresses.iter().map(|it| it.offset).collect::<Vec<_>>(), [0, 8]);
        let body_of = |part| module.functions()[function(&module, part).index()].body.as_ref();
        assert!(body_of("factorial").is_some() && body_of("plus").is_some() && body_of("minus").is_some());
    }
    let debug = module(DEBUG);
    assert_eq!(debug.functions()[function(&debug, "plus").index()].linkage, Linkage::Visible);
    assert_eq!(debug.target_options(), ["debug"]);
}

#[test]
fn it_calls_what_the_source_calls() {
    let debug = module(DEBUG);
    let calls = CallGraph::of(&debug);
    let reached = calls.reached(Caller::Entry(EntryId(0)));
    for part in ["factorial", "moved", "plus", "minus"] {
        assert!(reached.contains(&function(&debug, part)), "{part}");
    }
    let recursive: Vec<_> = reached.iter().filter(|function| calls.is_recursive(**function)).collect();
    assert_eq!(recursive, [&function(&debug, "factorial")]);
    let resources = Resources::of(&debug, &calls, EntryId(0));
    assert!(resources.recursive && resources.dynamic_shared && resources.local >= 32);
}

/// Every instruction of the unoptimised program names a line that has code on it.
#[test]
fn its_lines_are_those_of_the_source() {
    let debug = module(DEBUG);
    let own = (1..5).find(|file| debug.file(*file) == Some("compiled.cu")).expect("the source is named");
    let body = &debug.entries()[0].body;
    let places = body.instructions.iter().filter_map(|it| Some(body.locations[it.location?.index()].place));
    let lines: Vec<_> = places.filter(|place| place.file == own).map(|place| place.line as usize).collect();
    let first = SOURCE.lines().position(|line| line.contains("__global__")).expect("an entry") + 1;
    assert!(lines.len() > 100);
    assert!(lines.iter().all(|line| (first..=SOURCE.lines().count()).contains(line)));
    let barrier = body.instructions.iter().find(|it| matches!(it.operation, Operation::Barrier(_))).expect("one");
    let line = body.locations[barrier.location.expect("a place").index()].place.line as usize;
    assert!(SOURCE.lines().nth(line - 1).expect("a line").contains("__syncthreads"));
}

#[test]
fn its_reduction_goes_to_contiguous_memory() {
    let fast = module(FAST);
    let body = &fast.entries()[0].body;
    let flow = ControlFlow::of(body);
    let found = Uniformity::of(body, &flow, &Liveness::of(body, &flow), BlockShape::Line);
    let shapes = operations(body).filter_map(|operation| match operation {
        Operation::Store(store) if store.space == peermap_ptx::StateSpace::Shared => Some(store.address.base),
        _ => None,
    });
    let strides: Vec<_> = shapes
        .filter_map(|base| match base {
            peermap_ptx::AddressBase::Register(register) => Some(found.shape(register)),
            _ => None,
        })
        .collect();
    assert_eq!(strides, [peermap_ptx::analysis::Shape::Affine { stride: 4 }; 2]);
}
