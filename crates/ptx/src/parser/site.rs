//! One instruction while it is read: its modifiers, its operands as written, and what turns them into typed ones.

use super::fit::{Fit, fits};
use super::modifiers::Modifiers;
use super::names::{Named, Names};
use super::special;
use super::syntax::{Form, Name, Operand};
use crate::error::{PtxError, PtxProblem, excerpt};
use crate::instruction::{Operation, StateSpace};
use crate::lexer::Position;
use crate::operand::{Address, AddressBase, Immediate, MoveSource, PredicateSource, RegisterId, Sink, Source, Symbol};
use crate::special::SpecialRegister;
use crate::types::ScalarType;

/// An instruction while it is read.
pub(super) struct Site<'s, 'm, 't, 'a> {
    pub(super) modifiers: Modifiers<'t, 'a>,
    pub(super) operands: Vec<Operand<'a>>,
    pub(super) names: &'s mut Names<'m, 'a>,
    /// What must run before the instruction: an address or a special register where it takes registers only.
    pub(super) before: Vec<Operation>,
}

impl<'a> Site<'_, '_, '_, 'a> {
    pub(super) fn opcode(&self) -> String {
        self.modifiers.opcode.text.to_owned()
    }

    pub(super) fn error<T>(&self, at: Position, problem: PtxProblem) -> Result<T, PtxError> {
        let _ = self;
        Err(PtxError { at, problem })
    }

    /// The operands, which must be so many.
    pub(super) fn take<const N: usize>(&mut self) -> Result<[Operand<'a>; N], PtxError> {
        let found = self.operands.len();
        let operands = std::mem::take(&mut self.operands);
        operands.try_into().map_err(|_| PtxError {
            at: self.modifiers.at(),
            problem: PtxProblem::OperandCount { instruction: self.opcode(), expected: N, found },
        })
    }

    /// The last operand, if there are more than `fixed`.
    pub(super) fn take_beyond(&mut self, fixed: usize) -> Option<Operand<'a>> {
        if self.operands.len() > fixed { self.operands.pop() } else { None }
    }

    /// Moves over the modifiers that concern caches, and over the operand of a cache policy, if there is one.
    pub(super) fn skip_cache_policy(&mut self, fixed: usize) -> Result<(), PtxError> {
        if self.modifiers.skip_cache_hints()
            && let Some(policy) = self.take_beyond(fixed)
        {
            self.source(&policy, ScalarType::B64, Fit::Exact)?;
        }
        Ok(())
    }

    fn unknown<T>(&self, at: Position, name: &str) -> Result<T, PtxError> {
        self.error(at, PtxProblem::UnknownSymbol { name: excerpt(name) })
    }

    pub(super) fn unexpected<T>(&self, operand: &Operand<'a>, expected: &'static str) -> Result<T, PtxError> {
        let found = match &operand.form {
            Form::Name(Name { text, .. }) | Form::Element(text, _) => format!("`{}`", excerpt(text)),
            Form::Constant(_) => "a constant".to_owned(),
            Form::Not(name) => format!("`!{}`", excerpt(name.text)),
            Form::Vector(_) => "a vector".to_owned(),
            Form::Address(_) => "an address".to_owned(),
            Form::Pair(_) => "a pair".to_owned(),
            Form::Group(_) => "a list".to_owned(),
        };
        self.error(operand.at, PtxProblem::UnexpectedOperand { expected, found })
    }

    /// The register that a name stands for, whatever its type; `None` for a name that is something else.
    fn lookup_register(&mut self, name: Name<'a>, at: Position) -> Result<Option<RegisterId>, PtxError> {
        let Some(named) = self.names.find(name.text) else { return Ok(None) };
        match (named, name.component) {
            _ if name.offset != 0 => Ok(None),
            (Named::Register(register), None) => Ok(Some(register)),
            (Named::Vector(components), Some(component)) => {
                let index = [".x", ".y", ".z", ".w", ".r", ".g", ".b", ".a"].iter().position(|it| *it == component);
                let register = index.and_then(|index| components.get(index % 4).copied());
                register.map_or_else(|| self.unknown(at, &format!("{}{component}", name.text)), |it| Ok(Some(it)))
            }
            _ => Ok(None),
        }
    }

    /// A register of any type.
    pub(super) fn any_register(&mut self, operand: &Operand<'a>) -> Result<RegisterId, PtxError> {
        let Form::Name(name) = operand.form else { return self.unexpected(operand, "a register") };
        match self.lookup_register(name, operand.at)? {
            Some(register) => Ok(register),
            None if self.names.find(name.text).is_some() || special::of(name).is_some() => {
                self.unexpected(operand, "a register")
            }
            None => self.unknown(operand.at, name.text),
        }
    }

    pub(super) fn register_type(&self, register: RegisterId) -> ScalarType {
        self.names.body.registers[register.index()].ty
    }

    fn check(&self, at: Position, register: RegisterId, ty: ScalarType, fit: Fit) -> Result<RegisterId, PtxError> {
        let declared = &self.names.body.registers[register.index()];
        if fits(ty, declared.ty, fit) {
            return Ok(register);
        }
        let (name, declared, wanted) = (excerpt(&declared.name), declared.ty.directive(), ty.directive());
        self.error(at, PtxProblem::TypeMismatch { register: name, declared, wanted })
    }

    /// A register that holds `ty`.
    pub(super) fn register(&mut self, operand: &Operand<'a>, ty: ScalarType, fit: Fit) -> Result<RegisterId, PtxError> {
        let register = self.any_register(operand)?;
        self.check(operand.at, register, ty, fit)
    }

    /// A destination of exactly `ty`.
    pub(super) fn destination(&mut self, operand: &Operand<'a>, ty: ScalarType) -> Result<RegisterId, PtxError> {
        self.register(operand, ty, Fit::Exact)
    }

    /// A destination, or `_`.
    pub(super) fn sink(&mut self, operand: &Operand<'a>, ty: ScalarType, fit: Fit) -> Result<Sink, PtxError> {
        if is_sink(operand) { Ok(None) } else { self.register(operand, ty, fit).map(Some) }
    }

    /// A register or a constant.
    pub(super) fn source(&mut self, operand: &Operand<'a>, ty: ScalarType, fit: Fit) -> Result<Source, PtxError> {
        match &operand.form {
            Form::Constant(_) => self.immediate(operand, ty).map(Source::Immediate),
            Form::Name(_) => self.register(operand, ty, fit).map(Source::Register),
            _ => self.unexpected(operand, "a register or a constant"),
        }
    }

    /// A register or a constant of exactly `ty`.
    pub(super) fn value(&mut self, operand: &Operand<'a>, ty: ScalarType) -> Result<Source, PtxError> {
        self.source(operand, ty, Fit::Exact)
    }

    pub(super) fn immediate(&self, operand: &Operand<'a>, ty: ScalarType) -> Result<Immediate, PtxError> {
        let Form::Constant(constant) = operand.form else { return self.unexpected(operand, "a constant") };
        let mismatch = PtxProblem::ConstantMismatch { wanted: ty.directive() };
        constant.immediate(ty).ok_or(PtxError { at: operand.at, problem: mismatch })
    }

    /// An integer constant.
    pub(super) fn integer(&self, operand: &Operand<'a>) -> Result<u64, PtxError> {
        let Form::Constant(constant) = operand.form else { return self.unexpected(operand, "a constant") };
        constant.integer().map_or_else(|| self.unexpected(operand, "an integer"), Ok)
    }

    /// A predicate, perhaps with `!`.
    pub(super) fn predicate(&mut self, operand: &Operand<'a>) -> Result<PredicateSource, PtxError> {
        let Form::Not(name) = operand.form else {
            return Ok(PredicateSource { value: self.value(operand, ScalarType::Pred)?, negated: false });
        };
        let plain = Operand { at: operand.at, form: Form::Name(name) };
        let register = self.register(&plain, ScalarType::Pred, Fit::Exact)?;
        Ok(PredicateSource { value: Source::Register(register), negated: true })
    }

    /// `a|b`, or `a` alone.
    pub(super) fn pair(&self, operand: Operand<'a>) -> (Operand<'a>, Option<Operand<'a>>) {
        let _ = self;
        match operand.form {
            Form::Pair(pair) => {
                let [first, second] = *pair;
                (first, Some(second))
            }
            form => (Operand { form, ..operand }, None),
        }
    }

    /// The address in the space of a symbol, and its offset; `None` if the operand is none.
    pub(super) fn symbol(&mut self, operand: &Operand<'a>) -> Option<(Symbol, i64)> {
        match operand.form {
            Form::Name(Name { text, component: None, offset }) => match self.names.find(text)? {
                Named::Symbol(symbol) => Some((symbol, offset)),
                _ => None,
            },
            // An index counts elements, however many dimensions there are.
            Form::Element(text, index) => match self.names.find(text)? {
                Named::Symbol(symbol @ Symbol::Variable(variable)) => {
                    let size = self.names.module.variables[variable.index()].ty.size();
                    Some((symbol, index.wrapping_mul(size.into())))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// What `mov` can read, of exactly `ty`.
    pub(super) fn moved(&mut self, operand: &Operand<'a>, ty: ScalarType) -> Result<MoveSource, PtxError> {
        if let Some((symbol, offset)) = self.symbol(operand) {
            self.check_address_of(operand, symbol, ty)?;
            return Ok(MoveSource::Symbol(symbol, offset));
        }
        if let Form::Name(name) = operand.form
            && let Some((special, width)) = special::of(name)
        {
            let bits = ty.bits();
            let accepted = match width {
                // 16 bits of one of 32 are its low half, and so were 32 bits of the number of the grid once.
                ScalarType::B32 => !ty.is_float() && (bits == 32 || bits == 16),
                ScalarType::B64 => !ty.is_float() && (bits == 64 || bits == 32 && special == SpecialRegister::GridId),
                _ => ty == width,
            };
            return if accepted {
                Ok(MoveSource::Special(special))
            } else {
                self.mismatch(operand.at, name.text, width, ty)
            };
        }
        self.value(operand, ty).map(MoveSource::Value)
    }

    fn mismatch<T>(&self, at: Position, name: &str, is: ScalarType, wanted: ScalarType) -> Result<T, PtxError> {
        let (register, declared, wanted) = (excerpt(name), is.directive(), wanted.directive());
        self.error(at, PtxProblem::TypeMismatch { register, declared, wanted })
    }

    /// A value, or an address or special register, which a move before the instruction brings into a register.
    pub(super) fn value_or_moved(
        &mut self,
        operand: &Operand<'a>,
        ty: ScalarType,
        fit: Fit,
    ) -> Result<Source, PtxError> {
        let (text, special) = match operand.form {
            Form::Name(name) => (name.text, special::of(name)),
            Form::Element(text, _) => (text, None),
            _ => return self.source(operand, ty, fit),
        };
        if special.is_none() && self.symbol(operand).is_none() {
            return self.source(operand, ty, fit);
        }
        let ty = special.filter(|_| fit == Fit::Wider).map_or(ty, |(_, width)| width);
        let source = self.moved(operand, ty)?;
        let destination = self.names.add_register(text.to_owned(), ty);
        self.before.push(Operation::Move { ty, destination, source });
        Ok(Source::Register(destination))
    }

    /// `[…]`, an address in `space`.
    pub(super) fn address(&mut self, operand: &Operand<'a>, space: StateSpace) -> Result<Address, PtxError> {
        if let (Form::Element(..), Some((symbol, offset))) = (&operand.form, self.symbol(operand)) {
            self.check_space(operand, symbol, space)?;
            return Ok(Address { base: AddressBase::Symbol(symbol), offset });
        }
        let Form::Address(address) = operand.form else { return self.unexpected(operand, "an address in brackets") };
        let Some(name) = address.base else {
            if space != StateSpace::Local {
                return self.unexpected(operand, "a register or a name: only `.local` has addresses without");
            }
            return Ok(Address { base: AddressBase::Absolute, offset: address.offset });
        };
        let base = Operand { at: operand.at, form: Form::Name(Name { offset: 0, ..name }) };
        if let Some((symbol, _)) = self.symbol(&base) {
            self.check_space(operand, symbol, space)?;
            return Ok(Address { base: AddressBase::Symbol(symbol), offset: address.offset });
        }
        let register = self.any_register(&base)?;
        let narrow = !matches!(space, StateSpace::Generic | StateSpace::Global);
        let ty = self.register_type(register);
        if !(fits(ScalarType::U64, ty, Fit::Exact) || narrow && fits(ScalarType::U32, ty, Fit::Exact)) {
            return self.mismatch(operand.at, name.text, ty, ScalarType::U64);
        }
        Ok(Address { base: AddressBase::Register(register), offset: address.offset })
    }

    /// Whether the address of a symbol can be taken as a `ty`: one of 32 bits for small spaces only.
    fn check_address_of(&self, operand: &Operand<'a>, symbol: Symbol, ty: ScalarType) -> Result<(), PtxError> {
        let narrow = !matches!(self.names.space_of(symbol), Some(StateSpace::Global) | None);
        let is_argument =
            matches!(symbol, Symbol::Local(_)) && self.names.space_of(symbol) == Some(StateSpace::ParamFunction);
        let fits = !ty.is_float() && (ty.bits() == 64 || ty.bits() == 32 && narrow);
        if fits && !is_argument { Ok(()) } else { self.unexpected(operand, "something whose address fits the type") }
    }

    /// Whether what is in one space can be reached in another.
    pub(super) fn check_space(&self, operand: &Operand<'a>, symbol: Symbol, space: StateSpace) -> Result<(), PtxError> {
        use StateSpace::{Generic, ParamEntry, ParamFunction, Shared, SharedCluster};
        match (self.names.space_of(symbol), space) {
            (Some(ParamEntry | ParamFunction), ParamEntry | ParamFunction) | (Some(Shared), SharedCluster) => Ok(()),
            (Some(of), Generic) if !matches!(of, ParamEntry | ParamFunction) => Ok(()),
            (Some(of), space) if of == space => Ok(()),
            _ => self.unexpected(operand, "an address of something in the space of the instruction"),
        }
    }

    /// The elements of `{a, b}` or of a vector register, or the one operand itself.
    pub(super) fn elements(&mut self, operand: Operand<'a>) -> Vec<Operand<'a>> {
        match operand.form {
            Form::Vector(elements) => elements,
            Form::Name(name) if name.component.is_none() => match self.names.find(name.text) {
                Some(Named::Vector(components)) => {
                    let letters = [".x", ".y", ".z", ".w"];
                    let element = |(component, _)| Operand {
                        at: operand.at,
                        form: Form::Name(Name { component: Some(component), ..name }),
                    };
                    letters.into_iter().zip(components).map(element).collect()
                }
                _ => vec![operand],
            },
            _ => vec![operand],
        }
    }
}

/// Whether the operand is `_`.
pub(super) fn is_sink(operand: &Operand<'_>) -> bool {
    matches!(operand.form, Form::Name(Name { text: "_", component: None, offset: 0 }))
}
