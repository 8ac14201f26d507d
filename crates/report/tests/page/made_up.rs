//! Results that nobody measured: plausible, repeatable, and made up, as their machine says.

use peermap_report::bench::{BenchReport, Benchmark, DeviceFacts, Floor, Guard, Skipped, Unit};
use peermap_report::page::Named;

const DEVICES: i32 = 8;
const LINES: [&str; 7] =
    ["mem_create", "mem_map", "mem_set_access", "mem_unmap", "mem_release", "mem_export", "mem_import"];

/// Random numbers by a seed.
pub struct Random(u64);

impl Random {
    /// From 0 up to, but without, 1.
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Samples about a value, with a few far above it, as times have them.
    fn samples(&mut self, value: f64, count: usize) -> Vec<f64> {
        let sample = |random: &mut Self| {
            let noise = (random.share() + random.share() + random.share()) / 1.5 - 1.0;
            let wild = if random.share() < 0.02 { 1.0 + 2.0 * random.share() } else { 1.0 };
            (value * (1.0 + 0.03 * noise) * wild * 10.0).round() / 10.0
        };
        (0..count).map(|_| sample(self)).collect()
    }
}

fn benchmark(suite: &str, name: &str, parameters: &[(&str, String)], unit: Unit, samples: Vec<f64>) -> Benchmark {
    let parameters = parameters.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect();
    Benchmark { suite: suite.to_owned(), name: name.to_owned(), parameters, unit, samples, floor: None, peak: None }
}

/// `count` results of one machine, a day apart, each with 200 benchmarks of `samples` samples. From the middle on one call
/// takes longer.
pub fn results(count: usize, samples: usize) -> Vec<Named> {
    let mut random = Random(0x5EED_1234_ABCD_0001);
    (0..count).map(|day| result(day, day >= count / 2 && count > 1, samples, &mut random)).collect()
}

fn result(day: usize, slower: bool, samples: usize, random: &mut Random) -> Named {
    let started = format!("{}-{:02}-{:02}T12:00:00Z", 2026 + day / 336, 1 + day / 28 % 12, 1 + day % 28);
    let mut report = BenchReport::new("made up", &started);
    let device = |ordinal| DeviceFacts {
        ordinal,
        name: "made-up GPU".to_owned(),
        uuid: format!("GPU-00000000-0000-0000-0000-00000000000{ordinal}"),
        memory: 141 << 30,
    };
    report.machine.cpu = "made-up processor".to_owned();
    report.machine.cores = 16;
    report.machine.driver = Some("1.2.3".to_owned());
    report.machine.cuda = Some(13_000);
    report.machine.devices = (0..DEVICES).map(device).collect();
    report.machine.topology = vec!["0-1: peer access".to_owned()];
    report.load.load_average = Some(0.4);
    report.guards = ["1980", "1755"].map(guard).into();
    report.skipped = vec![Skipped { id: "transport/fabric".to_owned(), reason: "there is no IMEX channel".to_owned() }];
    report.benchmarks = control(slower, samples, random);
    report.benchmarks.extend(bandwidth(samples, random));
    report.benchmarks.extend(matrix(samples, random));
    report.benchmarks.extend(transport(samples, random));
    Named { name: format!("made-up-{day:03}.json"), report }
}

fn guard(after: &str) -> Guard {
    Guard { what: "device 0: SM clock, MHz".to_owned(), before: "1980".to_owned(), after: after.to_owned() }
}

fn control(slower: bool, samples: usize, random: &mut Random) -> Vec<Benchmark> {
    let mut all = Vec::new();
    for (number, name) in LINES.iter().enumerate() {
        for power in 0..10 {
            let size = if power < 9 { format!("{} MiB", 2 << power) } else { "1 GiB".to_owned() };
            let step = if slower && *name == "mem_map" { 1.2 } else { 1.0 };
            let value = step * 1500.0 * (number + 1) as f64 * 1.35_f64.powi(power);
            let samples = random.samples(value, samples);
            all.push(benchmark("control", name, &[("size", size)], Unit::Nanoseconds, samples));
        }
    }
    all
}

fn bandwidth(samples: usize, random: &mut Random) -> Vec<Benchmark> {
    let mut all = Vec::new();
    for (name, most) in [("fill_id", 4100.0), ("verify_id", 3900.0), ("memset_d8", 4300.0)] {
        for power in 0..9 {
            let bytes = f64::from(1 << (2 * power)) * 65_536.0;
            let rate = most * bytes / (bytes + 4e7);
            let size = show_size(bytes);
            let samples = random.samples(rate, samples);
            let mut one = benchmark("bandwidth", name, &[("size", size)], Unit::GigabytesPerSecond, samples);
            let floor = (name == "verify_id" && power == 8).then_some(4042.0);
            one.floor = floor.map(|value| Floor { value, source: "94 % of memset_d8 in the same run".to_owned() });
            all.push(one);
        }
    }
    all
}

fn show_size(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= f64::from(1 << 30) => format!("{} GiB", bytes / f64::from(1 << 30)),
        bytes if bytes >= f64::from(1 << 20) => format!("{} MiB", bytes / f64::from(1 << 20)),
        bytes => format!("{} KiB", bytes / 1024.0),
    }
}

fn matrix(samples: usize, random: &mut Random) -> Vec<Benchmark> {
    let pairs = (0..DEVICES).flat_map(|from| (0..DEVICES).map(move |to| (from, to)));
    let mut all = Vec::new();
    for (from, to) in pairs {
        let rate = if from == to { 2050.0 } else { 395.0 - 6.0 * f64::from((from - to).abs()) };
        let parameters = [("from", from.to_string()), ("to", to.to_string()), ("size", "1 GiB".to_owned())];
        let samples = random.samples(rate, samples);
        all.push(benchmark("peers", "copy_peer", &parameters, Unit::GigabytesPerSecond, samples));
    }
    all
}

fn transport(samples: usize, random: &mut Random) -> Vec<Benchmark> {
    let mut all = Vec::new();
    for (name, base) in [("send", 2100.0), ("receive", 2600.0), ("round_trip", 6000.0)] {
        for power in 0..13 {
            let count = 1_u32 << power.min(7);
            let kind = if power > 7 { "stream" } else { "seqpacket" };
            let count = if power > 7 { 1 << (power - 8) } else { count };
            let parameters = [("descriptors", count.to_string()), ("kind", kind.to_owned())];
            let samples = random.samples(base + 240.0 * f64::from(count), samples);
            all.push(benchmark("transport", name, &parameters, Unit::Nanoseconds, samples));
        }
    }
    all
}
