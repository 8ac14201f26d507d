//! The kernels that fill and verify, on simulated memory.

use peermap_driver::{
    AccessDesc, AllocationProp, ByteSize, DevicePtr, Dim3, Driver, Function, HandleType, JitOptions, KernelArg,
    LaunchConfig, Stream,
};
use peermap_sim::{SimMachine, SimProcess};

const PTX: &[u8] = include_bytes!("../../kernels/memmap_ipc.ptx");

const VALUE: u8 = 0xA7;
const WORKER: u32 = 3;
const STEP: u32 = 7;

/// What a kernel does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kernel {
    /// Fills with one byte, a byte at a time, as NVIDIA's memMapIPCDrv does.
    FillByte,
    /// Fills with one byte.
    FillId,
    /// Counts the bytes that are not that byte.
    VerifyId,
    /// Fills with the pattern of a worker and a step.
    FillPattern,
    /// Counts the bytes that are not of that pattern.
    VerifyPattern,
}

impl Kernel {
    /// Every kernel, each verification after its fill.
    pub const ALL: [Self; 5] = [Self::FillByte, Self::FillId, Self::VerifyId, Self::FillPattern, Self::VerifyPattern];

    /// The name of its entry.
    #[must_use]
    pub const fn entry(self) -> &'static str {
        match self {
            Self::FillByte => "fill_byte",
            Self::FillId => "fill_id",
            Self::VerifyId => "verify_id",
            Self::FillPattern => "fill_pattern",
            Self::VerifyPattern => "verify_pattern",
        }
    }

    /// What has to be in the memory for this kernel to find it in order.
    #[must_use]
    pub const fn fill(self) -> Self {
        match self {
            Self::FillByte => Self::FillByte,
            Self::FillId | Self::VerifyId => Self::FillId,
            Self::FillPattern | Self::VerifyPattern => Self::FillPattern,
        }
    }

    /// Whether the kernel looks for mismatches.
    #[must_use]
    pub const fn verifies(self) -> bool {
        matches!(self, Self::VerifyId | Self::VerifyPattern)
    }
}

/// A simulated process with a mapped buffer and the kernels loaded.
pub struct Rig {
    process: SimProcess,
    functions: [Function; 5],
    buffer: DevicePtr,
    size: ByteSize,
    result: DevicePtr,
}

impl Rig {
    /// A buffer of whole granules that has been written once, so that no first touch is measured.
    ///
    /// # Panics
    /// If the host cannot back the buffer.
    #[must_use]
    pub fn new(size: ByteSize) -> Self {
        let machine = SimMachine::named("default").expect("the host can back a machine");
        let process = machine.process().expect("the host can back a process");
        process.init(0).expect("a driver can be initialised");
        let device = process.device_get(0).expect("there is a device");
        process.ctx_create(0, device).expect("a context");
        let handle = process.mem_create(size, &AllocationProp::pinned_on(0, HandleType::NONE), 0).expect("memory");
        let buffer = process.mem_address_reserve(size, ByteSize::ZERO, DevicePtr::NULL, 0).expect("addresses");
        process.mem_map(buffer, size, ByteSize::ZERO, handle, 0).expect("a mapping");
        process.mem_set_access(buffer, size, &[AccessDesc::read_write(0)]).expect("rights");
        let result = process.mem_alloc(ByteSize::new(16)).expect("memory");
        let module = process.module_load_data_ex(PTX, &mut JitOptions::default()).expect("the kernels are PTX");
        let functions =
            Kernel::ALL.map(|kernel| process.module_get_function(module, kernel.entry()).expect("an entry"));
        let rig = Self { process, functions, buffer, size, result };
        rig.run(Kernel::FillId);
        rig
    }

    /// Launches a kernel on the whole buffer and waits for it.
    ///
    /// # Panics
    /// If the driver refuses either.
    pub fn run(&self, kernel: Kernel) {
        let config = LaunchConfig {
            function: self.functions[kernel as usize],
            grid: Dim3::x(1056),
            block: Dim3::x(256),
            shared_bytes: ByteSize::ZERO,
            stream: Stream::NULL,
        };
        let mut arguments = vec![KernelArg::Ptr(self.buffer), KernelArg::U64(self.size.get())];
        match kernel.fill() {
            Kernel::FillPattern => arguments.extend([KernelArg::U32(WORKER), KernelArg::U32(STEP)]),
            _ => arguments.push(KernelArg::U8(VALUE)),
        }
        if kernel.verifies() {
            arguments.push(KernelArg::Ptr(self.result));
        }
        // SAFETY: "args must match the kernel's parameters in number and size": as `kernels/README.md` lists them.
        unsafe { self.process.launch_kernel(&config, &arguments) }.expect("a launch");
        self.process.ctx_synchronize().expect("no fault");
    }

    /// How many bytes a verification finds wrong.
    ///
    /// # Panics
    /// If the driver refuses anything.
    #[must_use]
    pub fn mismatches(&self, verification: Kernel) -> u64 {
        let mut words = [0; 16];
        words[8..].fill(0xFF);
        self.process.memcpy_htod(self.result, &words).expect("a copy");
        self.run(verification);
        self.process.memcpy_dtoh(&mut words, self.result).expect("a copy");
        let mut count = [0; 8];
        count.copy_from_slice(&words[..8]);
        u64::from_le_bytes(count)
    }
}

/// The same work without a driver: what the simulator is compared with.
pub struct Plain {
    buffer: Vec<u8>,
    expected: Vec<u8>,
}

impl Plain {
    /// Two buffers that are equal.
    ///
    /// # Panics
    /// If the size is no length in memory.
    #[must_use]
    pub fn new(size: ByteSize) -> Self {
        let bytes = size.to_usize().expect("a length in memory");
        Self { buffer: vec![VALUE; bytes], expected: vec![VALUE; bytes] }
    }

    /// `slice::fill`.
    pub fn fill(&mut self) {
        std::hint::black_box(&mut self.buffer).fill(std::hint::black_box(VALUE));
    }

    /// The comparison of two slices.
    #[must_use]
    pub fn equal(&self) -> bool {
        std::hint::black_box(&self.buffer[..]) == std::hint::black_box(&self.expected[..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verification_finds_its_own_fill_and_not_the_other() {
        let rig = Rig::new(ByteSize::mib(2));
        assert_eq!(rig.mismatches(Kernel::VerifyId), 0);
        assert!(rig.mismatches(Kernel::VerifyPattern) > 0);
        rig.run(Kernel::FillPattern);
        assert_eq!(rig.mismatches(Kernel::VerifyPattern), 0);
        assert!(rig.mismatches(Kernel::VerifyId) > 0);
    }
}
