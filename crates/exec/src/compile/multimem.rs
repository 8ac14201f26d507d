//! Steps that reach all memories behind a multicast address.

use peermap_ptx::instruction::{MultimemLoadReduce, MultimemReduce, MultimemStore, Order, StateSpace};
use peermap_ptx::{Address, Operation, ScalarType, Source};

use super::plan::Planner;
use crate::error::CompileError;
use crate::step::{MultimemAction, MultimemStep, Operand, Step};

impl Planner<'_> {
    /// The step of a `multimem`; `None` if it is none.
    pub(super) fn multimem(&self, index: u32, operation: &Operation) -> Result<Option<Step>, CompileError> {
        let sources = |sources: &[Source]| sources.iter().map(|it| self.operand(*it)).collect::<Vec<Operand>>();
        Ok(Some(match operation {
            Operation::MultimemLoadReduce(load) => {
                let MultimemLoadReduce { op, order, space, ty, accumulate, destinations, address } = load;
                let wide = match accumulate {
                    None => false,
                    Some(ScalarType::F32) => true,
                    Some(_) => return Err(self.not_modelled(index)),
                };
                let targets = destinations.iter().map(|it| it.map(|register| self.target(register))).collect();
                let action = MultimemAction::LoadReduce { op: *op, wide, targets };
                self.multimem_step(index, (*space, *order), (*address, *ty), action)
            }
            Operation::MultimemStore(store) => {
                let MultimemStore { order, space, ty, address, .. } = store;
                let action = MultimemAction::Store { sources: sources(&store.sources) };
                self.multimem_step(index, (*space, *order), (*address, *ty), action)
            }
            Operation::MultimemReduce(reduce) => {
                let MultimemReduce { op, order, space, ty, address, .. } = reduce;
                let action = MultimemAction::Reduce { op: *op, sources: sources(&reduce.sources) };
                self.multimem_step(index, (*space, *order), (*address, *ty), action)
            }
            _ => return Ok(None),
        }))
    }

    fn multimem_step(
        &self,
        index: u32,
        (space, order): (StateSpace, Order),
        (address, ty): (Address, ScalarType),
        action: MultimemAction,
    ) -> Step {
        let (condition, location) = (self.guard(index), self.location(space, address));
        Step::Multimem(MultimemStep {
            instruction: index,
            condition,
            location,
            ty,
            ordered: order != Order::Weak,
            action,
        })
    }
}
