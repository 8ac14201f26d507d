//! As what memory is shared between processes.

use peermap_driver::{
    AllocationProp, Call, CuResult, Device, Driver, DriverError, GranularityOption, HandleType, MemHandle, Result,
};

use crate::names::names;

/// As what memory is shared between processes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShareAs {
    /// As fabric handles where the driver creates, exports and imports such memory, else as descriptors.
    Auto,
    /// As file descriptors.
    #[default]
    Fd,
    /// As fabric handles.
    Fabric,
}

names!(ShareAs { Auto = "auto", Fd = "fd", Fabric = "fabric", });

/// The first call that a driver refuses where fabric handles are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{} answers {result}{}", call.name(), meaning(*result))]
pub(crate) struct NoFabric {
    call: Call,
    result: CuResult,
}

fn meaning(result: CuResult) -> &'static str {
    match result {
        CuResult::NOT_PERMITTED => ": there is no IMEX channel, or not the same one",
        CuResult::NOT_SUPPORTED => ": the device has none",
        CuResult::INVALID_HANDLE => ": it is in another IMEX domain, or an IMEX daemon does not run",
        _ => "",
    }
}

impl NoFabric {
    /// Why a device cannot take part.
    pub(crate) fn reason(self) -> String {
        format!("no fabric handles: {self}")
    }
}

impl ShareAs {
    /// The type of handle that something gets, and what is to be said of that. `what` begins the sentence.
    pub(crate) fn decide(
        self,
        driver: &dyn Driver,
        device: Device,
        what: &str,
    ) -> Result<(HandleType, Option<String>)> {
        let descriptors = HandleType::POSIX_FILE_DESCRIPTOR;
        Ok(match self {
            Self::Fd => (descriptors, None),
            Self::Fabric => (HandleType::FABRIC, None),
            Self::Auto => match try_fabric(driver, device)? {
                None => (HandleType::FABRIC, Some(format!("{what} shared as fabric handles"))),
                Some(no) => (descriptors, Some(format!("{what} shared as descriptors: {no}"))),
            },
        })
    }
}

/// Tries whether a device has fabric handles: creates, exports and imports. Gives what is refused.
pub(crate) fn try_fabric(driver: &dyn Driver, device: Device) -> Result<Option<NoFabric>> {
    let prop = AllocationProp::pinned_on(device.0, HandleType::FABRIC);
    let size = driver.mem_get_allocation_granularity(&prop, GranularityOption::MINIMUM)?;
    let handle = match driver.mem_create(size, &prop, 0) {
        Ok(handle) => handle,
        Err(error) => return refused(Call::cuMemCreate, error).map(Some),
    };
    let tried = export_and_import(driver, handle);
    driver.mem_release(handle)?;
    tried
}

fn export_and_import(driver: &dyn Driver, handle: MemHandle) -> Result<Option<NoFabric>> {
    let exported = match driver.mem_export_to_shareable_handle(handle, HandleType::FABRIC, 0) {
        Ok(exported) => exported,
        Err(error) => return refused(Call::cuMemExportToShareableHandle, error).map(Some),
    };
    match driver.mem_import_from_shareable_handle(exported.as_os_handle(), HandleType::FABRIC) {
        Ok(imported) => driver.mem_release(imported).map(|()| None),
        Err(error) => refused(Call::cuMemImportFromShareableHandle, error).map(Some),
    }
}

/// A refusal answers the question; anything else is an error.
fn refused(call: Call, error: DriverError) -> Result<NoFabric> {
    error.result().map(|result| NoFabric { call, result }).ok_or(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_have_names() {
        assert!(ShareAs::NAMES.iter().all(|name| name.parse::<ShareAs>().unwrap().to_string() == *name));
        assert_eq!("nt".parse::<ShareAs>().unwrap_err().to_string(), "\"nt\" is unknown; use auto or fd or fabric");
    }

    #[test]
    fn a_refusal_names_call_and_code_and_what_is_wanting() {
        let no = refused(Call::cuMemCreate, DriverError::refused(CuResult::NOT_PERMITTED)).unwrap();
        let expected = "cuMemCreate answers CUDA_ERROR_NOT_PERMITTED: there is no IMEX channel, or not the same one";
        assert_eq!(no.to_string(), expected);
        let host = DriverError::Host { what: "memory".to_owned() };
        assert_eq!(refused(Call::cuMemCreate, host.clone()), Err(host));
    }
}
