//! Fills, verification and copies on a device, timed by its events: the real one where there is one, else a simulated one.

use std::rc::Rc;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use peermap_bench::{Alone, BenchError, Effort, Group, MemoryKind, OnDevice, Rig, SUITES, TimedStream};
use peermap_cuda::CudaDriver;
use peermap_driver::{ByteSize, Driver};
use peermap_sim::SimMachine;

/// A device with a stream. It lives as long as the process, as criterion asks of what it measures with.
pub struct Lab {
    rig: &'static Rig<'static>,
    timed: Rc<TimedStream<'static>>,
}

impl Lab {
    /// The first device of the real driver where one answers, else a simulated one. Standard error says why.
    ///
    /// # Panics
    /// If the driver refuses what every driver grants.
    #[must_use]
    pub fn open() -> Self {
        let real = CudaDriver::open().and_then(|driver| driver.check_devices().map(|_| driver));
        match real {
            Ok(driver) => Self::on(driver, false),
            Err(error) => {
                eprintln!("simulated: {error}");
                let machine = SimMachine::named("default").expect("the host can back a machine");
                Self::on(machine.process().expect("the host can back a process"), true)
            }
        }
    }

    fn on(driver: impl Driver + 'static, simulated: bool) -> Self {
        let driver: &'static dyn Driver = Box::leak(Box::new(driver));
        let rig = Rig::new(driver, &Alone, Effort::FULL, simulated).expect("each device gets a context");
        let rig: &'static Rig<'static> = Box::leak(Box::new(rig));
        Self { rig, timed: Rc::new(TimedStream::new(driver).expect("a stream with two events")) }
    }

    /// Whether the times are those of this host, which does the work of simulated devices.
    #[must_use]
    pub const fn is_simulated(&self) -> bool {
        self.rig.simulated
    }

    /// The clock of the device.
    #[must_use]
    pub fn clock(&self) -> DeviceTime {
        DeviceTime { timed: Rc::clone(&self.timed), format: WallTime }
    }

    /// Memory that this process has mapped.
    ///
    /// # Errors
    /// [`BenchError::NotHere`] if simulated memory is not moved in such pieces; else if the driver refuses.
    pub fn memory(&self, size: ByteSize) -> Result<OnDevice<'static>, BenchError> {
        OnDevice::new(self.rig, Rc::clone(&self.timed), size, MemoryKind::Mapped, 0)
    }

    /// What the suite of `peermap bench` does with the same memory: a rate in 1e9 bytes a second for each
    /// [`DeviceWork`](peermap_bench::DeviceWork).
    ///
    /// # Errors
    /// As [`memory`](Self::memory).
    ///
    /// # Panics
    /// If the suite does not measure this size.
    pub fn suite(&self, size: ByteSize) -> Result<Box<dyn Group>, BenchError> {
        let suite = SUITES.iter().find(|suite| suite.name() == "bandwidth").expect("there is a suite of that name");
        let ours = [("memory", MemoryKind::Mapped.name().to_owned()), ("size", size.to_string())];
        let planned = suite.plan(self.rig).into_iter().find(|planned| planned.parameters == ours);
        (planned.expect("the suite measures every size").make)()
    }
}

/// The time that a device takes for what is queued on a stream, between an event before it and one behind it. What the host does
/// meanwhile does not count, unless the device waits for it.
///
/// # Units
/// Nanoseconds.
pub struct DeviceTime {
    timed: Rc<TimedStream<'static>>,
    format: WallTime,
}

impl Measurement for DeviceTime {
    type Intermediate = ();
    type Value = f64;

    fn start(&self) {
        self.timed.begin().expect("an event is recorded");
    }

    fn end(&self, (): ()) -> f64 {
        self.timed.end().expect("the work ends")
    }

    fn add(&self, one: &f64, other: &f64) -> f64 {
        one + other
    }

    fn zero(&self) -> f64 {
        0.0
    }

    fn to_f64(&self, nanoseconds: &f64) -> f64 {
        *nanoseconds
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self.format.formatter()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use peermap_bench::DeviceWork;

    use super::*;

    #[test]
    fn the_clock_sees_the_work_and_not_what_the_host_does_before_it() {
        let machine = SimMachine::named("default").unwrap();
        let lab = Lab::on(machine.process().unwrap(), true);
        let (memory, clock) = (lab.memory(ByteSize::mib(16)).unwrap(), lab.clock());
        let wall = Instant::now();
        clock.start();
        memory.queue_row(DeviceWork::Fill).unwrap();
        let device = clock.end(());
        let wall = wall.elapsed().as_secs_f64() * 1e9;
        assert!(device > 0.0 && device <= wall, "{device} of {wall}");
        memory.check().unwrap();
    }

    #[test]
    fn the_suite_measures_the_same_work_in_the_same_order() {
        let machine = SimMachine::named("default").unwrap();
        let lab = Lab::on(machine.process().unwrap(), true);
        let rates = lab.suite(OnDevice::SIZES[0]).unwrap().sample().unwrap();
        assert_eq!(rates.len(), DeviceWork::ALL.len());
        assert!(matches!(lab.memory(ByteSize::mib(1024)), Err(BenchError::NotHere(_))));
    }
}
