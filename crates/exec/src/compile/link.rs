//! An entry and all that it calls as one body.
//!
//! What a call names is put in its place, with registers and variables of its own, and `ret` becomes a branch to what
//! stands behind the call. Where a call gives or receives a variable in `.param`, that variable is the parameter. What
//! is known of divergence, liveness and uniformity then holds across calls too.
//!
//! A function that may call itself is put in once, behind the entry, and its variables lie on a stack.

mod call;
mod frame;
mod promote;
mod recursion;
mod table;

use std::collections::BTreeMap;

use peermap_ptx::analysis::CallGraph;
use peermap_ptx::instruction::{Branch, Comparison, SetPredicate};
use peermap_ptx::{
    Body, Entry, FunctionId, Guard, Immediate, Instruction, InstructionId, LocalId, LocalVariable, LocationId, Module,
    Operation, Position, Register, RegisterId, ScalarType, Source, StateSpace, Symbol,
};

use self::recursion::Recursion;
use crate::error::CompileError;
use crate::step::SystemFunction;

/// The most instructions of an entry with all that it calls; a call counts as one, too.
const MOST_INSTRUCTIONS: usize = 1 << 16;

/// An entry without calls, but those of what the system has.
pub(crate) struct Linked {
    pub(crate) entry: Entry,
    /// The functions of the system that it calls.
    pub(crate) system: BTreeMap<FunctionId, SystemFunction>,
    /// The call that each local variable belongs to.
    pub(crate) owners: Vec<usize>,
    /// For each call the one that it was made in; the first is the entry itself.
    pub(crate) callers: Vec<usize>,
    /// What functions that may call themselves have their variables in, if one is called.
    pub(crate) stack: Option<LocalId>,
}

impl Linked {
    /// Puts an entry together.
    ///
    /// # Errors
    /// [`CompileError::NotModelled`] for calls of functions that are elsewhere, and for what is too large.
    pub(crate) fn of(module: &Module, entry: &Entry) -> Result<Self, CompileError> {
        let mut empty = entry.clone();
        empty.body = Body::default();
        let mut linker = Linker {
            module,
            calls: CallGraph::of(module),
            linked: Self {
                entry: empty,
                system: BTreeMap::new(),
                owners: Vec::new(),
                callers: Vec::new(),
                stack: None,
            },
            recursion: Recursion::default(),
        };
        let instance = linker.enter(&entry.body, (0, None), Bindings::default());
        linker.put(&entry.body, &instance)?;
        linker.put_recursive()?;
        let mut linked = linker.linked;
        promote::promote(&mut linked.entry.body);
        Ok(linked)
    }
}

struct Linker<'m> {
    module: &'m Module,
    calls: CallGraph,
    linked: Linked,
    recursion: Recursion,
}

/// What stands for the parameters of a function and for what it returns. An entry has none.
#[derive(Default)]
struct Bindings {
    parameters: Vec<Symbol>,
    returned: Vec<Symbol>,
}

/// A body as it is put in for one call.
struct Instance {
    /// The number of the call.
    number: usize,
    first_register: u32,
    first_local: u32,
    first_location: u32,
    bindings: Bindings,
    /// The recursive function in whose frame its variables lie, by number.
    frame: Option<usize>,
    /// The registers of the body that must survive each of its calls, by the number of the instruction; there are none
    /// where nothing that is called can come back to this instance.
    saved: BTreeMap<usize, Vec<RegisterId>>,
}

/// Where a call stands.
#[derive(Clone, Copy)]
struct Site<'s> {
    caller: &'s Instance,
    /// The call, with its registers and variables renamed.
    instruction: &'s Instruction,
    /// Its number in the body of the caller.
    index: usize,
}

impl Instance {
    fn register(&self, register: RegisterId) -> RegisterId {
        RegisterId(self.first_register + register.0)
    }

    fn symbol(&self, symbol: Symbol) -> Symbol {
        match symbol {
            Symbol::Local(local) => Symbol::Local(LocalId(self.first_local + local.0)),
            Symbol::Parameter(number) => self.bindings.parameters.get(number as usize).copied().unwrap_or(symbol),
            Symbol::Returned(number) => self.bindings.returned.get(number as usize).copied().unwrap_or(symbol),
            symbol => symbol,
        }
    }

    fn renamed(&self, instruction: &Instruction) -> Instruction {
        let mut renamed = instruction.renamed(|register| self.register(register), |symbol| self.symbol(symbol));
        renamed.location = renamed.location.map(|location| LocationId(self.first_location + location.0));
        renamed
    }

    fn is_entry(&self) -> bool {
        self.number == 0
    }
}

impl Linker<'_> {
    /// Makes registers and variables for one call of a body, the variables in a frame if there is one.
    fn enter(&mut self, body: &Body, (caller, frame): (usize, Option<usize>), bindings: Bindings) -> Instance {
        let Linked { entry: Entry { body: all, .. }, owners, callers, .. } = &mut self.linked;
        let instance = Instance {
            number: callers.len(),
            first_register: all.registers.len() as u32,
            first_local: all.locals.len() as u32,
            first_location: all.locations.len() as u32,
            bindings,
            frame,
            saved: BTreeMap::new(),
        };
        callers.push(caller);
        self.recursion.frames.push(frame);
        all.registers.extend(body.registers.iter().cloned());
        all.locals.extend(body.locals.iter().cloned());
        all.locations.extend(&body.locations);
        owners.resize(all.locals.len(), instance.number);
        instance
    }

    /// Puts the instructions of a body behind those that are there.
    fn put(&mut self, body: &Body, instance: &Instance) -> Result<(), CompileError> {
        let count = body.instructions.len();
        let mut starts = Vec::with_capacity(count + 1);
        // The branches whose targets are still numbers of the body.
        let mut open = Vec::new();
        for (index, instruction) in body.instructions.iter().enumerate() {
            starts.push(self.next());
            let renamed = instance.renamed(instruction);
            match &renamed.operation {
                Operation::Call(call) => self.call(Site { caller: instance, instruction: &renamed, index }, call)?,
                Operation::BranchTable(table) => self.table(&renamed, table, &mut open),
                // Past the end of a function comes what stands behind the call.
                Operation::Return if !instance.is_entry() && index + 1 == count && renamed.guard.is_none() => {}
                Operation::Return if !instance.is_entry() => {
                    open.push(self.push_branch(&renamed, renamed.guard, InstructionId(count as u32)));
                }
                Operation::Branch(_) => open.push(self.push(renamed)),
                _ => {
                    self.push(renamed);
                }
            }
            let size = self.linked.entry.body.instructions.len() + self.linked.callers.len();
            if size > MOST_INSTRUCTIONS && !instance.is_entry() {
                let what = format!("an entry of more than {MOST_INSTRUCTIONS} instructions with all that it calls");
                return Err(CompileError::NotModelled { line: instruction.at.line, what });
            }
        }
        starts.push(self.next());
        for index in open {
            if let Operation::Branch(branch) = &mut self.linked.entry.body.instructions[index].operation {
                branch.target = starts[branch.target.index()];
            }
        }
        Ok(())
    }

    /// Where the next instruction will stand.
    fn next(&self) -> InstructionId {
        InstructionId(self.linked.entry.body.instructions.len() as u32)
    }

    fn push(&mut self, instruction: Instruction) -> usize {
        self.linked.entry.body.instructions.push(instruction);
        self.linked.entry.body.instructions.len() - 1
    }

    /// Adds an operation that always runs, in the place of an instruction.
    fn push_for(&mut self, instruction: &Instruction, operation: Operation) -> usize {
        self.push(Instruction { guard: None, operation, ..instruction.clone() })
    }

    fn push_branch(&mut self, instruction: &Instruction, guard: Option<Guard>, target: InstructionId) -> usize {
        let operation = Operation::Branch(Branch { target, uniform: false });
        self.push(Instruction { guard, operation, ..instruction.clone() })
    }

    /// Lets the branch at `index` go to what comes next.
    fn land(&mut self, index: usize) {
        self.aim(index, self.next());
    }

    /// Lets the branch at `index` go to `target`.
    fn aim(&mut self, index: usize, target: InstructionId) {
        if let Operation::Branch(branch) = &mut self.linked.entry.body.instructions[index].operation {
            branch.target = target;
        }
    }

    /// Where the guard of an instruction does not hold, jumps to where [`Self::land`] says later.
    fn skip_unless_guarded(&mut self, instruction: &Instruction) -> Option<usize> {
        let guard = instruction.guard?;
        let other = Guard { negated: !guard.negated, ..guard };
        Some(self.push_branch(instruction, Some(other), InstructionId(0)))
    }

    fn new_register(&mut self, ty: ScalarType) -> RegisterId {
        let number = self.linked.entry.body.registers.len() as u32;
        self.linked.entry.body.registers.push(Register { name: format!("%{number}"), ty });
        RegisterId(number)
    }

    /// A variable in `.param` that belongs to a call.
    fn new_local(&mut self, owner: usize, size: u64, align: u32, at: Position) -> LocalId {
        let number = self.linked.entry.body.locals.len() as u32;
        let space = StateSpace::ParamFunction;
        self.linked.entry.body.locals.push(LocalVariable { name: format!("%{number}"), space, size, align, at });
        self.linked.owners.push(owner);
        LocalId(number)
    }
}

/// `setp` of a value and a constant, of the type of the constant.
fn compared(comparison: Comparison, outcome: RegisterId, a: Source, b: Immediate) -> Operation {
    let (ty, b) = (b.ty, Source::Immediate(b));
    Operation::SetPredicate(SetPredicate { comparison, ty, ftz: false, combine: None, p: Some(outcome), q: None, a, b })
}

/// Bits without a meaning, as many as a register or a piece of memory of so many bytes has.
fn untyped(size: u32) -> ScalarType {
    match size {
        1 => ScalarType::B8,
        2 => ScalarType::B16,
        4 => ScalarType::B32,
        8 => ScalarType::B64,
        _ => ScalarType::B128,
    }
}
