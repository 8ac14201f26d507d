//! The statements of a body.

use std::collections::HashSet;
use std::sync::Arc;

use super::declare::{self, Kind};
use super::fit::Fit;
use super::function;
use super::instruction;
use super::modifiers::Modifiers;
use super::names::{Named, Names, Prototype, id};
use super::site::Site;
use super::special;
use super::syntax::{self, Form, Name, Operand};
use super::variable;
use crate::body::{Body, Label, LocalVariable};
use crate::cursor::Cursor;
use crate::debug::{self, Debug};
use crate::error::{PtxError, PtxProblem, excerpt};
use crate::function::Linkage;
use crate::instruction::{Branch, BranchTable, Instruction, Operation, StateSpace};
use crate::lexer::{Position, Token, TokenKind};
use crate::operand::{Guard, InstructionId, LocationId, Symbol};
use crate::types::ScalarType;

/// Reads a body from its `{` to its `}`.
pub(super) fn parse<'a>(cursor: &mut Cursor<'_, 'a>, names: &mut Names<'_, 'a>) -> Result<Body, PtxError> {
    let open = vec![cursor.at()];
    cursor.expect("{", "`{`")?;
    let mut statements = Statements {
        names,
        open,
        branches: Vec::new(),
        tables: Vec::new(),
        location: None,
        name: Arc::from(""),
        known: HashSet::new(),
    };
    while !statements.open.is_empty() {
        statements.statement(cursor)?;
    }
    statements.resolve()?;
    Ok(std::mem::take(&mut names.body))
}

/// A name of a label that is looked for when all labels are known.
struct Sought<'a> {
    name: &'a str,
    at: Position,
    /// The braces that it is named in.
    braces: usize,
}

/// A branch whose target is not known yet.
struct OpenBranch<'a> {
    instruction: usize,
    target: Sought<'a>,
}

struct Statements<'s, 'm, 'a> {
    names: &'s mut Names<'m, 'a>,
    /// Where the open braces stand.
    open: Vec<Position>,
    branches: Vec<OpenBranch<'a>>,
    /// What each `.branchtargets` lists.
    tables: Vec<Vec<Sought<'a>>>,
    location: Option<LocationId>,
    /// The name of the instruction that is read.
    name: Arc<str>,
    /// The names of instructions so far, each once.
    known: HashSet<Arc<str>>,
}

impl<'a> Statements<'_, '_, 'a> {
    fn statement(&mut self, cursor: &mut Cursor<'_, 'a>) -> Result<(), PtxError> {
        let Some(token) = cursor.peek() else {
            let at = self.open.last().copied().unwrap_or(cursor.at());
            return Err(PtxError { at, problem: PtxProblem::UnterminatedBracket { open: "{", close: "}" } });
        };
        match token.text {
            "{" => {
                cursor.advance();
                self.open.push(token.at);
                self.names.open(token.at)
            }
            "}" => {
                cursor.advance();
                self.open.pop();
                self.names.close();
                Ok(())
            }
            "@" => self.instruction(cursor),
            ".loc" | ".file" => {
                if let Some(Debug::Location(location)) = debug::parse(cursor)? {
                    self.names.body.locations.push(location);
                    self.location = Some(LocationId(id(self.names.body.locations.len() - 1)));
                }
                Ok(())
            }
            ".pragma" => cursor.skip_statement(),
            ".section" => super::section(cursor),
            _ if token.kind == TokenKind::Directive => self.declaration(cursor, token),
            _ if token.kind == TokenKind::Identifier => {
                let mut ahead = cursor.clone();
                ahead.advance();
                if ahead.accept(":") {
                    *cursor = ahead;
                    return self.label(cursor, token);
                }
                self.instruction(cursor)
            }
            _ => Err(cursor.unexpected("a statement")),
        }
    }

    fn label(&mut self, cursor: &mut Cursor<'_, 'a>, name: &Token<'a>) -> Result<(), PtxError> {
        let named = if cursor.accept(".branchtargets") {
            let listed = label_list(cursor)?;
            let braces = self.names.current();
            self.tables.push(listed.iter().map(|it| Sought { name: it.text, at: it.at, braces }).collect());
            Named::Targets(self.tables.len() - 1)
        } else if cursor.accept(".calltargets") {
            let listed = label_list(cursor)?;
            let functions = listed.into_iter().map(|token| match self.names.find(token.text) {
                Some(Named::Symbol(Symbol::Function(function))) => Ok(function),
                _ => Err(unknown(token.text, token.at)),
            });
            Named::Functions(functions.collect::<Result<Arc<[_]>, _>>()?)
        } else if cursor.accept(".callprototype") {
            let returns = function::parse_params(cursor, true)?;
            cursor.identifier("`_`")?;
            let params = function::parse_params(cursor, true)?;
            crate::entry::parse_directives(cursor)?;
            cursor.expect(";", "`;`")?;
            let plain = |params: function::Params<'_>| params.list;
            Named::Prototype(Arc::new(Prototype { returns: plain(returns), params: plain(params) }))
        } else {
            let target = InstructionId(id(self.names.body.instructions.len()));
            self.names.body.labels.push(Label { name: name.text.to_owned(), target });
            Named::Label(target)
        };
        self.names.declare(name.text, named, name.at)
    }

    /// A variable, whose space stands first.
    fn declaration(&mut self, cursor: &mut Cursor<'_, 'a>, space: &Token<'a>) -> Result<(), PtxError> {
        match space.text {
            ".reg" => self.registers(cursor),
            ".local" => self.locals(cursor, StateSpace::Local),
            ".param" => self.locals(cursor, StateSpace::ParamFunction),
            ".shared" | ".shared::cta" | ".global" | ".const" => {
                for (name, variable) in variable::parse(cursor, self.names.module, Linkage::Internal, true)? {
                    self.names.declare_static(name, variable)?;
                }
                Ok(())
            }
            _ => Err(cursor.unexpected("a statement")),
        }
    }

    fn registers(&mut self, cursor: &mut Cursor<'_, 'a>) -> Result<(), PtxError> {
        cursor.advance();
        let kind = declare::kind(cursor, true)?;
        loop {
            let place = cursor.clone();
            let declared = declare::declarator(cursor, "a register name")?;
            let (name, at) = (declared.name, declared.at);
            if kind.vector > 4 || !declared.dimensions.is_empty() {
                return Err(place.unexpected("a register"));
            }
            match declared.family {
                Some(count) => self.names.declare_family(name, count, kind.ty, kind.vector, at)?,
                None => self.names.declare_register(name, kind.ty, kind.vector, at)?,
            }
            if cursor.accept(";") {
                return Ok(());
            }
            cursor.expect(",", "`,` or `;`")?;
        }
    }

    fn locals(&mut self, cursor: &mut Cursor<'_, 'a>, space: StateSpace) -> Result<(), PtxError> {
        cursor.advance();
        let kind = declare::kind(cursor, false)?;
        loop {
            self.local(cursor, space, &kind)?;
            if cursor.accept(";") {
                return Ok(());
            }
            cursor.expect(",", "`,` or `;`")?;
        }
    }

    fn local(&mut self, cursor: &mut Cursor<'_, 'a>, space: StateSpace, kind: &Kind) -> Result<(), PtxError> {
        let place = cursor.clone();
        let declared = declare::declarator(cursor, "a variable name")?;
        if declared.dimensions.iter().any(Option::is_none) {
            return Err(place.unexpected("a variable whose size is given"));
        }
        let size = declared.size(kind, 0)?;
        for name in declared.names()? {
            let local = LocalVariable { name: name.to_string(), space, size, align: kind.alignment(), at: declared.at };
            self.names.declare_local(name, local)?;
        }
        Ok(())
    }

    fn instruction(&mut self, cursor: &mut Cursor<'_, 'a>) -> Result<(), PtxError> {
        let guard = if cursor.accept("@") { Some(self.guard(cursor)?) } else { None };
        let opcode = cursor.identifier("an instruction")?;
        let mut modifiers = Vec::new();
        while let Some(token) = cursor.peek().filter(|token| token.kind == TokenKind::Directive) {
            modifiers.push(token);
            cursor.advance();
        }
        let is_unmodelled = instruction::is_unmodelled(opcode.text, modifiers.iter().map(|token| token.text));
        let modifiers = Modifiers::new(opcode, modifiers);
        self.set_name(&modifiers.full_name());
        if is_unmodelled {
            let start = cursor.index();
            cursor.skip_statement()?;
            self.check_registers(cursor.since(start))?;
            self.push(guard, Operation::Unmodelled, opcode.at);
            return Ok(());
        }
        let operands = syntax::operands(cursor, opcode.text == "call")?;
        if matches!(opcode.text, "bra" | "brx") {
            return self.branch(guard, modifiers, operands);
        }
        let mut site = Site { modifiers, operands, names: self.names, before: Vec::new() };
        let operation = instruction::parse(&mut site)?;
        for before in std::mem::take(&mut site.before) {
            self.push(None, before, opcode.at);
        }
        self.push(guard, operation, opcode.at);
        Ok(())
    }

    /// Operands that are not looked into name registers that exist.
    fn check_registers(&mut self, operands: &[Token<'a>]) -> Result<(), PtxError> {
        let registers = operands.iter().filter(|it| it.kind == TokenKind::Identifier && it.text.starts_with('%'));
        for token in registers {
            if self.names.find(token.text).is_none() && !special::is_name(token.text) {
                return Err(unknown(token.text, token.at));
            }
        }
        Ok(())
    }

    /// What stands behind `@`.
    fn guard(&mut self, cursor: &mut Cursor<'_, 'a>) -> Result<Guard, PtxError> {
        let negated = cursor.accept("!");
        let name = cursor.identifier("a predicate")?;
        let Some(Named::Register(predicate)) = self.names.find(name.text) else {
            return Err(unknown(name.text, name.at));
        };
        let declared = self.names.body.registers[predicate.index()].ty;
        if declared == ScalarType::Pred {
            return Ok(Guard { predicate, negated });
        }
        let (register, declared, wanted) = (excerpt(name.text), declared.directive(), ".pred");
        Err(PtxError { at: name.at, problem: PtxProblem::TypeMismatch { register, declared, wanted } })
    }

    fn branch(
        &mut self,
        guard: Option<Guard>,
        modifiers: Modifiers<'_, 'a>,
        operands: Vec<Operand<'a>>,
    ) -> Result<(), PtxError> {
        let at = modifiers.at();
        let is_table = modifiers.opcode.text == "brx";
        let mut site = Site { modifiers, operands, names: self.names, before: Vec::new() };
        if is_table {
            site.modifiers.need(&[(".idx", ())], "`.idx`")?;
        }
        let uniform = site.modifiers.flag(".uni");
        site.modifiers.finish()?;
        // Whatever the target is, it is known only at the end of the body.
        let (operation, label) = if is_table {
            let [index, label] = site.take()?;
            let index = site.register(&index, ScalarType::U32, Fit::Exact)?;
            (Operation::BranchTable(BranchTable { index, targets: Arc::new([]), uniform }), label)
        } else {
            let [label] = site.take()?;
            (Operation::Branch(Branch { target: InstructionId(0), uniform }), label)
        };
        let Form::Name(Name { text, component: None, offset: 0 }) = label.form else {
            return site.unexpected(&label, "a label");
        };
        let target = Sought { name: text, at: label.at, braces: self.names.current() };
        self.branches.push(OpenBranch { instruction: self.names.body.instructions.len(), target });
        self.push(guard, operation, at);
        Ok(())
    }

    /// Puts in the targets of branches, now that all labels are known.
    fn resolve(&mut self) -> Result<(), PtxError> {
        let mut tables: Vec<Arc<[InstructionId]>> = Vec::with_capacity(self.tables.len());
        for table in &self.tables {
            let targets = table.iter().map(|sought| match self.names.find_label(sought.braces, sought.name) {
                Some(Named::Label(target)) => Ok(*target),
                _ => Err(unknown(sought.name, sought.at)),
            });
            tables.push(targets.collect::<Result<_, _>>()?);
        }
        for OpenBranch { instruction, target } in &self.branches {
            let found = self.names.find_label(target.braces, target.name).cloned();
            match (&mut self.names.body.instructions[*instruction].operation, found) {
                (Operation::Branch(branch), Some(Named::Label(label))) => branch.target = label,
                (Operation::BranchTable(branch), Some(Named::Targets(table))) => branch.targets = tables[table].clone(),
                _ => return Err(unknown(target.name, target.at)),
            }
        }
        Ok(())
    }

    fn set_name(&mut self, name: &str) {
        if let Some(known) = self.known.get(name) {
            self.name = Arc::clone(known);
        } else {
            self.name = Arc::from(name);
            self.known.insert(Arc::clone(&self.name));
        }
    }

    fn push(&mut self, guard: Option<Guard>, operation: Operation, at: Position) {
        let (name, location) = (Arc::clone(&self.name), self.location);
        self.names.body.instructions.push(Instruction { guard, operation, name, at, location });
    }
}

fn unknown(name: &str, at: Position) -> PtxError {
    PtxError { at, problem: PtxProblem::UnknownSymbol { name: excerpt(name) } }
}

/// `a, b, c;`
fn label_list<'t, 'a>(cursor: &mut Cursor<'t, 'a>) -> Result<Vec<&'t Token<'a>>, PtxError> {
    let mut listed = vec![cursor.identifier("a label")?];
    while cursor.accept(",") {
        listed.push(cursor.identifier("a label")?);
    }
    cursor.expect(";", "`,` or `;`")?;
    Ok(listed)
}
