//! The main job with real processes: what it reports when all is well.

use crate::support::{WORKERS, json, memmap_ipc, peermap, run, stderr};

#[test]
fn the_two_word_command_does_the_whole_job() {
    let output = run(peermap().args(["run", "memmap-ipc"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    for column in ["worker", "device", "pid", "bytes", "verified", "fill GB/s"] {
        assert!(table.contains(column), "{table}");
    }
}

#[test]
fn the_report_has_the_documented_keys_and_every_byte_is_verified() {
    let output = run(&mut memmap_ipc(&["--json"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let report = json(&output);
    assert_eq!(report["schema"], 1);
    assert_eq!(report["scenario"], "memmap-ipc");
    assert_eq!(report["backend"], "sim");
    assert_eq!(report["profile"], "default");
    assert_eq!(report["ok"], true);
    assert!(report["failure"].is_null());
    let workers = report["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 8);
    for worker in workers {
        assert_eq!(worker["bytes"], 4 << 20);
        assert_eq!(worker["verified"], 4 << 20);
        assert!(worker["pid"].as_u64().unwrap() > 1);
        assert!(worker["phases_ms"].is_object());
    }
}

#[test]
fn every_worker_can_verify_every_buffer() {
    for arguments in [
        ["--verify", "all", "--fill", "pattern", "--verify-on", "device"],
        ["--verify", "all", "--fill", "id", "--verify-on", "host"],
        ["--verify", "all", "--fill", "pattern", "--verify-on", "host"],
    ] {
        let output =
            run(memmap_ipc(&arguments).args(["--profile", "h200-x2", "--processes-per-device", "2", "--json"]));
        assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
        let report = json(&output);
        for worker in report["workers"].as_array().unwrap() {
            assert_eq!(worker["verified"], 4 * (4 << 20), "{arguments:?}");
        }
    }
}

#[test]
fn the_job_runs_on_every_profile() {
    for (profile, workers) in WORKERS {
        let output = run(&mut memmap_ipc(&["--profile", profile, "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        assert_eq!(json(&output)["workers"].as_array().unwrap().len(), workers, "{profile}");
    }
}

#[test]
fn devices_that_do_not_fit_are_named_with_the_reason() {
    for (profile, devices, count) in [("no-peer", "devices 1 to 3", 3), ("nvl72", "devices 4 to 71", 68)] {
        let output = run(&mut memmap_ipc(&["--profile", profile]));
        let (noted, printed) = (stderr(&output), String::from_utf8_lossy(&output.stdout).into_owned());
        for (text, verb) in [(noted, "do"), (printed, "did")] {
            let about: Vec<&str> = text.lines().filter(|line| line.contains("not take part")).collect();
            assert_eq!(about.len(), 1, "{text}");
            let line = format!("{devices} {verb} not take part: no peer access both ways with device 0");
            assert!(about[0].ends_with(&line), "{text}");
        }
        let output = run(&mut memmap_ipc(&["--profile", profile, "--json"]));
        assert_eq!(json(&output)["rejected"].as_array().unwrap().len(), count);
    }
}

#[test]
fn enabling_peers_stops_at_the_ninth_and_says_so() {
    let output = run(&mut memmap_ipc(&["--profile", "peers-8", "--enable-peers", "--json"]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(json(&output)["workers"].as_array().unwrap().len(), 9);
    assert!(stderr(&output).contains("TOO_MANY_PEERS"), "{}", stderr(&output));
}

#[test]
fn a_device_is_meant_by_its_uuid_whatever_is_visible() {
    let uuid = "GPU-70656572-6d61-702d-7369-6d0000000005";
    let output = run(memmap_ipc(&["--devices", uuid, "--json"]).env("CUDA_VISIBLE_DEVICES", "7,5,3"));
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(json(&output)["workers"].as_array().unwrap().len(), 1);
    let hidden = run(memmap_ipc(&["--devices", uuid]).env("CUDA_VISIBLE_DEVICES", "7,3"));
    assert_eq!(hidden.status.code(), Some(2), "{}", stderr(&hidden));
}

#[test]
fn kernels_can_be_given_and_verbose_says_which_were_used() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../kernels");
    let output = run(&mut memmap_ipc(&["--profile", "h200-x2", "--kernels", folder, "-v"]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(stderr(&output).contains("memmap_ipc.ptx"), "{}", stderr(&output));
}

#[test]
fn a_simulated_device_says_so() {
    let output = run(peermap().args(["probe", "--profile", "h200-x2", "--json"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let findings = json(&output);
    assert_eq!(findings["devices"][0]["name"], "NVIDIA H200 (simulated)");
    assert_eq!(findings["devices"][0]["posix_descriptor"]["works"], true);
    assert_eq!(findings["devices"][0]["fabric"]["refused"], "cuMemCreate: CUDA_ERROR_NOT_PERMITTED");
    assert_eq!(findings["peers"][0][1], true);
    assert_eq!(findings["imex"]["remedies"].as_array().unwrap().len(), 2);
}
