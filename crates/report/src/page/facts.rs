//! On what the results were made, and what could have disturbed them.

use maud::{Markup, html};

use crate::bench::{BenchReport, DeviceFacts, Guard, Machine};

use super::Named;
use super::time;

/// What is known of where a result comes from, each with its name.
fn known(report: &BenchReport) -> [(&'static str, Option<String>); 11] {
    let Machine { cpu, cores, kernel, driver, cuda, .. } = &report.machine;
    let build = report.provenance.as_ref();
    [
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
    ]
}

/// Machine, load, guards and build of a result.
pub(super) fn machine(report: &BenchReport) -> Markup {
    let Machine { devices, topology, .. } = &report.machine;
    html! {
        h2 id="machine" { "Machine" }
        dl.facts {
            @for (what, value) in known(report) { @if let Some(value) = value { dt { (what) } dd { (value) } } }
            @for device in devices {
                dt { "device " (device.ordinal) }
                dd { (told(device)) " " span.first { (device.uuid) } }
            }
            @if !topology.is_empty() { dt { "links" } dd { (topology.join("; ")) } }
        }
        (guards(&report.guards))
    }
}

/// The machines of two results side by side, with what differs marked.
pub(super) fn machines(base: &BenchReport, new: &BenchReport) -> Markup {
    let own = known(base).into_iter().zip(known(new)).map(|((what, base), (_, new))| (what, base, new));
    let devices = |report: &BenchReport| {
        (!report.machine.devices.is_empty()).then(|| counted(report.machine.devices.iter().map(told)))
    };
    let links =
        |report: &BenchReport| (!report.machine.topology.is_empty()).then(|| report.machine.topology.join("; "));
    let rows = own.chain([("devices", devices(base), devices(new)), ("links", links(base), links(new))]);
    let rows = rows.filter(|(_, base, new)| base.is_some() || new.is_some());
    html! {
        div.scroll.narrow tabindex="0" role="region" aria-label="Machines" {
            table {
                thead { tr { @for column in ["what", "base", "new", ""] { th.words scope="col" { (column) } } } }
                tbody {
                    @for (what, base, new) in rows {
                        tr {
                            th scope="row" { (what) }
                            @for side in [&base, &new] { td.words { (side.as_deref().unwrap_or("–")) } }
                            td { @if base != new { span.word.unclear { "differs" } } }
                        }
                    }
                }
            }
        }
    }
}

fn told(device: &DeviceFacts) -> String {
    format!("{}, {}", device.name, memory(device.memory))
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
    let Machine { devices, cpu, .. } = &report.machine;
    match (devices.is_empty(), cpu.is_empty()) {
        (false, _) => counted(devices.iter().map(|device| device.name.clone())),
        (true, false) => cpu.clone(),
        (true, true) => "a machine without a name".to_owned(),
    }
}

/// Texts, each once, with how often it comes.
fn counted(texts: impl Iterator<Item = String>) -> String {
    let mut all: Vec<(String, usize)> = Vec::new();
    for text in texts {
        match all.iter_mut().find(|(known, _)| *known == text) {
            Some((_, count)) => *count += 1,
            None => all.push((text, 1)),
        }
    }
    let told = all.into_iter().map(|(text, count)| if count > 1 { format!("{count} {text}") } else { text });
    told.collect::<Vec<_>>().join(", ")
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
