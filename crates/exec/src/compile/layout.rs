//! Where what has an address lies.

use std::collections::BTreeMap;

use peermap_ptx::{Body, Module, Param, StateSpace, Symbol, VariableId};

use crate::block::spaces::SpaceSizes;
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
    pub(crate) fn of(module: &Module, params: &[Param], body: &Body) -> Result<Self, CompileError> {
        let mut layout = Self {
            shared: BTreeMap::new(),
            locals: Vec::with_capacity(body.locals.len()),
            parameters: params.iter().map(|param| u64::from(param.offset)).collect(),
            data: ModuleData::of(module)?,
            shared_bytes: 0,
            local_bytes: 0,
        };
        layout.place_shared(module, body);
        for local in &body.locals {
            let start = layout.local_bytes.next_multiple_of(u64::from(local.align));
            layout.locals.push(start);
            layout.local_bytes = start + local.size;
            if layout.local_bytes > MOST_LOCAL_BYTES {
                let what = format!("more local memory than {MOST_LOCAL_BYTES} bytes for a thread");
                return Err(CompileError::NotModelled { line: local.at.line, what });
            }
        }
        Ok(layout)
    }

    fn place_shared(&mut self, module: &Module, body: &Body) {
        let named = body.instructions.iter().flat_map(|instruction| instruction.operation.symbols());
        let variable = |symbol| if let Symbol::Variable(id) = symbol { Some(id) } else { None };
        let mut ids: Vec<VariableId> = named.filter_map(variable).collect();
        ids.sort_unstable();
        ids.dedup();
        let shared = ids.into_iter().map(|id| (id, &module.variables()[id.index()]));
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
