//! Kernels that wait for each other, with nothing else that would make the other run.

use peermap_driver::{DevicePtr, Driver, Stream};
use peermap_model::{Grace, Policy};

use crate::support::{GRANULE, export, import, in_context, machine_with, map, mapped, offset, read};
use crate::waiting_kernel::{await_and_tell, queue};

const NON_BLOCKING: u32 = 1;

fn word(driver: &dyn Driver, at: DevicePtr) -> u32 {
    u32::from_le_bytes(read(driver, at, 4).try_into().unwrap())
}

#[test]
fn a_kernel_waits_for_a_copy_on_another_stream() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let (_, flag) = mapped(&process, GRANULE);
    let streams = [0; 2].map(|_| process.stream_create(NON_BLOCKING).unwrap());
    queue(&process, await_and_tell(&process), streams[0], (flag, 0x0505_0505), (offset(flag, 8), 7));
    process.memset_d8_async(flag, 5, peermap_driver::ByteSize::new(4), streams[1]).unwrap();
    process.stream_synchronize(streams[0]).unwrap();
    assert_eq!(word(&process, offset(flag, 8)), 7);
}

/// Each of two kernels waits for what the other does next, several times over.
#[test]
fn two_streams_take_turns() {
    let process = in_context(&machine_with(Policy::Measured, Grace::Never));
    let (_, flag) = mapped(&process, GRANULE);
    let kernel = await_and_tell(&process);
    let streams = [0; 2].map(|_| process.stream_create(NON_BLOCKING).unwrap());
    for step in 0..20 {
        queue(&process, kernel, streams[step as usize % 2], (flag, step), (flag, step + 1));
    }
    process.stream_synchronize(streams[1]).unwrap();
    assert_eq!(word(&process, flag), 20);
}

#[test]
fn two_processes_of_one_machine_take_turns() {
    let machine = machine_with(Policy::Measured, Grace::Never);
    let (one, other) = (in_context(&machine), in_context(&machine));
    let (handle, flag) = mapped(&one, GRANULE);
    let flags = [flag, map(&other, import(&other, &export(&one, handle)).unwrap(), GRANULE)];
    for step in 0..10 {
        let (process, flag) = if step % 2 == 0 { (&one, flags[0]) } else { (&other, flags[1]) };
        queue(process, await_and_tell(process), Stream::NULL, (flag, step), (flag, step + 1));
    }
    one.ctx_synchronize().unwrap();
    other.ctx_synchronize().unwrap();
    assert_eq!(word(&one, flag), 10);
}
