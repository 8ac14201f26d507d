//! From instructions to steps.

use std::collections::{BTreeMap, BTreeSet};

use peermap_ptx::analysis::{BlockId, BlockShape, ControlFlow, Dominators, Liveness};
use peermap_ptx::instruction::{Atomic, AtomicOp, AtomicValue, Fence, Load, Order, ProxyFence, SetPredicate, Store};
use peermap_ptx::{
    Address, AddressBase, Body, FunctionId, Guard, Instruction, InstructionId, MoveSource, Operation, RegisterId,
    ScalarType, Source, StateSpace, Symbol,
};

use crate::block::timer::is_clock;
use crate::compile::code::SegmentId;
use crate::compile::layout::Layout;
use crate::compile::place::{Place, Places};
use crate::compile::segment::Segment;
use crate::error::CompileError;
use crate::step::{
    AffineCompare, AtomicElement, AtomicStep, BlockPlan, Condition, Elements, End, Operand, Plan, Step, SystemFunction,
    Target, TimerStep, Transfer,
};

/// Turns the blocks of a body into steps.
pub(crate) struct Planner<'b> {
    pub(crate) body: &'b Body,
    pub(crate) flow: &'b ControlFlow,
    pub(crate) liveness: &'b Liveness,
    pub(crate) places: &'b Places,
    pub(crate) shape: BlockShape,
    pub(crate) layout: &'b Layout,
    /// The functions of the system that are called.
    pub(crate) system: &'b BTreeMap<FunctionId, SystemFunction>,
    pub(crate) segments: Vec<Segment>,
    /// The predicates that are kept as masks.
    pub(crate) masks: BTreeSet<RegisterId>,
}

/// A step with the registers that it reads and surely writes.
struct Noted {
    step: Step,
    instructions: Vec<u32>,
}

impl Planner<'_> {
    /// The steps of all blocks.
    pub(crate) fn plan(&mut self) -> Result<Plan, CompileError> {
        self.masks = self.find_masks();
        let post = Dominators::post(self.flow);
        let blocks = self.flow.ids().map(|block| self.block(block, post.immediate(block)));
        Ok(Plan { blocks: blocks.collect::<Result<_, _>>()? })
    }

    fn block(&mut self, block: BlockId, meeting: Option<BlockId>) -> Result<BlockPlan, CompileError> {
        let range = self.flow.block(block).instructions.clone();
        let mut steps = Vec::new();
        let mut segment = Segment::default();
        let mut end = End::Go(self.next(block));
        for index in range {
            let instruction = &self.body.instructions[index as usize];
            if let Some(ended) = self.end(block, index, instruction)? {
                end = ended;
                continue;
            }
            let step = self.step(index, instruction)?;
            let admitted = step.is_none() && segment.admits(self.body, self.places, index);
            if !admitted {
                self.close(&mut segment, &mut steps);
            }
            match step {
                Some(step) => steps.push(Noted { step, instructions: vec![index] }),
                None => segment.push(self.body, self.places, index),
            }
        }
        self.close(&mut segment, &mut steps);
        self.keep_what_is_read(block, &steps);
        Ok(BlockPlan { steps: steps.into_iter().map(|noted| noted.step).collect(), end, meeting })
    }

    fn close(&mut self, segment: &mut Segment, steps: &mut Vec<Noted>) {
        if !segment.is_empty() {
            let id = SegmentId(u32::try_from(self.segments.len()).unwrap_or(u32::MAX));
            steps.push(Noted { step: Step::Compute(id), instructions: segment.instructions() });
            self.segments.push(std::mem::take(segment));
        }
    }

    /// Finds, from the end of a block backwards, which results of each segment are read later.
    fn keep_what_is_read(&mut self, block: BlockId, steps: &[Noted]) {
        let mut live: BTreeSet<RegisterId> = self.liveness.live_out(block).iter().copied().collect();
        if let Some(last) = self.flow.block(block).instructions.clone().next_back() {
            live.extend(self.body.instructions[last as usize].reads());
        }
        for noted in steps.iter().rev() {
            if let Step::Compute(id) = noted.step {
                self.segments[id.0 as usize].keep(self.body, &live);
            }
            for index in noted.instructions.iter().rev() {
                let instruction = &self.body.instructions[*index as usize];
                if instruction.guard.is_none() {
                    let written = instruction.writes();
                    live.retain(|register| !written.contains(register));
                }
                live.extend(instruction.reads());
            }
        }
    }

    fn instruction(&self, index: u32) -> &Instruction {
        &self.body.instructions[index as usize]
    }

    fn next(&self, block: BlockId) -> Option<BlockId> {
        let next = BlockId(block.0 + 1);
        (next.index() < self.flow.blocks().len()).then_some(next)
    }

    /// How an instruction ends its block, if it does.
    fn end(&self, block: BlockId, index: u32, instruction: &Instruction) -> Result<Option<End>, CompileError> {
        let target = match &instruction.operation {
            Operation::Branch(branch) => self.block_of(branch.target),
            Operation::Return | Operation::Exit => None,
            Operation::Trap | Operation::Breakpoint => {
                let condition = self.guard(index);
                let other = self.next(block);
                return Ok(Some(End::Trap { instruction: index, condition, other }));
            }
            Operation::BranchTable(_) => return Err(self.not_modelled(index)),
            _ => return Ok(None),
        };
        Ok(Some(match instruction.guard {
            None => End::Go(target),
            Some(guard) => End::Part { condition: self.condition(guard), taken: target, other: self.next(block) },
        }))
    }

    fn block_of(&self, target: InstructionId) -> Option<BlockId> {
        (target.index() < self.body.instructions.len()).then(|| self.flow.block_of(target))
    }

    /// The step of an instruction; `None` if it only computes.
    fn step(&self, index: u32, instruction: &Instruction) -> Result<Option<Step>, CompileError> {
        Ok(match &instruction.operation {
            Operation::Load(load) if is_parameter(load.address, load.space) => None,
            Operation::Load(load) => Some(Step::Transfer(self.load(index, load)?)),
            Operation::Store(store) => Some(Step::Transfer(self.store(index, store)?)),
            Operation::Atomic(atomic) => Some(Step::Atomic(self.atomic(index, atomic)?)),
            Operation::SetPredicate(set) if instruction.guard.is_none() => self.affine(set).map(Step::Compare),
            Operation::Call(call) => self.system_call(index, call),
            Operation::Fence(fence) => Some(Step::Fence { alias: *fence == Fence::Proxy(ProxyFence::Alias) }),
            Operation::Nanosleep { .. } => Some(Step::Rest),
            Operation::Move { destination, source: MoveSource::Special(clock), .. } if is_clock(*clock) => {
                let (target, bits) = (self.target(*destination), self.places.bits(*destination));
                Some(Step::Timer(TimerStep { condition: self.guard(index), clock: *clock, target, bits }))
            }
            operation => match self.multimem(index, operation)? {
                Some(step) => Some(step),
                None => self.together(index, operation),
            },
        })
    }

    fn affine(&self, set: &SetPredicate) -> Option<AffineCompare> {
        let predicate = set.p?;
        let Place::Predicates { array } = self.places.of_register(predicate) else { return None };
        let (a, b) = (self.operand(set.a), self.operand(set.b));
        let grows = |operand| matches!(operand, Operand::Scalar { stride, .. } if stride != 0);
        let once = |operand| !matches!(operand, Operand::Lanes { .. });
        let whole = !set.ty.is_float() && set.ty.bits() >= 16 && set.q.is_none() && set.combine.is_none();
        let fits = self.shape == BlockShape::Line && whole && once(a) && once(b) && (grows(a) || grows(b));
        let as_mask = self.masks.contains(&predicate);
        fits.then_some(AffineCompare { comparison: set.comparison, ty: set.ty, a, b, array, as_mask })
    }

    /// The predicates that are masks: comparisons decide them for all lanes at once, and nobody but branches reads them.
    fn find_masks(&self) -> BTreeSet<RegisterId> {
        let mut masks = BTreeSet::new();
        let mut others = BTreeSet::new();
        for instruction in &self.body.instructions {
            let compares = match &instruction.operation {
                Operation::SetPredicate(set) if instruction.guard.is_none() => self.affine(set).is_some(),
                _ => false,
            };
            if compares { &mut masks } else { &mut others }.extend(instruction.writes());
            if !matches!(instruction.operation, Operation::Branch(_)) {
                others.extend(instruction.reads());
            }
        }
        masks.retain(|register| !others.contains(register));
        masks
    }

    fn load(&self, index: u32, load: &Load) -> Result<Transfer, CompileError> {
        let target = |register: &Option<RegisterId>| {
            register.map(|register| (self.target(register), self.places.bits(register)))
        };
        let elements = Elements::Loaded(load.destinations.iter().map(target).collect());
        self.transfer(index, (load.space, load.order), load.address, load.ty, elements)
    }

    fn store(&self, index: u32, store: &Store) -> Result<Transfer, CompileError> {
        let elements = Elements::Stored(store.sources.iter().map(|source| self.operand(*source)).collect());
        self.transfer(index, (store.space, store.order), store.address, store.ty, elements)
    }

    fn transfer(
        &self,
        index: u32,
        (space, order): (StateSpace, Order),
        address: Address,
        element: ScalarType,
        elements: Elements,
    ) -> Result<Transfer, CompileError> {
        let location = self.location(space, address);
        if element.size() > 8 || element == ScalarType::Pred {
            return Err(self.not_modelled(index));
        }
        let condition = self.guard(index);
        Ok(Transfer { instruction: index, condition, location, element, elements, ordered: order != Order::Weak })
    }

    fn atomic(&self, index: u32, atomic: &Atomic) -> Result<AtomicStep, CompileError> {
        let location = self.location(atomic.space, atomic.address);
        let fits = match atomic.op {
            AtomicOp::Add => atomic.ty.bits() >= 16,
            AtomicOp::CompareAndSwap => matches!(atomic.ty.bits(), 16 | 32 | 64),
            _ => !atomic.ty.is_float() && matches!(atomic.ty.bits(), 32 | 64),
        };
        if !fits {
            return Err(self.not_modelled(index));
        }
        Ok(AtomicStep {
            instruction: index,
            condition: self.guard(index),
            location,
            op: atomic.op,
            ty: atomic.ty,
            flush: atomic.ty == ScalarType::F32 && !atomic.noftz,
            elements: atomic.values.iter().map(|value| self.atomic_element(*value)).collect(),
        })
    }

    fn atomic_element(&self, value: AtomicValue) -> AtomicElement {
        AtomicElement {
            operand: self.operand(value.operand),
            swap: value.swap.map(|swap| self.operand(swap)),
            target: value.destination.map(|register| self.target(register)),
        }
    }

    pub(super) fn operand(&self, source: Source) -> Operand {
        match source {
            Source::Immediate(immediate) => Operand::Constant(immediate.bits),
            Source::Register(register) => match self.places.of_register(register) {
                Place::Scalar { word, stride } => Operand::Scalar { word, stride },
                // No step reads a predicate as a value.
                Place::Lanes { array } | Place::Predicates { array } => Operand::Lanes { array },
            },
        }
    }

    pub(super) fn target(&self, register: RegisterId) -> Target {
        match self.places.of_register(register) {
            Place::Scalar { word, .. } => Target::Scalar { word },
            Place::Lanes { array } => Target::Lanes { array },
            Place::Predicates { array } => Target::Predicates { array },
        }
    }

    /// Which lanes an instruction is for.
    pub(super) fn guard(&self, index: u32) -> Option<Condition> {
        self.instruction(index).guard.map(|guard| self.condition(guard))
    }

    pub(super) fn condition(&self, guard: Guard) -> Condition {
        match self.places.of_register(guard.predicate) {
            Place::Scalar { word, .. } => Condition::Scalar { word, negated: guard.negated },
            Place::Predicates { array } if self.masks.contains(&guard.predicate) => {
                Condition::Mask { number: array, negated: guard.negated }
            }
            Place::Predicates { array } | Place::Lanes { array } => {
                Condition::Predicate { array, negated: guard.negated }
            }
        }
    }

    pub(super) fn not_modelled(&self, index: u32) -> CompileError {
        let Instruction { at, name, .. } = self.instruction(index);
        CompileError::NotModelled { line: at.line, what: name.as_ref().to_owned() }
    }
}

/// Whether an address is that of a parameter of the entry, at a fixed place.
pub(crate) fn is_parameter(address: Address, space: StateSpace) -> bool {
    space == StateSpace::ParamEntry && matches!(address.base, AddressBase::Symbol(Symbol::Parameter(_)))
}
