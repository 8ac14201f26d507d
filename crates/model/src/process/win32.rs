//! Handles of Windows: which types a platform has, and what is done with NT handles outside the driver.

use peermap_driver::{AllocationProp, Argument, DriverError, HandleType, Result, Win32Handle};

use super::physical::unexpected;
use super::{Outside, Process};
use crate::profile::Platform;
use crate::rules;
use crate::wire::{Answer, Ask, ProcessId};

impl Process {
    /// Whether the handle types that are asked for are those of the platform.
    pub(super) fn check_platform(&self, prop: &AllocationProp) -> Result<()> {
        let asked = prop.requested_handle_types;
        let any_of = |types: HandleType| asked.0 & types.0 != 0;
        let of_windows = HandleType::WIN32.with(HandleType::WIN32_KMT);
        let of_linux = HandleType::POSIX_FILE_DESCRIPTOR.with(HandleType::FABRIC);
        let facts: [(&str, &dyn Argument); 1] = [("handle_types", &asked)];
        match self.profile.platform {
            Platform::Linux if any_of(of_windows) => Err(rules::CREATE_4.refuse(&facts, None)),
            Platform::Windows if any_of(of_linux) => Err(rules::WIN32_1.refuse(&facts, None)),
            Platform::Windows if any_of(HandleType::WIN32_KMT) => {
                Err(DriverError::NotModelled { what: "memory shared as D3DKMT handles".to_owned() })
            }
            Platform::Windows if any_of(HandleType::WIN32) && !prop.win32_security_attributes => {
                Err(rules::WIN32_2.refuse(&facts, None))
            }
            Platform::Linux | Platform::Windows => Ok(()),
        }
    }

    /// `cuMemImportFromShareableHandle` of an NT handle of this process: the raw value of the handle.
    ///
    /// # Errors
    /// IMPORT-3, WIN32-3.
    pub fn mem_import_win32(&mut self, outside: &mut Outside<'_>, handle: Win32Handle) -> Result<u64> {
        if self.profile.platform != Platform::Windows {
            return Err(rules::IMPORT_3.refuse(&[("handle_type", &HandleType::WIN32)], None));
        }
        match outside.machine.ask(Ask::ImportWin32 { handle })? {
            Answer::Allocation(record) => Ok(self.imported(&record)),
            Answer::NotExported => Err(rules::WIN32_3.refuse(&[("handle", &handle.0)], None)),
            other => Err(unexpected(&other)),
        }
    }

    /// `DuplicateHandle`: the handle of the same memory in the table of another process.
    ///
    /// # Errors
    /// [`DriverError::Host`] if this process has no such handle, or the other one is gone.
    pub fn duplicate_handle(
        &self,
        outside: &mut Outside<'_>,
        handle: Win32Handle,
        to: ProcessId,
    ) -> Result<Win32Handle> {
        match outside.machine.ask(Ask::DuplicateWin32 { handle, to })? {
            Answer::Win32(duplicate) => Ok(duplicate),
            _ => Err(not_open("DuplicateHandle", handle)),
        }
    }

    /// `CloseHandle`.
    ///
    /// # Errors
    /// [`DriverError::Host`] if this process has no such handle.
    pub fn close_handle(&self, outside: &mut Outside<'_>, handle: Win32Handle) -> Result<()> {
        match outside.machine.ask(Ask::CloseWin32 { handle })? {
            Answer::Done => Ok(()),
            _ => Err(not_open("CloseHandle", handle)),
        }
    }
}

/// These are calls of Windows, not of the driver.
fn not_open(call: &str, Win32Handle(handle): Win32Handle) -> DriverError {
    DriverError::Host {
        what: format!("{call}: {handle:#x} is no open handle of this process, or the other one is gone"),
    }
}
