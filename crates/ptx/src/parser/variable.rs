//! Declarations of variables with a place of their own.

use std::borrow::Cow;

use super::declare;
use super::initial::Values;
use super::names::ModuleNames;
use crate::cursor::Cursor;
use crate::error::{PtxError, PtxProblem};
use crate::function::Linkage;
use crate::instruction::StateSpace;
use crate::variable::{Initial, Variable};

/// The space that a directive names.
pub(super) fn space(directive: &str) -> Option<StateSpace> {
    match directive {
        ".global" => Some(StateSpace::Global),
        ".const" => Some(StateSpace::Const),
        ".shared" | ".shared::cta" => Some(StateSpace::Shared),
        _ => None,
    }
}

/// Reads a declaration from its space to behind its `;`.
pub(super) fn parse<'a>(
    cursor: &mut Cursor<'_, 'a>,
    module: &ModuleNames<'a>,
    linkage: Linkage,
    in_function: bool,
) -> Result<Vec<(Cow<'a, str>, Variable)>, PtxError> {
    let expected = "an entry, a function or a variable of the module";
    let space = cursor.peek().and_then(|token| space(token.text)).ok_or_else(|| cursor.unexpected(expected))?;
    cursor.advance();
    let kind = declare::kind(cursor, false)?;
    let mut variables = Vec::new();
    loop {
        let place = cursor.clone();
        let declared = declare::declarator(cursor, "a variable name")?;
        let is_open = declared.dimensions.first().is_some_and(Option::is_none);
        let (mut initial, mut elements) = (Initial::default(), 0);
        if cursor.is("=") {
            if space == StateSpace::Shared {
                let reason = "has no place: shared memory starts without values";
                return Err(cursor.error(PtxProblem::InvalidInitial { reason }));
            }
            cursor.advance();
            if kind.opaque {
                cursor.skip_one("`{`")?;
            } else {
                let mut values = Values { module, kind: &kind, initial };
                elements = values.parse(cursor, &declared)?;
                initial = values.initial;
            }
        } else if is_open && linkage != Linkage::Extern {
            return Err(place.unexpected("a variable whose size is given"));
        }
        let size = declared.size(&kind, elements)?;
        for name in declared.names()? {
            let variable = Variable {
                name: name.to_string(),
                space,
                in_function,
                linkage,
                ty: kind.ty,
                size,
                dynamic: is_open && space == StateSpace::Shared,
                align: kind.alignment(),
                managed: kind.managed,
                initial: initial.clone(),
                at: declared.at,
            };
            variables.push((name, variable));
        }
        if cursor.accept(";") {
            return Ok(variables);
        }
        cursor.expect(",", "`,` or `;`")?;
    }
}
