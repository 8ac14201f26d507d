//! Fill, verify and copy on one device, by size and by how the memory was mapped.

use std::os::fd::AsFd;

use peermap_driver::{AccessDesc, ByteSize, DevicePtr, HandleType, JitOptions, OsHandle};
use peermap_scenario::{Author, Buffer, DeviceKernels, Fill, embedded_kernels};

use super::{Timed, repetitions};
use crate::error::BenchError;
use crate::owned::{Allocated, Mapped, Physical};
use crate::rig::Rig;
use crate::suite::{Group, Output, Planned};

const FULL: [ByteSize; 6] = [
    ByteSize::new(64 << 10),
    ByteSize::mib(1),
    ByteSize::mib(16),
    ByteSize::mib(64),
    ByteSize::mib(256),
    ByteSize::mib(1024),
];
const QUICK: [ByteSize; 3] = [ByteSize::mib(1), ByteSize::mib(64), ByteSize::mib(1024)];

/// From this size on a fill must come near a memset.
const FLOOR_FROM: ByteSize = ByteSize::mib(256);
const FLOOR: f64 = 0.94;

/// How memory came to its addresses.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Mapped,
    Imported,
    Allocated,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Mapped, Self::Imported, Self::Allocated];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mapped => "mapped",
            Self::Imported => "imported",
            Self::Allocated => "cuMemAlloc",
        }
    }
}

pub(super) fn plan<'r>(rig: &'r Rig<'_>) -> Vec<Planned<'r>> {
    let sizes = rig.sizes(&FULL, &QUICK);
    sizes.into_iter().flat_map(|size| Kind::ALL.map(|kind| group(rig, size, kind))).collect()
}

fn group<'r>(rig: &'r Rig<'_>, size: ByteSize, kind: Kind) -> Planned<'r> {
    let memset = Output::rate("cuMemsetD8Async");
    let mut fill = Output::rate("fill_id");
    if size >= FLOOR_FROM && !rig.simulated {
        fill = fill.at_least(FLOOR, memset.name);
    }
    Planned {
        outputs: vec![memset, fill, Output::rate("verify_id"), Output::rate("cuMemcpyDtoDAsync")],
        parameters: vec![("memory", kind.name().to_owned()), ("size", size.to_string())],
        make: Box::new(move || {
            rig.can_move(size)?;
            let timed = Timed::new(rig.driver)?;
            let kernels = load(rig, 0, &timed)?;
            let [one, other] = [Memory::new(rig, size, kind)?, Memory::new(rig, size, kind)?];
            Ok(Box::new(OnDevice { rig, size, timed, kernels: Some(kernels), one, other }))
        }),
    }
}

/// The kernels of the main job, for a stream of a device whose context is current.
pub(super) fn load<'r>(rig: &'r Rig<'_>, index: usize, timed: &Timed<'r>) -> Result<DeviceKernels<'r>, BenchError> {
    let image = embedded_kernels().as_bytes();
    let device = rig.devices[index].0;
    Ok(DeviceKernels::load(rig.driver, device, timed.stream, image, Fill::Id, &mut JitOptions::default())?)
}

/// Memory of the first device; what it is made of goes with it.
pub(super) enum Memory<'d> {
    Mapped(Mapped<'d>),
    Imported { mapped: Mapped<'d>, _original: Physical<'d> },
    Allocated(Allocated<'d>),
}

impl<'d> Memory<'d> {
    pub(super) fn new(rig: &'d Rig<'_>, size: ByteSize, kind: Kind) -> Result<Self, BenchError> {
        let driver = rig.driver;
        if kind == Kind::Allocated {
            return Ok(Self::Allocated(Allocated::new(driver, size)?));
        }
        let whole = size.checked_next_multiple_of(rig.granularity()?).unwrap_or(size);
        let physical = Physical::create(driver, whole, &rig.memory_of(0))?;
        let rights: Vec<AccessDesc> = Self::rights(rig);
        if kind == Kind::Mapped {
            return Ok(Self::Mapped(Mapped::new(driver, physical, &rights)?));
        }
        let way = HandleType::POSIX_FILE_DESCRIPTOR;
        let exported = driver.mem_export_to_shareable_handle(physical.handle, way, 0)?;
        let Some(descriptor) = exported.into_posix_fd() else {
            return Err(BenchError::NotHere("the export is no descriptor".to_owned()));
        };
        let imported = driver.mem_import_from_shareable_handle(OsHandle::Fd(descriptor.as_fd()), way)?;
        let mapped = Mapped::new(driver, Physical::of(driver, imported, whole), &rights)?;
        Ok(Self::Imported { mapped, _original: physical })
    }

    /// The first device, and the one that reaches it, if there is one.
    fn rights(rig: &Rig<'_>) -> Vec<AccessDesc> {
        let devices = std::iter::once(0).chain(rig.peer());
        devices.map(|index| AccessDesc::read_write(rig.devices[index].0.0)).collect()
    }

    pub(super) fn ptr(&self) -> DevicePtr {
        match self {
            Self::Mapped(mapped) | Self::Imported { mapped, .. } => mapped.range.ptr,
            Self::Allocated(allocated) => allocated.ptr,
        }
    }
}

struct OnDevice<'r, 'd> {
    rig: &'r Rig<'d>,
    size: ByteSize,
    timed: Timed<'r>,
    kernels: Option<DeviceKernels<'r>>,
    one: Memory<'r>,
    other: Memory<'r>,
}

impl Group for OnDevice<'_, '_> {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let Self { rig, size, timed, kernels: Some(kernels), one, other } = self else { return Ok(Vec::new()) };
        let (driver, size, stream) = (rig.driver, *size, timed.stream);
        let (buffer, author) = (Buffer { ptr: one.ptr(), size }, Author { worker: 7, step: 0 });
        let (bytes, times) = (size.get(), repetitions(size.get()));
        let memset = timed.rate(bytes, times, &|| driver.memset_d8_async(buffer.ptr, 7, size, stream))?;
        let fill = timed.rate(bytes, times, &|| kernels.fill(buffer, author))?;
        kernels.clear_findings()?;
        let verify = timed.rate(bytes, times, &|| kernels.verify(buffer, author))?;
        if let Some(findings) = kernels.findings()? {
            return Err(BenchError::Run(format!("{} bytes are wrong", findings.wrong_bytes)));
        }
        let copy = timed.rate(bytes, times, &|| driver.memcpy_dtod_async(other.ptr(), buffer.ptr, size, stream))?;
        Ok(vec![memset, fill, verify, copy])
    }
}

impl Drop for OnDevice<'_, '_> {
    fn drop(&mut self) {
        if let Some(kernels) = self.kernels.take() {
            drop(kernels.unload());
        }
    }
}
