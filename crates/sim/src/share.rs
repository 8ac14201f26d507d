//! Export and import.

use std::fs::{self, OpenOptions};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

use nix::errno::Errno;
use nix::fcntl::OFlag;
use peermap_driver::{
    Call, DevicePtr, DriverError, Event, FabricHandle, HandleType, IpcEventHandle, IpcMemHandle, MemHandle, OsHandle,
    Result, ShareableHandle,
};
use peermap_model::{Answer, Outside, ThreadId};

use crate::handle;
use crate::link::Link;
use crate::process::{Inner, State};
use crate::tables::Tables;

impl Inner {
    pub(crate) fn mem_export_to_shareable_handle(
        &self,
        _: ThreadId,
        handle: MemHandle,
        handle_type: HandleType,
        flags: u64,
    ) -> Result<ShareableHandle> {
        let mut state = self.enter(Call::cuMemExportToShareableHandle)?;
        let State { process, link, .. } = &mut *state;
        let mut tables = Tables(&self.memory.tables);
        let mut outside = Outside { machine: &mut **link, tables: &mut tables };
        let answer = process.mem_export_to_shareable_handle(&mut outside, handle, handle_type, flags)?;
        shareable_handle(link.as_mut(), answer)
    }

    pub(crate) fn mem_import_from_shareable_handle(
        &self,
        _: ThreadId,
        from: OsHandle<'_>,
        handle_type: HandleType,
    ) -> Result<MemHandle> {
        let mut state = self.enter(Call::cuMemImportFromShareableHandle)?;
        let State { process, link, .. } = &mut *state;
        attach(link.as_mut(), from, handle_type)?;
        let mut tables = Tables(&self.memory.tables);
        let mut outside = Outside { machine: &mut **link, tables: &mut tables };
        if let OsHandle::Win32(handle) = from {
            return process.mem_import_win32(&mut outside, handle).map(handle::mem_handle);
        }
        let imported =
            process.mem_import_from_shareable_handle(&mut outside, from.fd_number(), fabric_bytes(&from), handle_type);
        link.detach();
        imported.map(handle::mem_handle)
    }

    pub(crate) fn ipc_get_mem_handle(&self, thread: ThreadId, ptr: DevicePtr) -> Result<IpcMemHandle> {
        self.call(Call::cuIpcGetMemHandle, |process, outside| process.ipc_get_mem_handle(outside, thread, ptr))
    }

    pub(crate) fn ipc_open_mem_handle(&self, thread: ThreadId, handle: &IpcMemHandle, flags: u32) -> Result<DevicePtr> {
        self.call(Call::cuIpcOpenMemHandle, |process, outside| {
            process.ipc_open_mem_handle(outside, thread, handle, flags)
        })
    }

    pub(crate) fn ipc_close_mem_handle(&self, thread: ThreadId, ptr: DevicePtr) -> Result<()> {
        self.call(Call::cuIpcCloseMemHandle, |process, outside| process.ipc_close_mem_handle(outside, thread, ptr))
    }

    pub(crate) fn ipc_get_event_handle(&self, _: ThreadId, event: Event) -> Result<IpcEventHandle> {
        self.call(Call::cuIpcGetEventHandle, |process, outside| process.ipc_get_event_handle(outside, event))
    }

    pub(crate) fn ipc_open_event_handle(&self, thread: ThreadId, handle: &IpcEventHandle) -> Result<Event> {
        self.call(Call::cuIpcOpenEventHandle, |process, outside| process.ipc_open_event_handle(outside, thread, handle))
            .map(handle::event)
    }
}

/// What an export gave: the machine's answer, or the descriptor beside it.
pub(crate) fn shareable_handle(link: &mut dyn Link, answer: Answer) -> Result<ShareableHandle> {
    let out_of_turn = || DriverError::Host { what: "the simulated machine answered out of turn".to_owned() };
    match answer {
        Answer::Descriptor => link.take_descriptor().map(ShareableHandle::PosixFd).ok_or_else(out_of_turn),
        Answer::Fabric(bytes) => {
            let bytes = bytes.try_into().map_err(|_| out_of_turn())?;
            Ok(ShareableHandle::Fabric(FabricHandle(bytes)))
        }
        Answer::Win32(handle) => Ok(ShareableHandle::Win32(handle)),
        _ => Err(out_of_turn()),
    }
}

/// Puts the descriptor of an import beside the next question. A number that is no open pipe goes without, and the
/// machine finds nothing.
pub(crate) fn attach(link: &mut dyn Link, from: OsHandle<'_>, handle_type: HandleType) -> Result<()> {
    match from {
        _ if handle_type != HandleType::POSIX_FILE_DESCRIPTOR => Ok(()),
        OsHandle::Fd(descriptor) => link.attach(descriptor),
        OsHandle::FdNumber(number) => match open_pipe(number)? {
            Some(descriptor) => link.attach(descriptor.as_fd()),
            None => Ok(()),
        },
        OsHandle::Fabric(_) | OsHandle::Win32(_) => Ok(()),
    }
}

/// The bytes of a fabric handle.
pub(crate) fn fabric_bytes<'h>(from: &OsHandle<'h>) -> Option<&'h [u8]> {
    match from {
        OsHandle::Fabric(handle) => Some(handle.0.as_slice()),
        OsHandle::Fd(_) | OsHandle::FdNumber(_) | OsHandle::Win32(_) => None,
    }
}

/// Another descriptor of the pipe behind a number, if it is one: nothing else is ever an exported handle, and to open it
/// could block.
///
/// # Errors
/// [`DriverError::Host`] if it is one and this process may have no more files open.
fn open_pipe(number: i32) -> Result<Option<OwnedFd>> {
    let path = format!("/proc/self/fd/{number}");
    let is_pipe = fs::metadata(&path).is_ok_and(|status| status.file_type().is_fifo());
    let mut options = OpenOptions::new();
    options.write(true).custom_flags(OFlag::O_NONBLOCK.bits());
    if !is_pipe {
        return Ok(None);
    }
    match options.open(&path) {
        Ok(pipe) => Ok(Some(pipe.into())),
        Err(error) if error.raw_os_error() == Some(Errno::EMFILE as i32) => Err(DriverError::Host {
            what: format!("{path} cannot be opened: {error}; `ulimit -n` says how many may be"),
        }),
        // The read end of a pipe, or one that is gone by now: no exported handle.
        Err(_) => Ok(None),
    }
}
