//! Which function plays which driver call.

use std::cell::Cell;

use peermap_driver::Call;
use serde_json::{Map, Value as Json};

use super::{address, context, copy, launch, memory, multicast, pool, share, stream};
use crate::call::StepCall;
use crate::player::arguments::Arguments;
use crate::player::error::{Failure, PlayError};
use crate::player::process::{Action, Answered, Process};

type Play = fn(&mut Process, Arguments<'_>) -> Answered;

const TABLE: &[(Call, Play)] = &[
    (Call::cuInit, context::init),
    (Call::cuDeviceGetCount, context::device_get_count),
    (Call::cuDeviceGetAttribute, context::device_get_attribute),
    (Call::cuDeviceCanAccessPeer, context::device_can_access_peer),
    (Call::cuCtxCreate, context::create),
    (Call::cuCtxDestroy, context::destroy),
    (Call::cuCtxSetCurrent, context::set_current),
    (Call::cuCtxGetCurrent, context::get_current),
    (Call::cuCtxPushCurrent, context::push_current),
    (Call::cuCtxPopCurrent, context::pop_current),
    (Call::cuCtxSynchronize, context::synchronize),
    (Call::cuCtxEnablePeerAccess, context::enable_peer_access),
    (Call::cuCtxDisablePeerAccess, context::disable_peer_access),
    (Call::cuDevicePrimaryCtxRetain, context::primary_retain),
    (Call::cuMemGetAllocationGranularity, memory::get_allocation_granularity),
    (Call::cuMemCreate, memory::create),
    (Call::cuMemRelease, memory::release),
    (Call::cuMemRetainAllocationHandle, memory::retain_allocation_handle),
    (Call::cuMemGetAllocationPropertiesFromHandle, memory::get_allocation_properties),
    (Call::cuMemAlloc, memory::alloc),
    (Call::cuMemFree, memory::free),
    (Call::cuMemGetInfo, memory::get_info),
    (Call::cuMemAddressReserve, address::reserve),
    (Call::cuMemAddressFree, address::free),
    (Call::cuMemMap, address::map),
    (Call::cuMemUnmap, address::unmap),
    (Call::cuMemSetAccess, address::set_access),
    (Call::cuMemGetAccess, address::get_access),
    (Call::cuMemGetAddressRange, address::get_range),
    (Call::cuPointerGetAttribute, address::get_attribute),
    (Call::cuMemExportToShareableHandle, share::export),
    (Call::cuMemImportFromShareableHandle, share::import),
    (Call::cuIpcGetMemHandle, share::ipc_get_mem_handle),
    (Call::cuIpcOpenMemHandle, share::ipc_open_mem_handle),
    (Call::cuIpcCloseMemHandle, share::ipc_close_mem_handle),
    (Call::cuIpcGetEventHandle, share::ipc_get_event_handle),
    (Call::cuIpcOpenEventHandle, share::ipc_open_event_handle),
    (Call::cuMemAllocAsync, pool::alloc),
    (Call::cuMemAllocFromPoolAsync, pool::alloc_from_pool),
    (Call::cuMemFreeAsync, pool::free),
    (Call::cuDeviceGetDefaultMemPool, pool::get_default),
    (Call::cuDeviceGetMemPool, pool::get_current),
    (Call::cuDeviceSetMemPool, pool::set_current),
    (Call::cuMemPoolCreate, pool::create),
    (Call::cuMemPoolDestroy, pool::destroy),
    (Call::cuMemPoolGetAttribute, pool::get_attribute),
    (Call::cuMemPoolSetAttribute, pool::set_attribute),
    (Call::cuMemPoolTrimTo, pool::trim_to),
    (Call::cuMemPoolSetAccess, pool::set_access),
    (Call::cuMemPoolGetAccess, pool::get_access),
    (Call::cuMemPoolExportToShareableHandle, pool::export),
    (Call::cuMemPoolImportFromShareableHandle, pool::import),
    (Call::cuMemPoolExportPointer, pool::export_pointer),
    (Call::cuMemPoolImportPointer, pool::import_pointer),
    (Call::cuMulticastCreate, multicast::create),
    (Call::cuMulticastAddDevice, multicast::add_device),
    (Call::cuMulticastBindMem, multicast::bind_mem),
    (Call::cuMulticastBindAddr, multicast::bind_addr),
    (Call::cuMulticastUnbind, multicast::unbind),
    (Call::cuMulticastGetGranularity, multicast::get_granularity),
    (Call::cuMemsetD8, copy::memset_d8),
    (Call::cuMemcpyDtoH, copy::dtoh),
    (Call::cuMemcpyHtoD, copy::htod),
    (Call::cuMemcpyDtoD, copy::dtod),
    (Call::cuStreamCreate, stream::create),
    (Call::cuStreamDestroy, stream::destroy),
    (Call::cuStreamSynchronize, stream::synchronize),
    (Call::cuStreamQuery, stream::query),
    (Call::cuStreamWaitEvent, stream::wait_event),
    (Call::cuEventCreate, stream::event_create),
    (Call::cuEventDestroy, stream::event_destroy),
    (Call::cuEventRecord, stream::event_record),
    (Call::cuEventQuery, stream::event_query),
    (Call::cuEventSynchronize, stream::event_synchronize),
    (Call::cuEventElapsedTime, stream::event_elapsed_time),
    (Call::cuLaunchKernel, launch::launch_kernel),
    (Call::cuModuleUnload, launch::module_unload),
];

fn find(call: StepCall) -> Option<Play> {
    let call = call.driver_call()?;
    TABLE.iter().find(|(known, _)| *known == call).map(|(_, play)| *play)
}

/// Makes a driver call, names its value and gives its `out`.
pub(in crate::player) fn driver_call(
    process: &mut Process,
    action: Action<'_>,
) -> Result<Option<Map<String, Json>>, Failure> {
    let Action { call, arguments, name } = action;
    let play = find(call).ok_or(PlayError::NotPlayable { call })?;
    let read = Cell::new(0);
    let given = Arguments::watched(arguments, &read);
    let answered = play(process, given);
    if let Some(key) = given.unread()
        && !matches!(answered, Err(Failure::Play(_)))
    {
        return Err(PlayError::UnknownArgument { key: key.to_owned(), call }.into());
    }
    let answer = answered?;
    match (name, answer.value) {
        (Some(name), Some(value)) => process.values.define(name, value),
        (Some(name), None) => return Err(PlayError::NothingToName { name: name.to_owned(), call }.into()),
        (None, _) => {}
    }
    Ok(answer.out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_that_the_format_and_the_driver_trait_share_can_be_played() {
        let unplayable: Vec<StepCall> =
            StepCall::all().filter(|call| call.driver_call().is_some() && find(*call).is_none()).collect();
        assert_eq!(unplayable, []);
    }
}
