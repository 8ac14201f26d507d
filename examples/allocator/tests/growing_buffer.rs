//! The buffer on a simulated driver: no GPU, no driver, no mocks.

use std::sync::atomic::{AtomicU32, Ordering};

use growing_buffer::GrowingBuffer;
use peermap_driver::{
    AllocationProp, ByteSize, Call, CuResult, Device, DevicePtr, Driver, DriverError, HandleType, Intercepted,
    Interceptor, Result, RuleId, Value,
};
use peermap_model::{Grace, Policy, Profile};
use peermap_sim::{MachineOptions, SimMachine, SimProcess};

const GPU: Device = Device(0);
const ROOM: ByteSize = ByteSize::gib(1);
const PIECE: ByteSize = ByteSize::mib(4);

/// Two simulated GPUs, and a process with a context on the first.
fn simulated(options: MachineOptions) -> (SimMachine, SimProcess) {
    let machine = SimMachine::new(Profile::named("h200-x2").unwrap(), options).unwrap();
    let process = machine.process().unwrap();
    process.init(0).unwrap();
    process.ctx_create(0, GPU).unwrap();
    (machine, process)
}

/// What the device reads at an address.
fn bytes_at(driver: &dyn Driver, address: DevicePtr) -> [u8; 16] {
    let mut bytes = [0xEE; 16];
    driver.memcpy_dtoh(&mut bytes, address).unwrap();
    bytes
}

#[test]
fn growth_keeps_address_and_bytes() {
    let (machine, driver) = simulated(MachineOptions::default());
    let mut buffer = GrowingBuffer::reserve(&driver, GPU, ROOM).unwrap();
    let address = buffer.address();
    buffer.grow(PIECE).unwrap();
    driver.memset_d8(address, 0xA7, PIECE).unwrap();
    buffer.grow(PIECE).unwrap();
    assert_eq!((buffer.address(), buffer.size()), (address, ByteSize::mib(8)));
    assert_eq!(bytes_at(&driver, address), [0xA7; 16]);
    assert_eq!(bytes_at(&driver, address.checked_add(PIECE).unwrap()), [0; 16]);
    drop(buffer);
    assert_eq!(machine.holders().unwrap().0, []);
    assert_eq!(driver.misuses(), []);
}

#[test]
fn it_works_however_badly_the_driver_chooses() {
    for seed in 0..32 {
        let policy = Policy::Hostile { seed };
        let (machine, driver) = simulated(MachineOptions { policy, grace: Grace::Never, ..MachineOptions::default() });
        let mut buffers = [(); 3].map(|()| GrowingBuffer::reserve(&driver, GPU, ROOM).unwrap());
        for round in 0..3 {
            for (buffer, value) in buffers.iter_mut().zip(1..) {
                let end = buffer.address().checked_add(buffer.size()).unwrap();
                buffer.grow(PIECE).unwrap();
                driver.memset_d8(end, value + round, PIECE).unwrap();
            }
        }
        for (buffer, value) in buffers.iter().zip(1..) {
            assert_eq!(bytes_at(&driver, buffer.address()), [value; 16], "seed {seed}");
        }
        drop(buffers);
        assert_eq!(machine.holders().unwrap().0, [], "seed {seed}");
    }
}

/// Refuses the call after so many others, once; 0 refuses none.
#[derive(Default)]
struct Refusing {
    in_calls: AtomicU32,
}

impl Interceptor for Refusing {
    fn before(&self, _call: Call, _arguments: &dyn Fn() -> Vec<(&'static str, Value)>) -> Result<()> {
        let counted = self.in_calls.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        match counted {
            Ok(1) => Err(DriverError::refused(CuResult::OUT_OF_MEMORY)),
            _ => Ok(()),
        }
    }

    fn after(&self, _call: Call, _error: Option<&DriverError>) {}
}

/// The calls of one growth: create, map, set access.
const CALLS_TO_GROW: u32 = 3;

#[test]
fn whichever_call_fails_the_buffer_stays_usable_and_nothing_leaks() {
    for refused in 1..=CALLS_TO_GROW {
        let (machine, process) = simulated(MachineOptions::default());
        let driver = Intercepted::new(&process, Refusing::default());
        let mut buffer = GrowingBuffer::reserve(&driver, GPU, ROOM).unwrap();
        buffer.grow(PIECE).unwrap();
        process.memset_d8(buffer.address(), 0xA7, PIECE).unwrap();
        let before = machine.holders().unwrap();

        driver.interceptor().in_calls.store(refused, Ordering::Relaxed);
        assert_eq!(buffer.grow(PIECE).unwrap_err().result(), Some(CuResult::OUT_OF_MEMORY), "call {refused}");

        assert_eq!(machine.holders().unwrap(), before, "call {refused}");
        assert_eq!(buffer.size(), PIECE);
        assert_eq!(bytes_at(&process, buffer.address()), [0xA7; 16]);
        buffer.grow(PIECE).unwrap();
        assert_eq!(driver.interceptor().in_calls.load(Ordering::Relaxed), 0);
        drop(buffer);
        assert_eq!(machine.holders().unwrap().0, []);
    }
}

#[test]
fn a_growth_past_the_reservation_is_refused_before_the_driver_is_asked() {
    let (_machine, driver) = simulated(MachineOptions::default());
    let mut buffer = GrowingBuffer::reserve(&driver, GPU, PIECE).unwrap();
    buffer.grow(PIECE).unwrap();
    assert_eq!(buffer.grow(ByteSize::new(1)).unwrap_err().result(), Some(CuResult::OUT_OF_MEMORY));
    assert_eq!(buffer.size(), PIECE);
}

#[test]
fn a_forgotten_call_is_named_with_the_rule_and_the_mapping() {
    let driver = SimMachine::named("h200-x2").unwrap().process().unwrap();
    driver.init(0).unwrap();
    driver.ctx_create(0, GPU).unwrap();
    let address = driver.mem_address_reserve(PIECE, ByteSize::ZERO, DevicePtr::NULL, 0).unwrap();
    let handle = driver.mem_create(PIECE, &AllocationProp::pinned_on(0, HandleType::NONE), 0).unwrap();
    driver.mem_map(address, PIECE, ByteSize::ZERO, handle, 0).unwrap();
    let error = driver.memset_d8(address, 0xA7, PIECE).unwrap_err(); // mem_set_access was forgotten
    assert_eq!(error.result(), Some(CuResult::INVALID_VALUE)); // the real driver says this and no more
    assert_eq!(error.rule(), Some(RuleId("COPY-1"))); // "… device must have the right to every byte"
    assert_eq!(error.explanation().unwrap().earlier.unwrap().to_string(), "cuMemMap (call 5 of process 0)");
}
