//! A call of a function that may call itself.

use peermap_ptx::instruction::{Call, CallArgument, CallReturn};
use peermap_ptx::{
    Body, Function, FunctionId, Immediate, Instruction, InstructionId, LocalId, MoveSource, Operation, Parameter,
    RegisterId, ScalarType, Source, Symbol,
};

use super::value::in_memory;
use super::{BEFORE, NUMBER, Recursive};
use crate::compile::link::call::{bytes, element, load, moved, store};
use crate::compile::link::{Linker, Site, untyped};

/// A part of a variable: how far behind the start it lies, as what, and its value.
type Piece = (i64, ScalarType, Source);

impl Linker<'_> {
    /// A call of a function that may call itself.
    pub(in crate::compile::link) fn recursive(
        &mut self,
        site: Site<'_>,
        call: &Call,
        callee: (FunctionId, &Function, &Body),
    ) {
        let Site { caller, instruction, .. } = site;
        let (pointer, stack) = self.pointer(instruction);
        let (_, function, _) = callee;
        let number = self.known(instruction, callee);
        let (parameters, returned) = {
            let Recursive { parameters, returned, .. } = &self.recursion.functions[number];
            (parameters.clone(), returned.clone())
        };
        let given: Vec<_> = call
            .arguments
            .iter()
            .zip(&function.params)
            .map(|(argument, parameter)| self.given(instruction, argument, parameter))
            .collect();
        let saved = self.save(site);
        self.move_on(site, number, (pointer, stack));
        for (pieces, local) in given.into_iter().zip(parameters) {
            for (offset, ty, source) in pieces {
                self.push_for(instruction, store((local, offset), ty, source));
            }
        }
        let branch = self.push_branch(instruction, None, InstructionId(0));
        let next = self.next();
        let function_here = &mut self.recursion.functions[number];
        function_here.calls.push(branch);
        function_here.behind.push(next);
        let header = function_here.header;
        let received: Vec<_> = call
            .returns
            .iter()
            .zip(function.returns.iter().zip(returned))
            .map(|(receiver, (parameter, local))| self.received(instruction, receiver, (parameter, local)))
            .collect();
        if caller.frame.is_some() {
            self.push_for(instruction, load(pointer, ScalarType::U64, (header, BEFORE)));
        }
        for (register, ty, local) in saved {
            self.fetch(instruction, (register, ty), local);
        }
        for (local, (offset, ty, source)) in received.into_iter().flatten() {
            self.push_for(instruction, store((local, offset), ty, source));
        }
    }

    /// Reads an argument: pieces, each with its place in the parameter.
    fn given(&mut self, instruction: &Instruction, argument: &CallArgument, parameter: &Parameter) -> Vec<Piece> {
        match (argument, parameter) {
            (CallArgument::Local(local), _) => self.pieces(instruction, *local, parameter),
            (CallArgument::Value(value), Parameter::Memory(param)) => vec![(0, element(param), *value)],
            (CallArgument::Value(value), Parameter::Register { ty, .. }) => {
                vec![(0, in_memory(*ty), self.as_stored(instruction, *ty, *value))]
            }
        }
    }

    /// Reads what a function has returned, while its frame is the one that counts: pieces that still must be stored in
    /// a variable of the caller.
    fn received(
        &mut self,
        instruction: &Instruction,
        receiver: &CallReturn,
        (parameter, local): (&Parameter, LocalId),
    ) -> Vec<(LocalId, Piece)> {
        match (receiver, parameter) {
            (CallReturn::Register(None), _) => Vec::new(),
            (CallReturn::Register(Some(register)), Parameter::Memory(param)) => {
                self.push_for(instruction, load(*register, element(param), (local, 0)));
                Vec::new()
            }
            (CallReturn::Register(Some(register)), Parameter::Register { ty, .. }) => {
                self.fetch(instruction, (*register, *ty), local);
                Vec::new()
            }
            (CallReturn::Local(receiver), _) => {
                let pieces = self.pieces(instruction, local, parameter);
                pieces.into_iter().map(|piece| (*receiver, piece)).collect()
            }
        }
    }

    /// Reads a variable in pieces.
    fn pieces(&mut self, instruction: &Instruction, local: LocalId, parameter: &Parameter) -> Vec<Piece> {
        let align = self.linked.entry.body.locals[local.index()].align;
        let size = 1 << bytes(parameter).trailing_zeros().min(align.trailing_zeros()).min(3);
        let ty = untyped(size);
        let offsets = (0..bytes(parameter)).step_by(size as usize);
        let mut piece = |offset: u64| {
            let register = self.new_register(if size == 1 { ScalarType::B16 } else { ty });
            self.push_for(instruction, load(register, ty, (local, offset.cast_signed())));
            (offset.cast_signed(), ty, Source::Register(register))
        };
        offsets.map(&mut piece).collect()
    }

    /// Keeps the registers that a function reads after a call, which it may make of itself, in its frame.
    fn save(&mut self, Site { caller, instruction, index }: Site<'_>) -> Vec<(RegisterId, ScalarType, LocalId)> {
        let mut saved = Vec::new();
        for register in caller.saved.get(&index).into_iter().flatten() {
            let register = caller.register(*register);
            let ty = self.linked.entry.body.registers[register.index()].ty;
            let size = in_memory(ty).size();
            let local = self.new_local(caller.number, u64::from(size), size, instruction.at);
            self.put_away(instruction, ty, Source::Register(register), local);
            saved.push((register, ty, local));
        }
        saved
    }

    /// Moves on to the frame of what is called, and writes its header.
    fn move_on(&mut self, site: Site<'_>, callee: usize, (pointer, stack): (RegisterId, LocalId)) {
        let Site { caller, instruction, .. } = site;
        let ty = ScalarType::U64;
        let Recursive { header, behind, .. } = &self.recursion.functions[callee];
        let (header, place) = (*header, Immediate { ty: ScalarType::U32, bits: behind.len() as u64 });
        let before = caller.frame.map(|frame| {
            let before = self.new_register(ty);
            self.push_for(instruction, moved(before, ty, Source::Register(pointer)));
            (before, self.recursion.functions[frame].end)
        });
        let next = Symbol::Local(before.map_or(stack, |(_, end)| end));
        self.push_for(instruction, Operation::Move { ty, destination: pointer, source: MoveSource::Symbol(next, 0) });
        self.push_for(instruction, store((header, NUMBER), place.ty, Source::Immediate(place)));
        if let Some((before, _)) = before {
            self.push_for(instruction, store((header, BEFORE), ty, Source::Register(before)));
        }
    }
}
