//! Launches: shape and arguments.

use std::fmt;

use crate::handle::{Function, Stream};
use crate::unit::{ByteSize, DevicePtr};

/// A number of blocks or threads in three directions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Dim3 {
    /// Along x.
    pub x: u32,
    /// Along y.
    pub y: u32,
    /// Along z.
    pub z: u32,
}

impl Dim3 {
    /// Along x only.
    #[must_use]
    pub const fn x(x: u32) -> Self {
        Self { x, y: 1, z: 1 }
    }

    /// The product of the three.
    #[must_use]
    pub const fn count(self) -> u128 {
        self.x as u128 * self.y as u128 * self.z as u128
    }
}

impl fmt::Display for Dim3 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.x, self.y, self.z)
    }
}

/// Which kernel is to run where and how often.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LaunchConfig {
    /// The kernel.
    pub function: Function,
    /// Blocks.
    pub grid: Dim3,
    /// Threads of a block.
    pub block: Dim3,
    /// Dynamic shared memory of a block.
    pub shared_bytes: ByteSize,
    /// The queue.
    pub stream: Stream,
}

/// An argument of a kernel.
#[derive(Clone, PartialEq, Debug)]
pub enum KernelArg {
    /// A device address.
    Ptr(DevicePtr),
    /// One byte.
    U8(u8),
    /// A signed 8-bit number.
    I8(i8),
    /// A 16-bit number.
    U16(u16),
    /// A signed 16-bit number.
    I16(i16),
    /// A 32-bit number.
    U32(u32),
    /// A signed 32-bit number.
    I32(i32),
    /// A 64-bit number.
    U64(u64),
    /// A signed 64-bit number.
    I64(i64),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
    /// A structure or array by value.
    Bytes(Vec<u8>),
}

impl KernelArg {
    /// The bytes as the kernel reads them.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Self::Ptr(address) => address.get().to_le_bytes().to_vec(),
            Self::U8(value) => vec![*value],
            Self::I8(value) => value.to_le_bytes().to_vec(),
            Self::U16(value) => value.to_le_bytes().to_vec(),
            Self::I16(value) => value.to_le_bytes().to_vec(),
            Self::U32(value) => value.to_le_bytes().to_vec(),
            Self::I32(value) => value.to_le_bytes().to_vec(),
            Self::U64(value) => value.to_le_bytes().to_vec(),
            Self::I64(value) => value.to_le_bytes().to_vec(),
            Self::F32(value) => value.to_le_bytes().to_vec(),
            Self::F64(value) => value.to_le_bytes().to_vec(),
            Self::Bytes(bytes) => bytes.clone(),
        }
    }
}

impl fmt::Display for KernelArg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ptr(address) => write!(f, "{address}"),
            Self::U8(value) => write!(f, "{value}"),
            Self::I8(value) => write!(f, "{value}"),
            Self::U16(value) => write!(f, "{value}"),
            Self::I16(value) => write!(f, "{value}"),
            Self::U32(value) => write!(f, "{value}"),
            Self::I32(value) => write!(f, "{value}"),
            Self::U64(value) => write!(f, "{value}"),
            Self::I64(value) => write!(f, "{value}"),
            Self::F32(value) => write!(f, "{value}"),
            Self::F64(value) => write!(f, "{value}"),
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
        }
    }
}
