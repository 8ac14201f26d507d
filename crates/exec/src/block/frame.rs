//! The registers of a block of threads.

use super::mask::{MOST_LANES, Mask};
use super::spaces::{SpaceSizes, Spaces};
use crate::grid::Launch;
use crate::step::Target;

/// The words in front of the scalars: what the machine sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Special {
    NtidX,
    NtidY,
    NtidZ,
    CtaidX,
    CtaidY,
    CtaidZ,
    NctaidX,
    NctaidY,
    NctaidZ,
    DynamicShared,
    /// `%gridid`.
    GridId,
    /// `%smid`.
    Multiprocessor,
    /// `%nsmid`.
    Multiprocessors,
    /// `%nwarpid`.
    Warps,
}

/// How many words there are in front of the scalars.
pub(crate) const SPECIALS: u32 = Special::Warps as u32 + 1;

/// The arrays in front of those of the lanes: `%tid.x`, `%tid.y` and `%tid.z`.
pub(crate) const TID_ARRAYS: u32 = 3;

/// From one array of lanes to the next. It is more than a block has threads, by so much that neighbouring arrays begin
/// half a way of the host's first cache apart and do not compete for the same lines.
pub(crate) const PITCH: usize = MOST_LANES + 264;

/// How large the parts of a frame are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FrameSize {
    pub(crate) scalars: u32,
    /// The scalar that says where the variables of the module start.
    pub(crate) data: u32,
    pub(crate) parameter_bytes: u32,
    pub(crate) lane_arrays: u32,
    pub(crate) predicate_arrays: u32,
    pub(crate) spaces: SpaceSizes,
}

impl FrameSize {
    /// The word with which the parameters start.
    pub(crate) fn parameters(&self) -> u32 {
        SPECIALS + self.scalars
    }

    /// The word with which the arrays start.
    pub(crate) fn arrays(&self) -> u32 {
        self.parameters() + self.parameter_bytes.div_ceil(8)
    }
}

/// The registers of a block of threads.
///
/// The words are special registers, scalars, parameters, and then the arrays of lanes, [`PITCH`] words apart; arrays of
/// predicates are as many bytes apart.
pub(crate) struct Frame {
    pub(crate) words: Vec<u64>,
    pub(crate) predicates: Vec<u8>,
    pub(crate) size: FrameSize,
    pub(crate) lanes: usize,
    /// All of them.
    pub(crate) all: Mask,
    /// How many lanes differ in `%tid.x` alone.
    pub(crate) row: usize,
    /// What comparisons found that only branches and guards read, by the number of the array that the predicate would have.
    pub(crate) masks: Vec<Mask>,
    pub(crate) spaces: Spaces,
}

impl Frame {
    /// A frame for the blocks of a launch; registers are zero.
    pub(crate) fn new(size: FrameSize, launch: &Launch<'_>) -> Self {
        let Launch { block, parameters, data, shared_bytes, .. } = *launch;
        let lanes = block.iter().product::<u32>() as usize;
        let arrays = (TID_ARRAYS + size.lane_arrays) as usize;
        let mut frame = Self {
            words: vec![0; size.arrays() as usize + arrays * PITCH],
            predicates: vec![0; size.predicate_arrays as usize * PITCH],
            masks: vec![Mask::NONE; size.predicate_arrays as usize],
            size,
            lanes,
            all: Mask::first(lanes),
            row: block[0] as usize,
            spaces: Spaces::new(size.spaces, shared_bytes, lanes, parameters, data),
        };
        frame.set_scalar(size.data, data);
        for (word, bytes) in frame.words[size.parameters() as usize..].iter_mut().zip(parameters.chunks(8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(padded);
        }
        for lane in 0..lanes {
            let thread = thread_of(lane, block);
            for (axis, part) in thread.into_iter().enumerate() {
                let start = frame.tid_start(axis);
                frame.words[start + lane] = u64::from(part);
            }
        }
        frame
    }

    fn tid_start(&self, axis: usize) -> usize {
        self.size.arrays() as usize + axis * PITCH
    }

    pub(crate) fn set_special(&mut self, special: Special, value: impl Into<u64>) {
        self.words[special as usize] = value.into();
    }

    pub(crate) fn scalar(&self, word: u32) -> u64 {
        self.words[(SPECIALS + word) as usize]
    }

    pub(crate) fn set_scalar(&mut self, word: u32, value: u64) {
        self.words[(SPECIALS + word) as usize] = value;
    }

    /// All words that are kept once.
    pub(crate) fn scalars(&self) -> &[u64] {
        &self.words[SPECIALS as usize..self.size.parameters() as usize]
    }

    pub(crate) fn set_scalars(&mut self, values: &[u64]) {
        self.words[SPECIALS as usize..self.size.parameters() as usize].copy_from_slice(values);
    }

    /// Gives all lanes of a set one value.
    pub(crate) fn set(&mut self, target: Target, lanes: &Mask, value: u64) {
        lanes.lanes().for_each(|lane| self.set_lane(target, lane, value));
    }

    /// Gives a lane a value; what is kept once is that of the lane that comes last.
    pub(crate) fn set_lane(&mut self, target: Target, lane: usize, value: u64) {
        match target {
            Target::Scalar { word } => self.set_scalar(word, value),
            Target::Lanes { array } => self.array_mut(array)[lane] = value,
            Target::Predicates { array } => self.predicate_mut(array)[lane] = value as u8,
        }
    }

    pub(crate) fn tid_x(&self) -> &[u64] {
        let start = self.tid_start(0);
        &self.words[start..start + self.lanes]
    }

    pub(crate) fn array(&self, array: u32) -> &[u64] {
        let start = self.tid_start((TID_ARRAYS + array) as usize);
        &self.words[start..start + self.lanes]
    }

    pub(crate) fn array_mut(&mut self, array: u32) -> &mut [u64] {
        let start = self.tid_start((TID_ARRAYS + array) as usize);
        &mut self.words[start..start + self.lanes]
    }

    pub(crate) fn predicate(&self, array: u32) -> &[u8] {
        let start = array as usize * PITCH;
        &self.predicates[start..start + self.lanes]
    }

    pub(crate) fn predicate_mut(&mut self, array: u32) -> &mut [u8] {
        let start = array as usize * PITCH;
        &mut self.predicates[start..start + self.lanes]
    }
}

/// The thread of a lane: x first.
pub(crate) fn thread_of(lane: usize, [x, y, _]: [u32; 3]) -> [u32; 3] {
    let lane = lane as u32;
    [lane % x, lane / x % y, lane / (x * y)]
}
