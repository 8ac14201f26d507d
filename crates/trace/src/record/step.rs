//! From the arguments and the answer of a call to those of a step.

use peermap_driver::{
    AccessDesc, AllocationProp, Call, GranularityOption, HandleType, KernelArg, LaunchConfig, LocationType,
    MemPoolProps, MulticastObjectProp, OsHandle, PointerAttribute,
};
use serde_json::{Map, Value as Json, json};

use super::argument::Given;
use super::noted::Noted;
use super::output::Output;
use crate::player::{attribute_value, kernel_parameters, properties_out, protection, runs};

/// A list of arguments by the names that the driver trait gives them.
pub(super) type Arguments<'g, 'a> = &'g [(&'static str, Given<'a>)];

/// An argument by its name.
fn find<'g, 'a>(given: Arguments<'g, 'a>, name: &str) -> Option<&'g Given<'a>> {
    given.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
}

/// A number among the arguments.
fn number(given: Arguments<'_, '_>, name: &str) -> Option<i128> {
    match find(given, name) {
        Some(Given::Number(number)) => Some(*number),
        _ => None,
    }
}

/// What a copy to the host filled.
fn bytes<'a>(given: Arguments<'_, 'a>, name: &str) -> Option<&'a [u8]> {
    match find(given, name) {
        Some(Given::Bytes(bytes)) => Some(*bytes),
        _ => None,
    }
}

/// The arguments of a step. `None`: the format cannot say it.
pub(super) fn arguments(noted: &Noted, call: Call, given: Arguments<'_, '_>) -> Option<Map<String, Json>> {
    let mut step = Map::new();
    for (name, value) in given {
        let key = key(call, name);
        match value {
            Given::Number(number) => put(&mut step, key, number_json(*number)),
            Given::Address(address) => put(&mut step, key, noted.address(*address)),
            Given::Memory(handle) => put(&mut step, key, noted.memory(*handle)),
            Given::Context(context) => put(&mut step, "ctx", noted.context(*context)),
            Given::Event(event) => put(&mut step, key, noted.event(*event)),
            Given::Stream(stream) => {
                if let Some(stream) = noted.stream(*stream) {
                    put(&mut step, key, stream);
                }
            }
            Given::Text(text) => put(&mut step, key, json!(text)),
            Given::Properties(properties) => step.extend(properties_in(properties)),
            Given::Place(place) => step.extend(place_in(place.kind, place.id)),
            Given::HandleTypes(types) => put(&mut step, key, handle_types(*types)),
            Given::Granularity(option) => put(&mut step, key, granularity(*option)?),
            Given::Access(descriptions) => put(&mut step, key, descriptions.iter().map(access).collect()),
            Given::Shared(OsHandle::FdNumber(number)) => put(&mut step, key, json!(number)),
            Given::Pool(pool) => put(&mut step, key, noted.pool(*pool)),
            Given::PoolProps(props) => step.extend(pool_props_in(props)),
            Given::MulticastProp(prop) => step.extend(multicast_prop_in(prop)),
            Given::Shared(_) | Given::Legacy(_) | Given::EventHandle(_) | Given::PoolPointer(_) => {
                put(&mut step, key, json!(format!("${}", noted.shared(value)?)));
            }
            Given::Bytes(bytes) => step.extend(copied(call, bytes)?),
            Given::Launch(config) => step.extend(launch(noted, config)?),
            Given::KernelArgs(arguments) => {
                let kernel = step.get("kernel").and_then(Json::as_str).and_then(kernel_parameters)?;
                put(&mut step, key, kernel_args(noted, kernel, arguments)?);
            }
            Given::Module(_) | Given::Other => return None,
        }
    }
    Some(step)
}

fn put(step: &mut Map<String, Json>, key: &str, value: Json) {
    step.insert(key.to_owned(), value);
}

/// The format's word for an argument, where it is not the trait's.
fn key(call: Call, name: &'static str) -> &'static str {
    match (call, name) {
        (Call::cuMemRetainAllocationHandle, "addr") | (Call::cuMemcpyHtoD, "dst") | (Call::cuMemcpyDtoH, "src") => {
            "ptr"
        }
        (Call::cuMemPoolTrimTo, "min_bytes_to_keep") => "size",
        _ => name,
    }
}

fn number_json(number: i128) -> Json {
    i64::try_from(number).map(Json::from).or_else(|_| u64::try_from(number).map(Json::from)).unwrap_or(Json::Null)
}

fn properties_in(properties: &AllocationProp) -> Map<String, Json> {
    let mut step = place_in(properties.location.kind, properties.location.id);
    put(&mut step, "handle_types", handle_types(properties.requested_handle_types));
    put(&mut step, "type", json!(properties.allocation_type.0));
    put(&mut step, "compression", json!(properties.compression.0));
    put(&mut step, "gpu_direct_rdma", json!(u8::from(properties.gpu_direct_rdma)));
    step
}

fn pool_props_in(props: &MemPoolProps) -> Map<String, Json> {
    let mut step = place_in(props.location.kind, props.location.id);
    put(&mut step, "handle_types", handle_types(props.handle_types));
    put(&mut step, "type", json!(props.allocation_type.0));
    put(&mut step, "max_size", json!(props.max_size.get()));
    step
}

fn multicast_prop_in(prop: &MulticastObjectProp) -> Map<String, Json> {
    let mut step = Map::new();
    put(&mut step, "num_devices", json!(prop.num_devices));
    put(&mut step, "size", json!(prop.size.get()));
    put(&mut step, "handle_types", handle_types(prop.handle_types));
    put(&mut step, "flags", json!(prop.flags));
    step
}

fn place_in(kind: LocationType, id: i32) -> Map<String, Json> {
    [("device".to_owned(), json!(id)), ("location_type".to_owned(), json!(kind.0))].into_iter().collect()
}

fn handle_types(types: HandleType) -> Json {
    match types {
        HandleType::NONE => json!("none"),
        HandleType::POSIX_FILE_DESCRIPTOR => json!("posix_fd"),
        HandleType::WIN32 => json!("win32"),
        HandleType::WIN32_KMT => json!("win32_kmt"),
        HandleType::FABRIC => json!("fabric"),
        HandleType(mask) => json!(mask),
    }
}

fn granularity(option: GranularityOption) -> Option<Json> {
    match option {
        GranularityOption::MINIMUM => Some(json!("minimum")),
        GranularityOption::RECOMMENDED => Some(json!("recommended")),
        _ => None,
    }
}

fn access(description: &AccessDesc) -> Json {
    let mut step = place_in(description.location.kind, description.location.id);
    put(&mut step, "prot", protection(description.flags));
    Json::Object(step)
}

/// A buffer of the host: what a copy reads has one value, what a copy fills has a size.
fn copied(call: Call, bytes: &[u8]) -> Option<Map<String, Json>> {
    let mut step = Map::new();
    put(&mut step, "size", json!(bytes.len()));
    if call == Call::cuMemcpyHtoD {
        put(&mut step, "value", json!(bytes.first().copied().unwrap_or(0)));
    }
    Some(step)
}

fn launch(noted: &Noted, config: &LaunchConfig) -> Option<Map<String, Json>> {
    let flat = (config.grid.y, config.grid.z, config.block.y, config.block.z) == (1, 1, 1, 1);
    let kernel = noted.kernel(config.function).filter(|_| flat && config.shared_bytes.is_zero())?;
    let mut step = Map::new();
    put(&mut step, "kernel", json!(kernel));
    put(&mut step, "grid", json!(config.grid.x));
    put(&mut step, "block", json!(config.block.x));
    if let Some(stream) = noted.stream(config.stream) {
        put(&mut step, "stream", stream);
    }
    Some(step)
}

fn kernel_args(noted: &Noted, parameters: &[&str], arguments: &[KernelArg]) -> Option<Json> {
    let pairs = parameters.iter().zip(arguments).map(|(kind, argument)| {
        let value = match (*kind, argument) {
            ("ptr", KernelArg::Ptr(address)) => noted.address(*address),
            ("i32", KernelArg::I32(number)) => json!(number),
            ("u8", KernelArg::U8(number)) => json!(number),
            _ => return None,
        };
        Some(json!([kind, value]))
    });
    (parameters.len() == arguments.len()).then_some(())?;
    pairs.collect::<Option<Vec<Json>>>().map(Json::Array)
}

/// What a step compares of an answer, and what the recording has to remember for the next one.
pub(super) fn out(
    noted: &mut Noted,
    call: Call,
    given: Arguments<'_, '_>,
    output: Output,
) -> Option<Map<String, Json>> {
    let values = &noted.values;
    let fields: Vec<(&str, Json)> = match (call, output) {
        (Call::cuDeviceGetCount, Output::Number(count)) => vec![("count", number_json(count))],
        (
            Call::cuDeviceGetAttribute | Call::cuDeviceCanAccessPeer | Call::cuMemPoolGetAttribute,
            Output::Number(value),
        ) => {
            vec![("value", number_json(value))]
        }
        (Call::cuMemGetAllocationGranularity | Call::cuMulticastGetGranularity, Output::Number(size)) => {
            vec![("granularity", number_json(size))]
        }
        (Call::cuMemAddressReserve, Output::Address(start)) => {
            let alignment = number(given, "alignment").filter(|alignment| *alignment != 0)?;
            vec![("aligned", json!(i128::from(start.get()) % alignment == 0))]
        }
        (_, Output::Access(flags)) => vec![("prot", protection(flags))],
        (_, Output::Properties(properties)) => return Some(properties_out(&properties)),
        (_, Output::Range(base, size)) => vec![("base", json!(values.name_address(base))), ("size", json!(size.get()))],
        (Call::cuPointerGetAttribute, Output::Number(raw)) => {
            let Some(Given::Text(name)) = find(given, "attribute") else { return None };
            let attribute = PointerAttribute::from_name(name)?;
            vec![("value", attribute_value(attribute, u64::try_from(raw).unwrap_or(0), values))]
        }
        (Call::cuMemRetainAllocationHandle, Output::Memory(handle)) => {
            vec![("same_as", json!(values.same_memory(handle)))]
        }
        (
            Call::cuDeviceGetDefaultMemPool | Call::cuDeviceGetMemPool | Call::cuMemPoolImportFromShareableHandle,
            Output::Pool(pool),
        ) => vec![("same_as", json!(values.same_pool(pool)))],
        (Call::cuIpcOpenMemHandle | Call::cuMemPoolImportPointer, Output::Address(address)) => {
            vec![("same_as", json!(values.same_address(address)))]
        }
        (Call::cuCtxGetCurrent | Call::cuCtxPopCurrent, Output::Context(context)) => {
            vec![("same_as", json!(context.map_or_else(Vec::new, |context| values.same_context(context))))]
        }
        (Call::cuMemGetInfo, Output::Free(free)) => {
            let before = noted.free.replace(free.get()).unwrap_or(free.get());
            vec![("free_delta", number_json(i128::from(free.get()) - i128::from(before)))]
        }
        (Call::cuMemcpyDtoH, _) => vec![("runs", Json::Array(runs(bytes(given, "dst")?)))],
        _ => return None,
    };
    Some(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
