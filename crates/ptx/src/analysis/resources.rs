//! What an entry asks of a multiprocessor, as far as the text says.

use super::calls::{CallGraph, Caller};
use super::control_flow::ControlFlow;
use super::liveness::{Liveness, surely_written};
use crate::body::Body;
use crate::instruction::{Operation, StateSpace};
use crate::module::Module;
use crate::operand::{EntryId, FunctionId, RegisterId, Source, Symbol, VariableId};
use crate::types::ScalarType;
use crate::variable::Variable;

/// How many registers there are of each width.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are the widths in bits")]
pub struct RegisterCounts {
    pub predicates: u32,
    pub bits_8: u32,
    pub bits_16: u32,
    pub bits_32: u32,
    pub bits_64: u32,
    pub bits_128: u32,
}

/// What an entry and all that it calls ask for.
///
/// # Units
/// Bytes, where it is no count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// The registers of its own body that are used.
    pub registers: RegisterCounts,
    /// The most 32-bit registers that hold something at once in any body that it reaches, predicates not counted. A
    /// register allocator needs about as many.
    pub live_words: u32,
    /// How many registers a thread can be expected to get, where nothing limits them.
    ///
    /// It is an estimate: three more than [`live_words`](Self::live_words), and no fewer than any kernel with calls has.
    /// Of 26 kernels that nvcc 13.0 compiles with `-O3`, ptxas gives 25 as many units of 8 registers, or one unit more or
    /// less; the mean difference is 3.3 registers.
    pub estimated_registers: u32,
    /// The barriers of a block: one more than the highest number that the text names.
    pub barriers: u32,
    /// Shared memory of variables with a size, each at its alignment in the order of the text.
    pub shared: u64,
    /// Whether it uses shared memory whose size the launch says.
    pub dynamic_shared: bool,
    /// Local memory: the variables of its body and of the deepest chain of calls. Of a recursive function one call
    /// counts.
    pub local: u64,
    /// Whether a function can be called while it runs, so that no number says how much local memory is enough.
    pub recursive: bool,
}

/// What ptxas uses beyond what lives at once.
const SPARE_REGISTERS: u32 = 3;
/// The fewest registers of code with calls: those of the calling convention.
const REGISTERS_OF_CALLS: u32 = 24;
/// The most registers of a thread.
const MOST_REGISTERS: u32 = 255;
/// The barriers of a block.
const MOST_BARRIERS: u32 = 16;

impl Resources {
    /// The memory that the variables of a module take in a space, each at its alignment in the order of the text.
    #[must_use]
    pub fn of_variables(module: &Module, space: StateSpace) -> u64 {
        end_of(module.variables().iter().filter(|variable| variable.space == space))
    }

    /// Adds up what an entry asks for.
    #[must_use]
    pub fn of(module: &Module, calls: &CallGraph, entry: EntryId) -> Self {
        let reached = calls.reached(Caller::Entry(entry));
        let own = &module.entries()[entry.index()].body;
        let bodies = |function: &FunctionId| module.functions()[function.index()].body.as_ref();
        let all = || [own].into_iter().chain(reached.iter().filter_map(bodies));
        let mut used: Vec<VariableId> = all().flat_map(shared_variables).collect();
        used.sort_unstable();
        used.dedup();
        let shared = used.iter().map(|variable| &module.variables()[variable.index()]);
        let shared = shared.filter(|variable| variable.space == StateSpace::Shared);
        let live_words = all().map(live_words).max().unwrap_or(0);
        let least = if reached.is_empty() { 0 } else { REGISTERS_OF_CALLS };
        Self {
            registers: count(own),
            live_words,
            estimated_registers: (live_words + SPARE_REGISTERS).clamp(least, MOST_REGISTERS),
            barriers: all().map(barriers).max().unwrap_or(0),
            shared: end_of(shared.clone()),
            dynamic_shared: shared.clone().any(|variable| variable.dynamic),
            local: local(own) + deepest(module, calls, entry),
            recursive: reached.iter().any(|function| calls.is_recursive(*function)),
        }
    }
}

/// Where variables end that are put one behind the other.
fn end_of<'m>(variables: impl Iterator<Item = &'m Variable>) -> u64 {
    variables.fold(0, |end, variable| end.next_multiple_of(variable.align.into()).saturating_add(variable.size))
}

fn shared_variables(body: &Body) -> Vec<VariableId> {
    let symbols = body.instructions.iter().flat_map(|instruction| instruction.operation.symbols());
    let variable = |symbol| if let Symbol::Variable(variable) = symbol { Some(variable) } else { None };
    symbols.filter_map(variable).collect()
}

fn count(body: &Body) -> RegisterCounts {
    let mut counts = RegisterCounts::default();
    for register in &body.registers {
        let width = match register.ty {
            ScalarType::Pred => &mut counts.predicates,
            ty => match ty.bits() {
                8 => &mut counts.bits_8,
                16 => &mut counts.bits_16,
                32 => &mut counts.bits_32,
                64 => &mut counts.bits_64,
                _ => &mut counts.bits_128,
            },
        };
        *width += 1;
    }
    counts
}

/// How many 32-bit registers a register takes.
fn words(body: &Body, register: RegisterId) -> u32 {
    match body.registers[register.index()].ty {
        ScalarType::Pred => 0,
        ty => ty.bits().div_ceil(32),
    }
}

/// The most 32-bit registers that are live between two instructions.
fn live_words(body: &Body) -> u32 {
    let flow = ControlFlow::of(body);
    let liveness = Liveness::of(body, &flow);
    let mut is_live = vec![false; body.registers.len()];
    let mut most = 0;
    for block in flow.ids() {
        let mut live = liveness.live_out(block).to_vec();
        let mut sum: u32 = live.iter().map(|register| words(body, *register)).sum();
        live.iter().for_each(|register| is_live[register.index()] = true);
        most = most.max(sum);
        for index in flow.block(block).instructions.clone().rev() {
            let instruction = &body.instructions[index as usize];
            for register in surely_written(instruction) {
                if std::mem::replace(&mut is_live[register.index()], false) {
                    sum -= words(body, register);
                }
            }
            for register in instruction.reads() {
                if !std::mem::replace(&mut is_live[register.index()], true) {
                    sum += words(body, register);
                    live.push(register);
                }
            }
            most = most.max(sum);
        }
        live.iter().for_each(|register| is_live[register.index()] = false);
    }
    most
}

/// How many barriers a body takes: all, if it names one by a register.
fn barriers(body: &Body) -> u32 {
    let number = |operation: &Operation| match operation {
        Operation::Barrier(barrier) => Some(match &barrier.barrier {
            Source::Immediate(number) => number.bits as u32 + 1,
            Source::Register(_) => MOST_BARRIERS,
        }),
        _ => None,
    };
    body.instructions.iter().filter_map(|instruction| number(&instruction.operation)).max().unwrap_or(0)
}

fn local(body: &Body) -> u64 {
    let own = body.locals.iter().filter(|local| local.space == StateSpace::Local);
    own.fold(0, |end: u64, local| end.next_multiple_of(local.align.into()).saturating_add(local.size))
}

/// The local memory of the chain of calls that takes most of it.
fn deepest(module: &Module, calls: &CallGraph, entry: EntryId) -> u64 {
    let own = |function: FunctionId| module.functions()[function.index()].body.as_ref().map_or(0, local);
    let mut known: Vec<Option<u64>> = vec![None; module.functions().len()];
    // A function is opened twice: before what it calls, and when that is known.
    let mut opened = vec![false; module.functions().len()];
    let mut open = calls.callees(Caller::Entry(entry)).to_vec();
    let roots = open.clone();
    while let Some(function) = open.last().copied() {
        let callees = calls.callees(Caller::Function(function));
        if !std::mem::replace(&mut opened[function.index()], true) {
            open.extend(callees.iter().filter(|callee| !opened[callee.index()]));
            continue;
        }
        open.pop();
        let below = callees.iter().filter_map(|callee| known[callee.index()]).max().unwrap_or(0);
        known[function.index()].get_or_insert(own(function).saturating_add(below));
    }
    roots.iter().filter_map(|root| known[root.index()]).max().unwrap_or(0)
}
