//! Forms of instructions on the device, compared with what the tables say of them.

use peermap_driver::{ByteSize, Dim3, Driver, JitOptions, KernelArg, LaunchConfig, Result, Stream};
use peermap_forms::{Form, Program, Spread, check, integers, numbers};

use crate::rig::{Current, Mapped, driver};

/// The buffers of one table: every program fits.
struct Buffers {
    operands: Mapped,
    results: Mapped,
}

const BYTES: ByteSize = ByteSize::mib(8);

impl Buffers {
    fn new() -> Self {
        Self { operands: Mapped::new(BYTES), results: Mapped::new(BYTES) }
    }

    fn run(&self, program: &Program) -> Result<Vec<u8>> {
        let module = driver().module_load_data_ex(program.ptx.as_bytes(), &mut JitOptions::default())?;
        let ran = driver().module_get_function(module, Program::ENTRY).and_then(|function| {
            driver().memcpy_htod(self.operands.ptr, &program.operands)?;
            driver().memset_d8(self.results.ptr, 0, ByteSize::from(program.result_bytes))?;
            let (grid, block) = (Dim3::x(program.blocks), Dim3::x(program.threads));
            let config = LaunchConfig { function, grid, block, shared_bytes: ByteSize::ZERO, stream: Stream::NULL };
            let args = [KernelArg::Ptr(self.operands.ptr), KernelArg::Ptr(self.results.ptr)];
            // SAFETY: "args must match the kernel's parameters in number and size": a program has two addresses.
            unsafe { driver().launch_kernel(&config, &args) }?;
            let mut results = vec![0; program.result_bytes];
            driver().memcpy_dtoh(&mut results, self.results.ptr)?;
            Ok(results)
        });
        driver().module_unload(module)?;
        ran
    }
}

fn check_all(forms: &[Form]) {
    let _current = Current::new();
    let buffers = Buffers::new();
    let failed = |form: &Form| check(form, Spread::Threads, 20, |program| buffers.run(program)).err();
    let failures: Vec<String> = forms.iter().filter_map(failed).map(|failure| failure.to_string()).collect();
    assert!(failures.is_empty(), "{} of {} forms:\n{}", failures.len(), forms.len(), failures.join("\n"));
}

pub fn the_device_computes_integers_as_the_table_says() {
    check_all(&integers());
}

pub fn the_device_computes_numbers_as_the_table_says() {
    check_all(&numbers());
}
