//! `--check`: what a run is watched for.

use crate::support::{complaints, json, memmap_ipc, run, simple_ipc, stderr};

const KERNELS: &str = include_str!("../../../../kernels/memmap_ipc.ptx");

#[test]
fn the_scenarios_and_their_kernels_pass_every_check() {
    let arguments =
        ["--profile", "h200-x2", "--size", "2MiB", "--check", "all", "--verify", "all", "--fill", "pattern"];
    for mut command in [memmap_ipc(&arguments), simple_ipc(&arguments)] {
        let output = run(&mut command);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

#[test]
fn what_a_check_finds_ends_the_run_with_a_code_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let first = "ld.param.u64 \t%rd21, [fill_id_param_0];";
    // Every thread of every block writes the first byte.
    let racy = KERNELS.replace(first, &format!("{first}\nst.u8 [%rd21], %rs2;"));
    assert_ne!(racy, KERNELS);
    std::fs::write(folder.path().join("memmap_ipc.ptx"), racy).unwrap();
    let kernels = folder.path().to_str().unwrap();
    let arguments = ["--profile", "h200-x2", "--size", "2MiB", "--fill", "id", "--kernels", kernels];
    assert!(run(&mut memmap_ipc(&arguments)).status.success(), "nobody looks");
    let output = run(memmap_ipc(&arguments).args(["--check", "races,bounds", "--json"]));
    assert_eq!(output.status.code(), Some(18), "{}", stderr(&output));
    let failure = &json(&output)["failure"];
    assert_eq!(failure["kind"], "finding");
    let message = failure["message"].as_str().unwrap();
    for part in
        ["a check found a mistake: kernel \"fill_id\"", "thread [32, 0, 0]", "thread [31, 0, 0]", "wrote before"]
    {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_check_that_there_is_not_and_a_gpu_are_refused() {
    let output = run(&mut memmap_ipc(&["--check", "leaks"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("there is no check \"leaks\"; there are uninitialised,"), "{}", stderr(&output));
    let output = run(crate::support::peermap().args(["run", "memmap-ipc", "--backend", "cuda", "--check", "races"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(complaints(&output)[0].contains("--backend sim can"), "{}", stderr(&output));
}

#[test]
fn a_launch_is_watched_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("own.ptx");
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry own(.param .u64 p)\n{
.reg .u64 %a; .reg .u32 %x; ld.param.u64 %a, [p];\nld.global.u32 %x, [%a+8];\nst.global.u32 [%a], %x;\nret; }";
    std::fs::write(&file, text).unwrap();
    let launch = |bytes: &str, check: &str| {
        let mut command = crate::support::peermap();
        command.arg("launch").arg(&file).args(["--backend", "sim", "--entry", "own", "--arg", bytes, "--check", check]);
        run(&mut command)
    };
    assert_eq!(launch("buf:16", "all").status.code(), Some(0));
    let output = launch("buf:8", "uninitialised");
    assert_eq!(output.status.code(), Some(18), "{}", stderr(&output));
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output);
    assert!(told.contains("line 7 of the PTX: read at 0x") && told.contains("nothing has ever written"), "{told}");
}
