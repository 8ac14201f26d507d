//! A driver for unit tests: devices with attributes, contexts with peers. Everything else is not modelled.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, Call, Context, CuResult, Device, DeviceAttribute, DevicePtr,
    Driver, DriverError, Event, Function, FunctionAttribute, GranularityOption, HandleType, HostAccess, HostPtr,
    IpcEventHandle, IpcMemHandle, JitOptions, KernelArg, LaunchConfig, Location, MemHandle, MemInfo, MemPool,
    MemPoolAttribute, MemPoolProps, MemPoolPtrExportData, Module, MulticastObjectProp, OsHandle, PointerAttribute,
    Result, ShareableHandle, Stream, Uuid, for_each_call,
};

/// The attributes of a device.
#[derive(Clone, Copy)]
pub(crate) struct MockDevice {
    pub(crate) virtual_memory: i32,
    pub(crate) unified_addressing: i32,
    pub(crate) posix_fd: i32,
    pub(crate) compute_mode: i32,
}

impl Default for MockDevice {
    fn default() -> Self {
        Self { virtual_memory: 1, unified_addressing: 1, posix_fd: 1, compute_mode: 0 }
    }
}

#[derive(Default)]
struct State {
    contexts: BTreeMap<u64, Device>,
    made: u64,
    current: Option<Context>,
    peers: BTreeSet<(u64, u64)>,
}

/// A driver with devices, contexts and peers.
#[derive(Default)]
pub(crate) struct MockDriver {
    devices: Vec<MockDevice>,
    missing: BTreeSet<(i32, i32)>,
    max_peers: Option<usize>,
    /// What it answers about teams.
    teams: Option<CuResult>,
    state: Mutex<State>,
}

impl MockDriver {
    pub(crate) fn with_devices(count: usize) -> Self {
        Self { devices: vec![MockDevice::default(); count], ..Self::default() }
    }

    /// Changes a device.
    pub(crate) fn device(mut self, ordinal: usize, device: MockDevice) -> Self {
        self.devices[ordinal] = device;
        self
    }

    /// Takes away the way from one device to another; the way back stays.
    pub(crate) fn one_way(mut self, from: i32, to: i32) -> Self {
        self.missing.insert((from, to));
        self
    }

    /// How many peers a context can have.
    pub(crate) fn max_peers(mut self, count: usize) -> Self {
        self.max_peers = Some(count);
        self
    }

    /// What it answers who asks for the granularity of teams.
    pub(crate) fn granularity_of_teams(mut self, answer: CuResult) -> Self {
        self.teams = Some(answer);
        self
    }

    pub(crate) fn live_contexts(&self) -> usize {
        self.state().contexts.len()
    }

    pub(crate) fn contexts_made(&self) -> u64 {
        self.state().made
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics with the lock")
    }
}

/// What the mock answers; `None`: it does not model the call.
impl MockDriver {
    fn count(&self) -> Result<i32> {
        Ok(i32::try_from(self.devices.len()).expect("a test has few devices"))
    }

    fn attribute(&self, attribute: DeviceAttribute, device: Device) -> Result<i32> {
        let device = self.devices[usize::try_from(device.0).expect("ordinals count from 0")];
        Ok(match attribute {
            DeviceAttribute::VIRTUAL_ADDRESS_MANAGEMENT_SUPPORTED => device.virtual_memory,
            DeviceAttribute::UNIFIED_ADDRESSING => device.unified_addressing,
            DeviceAttribute::HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED => device.posix_fd,
            DeviceAttribute::COMPUTE_MODE => device.compute_mode,
            other => return Err(DriverError::NotModelled { what: other.to_string() }),
        })
    }

    fn uuid(&self, device: Device) -> Result<Uuid> {
        let mut bytes = [0; 16];
        bytes[..4].copy_from_slice(&(device.0 + 1).to_be_bytes());
        Ok(Uuid(bytes))
    }

    fn granularity(&self) -> Result<ByteSize> {
        match self.teams {
            Some(CuResult::SUCCESS) => Ok(ByteSize::mib(2)),
            Some(refused) => Err(DriverError::refused(refused)),
            None => Err(DriverError::NotModelled { what: "teams".to_owned() }),
        }
    }

    fn create_context(&self, device: Device) -> Result<Context> {
        let mut state = self.state();
        state.made += 1;
        let number = state.made;
        state.contexts.insert(number, device);
        // SAFETY: this driver follows no number as a pointer.
        let context = unsafe { Context::from_raw(number) };
        state.current = Some(context);
        Ok(context)
    }

    fn destroy_context(&self, context: Context) -> Result<()> {
        let mut state = self.state();
        let number = context.as_raw();
        state.peers.retain(|(one, other)| *one != number && *other != number);
        state.contexts.remove(&number).map(drop).ok_or(DriverError::refused(CuResult::INVALID_CONTEXT))
    }

    fn enable_peer(&self, peer: Context) -> Result<()> {
        let mut state = self.state();
        let current = state.current.ok_or(DriverError::refused(CuResult::INVALID_CONTEXT))?.as_raw();
        let peers = state.peers.iter().filter(|(one, _)| *one == current).count();
        if self.max_peers == Some(peers) {
            return Err(DriverError::refused(CuResult::TOO_MANY_PEERS));
        }
        state.peers.insert((current, peer.as_raw()));
        Ok(())
    }

    fn disable_peer(&self, peer: Context) -> Result<()> {
        let mut state = self.state();
        let current = state.current.ok_or(DriverError::refused(CuResult::INVALID_CONTEXT))?.as_raw();
        let was_enabled = state.peers.remove(&(current, peer.as_raw()));
        was_enabled.then_some(()).ok_or(DriverError::refused(CuResult::PEER_ACCESS_NOT_ENABLED))
    }
}

/// The answer of a call: the expression that the mock has for it, or that it is not modelled.
macro_rules! answer {
    (device_get_count, $mock:ident ()) => { $mock.count() };
    (device_get, $mock:ident ($ordinal:ident)) => { Ok(Device($ordinal)) };
    (device_get_name, $mock:ident ($device:ident)) => { Ok(format!("mock {}", $device.0)) };
    (device_get_uuid, $mock:ident ($device:ident)) => { $mock.uuid($device) };
    (device_get_attribute, $mock:ident ($attribute:ident, $device:ident)) => { $mock.attribute($attribute, $device) };
    (device_can_access_peer, $mock:ident ($device:ident, $peer:ident)) => {
        Ok(!$mock.missing.contains(&($device.0, $peer.0)))
    };
    (multicast_get_granularity, $mock:ident ($prop:ident, $option:ident)) => {{
        let _ = ($prop, $option);
        $mock.granularity()
    }};
    (ctx_create, $mock:ident ($flags:ident, $device:ident)) => {{ let _ = $flags; $mock.create_context($device) }};
    (ctx_destroy, $mock:ident ($context:ident)) => { $mock.destroy_context($context) };
    (ctx_set_current, $mock:ident ($context:ident)) => {{ $mock.state().current = $context; Ok(()) }};
    (ctx_enable_peer_access, $mock:ident ($peer:ident, $flags:ident)) => {{ let _ = $flags; $mock.enable_peer($peer) }};
    (ctx_disable_peer_access, $mock:ident ($peer:ident)) => { $mock.disable_peer($peer) };
    ($name:ident, $mock:ident ($($arg:ident),*)) => {{
        $(let _ = &$arg;)*
        Err(DriverError::NotModelled { what: stringify!($name).to_owned() })
    }};
}

macro_rules! mock {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        impl Driver for MockDriver {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    let mock = self;
                    let _: (&Self, Call) = (mock, Call::$cuda);
                    answer!($name, mock($($arg),*))
                }
            )*
        }
    };
}

for_each_call!(mock);

impl HostAccess for MockDriver {}
