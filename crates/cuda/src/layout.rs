//! The structures of `cuda.h`, with integers where C has enums.
//!
//! # Source
//! `cuda.h` of CUDA 11.0 to 13.x. CUDA 13.2 turned `CUmemLocation.id` into a union of the same size, whose first member
//! it still is; [`CuMemLocation`] is the only place that would have to change for the other members.

use std::mem::{align_of, offset_of, size_of};

use peermap_driver::{
    AccessDesc, AllocationProp, AllocationType, CompressionType, CuResult, DriverError, HandleType, Location,
    LocationType, MemPoolProps, MulticastObjectProp, Result,
};

/// `CUmemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CuMemLocation {
    kind: u32,
    id: i32,
}

/// `CUmemAccessDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CuMemAccessDesc {
    location: CuMemLocation,
    flags: u32,
}

/// `CUmemAllocationProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CuMemAllocationProp {
    allocation_type: u32,
    requested_handle_types: u32,
    location: CuMemLocation,
    /// A pointer that only Windows uses; null here.
    win32_handle_meta_data: u64,
    alloc_flags: CuMemAllocFlags,
}

/// `CUmemAllocationProp.allocFlags`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct CuMemAllocFlags {
    compression_type: u8,
    gpu_direct_rdma_capable: u8,
    usage: u16,
    reserved: [u8; 4],
}

/// `CUmemPoolProps`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CuMemPoolProps {
    allocation_type: u32,
    handle_types: u32,
    location: CuMemLocation,
    /// A pointer that only Windows uses; null here.
    win32_security_attributes: u64,
    max_size: u64,
    usage: u16,
    reserved: [u8; 54],
}

/// `CUmulticastObjectProp`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CuMulticastObjectProp {
    pub(crate) num_devices: u32,
    pub(crate) size: u64,
    pub(crate) handle_types: u64,
    pub(crate) flags: u64,
}

/// Room for whatever a call writes through a `void *`: the widest is a fabric handle of 64 bytes.
#[repr(C, align(16))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct AnyValue(pub(crate) [u8; 64]);

const _: () = {
    assert!(size_of::<usize>() == 8, "size_t and pointers cross the border as 64 bits");
    assert!(size_of::<CuMemLocation>() == 8);
    assert!(size_of::<CuMemAccessDesc>() == 12);
    assert!(offset_of!(CuMemAccessDesc, flags) == 8);
    assert!(size_of::<CuMemAllocationProp>() == 32 && align_of::<CuMemAllocationProp>() == 8);
    assert!(offset_of!(CuMemAllocationProp, requested_handle_types) == 4);
    assert!(offset_of!(CuMemAllocationProp, location) == 8);
    assert!(offset_of!(CuMemAllocationProp, win32_handle_meta_data) == 16);
    assert!(offset_of!(CuMemAllocationProp, alloc_flags) == 24);
    assert!(size_of::<CuMemPoolProps>() == 88 && align_of::<CuMemPoolProps>() == 8);
    assert!(offset_of!(CuMemPoolProps, max_size) == 24 && offset_of!(CuMemPoolProps, usage) == 32);
    assert!(size_of::<CuMulticastObjectProp>() == 32 && offset_of!(CuMulticastObjectProp, size) == 8);
    assert!(size_of::<CuMemAllocFlags>() == 8 && offset_of!(CuMemAllocFlags, usage) == 2);
};

impl From<Location> for CuMemLocation {
    fn from(location: Location) -> Self {
        Self { kind: location.kind.0, id: location.id }
    }
}

impl From<CuMemLocation> for Location {
    fn from(location: CuMemLocation) -> Self {
        Self { kind: LocationType(location.kind), id: location.id }
    }
}

impl TryFrom<AccessDesc> for CuMemAccessDesc {
    type Error = DriverError;

    /// Rights that do not fit C's enum are refused as every other unknown right is.
    fn try_from(desc: AccessDesc) -> Result<Self> {
        let flags = u32::try_from(desc.flags.0).map_err(|_| DriverError::refused(CuResult::INVALID_VALUE))?;
        Ok(Self { location: desc.location.into(), flags })
    }
}

impl From<&AllocationProp> for CuMemAllocationProp {
    fn from(prop: &AllocationProp) -> Self {
        Self {
            allocation_type: prop.allocation_type.0,
            requested_handle_types: prop.requested_handle_types.0,
            location: prop.location.into(),
            // The real driver is that of Linux, where there are none to give.
            win32_handle_meta_data: 0,
            alloc_flags: CuMemAllocFlags {
                compression_type: prop.compression.0,
                gpu_direct_rdma_capable: u8::from(prop.gpu_direct_rdma),
                usage: prop.usage,
                reserved: [0; 4],
            },
        }
    }
}

impl From<&MulticastObjectProp> for CuMulticastObjectProp {
    fn from(prop: &MulticastObjectProp) -> Self {
        Self {
            num_devices: prop.num_devices,
            size: prop.size.get(),
            handle_types: prop.handle_types.0.into(),
            flags: prop.flags,
        }
    }
}

impl From<&MemPoolProps> for CuMemPoolProps {
    fn from(props: &MemPoolProps) -> Self {
        Self {
            allocation_type: props.allocation_type.0,
            handle_types: props.handle_types.0,
            location: props.location.into(),
            win32_security_attributes: 0,
            max_size: props.max_size.get(),
            usage: props.usage,
            reserved: [0; 54],
        }
    }
}

impl From<CuMemAllocationProp> for AllocationProp {
    fn from(prop: CuMemAllocationProp) -> Self {
        Self {
            allocation_type: AllocationType(prop.allocation_type),
            requested_handle_types: HandleType(prop.requested_handle_types),
            location: prop.location.into(),
            compression: CompressionType(prop.alloc_flags.compression_type),
            gpu_direct_rdma: prop.alloc_flags.gpu_direct_rdma_capable != 0,
            usage: prop.alloc_flags.usage,
            win32_security_attributes: prop.win32_handle_meta_data != 0,
        }
    }
}

impl AnyValue {
    /// Every byte the same.
    pub(crate) const fn filled(byte: u8) -> Self {
        Self([byte; 64])
    }

    /// The C `int` at the start.
    pub(crate) const fn first_i32(&self) -> i32 {
        let [a, b, c, d, ..] = self.0;
        i32::from_ne_bytes([a, b, c, d])
    }

    /// The 64-bit number at the start.
    pub(crate) const fn first_u64(&self) -> u64 {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        u64::from_ne_bytes([a, b, c, d, e, f, g, h])
    }
}

/// `CUipcMemHandle` and `CUipcEventHandle`: 64 bytes that are passed by value.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct CuIpcHandle(pub(crate) [u8; 64]);

#[cfg(test)]
mod tests {
    use cudarc::driver::sys;
    use peermap_driver::AccessFlags;

    use super::*;

    #[test]
    fn layouts_are_those_that_bindgen_found_in_the_header() {
        assert_eq!(size_of::<CuMemLocation>(), size_of::<sys::CUmemLocation>());
        assert_eq!(offset_of!(CuMemLocation, id), offset_of!(sys::CUmemLocation, id));
        assert_eq!(size_of::<CuMemAccessDesc>(), size_of::<sys::CUmemAccessDesc>());
        assert_eq!(offset_of!(CuMemAccessDesc, flags), offset_of!(sys::CUmemAccessDesc, flags));
        assert_eq!(size_of::<CuMemAllocationProp>(), size_of::<sys::CUmemAllocationProp>());
        assert_eq!(align_of::<CuMemAllocationProp>(), align_of::<sys::CUmemAllocationProp>());
        assert_eq!(
            offset_of!(CuMemAllocationProp, alloc_flags.gpu_direct_rdma_capable),
            offset_of!(sys::CUmemAllocationProp, allocFlags.gpuDirectRDMACapable)
        );
        assert_eq!(
            offset_of!(CuMemAllocationProp, alloc_flags.usage),
            offset_of!(sys::CUmemAllocationProp, allocFlags.usage)
        );
        assert_eq!(size_of::<CuMemPoolProps>(), size_of::<sys::CUmemPoolProps>());
        assert_eq!(offset_of!(CuMemPoolProps, location), offset_of!(sys::CUmemPoolProps, location));
        assert_eq!(size_of::<CuMulticastObjectProp>(), size_of::<sys::CUmulticastObjectProp>());
        assert_eq!(offset_of!(CuMulticastObjectProp, size), offset_of!(sys::CUmulticastObjectProp, size));
        assert_eq!(
            offset_of!(CuMulticastObjectProp, handle_types),
            offset_of!(sys::CUmulticastObjectProp, handleTypes)
        );
        assert_eq!(offset_of!(CuMulticastObjectProp, flags), offset_of!(sys::CUmulticastObjectProp, flags));
        assert_eq!(size_of::<peermap_driver::MemPoolPtrExportData>(), size_of::<sys::CUmemPoolPtrExportData>());
        assert_eq!(size_of::<AnyValue>(), size_of::<sys::CUmemFabricHandle>());
        assert_eq!(size_of::<peermap_driver::IpcMemHandle>(), size_of::<sys::CUipcMemHandle>());
        assert_eq!(size_of::<peermap_driver::Uuid>(), size_of::<sys::CUuuid>());
    }

    #[test]
    fn properties_come_back_as_they_went() {
        let prop = AllocationProp {
            allocation_type: AllocationType(0x7FFF_FFFF),
            requested_handle_types: HandleType(9),
            location: Location { kind: LocationType::HOST_NUMA, id: -1 },
            compression: CompressionType::GENERIC,
            gpu_direct_rdma: true,
            usage: 0xFFFE,
            win32_security_attributes: false,
        };
        assert_eq!(AllocationProp::from(CuMemAllocationProp::from(&prop)), prop);
    }

    #[test]
    fn rights_that_do_not_fit_are_refused_and_not_cut() {
        let desc = AccessDesc { location: Location::device(0), flags: AccessFlags(1 << 32 | 3) };
        assert_eq!(CuMemAccessDesc::try_from(desc), Err(DriverError::refused(CuResult::INVALID_VALUE)));
    }

    #[test]
    fn numbers_are_read_from_the_start() {
        let mut value = AnyValue::filled(0);
        value.0[..8].copy_from_slice(&0x0102_0304_FFFF_FFFEu64.to_ne_bytes());
        assert_eq!(value.first_u64(), 0x0102_0304_FFFF_FFFE);
        assert_eq!(value.first_i32(), -2);
    }
}
