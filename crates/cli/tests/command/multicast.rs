//! `peermap run multicast` with real processes.

use crate::support::{WORKERS, assert_killing_ends, assert_refused, json, run, scenario, stderr};

/// A norm as it is printed.
fn norm(ranks: usize) -> f64 {
    (1..=ranks as u32).map(|rank| f64::from(rank * rank)).sum::<f64>().sqrt()
}

#[test]
fn it_runs_on_every_profile_with_multicast() {
    for (profile, workers) in WORKERS.into_iter().filter(|(profile, _)| *profile != "no-multicast") {
        let size = if profile == "wide-teams" { "8MiB" } else { "2MiB" };
        let output = run(&mut scenario("multicast", &["--profile", profile, "--size", size, "--json"]));
        assert!(output.status.success(), "{profile}: {}", stderr(&output));
        let report = json(&output);
        let told = report["workers"].as_array().unwrap();
        assert_eq!(told.len(), workers, "{profile}");
        for worker in told {
            let found = worker["norm"].as_f64().unwrap();
            assert!((found - norm(workers)).abs() < 1e-4, "{profile}: {found}");
        }
    }
}

#[test]
fn one_process_does_what_many_do_and_no_check_finds_anything() {
    for arguments in [&["--one-process"][..], &[]] {
        let arguments = [&["--profile", "h200-x2", "--size", "2MiB", "--check", "all"], arguments].concat();
        let output = run(&mut scenario("multicast", &arguments));
        assert!(output.status.success(), "{}", stderr(&output));
        let table = String::from_utf8_lossy(&output.stdout);
        assert!(table.contains("worker 0: norm 2.236068\n"), "{table}");
    }
}

#[test]
fn a_team_is_shared_as_fabric_handle_and_padded_where_that_is_asked_for() {
    for arguments in [&["--one-process"][..], &[]] {
        let arguments = [&["--profile", "default", "--handle", "fabric", "--json"], arguments].concat();
        let output = run(&mut scenario("multicast", &arguments));
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(json(&output)["options"]["handle"], "fabric");
    }
    let output =
        run(&mut scenario("multicast", &["--profile", "wide-teams", "--size", "3MiB", "--round-up", "--json"]));
    let said = "buffers of 3 MiB are padded to 8 MiB: 5 MiB of each and 20 MiB in all are not used";
    assert_eq!(json(&output)["remarks"][0], said);
}

#[test]
fn killing_a_rank_ends_the_run() {
    for delay in [0, 300] {
        let mut command = scenario("multicast", &["--size", "16MiB", "--json"]);
        assert_killing_ends(&mut command, 8, std::time::Duration::from_millis(delay));
    }
}

#[test]
fn who_is_missing_is_said_before_the_time_is_over() {
    let output = run(&mut scenario("multicast", &["--profile", "h200-x2", "--absent", "1", "--timeout", "6"]));
    assert_eq!(output.status.code(), Some(13), "{}", stderr(&output));
    assert!(stderr(&output).contains("missing 1, of devices [1]"), "{}", stderr(&output));
}

#[test]
fn what_cannot_be_is_said_in_one_line() {
    for (arguments, code, word) in [
        (&["--size", "3MiB"][..], 2, "no multiple of the granularity"),
        (&["--size", "1TiB"], 2, "at most"),
        (&["--profile", "wide-teams"], 2, "the next size that fits is 8 MiB"),
        (&["--absent", "8"], 2, "there is no rank 8"),
        (&["--profile", "no-multicast"], 12, "no multicast"),
        (&["--profile", "no-fabric", "--handle", "fabric"], 12, "memory cannot be shared as a fabric handle"),
        (&["--profile", "h200-x2", "--handle", "fabric"], 12, "there is no IMEX channel"),
        (&["--size", "1TiB", "--round-up"], 2, "at most"),
        (&["--devices", "0,1", "--profile", "no-peer"], 12, "no peer access both ways"),
    ] {
        assert_refused(&mut scenario("multicast", arguments), code, word);
    }
}
