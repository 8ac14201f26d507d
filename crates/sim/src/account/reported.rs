//! What a simulated machine tells of its memory, in the words of reports.

use std::collections::BTreeMap;

use peermap_model::{DescriptorLine, HolderLine, HolderList, Leak, Ledger, ProcessId, Report};
use peermap_report::{Account, Held, Keeper, Left, Misuse, SimulatedProcess};

/// What a machine knows of its memory; `pids` are the operating system's numbers of the processes that are there, and of some that
/// have ended.
pub(crate) fn reported(
    profile: &str,
    [pids, ended]: [&BTreeMap<ProcessId, u32>; 2],
    holders: &HolderList,
    ledger: &Ledger,
) -> Account {
    let left = |leak: &Leak| Left {
        process: leak.process.0,
        pid: ended.get(&leak.process).copied(),
        held: held(&leak.held, ended),
    };
    let misuse =
        |Report { process, rule, text }: &Report| Misuse { process: process.0, rule: rule.clone(), text: text.clone() };
    Account {
        profile: profile.to_owned(),
        processes: pids.iter().map(|(process, pid)| SimulatedProcess { process: process.0, pid: *pid }).collect(),
        held: held(holders, pids),
        left: ledger.leaks.iter().map(left).collect(),
        all_left: ledger.all_leaks,
        misuses: ledger.reports.iter().map(misuse).collect(),
        all_misuses: ledger.all_reports,
    }
}

fn held(holders: &HolderList, pids: &BTreeMap<ProcessId, u32>) -> Vec<Held> {
    holders.0.iter().map(|line| one(line, pids)).collect()
}

fn one(line: &HolderLine, pids: &BTreeMap<ProcessId, u32>) -> Held {
    let nothing = Keeper { what: String::new(), process: None, pid: None, fd: None, by: None };
    let of = |what: String, process: ProcessId| {
        let (number, pid) = (Some(process.0), pids.get(&process).copied());
        Keeper { what, process: number, pid, ..nothing.clone() }
    };
    let processes = line.processes.iter().map(|(process, how)| of(how.to_string(), *process));
    let nt_handles = line.nt_handles.iter().map(|process| of("an NT handle".to_owned(), *process));
    let pool = line.in_pool.then(|| Keeper { what: "a pool that others imported".to_owned(), ..nothing.clone() });
    let teams = line.binds.iter().map(|site| Keeper {
        what: "a multicast team".to_owned(),
        by: Some(site.to_string()),
        ..nothing.clone()
    });
    let descriptors = line.descriptors.iter().flat_map(descriptors);
    Held {
        bytes: line.size.get(),
        place: line.place.to_string(),
        made_by: line.made_by.to_string(),
        kept_by: processes.chain(descriptors).chain(nt_handles).chain(pool).chain(teams).collect(),
    }
}

/// Each copy of a descriptor, or that it is on its way.
fn descriptors(line: &DescriptorLine) -> Vec<Keeper> {
    let keeper = |what: &str, file: Option<(u32, i32)>| Keeper {
        what: what.to_owned(),
        process: None,
        pid: file.map(|(pid, _)| pid),
        fd: file.map(|(_, fd)| fd),
        by: Some(line.made_by.to_string()),
    };
    match &*line.open_in {
        [] => vec![keeper("a descriptor on its way between processes", None)],
        files => files.iter().map(|file| keeper("descriptor", Some(*file))).collect(),
    }
}
