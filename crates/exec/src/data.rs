//! The variables of a module.

use peermap_ptx::{InitialAddress, Linkage, Module, StateSpace, Symbol};

use crate::error::CompileError;
use crate::window::FUNCTIONS;

/// What a module puts in device memory when it is loaded: its variables in `.const` and in `.global`, side by side.
///
/// # Units
/// Bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleData {
    size: u64,
    constant: u64,
    /// Where each variable of the module lies; those in other spaces lie nowhere.
    offsets: Vec<Option<u64>>,
}

impl ModuleData {
    /// Gives each variable a place. Those in `.const` come first: the address in `.const` is where they lie.
    ///
    /// # Errors
    /// [`CompileError::NotModelled`] for a variable that the host shares or that another module has.
    pub fn of(module: &Module) -> Result<Self, CompileError> {
        let mut data = Self { size: 0, constant: 0, offsets: vec![None; module.variables().len()] };
        data.place(module, StateSpace::Const)?;
        data.constant = data.size;
        data.place(module, StateSpace::Global)?;
        Ok(data)
    }

    fn place(&mut self, module: &Module, space: StateSpace) -> Result<(), CompileError> {
        for (variable, offset) in module.variables().iter().zip(&mut self.offsets) {
            if variable.space != space {
                continue;
            }
            let not_modelled = |what| Err(CompileError::NotModelled { line: variable.at.line, what });
            if variable.managed {
                return not_modelled(format!("the managed variable {:?}", variable.name));
            }
            if variable.linkage == Linkage::Extern {
                return not_modelled(format!("{:?}, a variable of another module,", variable.name));
            }
            let start = self.size.next_multiple_of(u64::from(variable.align));
            *offset = Some(start);
            self.size = start + variable.size;
        }
        Ok(())
    }

    /// How much there is of all variables.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// How much there is of those in `.const`.
    pub(crate) fn constant(&self) -> u64 {
        self.constant
    }

    /// Where a variable lies, by its number in the module, counted from the start of all.
    #[must_use]
    pub fn offset(&self, variable: usize) -> Option<u64> {
        self.offsets.get(variable).copied().flatten()
    }

    /// What the variables hold at first, if the first byte has this address.
    #[must_use]
    pub fn image(&self, module: &Module, base: u64) -> Vec<u8> {
        let mut image = vec![0; self.size as usize];
        for (variable, offset) in module.variables().iter().zip(&self.offsets) {
            let Some(offset) = *offset else { continue };
            let own = &mut image[offset as usize..][..variable.size as usize];
            for run in &variable.initial.runs {
                own[run.offset as usize..][..run.bytes.len()].copy_from_slice(&run.bytes);
            }
            for address in &variable.initial.addresses {
                let value = self.address(module, address, base).wrapping_add_signed(address.addend) >> address.shift;
                let bytes = &value.to_le_bytes()[..address.size.min(8) as usize];
                own[address.offset as usize..][..bytes.len()].copy_from_slice(bytes);
            }
        }
        image
    }

    fn address(&self, module: &Module, address: &InitialAddress, base: u64) -> u64 {
        match address.symbol {
            Symbol::Variable(id) => {
                let offset = self.offset(id.index()).unwrap_or(0);
                let is_constant = module.variables()[id.index()].space == StateSpace::Const;
                if is_constant && !address.generic { offset } else { base + offset }
            }
            symbol => code_address(symbol),
        }
    }
}

/// The address of a function or an entry. Nothing can be done with it but passing it on and comparing it.
pub(crate) fn code_address(symbol: Symbol) -> u64 {
    let place = match symbol {
        Symbol::Function(function) => u64::from(function.0),
        Symbol::Entry(entry) => (1 << 32) + u64::from(entry.0),
        Symbol::Variable(_) | Symbol::Local(_) | Symbol::Parameter(_) | Symbol::Returned(_) => 0,
    };
    FUNCTIONS + 16 * place
}
