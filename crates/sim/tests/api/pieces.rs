//! Work of several processes on the same memory, in no order.

use std::sync::Barrier;

use peermap_driver::{ByteSize, DevicePtr, Driver};
use peermap_model::{Grace, Policy};
use peermap_sim::SimProcess;

use crate::support::{create, export, import, in_context, machine_with, map, read};

const NON_BLOCKING: u32 = 1;
/// Much, so that two processes that may work at the same time do.
const SIZE: ByteSize = ByteSize::mib(32);
const ROUNDS: usize = 50;

/// Fills two pieces of memory and waits for both fills at once, as often as there are rounds.
fn fill_both(process: &SimProcess, memory: [DevicePtr; 2], value: u8, barrier: &Barrier) {
    let stream = process.stream_create(NON_BLOCKING).unwrap();
    for _ in 0..ROUNDS {
        for ptr in memory {
            process.memset_d8_async(ptr, value, SIZE, stream).unwrap();
        }
        barrier.wait();
        process.stream_synchronize(stream).unwrap();
        barrier.wait();
        // Whoever fills last fills both.
        let found = memory.map(|ptr| read(process, ptr, 1)[0]);
        assert_eq!(found[0], found[1]);
        barrier.wait();
    }
}

#[test]
fn what_one_wait_runs_has_nothing_of_another_process_in_between() {
    let machine = machine_with(Policy::Measured, Grace::Never);
    let owner = in_context(&machine);
    let exported = [0; 2].map(|_| export(&owner, create(&owner, 0, SIZE)));
    let barrier = Barrier::new(2);
    std::thread::scope(|scope| {
        for value in [1, 2] {
            let (machine, exported, barrier) = (&machine, &exported, &barrier);
            scope.spawn(move || {
                let process = in_context(machine);
                let mut memory =
                    exported.each_ref().map(|descriptor| map(&process, import(&process, descriptor).unwrap(), SIZE));
                // One fills them in this order, the other in that.
                memory.rotate_left(usize::from(value - 1));
                fill_both(&process, memory, value, barrier);
            });
        }
    });
}
