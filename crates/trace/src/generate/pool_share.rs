//! Pools between processes.

use serde_json::json;

use super::error::GenerateError;
use super::picture::{Descriptor, Pool, PoolPointer, Pooled};
use super::pool::{alloc_from, create, pick, pick_pooled};
use super::share::receiver;
use super::writing::Writing;

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(4) {
        0 => export(writing, process),
        1 => import(writing, process),
        2 => export_pointer(writing, process).map(|_| ()),
        _ => import_pointer(writing, process),
    }
}

fn export(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match pick(writing, process) {
        Some(pool) => export_of(writing, process, &pool).map(|_| ()),
        None => Ok(()),
    }
}

/// The name of a descriptor of a pool, if one could be made.
fn export_of(writing: &mut Writing<'_>, process: u32, pool: &Pool) -> Result<Option<String>, GenerateError> {
    let mut arguments = json!({"pool": format!("${}", pool.name), "handle_type": "posix_fd"});
    match writing.random.below(12) {
        0 => arguments["handle_type"] = writing.random.one(["none", "win32", "win32_kmt"]).into(),
        1 => arguments["flags"] = 1.into(),
        _ => {}
    }
    let name = writing.name('f');
    if !writing.name_by(process, "cuMemPoolExportToShareableHandle", arguments, &name)? {
        return Ok(None);
    }
    let descriptor = Descriptor { name: name.clone(), memory: None, pool: Some((pool.number, pool.device)) };
    writing.process(process).descriptors.push(descriptor);
    Ok(Some(name))
}

/// Imports any descriptor: one of memory is none of a pool.
fn import(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let descriptors = writing.process(process).descriptors.clone();
    let Some(descriptor) = writing.random.pick(&descriptors).cloned() else { return Ok(()) };
    let mut arguments = json!({"from": format!("${}", descriptor.name), "handle_type": "posix_fd"});
    match writing.random.below(12) {
        0 => arguments["handle_type"] = writing.random.one(["none", "win32", "win32_kmt"]).into(),
        1 => arguments["flags"] = 1.into(),
        2 => arguments["from"] = "0".into(),
        _ => {}
    }
    let name = writing.name('q');
    if writing.name_by(process, "cuMemPoolImportFromShareableHandle", arguments, &name)?
        && let Some((number, device)) = descriptor.pool
    {
        let pool = Pool { name, device, number, imported: true, shareable: false };
        writing.process(process).pools.push(pool);
    }
    Ok(())
}

fn export_pointer(writing: &mut Writing<'_>, process: u32) -> Result<Option<String>, GenerateError> {
    let Some(pooled) = pick_pooled(writing, process) else { return Ok(None) };
    export_pointer_of(writing, process, pooled)
}

fn export_pointer_of(writing: &mut Writing<'_>, process: u32, pooled: Pooled) -> Result<Option<String>, GenerateError> {
    let offset = writing.random.one([0, 0, 0, 0, 0, 0, 0, 512]);
    let name = writing.name('k');
    let arguments = json!({"ptr": format!("${}+{offset}", pooled.name)});
    if !writing.name_by(process, "cuMemPoolExportPointer", arguments, &name)? {
        return Ok(None);
    }
    let Pooled { size, pool, device, memory, .. } = pooled;
    let pointer = PoolPointer { name: name.clone(), size, pool, device, memory };
    writing.process(process).pool_pointers.push(pointer);
    Ok(Some(name))
}

/// Imports a pointer into a pool that this process has imported, or into another one. Memory that its owner freed is left
/// alone: something else may be in its place.
fn import_pointer(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let pointers = writing.process(process).pool_pointers.clone();
    let Some(pointer) = writing.random.pick(&pointers).cloned() else { return Ok(()) };
    let mut pools = writing.process(process).pools.clone();
    if !writing.random.percent(10) {
        pools.retain(|pool| pool.imported && pool.number == pointer.pool);
    }
    let Some(pool) = writing.random.pick(&pools).cloned() else { return Ok(()) };
    if writing.backings[pointer.memory].freed {
        return Ok(());
    }
    let name = writing.name('w');
    let arguments = json!({"pool": format!("${}", pool.name), "share_data": format!("${}", pointer.name)});
    if writing.name_by(process, "cuMemPoolImportPointer", arguments, &name)? {
        let PoolPointer { size, pool, device, memory, .. } = pointer;
        writing.process(process).pooled.push(Pooled { name, size, pool, device, memory, imported: true });
    }
    Ok(())
}

/// An allocation of a pool that was made to be exported.
fn shareable(writing: &mut Writing<'_>, process: u32) -> Option<(Pool, Pooled)> {
    let known = writing.process(process);
    let own = known.pooled.iter().filter(|pooled| !pooled.imported);
    let with_pool = own.filter_map(|pooled| {
        let pool = known.pools.iter().find(|pool| pool.number == pooled.pool && pool.shareable)?;
        Some((pool.clone(), pooled.clone()))
    });
    let all: Vec<(Pool, Pooled)> = with_pool.collect();
    writing.random.pick(&all).cloned()
}

fn make_shareable(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let mut pools = writing.process(process).pools.clone();
    pools.retain(|pool| pool.shareable);
    match writing.random.pick(&pools).cloned() {
        Some(pool) => alloc_from(writing, process, Some(pool)),
        None => create(writing, process),
    }
}

/// An allocation on its way: its pool and it exported, sent and imported at the other end.
pub(super) fn share(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(to) = receiver(writing, process) else { return choose(writing, process) };
    let Some((pool, pooled)) = shareable(writing, process) else { return make_shareable(writing, process) };
    let Some(descriptor) = export_of(writing, process, &pool)? else { return Ok(()) };
    let memory = pooled.memory;
    let Some(pointer) = export_pointer_of(writing, process, pooled)? else { return Ok(()) };
    let (fd, data) = (writing.name('f'), writing.name('k'));
    let to_it = |what: &str| json!({"value": format!("${what}"), "to": to});
    if !writing.name_by(process, "send", to_it(&descriptor), &fd)? {
        return Ok(());
    }
    let descriptor = Descriptor { name: fd.clone(), memory: None, pool: Some((pool.number, pool.device)) };
    writing.process(to).descriptors.push(descriptor);
    if !writing.name_by(process, "send", to_it(&pointer), &data)? {
        return Ok(());
    }
    let made = writing.process(process).pool_pointers.iter().find(|known| known.memory == memory).cloned();
    let sent = made.map(|made| PoolPointer { name: data, ..made });
    writing.process(to).pool_pointers.extend(sent);
    if writing.process(to).after_fault.is_some() {
        return Ok(());
    }
    let name = writing.name('q');
    let arguments = json!({"from": format!("${fd}"), "handle_type": "posix_fd"});
    if writing.name_by(to, "cuMemPoolImportFromShareableHandle", arguments, &name)? {
        let Pool { device, number, .. } = pool;
        writing.process(to).pools.push(Pool { name, device, number, imported: true, shareable: false });
        import_pointer(writing, to)?;
    }
    Ok(())
}
