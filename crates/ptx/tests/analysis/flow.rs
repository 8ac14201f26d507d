//! Blocks, dominators and liveness.

use peermap_ptx::InstructionId;
use peermap_ptx::analysis::{BlockId, ControlFlow, Dominators, Liveness};
use proptest::prelude::*;

use crate::{body, register};

const DIAMOND: &str =
    "setp.eq.u32 %p1, %r1, 0; @%p1 bra B; mov.u32 %r2, 1; bra C; B: mov.u32 %r2, 2; C: mov.u32 %r3, %r2;";

const LOOP: &str =
    "mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, %r2; @%p1 bra L; mov.u32 %r3, %r1; ret;";

/// Two blocks that lead to each other, each of which the first can enter.
const IRREDUCIBLE: &str =
    "@%p1 bra B; A: add.u32 %r1, %r1, 1; @%p2 bra B; bra E; B: add.u32 %r1, %r1, 2; @%p3 bra A; E: ret;";

const TABLE: &str =
    "T: .branchtargets A, B, A, E; brx.idx %r1, T; A: mov.u32 %r2, 1; bra E; B: mov.u32 %r2, 2; E: ret;";

const BREAK: &str = "L: setp.eq.u32 %p1, %r1, 0; @%p1 bra E; add.u32 %r1, %r1, 1; @%p2 bra L; mov.u32 %r2, 1; E: ret;";

/// The successors of each block.
fn edges(statements: &str) -> Vec<Vec<u32>> {
    let flow = ControlFlow::of(&body(statements));
    flow.blocks().iter().map(|block| block.successors.iter().map(|next| next.0).collect()).collect()
}

fn immediate(dominators: &Dominators, blocks: u32) -> Vec<Option<u32>> {
    (0..blocks).map(|block| dominators.immediate(BlockId(block)).map(|it| it.0)).collect()
}

fn dominators(statements: &str) -> Vec<Option<u32>> {
    let flow = ControlFlow::of(&body(statements));
    immediate(&Dominators::of(&flow), u32::try_from(flow.blocks().len()).expect("few"))
}

fn post_dominators(statements: &str) -> Vec<Option<u32>> {
    let flow = ControlFlow::of(&body(statements));
    immediate(&Dominators::post(&flow), u32::try_from(flow.blocks().len()).expect("few"))
}

#[test]
fn blocks_start_at_targets_and_end_at_branches() {
    let body = body(DIAMOND);
    let flow = ControlFlow::of(&body);
    let ranges: Vec<_> = flow.blocks().iter().map(|block| block.instructions.clone()).collect();
    assert_eq!(ranges, [0..2, 2..4, 4..5, 5..6]);
    assert_eq!(flow.block_of(InstructionId(3)), BlockId(1));
    assert_eq!(flow.block(BlockId(3)).predecessors, [BlockId(1), BlockId(2)]);
    assert_eq!(flow.blocks().iter().map(|block| block.leaves).collect::<Vec<_>>(), [false, false, false, true]);
}

#[test]
fn edges_follow_branches_tables_and_the_text() {
    assert_eq!(edges(DIAMOND), [vec![2, 1], vec![3], vec![3], vec![]]);
    assert_eq!(edges(LOOP), [vec![1], vec![1, 2], vec![]]);
    assert_eq!(edges(TABLE), [vec![1, 2, 3], vec![3], vec![3], vec![]]);
    assert_eq!(edges("ret; mov.u32 %r1, 1; @%p1 exit; @%p1 ret; trap;"), [vec![], vec![2], vec![3], vec![]]);
    assert_eq!(edges("@%p1 brkpt; brkpt; ret;"), [vec![1], vec![], vec![]]);
    assert_eq!(edges(""), [vec![]]);
    assert_eq!(edges("bra L; L:"), [Vec::<u32>::new()]);
}

#[test]
fn a_branch_to_the_end_leaves() {
    let flow = ControlFlow::of(&body("@%p1 bra L; mov.u32 %r1, 1; L:"));
    assert_eq!(flow.blocks().iter().map(|block| block.leaves).collect::<Vec<_>>(), [true, true]);
}

#[test]
fn dominators_of_diamonds_loops_and_what_is_irreducible() {
    assert_eq!(dominators(DIAMOND), [None, Some(0), Some(0), Some(0)]);
    assert_eq!(dominators(LOOP), [None, Some(0), Some(1)]);
    assert_eq!(dominators(TABLE), [None, Some(0), Some(0), Some(0)]);
    assert_eq!(dominators(BREAK), [None, Some(0), Some(1), Some(0)]);
    assert_eq!(edges(IRREDUCIBLE), [vec![3, 1], vec![3, 2], vec![4], vec![1, 4], vec![]]);
    assert_eq!(dominators(IRREDUCIBLE), [None, Some(0), Some(1), Some(0), Some(0)]);
}

#[test]
fn threads_meet_at_the_immediate_post_dominator() {
    assert_eq!(post_dominators(DIAMOND), [Some(3), Some(3), Some(3), None]);
    assert_eq!(post_dominators(LOOP), [Some(1), Some(2), None]);
    assert_eq!(post_dominators(TABLE), [Some(3), Some(3), Some(3), None]);
    assert_eq!(post_dominators(BREAK), [Some(3), Some(3), Some(3), None]);
    assert_eq!(post_dominators(IRREDUCIBLE), [Some(4), Some(4), Some(4), Some(4), None]);
}

#[test]
fn threads_that_end_keep_no_others_from_meeting() {
    let inner = "setp.eq.u32 %p1, %r1, 0; @%p1 bra B; @%p2 exit; bra C; B: mov.u32 %r2, 2; C: ret;";
    assert_eq!(post_dominators(inner), [Some(4), Some(2), Some(4), Some(4), None]);
}

#[test]
fn what_never_ends_and_what_is_never_reached_has_no_dominators() {
    assert_eq!(post_dominators("@%p1 bra E; L: bra L; E: ret;"), [Some(2), None, None]);
    assert_eq!(dominators("ret; L: bra L;"), [None, None]);
}

#[test]
fn dominance_is_a_walk_up_the_tree() {
    let flow = ControlFlow::of(&body(BREAK));
    let dominators = Dominators::of(&flow);
    assert!(dominators.dominates(BlockId(0), BlockId(2)) && dominators.dominates(BlockId(2), BlockId(2)));
    assert!(!dominators.dominates(BlockId(2), BlockId(3)) && !dominators.dominates(BlockId(3), BlockId(0)));
}

#[test]
fn deep_chains_and_wide_tables_need_neither_stack_nor_patience() {
    let chain: String = (0..20_000).map(|number| format!("@%p1 bra L{number}; L{number}: ")).collect();
    assert_eq!(dominators(&chain).len(), 20_000);
    let labels: Vec<String> = (0..20_000).map(|number| format!("L{number}")).collect();
    let arms: String = labels.iter().map(|label| format!("{label}: bra E; ")).collect();
    let table = format!("T: .branchtargets {}; brx.idx %r1, T; {arms} E: ret;", labels.join(", "));
    assert_eq!(post_dominators(&table)[0], Some(20_001));
}

#[test]
fn a_register_is_live_until_it_was_read_for_the_last_time() {
    let body = body(LOOP);
    let flow = ControlFlow::of(&body);
    let liveness = Liveness::of(&body, &flow);
    let named = |names: &[&str]| {
        let mut registers: Vec<_> = names.iter().map(|name| register(&body, name)).collect();
        registers.sort_unstable();
        registers
    };
    assert_eq!(liveness.live_in(BlockId(0)), named(&["%r2"]));
    assert_eq!(liveness.live_out(BlockId(0)), named(&["%r1", "%r2"]));
    assert_eq!(liveness.live_in(BlockId(1)), named(&["%r1", "%r2"]));
    assert_eq!(liveness.live_in(BlockId(2)), named(&["%r1"]));
    assert_eq!(liveness.live_out(BlockId(2)), []);
}

#[test]
fn a_write_under_a_guard_ends_no_life() {
    let body = body("@%p1 mov.u32 %r1, 1; bra L; L: mov.u32 %r2, %r1;");
    let flow = ControlFlow::of(&body);
    let liveness = Liveness::of(&body, &flow);
    assert!(liveness.is_live_in(BlockId(0), register(&body, "%r1")));
    assert!(liveness.is_live_in(BlockId(0), register(&body, "%p1")));
    assert!(!liveness.is_live_in(BlockId(1), register(&body, "%p1")));
}

/// The blocks that a walk from `start` reaches without passing `without`.
fn reached(flow: &ControlFlow, start: BlockId, without: Option<BlockId>) -> Vec<BlockId> {
    let mut seen = Vec::new();
    let mut open = vec![start];
    while let Some(block) = open.pop() {
        if Some(block) != without && !seen.contains(&block) {
            seen.push(block);
            open.extend(&flow.block(block).successors);
        }
    }
    seen
}

/// Branches from anywhere to anywhere, some of which end the thread.
fn branches() -> impl Strategy<Value = String> {
    let statement = (0..4_u32, 0..24_usize).prop_map(|(kind, target)| match kind {
        0 => format!("bra L{target};"),
        1 => "ret;".to_owned(),
        _ => format!("@%p1 bra L{target};"),
    });
    prop::collection::vec(statement, 24).prop_map(|statements| {
        let labelled = statements.iter().enumerate().map(|(number, statement)| format!("L{number}: {statement} "));
        labelled.collect()
    })
}

proptest! {
    /// A block dominates another if the other is out of reach without it.
    #[test]
    fn dominators_are_what_no_path_avoids(statements in branches()) {
        let flow = ControlFlow::of(&body(&statements));
        let dominators = Dominators::of(&flow);
        for block in reached(&flow, BlockId(0), None) {
            for other in flow.ids() {
                let avoidable = reached(&flow, BlockId(0), Some(other)).contains(&block);
                prop_assert_eq!(dominators.dominates(other, block), !avoidable, "{:?} {:?}", other, block);
            }
        }
    }

    /// A block post-dominates another if no path from the other ends without it.
    #[test]
    fn post_dominators_are_what_no_end_avoids(statements in branches()) {
        let flow = ControlFlow::of(&body(&statements));
        let dominators = Dominators::post(&flow);
        let ends = |start, without| {
            reached(&flow, start, without).iter().any(|block| flow.block(*block).successors.is_empty())
        };
        for block in flow.ids().filter(|block| ends(*block, None)) {
            for other in flow.ids() {
                prop_assert_eq!(dominators.dominates(other, block), !ends(block, Some(other)), "{:?} {:?}", other, block);
            }
        }
    }
}
