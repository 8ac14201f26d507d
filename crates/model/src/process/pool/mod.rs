//! Memory pools: which there are, what they are set to, and which one a device allocates from.
//!
//! `room.rs` knows the addresses of one pool, `seen.rs` which synchronisation lets freed memory go, `alloc.rs` allocates
//! and frees, `share.rs` hands pools to other processes.

mod alloc;
mod room;
mod seen;
mod share;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeBounds;

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationType, Argument, ByteSize, CallSite, Device, DeviceAttribute, DevicePtr,
    HandleType, Location, LocationType, MemPool, MemPoolAttribute, MemPoolProps, Result,
};

use super::mapping::RightsMap;
use super::query::Pointee;
use super::{Outside, Process};
use crate::rule::Rule;
use crate::rules;
use crate::wire::{POOL_UNIT as UNIT, Place, PoolId, Rights};
pub(super) use alloc::freed_twice;
use room::Room;
pub(super) use seen::{Frees, Ticket};

/// An allocation of a pool.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolAllocation {
    /// As asked for.
    pub(super) size: ByteSize,
    pool: u64,
    /// Whether it was imported inside an import that is still open, which has the room and is what addresses belong to.
    nested: bool,
    pub(super) site: CallSite,
}

/// Where a pool comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Origin {
    /// The device has it from the start.
    Default,
    /// This process made it.
    Made,
    /// Another process made it; it was imported so often more than destroyed.
    Imported(u32),
}

/// A value and the highest that it ever was.
#[derive(Clone, Copy, Debug, Default)]
struct HighWater {
    current: u64,
    high: u64,
}

impl HighWater {
    fn set(&mut self, current: u64) {
        self.current = current;
        self.high = self.high.max(current);
    }
}

/// A pool that exists, or of which allocations do.
#[derive(Debug)]
struct PoolState {
    origin: Origin,
    place: Place,
    handle_types: HandleType,
    /// The most units, if there is a most.
    most_units: Option<u64>,
    room: Room,
    rights: RightsMap,
    /// Follow event dependencies, opportunistic, internal dependencies.
    reuse: [bool; 3],
    release_threshold: u64,
    reserved_high: u64,
    used: HighWater,
    /// What it is to other processes, once it was exported.
    shared: Option<PoolId>,
    /// Destroyed; it lasts until its last allocation is freed and the work before has ended.
    destroyed: bool,
    site: CallSite,
}

/// The pools of a process.
#[derive(Debug, Default)]
pub(super) struct Pools {
    all: BTreeMap<u64, PoolState>,
    /// Values that were pools.
    gone: BTreeSet<u64>,
    /// The default pools by device.
    defaults: BTreeMap<usize, u64>,
    /// The current pools by device, where they are not the default ones.
    current: BTreeMap<usize, u64>,
    allocations: BTreeMap<u64, PoolAllocation>,
}

impl Pools {
    /// Where allocations start in a range of addresses, upwards.
    pub(super) fn starts(&self, addresses: impl RangeBounds<u64>) -> impl DoubleEndedIterator<Item = u64> {
        let found = self.allocations.range(addresses);
        found.filter(|(_, allocation)| !allocation.nested).map(|(start, _)| *start)
    }
}

impl PoolState {
    const fn is_imported(&self) -> bool {
        matches!(self.origin, Origin::Imported(_))
    }
}

impl Process {
    /// The allocation of a pool that holds an address, with its start.
    pub(super) fn pooled_at(&self, address: DevicePtr) -> Option<(u64, &PoolAllocation)> {
        let mut before = self.pools.allocations.range(..=address.get()).rev();
        let (start, allocation) = before.find(|(_, allocation)| !allocation.nested)?;
        (address.get() < start + allocation.size.get()).then_some((*start, allocation))
    }

    /// Which rights a device has on an allocation.
    pub(super) fn pool_rights(&self, allocation: &PoolAllocation, ordinal: usize) -> Rights {
        self.pools.all[&allocation.pool].rights.get(ordinal)
    }

    /// Whether the memory of an allocation lies on a device.
    pub(super) fn pool_is_on_device(&self, allocation: &PoolAllocation) -> bool {
        matches!(self.pools.all[&allocation.pool].place, Place::Device(_))
    }

    /// What the attributes of an allocation of a pool are made from.
    pub(super) fn pool_pointee(&self, start: u64, allocation: &PoolAllocation, ordinal: Option<usize>) -> Pointee {
        let pool = &self.pools.all[&allocation.pool];
        let on_device = matches!(pool.place, Place::Device(_));
        let unit = (start - pool.room.base) / UNIT;
        Pointee {
            context: 0,
            start,
            range: (if on_device { start } else { 0 }, allocation.size.get()),
            mapping: (pool.room.address_of(unit), UNIT),
            place: pool.place,
            pool: allocation.pool,
            buffer: 1 + pool.room.unit(unit).map_or(0, |unit| unit.alloc.0),
            legacy: false,
            handle_types: match pool.origin {
                Origin::Imported(_) => 0,
                Origin::Default | Origin::Made => u64::from(pool.handle_types.0),
            },
            gpu_direct_rdma: false,
            // The attribute always says both; whether the address can be had goes by the device.
            rights: Rights::ReadWrite,
            reachable: ordinal.is_some_and(|ordinal| pool.rights.get(ordinal) != Rights::None),
        }
    }

    /// A pool that exists.
    fn pool(&self, pool: MemPool) -> Result<&PoolState> {
        if let Some(state) = self.pools.all.get(&pool.as_raw()).filter(|state| !state.destroyed) {
            return Ok(state);
        }
        if pool == MemPool::NULL || self.pools.gone.contains(&pool.as_raw()) {
            return Err(rules::POOL_1.refuse(&[("pool", &pool)], None));
        }
        match self.pools.all.get(&pool.as_raw()) {
            Some(destroyed) => Err(rules::POOL_1.refuse(&[("pool", &pool)], Some(destroyed.site))),
            None => Err(rules::HANDLE_2.crash(&[("pool", &pool)], None)),
        }
    }

    /// A pool that exists and is no other process's.
    fn own_pool(&self, pool: MemPool) -> Result<&PoolState> {
        let state = self.pool(pool)?;
        match state.origin {
            Origin::Imported(_) => Err(rules::POOL_2.refuse(&[("pool", &pool)], Some(state.site))),
            Origin::Default | Origin::Made => Ok(state),
        }
    }

    /// A pool that was looked up before.
    fn pool_mut(&mut self, pool: u64) -> &mut PoolState {
        self.pools.all.get_mut(&pool).expect("the pool was looked up")
    }

    fn new_pool(&mut self, origin: Origin, place: Place, handle_types: HandleType) -> u64 {
        let pool = self.new_opaque();
        let mut rights = RightsMap::default();
        if let Place::Device(device) = place
            && let Some(ordinal) = self.ordinal_of(device)
        {
            rights.set(ordinal, Rights::ReadWrite);
        }
        let state = PoolState {
            origin,
            place,
            handle_types,
            most_units: None,
            room: Room::default(),
            rights,
            reuse: [true; 3],
            release_threshold: 0,
            reserved_high: 0,
            used: HighWater::default(),
            shared: None,
            destroyed: false,
            site: self.site,
        };
        self.pools.all.insert(pool, state);
        pool
    }

    /// `cuDeviceGetDefaultMemPool`: the raw value of the pool.
    ///
    /// # Errors
    /// DEVICE-1.
    pub fn device_get_default_mem_pool(&mut self, device: Device) -> Result<u64> {
        self.device(device)?;
        Ok(self.default_pool(usize::try_from(device.0).unwrap_or(0)))
    }

    fn default_pool(&mut self, ordinal: usize) -> u64 {
        if let Some(pool) = self.pools.defaults.get(&ordinal) {
            return *pool;
        }
        let pool = self.new_pool(Origin::Default, Place::Device(self.visible[ordinal]), HandleType::NONE);
        self.pools.defaults.insert(ordinal, pool);
        pool
    }

    /// The pool that a device allocates from.
    fn current_pool(&mut self, ordinal: usize) -> u64 {
        match self.pools.current.get(&ordinal) {
            Some(pool) => *pool,
            None => self.default_pool(ordinal),
        }
    }

    /// The ordinal of a device, for calls that know no such device as an invalid value.
    fn pool_ordinal(&self, device: Device) -> Result<usize> {
        let ordinal = self.device_of(device.0).and_then(|_| usize::try_from(device.0).ok());
        ordinal.ok_or_else(|| rules::POOL_9.refuse(&[("device", &device)], None))
    }

    /// `cuDeviceGetMemPool`: the raw value of the pool.
    ///
    /// # Errors
    /// POOL-9.
    pub fn device_get_mem_pool(&mut self, device: Device) -> Result<u64> {
        let ordinal = self.pool_ordinal(device)?;
        Ok(self.current_pool(ordinal))
    }

    /// `cuDeviceSetMemPool`.
    ///
    /// # Errors
    /// POOL-9, POOL-1, POOL-2, POOL-10.
    pub fn device_set_mem_pool(&mut self, device: Device, pool: MemPool) -> Result<()> {
        let ordinal = self.pool_ordinal(device)?;
        let state = self.own_pool(pool)?;
        if state.place != Place::Device(self.visible[ordinal]) && rules::POOL_10.is_on() {
            return Err(rules::POOL_10.refuse(&[("device", &device), ("pool", &pool)], Some(state.site)));
        }
        self.pools.current.insert(ordinal, pool.as_raw());
        Ok(())
    }

    /// `cuMemPoolCreate`: the raw value of the pool.
    ///
    /// # Errors
    /// POOL-3 to POOL-5.
    pub fn mem_pool_create(&mut self, props: &MemPoolProps) -> Result<u64> {
        let refuse = |rule: &'static Rule, name, value: &dyn Argument| Err(rule.refuse(&[(name, value)], None));
        if props.allocation_type != AllocationType::PINNED && rules::POOL_3.is_on() {
            return refuse(&rules::POOL_3, "type", &props.allocation_type.0);
        }
        let Location { kind, id } = props.location;
        let device = (kind == LocationType::DEVICE).then(|| self.device_of(id)).flatten();
        if !self.pool_handle_types(device).contains(props.handle_types) && rules::POOL_4.is_on() {
            return refuse(&rules::POOL_4, "handle_types", &props.handle_types);
        }
        let node = |node: i32| {
            u16::try_from(node).ok().filter(|node| *node < self.profile.host_numa_nodes).map(Place::HostNuma)
        };
        let place = match kind {
            LocationType::DEVICE => device.map(Place::Device),
            LocationType::HOST if props.handle_types == HandleType::NONE => node(0),
            LocationType::HOST_NUMA => node(id),
            _ => None,
        };
        let Some(place) = place else { return refuse(&rules::POOL_5, "location", &props.location) };
        let pool = self.new_pool(Origin::Made, place, props.handle_types);
        let most = Some(props.max_size.get()).filter(|most| *most != 0);
        self.pool_mut(pool).most_units = most.map(|most| most.div_ceil(UNIT));
        Ok(pool)
    }

    /// The ways in which pools of a device can be shared, or of the host if there is no such device.
    fn pool_handle_types(&self, device: Option<u16>) -> HandleType {
        let attribute = DeviceAttribute::MEMPOOL_SUPPORTED_HANDLE_TYPES;
        let types = device.and_then(|device| self.profile.devices[usize::from(device)].attribute(attribute));
        let all = HandleType::POSIX_FILE_DESCRIPTOR.with(HandleType::FABRIC);
        types.map_or(all, |types| HandleType(types.cast_unsigned()))
    }

    /// `cuMemPoolDestroy`.
    ///
    /// # Errors
    /// POOL-1, POOL-6, POOL-11.
    pub fn mem_pool_destroy(&mut self, outside: &mut Outside<'_>, pool: MemPool) -> Result<()> {
        let state = self.pool(pool)?;
        let (origin, in_use, site) = (state.origin, !state.room.is_empty(), state.site);
        match origin {
            Origin::Default if rules::POOL_6.is_on() => {
                return Err(rules::POOL_6.refuse(&[("pool", &pool)], Some(site)));
            }
            Origin::Imported(_) if in_use && rules::POOL_11.is_on() => {
                let left = self.pools.allocations.values().find(|allocation| allocation.pool == pool.as_raw());
                return Err(rules::POOL_11.refuse(&[("pool", &pool)], left.map(|allocation| allocation.site)));
            }
            Origin::Imported(opens) if opens > 1 => {
                self.pool_mut(pool.as_raw()).origin = Origin::Imported(opens - 1);
                return Ok(());
            }
            Origin::Default | Origin::Made | Origin::Imported(_) => {}
        }
        self.pools.current.retain(|_, current| *current != pool.as_raw());
        self.pool_mut(pool.as_raw()).destroyed = true;
        let idle = self.pool_is_idle(&self.pools.all[&pool.as_raw()]);
        if idle { self.remove_pool(outside, pool.as_raw()) } else { Ok(()) }
    }

    /// `cuMemPoolGetAttribute`.
    ///
    /// # Errors
    /// POOL-1, POOL-2, POOL-12.
    pub fn mem_pool_get_attribute(&self, pool: MemPool, attribute: MemPoolAttribute) -> Result<u64> {
        let state = self.own_pool(pool)?;
        Ok(match attribute {
            MemPoolAttribute::REUSE_FOLLOW_EVENT_DEPENDENCIES => u64::from(state.reuse[0]),
            MemPoolAttribute::REUSE_ALLOW_OPPORTUNISTIC => u64::from(state.reuse[1]),
            MemPoolAttribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES => u64::from(state.reuse[2]),
            MemPoolAttribute::RELEASE_THRESHOLD => state.release_threshold,
            MemPoolAttribute::RESERVED_MEM_CURRENT => state.room.reserved(),
            MemPoolAttribute::RESERVED_MEM_HIGH => state.reserved_high,
            MemPoolAttribute::USED_MEM_CURRENT => state.used.current,
            MemPoolAttribute::USED_MEM_HIGH => state.used.high,
            other => return Err(rules::POOL_12.refuse(&[("attribute", &other)], None)),
        })
    }

    /// `cuMemPoolSetAttribute`.
    ///
    /// # Errors
    /// POOL-1, POOL-2, POOL-12, POOL-13.
    pub fn mem_pool_set_attribute(&mut self, pool: MemPool, attribute: MemPoolAttribute, value: u64) -> Result<()> {
        self.own_pool(pool)?;
        let is_high_water = matches!(attribute, MemPoolAttribute::RESERVED_MEM_HIGH | MemPoolAttribute::USED_MEM_HIGH);
        if is_high_water && value != 0 && rules::POOL_13.is_on() {
            return Err(rules::POOL_13.refuse(&[("attribute", &attribute), ("value", &value)], None));
        }
        let state = self.pool_mut(pool.as_raw());
        match attribute {
            MemPoolAttribute::REUSE_FOLLOW_EVENT_DEPENDENCIES => state.reuse[0] = value != 0,
            MemPoolAttribute::REUSE_ALLOW_OPPORTUNISTIC => state.reuse[1] = value != 0,
            MemPoolAttribute::REUSE_ALLOW_INTERNAL_DEPENDENCIES => state.reuse[2] = value != 0,
            MemPoolAttribute::RELEASE_THRESHOLD => state.release_threshold = value,
            MemPoolAttribute::RESERVED_MEM_HIGH => state.reserved_high = state.room.reserved(),
            MemPoolAttribute::USED_MEM_HIGH => state.used.high = state.used.current,
            other => return Err(rules::POOL_12.refuse(&[("attribute", &other)], None)),
        }
        Ok(())
    }

    /// `cuMemPoolSetAccess`. All or nothing: a call that is refused changes no right.
    ///
    /// # Errors
    /// POOL-1, POOL-14 to POOL-16.
    pub fn mem_pool_set_access(&mut self, outside: &mut Outside<'_>, pool: MemPool, desc: &[AccessDesc]) -> Result<()> {
        let place = self.pool(pool)?.place;
        let grants = desc.iter().map(|one| self.check_pool_grant(place, one)).collect::<Result<Vec<_>>>()?;
        for (ordinal, rights) in grants.into_iter().flatten() {
            let state = self.pool_mut(pool.as_raw());
            state.rights.set(ordinal, rights);
            for (number, unit) in state.room.units() {
                let (address, size) = (state.room.address_of(number), ByteSize::new(UNIT));
                match rights {
                    Rights::None => outside.tables.clear(ordinal, address, size),
                    Rights::Read | Rights::ReadWrite => {
                        outside.tables.set(ordinal, address, size, unit.backing, rights);
                    }
                }
            }
        }
        Ok(())
    }

    /// Which device gets which rights. `None`: the host, which always has them on its own memory.
    fn check_pool_grant(&self, place: Place, desc: &AccessDesc) -> Result<Option<(usize, Rights)>> {
        let AccessDesc { location, flags } = *desc;
        let own_host = location.kind == LocationType::HOST && matches!(place, Place::HostNuma(_));
        if own_host && flags == AccessFlags::READWRITE {
            return Ok(None);
        }
        let unsupported = location.kind != LocationType::DEVICE || flags == AccessFlags::READ;
        if unsupported && rules::POOL_16.is_on() {
            return Err(rules::POOL_16.refuse(&[("desc", desc)], None));
        }
        let seen = self.device_of(location.id).zip(usize::try_from(location.id).ok());
        let reachable = |device: u16| match place {
            Place::Device(own) => own == device || self.profile.connected(device, own),
            Place::HostNuma(_) => true,
            Place::Team { .. } => false,
        };
        let Some((device, ordinal)) = seen.filter(|(device, _)| reachable(*device)) else {
            return Err(rules::POOL_14.refuse(&[("desc", desc)], None));
        };
        match flags {
            AccessFlags::READWRITE => Ok(Some((ordinal, Rights::ReadWrite))),
            AccessFlags::NONE if place == Place::Device(device) && rules::POOL_15.is_on() => {
                Err(rules::POOL_15.refuse(&[("desc", desc)], None))
            }
            AccessFlags::NONE => Ok(Some((ordinal, Rights::None))),
            _ => Err(rules::POOL_25.refuse(&[("desc", desc)], None)),
        }
    }

    /// `cuMemPoolGetAccess`.
    ///
    /// # Errors
    /// POOL-1, POOL-17.
    pub fn mem_pool_get_access(&self, pool: MemPool, location: Location) -> Result<AccessFlags> {
        let state = self.pool(pool)?;
        let all_or_nothing = |all| if all { AccessFlags::READWRITE } else { AccessFlags::NONE };
        let ordinal = self.device_of(location.id).and_then(|_| usize::try_from(location.id).ok());
        match (location.kind, ordinal) {
            (LocationType::HOST | LocationType::HOST_NUMA, _) => {
                Ok(all_or_nothing(matches!(state.place, Place::HostNuma(_))))
            }
            (LocationType::DEVICE, Some(ordinal)) => Ok(all_or_nothing(state.rights.get(ordinal) != Rights::None)),
            _ => Err(rules::POOL_17.refuse(&[("location", &location)], None)),
        }
    }
}
