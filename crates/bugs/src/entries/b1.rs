//! B1: small tensors share a block; the receiver read the first of them whichever was sent.
//!
//! A legacy handle names an allocation, not a place in it: whoever sends one sends the distance from the start of the allocation
//! too. With that the reader sees the writer's bytes, for any block, place and length. Measured, the handle of a small allocation
//! opens at that allocation, although it shares its block with others.

use peermap_driver::{ByteSize, Device, DevicePtr};

use crate::expect::same;
use crate::peer::Peer;
use crate::process::{Process, behind};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// How many allocations share blocks.
const TENSORS: usize = 12;

/// How much is read at once.
const MOST_READ: u64 = 4096;

struct Tensor {
    ptr: DevicePtr,
    bytes: Vec<u8>,
}

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let machine = stage.machine()?;
    let process = machine.process()?;
    process.context(0)?;
    let mut reader = machine.peer()?;
    reader.context(Device(0))??;
    let tensors = (0..TENSORS).map(|_| tensor(&process, &mut random)).collect::<Result<Vec<_>, _>>()?;
    for _ in 0..4 * TENSORS {
        let tensor = &tensors[random.usize(0..TENSORS)];
        let offset = random.u64(0..tensor.bytes.len() as u64);
        send_and_read(&process, &mut *reader, tensor, offset)?;
    }
    tensors.iter().try_for_each(|tensor| Ok(process.mem_free(tensor.ptr)?))
}

fn tensor(process: &Process, random: &mut fastrand::Rng) -> Result<Tensor, Trouble> {
    let bytes: Vec<u8> = (0..random.usize(1..100_000)).map(|_| random.u8(..)).collect();
    let ptr = process.mem_alloc(ByteSize::from(bytes.len()))?;
    process.memcpy_htod(ptr, &bytes)?;
    Ok(Tensor { ptr, bytes })
}

fn send_and_read(process: &Process, reader: &mut dyn Peer, tensor: &Tensor, offset: u64) -> Result<(), Trouble> {
    let sent = behind(tensor.ptr, offset);
    let handle = process.ipc_get_mem_handle(sent)?;
    let (start, size) = process.mem_get_address_range(sent)?;
    same("the allocation", (start, size), (tensor.ptr, ByteSize::from(tensor.bytes.len())))?;
    let opened = reader.open(&handle)??;
    let begin = tensor.bytes.get(..1).unwrap_or_default().to_vec();
    same("the first byte of what opens", reader.read(opened, 1)??, begin)?;
    let count = (size.get() - offset).min(MOST_READ) as usize;
    let written = tensor.bytes.iter().skip(offset as usize).take(count).copied().collect();
    same("the bytes at the distance that was sent", reader.read(behind(opened, offset), count)??, written)?;
    Ok(reader.close(opened)??)
}
