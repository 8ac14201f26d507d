//! Who calls whom.

use super::cycles::on_cycle;
use crate::body::Body;
use crate::instruction::{CallTarget, Operation};
use crate::module::Module;
use crate::operand::{EntryId, FunctionId, Symbol};

/// What calls: code of an entry or of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Caller {
    /// An entry.
    Entry(EntryId),
    /// A function.
    Function(FunctionId),
}

/// The calls of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallGraph {
    entries: Vec<Vec<FunctionId>>,
    functions: Vec<Vec<FunctionId>>,
    /// Whether each function can be called while it runs.
    recursive: Vec<bool>,
    /// The functions whose addresses are taken.
    taken: Vec<FunctionId>,
}

impl CallGraph {
    /// Finds all calls. One through a register whose functions the text does not name may go to any function whose
    /// address is taken somewhere.
    #[must_use]
    pub fn of(module: &Module) -> Self {
        let taken = taken_addresses(module);
        let entries = module.entries().iter().map(|entry| callees(&entry.body, &taken)).collect();
        let functions: Vec<_> = module
            .functions()
            .iter()
            .map(|function| function.body.as_ref().map_or_else(Vec::new, |body| callees(body, &taken)))
            .collect();
        let edges: Vec<Vec<usize>> =
            functions.iter().map(|called: &Vec<FunctionId>| called.iter().map(|it| it.index()).collect()).collect();
        let recursive = on_cycle(&edges);
        Self { entries, functions, recursive, taken }
    }

    /// The functions that a caller may call directly, each once and in order.
    #[must_use]
    pub fn callees(&self, caller: Caller) -> &[FunctionId] {
        match caller {
            Caller::Entry(entry) => &self.entries[entry.index()],
            Caller::Function(function) => &self.functions[function.index()],
        }
    }

    /// The functions whose addresses are in variables or are moved into registers, each once and in order.
    #[must_use]
    pub fn taken(&self) -> &[FunctionId] {
        &self.taken
    }

    /// Whether a function can be called while it runs, by itself or by what it calls.
    #[must_use]
    pub fn is_recursive(&self, function: FunctionId) -> bool {
        self.recursive[function.index()]
    }

    /// All functions that a caller may reach, each once and in order.
    #[must_use]
    pub fn reached(&self, caller: Caller) -> Vec<FunctionId> {
        let mut seen = vec![false; self.functions.len()];
        let mut open = self.callees(caller).to_vec();
        while let Some(function) = open.pop() {
            if !std::mem::replace(&mut seen[function.index()], true) {
                open.extend(self.callees(Caller::Function(function)));
            }
        }
        ids(seen.len()).filter(|function| seen[function.index()]).collect()
    }
}

fn ids(count: usize) -> impl Iterator<Item = FunctionId> {
    (0..u32::try_from(count).unwrap_or(u32::MAX)).map(FunctionId)
}

/// The functions whose addresses are in variables or are moved into registers.
fn taken_addresses(module: &Module) -> Vec<FunctionId> {
    let stored = module.variables().iter().flat_map(|variable| &variable.initial.addresses).map(|it| it.symbol);
    let bodies = module.entries().iter().map(|entry| &entry.body);
    let bodies = bodies.chain(module.functions().iter().filter_map(|function| function.body.as_ref()));
    let moved = bodies.flat_map(|body| &body.instructions).flat_map(|it| it.operation.symbols());
    let function = |symbol| if let Symbol::Function(function) = symbol { Some(function) } else { None };
    sorted(stored.chain(moved).filter_map(function).collect())
}

fn sorted(mut functions: Vec<FunctionId>) -> Vec<FunctionId> {
    functions.sort_unstable();
    functions.dedup();
    functions
}

fn callees(body: &Body, taken: &[FunctionId]) -> Vec<FunctionId> {
    let mut called = Vec::new();
    let mut calls_any = false;
    for instruction in &body.instructions {
        if let Operation::Call(call) = &instruction.operation {
            match &call.target {
                CallTarget::Direct(function) => called.push(*function),
                CallTarget::Indirect { targets: Some(targets), .. } => called.extend(targets.iter()),
                CallTarget::Indirect { targets: None, .. } => calls_any = true,
            }
        }
    }
    if calls_any {
        called.extend(taken);
    }
    sorted(called)
}
