//! Questions about addresses: `cuMemGetAddressRange`, `cuPointerGetAttribute`.

use peermap_driver::{ByteSize, DevicePtr, DriverError, PointerAttribute, Result};

use super::space::RangeKind;
use super::{Process, ThreadId};
use crate::rules;
use crate::wire::{Place, Rights};

/// `CU_MEMORYTYPE_HOST` and `CU_MEMORYTYPE_DEVICE`.
const MEMORY_TYPE_HOST: u64 = 1;
const MEMORY_TYPE_DEVICE: u64 = 2;

/// What the attributes of an address are made from.
pub(super) struct Pointee {
    pub(super) context: u64,
    pub(super) start: u64,
    pub(super) range: (u64, u64),
    pub(super) mapping: (u64, u64),
    pub(super) place: Place,
    pub(super) buffer: u64,
    pub(super) legacy: bool,
    pub(super) handle_types: u64,
    pub(super) gpu_direct_rdma: bool,
    /// The raw value of the pool that it is of, or 0.
    pub(super) pool: u64,
    pub(super) rights: Rights,
    /// Whether the current context may call it its own: by a right of its device, or because it opened it.
    pub(super) reachable: bool,
}

impl Process {
    /// `cuMemGetAddressRange`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, RANGE-1 to RANGE-3.
    pub fn mem_get_address_range(&self, thread: ThreadId, ptr: DevicePtr) -> Result<(DevicePtr, ByteSize)> {
        let context = self.current(thread)?;
        if let Some((start, mapping)) = self.mapping_at(ptr) {
            return match mapping.rights.get(self.ordinal_of_context(context)) {
                Rights::None if rules::RANGE_2.is_on() => {
                    Err(rules::RANGE_2.refuse(&[("ptr", &ptr)], Some(mapping.site)))
                }
                _ => Ok((DevicePtr::new(start), ByteSize::new(mapping.size))),
            };
        }
        if let Some(site) = self.out_of_reach(context, ptr)
            && rules::RANGE_3.is_on()
        {
            return Err(rules::RANGE_3.refuse(&[("ptr", &ptr)], Some(site)));
        }
        if let Some((start, opened)) = self.opened_at(ptr) {
            return Ok((DevicePtr::new(start), opened.size));
        }
        if let Some((start, allocation)) = self.pooled_at(ptr) {
            let ordinal = self.ordinal_of_context(context);
            return match self.pool_rights(allocation, ordinal) {
                Rights::None if rules::RANGE_3.is_on() => {
                    Err(rules::RANGE_3.refuse(&[("ptr", &ptr)], Some(allocation.site)))
                }
                _ => Ok((DevicePtr::new(start), allocation.size)),
            };
        }
        match self.legacy_at(ptr) {
            Some((start, allocation)) => Ok((DevicePtr::new(start), allocation.size)),
            None => Err(rules::RANGE_1.refuse(&[("ptr", &ptr)], self.history_of(ptr))),
        }
    }

    /// `cuPointerGetAttribute`.
    ///
    /// # Errors
    /// POINTER-1 to POINTER-3; for the device pointer also FAULT-1, CTX-1 and CTX-3.
    pub fn pointer_get_attribute(&self, thread: ThreadId, attribute: PointerAttribute, ptr: DevicePtr) -> Result<u64> {
        let Some(pointee) = self.pointee(thread, ptr) else {
            return Err(rules::POINTER_1.refuse(&[("ptr", &ptr), ("attribute", &attribute)], self.history_of(ptr)));
        };
        if let Place::Team { .. } = pointee.place {
            return Err(DriverError::NotModelled { what: format!("the attribute {attribute} of a multicast address") });
        }
        let on_device = matches!(pointee.place, Place::Device(_));
        Ok(match attribute {
            PointerAttribute::CONTEXT => pointee.context,
            PointerAttribute::MEMORY_TYPE if on_device => MEMORY_TYPE_DEVICE,
            PointerAttribute::MEMORY_TYPE => MEMORY_TYPE_HOST,
            PointerAttribute::DEVICE_POINTER => {
                self.current(thread)?;
                if !pointee.reachable && rules::POINTER_3.is_on() {
                    return Err(rules::POINTER_3.refuse(&[("ptr", &ptr)], self.history_of(ptr)));
                }
                ptr.get()
            }
            PointerAttribute::BUFFER_ID | PointerAttribute::MEMORY_BLOCK_ID => pointee.buffer,
            PointerAttribute::IS_MANAGED | PointerAttribute::SYNC_MEMOPS => 0,
            PointerAttribute::DEVICE_ORDINAL => match pointee.place {
                Place::Device(device) => self.ordinal_of(device).map_or(u64::MAX, |ordinal| ordinal as u64),
                Place::HostNuma(_) if pointee.pool != 0 => 0,
                Place::HostNuma(_) | Place::Team { .. } => u64::MAX,
            },
            PointerAttribute::IS_LEGACY_CUDA_IPC_CAPABLE => u64::from(pointee.legacy),
            PointerAttribute::RANGE_START_ADDR => pointee.range.0,
            PointerAttribute::RANGE_SIZE => pointee.range.1,
            PointerAttribute::MAPPED => 1,
            PointerAttribute::ALLOWED_HANDLE_TYPES => pointee.handle_types,
            PointerAttribute::IS_GPU_DIRECT_RDMA_CAPABLE => u64::from(pointee.gpu_direct_rdma),
            PointerAttribute::ACCESS_FLAGS => match pointee.rights {
                Rights::None => 0,
                Rights::Read => 1,
                Rights::ReadWrite => 3,
            },
            PointerAttribute::MEMPOOL_HANDLE => pointee.pool,
            PointerAttribute::MAPPING_SIZE => pointee.mapping.1,
            PointerAttribute::MAPPING_BASE_ADDR => pointee.mapping.0,
            other => {
                return Err(
                    rules::POINTER_2.refuse(&[("attribute", &other), ("start", &DevicePtr::new(pointee.start))], None)
                );
            }
        })
    }

    fn pointee(&self, thread: ThreadId, ptr: DevicePtr) -> Option<Pointee> {
        let current = self.ctx_get_current(thread);
        let ordinal = current.map(|context| self.ordinal_of_context(context));
        if let Some((start, mapping)) = self.mapping_at(ptr) {
            let prop = self.handles.get(&mapping.handle).map(|record| record.prop)?;
            let reservation = self.space.containing(ptr.get()).filter(|range| range.kind == RangeKind::Reservation);
            let buffer = self.handles.get(&mapping.handle).map_or(0, |record| record.alloc.0 + 1);
            return Some(Pointee {
                context: 0,
                start,
                range: reservation.map_or((0, 0), |range| (range.start, range.size)),
                mapping: (start, mapping.size),
                place: mapping.place,
                buffer,
                legacy: false,
                handle_types: u64::from(prop.requested_handle_types.0),
                gpu_direct_rdma: prop.gpu_direct_rdma,
                pool: 0,
                rights: ordinal.map_or(Rights::None, |ordinal| mapping.rights.get(ordinal)),
                reachable: ordinal.is_some_and(|ordinal| mapping.rights.get(ordinal) != Rights::None),
            });
        }
        if let Some((start, opened)) = self.opened_at(ptr) {
            // The driver names the device that the memory was opened on, not the one that it lies on.
            let device = self.visible[self.ordinal_of_context(opened.context)];
            return Some(opened.pointee(start, Place::Device(device), current));
        }
        if let Some((start, allocation)) = self.pooled_at(ptr) {
            return Some(self.pool_pointee(start, allocation, ordinal));
        }
        let (start, allocation) = self.legacy_at(ptr)?;
        Some(Pointee {
            context: allocation.context,
            start,
            range: (start, allocation.size.get()),
            mapping: (start, allocation.size.get()),
            place: Place::Device(self.visible[allocation.ordinal]),
            buffer: allocation.alloc.0 + 1,
            legacy: true,
            handle_types: 0,
            gpu_direct_rdma: true,
            pool: 0,
            rights: Rights::ReadWrite,
            reachable: true,
        })
    }
}
