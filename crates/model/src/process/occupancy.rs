//! How many blocks of a kernel a multiprocessor holds at once.

use peermap_driver::{ByteSize, DeviceAttribute};

use super::module::FunctionInfo;
use crate::profile::DeviceProfile;

/// Registers are given to a warp in units of so many.
const REGISTER_UNIT: u64 = 256;

/// The most registers of a thread.
const MOST_REGISTERS: u32 = 255;

/// What depends on the generation of a device and is no attribute of it.
struct Generation {
    /// The parts of a multiprocessor; each has its share of the registers, and a warp lives in one.
    parts: u64,
    /// Shared memory is given to a block in units of so many bytes.
    shared_unit: u64,
}

impl Generation {
    fn of(device: &DeviceProfile) -> Self {
        let major = device.attribute(DeviceAttribute::COMPUTE_CAPABILITY_MAJOR).unwrap_or(0);
        let minor = device.attribute(DeviceAttribute::COMPUTE_CAPABILITY_MINOR).unwrap_or(0);
        Self { parts: if (major, minor) == (6, 0) { 2 } else { 4 }, shared_unit: if major < 8 { 256 } else { 128 } }
    }
}

/// A limit of a device; none if it does not say.
pub(super) fn limit(device: &DeviceProfile, attribute: DeviceAttribute) -> u64 {
    device.attribute(attribute).and_then(|value| u64::try_from(value).ok()).unwrap_or(u64::MAX)
}

/// Warps of a kernel with so many registers that the registers of a multiprocessor are enough for.
fn warps_by_registers(device: &DeviceProfile, registers: u32) -> u64 {
    let Generation { parts, .. } = Generation::of(device);
    let warp = limit(device, DeviceAttribute::WARP_SIZE).max(1);
    let of_a_warp = (u64::from(registers) * warp).next_multiple_of(REGISTER_UNIT).max(REGISTER_UNIT);
    limit(device, DeviceAttribute::MAX_REGISTERS_PER_MULTIPROCESSOR) / parts / of_a_warp * parts
}

/// The most threads of a block: what the kernel and the device allow, and registers are there for.
pub(super) fn most_threads(device: &DeviceProfile, info: &FunctionInfo) -> u32 {
    let warp = limit(device, DeviceAttribute::WARP_SIZE).max(1);
    let by_registers = warps_by_registers(device, info.registers).saturating_mul(warp);
    info.max_threads.min(u32::try_from(by_registers).unwrap_or(u32::MAX))
}

/// The most registers that a thread can have if a block has so many.
#[must_use]
pub fn most_registers(device: &DeviceProfile, threads: u32) -> u32 {
    let Generation { parts, .. } = Generation::of(device);
    let warp = limit(device, DeviceAttribute::WARP_SIZE).max(1);
    let of_a_part = limit(device, DeviceAttribute::MAX_REGISTERS_PER_MULTIPROCESSOR) / parts;
    let warps_of_a_part = u64::from(threads).div_ceil(warp).div_ceil(parts).max(1);
    let of_a_warp = of_a_part / warps_of_a_part / REGISTER_UNIT * REGISTER_UNIT;
    u32::try_from(of_a_warp / warp).unwrap_or(MOST_REGISTERS).min(MOST_REGISTERS)
}

/// The most dynamic shared memory of a launch: what a block has without asking for more, beside what is static.
pub(super) fn most_dynamic_shared(device: &DeviceProfile, info: &FunctionInfo) -> ByteSize {
    ByteSize::new(limit(device, DeviceAttribute::MAX_SHARED_MEMORY_PER_BLOCK).saturating_sub(info.shared.get()))
}

/// Blocks that fit a multiprocessor: the least of what its block slots, warps, registers and shared memory allow; none if
/// a block cannot be launched at all.
///
/// # Source
/// CUDA C++ Programming Guide, "Hardware Multithreading" and "Compute Capabilities"; NVIDIA's occupancy calculator for the
/// units and for the parts of a multiprocessor; the tuning guides for what is reserved of shared memory.
pub(super) fn max_active_blocks(
    device: &DeviceProfile,
    info: &FunctionInfo,
    threads: u32,
    dynamic_shared: ByteSize,
) -> i32 {
    if threads > most_threads(device, info) || dynamic_shared > most_dynamic_shared(device, info) {
        return 0;
    }
    let Generation { shared_unit, .. } = Generation::of(device);
    let warp = limit(device, DeviceAttribute::WARP_SIZE).max(1);
    let warps = u64::from(threads).div_ceil(warp);
    let by_slots = limit(device, DeviceAttribute::MAX_BLOCKS_PER_MULTIPROCESSOR);
    let by_warps = limit(device, DeviceAttribute::MAX_THREADS_PER_MULTIPROCESSOR) / warp / warps;
    let by_registers = warps_by_registers(device, info.registers) / warps;
    let reserved = device.attribute(DeviceAttribute::RESERVED_SHARED_MEMORY_PER_BLOCK).unwrap_or(0);
    let reserved = u64::try_from(reserved).unwrap_or(0);
    let shared = info.shared.get().saturating_add(dynamic_shared.get()).saturating_add(reserved);
    let by_shared = limit(device, DeviceAttribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
        / shared.checked_next_multiple_of(shared_unit).unwrap_or(u64::MAX).max(1);
    let least = by_slots.min(by_warps).min(by_registers).min(by_shared);
    i32::try_from(least).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    /// A device of a capability. Threads, blocks and shared memory of a multiprocessor are those of the Programming Guide's
    /// table of compute capabilities; what is reserved for each block is of the tuning guides.
    fn device(capability: (i32, i32)) -> DeviceProfile {
        let (threads, blocks, shared_kib, reserved) = match capability {
            (6, 0) => (2048, 32, 64, 0),
            (7, 0) => (2048, 32, 96, 0),
            (7, 5) => (1024, 16, 64, 0),
            (8, 0) => (2048, 32, 164, 1024),
            (8, 6) => (1536, 16, 100, 1024),
            _ => (2048, 32, 228, 1024),
        };
        let mut device = Profile::named("h200-x2").unwrap().devices.remove(0);
        for (attribute, value) in [
            (DeviceAttribute::COMPUTE_CAPABILITY_MAJOR, capability.0),
            (DeviceAttribute::COMPUTE_CAPABILITY_MINOR, capability.1),
            (DeviceAttribute::MAX_THREADS_PER_MULTIPROCESSOR, threads),
            (DeviceAttribute::MAX_BLOCKS_PER_MULTIPROCESSOR, blocks),
            (DeviceAttribute::MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, shared_kib << 10),
            (DeviceAttribute::MAX_REGISTERS_PER_MULTIPROCESSOR, 64 << 10),
            (DeviceAttribute::RESERVED_SHARED_MEMORY_PER_BLOCK, reserved),
        ] {
            device.attributes.insert(attribute.code(), value);
        }
        device
    }

    /// A kernel that takes so much.
    fn taking(registers: u32, shared: u64) -> FunctionInfo {
        FunctionInfo {
            name: String::new(),
            code: 0,
            registers,
            shared: ByteSize::new(shared),
            local: ByteSize::ZERO,
            constant: ByteSize::ZERO,
            max_threads: 1024,
            required: None,
            ptx_version: 90,
        }
    }

    fn blocks(capability: (i32, i32), threads: u32, registers: u32, shared: u64) -> i32 {
        max_active_blocks(&device(capability), &taking(registers, shared), threads, ByteSize::ZERO)
    }

    #[test]
    fn the_profile_is_what_the_table_says_of_its_capability() {
        let measured = Profile::named("h200-x2").unwrap().devices.remove(0);
        assert_eq!(measured.attributes, device((9, 0)).attributes);
    }

    #[test]
    fn occupancy_is_what_nvidia_publishes() {
        for (capability, threads, registers, shared, expected, source) in [
            ((6, 0), 512, 64, 0, 2, "Programming Guide: 2 blocks of 512 threads and 64 registers fill the registers"),
            ((6, 0), 512, 65, 0, 1, "Programming Guide: one register more, and one block is left"),
            ((7, 0), 1024, 32, 0, 2, "Best Practices: full occupancy takes at most 32 registers"),
            ((7, 0), 128, 37, 0, 12, "Best Practices: 12 blocks of 128 threads and 37 registers"),
            ((7, 0), 320, 37, 0, 4, "Best Practices: 4 blocks of 320 threads and 37 registers"),
            ((7, 5), 32, 16, 0, 16, "Turing tuning guide: 16 blocks"),
            ((7, 5), 1024, 64, 0, 1, "Turing tuning guide: 32 warps"),
            ((8, 0), 32, 16, 163 << 10, 1, "Ampere tuning guide: a block has at most 163 KiB of 164"),
            ((8, 6), 32, 16, 99 << 10, 1, "Ampere tuning guide: a block has at most 99 KiB of 100"),
            ((8, 6), 256, 32, 0, 6, "Ampere tuning guide: 48 warps"),
            ((8, 6), 32, 16, 0, 16, "Ampere tuning guide: 16 blocks"),
            ((9, 0), 32, 16, 227 << 10, 1, "Hopper tuning guide: a block has at most 227 KiB of 228"),
            ((9, 0), 32, 16, 0, 32, "Hopper tuning guide: 32 blocks"),
            ((9, 0), 1024, 32, 0, 2, "Hopper tuning guide: 64 warps"),
            ((9, 0), 32, 255, 0, 8, "Hopper tuning guide: 255 registers of 64 Ki"),
        ] {
            assert_eq!(blocks(capability, threads, registers, shared), expected, "{source}");
        }
    }

    /// What an H200 answered.
    #[test]
    fn occupancy_is_what_was_measured() {
        let device = Profile::named("h200-x2").unwrap().devices.remove(0);
        let measured = include_str!("../../../../fixtures/occupancy/h200.csv").lines().skip(1);
        let wrong: Vec<&str> = measured
            .filter(|line| {
                let (operands, answer) = line.rsplit_once(',').unwrap();
                let [registers, shared, threads, dynamic] =
                    *operands.split(',').map(|it| it.parse::<i64>().unwrap()).collect::<Vec<_>>()
                else {
                    panic!("{line}");
                };
                let info = taking(registers as u32, shared as u64);
                let ours = u32::try_from(threads).ok().filter(|threads| *threads > 0).map_or_else(
                    || "INVALID_VALUE".to_owned(),
                    |threads| max_active_blocks(&device, &info, threads, ByteSize::new(dynamic as u64)).to_string(),
                );
                ours != answer
            })
            .collect();
        assert_eq!(wrong, Vec::<&str>::new());
    }

    /// Measured on an H200: the threads for which a kernel of so many registers can be launched.
    #[test]
    fn threads_are_limited_by_registers() {
        let device = device((9, 0));
        for (registers, threads) in [(8, 1024), (64, 1024), (72, 896), (80, 768), (96, 640), (128, 512), (168, 384)] {
            assert_eq!(most_threads(&device, &taking(registers, 0)), threads, "{registers} registers");
        }
        assert_eq!(most_threads(&device, &taking(255, 0)), 256);
        assert_eq!([1024, 896, 512, 32].map(|threads| most_registers(&device, threads)), [64, 72, 128, 255]);
    }

    #[test]
    fn units_count() {
        // 40 registers take 1,280 of a part's 16,384: 12 warps each, 48 in all, and not the 51 that 65,536 would hold.
        assert_eq!(blocks((9, 0), 96, 40, 0), 16);
        assert_eq!(blocks((6, 0), 96, 40, 0), 16);
        assert_eq!(blocks((9, 0), 32, 33, 0), blocks((9, 0), 32, 40, 0));
        // Of 228 KiB each block takes its own and 1 KiB.
        assert_eq!(blocks((9, 0), 32, 16, 113 << 10), 2);
        assert_eq!(blocks((9, 0), 32, 16, (113 << 10) + 1), 1);
        assert_eq!(blocks((7, 0), 32, 16, 48 << 10), 2);
    }

    #[test]
    fn what_does_not_fit_at_all_has_no_block() {
        assert_eq!(blocks((9, 0), 1024, 255, 0), 0);
        assert_eq!(blocks((9, 0), 32, 16, 228 << 10), 0);
    }
}
