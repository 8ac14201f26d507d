//! Shared memory: handed over as a sealed memory file, beside memory that the other side finds by a name, as NVIDIA's samples
//! do it.
//!
//! Both are measured from nothing until the other side has mapped the memory, written a word and said so.

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use memmap2::MmapMut;
use peermap_ipc::{Channel, Deadline, SharedMemory};
use rustix::fs::{Mode, ftruncate};
use rustix::io::Errno;
use rustix::shm;

use super::PATIENCE;
use super::other_end::OtherEnd;
use crate::clock::between;
use crate::error::BenchError;
use crate::suite::{Group, Output, Planned};

/// What the samples share is smaller; a page is what it takes.
const BYTES: usize = 4096;

pub(super) fn group<'r>() -> Planned<'r> {
    Planned {
        outputs: ["memory_by_descriptor", "memory_by_name"].map(Output::time).to_vec(),
        parameters: vec![("bytes", BYTES.to_string())],
        make: Box::new(|| Ok(Box::new(Memory { other: OtherEnd::start(answer)? }))),
    }
}

struct Memory {
    other: OtherEnd,
}

/// Maps what it is handed or told the name of, writes a word and answers.
fn answer(channel: &Channel) -> Result<(), BenchError> {
    loop {
        let mut received = channel.recv(1, Deadline::NEVER)?;
        match received.fds.pop() {
            Some(memory) => by_descriptor(memory)?,
            None => by_name(&String::from_utf8_lossy(&received.payload))?,
        }
        channel.send(b"mapped", &[], Deadline::after(PATIENCE))?;
    }
}

fn by_descriptor(memory: OwnedFd) -> Result<(), BenchError> {
    let memory = SharedMemory::from_fd(memory, BYTES).map_err(failed)?;
    memory.atomics()[0].store(1, Ordering::Release);
    Ok(())
}

fn by_name(name: &str) -> Result<(), BenchError> {
    let file = File::from(shm::open(name, shm::OFlags::RDWR, Mode::empty()).map_err(failed)?);
    write_a_word(&file)
}

#[expect(
    unsafe_code,
    reason = "memory that has a name can be changed by others: that is why nothing else here has one"
)]
fn write_a_word(file: &File) -> Result<(), BenchError> {
    // SAFETY: "All file-backed memory map constructors are marked unsafe because of the potential for Undefined Behavior using
    // the map if the underlying file is subsequently modified": this file has a name of this process, and both threads that
    // know it write one word each and read none.
    let mut memory = unsafe { MmapMut::map_mut(file) }.map_err(failed)?;
    memory[..4].copy_from_slice(&1_u32.to_ne_bytes());
    Ok(())
}

fn failed(error: impl std::error::Error) -> BenchError {
    BenchError::Run(format!("shared memory: {error}"))
}

/// Makes shared memory under a name that nobody has: each number of this process is taken once, and a name that a killed
/// process of the same id left behind is passed over.
fn create_named() -> Result<(String, File), BenchError> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let flags = shm::OFlags::CREATE | shm::OFlags::EXCL | shm::OFlags::RDWR;
    loop {
        let name = format!("/peermap-bench-{}-{}", process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        match shm::open(&name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(memory) => return Ok((name, File::from(memory))),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(failed(error)),
        }
    }
}

impl Memory {
    fn hand_over(&self) -> Result<(), BenchError> {
        let channel = self.other.channel();
        let memory = SharedMemory::create("bench", BYTES).map_err(failed)?;
        channel.send(b"map", &[memory.as_fd()], Deadline::after(PATIENCE))?;
        channel.recv(0, Deadline::after(PATIENCE))?;
        Ok(())
    }

    fn tell_the_name(&self) -> Result<(), BenchError> {
        let channel = self.other.channel();
        let (name, file) = create_named()?;
        let told = ftruncate(&file, BYTES as u64).map_err(failed).and_then(|()| {
            write_a_word(&file)?;
            channel.send(name.as_bytes(), &[], Deadline::after(PATIENCE))?;
            Ok(channel.recv(0, Deadline::after(PATIENCE))?)
        });
        let unlinked = shm::unlink(&name).map_err(failed);
        told.and(unlinked)
    }
}

impl Group for Memory {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let start = Instant::now();
        self.hand_over()?;
        let handed_over = Instant::now();
        self.tell_the_name()?;
        let end = Instant::now();
        Ok(between(&[start, handed_over, end]))
    }
}
