//! The machine: allocations, who holds them, and their bytes.

use std::collections::BTreeMap;

use peermap_driver::{AllocationProp, ByteSize, Call, CallSite, HandleType};
use peermap_model::{
    AllocId, AllocationRecord, Answer, Ask, Backing, Discard, ExportId, Holding, Machine, MachineError, Place, Policy,
    ProcessId, Profile, Wired, Wiring,
};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::bench::GRANULE;

/// What the driver has of a device before there is any context.
const DRIVER_BYTES: u64 = 3_407_872;

const SITE: CallSite = CallSite { process: 0, number: 1, call: Call::cuMemCreate };

fn machine(policy: Policy) -> Machine {
    Machine::new(Profile::named("h200-x2").unwrap(), policy)
}

fn create(machine: &mut Machine, process: ProcessId, device: u16, size: ByteSize) -> AllocationRecord {
    let prop = AllocationProp::pinned_on(i32::from(device), HandleType::POSIX_FILE_DESCRIPTOR);
    let ask = Ask::Create { place: Place::Device(device), prop, size, holding: Holding::Handle, site: SITE };
    match machine.answer(process, ask, None).unwrap().0 {
        Answer::Allocation(record) => record,
        other => panic!("no allocation: {other:?}"),
    }
}

fn export(machine: &mut Machine, process: ProcessId, alloc: AllocId) -> ExportId {
    machine.answer(process, Ask::ExportDescriptor { alloc, site: SITE }, None).unwrap().1.unwrap()
}

/// Maker, importer, and an allocation that the maker holds and has exported.
struct Shared {
    machine: Machine,
    maker: ProcessId,
    importer: ProcessId,
    alloc: AllocId,
    export: ExportId,
}

fn shared() -> Shared {
    shared_on(machine(Policy::Measured))
}

fn shared_on(mut machine: Machine) -> Shared {
    let (maker, importer) = (machine.connect(None), machine.connect(None));
    let alloc = create(&mut machine, maker, 0, GRANULE).alloc;
    let export = export(&mut machine, maker, alloc);
    Shared { machine, maker, importer, alloc, export }
}

fn import(shared: &mut Shared, process: ProcessId) -> bool {
    let (answer, _) = shared.machine.answer(process, Ask::ImportDescriptor, Some(shared.export)).unwrap();
    matches!(answer, Answer::Allocation(_))
}

fn drop_by(shared: &mut Shared, process: ProcessId) -> Result<(), MachineError> {
    shared.machine.answer(process, Ask::Drop { alloc: shared.alloc }, None).map(|_| ())
}

type Step = fn(&mut Shared);

/// Whoever lets go last frees the memory, in whatever order they do.
#[test]
fn the_last_of_maker_importer_and_descriptor_frees() {
    const ENDS: [(&str, Step); 3] = [
        ("maker drops", |shared| drop_by(shared, shared.maker).unwrap()),
        ("importer ends", |shared| shared.machine.disconnect(shared.importer)),
        ("descriptor goes", |shared| shared.machine.descriptor_gone(shared.export)),
    ];
    for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
        let mut shared = shared();
        let importer = shared.importer;
        assert!(import(&mut shared, importer));
        for (place, index) in order.into_iter().enumerate() {
            let (name, step) = ENDS[index];
            step(&mut shared);
            assert_eq!(shared.machine.holders().0.len(), usize::from(place < 2), "{order:?}: {name}");
            assert_eq!(shared.machine.take_discards().len(), usize::from(place == 2), "{order:?}: {name}");
        }
        let late = shared.machine.connect(None);
        assert!(!import(&mut shared, late), "nothing is left to import");
    }
}

#[test]
fn who_holds_nothing_can_do_nothing() {
    let mut shared = shared();
    let (alloc, process) = (shared.alloc, shared.importer);
    let not_held = Err(MachineError::NotHeld { process, alloc });
    for ask in [
        Ask::Drop { alloc },
        Ask::Hold { alloc, holding: Holding::Mapping },
        Ask::ExportDescriptor { alloc, site: SITE },
        Ask::ExportFabric { alloc },
    ] {
        assert_eq!(shared.machine.answer(process, ask, None), not_held);
    }
    shared.machine.disconnect(process);
    assert_eq!(shared.machine.answer(process, Ask::ImportDescriptor, None), Err(MachineError::Process(process)));
    assert_eq!(shared.machine.holders().0[0].processes, [(shared.maker, Holding::Handle)]);
}

#[test]
fn places_and_sizes_that_do_not_exist_are_an_error_of_the_asker() {
    let mut machine = machine(Policy::Measured);
    let process = machine.connect(None);
    let prop = AllocationProp::pinned_on(0, HandleType::NONE);
    for place in [Place::Device(2), Place::HostNuma(1)] {
        let ask = Ask::Create { place, prop, size: GRANULE, holding: Holding::Handle, site: SITE };
        assert_eq!(machine.answer(process, ask, None), Err(MachineError::Place(place)));
    }
    for size in [ByteSize::ZERO, ByteSize::new(5), ByteSize::mib(3)] {
        let ask = Ask::Create { place: Place::Device(0), prop, size, holding: Holding::Handle, site: SITE };
        assert_eq!(machine.answer(process, ask, None), Err(MachineError::Size(size)));
    }
    for ask in [Ask::MemInfo { device: 2 }, Ask::TakeForDriver { device: 2, bytes: GRANULE }] {
        assert_eq!(machine.answer(process, ask, None), Err(MachineError::Place(Place::Device(2))));
    }
}

fn free(machine: &mut Machine, process: ProcessId) -> u64 {
    match machine.answer(process, Ask::MemInfo { device: 0 }, None).unwrap().0 {
        Answer::MemInfo(info) => info.free.get(),
        other => panic!("no answer about memory: {other:?}"),
    }
}

#[test]
fn what_the_driver_took_is_free_again_when_it_is_given_back_or_the_process_goes() {
    let mut machine = machine(Policy::Measured);
    let [one, other] = [machine.connect(None), machine.connect(None)];
    let before = free(&mut machine, one);
    let take = |bytes| Ask::TakeForDriver { device: 0, bytes };
    for process in [one, other, one] {
        assert_eq!(machine.answer(process, take(GRANULE), None).unwrap().0, Answer::Done);
    }
    assert_eq!(before - free(&mut machine, one), 3 * GRANULE.get());
    let give_back = Ask::GiveBackOfDriver { device: 0, bytes: GRANULE };
    assert_eq!(machine.answer(one, give_back, None).unwrap().0, Answer::Done);
    assert_eq!(before - free(&mut machine, one), 2 * GRANULE.get());
    machine.disconnect(one);
    assert_eq!(before - free(&mut machine, other), GRANULE.get());
    let left = before - GRANULE.get();
    let refused = machine.answer(other, take(ByteSize::new(left + 1)), None).unwrap().0;
    assert_eq!(refused, Answer::OutOfMemory { free: ByteSize::new(left) });
    let all_but = ByteSize::new(before - before % GRANULE.get());
    let prop = AllocationProp::pinned_on(0, HandleType::NONE);
    let create = Ask::Create { place: Place::Device(0), prop, size: all_but, holding: Holding::Handle, site: SITE };
    assert!(matches!(machine.answer(other, create, None).unwrap().0, Answer::OutOfMemory { .. }));
    assert_eq!(machine.answer(other, take(ByteSize::new(left)), None).unwrap().0, Answer::Done);
    assert_eq!(free(&mut machine, other), 0);
}

#[test]
fn a_fabric_handle_names_its_memory_while_its_maker_holds_it() {
    let mut shared = shared_on(Machine::new(Profile::named("default").unwrap(), Policy::Measured));
    let (maker, importer, alloc) = (shared.maker, shared.importer, shared.alloc);
    let Answer::Fabric(handle) = shared.machine.answer(maker, Ask::ExportFabric { alloc }, None).unwrap().0 else {
        panic!("no fabric handle");
    };
    let mut wrong = handle.clone();
    wrong[63] ^= 1;
    let mut open = |handle| shared.machine.answer(importer, Ask::ImportFabric { handle }, None).unwrap().0;
    assert_eq!(open(wrong), Answer::NotExported);
    assert!(matches!(open(handle.clone()), Answer::Allocation(record) if record.alloc == alloc));
    drop_by(&mut shared, maker).unwrap();
    let answer = shared.machine.answer(importer, Ask::ImportFabric { handle }, None).unwrap().0;
    assert_eq!(answer, Answer::NotExported);
}

/// Granules of an arena.
fn granules(backing: Backing, size: ByteSize) -> impl Iterator<Item = (u16, u64)> {
    (0..size.get() / GRANULE.get()).map(move |index| (backing.arena, backing.first_granule + index))
}

#[test]
fn one_process_at_a_time_has_the_turn_until_it_gives_it_back_or_goes() {
    let Shared { mut machine, maker, importer, .. } = shared();
    let mut ask = |process, ask| machine.answer(process, ask, None).unwrap().0;
    assert_eq!(ask(maker, Ask::TakeTurn), Answer::Done);
    assert_eq!((ask(importer, Ask::TakeTurn), ask(maker, Ask::TakeTurn)), (Answer::NotYet, Answer::Done));
    ask(importer, Ask::GiveTurn);
    assert_eq!(ask(importer, Ask::TakeTurn), Answer::NotYet, "it had none to give");
    ask(maker, Ask::GiveTurn);
    assert_eq!((ask(importer, Ask::TakeTurn), ask(maker, Ask::TakeTurn)), (Answer::Done, Answer::NotYet));
    machine.disconnect(importer);
    assert_eq!(machine.answer(maker, Ask::TakeTurn, None).unwrap().0, Answer::Done);
}

proptest! {
    /// No byte belongs to two allocations, what is free and what is used add up, and what is freed is discarded once.
    #[test]
    fn every_byte_is_owned_once(
        seed in prop::option::of(any::<u64>()),
        steps in vec((0..2u16, 1..5u64, any::<usize>(), prop::bool::weighted(0.6)), 100),
    ) {
        let mut machine = machine(seed.map_or(Policy::Measured, |seed| Policy::Hostile { seed }));
        let process = machine.connect(None);
        let mut owned: BTreeMap<(u16, u64), AllocId> = BTreeMap::new();
        let mut kept: Vec<AllocationRecord> = Vec::new();
        for (device, size, choice, grows) in steps {
            if grows || kept.is_empty() {
                let record = create(&mut machine, process, device, ByteSize::new(size * GRANULE.get()));
                for granule in granules(record.backing, record.size) {
                    prop_assert_eq!(owned.insert(granule, record.alloc), None, "{:?} is owned twice", granule);
                }
                kept.push(record);
                prop_assert_eq!(machine.take_discards(), vec![]);
            } else {
                let gone = kept.swap_remove(choice % kept.len());
                machine.answer(process, Ask::Drop { alloc: gone.alloc }, None).unwrap();
                owned.retain(|_, owner| *owner != gone.alloc);
                prop_assert_eq!(machine.take_discards(), vec![Discard { backing: gone.backing, size: gone.size }]);
            }
            for device in 0..2u16 {
                let Answer::MemInfo(info) = machine.answer(process, Ask::MemInfo { device }, None).unwrap().0 else {
                    panic!("no answer about memory");
                };
                let used = owned.keys().filter(|(arena, _)| *arena == device).count() as u64;
                prop_assert_eq!(info.total.get() - info.free.get(), DRIVER_BYTES + used * GRANULE.get());
            }
            prop_assert_eq!(machine.holders().0.len(), kept.len());
        }
    }
}

/// What the granules of a team stand for on a device from now on.
fn wiring(first_granule: u64, granules: u64, device: u16, wired: Wired) -> Wiring {
    Wiring { first_granule, size: ByteSize::new(granules * GRANULE.get()), device, wired }
}

#[test]
fn a_team_is_wired_as_its_devices_come_and_bind_and_all_of_it_goes_with_its_last_holder() {
    let mut machine = machine(Policy::Measured);
    let process = machine.connect(None);
    let mut ask = |ask| machine.answer(process, ask, None).unwrap().0;
    let prop = AllocationProp::pinned_on(0, HandleType::NONE);
    let size = ByteSize::new(2 * GRANULE.get());
    let place = Place::Team { devices: 2 };
    let create = |place, size| Ask::Create { place, prop, size, holding: Holding::Handle, site: SITE };
    let Answer::Allocation(AllocationRecord { alloc: team, .. }) = ask(create(place, size)) else { panic!("no team") };
    for device in [0, 1] {
        assert!(matches!(ask(Ask::WholeTeam { team }), Answer::TeamIncomplete(_)));
        assert_eq!(ask(Ask::AddToTeam { team, device, site: SITE }), Answer::Done);
    }
    assert_eq!(ask(Ask::WholeTeam { team }), Answer::TeamDevices(vec![0, 1]));
    let Answer::Allocation(memory) = ask(create(Place::Device(1), size)) else { panic!("no memory") };
    // The second granule of the memory becomes the first of the team.
    let AllocationRecord { alloc, backing, .. } = memory;
    let bind = Ask::Bind { team, offset: 0, alloc, from: GRANULE.get(), size: GRANULE, site: SITE };
    assert_eq!(ask(bind), Answer::Done);
    assert_eq!(ask(Ask::Drop { alloc }), Answer::Done);
    let bound = Backing { first_granule: backing.first_granule + 1, ..backing };
    let expected =
        [wiring(0, 2, 0, Wired::Unbound), wiring(0, 2, 1, Wired::Unbound), wiring(0, 1, 1, Wired::Memory(bound))];
    assert_eq!(machine.take_wirings(), expected);
    assert_eq!((machine.take_discards(), machine.holders().0.len()), (vec![], 2), "the team keeps what is bound");
    machine.disconnect(process);
    let gone = [0, 1].map(|device| wiring(0, 2, device, Wired::Nothing));
    assert_eq!(machine.take_wirings(), gone);
    assert_eq!(machine.take_discards(), [Discard { backing, size }]);
    assert_eq!(machine.holders().0, []);
}
