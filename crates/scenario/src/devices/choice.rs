//! How a user names a device.

use std::fmt;
use std::str::FromStr;

use peermap_driver::Uuid;

/// A device as a user names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeviceChoice {
    /// By its ordinal in this process.
    Ordinal(i32),
    /// By its identity.
    Uuid(Uuid),
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ordinal(ordinal) => write!(f, "device {ordinal}"),
            Self::Uuid(uuid) => write!(f, "device {uuid}"),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = ParseDeviceError;

    fn from_str(text: &str) -> Result<Self, ParseDeviceError> {
        let text = text.trim();
        let ordinal = text.parse::<i32>().ok().filter(|ordinal| *ordinal >= 0).map(Self::Ordinal);
        ordinal.or_else(|| text.parse().ok().map(Self::Uuid)).ok_or_else(|| ParseDeviceError { text: text.to_owned() })
    }
}

/// A text that names no device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} names no device; use an ordinal such as 0 or a UUID such as GPU-00112233-4455-6677-8899-aabbccddeeff"
)]
pub struct ParseDeviceError {
    text: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinals_and_uuids_are_read() {
        assert_eq!("3".parse(), Ok(DeviceChoice::Ordinal(3)));
        let uuid = Uuid([0x11; 16]);
        assert_eq!(uuid.to_string().parse(), Ok(DeviceChoice::Uuid(uuid)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "-1", "gpu0", "GPU-12", "99999999999"] {
            assert!(text.parse::<DeviceChoice>().is_err(), "{text}");
        }
    }
}
