//! Memory pools: what is allocated and freed in the order of streams, and which synchronisation lets it go.
//!
//! Nothing runs when memory is freed, so that where the next allocation goes is no matter of timing.

use serde_json::{Value as Json, json};

use super::error::GenerateError;
use super::picture::{Backing, Pool, Pooled};
use super::writing::Writing;

const MIB: u64 = 1 << 20;

/// How much a process may have of pools at once.
///
/// # Units
/// Bytes.
const MOST: u64 = 160 * MIB;

pub(super) fn choose(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    match writing.random.below(50) {
        0..=3 => create(writing, process),
        4..=6 => get(writing, process),
        7 => set_current(writing, process),
        8..=16 => alloc(writing, process),
        17..=23 => free(writing, process),
        24..=29 => get_attribute(writing, process),
        30..=31 => set_attribute(writing, process),
        32..=33 => trim(writing, process),
        34..=35 => access(writing, process),
        36..=37 => touch(writing, process),
        38..=40 => ask(writing, process),
        41..=43 => destroy(writing, process),
        44..=47 => super::pool_share::share(writing, process),
        _ => super::pool_share::choose(writing, process),
    }
}

pub(super) fn create(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let device = u32::try_from(writing.random.below(writing.devices.into())).unwrap_or(0);
    let handle_types = writing.random.one(["posix_fd", "posix_fd", "posix_fd", "none"]);
    let mut arguments = json!({"device": device, "handle_types": handle_types});
    match writing.random.below(16) {
        0 => arguments["type"] = 0.into(),
        1 => arguments["handle_types"] = writing.random.one(["win32", "win32_kmt"]).into(),
        2 => arguments["device"] = writing.random.one([7, -1]).into(),
        3 => arguments["location_type"] = writing.random.one([0, 4, 9]).into(),
        4..=7 => arguments["max_size"] = writing.random.one([1, 32 * MIB, 40 * MIB, 64 * MIB]).into(),
        _ => {}
    }
    let name = writing.name('q');
    if writing.name_by(process, "cuMemPoolCreate", arguments, &name)? {
        let number = writing.pool();
        let pool = Pool { name, device, number, imported: false, shareable: handle_types == "posix_fd" };
        writing.process(process).pools.push(pool);
    }
    Ok(())
}

fn get(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let call = writing.random.one(["cuDeviceGetDefaultMemPool", "cuDeviceGetDefaultMemPool", "cuDeviceGetMemPool"]);
    let last = i64::from(writing.devices) - 1;
    let device = writing.random.one([0, 0, 0, last, last, 7, -1]);
    let name = writing.name('q');
    let is_default = call == "cuDeviceGetDefaultMemPool";
    if writing.name_by(process, call, json!({"device": device}), &name)? && is_default {
        let device = u32::try_from(device).unwrap_or(0);
        let number = writing.default_pool(process, device);
        let pool = Pool { name, device, number, imported: false, shareable: false };
        writing.process(process).pools.push(pool);
    }
    Ok(())
}

pub(super) fn pick(writing: &mut Writing<'_>, process: u32) -> Option<Pool> {
    let pools = writing.process(process).pools.clone();
    writing.random.pick(&pools).cloned()
}

fn set_current(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pool) = pick(writing, process) else { return get(writing, process) };
    let device = writing.random.one([pool.device, pool.device, pool.device, 0, 7]);
    let arguments = json!({"device": device, "pool": format!("${}", pool.name)});
    if writing.say(process, "cuDeviceSetMemPool", arguments)? {
        writing.process(process).current_pools.insert(device, pool.number);
    }
    Ok(())
}

/// A stream of the current context, or none for the null stream.
fn stream(writing: &mut Writing<'_>, process: u32) -> Option<String> {
    let context = writing.process(process).current()?;
    let mut streams = writing.process(process).streams.clone();
    streams.retain(|stream| stream.context == context);
    let name = writing.random.pick(&streams).map(|stream| format!("${}", stream.name));
    name.filter(|_| writing.random.percent(60))
}

fn on_stream(writing: &mut Writing<'_>, process: u32, mut arguments: Json) -> Json {
    if let Some(stream) = stream(writing, process) {
        arguments["stream"] = stream.into();
    }
    arguments
}

fn alloc(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let pool = pick(writing, process).filter(|_| writing.random.percent(60));
    alloc_from(writing, process, pool)
}

/// Allocates from a pool, or from the current one.
pub(super) fn alloc_from(writing: &mut Writing<'_>, process: u32, pool: Option<Pool>) -> Result<(), GenerateError> {
    let size =
        writing.random.one([0, 1, 1000, 4096, MIB, 2 * MIB, 2 * MIB, 5 * MIB, 31 * MIB, 32 * MIB, 33 * MIB, 40 * MIB]);
    let taken: u64 = writing.process(process).pooled.iter().map(|pooled| pooled.size).sum();
    if taken + size > MOST {
        return free(writing, process);
    }
    let mut arguments = on_stream(writing, process, json!({"size": size}));
    let call = match &pool {
        Some(pool) => {
            arguments["pool"] = format!("${}", pool.name).into();
            "cuMemAllocFromPoolAsync"
        }
        None => "cuMemAllocAsync",
    };
    let name = writing.name('w');
    if !writing.name_by(process, call, arguments, &name)? || size == 0 {
        return Ok(());
    }
    let known = writing.process(process);
    let device = match (&pool, known.current()) {
        (Some(pool), _) => pool.device,
        (None, Some(context)) => known.contexts[context].1,
        (None, None) => return Ok(()),
    };
    let number = match &pool {
        Some(pool) => pool.number,
        None => known.current_pools.get(&device).copied().unwrap_or_else(|| writing.default_pool(process, device)),
    };
    let memory = writing.backings.len();
    writing.backings.push(Backing::default());
    writing.process(process).pooled.push(Pooled { name, size, pool: number, device, memory, imported: false });
    if writing.random.percent(70) { fill(writing, process) } else { Ok(()) }
}

/// Fills the newest allocation: what memory of a pool holds before is anybody's guess.
fn fill(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(newest) = writing.process(process).pooled.last().cloned() else { return Ok(()) };
    let value = writing.random.below(256);
    let arguments = json!({"ptr": format!("${}", newest.name), "value": value, "size": newest.size});
    writing.backings[newest.memory].written |= writing.say(process, "cuMemsetD8", arguments)?;
    writing.wait(process)
}

pub(super) fn pick_pooled(writing: &mut Writing<'_>, process: u32) -> Option<Pooled> {
    let pooled = writing.process(process).pooled.clone();
    writing.random.pick(&pooled).cloned()
}

fn free(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pooled) = pick_pooled(writing, process) else { return Ok(()) };
    let whole = format!("${}", pooled.name);
    let call = writing.random.one(["cuMemFreeAsync", "cuMemFreeAsync", "cuMemFreeAsync", "cuMemFree"]);
    let mut arguments = json!({"ptr": whole});
    if writing.random.percent(10) {
        arguments["ptr"] = format!("${}+512", pooled.name).into();
        writing.say(process, call, arguments)?;
        return Ok(());
    }
    if call == "cuMemFreeAsync" {
        arguments = on_stream(writing, process, arguments);
    }
    let stream = arguments.get("stream").cloned();
    if !writing.say(process, call, arguments)? {
        return Ok(());
    }
    writing.backings[pooled.memory].freed |= !pooled.imported;
    writing.process(process).pooled.retain(|other| other.name != pooled.name && other.memory != pooled.memory);
    if writing.random.percent(15) {
        writing.say(process, call, json!({"ptr": whole}))?;
    }
    match writing.random.below(6) {
        0 => writing.wait(process),
        1 | 2 => {
            let arguments = stream.map_or_else(|| json!({}), |stream| json!({"stream": stream}));
            writing.say(process, "cuStreamSynchronize", arguments)?;
            Ok(())
        }
        _ => get_attribute(writing, process),
    }
}

fn get_attribute(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pool) = pick(writing, process) else { return get(writing, process) };
    let attribute = writing.random.one([
        "RESERVED_MEM_CURRENT",
        "RESERVED_MEM_CURRENT",
        "RESERVED_MEM_CURRENT",
        "RESERVED_MEM_HIGH",
        "USED_MEM_CURRENT",
        "USED_MEM_HIGH",
        "RELEASE_THRESHOLD",
        "REUSE_ALLOW_OPPORTUNISTIC",
    ]);
    let arguments = json!({"pool": format!("${}", pool.name), "attribute": attribute});
    writing.say(process, "cuMemPoolGetAttribute", arguments)?;
    Ok(())
}

fn set_attribute(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pool) = pick(writing, process) else { return get(writing, process) };
    let (attribute, value) = writing.random.one([
        ("RELEASE_THRESHOLD", 0),
        ("RELEASE_THRESHOLD", 32 * MIB),
        ("RELEASE_THRESHOLD", 33 * MIB),
        ("RELEASE_THRESHOLD", 1 << 40),
        ("RESERVED_MEM_HIGH", 0),
        ("USED_MEM_HIGH", 0),
        ("USED_MEM_HIGH", 1),
        ("RESERVED_MEM_CURRENT", 0),
        ("REUSE_FOLLOW_EVENT_DEPENDENCIES", 2),
    ]);
    let arguments = json!({"pool": format!("${}", pool.name), "attribute": attribute, "value": value});
    writing.say(process, "cuMemPoolSetAttribute", arguments)?;
    Ok(())
}

fn trim(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pool) = pick(writing, process) else { return get(writing, process) };
    let size = writing.random.one([0, 0, 1, 32 * MIB, 33 * MIB]);
    writing.say(process, "cuMemPoolTrimTo", json!({"pool": format!("${}", pool.name), "size": size}))?;
    get_attribute(writing, process)
}

fn access(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pool) = pick(writing, process) else { return get(writing, process) };
    let last = i64::from(writing.devices) - 1;
    let device = writing.random.one([0, 0, last, last, 7]);
    let pool = format!("${}", pool.name);
    if writing.random.percent(40) {
        let location_type = writing.random.one([1, 1, 1, 2, 3, 0]);
        let arguments = json!({"pool": pool, "device": device, "location_type": location_type});
        writing.say(process, "cuMemPoolGetAccess", arguments)?;
        return Ok(());
    }
    let prot = writing.random.one(["readwrite", "readwrite", "readwrite", "none", "none", "read", "write2"]);
    let mut desc = json!({"device": device, "prot": prot});
    if writing.random.percent(10) {
        desc["location_type"] = writing.random.one([0, 2, 3]).into();
    }
    writing.say(process, "cuMemPoolSetAccess", json!({"pool": pool, "desc": [desc]}))?;
    Ok(())
}

/// Reads, fills or launches; each is waited for.
fn touch(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pooled) = pick_pooled(writing, process) else { return alloc(writing, process) };
    let ptr = format!("${}", pooled.name);
    let size = writing.random.one([pooled.size, pooled.size, pooled.size.div_ceil(2), pooled.size + 1]);
    let value = writing.random.below(256);
    let Backing { written, freed } = writing.backings[pooled.memory];
    match writing.random.below(4) {
        0 | 1 if written && !freed => {
            writing.say(process, "cuMemcpyDtoH", json!({"ptr": ptr, "size": size}))?;
        }
        2 => {
            let known = writing.process(process);
            let reaches = known.current().is_some_and(|context| known.contexts[context].1 == pooled.device);
            if reaches && size <= pooled.size {
                let arguments = json!({"kernel": "fill", "args": [["ptr", ptr], ["i32", size], ["u8", value]]});
                writing.say(process, "cuLaunchKernel", arguments)?;
            }
        }
        _ => {
            writing.say(process, "cuMemsetD8", json!({"ptr": ptr, "value": value, "size": size}))?;
        }
    }
    writing.wait(process)
}

/// Questions about an address of a pool.
fn ask(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pooled) = pick_pooled(writing, process) else { return get_attribute(writing, process) };
    let inside = writing.random.one([0, 0, pooled.size / 2, pooled.size - 1]);
    let ptr = format!("${}+{inside}", pooled.name);
    let last = u64::from(writing.devices) - 1;
    match writing.random.below(8) {
        0 => writing.say(process, "cuMemGetAddressRange", json!({"ptr": ptr}))?,
        1 => writing.say(process, "cuMemGetAccess", json!({"ptr": ptr, "device": last}))?,
        2 => {
            let name = writing.name('i');
            writing.name_by(process, "cuIpcGetMemHandle", json!({"ptr": ptr}), &name)?
        }
        3 => {
            let name = writing.name('h');
            writing.name_by(process, "cuMemRetainAllocationHandle", json!({"ptr": ptr}), &name)?
        }
        _ => {
            let attribute = writing.random.one([
                "RANGE_START_ADDR",
                "RANGE_SIZE",
                "MEMPOOL_HANDLE",
                "DEVICE_POINTER",
                "DEVICE_ORDINAL",
                "ALLOWED_HANDLE_TYPES",
                "ACCESS_FLAGS",
                "CONTEXT",
            ]);
            writing.say(process, "cuPointerGetAttribute", json!({"attribute": attribute, "ptr": ptr}))?
        }
    };
    Ok(())
}

/// A pool that was destroyed is not used again: the driver keeps no such promise as for what it refuses.
fn destroy(writing: &mut Writing<'_>, process: u32) -> Result<(), GenerateError> {
    let Some(pool) = pick(writing, process) else { return create(writing, process) };
    if writing.say(process, "cuMemPoolDestroy", json!({"pool": format!("${}", pool.name)}))? {
        let known = writing.process(process);
        known.pools.retain(|other| other.name != pool.name && (pool.imported || other.number != pool.number));
        known.current_pools.retain(|_, current| *current != pool.number);
    }
    Ok(())
}
