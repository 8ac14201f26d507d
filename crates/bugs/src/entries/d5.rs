//! D5: a client was killed, and its 112 GB stayed in use, charged to the server that had imported them.
//!
//! Whenever its maker is killed, memory stays for as long as anybody holds it: by a descriptor, by a handle, by a mapping. It can be
//! read until then, and goes with the last of them. The simulator says who holds it and which call made it.

use std::os::fd::AsFd;

use peermap_driver::{ByteSize, Call, HandleType, OsHandle};

use crate::expect::{holds, same};
use crate::machine::Machine;
use crate::peer::Shared;
use crate::process::{Process, times};
use crate::stage::Stage;
use crate::trouble::Trouble;

/// When the exporter is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Death {
    BeforeImport,
    BeforeMapping,
    AfterMapping,
}

pub(crate) fn play(stage: &Stage) -> Result<(), Trouble> {
    let mut random = stage.random();
    let machine = stage.machine()?;
    let importer = machine.process()?;
    importer.context(0)?;
    let granule = importer.granule()?;
    for death in [Death::BeforeImport, Death::BeforeMapping, Death::AfterMapping] {
        outlive(&machine, &importer, times(granule, random.u64(1..=16)), death)?;
    }
    Ok(())
}

fn outlive(machine: &Machine<'_>, importer: &Process, size: ByteSize, death: Death) -> Result<(), Trouble> {
    let before = importer.free_memory()?;
    let mut exporter = Some(machine.peer()?);
    let shared = exporter.as_mut().map(|exporter| exporter.share(size.get())).transpose()?.transpose()?;
    let Shared(descriptor) = shared.ok_or_else(|| Trouble::not_here("the exporter has gone"))?;
    let mut dies = |now| if now == death { exporter.take().map_or(Ok(()), |exporter| exporter.kill()) } else { Ok(()) };
    dies(Death::BeforeImport)?;
    let from = OsHandle::from(descriptor.as_fd());
    let handle = importer.mem_import_from_shareable_handle(from, HandleType::POSIX_FILE_DESCRIPTOR)?;
    drop(descriptor);
    dies(Death::BeforeMapping)?;
    let mapped = importer.mapped_of(handle, size)?;
    importer.memset_d8(mapped.ptr, 0xd5, size)?;
    importer.ctx_synchronize()?;
    dies(Death::AfterMapping)?;
    same("what stays in use", before.get() - importer.free_memory()?.get(), size.get())?;
    same("what can be read", importer.read(mapped.ptr, 64)?, vec![0xd5; 64])?;
    is_told(machine, size)?;
    importer.give_back(mapped)?;
    same("free memory once the importer lets go", importer.free_memory()?, before)
}

/// The simulator must say that one process holds what a call of another made.
fn is_told(machine: &Machine<'_>, size: ByteSize) -> Result<(), Trouble> {
    let Some(holders) = machine.holders()? else { return Ok(()) };
    let told = holders.0.iter().any(|line| {
        let by_another = line.processes.iter().all(|(process, _)| process.0 != line.made_by.process);
        line.size == size && line.made_by.call == Call::cuMemCreate && by_another && line.processes.len() == 1
    });
    holds("the list of holders names the importer and the maker", told, holders)
}
