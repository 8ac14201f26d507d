//! Random programs against a model that keeps every byte in a vector and works byte by byte.

use std::sync::Arc;

use peermap_memory::{Access, Arena, Backing, Budget, Fault, FaultKind, Rights, Table, View};
use proptest::prelude::*;

use crate::setup::{BASE, PAGE, arena, budget, bytes};

const ARENAS: usize = 2;
const GRANULES: u64 = 6;
const WINDOW: u64 = 10;

#[derive(Clone, Debug)]
enum Step {
    Set { granule: u64, count: u64, backing: Backing, rights: Rights },
    Clear { granule: u64, count: u64 },
    Fill { at: u64, len: u64, value: u8 },
    Write { at: u64, len: u64, seed: u8 },
    Words { at: u64, len: u64, seed: u64 },
    Copy { to: u64, from: u64, len: u64 },
    Read { at: u64, len: u64 },
    Compare { at: u64, len: u64, value: u8 },
    Discard { arena: usize, granule: u64, count: u64 },
}

struct Model {
    table: Vec<Option<(usize, u64, Rights)>>,
    bytes: Vec<Vec<u8>>,
    written: Vec<Vec<bool>>,
}

struct Device {
    budget: Arc<Budget>,
    table: Table,
    arenas: Vec<Arc<Arena>>,
}

impl Model {
    fn new() -> Self {
        Self {
            table: vec![None; WINDOW as usize],
            bytes: vec![vec![0; (GRANULES * PAGE) as usize]; ARENAS],
            written: vec![vec![false; GRANULES as usize]; ARENAS],
        }
    }

    /// Arena and offset of a byte of the window.
    fn place(&self, at: u64, access: Access) -> Result<(usize, usize), Fault> {
        let fault = |kind| Fault { address: BASE + at, kind };
        let entry = self.table.get((at / PAGE) as usize).copied().flatten();
        let (arena, granule, rights) = entry.ok_or(fault(FaultKind::NotMapped))?;
        match access {
            Access::Read if !rights.read => Err(fault(FaultKind::NoReadAccess)),
            Access::Write if !rights.write => Err(fault(FaultKind::NoWriteAccess)),
            _ => Ok((arena, (granule * PAGE + at % PAGE) as usize)),
        }
    }

    fn put(&mut self, at: u64, value: u8) -> Result<(), Fault> {
        let (arena, offset) = self.place(at, Access::Write)?;
        self.bytes[arena][offset] = value;
        self.written[arena][offset / PAGE as usize] = true;
        Ok(())
    }

    fn get(&self, at: u64) -> Result<u8, Fault> {
        self.place(at, Access::Read).map(|(arena, offset)| self.bytes[arena][offset])
    }

    fn put_all(&mut self, at: u64, values: &[u8]) -> Result<(), Fault> {
        values.iter().zip(at..).try_for_each(|(value, at)| self.put(at, *value))
    }

    fn get_all(&self, at: u64, len: u64) -> Result<Vec<u8>, Fault> {
        (at..at + len).map(|at| self.get(at)).collect()
    }

    /// Whether a copy would write a byte that it reads later, or has read before: its result then depends on the runs.
    fn overlaps(&self, to: u64, from: u64, len: u64) -> bool {
        let places = |at: u64, access| (at..at + len).filter_map(move |at| self.place(at, access).ok());
        let sources: std::collections::HashSet<_> = places(from, Access::Read).collect();
        places(to, Access::Write).any(|place| sources.contains(&place))
    }

    fn copy(&mut self, to: u64, from: u64, len: u64) -> Result<(), Fault> {
        (0..len).try_for_each(|offset| {
            let value = self.get(from + offset)?;
            self.put(to + offset, value)
        })
    }

    fn charged(&self) -> u64 {
        PAGE * self.written.iter().flatten().filter(|written| **written).count() as u64
    }
}

fn pattern(seed: u64) -> impl Fn(u64) -> u64 {
    move |offset| (offset + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Does the step in both worlds and compares what they answer.
fn perform(step: Step, model: &mut Model, device: &Device) {
    let view = View::new(&device.table, &device.arenas);
    match step {
        Step::Set { granule, count, backing, rights } => {
            device.table.set(BASE + granule * PAGE, count, backing, rights);
            for index in 0..count {
                let entry = (usize::from(backing.arena), backing.first_granule + index, rights);
                model.table[(granule + index) as usize] = Some(entry);
            }
        }
        Step::Clear { granule, count } => {
            device.table.clear(BASE + granule * PAGE, count);
            model.table[granule as usize..(granule + count) as usize].fill(None);
        }
        Step::Fill { at, len, value } => {
            let expected = model.put_all(at, &vec![value; len as usize]);
            assert_eq!(view.fill(BASE + at, value, len), expected);
        }
        Step::Write { at, len, seed } => {
            let values: Vec<u8> = (0..len).map(|index| seed.wrapping_add(index as u8)).collect();
            assert_eq!(view.write(BASE + at, &values), model.put_all(at, &values));
        }
        Step::Words { at, len, seed } => {
            let words = (0..len).step_by(8).flat_map(|offset| pattern(seed)(offset).to_le_bytes());
            let expected = model.put_all(at, &words.take(len as usize).collect::<Vec<_>>());
            assert_eq!(view.fill_words(BASE + at, len, pattern(seed)), expected);
        }
        Step::Copy { to, from, len } if model.overlaps(to, from, len) => {
            perform(Step::Read { at: from, len }, model, device)
        }
        Step::Copy { to, from, len } => {
            assert_eq!(view.copy_from(BASE + to, &view, BASE + from, len), model.copy(to, from, len));
        }
        Step::Read { at, len } => {
            let mut found = vec![0xEE; len as usize];
            let outcome = view.read(BASE + at, &mut found);
            assert_eq!(view.check(BASE + at, len, Access::Read), outcome);
            assert_eq!(outcome.map(|()| found), model.get_all(at, len));
        }
        Step::Compare { at, len, value } => {
            let differing = |bytes: Vec<u8>| {
                let unequal: Vec<u64> = (0..).zip(bytes).filter(|(_, byte)| *byte != value).map(|(at, _)| at).collect();
                (unequal.len() as u64, unequal.first().copied())
            };
            let found = view.compare(BASE + at, len, value).map(|found| (found.bytes, found.first));
            assert_eq!(found, model.get_all(at, len).map(differing));
        }
        Step::Discard { arena, granule, count } => {
            device.arenas[arena].discard(granule * PAGE, count * PAGE).unwrap();
            model.bytes[arena][(granule * PAGE) as usize..((granule + count) * PAGE) as usize].fill(0);
            model.written[arena][granule as usize..(granule + count) as usize].fill(false);
        }
    }
}

/// A start and a number of granules within `total`.
fn granules(total: u64) -> impl Strategy<Value = (u64, u64)> {
    (0..total).prop_flat_map(move |first| (Just(first), 1..=total - first))
}

fn rights() -> impl Strategy<Value = Rights> {
    let write_only = Rights { read: false, write: true };
    prop_oneof![
        8 => Just(Rights::READ_WRITE),
        1 => Just(Rights::READ),
        1 => Just(write_only),
        1 => Just(Rights::NONE),
    ]
}

fn set() -> impl Strategy<Value = Step> {
    let place = (0..WINDOW, 0..GRANULES).prop_flat_map(|(granule, first_granule)| {
        let most = (WINDOW - granule).min(GRANULES - first_granule);
        (Just(granule), Just(first_granule), 1..=most)
    });
    (place, 0..ARENAS as u8, rights()).prop_map(|((granule, first_granule, count), arena, rights)| Step::Set {
        granule,
        count,
        backing: Backing { arena, first_granule },
        rights,
    })
}

fn step() -> impl Strategy<Value = Step> {
    // Positions near borders of granules are as likely as all others together.
    let border = (0..=WINDOW, -9..9_i64).prop_map(|(granule, near)| (granule * PAGE).saturating_add_signed(near));
    let at = prop_oneof![border, 0..WINDOW * PAGE].boxed();
    let len = prop_oneof![0..40_u64, 0..4 * PAGE];
    let range = (at.clone(), len).boxed();
    prop_oneof![
        4 => set(),
        1 => granules(WINDOW).prop_map(|(granule, count)| Step::Clear { granule, count }),
        2 => (range.clone(), any::<u8>()).prop_map(|((at, len), value)| Step::Fill { at, len, value }),
        2 => (range.clone(), any::<u8>()).prop_map(|((at, len), seed)| Step::Write { at, len, seed }),
        2 => (range.clone(), any::<u64>()).prop_map(|((at, len), seed)| Step::Words { at, len, seed: seed >> 8 }),
        3 => (range.clone(), at).prop_map(|((to, len), from)| Step::Copy { to, from, len }),
        1 => range.clone().prop_map(|(at, len)| Step::Read { at, len }),
        1 => (range, 0..3_u8).prop_map(|((at, len), value)| Step::Compare { at, len, value }),
        1 => (granules(GRANULES), 0..ARENAS)
            .prop_map(|((granule, count), arena)| Step::Discard { arena, granule, count }),
    ]
}

proptest! {
    #[test]
    fn device_memory_behaves_as_a_map_of_bytes(steps in prop::collection::vec(step(), 1..40)) {
        let budget = budget(u64::MAX);
        let arenas = (0..ARENAS as u8).map(|index| arena(index, GRANULES, PAGE, &budget)).collect();
        let table = Table::new(BASE, WINDOW * PAGE, PAGE).unwrap();
        let device = Device { budget, table, arenas };
        let mut model = Model::new();
        for step in steps {
            perform(step, &mut model, &device);
            prop_assert_eq!(device.budget.used(), model.charged());
        }
        // Whatever the table says now, the arenas hold what the model says.
        for (arena, expected) in (0..).zip(&model.bytes) {
            let table = Table::new(BASE, GRANULES * PAGE, PAGE).unwrap();
            table.set(BASE, GRANULES, Backing { arena, first_granule: 0 }, Rights::READ);
            let view = View::new(&table, &device.arenas);
            prop_assert!(bytes(&view, BASE, expected.len()) == *expected, "arena {} differs", arena);
        }
    }
}
