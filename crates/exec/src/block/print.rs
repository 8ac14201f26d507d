//! Texts of `printf`, made as the C library makes them.

use super::access::LaneFault;
use super::number::{float, integer, padded};
use super::system::LaneMemory;

/// What stands between `%` and the letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spec {
    /// `-`: at the left of its field.
    pub(crate) left: bool,
    /// `+`: a sign for positive numbers, too.
    pub(crate) plus: bool,
    /// ` `: a blank where a sign would be.
    pub(crate) blank: bool,
    /// `#`: with a prefix, or with all digits.
    pub(crate) alternate: bool,
    /// `0`: filled up with zeros.
    pub(crate) zero: bool,
    pub(crate) width: usize,
    pub(crate) precision: Option<usize>,
    /// How many bytes an integer has.
    pub(crate) bytes: u32,
}

/// The arguments behind a format: each at a multiple of its size.
pub(crate) struct Arguments<'m> {
    memory: LaneMemory<'m>,
    next: u64,
    count: i32,
}

impl<'m> Arguments<'m> {
    pub(crate) fn new(memory: LaneMemory<'m>, start: u64) -> Self {
        Self { memory, next: start, count: 0 }
    }

    /// How many were read.
    pub(crate) fn count(&self) -> i32 {
        self.count
    }

    fn word(&mut self) -> Result<u32, LaneFault> {
        self.take().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Result<u64, LaneFault> {
        self.take().map(u64::from_le_bytes)
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], LaneFault> {
        let start = self.next.next_multiple_of(N as u64);
        let bytes = self.memory.bytes(start)?;
        (self.next, self.count) = (start + N as u64, self.count + 1);
        Ok(bytes)
    }
}

/// The text of a format with its arguments.
pub(crate) fn printed(format: &[u8], arguments: &mut Arguments<'_>) -> Result<Vec<u8>, LaneFault> {
    let mut text = Vec::with_capacity(format.len());
    let mut rest = format;
    while let Some((first, behind)) = rest.split_first() {
        if *first != b'%' {
            text.push(*first);
            rest = behind;
            continue;
        }
        let (spec, behind) = spec(behind, arguments)?;
        let Some((letter, behind)) = behind.split_first() else {
            text.extend(rest);
            break;
        };
        match converted(*letter, spec, arguments)? {
            Some(field) => text.extend(field),
            // What is no conversion is printed as it is written.
            None => text.extend(&rest[..rest.len() - behind.len()]),
        }
        rest = behind;
    }
    Ok(text)
}

fn spec<'f>(mut rest: &'f [u8], arguments: &mut Arguments<'_>) -> Result<(Spec, &'f [u8]), LaneFault> {
    let mut spec = Spec { bytes: 4, ..Spec::default() };
    while let Some((flag, behind)) = rest.split_first() {
        match flag {
            b'-' => spec.left = true,
            b'+' => spec.plus = true,
            b' ' => spec.blank = true,
            b'#' => spec.alternate = true,
            b'0' => spec.zero = true,
            _ => break,
        }
        rest = behind;
    }
    let (width, behind) = count(rest, arguments)?;
    spec.left |= width < 0;
    spec.width = width.unsigned_abs() as usize;
    rest = behind;
    if let Some((b'.', behind)) = rest.split_first() {
        let (precision, behind) = count(behind, arguments)?;
        spec.precision = usize::try_from(precision).ok();
        rest = behind;
    }
    while let Some((size @ (b'h' | b'l' | b'j' | b'z' | b't'), behind)) = rest.split_first() {
        spec.bytes = match size {
            b'h' if spec.bytes == 2 => 1,
            b'h' => 2,
            _ => 8,
        };
        rest = behind;
    }
    Ok((spec, rest))
}

/// Digits, or `*` for an argument.
fn count<'f>(rest: &'f [u8], arguments: &mut Arguments<'_>) -> Result<(i32, &'f [u8]), LaneFault> {
    if let Some((b'*', behind)) = rest.split_first() {
        return Ok((arguments.word()?.cast_signed(), behind));
    }
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let add = |sum: i32, digit: &u8| sum.saturating_mul(10).saturating_add(i32::from(digit - b'0'));
    // A field that is wider than that is a mistake, and would take all memory.
    const MOST: i32 = 4096;
    Ok((rest[..digits].iter().fold(0, add).min(MOST), &rest[digits..]))
}

/// One argument as text; `None` if the letter is none of a conversion.
fn converted(letter: u8, spec: Spec, arguments: &mut Arguments<'_>) -> Result<Option<Vec<u8>>, LaneFault> {
    Ok(Some(match letter {
        b'%' => b"%".to_vec(),
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
            let raw = if spec.bytes == 8 { arguments.long()? } else { u64::from(arguments.word()?) };
            integer(letter, spec, raw, 8 * spec.bytes).into_bytes()
        }
        b'p' => match arguments.long()? {
            0 => padded(Spec { zero: false, ..spec }, "", "(nil)").into_bytes(),
            address => padded(Spec { zero: false, ..spec }, "0x", &format!("{address:x}")).into_bytes(),
        },
        b'c' => field(spec, vec![arguments.word()? as u8]),
        b's' => {
            let mut text = match arguments.long()? {
                0 => b"(null)".to_vec(),
                address => arguments.memory.text(address)?,
            };
            text.truncate(spec.precision.unwrap_or(text.len()));
            field(spec, text)
        }
        b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
            float(letter, spec, f64::from_bits(arguments.long()?)).into_bytes()
        }
        _ => return Ok(None),
    }))
}

/// Bytes with blanks before or behind.
fn field(spec: Spec, text: Vec<u8>) -> Vec<u8> {
    let blanks = vec![b' '; spec.width.saturating_sub(text.len())];
    if spec.left { [text, blanks].concat() } else { [blanks, text].concat() }
}
