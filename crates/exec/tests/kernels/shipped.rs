//! The kernels that come with peermap, against what they are documented to do.

use crate::rig::{Parameters, Rig, kernel};

const MEMMAP_IPC: &str = include_str!("../../../../kernels/memmap_ipc.ptx");
const RECORDER: &str = include_str!("../../../../fixtures/traces/kernels.ptx");

/// Sizes around what a thread, a block and a grid take at a time.
const SIZES: [u64; 8] = [0, 1, 15, 16, 4097, 16_384, 100_003, 262_144];
const GRIDS: [([u32; 3], [u32; 3]); 5] = [
    ([1, 1, 1], [1, 1, 1]),
    ([3, 1, 1], [33, 1, 1]),
    ([7, 1, 1], [256, 1, 1]),
    ([2, 1, 1], [1024, 1, 1]),
    ([40, 1, 1], [64, 1, 1]),
];
const RESULT: u64 = 8 * 65_536;

fn finalise(mut z: u64) -> u64 {
    for _ in 0..2 {
        z = (z ^ z >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    }
    z ^ z >> 32
}

fn pattern(worker: u32, step: u32, len: u64) -> Vec<u8> {
    let key = finalise((u64::from(worker) << 32 | u64::from(step)).wrapping_add(0x9E37_79B9_7F4A_7C15));
    (0..len).map(|offset| finalise(key.wrapping_add(offset / 8)).to_le_bytes()[(offset % 8) as usize]).collect()
}

fn cases() -> impl Iterator<Item = (u64, [u32; 3], [u32; 3])> {
    SIZES.into_iter().flat_map(|size| GRIDS.into_iter().map(move |(grid, block)| (size, grid, block)))
}

#[test]
fn fills_write_each_byte_and_none_behind() {
    for name in ["fill_byte", "fill_id"] {
        let kernel = kernel(MEMMAP_IPC, name);
        for (size, grid, block) in cases() {
            let rig = Rig::new(9);
            let parameters = Parameters::default().u64(rig.base).u64(size).u8(0xA7);
            rig.launch(&kernel, grid, block, &parameters.0).unwrap();
            let mut expected = vec![0xA7; size as usize];
            expected.extend([0; 64]);
            assert!(rig.bytes(0, expected.len()) == expected, "{name} of {size} bytes, {grid:?} {block:?}");
        }
    }
}

#[test]
fn the_pattern_is_the_documented_one() {
    let kernel = kernel(MEMMAP_IPC, "fill_pattern");
    for (size, grid, block) in cases() {
        let rig = Rig::new(9);
        let parameters = Parameters::default().u64(rig.base).u64(size).u32(3).u32(7);
        rig.launch(&kernel, grid, block, &parameters.0).unwrap();
        let mut expected = pattern(3, 7, size);
        expected.extend([0; 64]);
        assert!(rig.bytes(0, expected.len()) == expected, "{size} bytes, {grid:?} {block:?}");
    }
}

fn find(name: &str, damage: &[u64], size: u64, grid: [u32; 3], block: [u32; 3]) -> (u64, u64) {
    let kernel = kernel(MEMMAP_IPC, name);
    let rig = Rig::new(9);
    let content = if name == "verify_id" { vec![0xA7; size as usize] } else { pattern(3, 7, size) };
    rig.view().write(rig.base, &content).unwrap();
    for offset in damage {
        rig.view().write(rig.base + offset, &[!content[*offset as usize]]).unwrap();
    }
    rig.view().write(rig.base + RESULT + 8, &[0xFF; 8]).unwrap();
    let parameters = Parameters::default().u64(rig.base).u64(size);
    let parameters = if name == "verify_id" { parameters.u8(0xA7) } else { parameters.u32(3).u32(7) };
    rig.launch(&kernel, grid, block, &parameters.u64(rig.base + RESULT).0).unwrap();
    (rig.word(RESULT), rig.word(RESULT + 8))
}

#[test]
fn verifications_find_every_wrong_byte_and_the_first() {
    for name in ["verify_id", "verify_pattern"] {
        for (grid, block) in GRIDS {
            let found = |damage: &[u64]| find(name, damage, 100_003, grid, block);
            assert_eq!(found(&[]), (0, u64::MAX), "{name} {grid:?} {block:?}");
            assert_eq!(found(&[99_999]), (1, 99_999), "{name} {grid:?} {block:?}");
            assert_eq!(found(&[100_002, 9, 8, 7, 5000, 77_777]), (6, 7), "{name} {grid:?} {block:?}");
        }
    }
}

#[test]
fn the_kernels_of_the_recordings_do_what_they_say() {
    let (fill, copy_add, count) =
        (kernel(RECORDER, "fill"), kernel(RECORDER, "copy_add"), kernel(RECORDER, "count_mismatch"));
    for (grid, block) in GRIDS {
        let rig = Rig::new(9);
        let source = rig.base + 65_536;
        let launch = |kernel, parameters: Parameters| rig.launch(kernel, grid, block, &parameters.0).unwrap();
        launch(&fill, Parameters::default().u64(source).u32(5003).u8(250));
        launch(&copy_add, Parameters::default().u64(rig.base).u64(source).u32(5000).u8(9));
        let mut expected = vec![3; 5000];
        expected.extend([0; 8]);
        assert_eq!(rig.bytes(0, 5008), expected);
        launch(&count, Parameters::default().u64(rig.base).u32(5003).u8(3).u64(rig.base + RESULT));
        assert_eq!(rig.word(RESULT), 3);
        launch(&fill, Parameters::default().u64(rig.base).u32(u32::MAX).u8(1));
        assert_eq!(rig.bytes(0, 1), [3]);
    }
}
