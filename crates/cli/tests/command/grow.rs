//! `peermap run grow` with real processes.

use crate::support::{WORKERS, assert_refused, json, run, scenario, stderr};

#[test]
fn the_table_tells_how_each_vector_grew() {
    let output = run(&mut scenario("grow", &["--profile", "h200-x2", "--kv-cache"]));
    assert!(output.status.success(), "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(table.contains("grow ms") && table.contains("gather ms"), "{table}");
    for worker in 0..2 {
        let line = table.lines().find(|line| line.starts_with(&format!("worker {worker}: 16 chunks of 2097152 bytes")));
        let line = line.unwrap_or_else(|| panic!("{table}"));
        assert!(line.contains("; 0 copies;") && line.ends_with("; fragmentation 87.5 %, gathered 0.0 %"), "{line}");
    }
}

#[test]
fn it_runs_on_every_profile() {
    for (profile, workers) in WORKERS {
        let output = run(&mut scenario("grow", &["--profile", profile, "--size", "8MiB", "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        assert_eq!((&report["scenario"], &report["ok"]), (&"grow".into(), &true.into()));
        let all = report["workers"].as_array().unwrap();
        assert_eq!(all.len(), workers, "{profile}");
        for worker in all {
            assert_eq!((&worker["grown"]["chunks"], &worker["grown"]["copies"]), (&4.into(), &0.into()), "{profile}");
            assert!(worker["grown"]["verified_old"].as_u64().unwrap() > 0, "{profile}");
        }
    }
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--size", "0"][..], 2, "--size"),
        (&["--chunk", "0"], 2, "--chunk"),
        (&["--chunk", "3MiB", "--size", "12MiB"], 2, "granularity"),
        (&["--size", "6MiB"], 2, "whole chunks"),
        (&["--chunk", "1GiB", "--size", "1TiB"], 2, "at most"),
        (&["--fill", "id"], 2, "--fill"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        assert_refused(&mut scenario("grow", arguments), code, word);
    }
}
