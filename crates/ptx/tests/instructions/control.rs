//! Branches, calls and ends.

use peermap_ptx::instruction::{
    Branch, Call, CallArgument, CallReturn, CallTarget, Instruction, Operation, StateSpace,
};
use peermap_ptx::{
    FunctionId, Guard, InstructionId, LocalId, Module, Parameter, ScalarType, SourceLocation, SourcePlace, Symbol,
};

use crate::{immediate, operation, parse, read, register, source};

fn instructions(statements: &str) -> Vec<Instruction> {
    parse(statements).expect(statements).entries()[0].body.instructions.clone()
}

fn module(statements: &str) -> Module {
    Module::parse(&format!(".version 9.0 .target sm_90 .address_size 64 {statements}")).expect(statements)
}

/// The calls of the first entry of a module.
fn calls(module: &Module) -> Vec<Call> {
    let operations = module.entries()[0].body.instructions.iter().map(|instruction| instruction.operation.clone());
    operations.filter_map(|operation| if let Operation::Call(call) = operation { Some(call) } else { None }).collect()
}

#[test]
fn branches_name_the_number_of_their_target() {
    let found = instructions("@%p1 bra.uni L; bra M; L: mov.u32 %r1, 1; M:");
    let branch = |target, uniform| Operation::Branch(Branch { target: InstructionId(target), uniform });
    assert_eq!((&found[0].operation, &found[1].operation), (&branch(2, true), &branch(3, false)));
}

#[test]
fn a_label_belongs_to_its_braces() {
    let found = instructions("L: bra L; { bra L; L: bra L; { bra L; } } bra L;");
    let targets = found.iter().filter_map(|instruction| match instruction.operation {
        Operation::Branch(branch) => Some(branch.target.0),
        _ => None,
    });
    assert_eq!(targets.collect::<Vec<_>>(), [0, 2, 2, 2, 0]);
}

#[test]
fn labels_are_kept_with_their_names() {
    let body = parse("A: mov.u32 %r1, 1; { B: }").expect("parses").entries()[0].body.clone();
    let labels: Vec<_> = body.labels.iter().map(|label| (label.name.as_str(), label.target.0)).collect();
    assert_eq!(labels, [("A", 0), ("B", 1)]);
}

#[test]
fn a_table_of_targets_may_name_one_often() {
    let found = instructions("T: .branchtargets A, B, A; brx.idx.uni %r1, T; A: mov.u32 %r1, 1; B:");
    let Operation::BranchTable(table) = &found[0].operation else { panic!("{found:?}") };
    assert_eq!((&*table.targets, table.uniform), ([1, 2, 1].map(InstructionId).as_slice(), true));
}

#[test]
fn guards_stand_before() {
    let (body, _) = read("@!%p3 mov.u32 %r1, 1;");
    assert_eq!(body.instructions[0].guard, Some(Guard { predicate: register(&body, "%p3"), negated: true }));
    assert_eq!(instructions("@%p3 ret;")[0].guard.map(|guard| guard.negated), Some(false));
}

#[test]
fn ends_and_pauses() {
    let cases = [
        ("ret.uni;", Operation::Return),
        ("exit;", Operation::Exit),
        ("trap;", Operation::Trap),
        ("brkpt;", Operation::Breakpoint),
        ("griddepcontrol.wait;", Operation::GridDependency { wait: true }),
        ("griddepcontrol.launch_dependents;", Operation::GridDependency { wait: false }),
        ("nanosleep.u32 100;", Operation::Nanosleep { duration: immediate(ScalarType::U32, 100) }),
        ("pmevent 7;", Operation::PerformanceEvent { mask: 128 }),
        ("pmevent.mask 0xFF;", Operation::PerformanceEvent { mask: 255 }),
        ("setmaxnreg.inc.sync.aligned.u32 240;", Operation::SetMaxRegisters { registers: 240 }),
    ];
    for (statement, wanted) in cases {
        assert_eq!(operation(statement), wanted, "{statement}");
    }
}

#[test]
fn a_call_passes_variables_in_param_space() {
    let module = module(
        ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
        .entry e() { .reg .b64 %d<3>; { .param .b64 x; .param .b64 y; .param .b32 z;
        st.param.b64 [x+0], %d1; st.param.b64 [y], %d2; call.uni (z), vprintf, (x, y); } }",
    );
    let wanted = Call {
        target: CallTarget::Direct(FunctionId(0)),
        returns: vec![CallReturn::Local(LocalId(2))],
        arguments: vec![CallArgument::Local(LocalId(0)), CallArgument::Local(LocalId(1))],
        uniform: true,
    };
    assert_eq!(calls(&module), [wanted]);
    let body = &module.entries()[0].body;
    let Operation::Store(store) = &body.instructions[0].operation else { panic!("{body:?}") };
    assert_eq!(store.space, StateSpace::ParamFunction);
    assert_eq!(store.address.base, peermap_ptx::AddressBase::Symbol(Symbol::Local(LocalId(0))));
    assert_eq!(body.locals.iter().map(|local| local.size).collect::<Vec<_>>(), [8, 8, 4]);
}

#[test]
fn a_call_passes_registers_and_constants() {
    let module = module(
        ".func (.reg .u32 r) h(.reg .u32 a, .reg .f64 b) { add.u32 r, a, 1; ret; }
        .func (.param .u32 r) i(.param .u32 a) { ret; }
        .entry e() { .reg .u32 %x; .reg .f64 %y; call (%x), h, (%x, %y); call (_), i, (3); }",
    );
    let body = &module.entries()[0].body;
    let [first, second] = &calls(&module)[..] else { panic!("two calls") };
    assert_eq!(first.returns, [CallReturn::Register(Some(register(body, "%x")))]);
    let given = [CallArgument::Value(source(body, "%x")), CallArgument::Value(source(body, "%y"))];
    assert_eq!(first.arguments, given);
    assert_eq!(second.returns, [CallReturn::Register(None)]);
    assert_eq!(second.arguments, [CallArgument::Value(immediate(ScalarType::U32, 3))]);
    let callee = &module.functions()[0];
    let own = callee.body.as_ref().expect("it has one");
    assert_eq!(
        callee.params.iter().map(Parameter::register).collect::<Vec<_>>(),
        [Some(register(own, "a")), Some(register(own, "b"))]
    );
    assert_eq!(callee.returns[0].register(), Some(register(own, "r")));
}

#[test]
fn a_call_through_a_register_says_what_it_may_reach() {
    let module = module(
        ".func h(.param .u32 a) { ret; } .func i(.param .u32 a) { ret; }
        .entry e() { .reg .u32 %x; .reg .u64 %p; mov.u64 %p, h;
        P: .callprototype _ (.param .u32 _); call %p, (%x), P; T: .calltargets h, i; call %p, (%x), T; }",
    );
    let pointer = register(&module.entries()[0].body, "%p");
    let targets: Vec<_> = calls(&module).into_iter().map(|call| call.target).collect();
    let listed = Some([FunctionId(0), FunctionId(1)].as_slice().into());
    let wanted = [CallTarget::Indirect { pointer, targets: None }, CallTarget::Indirect { pointer, targets: listed }];
    assert_eq!(targets, wanted);
}

#[test]
fn an_alias_is_the_function_that_it_names() {
    let module = module(".func h() { ret; } .func i(); .alias i, h; .entry e() { call i; }");
    assert_eq!(calls(&module)[0].target, CallTarget::Direct(FunctionId(0)));
}

#[test]
fn a_function_sees_its_own_parameters() {
    let module = module(
        ".func (.param .u32 r) h(.param .u32 a) { .reg .u32 %x; ld.param.u32 %x, [a]; st.param.u32 [r], %x; ret; }",
    );
    let body = module.functions()[0].body.as_ref().expect("it has one");
    let Operation::Load(load) = &body.instructions[0].operation else { panic!("{body:?}") };
    let Operation::Store(store) = &body.instructions[1].operation else { panic!("{body:?}") };
    assert_eq!((load.space, store.space), (StateSpace::ParamFunction, StateSpace::ParamFunction));
    assert_eq!(load.address.base, peermap_ptx::AddressBase::Symbol(Symbol::Parameter(0)));
    assert_eq!(store.address.base, peermap_ptx::AddressBase::Symbol(Symbol::Returned(0)));
}

#[test]
fn instructions_know_where_they_come_from() {
    let text = ".entry e() {\n.reg .b32 %r;\n.loc 1 2 3\nmov.u32 %r, 1;\n  @%r1 ret;\n}".replace("@%r1 ", "");
    let text = text.replace("ret;", ".loc 2 5 0, function_name $x+4, inlined_at 1 9 1\n  ret;");
    let module = Module::parse(&format!(
        ".version 9.0\n.target sm_90\n.address_size 64\n{text}\n.file 1 \"a.cu\"\n.file 2 \"b.h\""
    ))
    .expect("parses");
    let body = &module.entries()[0].body;
    let lines: Vec<_> = body.instructions.iter().map(|it| (it.at.line, it.at.column)).collect();
    assert_eq!(lines, [(7, 1), (9, 3)]);
    let places: Vec<_> = body.instructions.iter().map(|it| body.locations[it.location.expect("one").index()]).collect();
    let place = |file, line, column| SourcePlace { file, line, column };
    let wanted = [
        SourceLocation { place: place(1, 2, 3), inlined_at: None },
        SourceLocation { place: place(2, 5, 0), inlined_at: Some(place(1, 9, 1)) },
    ];
    assert_eq!(places, wanted);
    assert_eq!((module.file(1), module.file(2), module.file(3)), (Some("a.cu"), Some("b.h"), None));
}
