//! Where what has an address lies.

use std::collections::{BTreeMap, BTreeSet};

use peermap_ptx::{LocalId, LocalVariable, Module, StateSpace, Symbol, VariableId};

use crate::block::spaces::SpaceSizes;
use crate::compile::link::Linked;
use crate::data::{ModuleData, code_address};
use crate::error::CompileError;
use crate::window::Window;

/// An address that is known before the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Address {
    /// In a window.
    In(Window, u64),
    /// So far behind the start of the module's variables; for one in `.const` that is its address there, too.
    Data { offset: u64, constant: bool },
    /// Of a function.
    Code(u64),
}

/// The places of all variables that an entry names.
#[derive(Debug)]
pub(crate) struct Layout {
    shared: BTreeMap<VariableId, u64>,
    locals: Vec<u64>,
    parameters: Vec<u64>,
    data: ModuleData,
    /// Static shared memory.
    shared_bytes: u64,
    /// Local memory of a thread.
    local_bytes: u64,
}

/// What dynamic shared memory is aligned to at least.
const DYNAMIC_ALIGNMENT: u64 = 16;

/// As much local memory as a thread can have.
const MOST_LOCAL_BYTES: u64 = 512 << 10;

impl Layout {
    /// Gives places: to shared variables in the order of the text, static ones first.
    pub(crate) fn of(module: &Module, linked: &Linked) -> Result<Self, CompileError> {
        let entry = &linked.entry;
        let named: BTreeSet<Symbol> = entry.body.instructions.iter().flat_map(|it| it.operation.symbols()).collect();
        let mut layout = Self {
            shared: BTreeMap::new(),
            locals: vec![0; entry.body.locals.len()],
            parameters: entry.params.iter().map(|param| u64::from(param.offset)).collect(),
            data: ModuleData::of(module)?,
            shared_bytes: 0,
            local_bytes: 0,
        };
        layout.place_shared(module, &named);
        layout.place_local(linked, &named);
        if layout.local_bytes > MOST_LOCAL_BYTES {
            let what = format!("more local memory than {MOST_LOCAL_BYTES} bytes for a thread");
            return Err(CompileError::NotModelled { line: entry.line, what });
        }
        Ok(layout)
    }

    /// Gives places to the variables of each call, behind those of the call that it was made in. The stack is the last,
    /// so that what runs over it is outside of local memory.
    fn place_local(&mut self, linked: &Linked, named: &BTreeSet<Symbol>) {
        let mut ends = vec![0_u64; linked.callers.len()];
        let mut aligns = vec![1_u64; linked.callers.len()];
        let locals = || (0..).zip(&linked.entry.body.locals).zip(&linked.owners);
        for ((number, local), owner) in locals() {
            if named.contains(&Symbol::Local(LocalId(number))) && linked.stack != Some(LocalId(number)) {
                let start = ends[*owner].next_multiple_of(u64::from(local.align));
                self.locals[number as usize] = start;
                ends[*owner] = start + local.size;
                aligns[*owner] = aligns[*owner].max(u64::from(local.align));
            }
        }
        let mut starts = vec![0; ends.len()];
        for call in 1..ends.len() {
            let caller = linked.callers[call];
            starts[call] = (starts[caller] + ends[caller]).next_multiple_of(aligns[call]);
        }
        for ((number, _), owner) in locals() {
            self.locals[number as usize] += starts[*owner];
        }
        self.local_bytes = starts.iter().zip(&ends).map(|(start, end)| start + end).max().unwrap_or(0);
        if let Some(stack) = linked.stack {
            let LocalVariable { size, align, .. } = linked.entry.body.locals[stack.index()];
            self.locals[stack.index()] = self.local_bytes.next_multiple_of(u64::from(align));
            self.local_bytes = self.locals[stack.index()] + size;
        }
    }

    fn place_shared(&mut self, module: &Module, named: &BTreeSet<Symbol>) {
        let variable = |symbol: &Symbol| if let Symbol::Variable(id) = symbol { Some(*id) } else { None };
        let shared = named.iter().filter_map(variable).map(|id| (id, &module.variables()[id.index()]));
        let (dynamic, fixed): (Vec<_>, Vec<_>) =
            shared.filter(|(_, it)| it.space == StateSpace::Shared).partition(|(_, it)| it.dynamic);
        let start = Window::Shared.start();
        let mut end = start;
        for (id, variable) in fixed {
            let at = end.next_multiple_of(u64::from(variable.align));
            self.shared.insert(id, at);
            end = at + variable.size;
        }
        let align = dynamic.iter().map(|(_, variable)| u64::from(variable.align)).fold(DYNAMIC_ALIGNMENT, u64::max);
        if !dynamic.is_empty() {
            end = end.next_multiple_of(align);
        }
        self.shared.extend(dynamic.iter().map(|(id, _)| (*id, end)));
        self.shared_bytes = end - start;
    }

    /// How much memory there is beside that of the device; what the launch adds comes on top.
    pub(crate) fn sizes(&self) -> SpaceSizes {
        SpaceSizes { shared: self.shared_bytes, local: self.local_bytes, constant: self.data.constant() }
    }

    /// Where a symbol lies.
    pub(crate) fn address(&self, symbol: Symbol) -> Address {
        match symbol {
            Symbol::Variable(id) => match self.shared.get(&id) {
                Some(at) => Address::In(Window::Shared, *at),
                None => {
                    let offset = self.data.offset(id.index()).unwrap_or(0);
                    Address::Data { offset, constant: offset < self.data.constant() }
                }
            },
            Symbol::Local(id) => Address::In(Window::Local, self.locals[id.index()]),
            Symbol::Parameter(number) => Address::In(Window::Parameter, self.parameters[number as usize]),
            Symbol::Returned(_) | Symbol::Function(_) | Symbol::Entry(_) => Address::Code(code_address(symbol)),
        }
    }
}
