//! Texts that were read and compiled before.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use peermap_exec::{CompileError, Kernel};
use peermap_ptx::analysis::{CallGraph, Resources};
use peermap_ptx::{EntryId, Module, PtxError};

/// So many texts are kept; then all are forgotten, and those that are still loaded stay with their modules.
const MOST_TEXTS: usize = 64;

/// A text that was read.
pub(crate) struct Loaded {
    pub(crate) module: Module,
    kernels: OnceLock<Result<Vec<Arc<Kernel>>, CompileError>>,
    resources: OnceLock<Vec<Resources>>,
}

impl Loaded {
    /// What each entry asks of a multiprocessor, in order.
    pub(crate) fn resources(&self) -> &[Resources] {
        self.resources.get_or_init(|| {
            let calls = CallGraph::of(&self.module);
            let entries = (0_u32..).map(EntryId).take(self.module.entries().len());
            entries.map(|entry| Resources::of(&self.module, &calls, entry)).collect()
        })
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
    let loaded =
        Arc::new(Loaded { module: Module::parse(text)?, kernels: OnceLock::new(), resources: OnceLock::new() });
    if known.len() == MOST_TEXTS {
        known.clear();
    }
    known.insert(text.to_owned(), Arc::clone(&loaded));
    Ok(loaded)
}
