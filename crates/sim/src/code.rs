//! Loaded code: which built-in kernel a PTX entry is.

use std::sync::Arc;

use peermap_driver::{DriverError, KernelArg, Result};
use peermap_memory::{Fault, View};
use peermap_model::Operation;
use peermap_ptx::{Entry, Param};

use crate::twins::{Body, twin_of};

/// An entry of a loaded module.
pub(crate) struct Kernel {
    name: String,
    params: Vec<Param>,
    parameter_bytes: usize,
    /// What it does, if it is one of the kernels that are known here.
    body: Option<Body>,
}

impl Kernel {
    pub(crate) fn of(entry: &Entry) -> Self {
        Self {
            name: entry.name.clone(),
            params: entry.params.clone(),
            parameter_bytes: entry.parameter_bytes as usize,
            body: twin_of(entry),
        }
    }

    /// The parameters as the kernel reads them.
    ///
    /// # Errors
    /// [`DriverError::NotModelled`] for a kernel that is not known, and for arguments that do not fit: the real driver
    /// would read past them.
    pub(crate) fn parameters(&self, args: &[KernelArg]) -> Result<Arc<[u8]>> {
        let not_modelled = |what| Err(DriverError::NotModelled { what });
        if self.body.is_none() {
            return not_modelled(format!("kernel {:?}: its code is not one of the built-in kernels", self.name));
        }
        if args.len() != self.params.len() {
            let (given, declared) = (args.len(), self.params.len());
            return not_modelled(format!("kernel {:?} with {given} arguments, it declares {declared}", self.name));
        }
        let mut bytes = vec![0; self.parameter_bytes];
        for (index, (param, arg)) in self.params.iter().zip(args).enumerate() {
            let given = arg.to_bytes();
            let (offset, size) = (param.offset as usize, param.size as usize);
            if given.len() != size {
                let len = given.len();
                return not_modelled(format!(
                    "kernel {:?}: argument {index} has {len} bytes, the kernel declares {size}",
                    self.name
                ));
            }
            bytes[offset..offset + size].copy_from_slice(&given);
        }
        Ok(bytes.into())
    }

    /// Runs the kernel as the device that the view belongs to.
    pub(crate) fn run(&self, view: &View<'_>, parameters: &[u8]) -> std::result::Result<(), Fault> {
        let body = self.body.expect("a launch is queued only for code that is known");
        let values: Vec<u64> = self
            .params
            .iter()
            .map(|param| {
                let mut value = [0; 8];
                let (offset, size) = (param.offset as usize, param.size as usize);
                value[..size].copy_from_slice(&parameters[offset..offset + size]);
                u64::from_le_bytes(value)
            })
            .collect();
        body(view, &values)
    }
}

/// The kernels of a process, by the number that the model knows them by.
#[derive(Default)]
pub(crate) struct CodeStore {
    kernels: Vec<Arc<Kernel>>,
}

impl CodeStore {
    pub(crate) fn add(&mut self, kernel: Kernel) -> u64 {
        self.kernels.push(Arc::new(kernel));
        self.kernels.len() as u64 - 1
    }

    pub(crate) fn get(&self, code: u64) -> Option<&Arc<Kernel>> {
        self.kernels.get(usize::try_from(code).ok()?)
    }

    /// The code that an item of work runs.
    pub(crate) fn of(&self, operation: &Operation) -> Option<Arc<Kernel>> {
        match operation {
            Operation::Kernel { code, .. } => self.get(*code).cloned(),
            _ => None,
        }
    }
}
