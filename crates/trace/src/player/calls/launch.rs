//! Launches of the recordings' kernels.

use peermap_driver::{ByteSize, Dim3, KernelArg, LaunchConfig};
use serde_json::Value as Json;

use crate::player::arguments::{Arguments, address, number, wrong};
use crate::player::error::PlayError;
use crate::player::process::{Answer, Answered, Process};
use crate::player::values::Values;

/// The grid where a recording names none.
const GRID: u32 = 64;
/// The block where a recording names none.
const BLOCK: u32 = 128;

/// A kernel of the recordings and the types of its parameters.
struct Kernel {
    name: &'static str,
    parameters: &'static [&'static str],
}

const KERNELS: &[Kernel] = &[
    Kernel { name: "fill", parameters: &["ptr", "i32", "u8"] },
    Kernel { name: "copy_add", parameters: &["ptr", "ptr", "i32", "u8"] },
    Kernel { name: "count_mismatch", parameters: &["ptr", "i32", "u8", "ptr"] },
];

/// The types of a kernel's parameters, if the recordings know it.
pub(crate) fn kernel_parameters(name: &str) -> Option<&'static [&'static str]> {
    KERNELS.iter().find(|kernel| kernel.name == name).map(|kernel| kernel.parameters)
}

/// The first launch in a context loads the kernels; if that fails, its error is the launch's result.
pub(super) fn launch_kernel(process: &mut Process, given: Arguments<'_>) -> Answered {
    let (kernel, arguments) = kernel_and_arguments(given, &process.values)?;
    let grid = Dim3::x(given.number_or("grid", GRID)?);
    let block = Dim3::x(given.number_or("block", BLOCK)?);
    let stream = given.stream_or_null("stream", &process.values)?;
    let function = process.modules.function(process.driver.as_ref(), kernel.name)?;
    let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::new(0), stream };
    // SAFETY: "`args` must match the kernel's parameters in number and size": they were checked against the kernel's
    // declaration, which is the one in the module that `function` comes from.
    unsafe { process.driver.launch_kernel(&config, &arguments) }?;
    Answer::nothing()
}

/// Unloads every module that the process has loaded.
pub(super) fn module_unload(process: &mut Process, _: Arguments<'_>) -> Answered {
    process.modules.unload(process.driver.as_ref())?;
    Answer::nothing()
}

fn kernel_and_arguments(given: Arguments<'_>, values: &Values) -> Result<(&'static Kernel, Vec<KernelArg>), PlayError> {
    let name = given.text("kernel")?;
    let known = KERNELS.iter().find(|kernel| kernel.name == name);
    let kernel = known.ok_or_else(|| PlayError::UnknownKernel { kernel: name.to_owned() })?;
    let pairs = given.list("args")?.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
    let types: Vec<&str> = pairs.iter().map(|(kind, _)| *kind).collect();
    if types != kernel.parameters {
        let (expected, got) = (kernel.parameters.join(", "), types.join(", "));
        return Err(PlayError::KernelArguments { kernel: kernel.name, expected, got });
    }
    let arguments = pairs.into_iter().map(|(kind, value)| argument(kind, value, values)).collect::<Result<_, _>>()?;
    Ok((kernel, arguments))
}

fn pair(json: &Json) -> Result<(&str, &Json), PlayError> {
    let refuse = || wrong("args", json, "a list of [type, value]");
    let [kind, value] = json.as_array().map_or(&[][..], Vec::as_slice) else { return Err(refuse()) };
    kind.as_str().map(|kind| (kind, value)).ok_or_else(refuse)
}

fn argument(kind: &str, json: &Json, values: &Values) -> Result<KernelArg, PlayError> {
    let number = match kind {
        "ptr" => return address("args", json, values).map(KernelArg::Ptr),
        "i32" => number(json).map(KernelArg::I32),
        "u8" => number(json).map(KernelArg::U8),
        _ => None,
    };
    number.ok_or_else(|| wrong("args", json, "a number in the range of its type"))
}
