//! Steps that threads take together.

use peermap_ptx::instruction::{Barrier, BarrierOp};
use peermap_ptx::{Guard, Operation, PredicateSource, RegisterId, Source};

use super::plan::Planner;
use crate::step::{BarrierAction, BarrierStep, Flag, Step, WarpBarrierStep, WarpOperation, WarpStep};

impl Planner<'_> {
    /// The step of an instruction that threads carry out together; `None` if it is none.
    pub(super) fn together(&self, index: u32, operation: &Operation) -> Option<Step> {
        let warp = |destination: Option<RegisterId>, mask: Option<Source>, operation: WarpOperation| {
            Step::Warp(WarpStep {
                instruction: index,
                condition: self.guard(index),
                mask: mask.map(|mask| self.operand(mask)),
                target: destination.map(|register| self.target(register)),
                operation,
            })
        };
        Some(match operation {
            Operation::Barrier(barrier) => Step::Barrier(self.barrier(index, barrier)),
            Operation::WarpBarrier { mask } => Step::WarpBarrier(WarpBarrierStep {
                instruction: index,
                condition: self.guard(index),
                mask: self.operand(*mask),
            }),
            Operation::Shuffle(shuffle) => {
                let operation = WarpOperation::Shuffle {
                    mode: shuffle.mode,
                    value: self.operand(shuffle.value),
                    lane: self.operand(shuffle.lane),
                    clamp: self.operand(shuffle.clamp),
                    in_range: shuffle.in_range.map(|register| self.target(register)),
                };
                warp(Some(shuffle.destination), shuffle.mask, operation)
            }
            Operation::Vote(vote) => {
                let operation = WarpOperation::Vote { mode: vote.mode, flag: self.flag(vote.predicate) };
                warp(Some(vote.destination), vote.mask, operation)
            }
            Operation::Match(it) => {
                let same = it.same.map(|register| self.target(register));
                let (bits, value) = (it.ty.bits(), self.operand(it.value));
                warp(it.destination, Some(it.mask), WarpOperation::Match { bits, all: it.all, value, same })
            }
            Operation::WarpReduce(reduce) => {
                let operation =
                    WarpOperation::Reduce { reduction: reduce.reduction, value: self.operand(reduce.value) };
                warp(Some(reduce.destination), Some(reduce.mask), operation)
            }
            Operation::ActiveMask { destination } => warp(Some(*destination), None, WarpOperation::ActiveMask),
            Operation::Elect { lane, chosen, mask } => {
                warp(*lane, Some(*mask), WarpOperation::Elect { chosen: self.target(*chosen) })
            }
            _ => return None,
        })
    }

    fn barrier(&self, index: u32, barrier: &Barrier) -> BarrierStep {
        let asks = |destination, predicate| (self.flag(predicate), self.target(destination));
        let action = match barrier.op {
            BarrierOp::Sync => BarrierAction::Wait,
            BarrierOp::Arrive => BarrierAction::Arrive,
            BarrierOp::CountTrue { destination, predicate } => {
                let (flag, target) = asks(destination, predicate);
                BarrierAction::Count { flag, target }
            }
            BarrierOp::AllTrue { destination, predicate } => {
                let (flag, target) = asks(destination, predicate);
                BarrierAction::All { flag, target }
            }
            BarrierOp::AnyTrue { destination, predicate } => {
                let (flag, target) = asks(destination, predicate);
                BarrierAction::Any { flag, target }
            }
        };
        BarrierStep {
            instruction: index,
            condition: self.guard(index),
            barrier: self.operand(barrier.barrier),
            threads: barrier.threads.map(|threads| self.operand(threads)),
            action,
        }
    }

    fn flag(&self, source: PredicateSource) -> Flag {
        match source.value {
            Source::Immediate(immediate) => Flag::Constant((immediate.bits != 0) != source.negated),
            Source::Register(predicate) => {
                Flag::Condition(self.condition(Guard { predicate, negated: source.negated }))
            }
        }
    }
}
