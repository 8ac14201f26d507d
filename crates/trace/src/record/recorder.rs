//! The recorder: a driver around a driver.

use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};

use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, ByteSize, Call, Context, CuResult, Device, DeviceAttribute, DevicePtr,
    Driver, Event, Function, FunctionAttribute, GranularityOption, HandleType, HostAccess, HostPtr, IpcEventHandle,
    IpcMemHandle, JitOptions, KernelArg, LaunchConfig, Location, MemHandle, MemInfo, MemPool, MemPoolAttribute,
    MemPoolProps, MemPoolPtrExportData, Module, MulticastObjectProp, OsHandle, PointerAttribute, Result,
    ShareableHandle, Stream, Uuid, for_each_call,
};

use super::argument::Argument;
use super::output::Gives;
use super::recording::Recording;

/// A driver that writes each call that passes through it, with its answer, as a step of a [`Recording`].
///
/// Calls that the format has no place for pass through unwritten, and are counted ([`Recording::omitted`]). The end of the
/// process is recorded when this is dropped.
///
/// # Portability
/// The format knows one thread a process, and steps that follow one another. Calls of several threads are written in the
/// order in which they came back, as if one thread had made them.
pub struct Recorder<D: Driver, W: Write> {
    driver: D,
    recording: Recording<W>,
    process: u32,
}

impl<D: Driver, W: Write> Recorder<D, W> {
    pub(super) const fn new(driver: D, recording: Recording<W>, process: u32) -> Self {
        Self { driver, recording, process }
    }

    /// Closes a descriptor that this process exported or was sent, and records that it did: a driver does not see it.
    pub fn close(&self, fd: OwnedFd) {
        let number = fd.as_raw_fd();
        drop(fd);
        self.recording.note_close(self.process, number);
    }
}

impl<D: Driver, W: Write> Drop for Recorder<D, W> {
    fn drop(&mut self) {
        self.recording.note_end(self.process);
    }
}

macro_rules! record {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        impl<D: Driver, W: Write + Send> Driver for Recorder<D, W> {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    // SAFETY: an unsafe call has the contract of the method around it, which its caller upholds.
                    let answer = $($unsafety)* { self.driver.$name($($arg),*) };
                    let given = [$((stringify!($arg), Argument::given(&$arg))),*];
                    self.recording.note(self.process, Call::$cuda, &given, answer.as_ref().map(Gives::output));
                    answer
                }
            )*
        }
    };
}

for_each_call!(record);

/// No call of CUDA, so nothing of a recording.
impl<D: Driver, W: Write> HostAccess for Recorder<D, W> {
    fn host_read(&self, dst: &mut [u8], src: DevicePtr) -> Result<()> {
        self.driver.host_read(dst, src)
    }

    fn host_write(&self, dst: DevicePtr, src: &[u8]) -> Result<()> {
        self.driver.host_write(dst, src)
    }
}
