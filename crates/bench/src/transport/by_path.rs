//! Descriptors as NVIDIA's samples send them: a datagram socket that is found by its path, and one descriptor a message.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    SocketAddrUnix, recvmsg, sendmsg_addr,
};
use tempfile::TempDir;

use super::PATIENCE;
use crate::clock::nanoseconds;
use crate::error::BenchError;
use crate::suite::{Group, Output, Planned};

pub(super) fn group<'r>(count: usize) -> Planned<'r> {
    Planned {
        outputs: vec![Output::time("round_trip_by_path")],
        parameters: vec![("descriptors", count.to_string())],
        make: Box::new(move || {
            let started = ByPath::start(count);
            Ok(Box::new(started.map_err(|error| BenchError::NotHere(format!("a socket with a path: {error}")))?))
        }),
    }
}

struct ByPath {
    socket: UnixDatagram,
    there: SocketAddrUnix,
    other: Option<JoinHandle<std::io::Result<()>>>,
    sent: File,
    count: usize,
    _folder: TempDir,
}

/// The message that ends the other side.
const END: &[u8] = b"end";

impl ByPath {
    fn start(count: usize) -> std::io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| -> PathBuf { folder.path().join(name) };
        let bind = |path: &Path| {
            let socket = UnixDatagram::bind(path)?;
            socket.set_read_timeout(Some(PATIENCE))?;
            std::io::Result::Ok(socket)
        };
        let (socket, theirs) = (bind(&path("here"))?, bind(&path("there"))?);
        let (here, there) = (path("here"), SocketAddrUnix::new(path("there"))?);
        let other = thread::spawn(move || answer(&theirs, &here, count));
        Ok(Self { socket, there, other: Some(other), sent: File::open("/dev/null")?, count, _folder: folder })
    }

    fn round_trip(&self) -> std::io::Result<()> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        for _ in 0..self.count {
            let mut control = SendAncillaryBuffer::new(&mut space);
            let descriptors = [self.sent.as_fd()];
            control.push(SendAncillaryMessage::ScmRights(&descriptors));
            sendmsg_addr(&self.socket, &self.there, &[IoSlice::new(b"take")], &mut control, SendFlags::empty())?;
        }
        let mut taken = [0; 8];
        self.socket.recv(&mut taken).map(|_| ())
    }
}

/// Takes so many descriptors, closes them and answers, until it is told to end.
fn answer(socket: &UnixDatagram, back: &Path, count: usize) -> std::io::Result<()> {
    loop {
        for _ in 0..count {
            let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
            let mut control = RecvAncillaryBuffer::new(&mut space);
            let mut bytes = [0; 8];
            let message = recvmsg(socket, &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC)?;
            if bytes[..message.bytes] == *END {
                return Ok(());
            }
            let taken = control.drain().filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors.collect::<Vec<OwnedFd>>()),
                _ => None,
            });
            drop(taken.collect::<Vec<_>>());
        }
        socket.send_to(b"taken", back)?;
    }
}

impl Group for ByPath {
    fn sample(&mut self) -> Result<Vec<f64>, BenchError> {
        let start = Instant::now();
        let done = self.round_trip();
        done.map_err(|error| BenchError::Run(format!("a message by path: {error}")))?;
        Ok(vec![nanoseconds(start.elapsed())])
    }
}

impl Drop for ByPath {
    fn drop(&mut self) {
        if let (Some(path), Some(other)) = (self.there.path(), self.other.take()) {
            // Where it cannot be told, its patience ends it.
            drop(self.socket.send_to(END, Path::new(&*path.to_string_lossy())));
            drop(other.join());
        }
    }
}
