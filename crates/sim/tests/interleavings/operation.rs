//! What a process may do next. Numbers pick among what there is when it does it.

use proptest::prelude::*;

/// A step of one process.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Which process.
    pub process: usize,
    /// What it does.
    pub what: What,
}

/// A place: some granules from somewhere in or after a mapping or reservation.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Which mapping, or which reservation.
    pub place: usize,
    /// Whether a mapping is meant, if there is one.
    pub mapped: bool,
    /// Granules from its start.
    pub offset: u64,
    /// How many granules; none given: the whole mapping or reservation.
    pub granules: Option<u64>,
}

/// What a process does.
#[derive(Clone, Debug)]
pub enum What {
    /// Nothing. A failing case shrinks towards this, so that what matters stands out.
    Nothing,
    /// `cuMemCreate`.
    Create { device: i32, granules: u64, shared: bool },
    /// `cuMemRelease` of any value that was ever a handle.
    Release { handle: usize },
    /// `cuMemAddressReserve`.
    Reserve { granules: u64 },
    /// `cuMemAddressFree`, of the right size or not.
    Free { reservation: usize, wrong: bool },
    /// `cuMemMap`, of the right size or not. A handle whose allocation fits is looked for.
    Map { at: Range, handle: usize, wrong: bool },
    /// A reservation of just the right size, a mapping of the whole of it, access for both devices.
    MapWhole { handle: usize },
    /// `cuMemUnmap`.
    Unmap { at: Range },
    /// `cuMemSetAccess`.
    SetAccess { at: Range, device: i32, flags: u64 },
    /// `cuMemGetAccess`.
    GetAccess { at: Range, device: i32 },
    /// `cuMemExportToShareableHandle`, of imported handles too.
    Export { handle: usize, flags: u64 },
    /// Another copy of a descriptor.
    Duplicate { descriptor: usize },
    /// One copy less.
    Close { descriptor: usize },
    /// `cuMemImportFromShareableHandle`; with nothing to import, of a number that is no descriptor.
    Import { descriptor: usize, closed: bool },
    /// `cuMemRetainAllocationHandle`.
    Retain { at: Range },
    /// `cuMemsetD8` and a wait for it.
    Fill { at: Range, device: i32, value: u8 },
    /// `cuMemcpyDtoH`.
    CopyBack { at: Range, device: i32 },
    /// The process ends and another takes its place.
    End,
}

fn range() -> impl Strategy<Value = Range> {
    let offset = prop_oneof![6 => Just(0), 2 => 1..4u64];
    let granules = prop_oneof![5 => Just(None), 4 => (0..=4u64).prop_map(Some)];
    (any::<usize>(), prop::bool::weighted(0.7), offset, granules).prop_map(|(place, mapped, offset, granules)| Range {
        place,
        mapped,
        offset,
        granules,
    })
}

fn device() -> impl Strategy<Value = i32> {
    prop_oneof![5 => Just(0), 3 => Just(1)]
}

/// A device, or a number that is none.
fn any_device() -> impl Strategy<Value = i32> {
    prop_oneof![9 => device(), 1 => Just(7)]
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        1 => Just(What::Nothing),
        8 => (any_device(), 0..=3u64, prop::bool::weighted(0.8))
            .prop_map(|(device, granules, shared)| What::Create { device, granules, shared }),
        4 => any::<usize>().prop_map(|handle| What::Release { handle }),
        2 => (0..=4u64).prop_map(|granules| What::Reserve { granules }),
        2 => (any::<usize>(), prop::bool::weighted(0.2))
            .prop_map(|(reservation, wrong)| What::Free { reservation, wrong }),
        4 => (range(), any::<usize>(), prop::bool::weighted(0.1))
            .prop_map(|(at, handle, wrong)| What::Map { at, handle, wrong }),
        8 => any::<usize>().prop_map(|handle| What::MapWhole { handle }),
        3 => range().prop_map(|at| What::Unmap { at }),
        4 => (range(), any_device(), prop_oneof![1 => 0..=2u64, 2 => Just(3)])
            .prop_map(|(at, device, flags)| What::SetAccess { at, device, flags }),
        2 => (range(), any_device()).prop_map(|(at, device)| What::GetAccess { at, device }),
        6 => (any::<usize>(), prop_oneof![9 => Just(0), 1 => Just(1)])
            .prop_map(|(handle, flags)| What::Export { handle, flags }),
        1 => any::<usize>().prop_map(|descriptor| What::Duplicate { descriptor }),
        2 => any::<usize>().prop_map(|descriptor| What::Close { descriptor }),
        6 => (any::<usize>(), prop::bool::weighted(0.1))
            .prop_map(|(descriptor, closed)| What::Import { descriptor, closed }),
        2 => range().prop_map(|at| What::Retain { at }),
        4 => (range(), device(), any::<u8>()).prop_map(|(at, device, value)| What::Fill { at, device, value }),
        3 => (range(), device()).prop_map(|(at, device)| What::CopyBack { at, device }),
        1 => Just(What::End),
    ]
}

/// Any step.
pub fn operation() -> impl Strategy<Value = Operation> {
    (0..4usize, what()).prop_map(|(process, what)| Operation { process, what })
}
