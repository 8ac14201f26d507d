//! `call`.

use super::super::fit::Fit;
use super::super::names::Named;
use super::super::site::{Site, is_sink};
use super::super::syntax::{Form, Operand};
use crate::error::{PtxError, PtxProblem};
use crate::function::Parameter;
use crate::instruction::{Call, CallArgument, CallReturn, CallTarget, Operation, StateSpace};
use crate::operand::{LocalId, Symbol};
use crate::param::{Param, ParamType};
use crate::types::ScalarType;

/// What is called, and what it takes and returns.
struct Callee {
    name: String,
    target: CallTarget,
    returns: Vec<Parameter>,
    params: Vec<Parameter>,
}

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let uniform = site.modifiers.flag(".uni");
    let mut operands = std::mem::take(&mut site.operands).into_iter().peekable();
    let returned = operands.next_if(is_group);
    let Some(name) = operands.next() else { return Err(site.modifiers.missing("a function")) };
    let arguments = operands.next_if(is_group);
    let list = operands.next();
    if let Some(more) = operands.next() {
        return site.unexpected(&more, "`;`");
    }
    let callee = callee(site, &name, list.as_ref())?;
    let (returned, arguments) = (members(returned), members(arguments));
    count(site, &callee, "returns", callee.returns.len(), returned.len())?;
    count(site, &callee, "takes", callee.params.len(), arguments.len())?;
    let mut call = Call { target: callee.target, returns: Vec::new(), arguments: Vec::new(), uniform };
    for (operand, parameter) in returned.iter().zip(&callee.returns) {
        call.returns.push(receive(site, operand, parameter)?);
    }
    for (operand, parameter) in arguments.iter().zip(&callee.params) {
        call.arguments.push(give(site, operand, parameter)?);
    }
    Ok(Operation::Call(call))
}

fn is_group(operand: &Operand<'_>) -> bool {
    matches!(operand.form, Form::Group(_))
}

fn members(group: Option<Operand<'_>>) -> Vec<Operand<'_>> {
    match group.map(|group| group.form) {
        Some(Form::Group(members)) => members,
        _ => Vec::new(),
    }
}

fn callee<'a>(
    site: &mut Site<'_, '_, '_, 'a>,
    name: &Operand<'a>,
    list: Option<&Operand<'a>>,
) -> Result<Callee, PtxError> {
    if let Some((Symbol::Function(function), 0)) = site.symbol(name) {
        let called = &site.names.module.functions[function.index()];
        return Ok(Callee {
            name: called.name.clone(),
            target: CallTarget::Direct(function),
            returns: called.returns.clone(),
            params: called.params.clone(),
        });
    }
    if site.symbol(name).is_some() {
        return site.unexpected(name, "a function");
    }
    let pointer = site.register(name, ScalarType::U64, Fit::Exact)?;
    let Some(list) = list else { return Err(site.modifiers.missing("a prototype behind an indirect call")) };
    let Form::Name(listed) = list.form else { return site.unexpected(list, "the label of a prototype") };
    let (targets, returns, params) = match site.names.find(listed.text) {
        Some(Named::Prototype(prototype)) => (None, prototype.returns.clone(), prototype.params.clone()),
        Some(Named::Functions(functions)) => {
            let first = functions.first().map(|function| &site.names.module.functions[function.index()]);
            let (returns, params) =
                first.map(|first| (first.returns.clone(), first.params.clone())).unwrap_or_default();
            (Some(functions), returns, params)
        }
        Some(_) => return site.unexpected(list, "the label of a prototype"),
        None => return site.error(list.at, PtxProblem::UnknownSymbol { name: listed.text.to_owned() }),
    };
    Ok(Callee { name: listed.text.to_owned(), target: CallTarget::Indirect { pointer, targets }, returns, params })
}

fn count(
    site: &Site<'_, '_, '_, '_>,
    callee: &Callee,
    direction: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), PtxError> {
    if expected == found {
        return Ok(());
    }
    let function = callee.name.clone();
    site.error(site.modifiers.at(), PtxProblem::CallCount { function, direction, expected, found })
}

/// The type of a parameter that a register or a constant can stand for.
fn scalar(parameter: &Parameter) -> Option<ScalarType> {
    match parameter {
        Parameter::Memory(Param { ty: ParamType::Scalar(ty), .. }) | Parameter::Register { ty, .. } => Some(*ty),
        Parameter::Memory(_) => None,
    }
}

fn receive<'a>(
    site: &mut Site<'_, '_, '_, 'a>,
    operand: &Operand<'a>,
    parameter: &Parameter,
) -> Result<CallReturn, PtxError> {
    if is_sink(operand) {
        return Ok(CallReturn::Register(None));
    }
    if let Some(local) = local(site, operand, parameter)? {
        return Ok(CallReturn::Local(local));
    }
    let Some(ty) = scalar(parameter) else { return site.unexpected(operand, "a variable in `.param`") };
    site.register(operand, ty, Fit::Exact).map(|register| CallReturn::Register(Some(register)))
}

fn give<'a>(
    site: &mut Site<'_, '_, '_, 'a>,
    operand: &Operand<'a>,
    parameter: &Parameter,
) -> Result<CallArgument, PtxError> {
    if let Some(local) = local(site, operand, parameter)? {
        return Ok(CallArgument::Local(local));
    }
    let Some(ty) = scalar(parameter) else { return site.unexpected(operand, "a variable in `.param`") };
    site.value(operand, ty).map(CallArgument::Value)
}

/// The variable that an operand names, if it does; it must be as large as the parameter.
fn local<'a>(
    site: &mut Site<'_, '_, '_, 'a>,
    operand: &Operand<'a>,
    parameter: &Parameter,
) -> Result<Option<LocalId>, PtxError> {
    let Some((Symbol::Local(local), 0)) = site.symbol(operand) else { return Ok(None) };
    let size = match parameter {
        Parameter::Memory(param) => param.size,
        Parameter::Register { ty, .. } => ty.size(),
    };
    let variable = &site.names.body.locals[local.index()];
    if variable.size == u64::from(size) && variable.space == StateSpace::ParamFunction {
        Ok(Some(local))
    } else {
        site.unexpected(operand, "a variable in `.param` of the size of the parameter")
    }
}
