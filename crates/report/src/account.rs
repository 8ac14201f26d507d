//! What a simulated machine tells of its memory.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How many lines of each part people are shown.
const SHOWN: usize = 10;

/// What a simulated machine tells of its memory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    /// The name of its profile.
    pub profile: String,
    /// The processes that are there.
    pub processes: Vec<SimulatedProcess>,
    /// What is held now, in the order of creation.
    pub held: Vec<Held>,
    /// What processes still held when they ended. The machine has taken it back, as a driver does.
    pub left: Vec<Left>,
    /// How many processes ended so, if more than those.
    pub all_left: u64,
    /// What processes did that the driver accepts and a careful program does not do.
    pub misuses: Vec<Misuse>,
    /// How many there were, if more than those.
    pub all_misuses: u64,
}

/// A process of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SimulatedProcess {
    /// Its number in the machine.
    pub process: u32,
    /// Which process of the operating system it is.
    pub pid: u32,
}

/// An allocation and who keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    /// How large it is.
    ///
    /// # Units
    /// Bytes.
    pub bytes: u64,
    /// Where it lies.
    pub place: String,
    /// The call that made it.
    pub made_by: String,
    /// Who keeps it.
    pub kept_by: Vec<Keeper>,
}

/// Something that keeps an allocation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Keeper {
    /// What it is: a handle, mappings, a descriptor, a descriptor on its way.
    pub what: String,
    /// Whose, by the number in the machine.
    pub process: Option<u32>,
    /// Whose, by the operating system's number.
    pub pid: Option<u32>,
    /// The descriptor there.
    pub fd: Option<i32>,
    /// The call that it comes from, where that is another than the one that made the allocation.
    pub by: Option<String>,
}

/// What a process still held when it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Its number in the machine.
    pub process: u32,
    /// Which process of the operating system it was.
    pub pid: Option<u32>,
    /// What it held.
    pub held: Vec<Held>,
}

/// Something that the driver accepts and a careful program does not do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Misuse {
    /// Who did it, by the number in the machine.
    pub process: u32,
    /// The rule about it.
    pub rule: String,
    /// Both sides of it, in a sentence.
    pub text: String,
}

impl Account {
    /// Whether there is nothing to tell but the processes.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.held.is_empty() && self.all_left == 0 && self.all_misuses == 0
    }

    /// What of this came after an earlier account of the same machine: what is held is that of now.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        self.all_left -= earlier.all_left.min(self.all_left);
        self.all_misuses -= earlier.all_misuses.min(self.all_misuses);
        keep_last(&mut self.left, self.all_left);
        keep_last(&mut self.misuses, self.all_misuses);
        self
    }

    /// A line for everything that there is to tell: the first few of each part, if not `all`.
    #[must_use]
    pub fn lines(&self, all: bool) -> Vec<String> {
        let most = if all { usize::MAX } else { SHOWN };
        let held = self.held.iter().map(ToString::to_string);
        let left = self
            .left
            .iter()
            .flat_map(|left| left.held.iter().map(move |held| format!("{left} ended and still held {held}")));
        let misuses = self.misuses.iter().map(|misuse| misuse.text.clone());
        let forgotten_left = self.all_left - self.left.len() as u64;
        let forgotten_misuses = self.all_misuses - self.misuses.len() as u64;
        let mut lines = first(held.collect(), most, 0);
        lines.extend(first(left.collect(), most, forgotten_left));
        lines.extend(first(misuses.collect(), most, forgotten_misuses));
        lines
    }
}

fn keep_last<T>(all: &mut Vec<T>, count: u64) {
    let older = all.len() - usize::try_from(count).map_or(all.len(), |count| count.min(all.len()));
    all.drain(..older);
}

/// The first of some lines, and one about how many there are besides.
fn first(mut lines: Vec<String>, most: usize, forgotten: u64) -> Vec<String> {
    let besides = lines.len().saturating_sub(most) as u64 + forgotten;
    lines.truncate(most);
    if besides > 0 {
        lines.push(format!("and {besides} more like that"));
    }
    lines
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.process)?;
        self.pid.map_or(Ok(()), |pid| write!(f, " (pid {pid})"))
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, place, made_by, kept_by } = self;
        write!(f, "{bytes} bytes on {place}, made by {made_by}, kept by ")?;
        for (index, keeper) in kept_by.iter().enumerate() {
            write!(f, "{}{keeper}", if index == 0 { "" } else { "; " })?;
        }
        if kept_by.is_empty() { f.write_str("nobody") } else { Ok(()) }
    }
}

impl fmt::Display for Keeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        self.fd.map_or(Ok(()), |fd| write!(f, " {fd}"))?;
        match (self.process, self.pid) {
            (Some(process), Some(pid)) => write!(f, " of process {process} (pid {pid})")?,
            (Some(process), None) => write!(f, " of process {process}")?,
            (None, Some(pid)) => write!(f, " of pid {pid}")?,
            (None, None) => {}
        }
        self.by.as_ref().map_or(Ok(()), |by| write!(f, " from {by}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(bytes: u64) -> Held {
        let keeper = Keeper { what: "descriptor".to_owned(), process: None, pid: Some(7), fd: Some(9), by: None };
        Held {
            bytes,
            place: "device 0".to_owned(),
            made_by: "cuMemCreate (call 3 of process 0)".to_owned(),
            kept_by: vec![keeper],
        }
    }

    fn account(left: u64, misuses: u64) -> Account {
        let misuse = |number: u64| Misuse { process: 0, rule: "UNMAP-5".to_owned(), text: format!("misuse {number}") };
        Account {
            held: vec![held(4096)],
            left: (0..left).map(|bytes| Left { process: 1, pid: None, held: vec![held(bytes)] }).collect(),
            all_left: left,
            misuses: (0..misuses).map(misuse).collect(),
            all_misuses: misuses,
            ..Account::default()
        }
    }

    #[test]
    fn a_line_names_bytes_place_maker_and_keeper() {
        let line = "4096 bytes on device 0, made by cuMemCreate (call 3 of process 0), kept by descriptor 9 of pid 7";
        assert_eq!(account(0, 0).lines(true), [line]);
        let left = format!("process 1 ended and still held {}", line.replace("4096", "0"));
        assert_eq!(account(1, 1).lines(true), [line.to_owned(), left, "misuse 0".to_owned()]);
    }

    #[test]
    fn what_is_too_much_for_people_is_counted() {
        let lines = account(0, 25).lines(false);
        assert_eq!((lines.len(), &*lines[11]), (12, "and 15 more like that"));
        assert_eq!(account(0, 25).lines(true).len(), 26);
        let forgotten = Account { all_misuses: 30, ..account(0, 25) };
        assert_eq!(forgotten.lines(true)[26], "and 5 more like that");
    }

    #[test]
    fn what_an_earlier_account_told_is_told_once() {
        let new = account(3, 5).since(&account(2, 5));
        assert_eq!((new.left.len(), new.all_left, new.misuses.len(), new.all_misuses), (1, 1, 0, 0));
        assert_eq!(new.left[0].held[0].bytes, 2, "the last one");
        assert!(!new.is_clean());
        let same = Account { held: Vec::new(), ..account(2, 5) };
        assert!(same.clone().since(&same).is_clean());
    }
}
