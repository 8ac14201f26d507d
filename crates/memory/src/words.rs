//! Patterns of 64-bit words: fill and compare at the speed of memory.

use std::ptr;

use crate::{Access, Content, Fault, View};

const WORD: usize = size_of::<u64>();

/// Words are compared in chunks: a whole chunk first for any difference, which the compiler turns into vector
/// instructions, and only a chunk that has one is looked at byte by byte.
const CHUNK_WORDS: usize = 512;

/// How device memory differs from what was expected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Difference {
    /// The number of bytes that differ.
    pub bytes: u64,
    /// The first of them, counted from the start of the range.
    pub first: Option<u64>,
}

impl Difference {
    /// Adds the differing bytes of the low `len` bytes of two words that start at `offset`.
    fn add(&mut self, offset: u64, found: u64, expected: u64, len: usize) {
        let pairs = found.to_le_bytes().into_iter().zip(expected.to_le_bytes());
        let unequal = (offset..).zip(pairs).take(len).filter(|(_, (found, expected))| found != expected);
        for (offset, _) in unequal {
            self.bytes += 1;
            self.first.get_or_insert(offset);
        }
    }
}

/// Patterns: a word for each eight bytes of the range, counted from its start and stored little-endian as a device
/// does. The range may start and end anywhere; of the last word as many bytes count as fit.
///
/// # Units
///
/// The argument of the pattern is the byte offset of the word in the range: 0, 8, 16 and so on.
impl View<'_> {
    /// Fills `len` bytes with the words that `word` gives. It is called once for each word, in order; for a multicast address
    /// as often as there are copies.
    ///
    /// # Errors
    ///
    /// [`Fault`] at the first byte that cannot be written.
    #[inline]
    pub fn fill_words(&self, address: u64, len: u64, mut word: impl FnMut(u64) -> u64) -> Result<(), Fault> {
        self.in_each_copy(address, |view| view.fill_words_once(address, len, &mut word))
    }

    #[inline]
    fn fill_words_once(&self, address: u64, len: u64, word: &mut impl FnMut(u64) -> u64) -> Result<(), Fault> {
        // The word that the end of the last run has cut in two.
        let mut cut = 0;
        self.each_written(address, len, |offset, bytes, len| {
            let parts = Parts::new(offset, len);
            store_part(bytes, cut >> (8 * parts.skip), parts.head);
            let body = bytes.wrapping_add(parts.head);
            let body_offset = offset + parts.head as u64;
            for index in 0..parts.words {
                let value = word(body_offset + (index * WORD) as u64);
                let target = body.wrapping_add(index * WORD).cast::<u64>();
                // SAFETY: `write_unaligned` needs eight writable bytes: the run covers `words` words from `body` on.
                unsafe { target.write_unaligned(value.to_le()) }
            }
            if parts.tail > 0 {
                cut = word(offset + (len - parts.tail) as u64);
                store_part(bytes.wrapping_add(len - parts.tail), cut, parts.tail);
            }
        })
    }

    /// Compares `len` bytes with the words that `word` gives. It may be called more than once for a word.
    ///
    /// # Errors
    ///
    /// [`Fault`] at the first byte that cannot be read; what was found before it is lost.
    #[inline]
    pub fn compare_words(&self, address: u64, len: u64, word: impl Fn(u64) -> u64) -> Result<Difference, Fault> {
        let mut difference = Difference::default();
        for span in self.spans(address, len, Access::Read) {
            let span = span?;
            let parts = Parts::new(span.offset, span.len);
            match span.content {
                Content::Zero => compare_run(&mut difference, span.offset, &parts, &word, |_, _| 0),
                Content::Bytes(bytes) => compare_run(&mut difference, span.offset, &parts, &word, |at, len| {
                    load(bytes.as_ptr().wrapping_add(at), len)
                }),
            }
        }
        Ok(difference)
    }

    /// Compares each of `len` bytes with `value`.
    ///
    /// # Errors
    ///
    /// [`Fault`] at the first byte that cannot be read; what was found before it is lost.
    pub fn compare(&self, address: u64, len: u64, value: u8) -> Result<Difference, Fault> {
        let word = u64::from_le_bytes([value; WORD]);
        self.compare_words(address, len, |_| word)
    }
}

/// A run divided at the borders of words: the rest of a word, whole words, the beginning of a word.
struct Parts {
    /// The bytes of the first word that belong to the run before.
    skip: usize,
    head: usize,
    words: usize,
    tail: usize,
}

impl Parts {
    fn new(offset: u64, len: usize) -> Self {
        let skip = offset as usize % WORD;
        let head = ((WORD - skip) % WORD).min(len);
        let rest = len - head;
        Self { skip, head, words: rest / WORD, tail: rest % WORD }
    }
}

#[inline]
fn compare_run(
    difference: &mut Difference,
    offset: u64,
    parts: &Parts,
    word: &impl Fn(u64) -> u64,
    load: impl Fn(usize, usize) -> u64,
) {
    if parts.head > 0 {
        let expected = word(offset - parts.skip as u64) >> (8 * parts.skip);
        difference.add(offset, load(0, parts.head), expected, parts.head);
    }
    let start = |index: usize| parts.head + index * WORD;
    let expected = |index: usize| word(offset + start(index) as u64);
    for first in (0..parts.words).step_by(CHUNK_WORDS) {
        let chunk = first..(first + CHUNK_WORDS).min(parts.words);
        let unequal = chunk.clone().fold(0, |sum, index| sum | (load(start(index), WORD) ^ expected(index)));
        if unequal != 0 {
            for index in chunk {
                difference.add(offset + start(index) as u64, load(start(index), WORD), expected(index), WORD);
            }
        }
    }
    if parts.tail > 0 {
        let start = start(parts.words);
        difference.add(offset + start as u64, load(start, parts.tail), word(offset + start as u64), parts.tail);
    }
}

/// The word that starts with `len` bytes at `bytes`, of which there are that many, and goes on with zeros.
#[inline]
fn load(bytes: *const u8, len: usize) -> u64 {
    if len == WORD {
        // SAFETY: `read_unaligned` needs eight readable bytes.
        return u64::from_le(unsafe { bytes.cast::<u64>().read_unaligned() });
    }
    let mut word = [0; WORD];
    // SAFETY: `copy_nonoverlapping` needs `len` readable bytes, and `len` writable ones: it is less than a word.
    unsafe { ptr::copy_nonoverlapping(bytes, word.as_mut_ptr(), len) }
    u64::from_le_bytes(word)
}

/// Stores the low `len` bytes of a word at `bytes`, where there is room for them.
fn store_part(bytes: *mut u8, word: u64, len: usize) {
    let word = word.to_le_bytes();
    // SAFETY: `copy_nonoverlapping` needs `len` readable bytes, a word at most, and `len` writable ones.
    unsafe { ptr::copy_nonoverlapping(word.as_ptr(), bytes, len) }
}
