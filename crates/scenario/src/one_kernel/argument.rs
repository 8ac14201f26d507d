//! What a kernel is given, as a person writes it.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;
use std::str::FromStr;

use peermap_driver::{ByteSize, KernelArg, ParseSizeError};

use super::number::{self, NumberError};

/// An argument: `buf:BYTES`, `buf:BYTES=VALUE`, `buf@FILE`, or a value such as `u32:7`.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// A buffer in which each byte is the same.
    Filled {
        /// How large it is.
        size: ByteSize,
        /// Each of its bytes.
        byte: u8,
    },
    /// A buffer with the bytes of a file.
    File(PathBuf),
    /// A value.
    Value(KernelArg),
}

/// A text that is no argument.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArgumentError {
    /// It begins with nothing that is known.
    #[error("expected buf:BYTES, buf:BYTES=VALUE, buf@FILE, or {} and :VALUE", number::KINDS.join(", "))]
    Kind,
    /// The size of a buffer is no number of bytes.
    #[error("the size of the buffer cannot be read")]
    Size(#[from] ParseSizeError),
    /// A buffer without bytes.
    #[error("a buffer has at least one byte")]
    Empty,
    /// A value that is none of its type.
    #[error(transparent)]
    Number(#[from] NumberError),
}

impl FromStr for Argument {
    type Err = ArgumentError;

    fn from_str(text: &str) -> Result<Self, ArgumentError> {
        if let Some(file) = text.strip_prefix("buf@").filter(|file| !file.is_empty()) {
            return Ok(Self::File(file.into()));
        }
        let (kind, value) = text.split_once(':').ok_or(ArgumentError::Kind)?;
        if kind != "buf" {
            let value = number::value(kind, value).ok_or(ArgumentError::Kind)?;
            return Ok(Self::Value(value?));
        }
        let (size, byte) = match value.split_once('=') {
            Some((size, byte)) => (size, number::byte(byte)?),
            None => (value, 0),
        };
        let size: ByteSize = size.parse()?;
        if size.is_zero() { Err(ArgumentError::Empty) } else { Ok(Self::Filled { size, byte }) }
    }
}

/// What a buffer holds before the launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Start {
    /// The same in each byte.
    Filled {
        /// How many there are.
        size: ByteSize,
        /// Each of them.
        byte: u8,
    },
    /// These bytes.
    Bytes(Vec<u8>),
}

impl Start {
    pub(super) fn size(&self) -> ByteSize {
        match self {
            Self::Filled { size, .. } => *size,
            Self::Bytes(bytes) => ByteSize::from(bytes.len()),
        }
    }
}

/// An argument whose file was read, if it names one.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// A buffer, of which the kernel gets the address.
    Buffer(Start),
    /// A value.
    Value(KernelArg),
}

impl Given {
    /// How many bytes a kernel reads of it as a parameter.
    pub(super) fn parameter_bytes(&self) -> usize {
        match self {
            Self::Buffer(_) => size_of::<u64>(),
            Self::Value(value) => value.to_bytes().len(),
        }
    }
}

impl Argument {
    /// Whether it is a buffer, which holds something after the launch.
    #[must_use]
    pub const fn is_buffer(&self) -> bool {
        !matches!(self, Self::Value(_))
    }

    /// Reads the file of a buffer.
    ///
    /// # Errors
    /// If it cannot be read, or is empty.
    pub fn read(&self) -> io::Result<Given> {
        match self {
            Self::Filled { size, byte } => Ok(Given::Buffer(Start::Filled { size: *size, byte: *byte })),
            Self::File(path) => {
                // Such a file may have no end.
                let kind = fs::metadata(path)?.file_type();
                if kind.is_char_device() || kind.is_block_device() {
                    return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a device"));
                }
                let bytes = fs::read(path)?;
                if bytes.is_empty() {
                    return Err(io::Error::new(io::ErrorKind::InvalidData, ArgumentError::Empty));
                }
                Ok(Given::Buffer(Start::Bytes(bytes)))
            }
            Self::Value(value) => Ok(Given::Value(value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        let filled = |size, byte| Argument::Filled { size: ByteSize::new(size), byte };
        for (text, argument) in [
            ("buf:64", filled(64, 0)),
            ("buf:64=0xff", filled(64, 255)),
            ("buf:2MiB=7", filled(2 << 20, 7)),
            ("buf@a=b:c", Argument::File("a=b:c".into())),
            ("u8:7", Argument::Value(KernelArg::U8(7))),
            ("s64:-1", Argument::Value(KernelArg::I64(-1))),
            ("f32:0.5", Argument::Value(KernelArg::F32(0.5))),
        ] {
            assert_eq!(text.parse(), Ok(argument), "{text}");
        }
    }

    #[test]
    fn what_is_no_argument_is_refused() {
        for (text, says) in [
            ("7", "expected buf:BYTES"),
            ("buf", "expected buf:BYTES"),
            ("buf@", "expected buf:BYTES"),
            ("i32:7", "u8, s8, u16"),
            ("buf:", "size of the buffer"),
            ("buf:0", "at least one byte"),
            ("buf:8=256", "from 0 to 255"),
            ("buf:8=", "from 0 to 255"),
            ("u8:", "from 0 to 255"),
        ] {
            let error = text.parse::<Argument>().unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
