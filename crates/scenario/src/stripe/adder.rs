//! The kernels of `kernels/stripe.cu` on the vectors.

use std::ops::Range;

use peermap_driver::{ByteSize, DevicePtr, Driver, Function, JitOptions, KernelArg, Result, Stream};

use super::vectors::VECTORS;
use crate::check::{CHUNK, VerifyOn};
use crate::code::{Code, Shape};
use crate::device_kernels::Buffer;

/// From what the contents follow, beside the place.
const SEED: u64 = 0x5EED;
/// Two 64-bit words: how many words are wrong, and the place of the first.
const RESULT: ByteSize = ByteSize::new(16);

/// The kernels, loaded, and the vectors that they work on.
pub(super) struct Adder<'d> {
    driver: &'d dyn Driver,
    stream: Stream,
    code: Code<'d>,
    prepare: Function,
    add: Function,
    verify_prepared: Function,
    verify_sum: Function,
    result: DevicePtr,
}

/// Words that are wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) words: u64,
    /// The place of the first.
    pub(super) first: u64,
}

/// Where the vectors begin: two, and their sum.
pub(super) type Starts = [DevicePtr; VECTORS as usize];

impl<'d> Adder<'d> {
    /// Loads the kernels. The logs in `options` are filled whether it succeeds or not.
    pub(super) fn load(driver: &'d dyn Driver, stream: Stream, image: &[u8], options: &mut JitOptions) -> Result<Self> {
        let code = Code::load(driver, image, options)?;
        Ok(Self {
            driver,
            stream,
            prepare: code.find("prepare")?,
            add: code.find("add")?,
            verify_prepared: code.find("verify_prepared")?,
            verify_sum: code.find("verify_sum")?,
            code,
            result: driver.mem_alloc(RESULT)?,
        })
    }

    /// Writes what is to be added.
    pub(super) fn prepare(&self, [a, b, _]: Starts, words: Range<u64>) -> Result<()> {
        self.run(self.prepare, &[a, b], words, &[KernelArg::U64(SEED)])
    }

    /// Adds.
    pub(super) fn add(&self, [a, b, c]: Starts, words: Range<u64>) -> Result<()> {
        self.run(self.add, &[a, b, c], words, &[])
    }

    /// Looks for words that are not what was to be added.
    pub(super) fn verify_prepared(&self, [a, b, _]: Starts, words: Range<u64>) -> Result<Option<Wrong>> {
        self.verify(self.verify_prepared, &[a, b], words)
    }

    /// Looks for words that are not the sum.
    pub(super) fn verify_sum(&self, on: VerifyOn, [_, _, c]: Starts, words: Range<u64>) -> Result<Option<Wrong>> {
        match on {
            VerifyOn::Device => self.verify(self.verify_sum, &[c], words),
            VerifyOn::Host => self.verify_sum_here(c, words),
        }
    }

    fn verify(&self, function: Function, vectors: &[DevicePtr], words: Range<u64>) -> Result<Option<Wrong>> {
        let result = Buffer { ptr: self.result, size: RESULT };
        self.driver.memset_d8_async(result.at(0), 0, ByteSize::new(8), self.stream)?;
        self.driver.memset_d8_async(result.at(8), 0xFF, ByteSize::new(8), self.stream)?;
        self.run(function, vectors, words, &[KernelArg::U64(SEED), KernelArg::Ptr(self.result)])?;
        let mut bytes = [0; 16];
        self.driver.memcpy_dtoh(&mut bytes, self.result)?;
        let ([count, first], _) = bytes.as_chunks::<8>() else { return Ok(None) };
        let (words, first) = (u64::from_le_bytes(*count), u64::from_le_bytes(*first));
        Ok((words > 0).then_some(Wrong { words, first }))
    }

    fn verify_sum_here(&self, sum: DevicePtr, words: Range<u64>) -> Result<Option<Wrong>> {
        let (sum, each) = (Buffer { ptr: sum, size: RESULT }, (CHUNK / 8) as u64);
        let mut wrong: Option<Wrong> = None;
        let mut first = words.start;
        while first < words.end {
            let count = (words.end - first).min(each);
            let mut bytes = vec![0; 8 * count as usize];
            self.driver.memcpy_dtoh(&mut bytes, sum.at(8 * first))?;
            let (found, _) = bytes.as_chunks::<8>();
            for (index, _) in (first..).zip(found).filter(|(index, word)| u64::from_le_bytes(**word) != total(*index)) {
                wrong.get_or_insert(Wrong { words: 0, first: index }).words += 1;
            }
            first += count;
        }
        Ok(wrong)
    }

    /// Queues a kernel over some words and waits for its end.
    fn run(&self, function: Function, vectors: &[DevicePtr], words: Range<u64>, more: &[KernelArg]) -> Result<()> {
        let mut args: Vec<_> = vectors.iter().map(|start| KernelArg::Ptr(*start)).collect();
        args.extend([KernelArg::U64(words.start), KernelArg::U64(words.end)]);
        args.extend_from_slice(more);
        let shape = Shape::over(words.end - words.start);
        // SAFETY: the contract is that the arguments match the kernel's parameters: vectors, first, end, and what `more` has are
        // listed in the order and with the types of kernels/README.md.
        unsafe { self.code.launch(function, self.stream, shape, &args) }?;
        self.driver.stream_synchronize(self.stream)
    }

    /// Unloads the kernels.
    pub(super) fn unload(self) -> Result<()> {
        self.driver.mem_free(self.result)?;
        self.code.unload()
    }
}

/// The sum at a place, as the kernels have it.
const fn total(index: u64) -> u64 {
    let left = index.wrapping_add(SEED).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    left.wrapping_add((index ^ SEED).wrapping_mul(0xD6E8_FEB8_6659_FD93))
}
