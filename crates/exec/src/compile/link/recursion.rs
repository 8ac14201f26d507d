//! Functions that may call themselves.
//!
//! Each is put in once, behind the entry. A call saves what it needs later, moves on to a new frame on the stack, writes
//! there what it gives, where it came from and the number of the place behind it, and branches to the function. The
//! function ends with a branch table of those places.

mod call;
mod value;

use std::sync::Arc;

use peermap_ptx::instruction::BranchTable;
use peermap_ptx::{
    Body, Function, FunctionId, Instruction, InstructionId, LocalId, Operation, Parameter, RegisterId, ScalarType,
    Source, Symbol,
};

use self::value::{in_memory, live_behind_calls};
use super::call::load;
use super::{Bindings, Instance, Linker, frame};
use crate::error::CompileError;

/// What functions that may call themselves have for each thread: sixteen times what a device gives where no limit is set.
/// How much of that a call takes there, the compiler of the driver decides: what overflows here overflows there.
const STACK_BYTES: u64 = 16 << 10;

/// Where in the header of a frame the number of the place behind the call lies.
const NUMBER: i64 = 0;

/// Where in the header of a frame the start of the caller's frame lies.
const BEFORE: i64 = 8;

/// The functions that may call themselves, each put in once.
#[derive(Default)]
pub(super) struct Recursion {
    pub(super) functions: Vec<Recursive>,
    /// For each call the function in whose frame its variables lie.
    pub(super) frames: Vec<Option<usize>>,
    /// The register with the start of the frame, and the memory of all frames.
    pointer: Option<(RegisterId, LocalId)>,
    /// What was called and is not put in yet.
    open: Vec<Open>,
}

/// A function that may call itself.
pub(super) struct Recursive {
    id: FunctionId,
    /// What each frame starts with.
    header: LocalId,
    parameters: Vec<LocalId>,
    returned: Vec<LocalId>,
    /// Where the next frame starts.
    pub(super) end: LocalId,
    /// The branches to it.
    calls: Vec<usize>,
    /// The places behind calls, by number.
    behind: Vec<InstructionId>,
}

/// A function that is not put in yet.
struct Open {
    number: usize,
    instance: Instance,
    /// A call of it.
    instruction: Instruction,
}

impl Linker<'_> {
    /// The register with the start of the frame, and the stack.
    fn pointer(&mut self, instruction: &Instruction) -> (RegisterId, LocalId) {
        if let Some(known) = self.recursion.pointer {
            return known;
        }
        let stack = self.new_local(0, STACK_BYTES, 1, instruction.at);
        let made = (self.new_register(ScalarType::U64), stack);
        self.linked.stack = Some(stack);
        self.recursion.pointer = Some(made);
        made
    }

    /// The number of a function, which is made known at its first call.
    fn known(&mut self, instruction: &Instruction, (id, function, body): (FunctionId, &Function, &Body)) -> usize {
        let number = self.recursion.functions.len();
        if let Some(known) = self.recursion.functions.iter().position(|known| known.id == id) {
            return known;
        }
        // The variables belong to the call that is entered below.
        let owner = self.linked.callers.len();
        let header = self.new_local(owner, 16, 8, instruction.at);
        let end = self.new_local(owner, 0, 1, instruction.at);
        let mut variable = |parameter: &Parameter| match parameter {
            Parameter::Memory(param) => self.new_local(owner, u64::from(param.size), param.align, instruction.at),
            Parameter::Register { ty, .. } => {
                let size = in_memory(*ty).size();
                self.new_local(owner, u64::from(size), size, instruction.at)
            }
        };
        let parameters: Vec<_> = function.params.iter().map(&mut variable).collect();
        let returned: Vec<_> = function.returns.iter().map(variable).collect();
        let symbols = |locals: &[LocalId]| locals.iter().copied().map(Symbol::Local).collect();
        let bindings = Bindings { parameters: symbols(&parameters), returned: symbols(&returned) };
        let (calls, behind) = (Vec::new(), Vec::new());
        self.recursion.functions.push(Recursive { id, header, parameters, returned, end, calls, behind });
        let mut instance = self.enter(body, (0, Some(number)), bindings);
        instance.saved = live_behind_calls(function, body);
        self.recursion.open.push(Open { number, instance, instruction: instruction.clone() });
        number
    }

    /// Puts in all functions that are called and may call themselves, then the ways back from them.
    pub(super) fn put_recursive(&mut self) -> Result<(), CompileError> {
        let mut ends = Vec::new();
        while let Some(Open { number, instance, instruction }) = self.recursion.open.pop() {
            if ends.is_empty() {
                self.push_for(&instruction, Operation::Return);
            }
            let start = self.next();
            let end = self.put_function(number, &instance, &instruction)?;
            ends.push((number, start, end, instruction));
        }
        for (number, start, end, instruction) in ends {
            self.land(end);
            let Recursive { header, calls, behind, .. } = &mut self.recursion.functions[number];
            let (header, targets) = (*header, Arc::from(behind.as_slice()));
            let calls = std::mem::take(calls);
            calls.into_iter().for_each(|call| self.aim(call, start));
            let index = self.new_register(ScalarType::U32);
            self.push_for(&instruction, load(index, ScalarType::U32, (header, NUMBER)));
            self.table(&instruction, &BranchTable { index, targets, uniform: false }, &mut Vec::new());
        }
        match self.recursion.pointer {
            Some((pointer, stack)) => frame::place(&mut self.linked, &self.recursion, (stack, pointer)),
            None => Ok(()),
        }
    }

    /// Puts in a function; the branch at its end, which has no target yet.
    fn put_function(
        &mut self,
        number: usize,
        instance: &Instance,
        instruction: &Instruction,
    ) -> Result<usize, CompileError> {
        let module = self.module;
        let id = self.recursion.functions[number].id;
        let function = &module.functions()[id.index()];
        for (place, parameter) in function.params.iter().enumerate() {
            if let Parameter::Register { register, ty } = parameter {
                let local = self.recursion.functions[number].parameters[place];
                self.fetch(instruction, (instance.register(*register), *ty), local);
            }
        }
        if let Some(body) = &function.body {
            self.put(body, instance)?;
        }
        for (place, parameter) in function.returns.iter().enumerate() {
            if let Parameter::Register { register, ty } = parameter {
                let local = self.recursion.functions[number].returned[place];
                self.put_away(instruction, *ty, Source::Register(instance.register(*register)), local);
            }
        }
        Ok(self.push_branch(instruction, None, InstructionId(0)))
    }
}
