//! Copies and fills: who may, and what is queued.

use std::sync::Arc;

use peermap_driver::{ByteSize, DevicePtr, Dim3, DriverError, Result, Stream};

use super::mapping::Mapping;
use super::queue::{Plan, Wait, WorkId};
use super::shared_event::SharedWait;
use super::{Process, ThreadId};
use crate::rules;
use crate::wire::{Place, Rights};

/// One end of a copy: an address, and the device whose page table says which bytes it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Operand {
    /// The ordinal of the device.
    pub ordinal: usize,
    /// The address.
    pub ptr: DevicePtr,
}

/// Queued work as data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operation {
    /// Nothing: it only waits for others.
    Join,
    /// An event passes.
    Mark {
        /// The raw value of the event.
        event: u64,
        /// What it is to other processes, if it is shared with any.
        shared: Option<SharedWait>,
    },
    /// Wait for another process.
    Await(SharedWait),
    /// Fill with a byte.
    Fill {
        /// Where.
        dst: Operand,
        /// With what.
        value: u8,
        /// How much.
        size: ByteSize,
    },
    /// Copy between device addresses.
    Copy {
        /// Where to.
        dst: Operand,
        /// Where from.
        src: Operand,
        /// How much.
        size: ByteSize,
    },
    /// Copy from host memory that its caller keeps until the item has ended.
    FromHost {
        /// Where to.
        dst: Operand,
        /// The host address.
        src: u64,
        /// How much.
        size: ByteSize,
    },
    /// Copy to host memory that its caller keeps until the item has ended.
    ToHost {
        /// The host address.
        dst: u64,
        /// Where from.
        src: Operand,
        /// How much.
        size: ByteSize,
    },
    /// Run a kernel.
    Kernel {
        /// The device.
        ordinal: usize,
        /// The code, as whoever loaded it numbers it.
        code: u64,
        /// Blocks.
        grid: Dim3,
        /// Threads of a block.
        block: Dim3,
        /// Dynamic shared memory of a block.
        shared: ByteSize,
        /// The parameters as the kernel reads them.
        parameters: Arc<[u8]>,
        /// Where the variables of its module start; null if it has none.
        data: DevicePtr,
    },
}

impl Operation {
    /// The device that does it, if one does.
    #[must_use]
    pub const fn device(&self) -> Option<usize> {
        match self {
            Self::Fill { dst, .. } | Self::Copy { dst, .. } | Self::FromHost { dst, .. } => Some(dst.ordinal),
            Self::ToHost { src, .. } => Some(src.ordinal),
            Self::Kernel { ordinal, .. } => Some(*ordinal),
            Self::Join | Self::Mark { .. } | Self::Await(_) => None,
        }
    }

    /// Whether any range of device memory that it names is of a kind. A kernel names what its parameters may point to, of which the
    /// size is not known: which of them are pointers is not known either, but pointers lie at multiples of their size.
    pub(super) fn names(&self, is_it: impl Fn(DevicePtr, ByteSize) -> bool) -> bool {
        match self {
            Self::Join | Self::Mark { .. } | Self::Await(_) => false,
            Self::Fill { dst, size, .. } | Self::FromHost { dst, size, .. } => is_it(dst.ptr, *size),
            Self::ToHost { src, size, .. } => is_it(src.ptr, *size),
            Self::Copy { dst, src, size } => is_it(dst.ptr, *size) || is_it(src.ptr, *size),
            Self::Kernel { parameters, .. } => {
                let (words, _) = parameters.as_chunks::<8>();
                words.iter().any(|word| is_it(DevicePtr::new(u64::from_le_bytes(*word)), ByteSize::new(1)))
            }
        }
    }

    /// Whether it is more than a mark, or a wait for one.
    pub(super) const fn is_work(&self) -> bool {
        !matches!(self, Self::Join | Self::Mark { .. } | Self::Await(_))
    }

    /// What a copy or a fill writes: where, and how much.
    #[must_use]
    pub const fn overwrites(&self) -> Option<(&Operand, ByteSize)> {
        match self {
            Self::Fill { dst, size, .. } | Self::Copy { dst, size, .. } | Self::FromHost { dst, size, .. } => {
                Some((dst, *size))
            }
            Self::Join | Self::Mark { .. } | Self::Await(_) | Self::ToHost { .. } | Self::Kernel { .. } => None,
        }
    }
}

impl Process {
    /// Whether a copy engine of a context may reach a whole range.
    fn check_range(&self, context: u64, ptr: DevicePtr, size: ByteSize, needed: Rights) -> Result<Operand> {
        let ordinal = self.ordinal_of_context(context);
        let end = ptr.get().saturating_add(size.get());
        if let Some((start, allocation)) = self.legacy_at(ptr)
            && rules::COPY_1.is_on()
        {
            if start + allocation.mapped.get() >= end {
                return Ok(Operand { ordinal: allocation.ordinal, ptr });
            }
            return Err(rules::COPY_1.refuse(&[("ptr", &ptr), ("size", &size)], Some(allocation.site)));
        }
        if let Some((start, opened)) = self.opened_at(ptr)
            && rules::COPY_1.is_on()
        {
            if start + opened.mapped.get() >= end {
                return Ok(Operand { ordinal: self.ordinal_of_context(opened.context), ptr });
            }
            return Err(rules::COPY_1.refuse(&[("ptr", &ptr), ("size", &size)], Some(opened.site)));
        }
        if let Some((start, allocation)) = self.pooled_at(ptr)
            && rules::COPY_1.is_on()
        {
            let rights = self.pool_rights(allocation, ordinal);
            if rights == Rights::ReadWrite && start + allocation.size.get() >= end {
                return Ok(Operand { ordinal, ptr });
            }
            return Err(rules::COPY_1.refuse(&[("ptr", &ptr), ("size", &size)], Some(allocation.site)));
        }
        let mut reached = ptr;
        while reached.get() < end {
            let found = self.mapping_at(reached).filter(|(_, mapping)| allows(mapping, ordinal, needed));
            let Some((start, mapping)) = found else {
                let facts: [(&str, &dyn peermap_driver::Argument); 3] =
                    [("ptr", &ptr), ("size", &size), ("refused_at", &reached)];
                return Err(rules::COPY_1.refuse(&facts, self.history_of(reached)));
            };
            if needed == Rights::Read && matches!(mapping.place, Place::Team { .. }) {
                let what =
                    format!("a copy from the multicast address {reached}, which only multimem instructions read");
                return Err(DriverError::NotModelled { what });
            }
            reached = DevicePtr::new(start + mapping.size);
        }
        Ok(Operand { ordinal, ptr })
    }

    /// Whether a context reaches legacy memory. A copy does without: it goes by the context that has the memory.
    fn check_reach(&self, context: u64, ptr: DevicePtr, size: ByteSize) -> Result<()> {
        match self.out_of_reach(context, ptr) {
            Some(site) if rules::COPY_2.is_on() => {
                Err(rules::COPY_2.refuse(&[("ptr", &ptr), ("size", &size)], Some(site)))
            }
            _ => Ok(()),
        }
    }

    /// Whether a range may be an end of a copy.
    fn check_end(&self, context: u64, ptr: DevicePtr, size: ByteSize, needed: Rights) -> Result<Operand> {
        if let Some((_, allocation)) = self.pooled_at(ptr)
            && !self.pool_is_on_device(allocation)
            && rules::COPY_3.is_on()
        {
            return Err(rules::COPY_3.refuse(&[("ptr", &ptr), ("size", &size)], Some(allocation.site)));
        }
        self.check_range(context, ptr, size, needed)
    }

    /// `cuMemsetD8` and `cuMemsetD8Async`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, COPY-1, COPY-2.
    pub fn memset_d8(
        &mut self,
        thread: ThreadId,
        ptr: DevicePtr,
        value: u8,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        let key = self.stream_key(thread, stream)?;
        let dst = self.check_range(key.context, ptr, size, Rights::ReadWrite)?;
        self.check_reach(key.context, ptr, size)?;
        self.enqueue(key, Operation::Fill { dst, value, size });
        Ok(())
    }

    /// `cuMemcpyDtoD` and `cuMemcpyDtoDAsync`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, COPY-1, COPY-3.
    pub fn memcpy_dtod(
        &mut self,
        thread: ThreadId,
        dst: DevicePtr,
        src: DevicePtr,
        size: ByteSize,
        stream: Stream,
    ) -> Result<()> {
        let key = self.stream_key(thread, stream)?;
        // Two H200 refuse what the current context's device may not reach, whichever context the stream is of.
        let current = self.current(thread)?;
        if current != key.context {
            self.check_end(current, src, size, Rights::Read)?;
            self.check_end(current, dst, size, Rights::ReadWrite)?;
        }
        let src = self.check_end(key.context, src, size, Rights::Read)?;
        let dst = self.check_end(key.context, dst, size, Rights::ReadWrite)?;
        self.enqueue(key, Operation::Copy { dst, src, size });
        Ok(())
    }

    /// `cuMemcpyHtoDAsync`, and the queued part of `cuMemcpyHtoD`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, COPY-1, COPY-3.
    pub fn memcpy_htod(
        &mut self,
        thread: ThreadId,
        dst: DevicePtr,
        src: u64,
        size: ByteSize,
        stream: Stream,
    ) -> Result<WorkId> {
        let key = self.stream_key(thread, stream)?;
        let dst = self.check_end(key.context, dst, size, Rights::ReadWrite)?;
        Ok(self.enqueue(key, Operation::FromHost { dst, src, size }))
    }

    /// `cuMemcpyDtoHAsync`, and the queued part of `cuMemcpyDtoH`.
    ///
    /// # Errors
    /// FAULT-1, CTX-1, CTX-3, STREAM-2, COPY-1, COPY-3.
    pub fn memcpy_dtoh(
        &mut self,
        thread: ThreadId,
        dst: u64,
        src: DevicePtr,
        size: ByteSize,
        stream: Stream,
    ) -> Result<WorkId> {
        let key = self.stream_key(thread, stream)?;
        let src = self.check_end(key.context, src, size, Rights::Read)?;
        Ok(self.enqueue(key, Operation::ToHost { dst, src, size }))
    }

    /// What must have ended for an item to have ended.
    #[must_use]
    pub fn plan_for(&mut self, work: WorkId) -> Plan {
        self.work_is_waited_for(work);
        self.plan(&Wait::Work(work))
    }
}

fn allows(mapping: &Mapping, ordinal: usize, needed: Rights) -> bool {
    match mapping.rights.get(ordinal) {
        Rights::ReadWrite => true,
        Rights::Read => needed == Rights::Read,
        Rights::None => false,
    }
}
