//! One `recvmsg` call, and the descriptors in its control data.
//!
//! nix hides the control data of a message that the kernel truncated, so the descriptors that did arrive could never be
//! closed. That is why this file calls `recvmsg` itself.

use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};

use nix::errno::Errno;

use super::MAX_FDS_PER_MESSAGE;

/// `CMSG_DATA` of a control message begins behind its header, aligned to a machine word.
const HEADER: usize = size_of::<libc::cmsghdr>();

/// Room for all the descriptors of a message, and for other control messages that an owner of the socket switched on.
const CONTROL: usize = 2048;
const _: () = assert!(CONTROL >= HEADER + MAX_FDS_PER_MESSAGE * size_of::<RawFd>() + 512);

/// Control data. The kernel wants the first header aligned as `cmsghdr` is.
#[repr(C, align(8))]
struct ControlBuffer([u8; CONTROL]);

/// What the kernel delivered.
pub(super) struct RawMessage {
    pub(super) payload: Vec<u8>,
    pub(super) fds: Vec<OwnedFd>,
    /// The kernel cut the payload (`MSG_TRUNC`).
    pub(super) payload_truncated: bool,
    /// The kernel dropped descriptors (`MSG_CTRUNC`).
    pub(super) control_truncated: bool,
}

/// Receives one message of at most `capacity` bytes without waiting.
pub(super) fn receive(socket: BorrowedFd<'_>, capacity: usize) -> Result<RawMessage, Errno> {
    let mut payload: Vec<u8> = Vec::with_capacity(capacity);
    let mut control = ControlBuffer([0; CONTROL]);
    let mut part = libc::iovec { iov_base: payload.as_mut_ptr().cast(), iov_len: capacity };
    // SAFETY: `msghdr` is a plain C struct of integers and pointers, for which all bits zero is a valid value.
    let mut header: libc::msghdr = unsafe { std::mem::zeroed() };
    header.msg_iov = &raw mut part;
    header.msg_iovlen = 1;
    header.msg_control = control.0.as_mut_ptr().cast();
    header.msg_controllen = CONTROL;
    let flags = libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
    // SAFETY: recvmsg(2) writes at most `iov_len` bytes to `iov_base` and `msg_controllen` bytes to `msg_control`; both
    // buffers are that long, exclusively ours and outlive the call.
    let received = unsafe { libc::recvmsg(socket.as_raw_fd(), &raw mut header, flags) };
    let received = Errno::result(received)?.cast_unsigned();
    // SAFETY: recvmsg(2) returns the number of bytes it wrote to the buffer, which is at most `capacity`.
    unsafe { payload.set_len(received) };
    payload.shrink_to_fit();
    Ok(RawMessage {
        payload,
        fds: descriptor_numbers(&control.0[..header.msg_controllen.min(CONTROL)]).map(own).collect(),
        payload_truncated: header.msg_flags & libc::MSG_TRUNC != 0,
        control_truncated: header.msg_flags & libc::MSG_CTRUNC != 0,
    })
}

/// Takes ownership of a descriptor that `recvmsg` has just made.
fn own(number: RawFd) -> OwnedFd {
    // SAFETY: unix(7): the descriptors of an `SCM_RIGHTS` message are created in the receiving process by this very
    // `recvmsg`, so nobody else owns this number.
    unsafe { OwnedFd::from_raw_fd(number) }
}

/// The descriptor numbers of all `SCM_RIGHTS` messages in control data.
fn descriptor_numbers(control: &[u8]) -> impl Iterator<Item = RawFd> {
    control_messages(control)
        .filter(|(level, kind, _)| (*level, *kind) == (libc::SOL_SOCKET, libc::SCM_RIGHTS))
        .flat_map(|(_, _, data)| data.as_chunks::<4>().0.iter().map(|bytes| RawFd::from_ne_bytes(*bytes)))
}

/// Splits control data into (level, type, data) as cmsg(3) lays it out.
fn control_messages(mut control: &[u8]) -> impl Iterator<Item = (i32, i32, &[u8])> {
    std::iter::from_fn(move || {
        let (len, rest) = control.split_first_chunk::<8>()?;
        let (level, rest) = rest.split_first_chunk::<4>()?;
        let (kind, _) = rest.split_first_chunk::<4>()?;
        let len = usize::from_ne_bytes(*len);
        let data = control.get(HEADER..len)?;
        control = control.get(len.next_multiple_of(size_of::<usize>())..).unwrap_or_default();
        Some((i32::from_ne_bytes(*level), i32::from_ne_bytes(*kind), data))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(level: i32, kind: i32, data: &[u8]) -> Vec<u8> {
        let mut bytes = (HEADER + data.len()).to_ne_bytes().to_vec();
        bytes.extend(level.to_ne_bytes());
        bytes.extend(kind.to_ne_bytes());
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes
    }

    #[test]
    fn numbers_come_from_rights_messages_only() {
        let mut control = message(libc::SOL_SOCKET, libc::SCM_CREDENTIALS, &[9; 12]);
        control.extend(message(libc::SOL_SOCKET, libc::SCM_RIGHTS, &[7i32, 8, 9].map(i32::to_ne_bytes).concat()));
        assert_eq!(descriptor_numbers(&control).collect::<Vec<_>>(), [7, 8, 9]);
    }

    #[test]
    fn the_padding_behind_an_odd_count_is_no_descriptor() {
        let control = message(libc::SOL_SOCKET, libc::SCM_RIGHTS, &5i32.to_ne_bytes());
        assert_eq!(control.len() % 8, 0);
        assert_eq!(descriptor_numbers(&control).collect::<Vec<_>>(), [5]);
    }

    proptest::proptest! {
        #[test]
        fn random_control_data_never_panics(control in proptest::collection::vec(proptest::num::u8::ANY, 0..200)) {
            // Reading a number has no effect, so a random one is harmless.
            let count = descriptor_numbers(&control).count();
            proptest::prop_assert!(count * 4 <= control.len());
        }
    }
}
