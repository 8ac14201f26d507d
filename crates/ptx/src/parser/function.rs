//! Functions: what they take and return, and the rest of their declaration.

use std::collections::HashSet;

use super::declare;
use crate::cursor::Cursor;
use crate::error::{PtxError, PtxProblem};
use crate::function::Parameter;
use crate::lexer::{Position, TokenKind};
use crate::operand::RegisterId;
use crate::param::{self, Param};

/// Parameters or returned values as they are written.
#[derive(Default)]
pub(super) struct Params<'a> {
    pub(super) list: Vec<Parameter>,
    /// The name of each and where it stands.
    pub(super) names: Vec<(&'a str, Position)>,
}

/// Reads a list in parentheses, if there is one. In a prototype the names are `_`.
pub(super) fn parse_params<'a>(cursor: &mut Cursor<'_, 'a>, is_prototype: bool) -> Result<Params<'a>, PtxError> {
    let (mut params, mut seen) = (Params::default(), HashSet::new());
    let open = cursor.clone();
    if !cursor.accept("(") || cursor.accept(")") {
        return Ok(params);
    }
    let mut end = 0;
    loop {
        let start = cursor.index();
        let parameter = parameter(cursor, &mut end)?;
        // The name is the identifier among its tokens: what stands behind it are brackets.
        let name = cursor.since(start).iter().find(|token| token.kind == TokenKind::Identifier);
        if let Some(name) = name {
            if !seen.insert(name.text) && !is_prototype {
                let problem = PtxProblem::DuplicateParameter { name: name.text.to_owned() };
                return Err(PtxError { at: name.at, problem });
            }
            params.names.push((name.text, name.at));
        }
        params.list.push(parameter);
        if !cursor.accept(",") {
            break;
        }
    }
    if cursor.peek().is_none() {
        return Err(open.error(PtxProblem::UnterminatedBracket { open: "(", close: ")" }));
    }
    cursor.expect(")", "`,` or `)`")?;
    Ok(params)
}

fn parameter(cursor: &mut Cursor<'_, '_>, end: &mut u32) -> Result<Parameter, PtxError> {
    if !cursor.accept(".reg") {
        let param = param::parse(cursor, *end)?;
        *end = param.offset + param.size;
        return Ok(Parameter::Memory(param));
    }
    let ty = declare::kind(cursor, true)?.ty;
    cursor.identifier("a parameter name")?;
    Ok(Parameter::Register { register: RegisterId(u32::MAX), ty })
}

/// The parameters of an entry, which all lie in memory.
pub(super) fn entry_params(params: Vec<Parameter>, cursor: &Cursor<'_, '_>) -> Result<Vec<Param>, PtxError> {
    let memory = |parameter| match parameter {
        Parameter::Memory(param) => Ok(param),
        Parameter::Register { .. } => Err(cursor.unexpected("`.param` for each parameter of an entry")),
    };
    params.into_iter().map(memory).collect()
}

/// Whether two declarations of a function agree in this list.
pub(super) fn agree(first: &[Parameter], second: &[Parameter]) -> bool {
    let same = |(a, b): (&Parameter, &Parameter)| match (a, b) {
        (Parameter::Memory(a), Parameter::Memory(b)) => a.ty == b.ty && a.align == b.align,
        (Parameter::Register { ty: a, .. }, Parameter::Register { ty: b, .. }) => a == b,
        _ => false,
    };
    first.len() == second.len() && first.iter().zip(second).all(same)
}
