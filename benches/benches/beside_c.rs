//! What the calls in the life of one allocation cost through peermap, beside the same calls from C.
//!
//! `beside_c LIBRARY [SIZE_IN_MIB [ROUNDS]]`: LIBRARY is built from `benches/c/control.c`. One process does a round from C and one
//! through peermap in turns, so that both run at the speed that the processor has just then, with the same driver and context.
//! Exit status: 0 every call costs at most 3 % more, 10 one costs more, 15 of one it cannot be said, 12 no GPU, 2 usage.

use std::process::ExitCode;

use libloading::{Library, Symbol};
use peermap_bench::{Alone, BenchError, Effort, Group, Rig, SUITES};
use peermap_cuda::CudaDriver;
use peermap_driver::ByteSize;
use peermap_report::bench::{Change, Threshold, Unit};

/// How much more a call may cost.
const MORE: f64 = 0.03;

/// Rounds of each side that do not count.
const WARM_UP: usize = 50;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let number = |index: usize, usual: u64| arguments.get(index).map_or(Some(usual), |text| text.parse().ok());
    let (Some(library), Some(mebibytes), Some(rounds)) = (arguments.first(), number(1, 2), number(2, 1500)) else {
        eprintln!("usage: beside_c LIBRARY [SIZE_IN_MIB [ROUNDS]]");
        return ExitCode::from(2);
    };
    let driver = match CudaDriver::open().and_then(|driver| driver.check_devices().map(|_| driver)) {
        Ok(driver) => driver,
        Err(error) => {
            eprintln!("beside_c: {error}");
            return ExitCode::from(12);
        }
    };
    match beside(&driver, library, ByteSize::mib(mebibytes), usize::try_from(rounds).unwrap_or(usize::MAX)) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("beside_c: {error}");
            ExitCode::FAILURE
        }
    }
}

fn beside(driver: &CudaDriver, library: &str, size: ByteSize, rounds: usize) -> Result<ExitCode, BenchError> {
    let rig = Rig::new(driver, &Alone, Effort::FULL, false)?;
    let from_c = FromC::open(library, size, rig.devices[0].0.0)?;
    let suite = SUITES.iter().find(|suite| suite.name() == "control").expect("there is a suite of that name");
    let ours = [("memory", "own".to_owned()), ("size", size.to_string())];
    let planned = suite.plan(&rig).into_iter().find(|planned| planned.parameters == ours);
    let planned = planned.ok_or_else(|| BenchError::NotHere(format!("the suite does not measure {size}")))?;
    let names: Vec<&str> = planned.outputs.iter().map(|output| output.name).collect();
    let mut group = (planned.make)()?;
    let rounds = in_turns(&from_c, &mut *group, rounds)?;
    Ok(judge(&names, &rounds))
}

/// The samples of each call: from C, and through peermap.
type Rounds = [Vec<Vec<f64>>; 2];

/// Who is first alternates, so that what the first does for the second favours neither.
fn in_turns(from_c: &FromC, group: &mut dyn Group, rounds: usize) -> Result<Rounds, BenchError> {
    let mut all: Rounds = [Vec::new(), Vec::new()];
    for round in 0..WARM_UP + rounds {
        let (c, ours) = if round % 2 == 0 {
            let c = from_c.round();
            (c, group.sample()?)
        } else {
            let ours = group.sample()?;
            (from_c.round(), ours)
        };
        if round >= WARM_UP {
            all[0].push(c);
            all[1].push(ours);
        }
    }
    Ok(all)
}

fn judge(names: &[&str], [c, ours]: &Rounds) -> ExitCode {
    let threshold = Threshold::new(MORE).expect("a share");
    let (mut more, mut unsure) = (false, false);
    let all = |side: &[Vec<f64>]| -> Vec<f64> { side.iter().map(|sample| sample.iter().sum()).collect() };
    let one = |side: &[Vec<f64>], index: usize| -> Vec<f64> { side.iter().map(|sample| sample[index]).collect() };
    let rows = names.iter().enumerate().map(|(index, name)| (*name, one(c, index), one(ours, index)));
    for (name, c, ours) in rows.chain([("all of them", all(c), all(ours))]) {
        let change = Change::of_pairs(&c, &ours, Unit::Nanoseconds, threshold).expect("times are numbers");
        let (low, high) = change.interval.map_or((0.0, f64::INFINITY), |interval| (interval.low, interval.high));
        let verdict = match () {
            () if high <= 1.0 + MORE => "ok",
            () if low > 1.0 + MORE => "MORE",
            () => "unsure",
        };
        more |= verdict == "MORE";
        unsure |= verdict == "unsure";
        println!("{name:30} {:.3} times C, {low:.3} to {high:.3} | {verdict}", change.ratio);
    }
    match (more, unsure) {
        (true, _) => ExitCode::from(10),
        (false, true) => ExitCode::from(15),
        (false, false) => ExitCode::SUCCESS,
    }
}

/// How many calls a round has.
const CALLS: usize = 9;

/// The rounds of the library.
struct FromC {
    library: Library,
    size: ByteSize,
    device: i32,
}

#[expect(unsafe_code, reason = "functions of another language have no other kind")]
impl FromC {
    fn open(path: &str, size: ByteSize, device: i32) -> Result<Self, BenchError> {
        let failed = |error: libloading::Error| BenchError::NotHere(format!("{path}: {error}"));
        // SAFETY: "When a library is loaded, initialisation routines contained within it are executed": control.c has none.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        // SAFETY: the function is declared like this in control.c.
        let open: Symbol<'_, unsafe extern "C" fn()> = unsafe { library.get(b"control_open") }.map_err(failed)?;
        // SAFETY: it takes nothing, and is called once, before any round.
        unsafe { open() };
        Ok(Self { library, size, device })
    }

    fn round(&self) -> Vec<f64> {
        let mut sample = vec![0.0; CALLS];
        // SAFETY: the function is declared like this in control.c.
        let round: Symbol<'_, unsafe extern "C" fn(*mut f64, usize, i32)> =
            unsafe { self.library.get(b"control_round") }.expect("the library has both functions");
        // SAFETY: it writes nine numbers, and the context of the device is current.
        unsafe { round(sample.as_mut_ptr(), self.size.to_usize().expect("64 bits"), self.device) };
        sample
    }
}
