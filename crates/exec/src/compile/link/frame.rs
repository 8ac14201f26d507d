//! Frames of functions that may call themselves: where each variable lies, counted from the frame that runs.

use std::collections::BTreeSet;

use peermap_ptx::instruction::BinaryOp;
use peermap_ptx::{
    Address, AddressBase, Immediate, Instruction, IntegerType, LocalId, MoveSource, Operation, RegisterId, ScalarType,
    Source, StateSpace, Symbol,
};

use super::{Linked, recursion::Recursion};
use crate::error::CompileError;

/// What frames are aligned to at least.
const FRAME_ALIGNMENT: u32 = 16;

/// Replaces the variables in frames by places that count from `pointer`, the register with the start of the frame.
///
/// # Errors
/// [`CompileError::NotModelled`] for a vector of addresses of such variables.
pub(super) fn place(
    linked: &mut Linked,
    recursion: &Recursion,
    (stack, pointer): (LocalId, RegisterId),
) -> Result<(), CompileError> {
    let (offsets, align) = offsets(linked, recursion);
    linked.entry.body.locals[stack.index()].align = align;
    let frames = Frames { offsets, pointer };
    linked.entry.body.instructions.iter_mut().try_for_each(|instruction| frames.enter(instruction))
}

/// How far each variable that is in a frame lies behind its start, and what frames are aligned to.
fn offsets(linked: &Linked, recursion: &Recursion) -> (Vec<Option<i64>>, u32) {
    let body = &linked.entry.body;
    let named: BTreeSet<Symbol> = body.instructions.iter().flat_map(|it| it.operation.symbols()).collect();
    let mut offsets = vec![None; body.locals.len()];
    let mut sizes = vec![0_u64; recursion.functions.len()];
    let mut most = FRAME_ALIGNMENT;
    for ((number, local), owner) in (0..).zip(&body.locals).zip(&linked.owners) {
        let Some(frame) = recursion.frames[*owner] else { continue };
        if named.contains(&Symbol::Local(LocalId(number))) {
            let start = sizes[frame].next_multiple_of(u64::from(local.align));
            offsets[number as usize] = Some(start.cast_signed());
            sizes[frame] = start + local.size;
            most = most.max(local.align);
        }
    }
    for (function, size) in recursion.functions.iter().zip(sizes) {
        offsets[function.end.index()] = Some(size.next_multiple_of(u64::from(most)).cast_signed());
    }
    (offsets, most)
}

struct Frames {
    offsets: Vec<Option<i64>>,
    pointer: RegisterId,
}

impl Frames {
    fn enter(&self, instruction: &mut Instruction) -> Result<(), CompileError> {
        let reached = match &mut instruction.operation {
            Operation::Load(load) => Some((&mut load.space, &mut load.address)),
            Operation::Store(store) => Some((&mut store.space, &mut store.address)),
            Operation::Atomic(atomic) => Some((&mut atomic.space, &mut atomic.address)),
            _ => None,
        };
        if let Some((space, address)) = reached {
            if let AddressBase::Symbol(symbol) = address.base
                && let Some(offset) = self.offset(symbol)
            {
                *space = StateSpace::Local;
                *address =
                    Address { base: AddressBase::Register(self.pointer), offset: address.offset.wrapping_add(offset) };
            }
        } else if let Operation::Move { destination, source: MoveSource::Symbol(symbol, behind), ty } =
            instruction.operation
            && let Some(offset) = self.offset(symbol)
        {
            instruction.operation = self.address(destination, ty, offset.wrapping_add(behind));
        } else if instruction.operation.symbols().into_iter().any(|symbol| self.offset(symbol).is_some()) {
            let what = "a vector of addresses of variables of a function that may call itself".to_owned();
            return Err(CompileError::NotModelled { line: instruction.at.line, what });
        }
        Ok(())
    }

    fn offset(&self, symbol: Symbol) -> Option<i64> {
        if let Symbol::Local(local) = symbol { self.offsets[local.index()] } else { None }
    }

    /// The address so far behind the start of the frame.
    fn address(&self, destination: RegisterId, ty: ScalarType, offset: i64) -> Operation {
        let ty = if ty.bits() == 64 { IntegerType::U64 } else { IntegerType::U32 };
        let op = BinaryOp::Add { ty, saturate: false };
        let bits = if ty == IntegerType::U64 { offset.cast_unsigned() } else { u64::from(offset as u32) };
        let b = Source::Immediate(Immediate { ty: ty.scalar(), bits });
        Operation::Binary { op, destination, a: Source::Register(self.pointer), b }
    }
}
