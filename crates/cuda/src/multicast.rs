//! Multicast: teams of devices. Closed unless the owner of the machine opens it.
//!
//! On some hosts these calls have put GPUs out of service for everybody, so none of them reaches the library without
//! [`VARIABLE`]. Nothing of this project sets it.

use std::env;
use std::ffi::OsStr;

use peermap_driver::{
    ByteSize, CuResult, Device, DevicePtr, DriverError, Explanation, GranularityOption, MemHandle, MulticastObjectProp,
    Result, RuleId,
};

use crate::driver::CudaDriver;
use crate::layout::CuMulticastObjectProp;
use crate::library::Library;

/// What the owner of the machine sets to 1.
const VARIABLE: &str = "PEERMAP_ALLOW_MULTICAST";

/// Whether multicast calls may reach the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    Closed,
    Open,
}

impl Door {
    /// As the environment of this process says.
    pub(crate) fn of_environment() -> Self {
        Self::of(env::var_os(VARIABLE).as_deref())
    }

    fn of(value: Option<&OsStr>) -> Self {
        if value.is_some_and(|value| value == "1") { Self::Open } else { Self::Closed }
    }
}

/// The refusal of a call that the owner has not allowed.
fn closed() -> DriverError {
    let explanation = Explanation {
        rule: RuleId("MULTICAST-0"),
        sentence: "multicast can put the GPUs of a host out of service for everybody; only its owner may allow it, \
                   with PEERMAP_ALLOW_MULTICAST=1",
        facts: Vec::new(),
        earlier: None,
    };
    DriverError::Refused { result: CuResult::NOT_PERMITTED, explanation: Some(Box::new(explanation)) }
}

impl CudaDriver {
    /// The library, for a multicast call.
    fn multicast(&self) -> Result<&Library> {
        match self.door {
            Door::Open => Ok(&self.library),
            Door::Closed => Err(closed()),
        }
    }

    pub(crate) fn multicast_create(&self, prop: &MulticastObjectProp) -> Result<MemHandle> {
        let library = self.multicast()?;
        let prop = CuMulticastObjectProp::from(prop);
        let mut raw = 0;
        // SAFETY: `cuMulticastCreate` reads one `CUmulticastObjectProp` and writes one handle, which is 64 bits.
        unsafe { library.multicast_create(&raw mut raw, &raw const prop) }?;
        // SAFETY: the driver gave this handle out just now.
        Ok(unsafe { MemHandle::from_raw(raw) })
    }

    pub(crate) fn multicast_add_device(&self, mc_handle: MemHandle, device: Device) -> Result<()> {
        // SAFETY: a `MemHandle` holds what the driver gave out; who made one from another number answered for it there.
        unsafe { self.multicast()?.multicast_add_device(mc_handle.as_raw(), device.0) }
    }

    pub(crate) fn multicast_bind_mem(
        &self,
        mc_handle: MemHandle,
        mc_offset: ByteSize,
        mem_handle: MemHandle,
        mem_offset: ByteSize,
        size: ByteSize,
        flags: u64,
    ) -> Result<()> {
        let library = self.multicast()?;
        let (team, memory) = (mc_handle.as_raw(), mem_handle.as_raw());
        // SAFETY: `cuMulticastBindMem` checks offsets and size; the handles are as in `multicast_add_device`.
        unsafe { library.multicast_bind_mem(team, mc_offset.get(), memory, mem_offset.get(), size.get(), flags) }
    }

    pub(crate) fn multicast_bind_addr(
        &self,
        mc_handle: MemHandle,
        mc_offset: ByteSize,
        memptr: DevicePtr,
        size: ByteSize,
        flags: u64,
    ) -> Result<()> {
        let library = self.multicast()?;
        let team = mc_handle.as_raw();
        // SAFETY: `cuMulticastBindAddr` looks the address up and checks offset and size; the handle is as above.
        unsafe { library.multicast_bind_addr(team, mc_offset.get(), memptr.get(), size.get(), flags) }
    }

    pub(crate) fn multicast_unbind(
        &self,
        mc_handle: MemHandle,
        device: Device,
        mc_offset: ByteSize,
        size: ByteSize,
    ) -> Result<()> {
        // SAFETY: what does not match a bind is undefined in what it unbinds, not in memory of the host; the handle is as above.
        unsafe { self.multicast()?.multicast_unbind(mc_handle.as_raw(), device.0, mc_offset.get(), size.get()) }
    }

    pub(crate) fn multicast_get_granularity(
        &self,
        prop: &MulticastObjectProp,
        option: GranularityOption,
    ) -> Result<ByteSize> {
        let library = self.multicast()?;
        let prop = CuMulticastObjectProp::from(prop);
        let mut granularity = 0;
        // SAFETY: `cuMulticastGetGranularity` reads one `CUmulticastObjectProp` and writes one `size_t`.
        unsafe { library.multicast_get_granularity(&raw mut granularity, &raw const prop, option.0) }?;
        Ok(ByteSize::new(granularity))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use peermap_driver::HandleType;

    use super::*;

    thread_local! {
        /// What the library of this thread's test was asked.
        static ASKED: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    }

    fn note(call: &str, arguments: &[u64]) -> u32 {
        ASKED.with_borrow_mut(|asked| asked.push(format!("{call} {arguments:?}")));
        0
    }

    fn noted_prop(call: &str, prop: *const CuMulticastObjectProp, further: u64) -> u32 {
        // SAFETY: the functions under test pass a structure that lives for the call.
        let CuMulticastObjectProp { num_devices, size, handle_types, flags } = unsafe { *prop };
        note(call, &[num_devices.into(), size, handle_types, flags, further])
    }

    unsafe extern "C" fn create(handle: *mut u64, prop: *const CuMulticastObjectProp) -> u32 {
        // SAFETY: the functions under test pass a place for the answer.
        unsafe { *handle = 77 };
        noted_prop("create", prop, 0)
    }

    unsafe extern "C" fn add_device(handle: u64, device: i32) -> u32 {
        note("add", &[handle, u64::from(device.cast_unsigned())])
    }

    unsafe extern "C" fn bind_mem(team: u64, at: u64, memory: u64, from: u64, size: u64, flags: u64) -> u32 {
        note("bind_mem", &[team, at, memory, from, size, flags])
    }

    unsafe extern "C" fn bind_addr(team: u64, at: u64, address: u64, size: u64, flags: u64) -> u32 {
        note("bind_addr", &[team, at, address, size, flags])
    }

    unsafe extern "C" fn unbind(team: u64, device: i32, at: u64, size: u64) -> u32 {
        note("unbind", &[team, u64::from(device.cast_unsigned()), at, size]);
        CuResult::ILLEGAL_STATE.code()
    }

    unsafe extern "C" fn granularity(size: *mut u64, prop: *const CuMulticastObjectProp, option: u32) -> u32 {
        // SAFETY: the functions under test pass a place for the answer.
        unsafe { *size = 512 << 20 };
        noted_prop("granularity", prop, option.into())
    }

    /// A driver whose library writes down what it is asked, and is no library at all.
    fn recording(door: Door) -> CudaDriver {
        let library = Library {
            multicast_create: Some(create),
            multicast_add_device: Some(add_device),
            multicast_bind_mem: Some(bind_mem),
            multicast_bind_addr: Some(bind_addr),
            multicast_unbind: Some(unbind),
            multicast_get_granularity: Some(granularity),
            ..Library::without_functions()
        };
        CudaDriver { library, door }
    }

    const PROP: MulticastObjectProp = MulticastObjectProp {
        num_devices: 8,
        size: ByteSize::mib(4),
        handle_types: HandleType::POSIX_FILE_DESCRIPTOR.with(HandleType::FABRIC),
        flags: 5,
    };

    /// Makes each call once.
    fn every_call(driver: &CudaDriver) -> [Result<u64>; 6] {
        // SAFETY: no driver sees it.
        let handle = |raw| unsafe { MemHandle::from_raw(raw) };
        let (team, memory) = (handle(77), handle(9));
        let [one, two, three] = [1, 2, 3].map(ByteSize::new);
        [
            driver.multicast_get_granularity(&PROP, GranularityOption::RECOMMENDED).map(ByteSize::get),
            driver.multicast_create(&PROP).map(MemHandle::as_raw),
            driver.multicast_add_device(team, Device(6)).map(|()| 0),
            driver.multicast_bind_mem(team, one, memory, two, three, 4).map(|()| 0),
            driver.multicast_bind_addr(team, one, DevicePtr::new(0xA000), three, 4).map(|()| 0),
            driver.multicast_unbind(team, Device(6), one, three).map(|()| 0),
        ]
    }

    #[test]
    fn a_closed_door_lets_no_call_reach_the_library() {
        let answers = every_call(&recording(Door::Closed));
        for answer in answers {
            let error = answer.unwrap_err();
            assert_eq!(error.result(), Some(CuResult::NOT_PERMITTED));
            assert!(error.to_string().contains("PEERMAP_ALLOW_MULTICAST=1"), "{error}");
        }
        assert_eq!(ASKED.take(), Vec::<String>::new());
    }

    #[test]
    fn every_argument_reaches_the_library_in_its_place_and_every_answer_comes_back() {
        let answers = every_call(&recording(Door::Open));
        let illegal = Err(DriverError::refused(CuResult::ILLEGAL_STATE));
        assert_eq!(answers, [Ok(512 << 20), Ok(77), Ok(0), Ok(0), Ok(0), illegal]);
        assert_eq!(
            ASKED.take(),
            [
                "granularity [8, 4194304, 9, 5, 1]",
                "create [8, 4194304, 9, 5, 0]",
                "add [77, 6]",
                "bind_mem [77, 1, 9, 2, 3, 4]",
                "bind_addr [77, 1, 40960, 3, 4]",
                "unbind [77, 6, 1, 3]",
            ]
        );
    }

    #[test]
    fn a_library_without_multicast_does_not_support_it() {
        let driver = CudaDriver { library: Library::without_functions(), door: Door::Open };
        assert!(every_call(&driver).iter().all(|answer| *answer == Err(DriverError::refused(CuResult::NOT_SUPPORTED))));
    }

    #[test]
    fn only_the_one_value_opens_the_door() {
        let said = [None, Some(""), Some("0"), Some("yes"), Some("11"), Some("1")];
        let doors = said.map(|value| Door::of(value.map(OsStr::new)));
        assert_eq!(doors, [Door::Closed, Door::Closed, Door::Closed, Door::Closed, Door::Closed, Door::Open]);
    }
}
