//! Variables, their places and what they hold at first.

use peermap_ptx::{
    FunctionId, Initial, InitialAddress, InitialRun, Linkage, Module, ScalarType, StateSpace, Symbol, Variable,
    VariableId,
};

fn variables(declarations: &str) -> Vec<Variable> {
    let text = format!(".version 9.0 .target sm_90 .address_size 64 {declarations}");
    Module::parse(&text).expect(declarations).variables().to_vec()
}

fn last(declarations: &str) -> Variable {
    variables(declarations).pop().expect("a variable")
}

/// Bytes from the start on.
fn bytes(bytes: &[u8]) -> Initial {
    Initial { runs: vec![InitialRun { offset: 0, bytes: bytes.to_vec() }], addresses: Vec::new() }
}

#[test]
fn a_variable_has_a_type_a_size_and_a_place() {
    let found = last(".visible .global .attribute(.managed) .align 16 .u32 a[3][2];");
    let shape = (found.ty, found.size, found.align, found.space, found.linkage, found.managed);
    assert_eq!(shape, (ScalarType::U32, 24, 16, StateSpace::Global, Linkage::Visible, true));
    let pair = last(".const .v4 .f32 a[2];");
    assert_eq!((pair.size, pair.align, pair.space), (32, 16, StateSpace::Const));
    let dynamic = last(".extern .shared .align 16 .b8 a[];");
    assert_eq!((dynamic.size, dynamic.dynamic, dynamic.linkage), (0, true, Linkage::Extern));
    assert_eq!(last(".weak .global .b64 a;").linkage, Linkage::Weak);
    assert_eq!(last(".common .global .b64 a;").linkage, Linkage::Common);
    assert_eq!(last(".global .b8 a[1 << 40];").size, 1 << 40);
}

#[test]
fn a_definition_takes_the_place_of_its_declaration() {
    let found = variables(".extern .global .u32 a[]; .global .u32 b; .visible .global .u32 a[2] = {1, 2};");
    assert_eq!(found.iter().map(|it| (it.name.as_str(), it.size)).collect::<Vec<_>>(), [("a", 8), ("b", 4)]);
}

#[test]
fn variables_of_functions_are_among_those_of_the_module() {
    let found =
        variables(".entry e() { .shared .u32 s; { .global .u32 g = 5; } .shared .u32 t[2]; ret; } .global .u32 h;");
    let places: Vec<_> = found.iter().map(|it| (it.name.as_str(), it.in_function, it.size)).collect();
    assert_eq!(places, [("s", true, 4), ("g", true, 4), ("t", true, 8), ("h", false, 4)]);
}

#[test]
fn values_are_bytes_in_order() {
    assert_eq!(last(".global .u32 a = 0x01020304;").initial, bytes(&[4, 3, 2, 1]));
    assert_eq!(last(".global .s16 a[3] = {-1, 2};").initial, bytes(&[255, 255, 2, 0]));
    assert_eq!(last(".global .f32 a = 1.5;").initial, bytes(&1.5_f32.to_le_bytes()));
    assert_eq!(last(".global .f64 a[] = {0d3FF0000000000000, -2.0};").size, 16);
    assert_eq!(last(".global .b64 a = 1.0;").initial, bytes(&1.0_f64.to_le_bytes()));
    assert_eq!(last(".global .v2 .u16 a[] = {{1, 2}, {3, 4}};").initial, bytes(&[1, 0, 2, 0, 3, 0, 4, 0]));
    assert_eq!(last(".global .u8 a[2] = {};").initial, Initial::default());
}

#[test]
fn rows_leave_room_for_what_they_do_not_name() {
    let run = |offset, bytes: &[u8]| InitialRun { offset, bytes: bytes.to_vec() };
    let found = last(".global .u8 a[3][1 << 30] = {{1, 2}, {3}};");
    assert_eq!(found.initial.runs, [run(0, &[1, 2]), run(1 << 30, &[3])]);
    assert_eq!(last(".global .u8 a[][2] = {{1, 2}, {3, 4}, {5}};").initial, bytes(&[1, 2, 3, 4, 5]));
}

#[test]
fn addresses_wait_for_their_symbols() {
    let declared = ".func f() { ret; } .global .u32 g[4];";
    let address =
        |offset, size, symbol, addend, generic, shift| InitialAddress { offset, size, symbol, addend, generic, shift };
    let (f, g) = (Symbol::Function(FunctionId(0)), Symbol::Variable(VariableId(0)));
    let found = last(&format!("{declared} .global .u64 a[4] = {{g+4, generic(g)+8, f, 7}};"));
    let wanted = [address(0, 8, g, 4, false, 0), address(8, 8, g, 8, true, 0), address(16, 8, f, 0, false, 0)];
    assert_eq!(found.initial.addresses, wanted);
    assert_eq!(found.initial.runs, [InitialRun { offset: 24, bytes: 7_u64.to_le_bytes().to_vec() }]);
    let found = last(&format!("{declared} .global .u8 a[2] = {{0xFF(g), 0xFF00(generic(g)+4)}};"));
    assert_eq!(found.initial.addresses, [address(0, 1, g, 0, false, 0), address(1, 1, g, 4, true, 8)]);
}
