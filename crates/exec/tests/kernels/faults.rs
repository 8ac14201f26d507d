//! How launches end early.

use std::time::Duration;

use peermap_exec::{Cause, CompileError, Kernel};
use peermap_memory::{Access, FaultKind};
use peermap_ptx::Module;

use crate::rig::{GRANULE, Parameters, Rig, kernel};

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

#[test]
fn a_store_past_the_end_names_thread_line_and_address() {
    let text = format!(
        "{HEADER}.visible .entry k(.param .u64 p) {{
.reg .u64 %a, %b; .reg .u32 %t;
ld.param.u64 %a, [p];
mov.u32 %t, %tid.x;
mul.wide.u32 %b, %t, 4;
add.u64 %a, %a, %b;
st.global.u32 [%a], 7;
ret;
}}"
    );
    let rig = Rig::new(1);
    let start = rig.base + GRANULE - 40;
    let stop = rig.launch(&kernel(&text, "k"), [1, 1, 1], [64, 1, 1], &start.to_le_bytes()).unwrap_err();
    assert_eq!((stop.block, stop.thread, stop.line.ptx), ([0; 3], [10, 0, 0], 10));
    let address = rig.base + GRANULE;
    assert_eq!(stop.cause, Cause::Memory { address, access: Access::Write, kind: FaultKind::NotMapped });
    assert_eq!(rig.bytes(GRANULE - 40, 40), [7, 0, 0, 0].repeat(10));
}

#[test]
fn of_several_faults_that_of_the_first_block_is_told() {
    let kernel = kernel(include_str!("../../../../kernels/memmap_ipc.ptx"), "fill_byte");
    for _ in 0..50 {
        let rig = Rig::new(4);
        let parameters = Parameters::default().u64(rig.base).u64(8 * GRANULE).u8(1);
        let stop = rig.launch(&kernel, [200, 1, 1], [128, 1, 1], &parameters.0).unwrap_err();
        // Block 48 is the first in time to reach over the end, and every block does in its next step.
        assert_eq!((stop.block, stop.thread), ([0, 0, 0], [0, 0, 0]));
    }
}

#[test]
fn a_misaligned_store_is_found_before_anything_is_stored() {
    let text = include_str!("../../../../kernels/memmap_ipc.ptx");
    let rig = Rig::new(1);
    let parameters = Parameters::default().u64(rig.base + 8).u64(4096).u8(1);
    let stop = rig.launch(&kernel(text, "fill_id"), [1, 1, 1], [256, 1, 1], &parameters.0).unwrap_err();
    let kind = FaultKind::Misaligned { bytes: 16 };
    assert_eq!(stop.cause, Cause::Memory { address: rig.base + 8, access: Access::Write, kind });
    assert_eq!(rig.bytes(0, 64), [0; 64]);
}

#[test]
fn a_kernel_that_never_ends_is_stopped() {
    let text = format!("{HEADER}.visible .entry k() {{\nL: bra L;\n}}");
    let most = Duration::from_millis(20);
    let stop = Rig::new(1).launch_for(&kernel(&text, "k"), ([3, 1, 1], [32, 1, 1]), &[], most, &|| {}).unwrap_err();
    assert_eq!((stop.line.ptx, stop.cause), (5, Cause::Deadline { most, polled: None }));
}

#[test]
fn a_trap_names_the_thread() {
    let text = format!(
        "{HEADER}.visible .entry k() {{
.reg .u32 %t; .reg .pred %p;
mov.u32 %t, %tid.y;
setp.eq.u32 %p, %t, 2;
@%p trap;
ret;
}}"
    );
    let stop = Rig::new(1).launch(&kernel(&text, "k"), [1, 1, 1], [4, 4, 1], &[]).unwrap_err();
    assert_eq!((stop.thread, stop.line.ptx, stop.cause), ([0, 2, 0], 8, Cause::Trap));
}

#[test]
fn clusters_of_several_blocks_are_not_covered() {
    let compiled = |directive: &str| {
        let header = HEADER.replace("sm_80", "sm_90");
        let module = Module::parse(&format!("{header}.visible .entry k() {directive} {{ ret; }}")).unwrap();
        Kernel::compile(&module, &module.entries()[0]).err()
    };
    let what = "`.reqnctapercluster`".to_owned();
    let error = CompileError::NotModelled { line: compiled_line(), what };
    assert_eq!(compiled(".explicitcluster .reqnctapercluster 2, 1, 1"), Some(error));
    assert_eq!(compiled(".reqnctapercluster 1"), None);
    assert_eq!(compiled(".maxclusterrank 4"), None);
}

/// The line behind the header.
fn compiled_line() -> u32 {
    1 + HEADER.matches('\n').count() as u32
}

#[test]
fn what_is_not_covered_ends_the_compilation_with_its_line() {
    let text = format!("{HEADER}.visible .entry k() {{\n.reg .u32 %c;\nmov.u32 %c, %pm0;\nret;\n}}");
    let module = Module::parse(&text).unwrap();
    let error = Kernel::compile(&module, &module.entries()[0]).err();
    assert_eq!(error, Some(CompileError::NotModelled { line: 6, what: "the special register `%pm0`".to_owned() }));
}
