//! F2: creation accepted fabric handles, and the export failed much later.
//!
//! A probe has to create, export and import. Where export refuses, the refusal names the call that created; descriptors of the very
//! same memory can still be exported.

use peermap_driver::{AllocationProp, Call, HandleType};
use peermap_model::{Profile, rules};

use crate::expect::refused;
use crate::process::times;
use crate::stage::{OPTIONS, Stage};
use crate::trouble::Trouble;

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let process = stage.simulating(Profile::named("fabric-late")?, OPTIONS)?.process()?;
    let granule = process.granule()?;
    let both = HandleType::FABRIC.with(HandleType::POSIX_FILE_DESCRIPTOR);
    for _ in 0..4 {
        let size = times(granule, random.u64(1..=4));
        let handle = process.mem_create(size, &AllocationProp::pinned_on(0, both), 0)?;
        let answer = process.mem_export_to_shareable_handle(handle, HandleType::FABRIC, 0);
        refused("cuMemExportToShareableHandle as fabric", answer, &rules::EXPORT_4)?.naming(Call::cuMemCreate)?;
        process.mem_export_to_shareable_handle(handle, HandleType::POSIX_FILE_DESCRIPTOR, 0)?;
        process.mem_release(handle)?;
    }
    Ok(())
}
