//! What the compiler of a driver does with a text, as far as it shows: what it refuses, what it writes into its logs, what
//! a kernel takes of a multiprocessor.

use std::sync::Arc;

use peermap_driver::{ByteSize, DeviceAttribute, DriverError, JitOptions, Result};
use peermap_model::{DeviceProfile, FunctionInfo, Rule, rules};
use peermap_ptx::analysis::Resources;
use peermap_ptx::{Entry, Module, PtxProblem, StateSpace};

use crate::library::{self, Loaded};

/// The fewest registers that ptxas 13.0 compiles for, whatever is asked.
const LEAST_REGISTERS: u32 = 24;
/// The most registers of a thread.
const MOST_REGISTERS: u32 = 255;

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
        let Ok(text) = std::str::from_utf8(image) else {
            return Err(rules::MODULE_3.refuse(&[("bytes", &ByteSize::from(image.len()))], None));
        };
        let checked = Module::check_header(text, self.newest, self.architecture()).and_then(|()| library::read(text));
        let loaded = checked.map_err(|error| {
            let rule = rule(&error.problem);
            refuse(rule, &error.to_string(), &error.log(text), options)
        })?;
        match self.too_large(&loaded) {
            None => Ok(loaded),
            Some(problem) => Err(refuse(&rules::MODULE_1, &problem, &format!("ptxas error   : {problem}\n"), options)),
        }
    }

    /// The number of the device's architecture, such as 90.
    fn architecture(&self) -> u32 {
        let part = |attribute| self.device.attribute(attribute).and_then(|part| u32::try_from(part).ok()).unwrap_or(0);
        10 * part(DeviceAttribute::COMPUTE_CAPABILITY_MAJOR) + part(DeviceAttribute::COMPUTE_CAPABILITY_MINOR)
    }

    /// What a module asks of a kind of memory that no device has so much of.
    fn too_large(&self, loaded: &Loaded) -> Option<String> {
        const MOST_CONSTANT: u64 = 64 << 10;
        let most = self.device.attribute(DeviceAttribute::MAX_SHARED_MEMORY_PER_BLOCK);
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
        let declared = entry.directive(".maxntid").or_else(|| entry.directive(".reqntid"));
        let declared = declared.map_or(of_device, |threads| threads.iter().product());
        let (major, minor) = module.version();
        FunctionInfo {
            name: entry.name.clone(),
            code: 0,
            registers: registers(entry, resources, most_registers),
            shared: ByteSize::new(resources.shared),
            local: ByteSize::new(resources.local),
            constant: ByteSize::new(constant_bytes(module)),
            max_threads: declared.min(of_device),
            ptx_version: 10 * u32::from(major) + u32::from(minor),
        }
    }

    /// What the compiler tells of a module that it has compiled, as it does when it is asked for more than warnings.
    pub(crate) fn tell(&self, loaded: &Loaded, options: &mut JitOptions) {
        let Some(log) = &mut options.info_log else { return };
        let mut text = told_of_limit(options.max_registers, self.architecture());
        let global = Resources::of_variables(&loaded.module, StateSpace::Global);
        text.push_str(&format!("ptxas info    : {global} bytes gmem\n"));
        for (entry, resources) in loaded.module.entries().iter().zip(loaded.resources()) {
            text.push_str(&told_of(entry, resources, options.max_registers, self.architecture()));
        }
        log.fill(&text);
    }
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
        error_log.fill(log);
    }
    rule.refuse(&[("problem", &problem)], None)
}

/// The user's constant memory of a module, which all its kernels have.
fn constant_bytes(module: &Module) -> u64 {
    Resources::of_variables(module, StateSpace::Const)
}

/// How many registers a thread of an entry gets: an estimate, within what the entry or else the options allow.
fn registers(entry: &Entry, resources: &Resources, most: Option<u32>) -> u32 {
    let of_entry = entry.directive(".maxnreg").and_then(|values| values.first().copied());
    let limit = of_entry.or(most.filter(|most| *most <= MOST_REGISTERS)).unwrap_or(MOST_REGISTERS);
    resources.estimated_registers.min(limit.max(LEAST_REGISTERS))
}

fn told_of_limit(most: Option<u32>, architecture: u32) -> String {
    match most {
        Some(most) if most > MOST_REGISTERS => {
            format!("ptxas warning : Too big maxrregcount value specified {most}, will be ignored\n")
        }
        Some(most) if most < LEAST_REGISTERS => format!(
            "ptxas warning : For profile sm_{architecture} adjusting per thread register count of {most} to lower bound \
             of {LEAST_REGISTERS}\n"
        ),
        _ => String::new(),
    }
}

fn told_of(entry: &Entry, resources: &Resources, most: Option<u32>, architecture: u32) -> String {
    let name = &entry.name;
    let registers = registers(entry, resources, most);
    let Resources { barriers, local, shared, .. } = resources;
    let mut used = format!("Used {registers} registers (estimated), used {barriers} barriers");
    if *local > 0 {
        used.push_str(&format!(", {local} bytes cumulative stack size"));
    }
    if *shared > 0 {
        used.push_str(&format!(", {shared} bytes smem"));
    }
    format!(
        "ptxas info    : Compiling entry function '{name}' for 'sm_{architecture}'\n\
         ptxas info    : Function properties for {name}\n    {local} bytes stack frame\n\
         ptxas info    : {used}\n"
    )
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
        JitOptions { max_registers: most, info_log: log(), error_log: log() }
    }

    #[test]
    fn the_info_log_says_what_each_entry_uses_and_that_registers_are_estimated() {
        let device = Profile::named("h200-x2").unwrap().devices.remove(0);
        let jit = Jit { device: &device, newest: (9, 0) };
        let mut options = with_logs(None);
        let loaded = jit.read(NEEDY.as_bytes(), &mut options).unwrap();
        jit.tell(&loaded, &mut options);
        let said = "ptxas info    : 10 bytes gmem\n\
            ptxas info    : Compiling entry function 'needy' for 'sm_90'\n\
            ptxas info    : Function properties for needy\n    64 bytes stack frame\n\
            ptxas info    : Used 24 registers (estimated), used 3 barriers, 64 bytes cumulative stack size, \
            1000 bytes smem\n\
            ptxas info    : Compiling entry function 'frugal' for 'sm_90'\n\
            ptxas info    : Function properties for frugal\n    0 bytes stack frame\n\
            ptxas info    : Used 3 registers (estimated), used 0 barriers\n";
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
            ptx_version: 80,
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
                "tile[65536]",
                "Entry function 'needy' uses too much shared data (0x10000 bytes, 0xc000 max)",
            ),
            ("table[20]", "table[70000]", "File uses too much global constant data (0x11170 bytes, 0x10000 max)"),
        ] {
            let mut options = with_logs(None);
            let refused = jit.read(NEEDY.replace(from, to).as_bytes(), &mut options).map(drop).unwrap_err();
            assert_eq!(refused.rule().map(|rule| rule.0), Some("MODULE-1"));
            assert_eq!(options.error_log.unwrap().text(), format!("ptxas error   : {says}\n"));
        }
    }
}
