//! Devices of two processes, which may see different ones under different numbers.

use std::fmt;

use peermap_driver::{Device, Uuid};

/// A device that two processes see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InCommon {
    /// Its identity.
    pub uuid: Uuid,
    /// Its number here.
    pub ours: Device,
    /// Its number there.
    pub theirs: Device,
}

/// Two processes see no device in common, so neither can reach what the other shares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoneInCommon {
    /// What this process sees.
    pub ours: Vec<Uuid>,
    /// What the other one sees.
    pub theirs: Vec<Uuid>,
}

impl fmt::Display for NoneInCommon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |uuids: &[Uuid]| uuids.iter().map(Uuid::to_string).collect::<Vec<_>>().join(", ");
        let (ours, theirs) = (list(&self.ours), list(&self.theirs));
        write!(
            f,
            "no device in common: this process sees {ours}, the other one {theirs}; \
             CUDA_VISIBLE_DEVICES counts all devices of the host, not those that the parent sees"
        )
    }
}

impl std::error::Error for NoneInCommon {}

/// The devices that two processes see, each in the order of its numbers. They are to be compared before anything is shared.
///
/// # Errors
/// [`NoneInCommon`] with both lists.
pub fn devices_in_common(ours: &[Uuid], theirs: &[Uuid]) -> Result<Vec<InCommon>, NoneInCommon> {
    let number = |index: usize| Device(i32::try_from(index).unwrap_or(i32::MAX));
    let there = |uuid: &Uuid| theirs.iter().position(|other| other == uuid);
    let common: Vec<InCommon> = ours
        .iter()
        .enumerate()
        .filter_map(|(index, uuid)| Some(InCommon { uuid: *uuid, ours: number(index), theirs: number(there(uuid)?) }))
        .collect();
    if common.is_empty() {
        return Err(NoneInCommon { ours: ours.to_vec(), theirs: theirs.to_vec() });
    }
    Ok(common)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn uuid(byte: u8) -> Uuid {
        Uuid([byte; 16])
    }

    #[test]
    fn a_device_has_a_number_on_each_side() {
        let common = devices_in_common(&[uuid(1), uuid(2)], &[uuid(3), uuid(2)]).unwrap();
        assert_eq!(common, [InCommon { uuid: uuid(2), ours: Device(1), theirs: Device(1) }]);
    }

    #[test]
    fn where_there_is_none_both_lists_are_said() {
        let error = devices_in_common(&[uuid(1)], &[uuid(2)]).unwrap_err().to_string();
        assert!(error.contains("GPU-01010101") && error.contains("GPU-02020202"), "{error}");
    }
}
