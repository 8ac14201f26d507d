//! Real modules, and what is read from them.

use peermap_ptx::{
    Address, AddressBase, Axis, Entry, InstructionId, Module, MoveSource, Operation, Param, ParamType, RegisterId,
    ScalarType, SpecialRegister, StateSpace, Symbol,
};

const KERNELS: &str = include_str!("../../../kernels/memmap_ipc.ptx");
const TRACES: &str = include_str!("../../../fixtures/traces/kernels.ptx");
const USES: &str = include_str!("data/uses.ptx");

fn scalar(entry: &str, index: u32, ty: ScalarType, offset: u32) -> Param {
    let (size, name) = (ty.size(), format!("{entry}_param_{index}"));
    Param { name, ty: ParamType::Scalar(ty), size, align: size, offset }
}

fn entry<'m>(module: &'m Module, name: &str) -> &'m Entry {
    module.entry(name).expect("the module has this entry")
}

fn names(module: &Module) -> Vec<&str> {
    module.entries().iter().map(|entry| entry.name.as_str()).collect()
}

#[test]
fn our_kernels_ask_for_little_and_stand_alone() {
    let module = Module::parse(KERNELS).expect("parses");
    assert_eq!((module.version(), module.target(), module.sm()), ((4, 0), "sm_32", Some(32)));
    assert_eq!(module.address_size(), 64);
    assert_eq!(names(&module), ["fill_byte", "fill_id", "fill_pattern", "verify_id", "verify_pattern"]);
    assert!(module.functions().is_empty() && module.variables().is_empty());
    assert!(module.entries().iter().all(Entry::is_self_contained));
}

#[test]
fn our_kernels_have_the_parameters_of_the_readme() {
    use ScalarType::{U8, U32, U64};
    let module = Module::parse(KERNELS).expect("parses");
    for name in ["fill_byte", "fill_id"] {
        let wanted = [scalar(name, 0, U64, 0), scalar(name, 1, U64, 8), scalar(name, 2, U8, 16)];
        assert_eq!(entry(&module, name).params, wanted);
        assert_eq!(entry(&module, name).parameter_bytes, 17);
    }
    let of = |index, ty, offset| scalar("fill_pattern", index, ty, offset);
    let wanted = [of(0, U64, 0), of(1, U64, 8), of(2, U32, 16), of(3, U32, 20)];
    assert_eq!(entry(&module, "fill_pattern").params, wanted);
    assert_eq!(entry(&module, "fill_pattern").parameter_bytes, 24);

    let of = |index, ty, offset| scalar("verify_id", index, ty, offset);
    let wanted = [of(0, U64, 0), of(1, U64, 8), of(2, U8, 16), of(3, U64, 24)];
    assert_eq!(entry(&module, "verify_id").params, wanted);
    assert_eq!(entry(&module, "verify_id").parameter_bytes, 32);

    let of = |index, ty, offset| scalar("verify_pattern", index, ty, offset);
    let wanted = [of(0, U64, 0), of(1, U64, 8), of(2, U32, 16), of(3, U32, 20), of(4, U64, 24)];
    assert_eq!(entry(&module, "verify_pattern").params, wanted);
    assert_eq!(entry(&module, "verify_pattern").parameter_bytes, 32);
}

/// `fill_byte` from its parameters to its end, as the text has it.
#[test]
fn the_code_of_a_kernel_of_ours_is_read_to_the_last_instruction() {
    let module = Module::parse(KERNELS).expect("parses");
    let body = &entry(&module, "fill_byte").body;
    let name = |register: RegisterId| body.registers[register.index()].name.as_str();
    assert_eq!((body.instructions.len(), body.instructions[0].at.line), (22, 21));

    let Operation::Load(load) = &body.instructions[0].operation else { panic!("{body:?}") };
    let byte = Address { base: AddressBase::Symbol(Symbol::Parameter(2)), offset: 0 };
    assert_eq!((load.ty, load.space, load.address), (ScalarType::U8, StateSpace::ParamEntry, byte));
    assert_eq!(load.destinations.iter().flatten().map(|register| name(*register)).collect::<Vec<_>>(), ["%rs1"]);

    let Operation::Move { destination, source, .. } = body.instructions[3].operation else { panic!("{body:?}") };
    let block = MoveSource::Special(SpecialRegister::Ctaid(Axis::X));
    assert_eq!((name(destination), source), ("%r1", block));

    let labels: Vec<_> = body.labels.iter().map(|label| (label.name.as_str(), label.target.0)).collect();
    assert_eq!(labels, [("$L__BB0_2", 16), ("$L__BB0_3", 21)]);
    let last = &body.instructions[20];
    let guard = last.guard.map(|guard| (name(guard.predicate), guard.negated));
    let Operation::Branch(back) = last.operation else { panic!("{body:?}") };
    assert_eq!((guard, back.target, back.uniform), (Some(("%p2", false)), InstructionId(16), false));
    assert_eq!(body.instructions[21].operation, Operation::Return);
}

#[test]
fn the_kernels_of_the_traces_are_read_exactly() {
    use ScalarType::{U8, U32, U64};
    let module = Module::parse(TRACES).expect("parses");
    assert_eq!((module.version(), module.target(), module.sm()), ((9, 0), "sm_90", Some(90)));
    assert_eq!(names(&module), ["fill", "copy_add", "count_mismatch"]);
    assert_eq!(module.entries().iter().map(|entry| entry.line).collect::<Vec<_>>(), [15, 54, 99]);
    assert!(module.entries().iter().all(Entry::is_self_contained));

    let of = |index, ty, offset| scalar("fill", index, ty, offset);
    assert_eq!(entry(&module, "fill").params, [of(0, U64, 0), of(1, U32, 8), of(2, U8, 12)]);
    assert_eq!(entry(&module, "fill").parameter_bytes, 13);

    let of = |index, ty, offset| scalar("copy_add", index, ty, offset);
    let wanted = [of(0, U64, 0), of(1, U64, 8), of(2, U32, 16), of(3, U8, 20)];
    assert_eq!(entry(&module, "copy_add").params, wanted);
    assert_eq!(entry(&module, "copy_add").parameter_bytes, 21);

    let of = |index, ty, offset| scalar("count_mismatch", index, ty, offset);
    let wanted = [of(0, U64, 0), of(1, U32, 8), of(2, U8, 12), of(3, U64, 16)];
    assert_eq!(entry(&module, "count_mismatch").params, wanted);
    assert_eq!(entry(&module, "count_mismatch").parameter_bytes, 24);
}

#[test]
fn a_module_with_functions_variables_and_debug_information_is_read() {
    let module = Module::parse(USES).expect("parses");
    assert_eq!((module.target(), module.sm()), ("sm_90a", Some(90)));
    let variables: Vec<_> =
        module.variables().iter().map(|it| (it.space, it.name.as_str(), it.at.line, it.size)).collect();
    let wanted = [
        (StateSpace::Const, "table", 7, 16),
        (StateSpace::Shared, "scratch", 9, 0),
        (StateSpace::Shared, "_ZZ5plainE3own", 89, 32),
    ];
    assert_eq!(variables, wanted);
    assert!(module.variables()[1].dynamic && module.variables()[2].in_function);
    assert_eq!(
        module.functions().iter().map(|it| (it.name.as_str(), it.at.line)).collect::<Vec<_>>(),
        [("helper", 11)]
    );
    assert_eq!(module.file(1), Some("uses.cu"));

    let uses = entry(&module, "uses");
    let pair = ParamType::Array { element: ScalarType::B8, count: 24 };
    let pair = Param { name: "uses_param_0".into(), ty: pair, size: 24, align: 8, offset: 0 };
    assert_eq!(uses.params, [pair, scalar("uses", 1, ScalarType::U64, 24)]);
    assert_eq!(uses.directive(".maxntid"), Some([256, 1, 1].as_slice()));
    assert_eq!(uses.directive(".minnctapersm"), Some([2].as_slice()));
    assert_eq!(uses.directive(".reqntid"), None);
    assert!(!uses.is_self_contained());
    assert!(entry(&module, "plain").is_self_contained());
}

/// The offsets are those that ptxas 13.0 wrote into the code for this very entry.
#[test]
fn parameters_are_placed_as_ptxas_places_them() {
    let params = |list: &str| {
        let text = format!(".version 9.0 .target sm_90 .address_size 64 .entry f({list}) {{ ret; }}");
        let module = Module::parse(&text).expect("parses");
        let entry = entry(&module, "f").clone();
        let places: Vec<_> = entry.params.iter().map(|param| (param.offset, param.size)).collect();
        (places, entry.parameter_bytes)
    };
    assert_eq!(params(""), (vec![], 0));
    assert_eq!(params(".param .u32 x, .param .align 4 .u64 a"), (vec![(0, 4), (8, 8)], 16));
    assert_eq!(params(".param .u8 x, .param .align 2 .b32 a[3]"), (vec![(0, 1), (4, 12)], 16));
    let list = ".param .u8 x, .param .align 16 .b8 a[3], .param .u8 z";
    assert_eq!(params(list), (vec![(0, 1), (16, 3), (19, 1)], 20));
    let list = ".param .u8 x, .param .u64 .align 4 a, .param .b128 q, .param .u8 e";
    assert_eq!(params(list), (vec![(0, 1), (8, 8), (16, 16), (32, 1)], 33));
    let list = ".param .u8 v, .param .u32 .ptr .global .align 16 w";
    assert_eq!(params(list), (vec![(0, 1), (4, 4)], 8));
    let list = ".param .u8 v, .param .u64 .ptr .align 16 w, .param .align 8 .u8 z";
    assert_eq!(params(list), (vec![(0, 1), (8, 8), (16, 1)], 17));
    assert_eq!(params(".param .b8 most[32764]"), (vec![(0, 32_764)], 32_764));
}

#[test]
fn the_version_is_read_before_anything_that_it_may_have_brought() {
    let version =
        |text: &str| Module::read_version(&format!(".version {text} .target sm_90 .address_size 64 what.is #"));
    assert_eq!(version("8.4"), Ok((8, 4)));
    assert_eq!(version("8.10"), Ok((8, 10)));
    assert_eq!(version("8").expect_err("no version").to_string().split(';').next(), Some("line 1"));
}

#[test]
fn unknown_targets_and_options_are_kept_for_the_caller() {
    let target = |text: &str| Module::parse(&format!(".version 9.9 .target {text} .address_size 64")).expect("parses");
    assert_eq!(target("sm_999f").sm(), Some(999));
    assert_eq!((target("future").target(), target("future").sm()), ("future", None));
    assert_eq!(target("sm_90, debug, texmode_independent").target_options(), ["debug", "texmode_independent"]);
}

#[test]
fn of_several_targets_the_highest_counts() {
    let text = ".version 9.0 .target sm_80 .address_size 64 .target sm_90, debug .target sm_75";
    let module = Module::parse(text).expect("parses");
    assert_eq!((module.target(), module.target_options()), ("sm_90", ["debug".to_owned()].as_slice()));
}

#[test]
fn text_ends_at_a_nul() {
    let text = format!("{TRACES}\0 not read {{");
    assert_eq!(Module::parse(&text), Module::parse(TRACES));
}

#[test]
fn every_kind_of_declaration_is_kept() {
    let text = r#".version 9.0 .target sm_90 .address_size 64
        .file 1 "a.cu", 1700000000, 512
        .pragma "nounroll";
        .extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b) .noreturn;
        .visible .func twice() .pragma "x"; { { ret; } }
        .func other();
        .alias other, twice;
        .const .f32 table[] = { 0f3F800000, 1.5e-3 };
        .visible .global .attribute(.managed) .align 8 .b64 pointers[2] = {generic(table)+4, 0}, plain;
        .global .u32 slot<2>;
        .shared .b8 pool[16];
        .entry later(.param .u32 x);
        .section .debug_abbrev { .b8 1,2 .b32 .debug_abbrev label: }"#;
    let module = Module::parse(text).expect("parses");
    let declared: Vec<_> = module.variables().iter().map(|it| (it.space, it.name.as_str(), it.size)).collect();
    let wanted = [
        (StateSpace::Const, "table", 8),
        (StateSpace::Global, "pointers", 16),
        (StateSpace::Global, "plain", 8),
        (StateSpace::Global, "slot0", 4),
        (StateSpace::Global, "slot1", 4),
        (StateSpace::Shared, "pool", 16),
    ];
    assert_eq!(declared, wanted);
    let functions: Vec<_> =
        module.functions().iter().map(|it| (it.name.as_str(), it.body.is_some(), it.noreturn)).collect();
    assert_eq!(functions, [("vprintf", false, true), ("twice", true, false), ("other", false, false)]);
    assert_eq!(module.entries(), []);
}
