//! The names of a module and of the braces in its bodies.

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;
use std::sync::Arc;

use crate::body::{Body, LocalVariable, Register};
use crate::error::{PtxError, PtxProblem, excerpt};
use crate::function::{Function, Parameter};
use crate::instruction::StateSpace;
use crate::lexer::Position;
use crate::operand::{FunctionId, InstructionId, LocalId, RegisterId, Symbol, VariableId};
use crate::types::ScalarType;
use crate::variable::Variable;

/// How deep braces may be nested.
const MOST_BRACES: u32 = 128;

/// What a module has declared so far.
#[derive(Default)]
pub(super) struct ModuleNames<'a> {
    pub(super) names: HashMap<Cow<'a, str>, (Symbol, Position)>,
    pub(super) variables: Vec<Variable>,
    pub(super) functions: Vec<Function>,
}

/// What a name in a body stands for.
#[derive(Clone)]
pub(super) enum Named {
    /// A register of this type and of so many components, which was not named yet.
    Declared(ScalarType, u32),
    Register(RegisterId),
    /// The components of a vector register.
    Vector(Vec<RegisterId>),
    Symbol(Symbol),
    Label(InstructionId),
    /// `.branchtargets`: a number of a list of labels.
    Targets(usize),
    /// `.callprototype`.
    Prototype(Arc<Prototype>),
    /// `.calltargets`.
    Functions(Arc<[FunctionId]>),
}

/// What `.callprototype` says.
pub(super) struct Prototype {
    pub(super) returns: Vec<Parameter>,
    pub(super) params: Vec<Parameter>,
}

/// A declaration such as `.reg .b32 %r<10>`.
struct Family {
    count: u32,
    ty: ScalarType,
    vector: u32,
    at: Position,
}

/// The names in one pair of braces.
#[derive(Default)]
struct Braces<'a> {
    /// The braces around, by number.
    outer: Option<usize>,
    depth: u32,
    names: HashMap<Cow<'a, str>, (Named, Position)>,
    families: HashMap<&'a str, Family>,
}

/// The names that a body sees, and what it has declared so far.
pub(super) struct Names<'m, 'a> {
    pub(super) module: &'m mut ModuleNames<'a>,
    pub(super) body: Body,
    /// Whether the body is that of a function rather than of an entry.
    pub(super) in_function: bool,
    /// Whether the body named anything of the module.
    pub(super) used_module: bool,
    /// The register that stands for the carry flag, from the first instruction on that names the flag.
    carry_flag: Option<RegisterId>,
    /// Every pair of braces of the body, the first around all others.
    braces: Vec<Braces<'a>>,
    current: usize,
}

impl<'m, 'a> Names<'m, 'a> {
    pub(super) fn new(module: &'m mut ModuleNames<'a>, in_function: bool) -> Self {
        let braces = vec![Braces::default()];
        Self { module, body: Body::default(), in_function, used_module: false, carry_flag: None, braces, current: 0 }
    }

    /// The number of the innermost open braces.
    pub(super) fn current(&self) -> usize {
        self.current
    }

    pub(super) fn open(&mut self, at: Position) -> Result<(), PtxError> {
        let depth = self.braces[self.current].depth + 1;
        if depth > MOST_BRACES {
            return Err(PtxError { at, problem: PtxProblem::TooDeep { most: MOST_BRACES } });
        }
        self.braces.push(Braces { outer: Some(self.current), depth, ..Braces::default() });
        self.current = self.braces.len() - 1;
        Ok(())
    }

    /// Closes the innermost braces; those of the body stay.
    pub(super) fn close(&mut self) {
        self.current = self.braces[self.current].outer.unwrap_or(self.current);
    }

    /// The space that a symbol lies in; `None` for code.
    pub(super) fn space_of(&self, symbol: Symbol) -> Option<StateSpace> {
        match symbol {
            Symbol::Variable(variable) => Some(self.module.variables[variable.index()].space),
            Symbol::Local(local) => Some(self.body.locals[local.index()].space),
            Symbol::Parameter(_) if !self.in_function => Some(StateSpace::ParamEntry),
            Symbol::Parameter(_) | Symbol::Returned(_) => Some(StateSpace::ParamFunction),
            Symbol::Function(_) | Symbol::Entry(_) => None,
        }
    }

    /// Declares a name in the innermost braces.
    pub(super) fn declare(
        &mut self,
        name: impl Into<Cow<'a, str>>,
        named: Named,
        at: Position,
    ) -> Result<(), PtxError> {
        let (name, braces) = (name.into(), &mut self.braces[self.current]);
        let (stem, number) = split_number(&name);
        let member = braces.families.get(stem).filter(|family| number.is_some_and(|number| number < family.count));
        let text = excerpt(&name);
        let first = match (member, braces.names.entry(name)) {
            (Some(family), _) => family.at,
            (None, Slot::Occupied(taken)) => taken.get().1,
            (None, Slot::Vacant(free)) => {
                free.insert((named, at));
                return Ok(());
            }
        };
        Err(PtxError { at, problem: PtxProblem::DuplicateName { name: text, first } })
    }

    pub(super) fn declare_register(
        &mut self,
        name: &'a str,
        ty: ScalarType,
        vector: u32,
        at: Position,
    ) -> Result<(), PtxError> {
        self.declare(name, Named::Declared(ty, vector), at)
    }

    pub(super) fn declare_family(
        &mut self,
        stem: &'a str,
        count: u32,
        ty: ScalarType,
        vector: u32,
        at: Position,
    ) -> Result<(), PtxError> {
        match self.braces[self.current].families.entry(stem) {
            Slot::Vacant(free) => {
                free.insert(Family { count, ty, vector, at });
                Ok(())
            }
            Slot::Occupied(taken) => {
                let problem = PtxProblem::DuplicateName { name: stem.to_owned(), first: taken.get().at };
                Err(PtxError { at, problem })
            }
        }
    }

    fn new_register(&mut self, name: &str, ty: ScalarType, vector: u32) -> Named {
        if vector == 1 {
            return Named::Register(self.add_register(name.to_owned(), ty));
        }
        let components = [".x", ".y", ".z", ".w"].into_iter().take(vector as usize);
        Named::Vector(components.map(|component| self.add_register(format!("{name}{component}"), ty)).collect())
    }

    /// The register of the carry flag: one for the whole body.
    pub(super) fn carry_flag(&mut self) -> RegisterId {
        if let Some(register) = self.carry_flag {
            return register;
        }
        let register = self.add_register("CC.CF".to_owned(), ScalarType::Pred);
        self.carry_flag = Some(register);
        register
    }

    /// A register that no name of the text finds.
    pub(super) fn add_register(&mut self, name: String, ty: ScalarType) -> RegisterId {
        self.body.registers.push(Register { name, ty });
        RegisterId(id(self.body.registers.len() - 1))
    }

    pub(super) fn declare_local(&mut self, name: Cow<'a, str>, local: LocalVariable) -> Result<(), PtxError> {
        let at = local.at;
        self.body.locals.push(local);
        let symbol = Symbol::Local(LocalId(id(self.body.locals.len() - 1)));
        self.declare(name, Named::Symbol(symbol), at)
    }

    pub(super) fn declare_static(&mut self, name: Cow<'a, str>, variable: Variable) -> Result<(), PtxError> {
        let at = variable.at;
        self.module.variables.push(variable);
        let symbol = Symbol::Variable(VariableId(id(self.module.variables.len() - 1)));
        self.declare(name, Named::Symbol(symbol), at)
    }

    /// What a name stands for here.
    pub(super) fn find(&mut self, name: &'a str) -> Option<Named> {
        let mut braces = Some(self.current);
        while let Some(number) = braces {
            if let Some((named, at)) = self.braces[number].names.get(name).cloned() {
                return Some(match named {
                    Named::Declared(ty, vector) => self.first_use(number, name, ty, vector, at),
                    known => known,
                });
            }
            if let Some(named) = self.family_member(number, name) {
                return Some(named);
            }
            braces = self.braces[number].outer;
        }
        let (symbol, _) = self.module.names.get(name)?;
        self.used_module = true;
        Some(Named::Symbol(*symbol))
    }

    /// The register of a family.
    fn family_member(&mut self, braces: usize, name: &'a str) -> Option<Named> {
        let (stem, number) = split_number(name);
        let family = self.braces[braces].families.get(stem)?;
        if number? >= family.count {
            return None;
        }
        let (ty, vector, at) = (family.ty, family.vector, family.at);
        Some(self.first_use(braces, name, ty, vector, at))
    }

    /// A register comes into being when it is named: most of a family never are.
    fn first_use(&mut self, braces: usize, name: &'a str, ty: ScalarType, vector: u32, at: Position) -> Named {
        let named = self.new_register(name, ty, vector);
        self.braces[braces].names.insert(name.into(), (named.clone(), at));
        named
    }

    /// The label or list of labels of this name in the braces of this number or around them.
    pub(super) fn find_label(&self, mut braces: usize, name: &str) -> Option<&Named> {
        loop {
            let found = self.braces[braces].names.get(name).map(|(named, _)| named);
            if let Some(label @ (Named::Label(_) | Named::Targets(_))) = found {
                return Some(label);
            }
            braces = self.braces[braces].outer?;
        }
    }
}

/// A name without the digits at its end, and the number that they are.
fn split_number(name: &str) -> (&str, Option<u32>) {
    let stem = name.trim_end_matches(|character: char| character.is_ascii_digit());
    (stem, name[stem.len()..].parse().ok())
}

/// An index as the number in an id: there are never more of anything than characters of the text, and no text of
/// 4 GiB comes here.
pub(super) fn id(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
