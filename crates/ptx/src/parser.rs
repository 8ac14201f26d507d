//! The statements of a module.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::cursor::Cursor;
use crate::declaration::{self, Declaration, DeclarationKind, DeclaredName};
use crate::entry::{self, Entry};
use crate::error::{PtxError, PtxProblem};
use crate::header::{self, Header};
use crate::lexer::{Position, Token, TokenKind};
use crate::module::Module;
use crate::normal::{self, Symbols};
use crate::param;

pub(crate) fn parse(tokens: &[Token<'_>]) -> Result<Module, PtxError> {
    let mut cursor = Cursor::new(tokens);
    let header = header::parse(&mut cursor)?;
    let mut parser = Parser { cursor, header, entries: Vec::new(), seen: HashMap::new(), declarations: Vec::new() };
    while parser.cursor.peek().is_some() {
        parser.statement()?;
    }
    Ok(parser.finish(tokens))
}

struct Parser<'t, 'a> {
    cursor: Cursor<'t, 'a>,
    header: Header,
    /// Each entry with the tokens of its body.
    entries: Vec<(Entry, Range<usize>)>,
    /// Where the name of each entry stands.
    seen: HashMap<&'a str, Position>,
    declarations: Vec<Declaration>,
}

impl Parser<'_, '_> {
    fn statement(&mut self) -> Result<(), PtxError> {
        if normal::skip_debug_directive(&mut self.cursor)? {
            return Ok(());
        }
        match self.cursor.peek().map(|token| token.text) {
            Some(".section") => self.section(),
            Some(".pragma") => self.cursor.skip_statement(),
            Some(".target") => self.further_target(),
            Some(".alias") => self.alias(),
            _ => self.linked(),
        }
    }

    /// `.section .debug_info { … }`: debug information.
    fn section(&mut self) -> Result<(), PtxError> {
        self.cursor.advance();
        self.cursor.take(&[TokenKind::Directive, TokenKind::Identifier], "a section name")?;
        if self.cursor.is("{") { self.cursor.skip_one("`{`") } else { Err(self.cursor.unexpected("`{`")) }
    }

    fn further_target(&mut self) -> Result<(), PtxError> {
        self.cursor.advance();
        let target = header::target(&mut self.cursor)?;
        self.header.target.join(target);
        Ok(())
    }

    fn alias(&mut self) -> Result<(), PtxError> {
        let start = self.cursor.index();
        self.cursor.advance();
        let name = self.cursor.identifier("a function name")?;
        let declared = DeclaredName { name: name.text.to_owned(), numbered: false, line: name.at.line };
        self.cursor.skip_statement()?;
        self.declare(DeclarationKind::Alias, [declared], start)
    }

    /// What may have `.visible`, `.extern`, `.weak` or `.common` before it.
    fn linked(&mut self) -> Result<(), PtxError> {
        while [".visible", ".extern", ".weak", ".common"].iter().any(|linkage| self.cursor.accept(linkage)) {}
        let start = self.cursor.index();
        if self.cursor.accept(".entry") {
            return self.entry(start);
        }
        if self.cursor.accept(".func") {
            let function = declaration::parse_function(&mut self.cursor)?;
            return self.declare(DeclarationKind::Function, [function], start);
        }
        let space = self.cursor.peek().and_then(|token| DeclarationKind::of_space(token.text));
        let expected = "an entry, a function or a variable of the module";
        let kind = space.ok_or_else(|| self.cursor.unexpected(expected))?;
        self.cursor.advance();
        let names = declaration::parse_variables(&mut self.cursor)?;
        self.declare(kind, names, start)
    }

    fn declare(
        &mut self,
        kind: DeclarationKind,
        names: impl IntoIterator<Item = DeclaredName>,
        start: usize,
    ) -> Result<(), PtxError> {
        let form: Arc<str> = normal::normal_form(self.cursor.since(start))?.into();
        let declaration = |declared: DeclaredName| {
            let DeclaredName { name, numbered, line } = declared;
            Declaration { kind, name, numbered, line, normal_form: form.clone() }
        };
        self.declarations.extend(names.into_iter().map(declaration));
        Ok(())
    }

    /// Reads an entry from behind `.entry`, which is the token numbered `start`.
    fn entry(&mut self, start: usize) -> Result<(), PtxError> {
        let name = self.cursor.identifier("an entry name")?;
        let params = param::parse_list(&mut self.cursor)?;
        let directives = entry::parse_directives(&mut self.cursor)?;
        if self.cursor.accept(";") {
            let declared = DeclaredName { name: name.text.to_owned(), numbered: false, line: name.at.line };
            return self.declare(DeclarationKind::EntryPrototype, [declared], start);
        }
        let body_start = self.cursor.index();
        if !self.cursor.is("{") {
            return Err(self.cursor.unexpected("`{`"));
        }
        self.cursor.skip_one("`{`")?;
        if let Some(first) = self.seen.insert(name.text, name.at) {
            let problem = PtxProblem::DuplicateEntry { name: name.text.to_owned(), first };
            return Err(PtxError { at: name.at, problem });
        }
        let entry = Entry {
            name: name.text.to_owned(),
            parameter_bytes: param::end(&params),
            params,
            directives,
            line: name.at.line,
            normal_form: normal::normal_form(self.cursor.since(start))?,
            self_contained: false,
        };
        self.entries.push((entry, body_start..self.cursor.index()));
        Ok(())
    }

    /// A body may name what is declared behind it, so that is looked for at the end.
    fn finish(mut self, tokens: &[Token<'_>]) -> Module {
        let symbols = Symbols::new(self.seen.keys().copied(), &self.declarations);
        for (entry, body) in &mut self.entries {
            entry.self_contained = symbols.are_absent_from(&tokens[body.clone()]);
        }
        let entries = self.entries.into_iter().map(|(entry, _)| entry).collect();
        Module { header: self.header, entries, declarations: self.declarations }
    }
}
