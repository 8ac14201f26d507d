//! What the compiler of a driver does with a text, as far as it shows: what it refuses, what it writes into its logs, what
//! a kernel takes of a multiprocessor.

use std::sync::Arc;

use peermap_driver::{ByteSize, DeviceAttribute, Dim3, DriverError, JitOptions, Result};
use peermap_model::{DeviceProfile, FunctionInfo, Rule, most_registers, rules};
use peermap_ptx::analysis::Resources;
use peermap_ptx::{Entry, Module, PtxProblem, StateSpace};

use crate::library::{self, Loaded};

/// The fewest registers that ptxas 13.0 compiles for, whatever is asked.
const LEAST_REGISTERS: u32 = 24;
/// The most registers of a thread.
const MOST_REGISTERS: u32 = 255;

/// Functions that the driver has for kernels.
const OF_THE_DRIVER: [&str; 4] = ["vprintf", "__assertfail", "malloc", "free"];

/// What the driver says of an image that is no code that it knows.
const NOT_RECOGNIZED: &str = "error   : Binary format for key='0', ident='' is not recognized";

/// The compiler of the driver of a device.
pub(crate) struct Jit<'d> {
    pub(crate) device: &'d DeviceProfile,
    /// The newest version of the language that it knows.
    pub(crate) newest: (u8, u8),
}

impl Jit<'_> {
    /// Reads a text; what is wrong with it goes to the error log.
    ///
    /// # Errors
    /// MODULE-1 to MODULE-3.
    pub(crate) fn read(&self, image: &[u8], options: &mut JitOptions) -> Result<Arc<Loaded>> {
        let image = image.split(|byte| *byte == 0).next().unwrap_or_default();
        let Ok(text) = std::str::from_utf8(image) else { return Err(Self::not_recognized(image, options)) };
        let checked = Module::check_header(text, self.newest, self.architecture()).and_then(|()| library::read(text));
        let loaded = checked.map_err(|error| {
            let log = error.log(text);
            let log = match &error.problem {
                PtxProblem::MissingHeader { directive: ".version", .. } => NOT_RECOGNIZED,
                // Here the compiler of a driver ends without a last word.
                PtxProblem::UnsupportedVersion { .. } => log.lines().next().unwrap_or_default(),
                _ => &log,
            };
            refuse(rule(&error.problem), &error.to_string(), log, options)
        })?;
        let problem = match (unresolved(&loaded), self.too_large(&loaded)) {
            (Some(problem), _) => Some(("fatal", problem)),
            (None, too_large) => too_large.map(|problem| ("error", problem)),
        };
        match problem {
            None => Ok(loaded),
            Some((kind, problem)) => {
                Err(refuse(&rules::MODULE_1, &problem, &format!("ptxas {kind}   : {problem}"), options))
            }
        }
    }

    /// What comes of an image that is no code that the driver knows.
    pub(crate) fn not_recognized(image: &[u8], options: &mut JitOptions) -> DriverError {
        if let Some(error_log) = &mut options.error_log {
            error_log.fill(NOT_RECOGNIZED);
        }
        rules::MODULE_3.refuse(&[("bytes", &ByteSize::from(image.len()))], None)
    }

    /// The number of the device's architecture, such as 90.
    fn architecture(&self) -> u32 {
        let part = |attribute| self.device.attribute(attribute).and_then(|part| u32::try_from(part).ok()).unwrap_or(0);
        10 * part(DeviceAttribute::COMPUTE_CAPABILITY_MAJOR) + part(DeviceAttribute::COMPUTE_CAPABILITY_MINOR)
    }

    /// What a module asks of a kind of memory that no device has so much of.
    fn too_large(&self, loaded: &Loaded) -> Option<String> {
        const MOST_CONSTANT: u64 = 64 << 10;
        let most = self.device.attribute(DeviceAttribute::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
        let most = most.and_then(|most| u64::try_from(most).ok()).unwrap_or(u64::MAX);
        let constant = constant_bytes(&loaded.module);
        if constant > MOST_CONSTANT {
            return Some(format!(
                "File uses too much global constant data ({constant:#x} bytes, {MOST_CONSTANT:#x} max)"
            ));
        }
        let (entry, shared) = loaded
            .module
            .entries()
            .iter()
            .zip(loaded.resources())
            .map(|(entry, resources)| (entry, resources.shared))
            .find(|(_, shared)| *shared > most)?;
        let name = &entry.name;
        Some(format!("Entry function '{name}' uses too much shared data ({shared:#x} bytes, {most:#x} max)"))
    }

    /// What is known of a kernel before it runs, but for its code.
    pub(crate) fn describe(
        &self,
        entry: &Entry,
        resources: &Resources,
        module: &Module,
        most_registers: Option<u32>,
    ) -> FunctionInfo {
        let of_device = self.device.attribute(DeviceAttribute::MAX_THREADS_PER_BLOCK);
        let of_device = of_device.and_then(|limit| u32::try_from(limit).ok()).unwrap_or(1);
        FunctionInfo {
            name: entry.name.clone(),
            code: 0,
            registers: self.registers(entry, resources, most_registers),
            shared: ByteSize::new(resources.shared),
            local: ByteSize::new(resources.local),
            constant: ByteSize::new(constant_bytes(module)),
            max_threads: entry.directive(".maxntid").map_or(of_device, count).min(of_device),
            required: entry.directive(".reqntid").map(shape),
            ptx_version: module.sm().unwrap_or_else(|| self.architecture()),
        }
    }

    /// What the compiler tells of a module that it has compiled: what it warns of, and more if it is asked for.
    pub(crate) fn tell(&self, loaded: &Loaded, options: &mut JitOptions) {
        let most = options.max_registers;
        let Some(log) = &mut options.info_log else { return };
        let mut text = self.told_of_limit(most);
        if options.verbose {
            let kernels = || loaded.module.entries().iter().zip(loaded.resources()).rev();
            if let Some(most) = most.filter(|most| *most <= MOST_REGISTERS) {
                let most = most.max(LEAST_REGISTERS);
                text.extend(kernels().map(|(Entry { name, .. }, _)| {
                    format!(
                        "ptxas info    : Overriding maximum register limit 256 for '{name}' with  {most} of maxrregcount \
                         option\n"
                    )
                }));
            }
            let global = Resources::of_variables(&loaded.module, StateSpace::Global);
            text.push_str(&format!("ptxas info    : {global} bytes gmem\n"));
            text.extend(kernels().map(|(entry, resources)| self.told_of(entry, resources, most)));
        }
        log.fill(text.trim_end());
    }

    /// The architecture as the compiler of a driver names it: with everything that only this one has.
    fn profile(&self) -> String {
        let architecture = self.architecture();
        format!("sm_{architecture}{}", if architecture >= 90 { "a" } else { "" })
    }

    fn told_of_limit(&self, most: Option<u32>) -> String {
        match most {
            Some(most) if most > MOST_REGISTERS => {
                format!("ptxas warning : Too big maxrregcount value specified {most}, will be ignored\n")
            }
            Some(most) if most < LEAST_REGISTERS => format!(
                "ptxas warning : For profile {} adjusting per thread register count of {most} to lower bound of \
                 {LEAST_REGISTERS}\n",
                self.profile()
            ),
            _ => String::new(),
        }
    }

    fn told_of(&self, entry: &Entry, resources: &Resources, most: Option<u32>) -> String {
        let (name, profile) = (&entry.name, self.profile());
        let registers = self.registers(entry, resources, most);
        let Resources { barriers, local, shared, .. } = resources;
        let mut used = format!("Used {registers} registers (estimated), used {barriers} barriers");
        if *local > 0 {
            used.push_str(&format!(", {local} bytes cumulative stack size"));
        }
        if *shared > 0 {
            used.push_str(&format!(", {shared} bytes smem"));
        }
        format!(
            "ptxas info    : Compiling entry function '{name}' for '{profile}'\n\
             ptxas info    : Function properties for {name}\n\
             ptxas         .     {local} bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
             ptxas info    : {used}\n"
        )
    }

    /// How many registers a thread of an entry gets: an estimate, within what the entry or else the options allow, and
    /// what there is for each thread of the largest block that the entry names.
    fn registers(&self, entry: &Entry, resources: &Resources, most: Option<u32>) -> u32 {
        let of_entry = entry.directive(".maxnreg").and_then(|values| values.first().copied());
        let limit = of_entry.or(most.filter(|most| *most <= MOST_REGISTERS)).unwrap_or(MOST_REGISTERS);
        let for_all = declared_threads(entry).map_or(MOST_REGISTERS, |threads| most_registers(self.device, threads));
        resources.estimated_registers.min(limit.max(LEAST_REGISTERS)).min(for_all.max(LEAST_REGISTERS))
    }
}

/// The most threads of a block that an entry names.
fn declared_threads(entry: &Entry) -> Option<u32> {
    entry.directive(".maxntid").or_else(|| entry.directive(".reqntid")).map(count)
}

/// The threads of a shape.
fn count(numbers: &[u32]) -> u32 {
    numbers.iter().product()
}

/// A shape of a block, of which each number that is not there is one.
fn shape(numbers: &[u32]) -> Dim3 {
    let number = |axis: usize| numbers.get(axis).copied().unwrap_or(1);
    Dim3 { x: number(0), y: number(1), z: number(2) }
}

/// A function that is called and that neither the text nor the driver has.
fn unresolved(loaded: &Loaded) -> Option<String> {
    let name = loaded.missing().find(|name| !OF_THE_DRIVER.contains(name))?;
    Some(format!("Unresolved extern function '{name}'"))
}

/// The rule that the driver follows.
fn rule(problem: &PtxProblem) -> &'static Rule {
    match problem {
        // Whatever does not begin like PTX is taken for some other kind of code.
        PtxProblem::MissingHeader { directive: ".version", .. } => &rules::MODULE_3,
        PtxProblem::UnsupportedVersion { .. } => &rules::MODULE_2,
        _ => &rules::MODULE_1,
    }
}

fn refuse(rule: &'static Rule, problem: &str, log: &str, options: &mut JitOptions) -> DriverError {
    if let Some(error_log) = &mut options.error_log {
        error_log.fill(log.trim_end());
    }
    rule.refuse(&[("problem", &problem)], None)
}

/// The user's constant memory of a module, which all its kernels have.
fn constant_bytes(module: &Module) -> u64 {
    Resources::of_variables(module, StateSpace::Const)
}

#[cfg(test)]
mod tests {
    use peermap_driver::JitLog;
    use peermap_model::Profile;

    use super::*;

    /// Kernels that take something of everything.
    const NEEDY: &str = ".version 8.0
.target sm_90
.address_size 64
.global .b8 of_all[10];
.const .align 8 .b8 table[20];
.func helper() { .local .b8 l[40]; ret; }
.visible .entry needy() .maxntid 128, 2 {
.shared .b8 tile[1000];
.local .b8 own[24];
st.shared.u8 [tile], 1;
bar.sync 0;
bar.sync 2;
call helper;
ret; }
.visible .entry frugal() .maxnreg 40 { ret; }
";

    fn with_logs(most: Option<u32>) -> JitOptions {
        let log = || Some(JitLog::with_capacity(4096));
        JitOptions { max_registers: most, verbose: true, info_log: log(), error_log: log() }
    }

    #[test]
    fn the_info_log_says_what_each_entry_uses_and_that_registers_are_estimated() {
        let device = Profile::named("h200-x2").unwrap().devices.remove(0);
        let jit = Jit { device: &device, newest: (9, 0) };
        let mut options = with_logs(None);
        let loaded = jit.read(NEEDY.as_bytes(), &mut options).unwrap();
        jit.tell(&loaded, &mut options);
        let said = "ptxas info    : 10 bytes gmem\n\
            ptxas info    : Compiling entry function 'frugal' for 'sm_90a'\n\
            ptxas info    : Function properties for frugal\n\
            ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 3 registers (estimated), used 0 barriers\n\
            ptxas info    : Compiling entry function 'needy' for 'sm_90a'\n\
            ptxas info    : Function properties for needy\n\
            ptxas         .     64 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n\
            ptxas info    : Used 24 registers (estimated), used 3 barriers, 64 bytes cumulative stack size, \
            1000 bytes smem";
        assert_eq!(options.info_log.unwrap().text(), said);
    }

    #[test]
    fn a_kernel_is_described_by_its_text() {
        let device = Profile::named("h200-x2").unwrap().devices.remove(0);
        let jit = Jit { device: &device, newest: (9, 0) };
        let loaded = jit.read(NEEDY.as_bytes(), &mut with_logs(None)).unwrap();
        let info = jit.describe(&loaded.module.entries()[0], &loaded.resources()[0], &loaded.module, None);
        let expected = FunctionInfo {
            name: "needy".to_owned(),
            code: 0,
            registers: 24,
            shared: ByteSize::new(1000),
            local: ByteSize::new(64),
            constant: ByteSize::new(20),
            max_threads: 256,
            required: None,
            ptx_version: 90,
        };
        assert_eq!(info, expected);
    }

    #[test]
    fn more_memory_than_a_block_or_a_module_can_have_is_refused() {
        let device = Profile::named("h200-x2").unwrap().devices.remove(0);
        let jit = Jit { device: &device, newest: (9, 0) };
        for (from, to, says) in [
            (
                "tile[1000]",
                "tile[300000]",
                "Entry function 'needy' uses too much shared data (0x493e0 bytes, 0x38c00 max)",
            ),
            ("table[20]", "table[70000]", "File uses too much global constant data (0x11170 bytes, 0x10000 max)"),
        ] {
            let mut options = with_logs(None);
            let refused = jit.read(NEEDY.replace(from, to).as_bytes(), &mut options).map(drop).unwrap_err();
            assert_eq!(refused.rule().map(|rule| rule.0), Some("MODULE-1"));
            assert_eq!(options.error_log.unwrap().text(), format!("ptxas error   : {says}"));
        }
    }
}
