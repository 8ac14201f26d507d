//! What declarations need.

use super::Need::{self, Sm, Version};
use super::{Header, Unmet};
use crate::lexer::{Position, Token, TokenKind};

/// Directives, what messages call them, and what they need.
///
/// # Source
/// ptxas 13.0.88.
const RULES: &[(&str, &str, &[Need])] = &[
    (".b128", "Feature 'Type .b128'", &[Version(8, 3), Sm(70)]),
    (".branchtargets", "Feature '.branchtargets directive'", &[Version(6, 0), Sm(30)]),
    (".noreturn", "Feature '.noreturn'", &[Version(6, 4), Sm(30)]),
    (".alias", "Feature '.alias'", &[Version(6, 3), Sm(30)]),
    (".common", "Feature '.common directive'", &[Version(5, 0)]),
    (".maxclusterrank", "Feature '.maxclusterrank'", &[Version(7, 8), Sm(90)]),
    (".reqnctapercluster", "Feature '.reqnctapercluster'", &[Version(7, 8), Sm(90)]),
    (".explicitcluster", "Feature '.explicitcluster'", &[Version(7, 8), Sm(90)]),
    (".blocksareclusters", "Feature '.blocksareclusters'", &[Version(9, 0), Sm(90)]),
];

/// Types that only registers need something for.
const REGISTERS: &[Need] = &[Sm(53), Version(4, 2)];

/// What is not met in a statement that is no instruction, and where.
pub(super) fn unmet(statement: &[Token<'_>], header: &Header) -> impl Iterator<Item = (Position, Vec<Unmet>)> {
    let is_register = statement[0].is(".reg");
    let of_token = move |token: &Token<'_>| {
        let (what, needs) = match token.text {
            ".f16" | ".f16x2" if is_register => ("Feature '.f16x2 packed data-type'", REGISTERS),
            text => RULES.iter().find(|(directive, ..)| *directive == text).map(|(_, what, needs)| (*what, *needs))?,
        };
        let unmet = needs.iter().filter(|need| !need.is_met(header));
        let unmet: Vec<Unmet> = unmet.map(|need| Unmet { what: what.to_owned(), need: *need }).collect();
        (!unmet.is_empty()).then_some((token.at, unmet))
    };
    statement.iter().filter(|token| token.kind == TokenKind::Directive).filter_map(of_token)
}
