//! Opening the driver library, and what can be wrong with it.

use peermap_driver::{Call, CuResult, DriverError, Result as DriverResult};

use crate::driver::CudaDriver;
use crate::library::{self, Library};
use crate::multicast::Door;

/// The least version whose driver has every function of the table; the newest is `cuMemRetainAllocationHandle`.
const NEEDED_VERSION: i32 = 11_000;

/// Why the real driver cannot be used here.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The dynamic loader finds no driver library.
    #[error(
        "no NVIDIA driver: the dynamic loader can load neither libcuda.so.1 nor libcuda.so; install the driver, or put \
         the folder of its library in LD_LIBRARY_PATH"
    )]
    NoLibrary,
    /// The driver is older than what peermap needs.
    #[error(
        "the NVIDIA driver is too old: it supports CUDA {}, and CUDA {} is needed; install a newer driver",
        dotted(*found), dotted(*needed)
    )]
    TooOld {
        /// What the driver supports, such as 10020.
        found: i32,
        /// The least that is needed.
        needed: i32,
    },
    /// The driver library lacks a function.
    #[error("the NVIDIA driver library has no function {symbol}; install a newer driver")]
    MissingSymbol {
        /// The function, as the library would export it.
        symbol: &'static str,
    },
    /// The driver library is there, but the driver behind it refuses to start.
    #[error("the NVIDIA driver does not start: {call} answers {source}; nvidia-smi may say more")]
    Unusable {
        /// What it was asked.
        call: Call,
        /// What it answered.
        source: DriverError,
    },
    /// The driver shows no device to this process.
    #[error("the NVIDIA driver shows no device to this process; see nvidia-smi and CUDA_VISIBLE_DEVICES")]
    NoDevice,
}

impl CudaDriver {
    /// Loads the driver library. It initialises nothing: that is [`init`](peermap_driver::Driver::init).
    ///
    /// # Errors
    /// [`OpenError::NoLibrary`], [`OpenError::TooOld`], [`OpenError::MissingSymbol`], or [`OpenError::Unusable`] where
    /// the library cannot tell its version, as the stub library of the toolkit cannot.
    pub fn open() -> Result<Self, OpenError> {
        if !library::is_present() {
            return Err(OpenError::NoLibrary);
        }
        // SAFETY: the library was found just now.
        let driver = Self { library: unsafe { Library::load() }, door: Door::of_environment() };
        judge(driver.driver_get_version(), driver.library.first_missing())?;
        Ok(driver)
    }

    /// Initialises the driver in this process and counts the devices that it shows.
    ///
    /// # Errors
    /// [`OpenError::NoDevice`], or [`OpenError::Unusable`] for every other refusal.
    pub fn check_devices(&self) -> Result<u32, OpenError> {
        started(Call::cuInit, self.init(0))?;
        let count = started(Call::cuDeviceGetCount, self.device_get_count())?;
        u32::try_from(count).ok().filter(|count| *count > 0).ok_or(OpenError::NoDevice)
    }
}

/// Whether this machine has a driver that shows a device to this process.
///
/// Meant for the listing of tests. It initialises the driver in the calling process, which takes about half a second;
/// a process that did so must not use the driver in a forked child, unless the child runs `exec` first.
#[must_use]
pub fn hardware_present() -> bool {
    CudaDriver::open().and_then(|driver| driver.check_devices()).is_ok()
}

/// What a library of this version without this function is good for.
fn judge(version: DriverResult<i32>, missing: Option<&'static str>) -> Result<(), OpenError> {
    match (version, missing) {
        (Ok(found), _) if found < NEEDED_VERSION => Err(OpenError::TooOld { found, needed: NEEDED_VERSION }),
        (_, Some(symbol)) => Err(OpenError::MissingSymbol { symbol }),
        (Err(source), None) => Err(OpenError::Unusable { call: Call::cuDriverGetVersion, source }),
        (Ok(_), None) => Ok(()),
    }
}

/// Tells a machine without devices from a driver that does not start.
fn started<T>(call: Call, answer: DriverResult<T>) -> Result<T, OpenError> {
    answer.map_err(|source| match source.result() {
        Some(CuResult::NO_DEVICE) => OpenError::NoDevice,
        _ => OpenError::Unusable { call, source },
    })
}

/// A version as people write it: 12040 is 12.4.
fn dotted(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STUB: DriverError = DriverError::refused(CuResult::STUB_LIBRARY);

    #[test]
    fn a_machine_has_no_library_exactly_when_none_can_be_loaded() {
        assert_eq!(matches!(CudaDriver::open(), Err(OpenError::NoLibrary)), !library::is_present());
    }

    #[test]
    fn an_old_driver_is_told_by_its_version_even_where_functions_are_missing() {
        let error = judge(Ok(10_020), Some("cuMemRetainAllocationHandle")).unwrap_err();
        assert_eq!(error, OpenError::TooOld { found: 10_020, needed: NEEDED_VERSION });
        assert_eq!(
            error.to_string(),
            "the NVIDIA driver is too old: it supports CUDA 10.2, and CUDA 11.0 is needed; install a newer driver"
        );
    }

    #[test]
    fn a_missing_function_is_named() {
        let error = judge(Ok(NEEDED_VERSION), Some("cuMemCreate")).unwrap_err();
        assert_eq!(error, OpenError::MissingSymbol { symbol: "cuMemCreate" });
        assert!(error.to_string().contains("cuMemCreate"));
    }

    #[test]
    fn a_library_that_cannot_tell_its_version_is_unusable() {
        let error = judge(Err(STUB), None).unwrap_err();
        assert_eq!(error, OpenError::Unusable { call: Call::cuDriverGetVersion, source: STUB });
        assert!(error.to_string().contains("cuDriverGetVersion answers CUDA_ERROR_STUB_LIBRARY"));
    }

    #[test]
    fn the_needed_version_with_every_function_will_do() {
        assert_eq!(judge(Ok(NEEDED_VERSION), None), Ok(()));
    }

    #[test]
    fn no_device_is_told_from_a_driver_that_does_not_start() {
        let none = Err::<(), _>(DriverError::refused(CuResult::NO_DEVICE));
        assert_eq!(started(Call::cuInit, none), Err(OpenError::NoDevice));
        let mismatch = DriverError::refused(CuResult::SYSTEM_DRIVER_MISMATCH);
        assert_eq!(
            started(Call::cuInit, Err::<(), _>(mismatch.clone())),
            Err(OpenError::Unusable { call: Call::cuInit, source: mismatch })
        );
    }

    #[test]
    fn every_error_is_one_line() {
        let errors = [
            OpenError::NoLibrary,
            OpenError::TooOld { found: 0, needed: NEEDED_VERSION },
            OpenError::MissingSymbol { symbol: "cuInit" },
            OpenError::Unusable { call: Call::cuInit, source: STUB },
            OpenError::NoDevice,
        ];
        assert!(errors.iter().all(|error| error.to_string().lines().count() == 1));
    }
}
