//! A driver that hangs, crashes or ends its process, depending on the call.

use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, raise};
use peermap_driver::{
    AccessDesc, AccessFlags, AllocationProp, Argument, ByteSize, Call, Context, CuResult, Device, DeviceAttribute,
    DevicePtr, Driver, DriverError, Event, Function, FunctionAttribute, GranularityOption, HandleType, HostAccess,
    HostPtr, IpcEventHandle, IpcMemHandle, JitOptions, KernelArg, LaunchConfig, Location, MemHandle, MemInfo, MemPool,
    MemPoolAttribute, MemPoolProps, MemPoolPtrExportData, Module, MulticastObjectProp, OsHandle, PointerAttribute,
    Result, ShareableHandle, Stream, Uuid, Value, for_each_call,
};
use peermap_ipc::{Channel, exit_now};

use crate::stage::CHANNEL;

struct Misbehaving;

/// No call of it succeeds.
fn refuse(call: Call, arguments: &[Value]) -> DriverError {
    match (call, arguments) {
        (Call::cuMemRelease, _) => crash(Signal::SIGSEGV),
        (Call::cuMemMap, _) => crash(Signal::SIGABRT),
        (Call::cuCtxSynchronize, _) => thread::sleep(Duration::MAX),
        (Call::cuMemUnmap, _) => exit_now(3),
        (Call::cuMemImportFromShareableHandle, [Value::Number(number), _]) if *number == i128::from(i32::MAX) => {
            return DriverError::refused(CuResult::INVALID_VALUE);
        }
        (Call::cuMemImportFromShareableHandle, _) => return DriverError::refused(CuResult::UNKNOWN),
        _ => {}
    }
    DriverError::refused(CuResult::NOT_SUPPORTED)
}

/// The handler of the standard library, which looks for stack overflows, lets the first signal pass.
fn crash(signal: Signal) -> ! {
    loop {
        raise(signal).expect("a process may signal itself");
    }
}

macro_rules! misbehave {
    ($(
        $(#[$doc:meta])*
        $cuda:ident [$($unsafety:tt)*] $name:ident ( $($arg:ident : $kind:ty),* $(,)? ) -> $output:ty;
    )*) => {
        impl Driver for Misbehaving {
            $(
                $($unsafety)* fn $name(&self, $($arg: $kind),*) -> Result<$output> {
                    Err(refuse(Call::$cuda, &[$(Argument::value(&$arg)),*]))
                }
            )*
        }
    };
}

for_each_call!(misbehave);

impl HostAccess for Misbehaving {}

/// Plays a process of a trace.
pub fn play() -> ExitCode {
    let channel = Channel::to_parent(CHANNEL).expect("the parent handed it over");
    let open = || match std::env::args().next_back().as_deref() {
        Some("Nothing") => Err("no driver".to_owned()),
        Some("Hang") => loop {
            thread::sleep(Duration::MAX);
        },
        Some("Death") => crash(Signal::SIGKILL),
        _ => Ok(Box::new(Misbehaving) as Box<dyn Driver>),
    };
    match peermap_trace::player_main(channel, open) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}
