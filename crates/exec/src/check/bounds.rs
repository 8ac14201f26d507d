//! The buffers that the parameters of a launch point into.

use std::collections::HashMap;
use std::ops::Range;

use peermap_memory::Access;

use crate::check::finding::Finding;
use crate::check::origins::Origins;
use crate::grid::Launch;

/// The buffer that an access has to stay in.
struct Bound {
    argument: usize,
    pointer: u64,
    buffer: Range<u64>,
}

/// For each access whose address is computed from exactly one pointer the buffer that this points into.
pub(super) struct Bounds(HashMap<u32, Bound>);

impl Bounds {
    pub(super) fn of(origins: &Origins, launch: &Launch<'_>) -> Self {
        let mut known = HashMap::new();
        let mut bound = |place: u32| {
            let bound = known.entry(place).or_insert_with(|| {
                let bytes = launch.parameters.get(place as usize..)?.first_chunk::<8>()?;
                let pointer = u64::from_le_bytes(*bytes);
                Some((pointer, (launch.buffer)(pointer)?))
            });
            bound.clone().map(|(pointer, buffer)| Bound { argument: origins.argument(place), pointer, buffer })
        };
        let accesses = origins.accesses().filter_map(|(instruction, places)| {
            let mut pointers = places.iter().filter_map(|place| bound(*place));
            let only = pointers.next()?;
            pointers.next().is_none().then_some((instruction, only))
        });
        Self(accesses.collect())
    }

    /// What is wrong with an access to device memory that is mapped.
    pub(super) fn check(
        &self,
        instruction: u32,
        (address, len): (u64, u64),
        access: Access,
        launch: &Launch<'_>,
    ) -> Option<Finding> {
        let Bound { argument, pointer, buffer } = self.0.get(&instruction)?;
        let behind = address + len > buffer.end;
        // What points to the start of one buffer may be the end of another, from which a kernel counts down.
        let before = address < buffer.start && *pointer > buffer.start;
        if !behind && !before {
            return None;
        }
        let (argument, pointer, buffer) = (*argument, *pointer, buffer.clone());
        let hit = (launch.buffer)(if behind { address.max(buffer.end) } else { address });
        Some(Finding::OutOfBounds { address, access, argument, pointer, buffer, hit })
    }
}
