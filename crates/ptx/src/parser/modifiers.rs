//! The modifiers behind an opcode. ptxas takes them in any order, and so does this.

use crate::error::{PtxError, PtxProblem, excerpt};
use crate::instruction::{Order, Rounding, Scope, StateSpace};
use crate::lexer::{Position, Token};
use crate::types::ScalarType;

/// The order that a modifier makes of a scope.
pub(super) type OrderOf = fn(Scope) -> Order;

/// The orders that have a scope.
pub(super) const ORDERS: [(&str, OrderOf); 4] = [
    (".relaxed", Order::Relaxed),
    (".acquire", Order::Acquire),
    (".release", Order::Release),
    (".acq_rel", Order::AcquireRelease),
];

/// An opcode and those of its modifiers that are not yet understood.
pub(super) struct Modifiers<'t, 'a> {
    pub(super) opcode: &'t Token<'a>,
    rest: Vec<&'t Token<'a>>,
}

impl<'t, 'a> Modifiers<'t, 'a> {
    pub(super) fn new(opcode: &'t Token<'a>, rest: Vec<&'t Token<'a>>) -> Self {
        Self { opcode, rest }
    }

    /// The opcode with all modifiers that are left.
    pub(super) fn full_name(&self) -> String {
        let mut name = self.opcode.text.to_owned();
        self.rest.iter().for_each(|modifier| name.push_str(modifier.text));
        name
    }

    /// Whether `modifier` is there, which is understood now.
    pub(super) fn flag(&mut self, modifier: &str) -> bool {
        let found = self.rest.iter().position(|token| token.is(modifier));
        found.map(|index| self.rest.remove(index)).is_some()
    }

    pub(super) fn has(&self, modifier: &str) -> bool {
        self.rest.iter().any(|token| token.is(modifier))
    }

    /// Whether one of them is a floating-point type.
    pub(super) fn has_float(&self) -> bool {
        self.rest.iter().any(|token| ScalarType::from_directive(token.text).is_some_and(ScalarType::is_float))
    }

    /// The first modifier that the table has.
    pub(super) fn choose<T: Copy>(&mut self, table: &[(&str, T)]) -> Option<T> {
        let entry = |token: &&Token<'_>| table.iter().find(|(text, _)| token.is(text)).map(|(_, value)| *value);
        let (index, value) = self.rest.iter().enumerate().find_map(|(index, token)| Some((index, entry(token)?)))?;
        self.rest.remove(index);
        Some(value)
    }

    /// Like [`Self::choose`], but one must be there.
    pub(super) fn need<T: Copy>(&mut self, table: &[(&str, T)], expected: &'static str) -> Result<T, PtxError> {
        self.choose(table).ok_or_else(|| self.missing(expected))
    }

    /// The first type.
    pub(super) fn scalar(&mut self) -> Option<ScalarType> {
        let ty = |token: &&Token<'_>| ScalarType::from_directive(token.text);
        let (index, found) = self.rest.iter().enumerate().find_map(|(index, token)| Some((index, ty(token)?)))?;
        self.rest.remove(index);
        Some(found)
    }

    /// The first type, if it is one of a kind.
    pub(super) fn ty<T>(&mut self, of: impl Fn(ScalarType) -> Option<T>) -> Result<T, PtxError> {
        let token = self.rest.iter().find(|token| ScalarType::from_directive(token.text).is_some()).copied();
        let Some(token) = token else { return Err(self.missing("a type")) };
        let ty = self.scalar().and_then(of);
        ty.ok_or_else(|| self.wrong(token))
    }

    pub(super) fn rounding(&mut self) -> Option<Rounding> {
        self.choose(&[
            (".rn", Rounding::NearestEven),
            (".rz", Rounding::Zero),
            (".rm", Rounding::Down),
            (".rp", Rounding::Up),
            (".rna", Rounding::NearestAway),
        ])
    }

    pub(super) fn space(&mut self) -> StateSpace {
        let spaces = [
            (".global", StateSpace::Global),
            (".shared", StateSpace::Shared),
            (".shared::cta", StateSpace::Shared),
            (".shared::cluster", StateSpace::SharedCluster),
            (".local", StateSpace::Local),
            (".const", StateSpace::Const),
            (".param::entry", StateSpace::ParamEntry),
            (".param::func", StateSpace::ParamFunction),
        ];
        self.choose(&spaces).unwrap_or(StateSpace::Generic)
    }

    pub(super) fn scope(&mut self) -> Option<Scope> {
        self.choose(&[(".cta", Scope::Cta), (".cluster", Scope::Cluster), (".gpu", Scope::Gpu), (".sys", Scope::Sys)])
    }

    /// The order of a memory operation, with its scope.
    pub(super) fn order(&mut self) -> Result<Option<Order>, PtxError> {
        if self.flag(".weak") {
            return Ok(Some(Order::Weak));
        }
        if self.flag(".volatile") {
            return Ok(Some(Order::Volatile));
        }
        if self.flag(".mmio") {
            let whole = self.flag(".relaxed") && self.flag(".sys");
            return if whole { Ok(Some(Order::Mmio)) } else { Err(self.missing("`.relaxed.sys` beside `.mmio`")) };
        }
        let Some(order) = self.choose(&ORDERS) else { return Ok(None) };
        let scope = self.scope().ok_or_else(|| self.missing("a scope such as `.gpu`"))?;
        Ok(Some(order(scope)))
    }

    /// Moves over what only concerns caches and never a result; `true` if an operand comes with it.
    pub(super) fn skip_cache_hints(&mut self) -> bool {
        let is_hint = |token: &Token<'_>| ["L1::", "L2::"].iter().any(|level| token.text[1..].starts_with(level));
        let hinted = self.has(".L2::cache_hint");
        self.rest.retain(|token| !is_hint(token));
        hinted
    }

    pub(super) fn at(&self) -> Position {
        self.opcode.at
    }

    pub(super) fn missing(&self, expected: &'static str) -> PtxError {
        let problem = PtxProblem::MissingModifier { instruction: self.opcode.text.to_owned(), expected };
        PtxError { at: self.opcode.at, problem }
    }

    fn wrong(&self, modifier: &Token<'_>) -> PtxError {
        let (instruction, modifier_text) = (self.opcode.text.to_owned(), excerpt(modifier.text));
        PtxError { at: modifier.at, problem: PtxProblem::UnknownModifier { instruction, modifier: modifier_text } }
    }

    /// An error if this modifier is there: it does not go with the others.
    pub(super) fn refuse(&self, modifiers: &[&str]) -> Result<(), PtxError> {
        let found = self.rest.iter().find(|token| modifiers.iter().any(|modifier| token.is(modifier)));
        found.map_or(Ok(()), |token| Err(self.wrong(token)))
    }

    /// An error if a modifier was not understood.
    pub(super) fn finish(&self) -> Result<(), PtxError> {
        self.rest.first().map_or(Ok(()), |token| Err(self.wrong(token)))
    }
}
