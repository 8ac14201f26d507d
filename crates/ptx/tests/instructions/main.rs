//! Each form of each instruction: what the text says, as types.

mod arithmetic;
mod comparisons;
mod control;
mod conversions;
mod logic;
mod memory;
mod moves;
mod ptxas;
mod threads;
mod unmodelled;

use peermap_ptx::instruction::{BinaryOp, TernaryOp, UnaryOp};
use peermap_ptx::{
    Address, AddressBase, Body, Immediate, Module, Operation, PredicateSource, PtxError, RegisterId, ScalarType, Source,
};

/// What the statements may name.
const DECLARATIONS: &str = include_str!("../data/declarations.ptx");

/// A module in which an entry holds the statements.
fn parse(statements: &str) -> Result<Module, PtxError> {
    Module::parse(&format!("{DECLARATIONS}{statements}\nret; }}"))
}

/// The body around a statement, and the operation of the statement: the last but the `ret`.
fn read(statement: &str) -> (Body, Operation) {
    read_in(parse(statement), statement)
}

/// The operation of a statement that is gone from later versions, or from later architectures.
fn old_operation(statement: &str) -> Operation {
    let header = ".version 6.3\n.target sm_70\n.address_size 64\n";
    let entry = format!("{header}.entry e() {{ .reg .pred %p<4>; .reg .b32 %r<4>;\n{statement}\nret; }}");
    read_in(Module::parse(&entry), statement).1
}

fn read_in(module: Result<Module, PtxError>, statement: &str) -> (Body, Operation) {
    let module = module.unwrap_or_else(|error| panic!("{statement}: {error}"));
    let mut body = module.entries()[0].body.clone();
    body.instructions.pop().expect("the `ret`");
    let last = body.instructions.last().expect("the statement").operation.clone();
    (body, last)
}

fn operation(statement: &str) -> Operation {
    read(statement).1
}

/// The message for a wrong statement, without its line.
fn message(statement: &str) -> String {
    let text = parse(statement).expect_err(statement).to_string();
    text.split_once("; error: ").expect("a message").1.to_owned()
}

/// The register of this name.
fn register(body: &Body, name: &str) -> RegisterId {
    let index = body.registers.iter().position(|register| register.name == name).expect(name);
    RegisterId(u32::try_from(index).expect("few registers"))
}

fn source(body: &Body, name: &str) -> Source {
    Source::Register(register(body, name))
}

fn immediate(ty: ScalarType, bits: u64) -> Source {
    Source::Immediate(Immediate { ty, bits })
}

/// `[name+offset]`.
fn at(body: &Body, name: &str, offset: i64) -> Address {
    Address { base: AddressBase::Register(register(body, name)), offset }
}

fn predicate(body: &Body, name: &str, negated: bool) -> PredicateSource {
    PredicateSource { value: source(body, name), negated }
}

/// The names of registers behind an opcode, in the order of the text.
fn names(statement: &str) -> Vec<&str> {
    let operands = statement.split_once(' ').expect("operands").1;
    operands.trim_end_matches(';').split(',').map(str::trim).collect()
}

/// The operation of a statement on two registers, which must be where the text has them.
fn unary(statement: &str) -> UnaryOp {
    let (body, operation) = read(statement);
    let [d, a] = names(statement)[..] else { panic!("{statement}") };
    let Operation::Unary { op, destination, source: value } = operation else { panic!("{operation:?}") };
    assert_eq!((destination, value), (register(&body, d), source(&body, a)), "{statement}");
    op
}

/// The same for three.
fn binary(statement: &str) -> BinaryOp {
    let (body, operation) = read(statement);
    let [d, first, second] = names(statement)[..] else { panic!("{statement}") };
    let Operation::Binary { op, destination, a, b } = operation else { panic!("{operation:?}") };
    let wanted = (register(&body, d), source(&body, first), source(&body, second));
    assert_eq!((destination, a, b), wanted, "{statement}");
    op
}

/// The same for four.
fn ternary(statement: &str) -> TernaryOp {
    let (body, operation) = read(statement);
    let [d, first, second, third] = names(statement)[..] else { panic!("{statement}") };
    let Operation::Ternary { op, destination, a, b, c } = operation else { panic!("{operation:?}") };
    let wanted = (register(&body, d), source(&body, first), source(&body, second), source(&body, third));
    assert_eq!((destination, a, b, c), wanted, "{statement}");
    op
}
