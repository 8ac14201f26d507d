//! Each entry on the simulator, in a process of its own: this executable again, with an argument that makes it a player instead
//! of a list of tests.

use std::process::ExitCode;
use std::time::Duration;

use peermap_bugs::{Launch, Verdict, choose, play, player_main};
use peermap_ipc::Channel;
use peermap_testing::{Arguments, Trial};

const PLAYER: &str = "--player";

fn launch() -> Launch {
    Launch { exe: std::env::current_exe().unwrap(), args: vec![PLAYER.to_owned()] }
}

fn main() -> ExitCode {
    if std::env::args().any(|argument| argument == PLAYER) {
        let channel = Channel::to_parent(3).unwrap();
        player_main(channel, None, launch()).unwrap();
        return ExitCode::SUCCESS;
    }
    // One at a time: the kernel ends a player with the thread that started it, and an entry may look at what this host has left.
    let arguments = Arguments { test_threads: Some(1), ..Arguments::from_args() };
    // A host without user namespaces has no file system of 1 MiB.
    let needs_a_namespace = |trial: &Trial| trial.name().starts_with("i1_");
    let ignored = |trial: &Trial| needs_a_namespace(trial) && matches!(verdict("I1"), Verdict::Skipped(_));
    let trials = trials().into_iter().map(|trial| {
        let ignored = ignored(&trial);
        trial.with_ignored_flag(ignored)
    });
    peermap_testing::run(&arguments, trials.collect()).exit_code()
}

fn verdict(id: &str) -> Verdict {
    let entry = choose(&[id.to_owned()]).unwrap()[0];
    play(entry, &launch(), 1, Duration::from_secs(60)).unwrap().verdict
}

/// A test for each entry, named after it.
macro_rules! entries {
    ($($id:literal $name:ident),* $(,)?) => {
        vec![$(Trial::test(stringify!($name), || {
            assert_eq!(verdict($id), Verdict::Passed);
            Ok(())
        })),*]
    };
}

fn trials() -> Vec<Trial> {
    entries![
        "A1" a1_legacy_export_of_mapped_memory,
        "A2" a2_legacy_export_of_memory_of_a_pool,
        "B1" b1_the_place_inside_the_block_is_lost,
        "B5" b5_the_range_of_one_chunk_taken_for_that_of_the_buffer,
        "C1" c1_a_stale_mapping_for_an_address_that_came_again,
        "D1" d1_the_reference_of_the_creation_is_never_released,
        "D2" d2_release_before_unmap_and_the_reference_of_retaining,
        "D5" d5_an_importer_keeps_a_dead_exporters_memory,
        "D6" d6_freed_or_used_again_before_the_consumer_opens,
        "D9" d9_a_set_up_that_fails_leaks_and_is_tried_again,
        "E3" e3_an_unmap_over_a_hole_after_a_mapping_failed,
        "E4" e4_an_unmap_of_a_part_of_a_mapping,
        "E8" e8_memory_runs_out_half_way_and_the_half_is_kept,
        "E9" e9_rights_for_a_freshly_mapped_tail,
        "E11" e11_only_the_owner_got_rights_and_peers_fault,
        "E13" e13_an_unmap_overtakes_queued_work,
        "E14" e14_addresses_run_out_while_memory_is_free,
        "F1" f1_the_attribute_says_yes_creation_says_no,
        "F2" f2_creation_says_yes_export_says_no,
        "G1" g1_memory_rounded_to_the_wrong_granularity,
        "G2" g2_one_rank_does_not_join_and_the_others_hang,
        "H1" h1_the_message_arrives_its_descriptors_do_not,
        "H2" h2_junk_taken_for_a_descriptor,
        "H3" h3_too_many_descriptors_in_one_message,
        "H6" h6_a_lost_reply_and_everybody_waits,
        "H7" h7_taking_a_siblings_descriptor_is_not_permitted,
        "I1" i1_shared_memory_of_the_host_is_too_small,
        "I2" i2_leftovers_turn_one_crash_into_a_loop,
        "I6" i6_one_rank_stalls_and_the_barrier_waits,
        "J1" j1_the_peers_device_number_is_not_mine,
        "J2" j2_a_uuid_that_the_other_side_does_not_see,
        "L1" l1_fork_after_initialisation,
    ]
}
