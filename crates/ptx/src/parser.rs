//! The statements of a module.

mod body;
mod constant;
mod declare;
mod fit;
mod function;
mod initial;
mod instruction;
mod modifiers;
mod names;
mod site;
mod special;
mod syntax;
mod variable;

use std::borrow::Cow;
use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use crate::body::Body;
use crate::cursor::Cursor;
use crate::debug::{self, Debug};
use crate::entry::{self, Entry};
use crate::error::{PtxError, PtxProblem};
use crate::function::{Function, Linkage, Parameter};
use crate::header::{self, Header};
use crate::lexer::{Position, Token, TokenKind};
use crate::module::Module;
use crate::normal;
use crate::operand::{EntryId, FunctionId, Symbol, VariableId};
use crate::param;
use crate::variable::Variable;

pub(crate) use instruction::is_unmodelled;
pub(crate) use special::is_name as is_special;

use function::Params;
use names::{ModuleNames, Named, Names, id};

pub(crate) fn parse(tokens: &[Token<'_>]) -> Result<Module, PtxError> {
    let mut cursor = Cursor::new(tokens);
    let header = header::parse(&mut cursor)?;
    let names = ModuleNames::default();
    let mut parser = Parser { cursor, header, entries: Vec::new(), names, files: HashMap::new() };
    while parser.cursor.peek().is_some() {
        parser.statement()?;
    }
    let ModuleNames { variables, functions, .. } = parser.names;
    Ok(Module { header: parser.header, entries: parser.entries, functions, variables, files: parser.files })
}

/// `.section .debug_info { … }`: debug information, which is moved over.
fn section(cursor: &mut Cursor<'_, '_>) -> Result<(), PtxError> {
    cursor.advance();
    cursor.take(&[TokenKind::Directive, TokenKind::Identifier], "a section name")?;
    if cursor.is("{") { cursor.skip_one("`{`") } else { Err(cursor.unexpected("`{`")) }
}

struct Parser<'t, 'a> {
    cursor: Cursor<'t, 'a>,
    header: Header,
    entries: Vec<Entry>,
    names: ModuleNames<'a>,
    files: HashMap<u32, String>,
}

impl<'a> Parser<'_, 'a> {
    fn statement(&mut self) -> Result<(), PtxError> {
        if let Some(debug) = debug::parse(&mut self.cursor)? {
            if let Debug::File(number, name) = debug {
                self.files.insert(number, name.to_owned());
            }
            return Ok(());
        }
        match self.cursor.peek().map(|token| token.text) {
            Some(".section") => section(&mut self.cursor),
            Some(".pragma") => self.cursor.skip_statement(),
            Some(".target") => self.further_target(),
            Some(".alias") => self.alias(),
            _ => self.linked(),
        }
    }

    fn further_target(&mut self) -> Result<(), PtxError> {
        self.cursor.advance();
        let target = header::target(&mut self.cursor)?;
        self.header.target.join(target);
        Ok(())
    }

    /// `.alias name, function;`, in which the name is declared as a function before.
    fn alias(&mut self) -> Result<(), PtxError> {
        self.cursor.advance();
        let name = self.cursor.identifier("a function name")?;
        self.cursor.expect(",", "`,`")?;
        let aliased = self.cursor.identifier("a function name")?;
        self.cursor.expect(";", "`;`")?;
        let Some((symbol @ Symbol::Function(_), _)) = self.names.names.get(aliased.text).copied() else {
            let problem = PtxProblem::UnknownSymbol { name: aliased.text.to_owned() };
            return Err(PtxError { at: aliased.at, problem });
        };
        self.names.names.insert(name.text.into(), (symbol, name.at));
        Ok(())
    }

    /// What may have `.visible`, `.extern`, `.weak` or `.common` before it.
    fn linked(&mut self) -> Result<(), PtxError> {
        let linkages = [
            (".visible", Linkage::Visible),
            (".extern", Linkage::Extern),
            (".weak", Linkage::Weak),
            (".common", Linkage::Common),
        ];
        let mut linkage = Linkage::Internal;
        while let Some((_, named)) = linkages.iter().find(|(text, _)| self.cursor.is(text)) {
            self.cursor.advance();
            linkage = *named;
        }
        let start = self.cursor.index();
        if self.cursor.accept(".entry") {
            return self.entry(start);
        }
        if self.cursor.accept(".func") {
            return self.function(linkage);
        }
        for (name, variable) in variable::parse(&mut self.cursor, &self.names, linkage, false)? {
            self.variable(name, variable)?;
        }
        Ok(())
    }

    fn variable(&mut self, name: Cow<'a, str>, variable: Variable) -> Result<(), PtxError> {
        let (at, next) = (variable.at, id(self.names.variables.len()));
        match self.names.names.entry(name) {
            Slot::Vacant(free) => {
                free.insert((Symbol::Variable(VariableId(next)), at));
                self.names.variables.push(variable);
                Ok(())
            }
            Slot::Occupied(taken) => match taken.get() {
                // A declaration with `.extern` may stand before the definition, which then takes its place.
                (Symbol::Variable(declared), _)
                    if self.names.variables[declared.index()].linkage == Linkage::Extern =>
                {
                    self.names.variables[declared.index()] = variable;
                    Ok(())
                }
                (_, first) => Err(duplicate(&variable.name, at, *first)),
            },
        }
    }

    fn function(&mut self, linkage: Linkage) -> Result<(), PtxError> {
        if self.cursor.is(".attribute") {
            self.cursor.advance();
            self.cursor.skip_one("`(`")?;
        }
        let returns = function::parse_params(&mut self.cursor, false)?;
        let name = self.cursor.identifier("a function name")?;
        let params = function::parse_params(&mut self.cursor, false)?;
        let directives = entry::parse_directives(&mut self.cursor)?;
        let declared = Function {
            name: name.text.to_owned(),
            linkage,
            returns: returns.list.clone(),
            params: params.list.clone(),
            noreturn: directives.iter().any(|directive| directive.name == ".noreturn"),
            directives,
            body: None,
            at: name.at,
        };
        let function = self.declare_function(name, declared)?;
        if self.cursor.accept(";") {
            return Ok(());
        }
        if !self.cursor.is("{") {
            return Err(self.cursor.unexpected("`{` or `;`"));
        }
        if self.names.functions[function.index()].body.is_some() {
            return Err(duplicate(name.text, name.at, self.names.functions[function.index()].at));
        }
        let mut names = Names::new(&mut self.names, true);
        let returns = declare_params(&mut names, returns, Symbol::Returned)?;
        let params = declare_params(&mut names, params, Symbol::Parameter)?;
        names.body.given = params.iter().filter_map(Parameter::register).collect();
        let body = body::parse(&mut self.cursor, &mut names)?;
        let function = &mut self.names.functions[function.index()];
        (function.returns, function.params, function.body, function.at) = (returns, params, Some(body), name.at);
        Ok(())
    }

    /// The number of a function, which may have been declared before.
    fn declare_function(&mut self, name: &Token<'a>, declared: Function) -> Result<FunctionId, PtxError> {
        let next = FunctionId(id(self.names.functions.len()));
        match self.names.names.entry(name.text.into()) {
            Slot::Vacant(free) => {
                free.insert((Symbol::Function(next), name.at));
                self.names.functions.push(declared);
                Ok(next)
            }
            Slot::Occupied(taken) => {
                let (Symbol::Function(known), first) = *taken.get() else {
                    return Err(duplicate(name.text, name.at, taken.get().1));
                };
                let before = &mut self.names.functions[known.index()];
                if !function::agree(&before.returns, &declared.returns)
                    || !function::agree(&before.params, &declared.params)
                {
                    let problem = PtxProblem::PrototypeMismatch { name: name.text.to_owned(), first };
                    return Err(PtxError { at: name.at, problem });
                }
                before.noreturn |= declared.noreturn;
                before.linkage = declared.linkage;
                Ok(known)
            }
        }
    }

    /// Reads an entry from behind `.entry`, which is the token numbered `start`.
    fn entry(&mut self, start: usize) -> Result<(), PtxError> {
        let name = self.cursor.identifier("an entry name")?;
        let list = self.cursor.clone();
        let written = function::parse_params(&mut self.cursor, false)?;
        let params = function::entry_params(written.list.clone(), &list)?;
        let directives = entry::parse_directives(&mut self.cursor)?;
        if self.cursor.accept(";") {
            return Ok(());
        }
        if !self.cursor.is("{") {
            return Err(self.cursor.unexpected("`{`"));
        }
        let symbol = Symbol::Entry(EntryId(id(self.entries.len())));
        match self.names.names.entry(name.text.into()) {
            Slot::Vacant(free) => drop(free.insert((symbol, name.at))),
            Slot::Occupied(taken) => {
                let first = taken.get().1;
                let problem = PtxProblem::DuplicateEntry { name: name.text.to_owned(), first };
                return Err(PtxError { at: name.at, problem });
            }
        }
        let mut names = Names::new(&mut self.names, false);
        declare_params(&mut names, written, Symbol::Parameter)?;
        let body: Body = body::parse(&mut self.cursor, &mut names)?;
        let self_contained = !names.used_module;
        self.entries.push(Entry {
            name: name.text.to_owned(),
            parameter_bytes: param::end(&params),
            params,
            directives,
            line: name.at.line,
            body,
            normal_form: normal::normal_form(self.cursor.since(start))?,
            self_contained,
        });
        Ok(())
    }
}

/// Brings parameters into a body: those in registers become registers of it.
fn declare_params<'a>(
    names: &mut Names<'_, 'a>,
    params: Params<'a>,
    symbol: fn(u32) -> Symbol,
) -> Result<Vec<Parameter>, PtxError> {
    let mut list = params.list;
    for (index, (parameter, (name, at))) in list.iter_mut().zip(params.names).enumerate() {
        let named = match parameter {
            Parameter::Memory(_) => Named::Symbol(symbol(id(index))),
            Parameter::Register { register, ty } => {
                *register = names.add_register(name.to_owned(), *ty);
                Named::Register(*register)
            }
        };
        names.declare(name, named, at)?;
    }
    Ok(list)
}

fn duplicate(name: &str, at: Position, first: Position) -> PtxError {
    PtxError { at, problem: PtxProblem::DuplicateName { name: name.to_owned(), first } }
}
