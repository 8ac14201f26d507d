//! Texts that were read and compiled before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use peermap_exec::{CompileError, Kernel};
use peermap_ptx::analysis::{CallGraph, Caller, Resources};
use peermap_ptx::{EntryId, FunctionId, Module, PtxError};

/// So many texts are kept; then all are forgotten, and those that are still loaded stay with their modules.
const MOST_TEXTS: usize = 64;

/// A text that was read.
pub(crate) struct Loaded {
    pub(crate) module: Module,
    kernels: OnceLock<Result<Vec<Arc<Kernel>>, CompileError>>,
    needs: OnceLock<Needs>,
}

/// What a text asks of whoever loads it.
struct Needs {
    /// Of a multiprocessor, for each entry in order.
    resources: Vec<Resources>,
    /// Functions that are called and have no body.
    missing: Vec<FunctionId>,
}

impl Needs {
    fn of(module: &Module) -> Self {
        let calls = CallGraph::of(module);
        let entries = || (0_u32..).map(EntryId).take(module.entries().len());
        let called = entries().flat_map(|entry| calls.reached(Caller::Entry(entry)));
        Self {
            resources: entries().map(|entry| Resources::of(module, &calls, entry)).collect(),
            missing: called.filter(|id| module.functions()[id.index()].body.is_none()).collect(),
        }
    }
}

impl Loaded {
    fn needs(&self) -> &Needs {
        self.needs.get_or_init(|| Needs::of(&self.module))
    }

    /// What each entry asks of a multiprocessor, in order.
    pub(crate) fn resources(&self) -> &[Resources] {
        &self.needs().resources
    }

    /// The names of functions that are called and that the text does not have.
    pub(crate) fn missing(&self) -> impl Iterator<Item = &str> {
        self.needs().missing.iter().map(|id| self.module.functions()[id.index()].name.as_str())
    }

    /// The kernels of all entries, in order. The first call compiles them.
    ///
    /// # Errors
    /// [`CompileError`] for the first instruction that is not covered.
    pub(crate) fn kernels(&self) -> Result<&[Arc<Kernel>], CompileError> {
        let compile = || {
            let kernels = self.module.entries().iter().map(|entry| Kernel::compile(&self.module, entry).map(Arc::new));
            kernels.collect()
        };
        self.kernels.get_or_init(compile).as_ref().map(Vec::as_slice).map_err(Clone::clone)
    }
}

/// Reads a text, unless it was read in this OS process before.
///
/// # Errors
/// What is wrong with the text.
pub(crate) fn read(text: &str) -> Result<Arc<Loaded>, PtxError> {
    static KNOWN: OnceLock<Mutex<HashMap<String, Arc<Loaded>>>> = OnceLock::new();
    let mut known = KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(loaded) = known.get(text) {
        return Ok(Arc::clone(loaded));
    }
    let loaded = Arc::new(Loaded { module: Module::parse(text)?, kernels: OnceLock::new(), needs: OnceLock::new() });
    if known.len() == MOST_TEXTS {
        known.clear();
    }
    known.insert(text.to_owned(), Arc::clone(&loaded));
    Ok(loaded)
}
