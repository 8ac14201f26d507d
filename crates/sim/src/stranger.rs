//! What a machine makes of questions that no process of ours asks, and a process of answers that no machine of ours gives.

use peermap_driver::ByteSize;
use peermap_model::{Answer, Ask, ProcessId, Profile};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::host::{MachineHost, MachineOptions};
use crate::protocol::{Control, ControlReply, FromProcess, Ring, ToProcess};

/// Bytes as they stand in messages: small numbers mostly, so that many of them mean something.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![6 => 0u8..8, 1 => any::<u8>()], 1..48)
}

/// The questions that stand one behind the other in bytes.
fn questions(mut bytes: &[u8]) -> Vec<Ask> {
    let mut questions = Vec::new();
    while let Ok((question, rest)) = postcard::take_from_bytes(bytes) {
        questions.push(question);
        bytes = rest;
    }
    questions
}

/// What somebody else sees of a machine: how much memory it has free.
fn free(host: &mut MachineHost, process: ProcessId) -> ByteSize {
    match host.answer(process, Ask::MemInfo { device: 0 }, None) {
        Ok((Answer::MemInfo(info), None)) => info.free,
        other => panic!("a machine that works says how much memory it has, and not {other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_machine_goes_on_whatever_it_is_asked(bytes in vec(bytes(), 1..20)) {
        let options = MachineOptions { host_memory: Some(ByteSize::mib(64)), ..MachineOptions::default() };
        let mut host = MachineHost::new(Profile::named("h200-x2").unwrap(), options).unwrap();
        let (stranger, other) = (host.connect(None), host.connect(None));
        let before = free(&mut host, other);
        for question in bytes.iter().flat_map(|bytes| questions(bytes)) {
            drop(host.answer(stranger, question, None));
        }
        host.disconnect(stranger).unwrap();
        prop_assert_eq!(free(&mut host, other), before);
        prop_assert_eq!(host.holders().unwrap().0, []);
    }

    #[test]
    fn no_bytes_make_a_decoder_panic(bytes in prop_oneof![bytes(), vec(any::<u8>(), 0..200)]) {
        drop(postcard::from_bytes::<FromProcess>(&bytes));
        drop(postcard::from_bytes::<ToProcess>(&bytes));
        drop(postcard::from_bytes::<Control>(&bytes));
        drop(postcard::from_bytes::<ControlReply>(&bytes));
        drop(postcard::from_bytes::<Ring>(&bytes));
    }
}
