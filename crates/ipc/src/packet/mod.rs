//! Typed packets over a channel, and any number of descriptors.
//!
//! A [`TypedChannel`] sends values of one type and receives values of another. Each packet has a header with a magic
//! number, the version of this protocol, its kind and its number in the stream, so that two programs that do not speak the
//! same language notice at the first packet.

mod batch;
mod frame;
mod typed;

pub use frame::{PROTOCOL_VERSION, PacketError};
pub use typed::TypedChannel;
