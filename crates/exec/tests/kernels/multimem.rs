//! Access to all memories behind a multicast address.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use peermap_exec::{Cause, Check, Checks, Finding, Launch, Stop};
use peermap_memory::{Access, FaultKind};

use crate::rig::{COPIES, GRANULE, Parameters, Rig, kernel};

/// A kernel with a multicast address in `%m` and ordinary memory, the first of the copies, in `%u`.
fn text(body: &str) -> String {
    format!(
        ".version 8.6\n.target sm_90\n.address_size 64
.visible .entry k(.param .u64 m, .param .u64 u) {{
.reg .b32 %r<8>; .reg .b64 %d<8>; .reg .b16 %h<8>; .reg .f32 %f<4>; .reg .f64 %e<2>; .reg .b64 %m, %u, %x; .reg .pred %p;
ld.param.u64 %m, [m]; ld.param.u64 %u, [u];
{body}
ret; }}"
    )
}

const BODY: u32 = 7;

/// Where kernels leave what they found: in the first copy, behind what tests use.
const FOUND: u64 = GRANULE / 2;

fn launch(rig: &Rig, body: &str, threads: u32) -> Result<(), Box<Stop>> {
    watched(rig, body, threads, Checks::NONE)
}

fn watched(rig: &Rig, body: &str, threads: u32, checks: Checks) -> Result<(), Box<Stop>> {
    let parameters: Vec<u8> = [rig.team(), rig.base].iter().flat_map(|address| address.to_le_bytes()).collect();
    let launch = Launch { checks, ..Launch::new([1; 3], [threads, 1, 1], &parameters) };
    kernel(&text(body), "k").launch(&launch, rig.view())
}

/// Memory of a team where each copy starts with its word, and a granule behind the copies.
fn rig(words: [u64; COPIES]) -> Rig {
    let rig = Rig::new(COPIES as u64 + 1);
    for (copy, word) in words.iter().enumerate() {
        rig.view().write(rig.base + copy as u64 * GRANULE, &word.to_le_bytes()).unwrap();
    }
    rig
}

/// The first word of each copy.
fn copies(rig: &Rig) -> [u64; COPIES] {
    std::array::from_fn(|copy| rig.word(copy as u64 * GRANULE))
}

/// What a `multimem.ld_reduce` of a type with registers of so many bits finds where the copies hold these words.
fn reduced(form: &str, bits: u32, words: [u64; COPIES]) -> u64 {
    let register = match bits {
        64 => "%d1",
        _ => "%r1",
    };
    let rig = rig(words);
    let body = format!("multimem.ld_reduce.{form} {register}, [%m]; st.global.b{bits} [%u+{FOUND}], {register};");
    launch(&rig, &body, 1).unwrap();
    assert_eq!(copies(&rig), words, "{form} leaves memory as it is");
    rig.word(FOUND)
}

#[test]
fn integers_of_all_copies_are_joined() {
    let words = [0xFFFF_FFF0, 7, 0x20];
    for (form, expected) in [
        ("relaxed.sys.global.add.u32", 0x17),
        ("weak.global.min.u32", 7),
        ("global.max.u32", 0xFFFF_FFF0),
        ("acquire.gpu.global.min.s32", 0xFFFF_FFF0),
        ("global.max.s32", 0x20),
        ("add.s32", 0x17),
        ("and.b32", 0),
        ("or.b32", 0xFFFF_FFF7 | 0x20),
        ("xor.b32", 0xFFFF_FFF0 ^ 7 ^ 0x20),
    ] {
        assert_eq!(reduced(form, 32, words), expected, "{form}");
    }
    let wide = [u64::MAX, 5, 1 << 40];
    for (form, expected) in [
        ("add.u64", (1 << 40) + 4),
        ("min.u64", 5),
        ("min.s64", u64::MAX),
        ("max.s64", 1 << 40),
        ("and.b64", 0),
        ("xor.b64", u64::MAX ^ 5 ^ (1 << 40)),
    ] {
        assert_eq!(reduced(form, 64, wide), expected, "{form}");
    }
}

#[test]
fn numbers_of_all_copies_are_summed_up() {
    let single = [1.5_f32, 1e8, -1e8].map(|number| u64::from(number.to_bits()));
    assert_eq!(reduced("relaxed.sys.global.add.f32", 32, single), u64::from((1.5_f32 + 1e8 - 1e8).to_bits()));
    let double = [0.1_f64, 0.2, -0.25].map(f64::to_bits);
    assert_eq!(reduced("add.f64", 64, double), (0.1_f64 + 0.2 - 0.25).to_bits());
    let subnormal = [1, 1, 1];
    assert_eq!(reduced("add.f32", 32, subnormal), 3, "subnormal numbers stay");
}

#[test]
fn halves_are_rounded_after_each_sum_or_once_at_the_end() {
    // 2048 + 1 + 1, where every second whole number is a half.
    let halves = [0x6800_3C00, 0x3C00_3C00, 0x3C00_4000];
    assert_eq!(reduced("add.f16x2", 32, halves), 0x6800_4400);
    assert_eq!(reduced("add.acc::f32.f16x2", 32, halves), 0x6801_4400);
    // 256 + 1 + 1, the same with fewer bits.
    let brain = [0x4380_3F80, 0x3F80_3F80, 0x3F80_0000];
    assert_eq!(reduced("add.bf16x2", 32, brain), 0x4380_4000);
    assert_eq!(reduced("add.acc::f32.bf16x2", 32, brain), 0x4381_4000);
    let nan = [0x7E00_3C00, 0x3C00_BC00, 0x3C00_0000];
    assert_eq!(reduced("add.acc::f32.f16x2", 32, nan), 0x7FFF_0000);
}

#[test]
fn the_smallest_and_the_largest_half_of_all_copies() {
    let halves = [0x3C00_8000, 0xC000_0000, 0x7E00_3C00];
    assert_eq!(reduced("min.f16x2", 32, halves), 0xC000_8000);
    assert_eq!(reduced("max.f16x2", 32, halves), 0x3C00_3C00);
}

#[test]
fn a_vector_is_reduced_and_stored_element_by_element() {
    let rig = rig([0; COPIES]);
    for copy in 0..COPIES as u64 {
        let numbers: Vec<u8> =
            [1.0_f32, 2.0, 3.0, 4.0].iter().flat_map(|it| (it * (copy + 1) as f32).to_le_bytes()).collect();
        rig.view().write(rig.base + copy * GRANULE, &numbers).unwrap();
    }
    launch(
        &rig,
        "multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%f0,%f1,%f2,%f3}, [%m];
        multimem.st.relaxed.sys.global.v4.f32 [%m+16], {%f3,%f2,%f1,%f0};
        multimem.red.relaxed.sys.global.add.v2.f32 [%m+24], {%f0,%f0};",
        1,
    )
    .unwrap();
    let expected: Vec<u8> = [24.0_f32, 18.0, 18.0, 12.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    for copy in 0..COPIES as u64 {
        assert_eq!(rig.bytes(copy * GRANULE + 16, 16), expected, "copy {copy}");
    }
}

#[test]
fn halves_alone_come_in_vectors() {
    let rig = rig([0x4000_3C00_4000_3C00; COPIES]);
    launch(
        &rig,
        "multimem.ld_reduce.add.v4.f16 {%h0,%h1,%h2,%h3}, [%m];
        multimem.red.add.v4.f16 [%m], {%h3,%h2,%h1,%h0};",
        1,
    )
    .unwrap();
    // 3 and 6 in turns, added the other way round to 1 and 2.
    assert_eq!(copies(&rig), [0x4500_4700_4500_4700; COPIES]);
}

#[test]
fn every_thread_reduces_into_every_copy() {
    let rig = rig([0, 100, 1 << 33]);
    launch(&rig, "multimem.red.release.sys.global.add.u32 [%m], 3;", 64).unwrap();
    assert_eq!(copies(&rig), [192, 292, (1 << 33) + 192]);
    launch(&rig, "mov.b64 %d1, 0xFF; multimem.red.global.or.b64 [%m], %d1;", 1).unwrap();
    assert_eq!(copies(&rig), [0xFF, 0x1FF, (1 << 33) | 0xFF]);
}

#[test]
fn only_the_threads_that_a_guard_names_take_part() {
    let rig = rig([0; COPIES]);
    launch(&rig, "mov.u32 %r1, %tid.x; setp.lt.u32 %p, %r1, 5; @%p multimem.red.add.u32 [%m], 1;", 40).unwrap();
    assert_eq!(copies(&rig), [5; COPIES]);
}

#[test]
fn stores_reach_every_copy() {
    let rig = rig([0; COPIES]);
    let body = "mov.u32 %r1, %tid.x; mul.wide.u32 %x, %r1, 4; add.u64 %x, %m, %x;";
    launch(&rig, &format!("{body} multimem.st.relaxed.sys.global.u32 [%x], %r1;"), 32).unwrap();
    launch(&rig, &format!("{body} st.global.u32 [%x+128], %r1;"), 32).unwrap();
    let expected: Vec<u8> = (0..32_u32).flat_map(u32::to_le_bytes).collect();
    for copy in 0..COPIES as u64 {
        assert_eq!(rig.bytes(copy * GRANULE, 128), expected, "multimem.st in copy {copy}");
        assert_eq!(rig.bytes(copy * GRANULE + 128, 128), expected, "st in copy {copy}");
    }
}

#[test]
fn what_the_language_leaves_undefined_is_not_answered() {
    for body in ["ld.global.u32 %r1, [%m];", "atom.global.add.u32 %r1, [%m], 1;", "red.global.add.u32 [%m], 1;"] {
        let stop = launch(&rig([1; COPIES]), body, 1).unwrap_err();
        let kind = match stop.cause {
            Cause::Memory { kind, .. } => kind,
            other => panic!("{body}: {other}"),
        };
        assert_eq!((kind, stop.line.ptx), (FaultKind::Multicast, BODY), "{body}");
    }
    for body in ["multimem.red.add.u32 [%u], 1;", "multimem.st.u32 [%u], %r1;", "multimem.ld_reduce.add.u32 %r1, [%u];"]
    {
        let stop = launch(&rig([1; COPIES]), body, 1).unwrap_err();
        assert!(matches!(&stop.cause, Cause::NotModelled(what) if what.contains("no multicast address")), "{stop}");
    }
}

#[test]
fn addresses_that_cannot_be_reached_fault_as_others_do() {
    let cause = |body| launch(&rig([0; COPIES]), body, 1).unwrap_err().cause;
    let rig = Rig::new(1);
    let (team, access) = (rig.team(), Access::ReadWrite);
    let kind = FaultKind::Misaligned { bytes: 4 };
    assert_eq!(cause("multimem.red.add.u32 [%m+2], 1;"), Cause::Memory { address: team + 2, access, kind });
    let (address, kind) = (team + GRANULE, FaultKind::NotMapped);
    assert_eq!(cause(&format!("multimem.red.add.u32 [%m+{GRANULE}], 1;")), Cause::Memory { address, access, kind });
}

#[test]
fn a_device_of_the_team_without_memory_is_named() {
    let rig = rig([0; COPIES]);
    rig.unbind(1);
    let stop = launch(&rig, "multimem.red.add.u32 [%m], 1;", 1).unwrap_err();
    assert!(matches!(stop.cause, Cause::Memory { kind: FaultKind::Unbound { device: 1 }, .. }), "{stop}");
}

#[test]
fn a_read_of_a_copy_by_its_own_address_needs_a_fence_of_aliases() {
    let checks = Checks::NONE.with(Check::Aliases);
    let body =
        |fence| format!("multimem.red.release.sys.global.add.u32 [%m], 1; {fence} ld.acquire.sys.u32 %r1, [%u];");
    let rig = rig([0; COPIES]);
    watched(&rig, &body("fence.proxy.alias;"), 1, checks).unwrap();
    let stop = watched(&rig, &body(""), 1, checks).unwrap_err();
    let Cause::Finding(finding) = &stop.cause else { panic!("{stop}") };
    assert!(
        matches!(**finding, Finding::Alias { address, written, .. } if (address, written) == (rig.base, rig.team()))
    );
}

#[test]
fn a_copy_that_nothing_was_written_to_is_found() {
    let checks = Checks::NONE.with(Check::Uninitialised);
    let rig = Rig::marked(COPIES as u64);
    let load = "multimem.ld_reduce.add.f32 %f1, [%m];";
    (0..2).for_each(|copy| rig.view().write(rig.base + copy * GRANULE, &[0; 4]).unwrap());
    let stop = watched(&rig, load, 1, checks).unwrap_err();
    let Cause::Finding(finding) = &stop.cause else { panic!("{stop}") };
    assert!(matches!(**finding, Finding::Uninitialised { address, .. } if address == rig.team()), "{stop}");
    rig.view().write(rig.base + 2 * GRANULE, &[0; 4]).unwrap();
    watched(&rig, load, 1, checks).unwrap();
}

const MULTICAST: &str = include_str!("../../../../kernels/multicast.ptx");

#[test]
fn the_kernels_of_teams_store_and_add_up_each_word_and_none_behind() {
    let (fill, sum) = (kernel(MULTICAST, "multicast_fill"), kernel(MULTICAST, "multicast_sum"));
    for (words, grid, block) in [(0_u64, 1, 1), (1, 3, 32), (1000, 1, 1), (1000, 5, 33), (4096, 2, 256)] {
        let rig = rig([0; COPIES]);
        let parameters = Parameters::default().u64(rig.team()).u64(8 * words).u64(0x0101_0101_0101_0101);
        rig.launch(&fill, [grid, 1, 1], [block, 1, 1], &parameters.0).unwrap();
        let expected: Vec<u8> = (0..8 * words + 16).map(|offset| u8::from(offset < 8 * words)).collect();
        for copy in 0..COPIES as u64 {
            assert_eq!(rig.bytes(copy * GRANULE, expected.len()), expected, "{words} words in copy {copy}");
        }
        let out = COPIES as u64 * GRANULE;
        let parameters = Parameters::default().u64(rig.team()).u64(rig.base + out).u64(8 * words);
        rig.launch(&sum, [grid, 1, 1], [block, 1, 1], &parameters.0).unwrap();
        let sums: Vec<u8> = expected.iter().map(|byte| byte * COPIES as u8).collect();
        assert_eq!(rig.bytes(out, sums.len()), sums, "sums of {words} words");
    }
}

/// Where a copy has its part of the norm, and its counter.
const COUNTER: u64 = 128;

fn norm_parameters(rig: &Rig, expected: u32) -> Vec<u8> {
    let (team, own) = (rig.team(), rig.base);
    Parameters::default().u64(own + FOUND).u64(team).u64(own + COUNTER).u64(team + COUNTER).u32(expected).0
}

#[test]
fn the_norm_waits_for_all_and_is_the_root_of_the_sum() {
    let rig = rig([1.0_f32, 4.0, 11.0].map(|part| u64::from(part.to_bits())));
    let arrivals = AtomicU32::new(0);
    // The two others come while it waits, one after the other.
    let meanwhile = || {
        if arrivals.fetch_add(1, Ordering::Relaxed) < 2 {
            rig.view().atomic_update_u32(rig.base + COUNTER, |count| count + 1).unwrap();
        }
    };
    let most = Duration::from_secs(20);
    let norm = kernel(MULTICAST, "all_reduce_norm_barrier");
    rig.launch_for(&norm, ([1; 3], [1; 3]), &norm_parameters(&rig, 3), most, &meanwhile).unwrap();
    assert_eq!(f32::from_bits(rig.word(FOUND) as u32), 4.0);
    assert!(arrivals.load(Ordering::Relaxed) >= 2, "it did not wait");
    assert_eq!([0, 1, 2].map(|copy| rig.word(copy * GRANULE + COUNTER)), [3, 1, 1], "it is counted in every copy");
}

#[test]
fn the_norm_is_for_one_thread() {
    let rig = rig([0; COPIES]);
    let norm = kernel(MULTICAST, "all_reduce_norm_barrier");
    let stop = rig.launch(&norm, [1; 3], [2, 1, 1], &norm_parameters(&rig, 1)).unwrap_err();
    assert_eq!(stop.cause, Cause::Trap);
}
