//! On what the results were made, and what could have disturbed them.

use maud::{Markup, html};

use crate::bench::{BenchReport, Guard, Machine};

use super::Named;
use super::time;

/// Machine, load, guards and build of a result.
pub(super) fn machine(report: &BenchReport) -> Markup {
    let Machine { cpu, cores, kernel, driver, cuda, devices, topology } = &report.machine;
    let build = report.provenance.as_ref();
    let facts = [
        ("source", Some(report.source.clone())),
        ("profile", report.profile.clone()),
        ("processor", (!cpu.is_empty()).then(|| cpu.clone())),
        ("cores", (*cores > 0).then(|| cores.to_string())),
        ("kernel", kernel.clone()),
        ("driver", driver.clone()),
        ("CUDA", cuda.map(version)),
        ("load average", report.load.load_average.map(|load| format!("{load:.2}"))),
        ("other processes on the devices", report.load.other_gpu_processes.map(|count| count.to_string())),
        ("version", build.map(|build| build.version.clone())),
        ("commit", build.and_then(|build| build.commit.clone())),
    ];
    html! {
        h2 id="machine" { "Machine" }
        dl.facts {
            @for (what, value) in &facts { @if let Some(value) = value { dt { (what) } dd { (value) } } }
            @for device in devices {
                dt { "device " (device.ordinal) }
                dd { (device.name) ", " (memory(device.memory)) " " span.first { (device.uuid) } }
            }
            @if !topology.is_empty() { dt { "links" } dd { (topology.join("; ")) } }
        }
        (guards(&report.guards))
    }
}

/// A version as CUDA counts it: 13000 is 13.0.
fn version(number: i32) -> String {
    format!("{}.{}", number / 1000, number % 1000 / 10)
}

fn memory(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

fn guards(guards: &[Guard]) -> Markup {
    html! {
        @if !guards.is_empty() {
            h3 { "Before and after the run" }
            div.scroll tabindex="0" role="region" aria-label="What could have disturbed the run" {
                table {
                    thead { tr { @for column in ["what", "before", "after", ""] { th scope="col" { (column) } } } }
                    tbody {
                        @for Guard { what, before, after } in guards {
                            tr {
                                th scope="row" { (what) }
                                td { (before) }
                                td { (after) }
                                td { @if before != after { span.word.unclear { "changed" } } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The result files, if there are several.
pub(super) fn files(results: &[&Named]) -> Markup {
    let Some(last) = results.last().filter(|_| results.len() > 1) else { return html! {} };
    html! {
        h2 id="results" { "Results" }
        details open[results.len() <= 12] {
            summary { (results.len()) " files, those of a base first" }
            div.scroll tabindex="0" role="region" aria-label="Results" {
                table {
                    thead { tr { @for column in ["file", "began", "source", "benchmarks", ""] { th scope="col" { (column) } } } }
                    tbody {
                        @for Named { name, report } in results {
                            tr {
                                th scope="row" { (name) }
                                td { (time::show(&report.started)) }
                                td { (report.source) }
                                td { (report.benchmarks.len()) }
                                td.words {
                                    @if !comparable(report, &last.report) { "not in the histories: another machine or source" }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether two results may share a history.
pub(super) fn comparable(one: &BenchReport, other: &BenchReport) -> bool {
    let origin = |report: &BenchReport| (report.source.clone(), report.profile.clone());
    origin(one) == origin(other) && one.machine.differences(&other.machine).is_empty()
}

/// What a machine is called: its devices, or its processor.
pub(super) fn name(report: &BenchReport) -> String {
    let mut names: Vec<(&str, usize)> = Vec::new();
    for device in &report.machine.devices {
        match names.iter_mut().find(|(name, _)| *name == device.name) {
            Some((_, count)) => *count += 1,
            None => names.push((&device.name, 1)),
        }
    }
    let told =
        names.iter().map(|(name, count)| if *count > 1 { format!("{count} {name}") } else { (*name).to_owned() });
    match (names.is_empty(), report.machine.cpu.is_empty()) {
        (false, _) => told.collect::<Vec<_>>().join(", "),
        (true, false) => report.machine.cpu.clone(),
        (true, true) => "a machine without a name".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::DeviceFacts;

    fn report() -> BenchReport {
        let mut report = BenchReport::new("cuda", "2026-01-31T12:00:00Z");
        let device = |ordinal| DeviceFacts { ordinal, name: "GPU <A>".to_owned(), ..DeviceFacts::default() };
        report.machine.devices = vec![device(0), device(1)];
        report.machine.cuda = Some(12_080);
        report
    }

    #[test]
    fn a_machine_is_called_by_its_devices() {
        assert_eq!(name(&report()), "2 GPU <A>");
        assert_eq!(name(&BenchReport::new("sim", "")), "a machine without a name");
    }

    #[test]
    fn facts_are_told_if_they_are_known_and_guards_that_changed_are_marked() {
        let guard =
            |after: &str| Guard { what: "clock".to_owned(), before: "1980".to_owned(), after: after.to_owned() };
        let report = BenchReport { guards: vec![guard("1980"), guard("1755")], ..report() };
        let drawn = machine(&report).into_string();
        assert!(drawn.contains("12.8") && drawn.contains("GPU &lt;A&gt;") && !drawn.contains("kernel"), "{drawn}");
        assert_eq!(drawn.matches("changed").count(), 1);
    }

    #[test]
    fn results_of_other_sources_and_machines_have_other_histories() {
        let mut other = report();
        assert!(comparable(&report(), &other));
        other.profile = Some("h200-x2".to_owned());
        assert!(!comparable(&report(), &other));
        let machine = Machine { cores: 3, ..report().machine };
        assert!(!comparable(&report(), &BenchReport { machine, ..report() }));
    }
}
