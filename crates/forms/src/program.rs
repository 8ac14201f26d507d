//! From a form and operands to PTX and bytes.

use std::fmt::Write as _;

use crate::form::{Form, INITIAL};
use crate::operands::Row;

/// How the threads of a launch get their operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Each thread has a row of its own.
    Threads,
    /// Each block has a row, and one thread.
    Blocks,
    /// Each block has a row, and a few threads: `%a` is by one more from thread to thread.
    Grows,
}

impl Spread {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Threads, Self::Blocks, Self::Grows];

    /// The threads of a block.
    fn threads(self) -> u32 {
        match self {
            Self::Threads => 128,
            Self::Blocks => 1,
            Self::Grows => 3,
        }
    }
}

const NAMES: [char; 4] = ['a', 'b', 'c', 'd'];
const WIDTHS: [&str; 5] = ["8", "16", "32", "64", "p"];

/// The bytes of a row in the buffer of operands.
const ROW: usize = 32;

/// The bytes of a thread in the buffer of results: two results, and room that the form may use.
const RESULT: usize = 32;

/// A module that carries out a form, what it is given and how it is launched.
///
/// Its entry `form` has two parameters, the addresses of the operands and of the results. The results must be zero when
/// it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The module.
    pub ptx: String,
    /// The blocks of the grid.
    pub blocks: u32,
    /// The threads of a block.
    pub threads: u32,
    /// What the buffer of operands holds.
    pub operands: Vec<u8>,
    /// How large the buffer of results is.
    ///
    /// # Units
    /// Bytes.
    pub result_bytes: usize,
    /// The operands of each thread.
    pub(crate) rows: Vec<Row>,
}

impl Program {
    /// The name of the entry.
    pub const ENTRY: &'static str = "form";

    /// A program for some rows.
    #[must_use]
    pub fn new(form: &Form, spread: Spread, rows: &[Row]) -> Self {
        let threads = spread.threads();
        let mut given = rows.to_vec();
        if spread == Spread::Threads {
            let last = given.last().copied().unwrap_or_default();
            given.resize(given.len().next_multiple_of(threads as usize), last);
        }
        let of_threads: Vec<Row> = match spread {
            Spread::Threads | Spread::Blocks => given.clone(),
            Spread::Grows => given.iter().flat_map(|row| (0..threads).map(|thread| further(*row, thread))).collect(),
        };
        let mut operands = Vec::with_capacity(given.len() * ROW);
        given.iter().flatten().for_each(|operand| operands.extend(operand.to_le_bytes()));
        Self {
            ptx: text(form, spread),
            blocks: of_threads.len() as u32 / threads,
            threads,
            operands,
            result_bytes: of_threads.len() * RESULT,
            rows: of_threads,
        }
    }

    /// The operands of each thread, and its two results in what the buffer of results holds afterwards.
    pub(crate) fn outcomes<'r>(&'r self, results: &'r [u8]) -> impl Iterator<Item = (Row, [u64; 2])> + 'r {
        let pairs = results.as_chunks::<RESULT>().0.iter();
        self.rows.iter().copied().zip(pairs.map(|pair| {
            let words = pair.as_chunks::<8>().0;
            [u64::from_le_bytes(words[0]), u64::from_le_bytes(words[1])]
        }))
    }
}

fn further([a, b, c, d]: Row, thread: u32) -> Row {
    [a.wrapping_add(u64::from(thread)), b, c, d]
}

fn text(form: &Form, spread: Spread) -> String {
    let mut text = format!(
        ".version 8.3\n.target sm_{}\n.address_size 64\n.visible .entry {}(.param .u64 operands, .param .u64 results) {{\n",
        form.sm,
        Program::ENTRY
    );
    let named: Vec<char> = NAMES.into_iter().filter(|name| form.names(&format!("%{name}"))).collect();
    declare(&mut text, form);
    text.push_str("ld.param.u64 %in, [operands]; ld.param.u64 %out, [results];\n");
    text.push_str("mov.u32 %thread, %tid.x; mov.u32 %size, %ntid.x; mov.u32 %block, %ctaid.x;\n");
    text.push_str("mad.lo.u32 %number, %block, %size, %thread;\n");
    let row = if spread == Spread::Threads { "%number" } else { "%block" };
    let _ = writeln!(text, "mad.wide.u32 %in, {row}, {ROW}, %in; mad.wide.u32 %out, %number, {RESULT}, %out;");
    named.iter().for_each(|name| load(&mut text, form, spread, *name));
    ['x', 'y'].into_iter().for_each(|name| begin(&mut text, form, name));
    let _ = writeln!(text, "{}", form.text);
    [('x', 0), ('y', 8)].into_iter().for_each(|(name, place)| store(&mut text, form, name, place));
    text.push_str("ret;\n}\n");
    text
}

fn declare(text: &mut String, form: &Form) {
    text.push_str(".reg .b64 %in, %out, %wide, %further; .reg .b32 %thread, %size, %block, %number, %low;\n");
    for name in NAMES.into_iter().chain(['s', 't', 'x', 'y']) {
        for width in WIDTHS {
            let register = format!("%{name}{width}");
            let is_loaded = NAMES.contains(&name) && width == "64" && form.names(&format!("%{name}"));
            if form.names(&register) || is_loaded {
                let ty = if width == "p" { "pred".to_owned() } else { format!("b{width}") };
                let _ = write!(text, ".reg .{ty} {register}; ");
            }
        }
    }
    for register in ["%q", "%w"].into_iter().filter(|register| form.names(register)) {
        let _ = write!(text, ".reg .b128 {register}; ");
    }
    text.push('\n');
}

/// Loads an operand in each width that the form reads.
fn load(text: &mut String, form: &Form, spread: Spread, name: char) {
    let place = 8 * NAMES.iter().position(|it| *it == name).unwrap_or(0);
    let _ = write!(text, "ld.global.b64 %{name}64, [%in+{place}]; ");
    if name == 'a' && spread == Spread::Grows {
        text.push_str("cvt.u64.u32 %further, %thread; add.u64 %a64, %a64, %further; ");
    }
    for width in WIDTHS.into_iter().filter(|width| form.names(&format!("%{name}{width}"))) {
        let _ = match width {
            "8" => write!(text, "cvt.u8.u64 %{name}8, %{name}64; "),
            "p" => write!(text, "and.b64 %wide, %{name}64, 1; setp.ne.u64 %{name}p, %wide, 0; "),
            "64" => Ok(()),
            width => write!(text, "cvt.u{width}.u64 %{name}{width}, %{name}64; "),
        };
    }
    text.push('\n');
}

/// Gives a result what it holds if the form does not write it.
fn begin(text: &mut String, form: &Form, name: char) {
    for width in WIDTHS.into_iter().filter(|width| form.names(&format!("%{name}{width}"))) {
        let _ = match width {
            "8" => writeln!(text, "cvt.u8.u32 %{name}8, {};", INITIAL as u8),
            "16" => writeln!(text, "mov.b16 %{name}16, {};", INITIAL as u16),
            "32" => writeln!(text, "mov.b32 %{name}32, {};", INITIAL as u32),
            "64" => writeln!(text, "mov.b64 %{name}64, {INITIAL};"),
            _ => writeln!(text, "mov.pred %{name}p, 0;"),
        };
    }
}

fn store(text: &mut String, form: &Form, name: char, place: u32) {
    for width in WIDTHS.into_iter().filter(|width| form.names(&format!("%{name}{width}"))) {
        let _ = match width {
            "p" => writeln!(text, "selp.b64 %wide, 1, 0, %{name}p; st.global.b64 [%out+{place}], %wide;"),
            width => writeln!(text, "st.global.b{width} [%out+{place}], %{name}{width};"),
        };
    }
}
