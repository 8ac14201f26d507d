//! An entry: a kernel that can be launched.

use crate::body::Body;
use crate::cursor::Cursor;
use crate::error::PtxError;
use crate::lexer::TokenKind;
use crate::param::Param;

/// A kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name, as `cuModuleGetFunction` is given it.
    pub name: String,
    /// Its parameters, in order.
    pub params: Vec<Param>,
    /// How many bytes of a parameter buffer are read: the end of the last parameter.
    pub parameter_bytes: u32,
    /// The directives between its parameters and its body.
    pub directives: Vec<LaunchDirective>,
    /// The line of its name.
    pub line: u32,
    /// Its code.
    pub body: Body,
    pub(crate) normal_form: String,
    pub(crate) self_contained: bool,
}

/// A directive such as `.maxntid 256, 1, 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchDirective {
    /// Its name, with the dot.
    pub name: String,
    /// Its numbers, as many as are written.
    pub values: Vec<u32>,
}

impl Entry {
    /// The tokens from `.entry` to the end of the body, joined by one space, without comments and without the debug
    /// directives `.loc` and `.file`. All names are kept. Two entries with equal normal forms are the same kernel if
    /// both are [self-contained](Self::is_self_contained). (The ancient target option `map_f64_to_f32` changes what
    /// instructions mean; [`Module::target_options`](crate::Module::target_options) has it.)
    #[must_use]
    pub fn normal_form(&self) -> &str {
        &self.normal_form
    }

    /// Whether the body neither calls anything nor names a function, variable or entry of the module. If it does, the
    /// normal form alone does not say what the kernel does.
    #[must_use]
    pub fn is_self_contained(&self) -> bool {
        self.self_contained
    }

    /// The numbers of the launch directive `name` (with its dot: `.reqntid`), if the entry has it.
    #[must_use]
    pub fn directive(&self, name: &str) -> Option<&[u32]> {
        self.directives.iter().find(|directive| directive.name == name).map(|directive| directive.values.as_slice())
    }
}

/// The directives that may stand between parameters and body.
const DIRECTIVES: [&str; 11] = [
    ".maxnreg",
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnctapersm",
    ".reqnctapercluster",
    ".maxclusterrank",
    ".explicitcluster",
    ".blocksareclusters",
    ".noreturn",
    ".abi_preserve",
];

/// Reads what stands between the parameters and the body. A `.pragma` is an instruction to the code generator and says
/// nothing about launches; it stays in the normal form only.
pub(crate) fn parse_directives(cursor: &mut Cursor<'_, '_>) -> Result<Vec<LaunchDirective>, PtxError> {
    let mut directives = Vec::new();
    while let Some(token) = cursor.peek().filter(|token| token.kind == TokenKind::Directive) {
        if token.is(".pragma") {
            cursor.skip_statement()?;
            continue;
        }
        if !DIRECTIVES.contains(&token.text) {
            return Err(cursor.unexpected("a directive such as `.maxntid`, or `{`"));
        }
        cursor.advance();
        let values = parse_values(cursor)?;
        directives.push(LaunchDirective { name: token.text.to_owned(), values });
    }
    Ok(directives)
}

/// The numbers of a directive, three at most.
fn parse_values(cursor: &mut Cursor<'_, '_>) -> Result<Vec<u32>, PtxError> {
    const MOST: usize = 3;
    let mut values = Vec::new();
    if cursor.peek().is_some_and(|token| token.kind == TokenKind::Integer) {
        values.push(cursor.integer("a number")?);
        while values.len() < MOST && cursor.accept(",") {
            values.push(cursor.integer("a number")?);
        }
    }
    Ok(values)
}
