//! `mov` in its forms.

use super::super::fit::Fit;
use super::super::names::Named;
use super::super::site::Site;
use super::super::special;
use super::super::syntax::{Form, Name, Operand};
use crate::error::PtxError;
use crate::instruction::Operation;
use crate::operand::MoveSource;
use crate::types::{ScalarType, TypeClass};

/// What `mov` moves whole: not bytes, and no half precision but as bits.
fn moved(ty: ScalarType) -> Option<ScalarType> {
    let is_float = matches!(ty, ScalarType::F32 | ScalarType::F64);
    let is_pair = matches!(ty, ScalarType::U16x2 | ScalarType::S16x2);
    Some(ty).filter(|ty| is_float || !ty.is_float() && !is_pair && (ty.size() > 1 || *ty == ScalarType::Pred))
}

pub(super) fn parse(site: &mut Site<'_, '_, '_, '_>) -> Result<Operation, PtxError> {
    let count = site.modifiers.choose(&[(".v2", 2), (".v4", 4)]);
    let ty = site.modifiers.ty(moved)?;
    let [d, a] = site.take()?;
    if let Some(count) = count {
        return vector(site, ty, count, d, a);
    }
    let is_bits = ty.class() == TypeClass::Bits;
    let (d_parts, a_parts) = (parts(site, &d), parts(site, &a));
    match (d_parts, a_parts) {
        (Some(parts), None) if is_bits => {
            let part = part(site, &d, ty, parts.len())?;
            let destinations =
                parts.iter().map(|operand| site.sink(operand, part, Fit::Exact)).collect::<Result<_, _>>()?;
            Ok(Operation::Unpack { ty, destinations, source: site.value(&a, ty)? })
        }
        (None, Some(parts)) if is_bits => {
            let destination = site.destination(&d, ty)?;
            let part = part(site, &a, ty, parts.len())?;
            let sources = parts.iter().map(|operand| site.value(operand, part)).collect::<Result<_, _>>()?;
            Ok(Operation::Pack { ty, destination, sources })
        }
        (Some(_), _) => site.unexpected(&d, "a register"),
        (None, Some(_)) => site.unexpected(&a, "a register or a constant"),
        (None, None) => {
            let destination = site.destination(&d, ty)?;
            Ok(Operation::Move { ty, destination, source: site.moved(&a, ty)? })
        }
    }
}

/// The elements of a vector; `None` for anything else.
fn parts<'a>(site: &mut Site<'_, '_, '_, 'a>, operand: &Operand<'a>) -> Option<Vec<Operand<'a>>> {
    let is_vector = match operand.form {
        Form::Vector(_) => true,
        Form::Name(Name { text, component: None, .. }) => matches!(site.names.find(text), Some(Named::Vector(_))),
        _ => false,
    };
    is_vector.then(|| site.elements(operand.clone()))
}

/// The type of one of so many parts of `ty`.
fn part<'a>(
    site: &Site<'_, '_, '_, 'a>,
    operand: &Operand<'a>,
    ty: ScalarType,
    count: usize,
) -> Result<ScalarType, PtxError> {
    match (ty.bits(), count) {
        (128, 2) => Ok(ScalarType::B64),
        (128, 4) | (64, 2) => Ok(ScalarType::B32),
        (64, 4) | (32, 2) => Ok(ScalarType::B16),
        (32, 4) | (16, 2) => Ok(ScalarType::B8),
        _ => site.unexpected(operand, "2 or 4 elements that make up the type"),
    }
}

fn vector<'a>(
    site: &mut Site<'_, '_, '_, 'a>,
    ty: ScalarType,
    count: usize,
    d: Operand<'a>,
    a: Operand<'a>,
) -> Result<Operation, PtxError> {
    let (d_elements, a_elements) = (site.elements(d.clone()), source_elements(site, &a));
    if d_elements.len() != count {
        return site.unexpected(&d, "a vector of as many elements as the modifier says");
    }
    if a_elements.len() != count {
        return site.unexpected(&a, "a vector of as many elements as the modifier says");
    }
    let destinations = d_elements.iter().map(|it| site.sink(it, ty, Fit::Exact)).collect::<Result<_, _>>()?;
    let sources = a_elements.iter().map(|it| site.moved(it, ty)).collect::<Result<Vec<MoveSource>, _>>()?;
    Ok(Operation::MoveVector { ty, destinations, sources })
}

/// The elements of a vector; `%tid` and its like have four.
fn source_elements<'a>(site: &mut Site<'_, '_, '_, 'a>, operand: &Operand<'a>) -> Vec<Operand<'a>> {
    let Form::Name(name @ Name { component: None, .. }) = operand.form else {
        return site.elements(operand.clone());
    };
    let axis = |component| Name { component: Some(component), ..name };
    if special::of(axis(".x")).is_none() || site.names.find(name.text).is_some() {
        return site.elements(operand.clone());
    }
    let element = |component| Operand { at: operand.at, form: Form::Name(axis(component)) };
    [".x", ".y", ".z", ".w"].map(element).into()
}
