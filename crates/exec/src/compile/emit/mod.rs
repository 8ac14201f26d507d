//! From instructions that only compute to the compiler's intermediate form.
//!
//! Within a function a register is a word of 64 bits, whose bits above the width of the register are zero; a predicate
//! is 0 or 1. An instruction takes as many low bits of what it reads as its type has.

mod address;
mod arithmetic;
mod bits;
mod bytes;
mod carry;
mod compare;
mod convert;
mod convert_pack;
mod emitter;
mod float;
mod masks;
mod moves;
mod operation;
mod packed;
mod special;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{FuncRef, Function, InstBuilder, types};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use peermap_ptx::analysis::BlockShape;
use peermap_ptx::{Body, Entry};

use crate::block::frame::FrameSize;
use crate::compile::layout::Layout;
use crate::compile::place::Places;
use crate::compile::segment::Segment;
use crate::error::CompileError;

use self::emitter::Emitter;

/// What a segment is part of.
pub(crate) struct Surroundings<'b> {
    pub(crate) entry: &'b Entry,
    pub(crate) body: &'b Body,
    pub(crate) places: &'b Places,
    pub(crate) size: FrameSize,
    pub(crate) shape: BlockShape,
    pub(crate) layout: &'b Layout,
}

/// Makes one half of a segment: straight code, or a loop over lanes. `float` is [`crate::float::answer`].
pub(crate) fn segment(
    surroundings: &Surroundings<'_>,
    segment: &Segment,
    lanes: bool,
    float: FuncRef,
    target: TargetFrontendConfig,
    function: &mut Function,
    builders: &mut FunctionBuilderContext,
) -> Result<(), CompileError> {
    let mut builder = FunctionBuilder::new(function, builders);
    let entry = builder.create_block();
    builder.append_block_params_for_function_params(entry);
    builder.switch_to_block(entry);
    let &[words, predicates, start, end] = builder.block_params(entry) else {
        return Err(CompileError::Compiler("a segment has four parameters".to_owned()));
    };
    let instructions = if lanes { &segment.lanes } else { &segment.once };
    let mut emitter = Emitter::new(surroundings, builder, float, words, predicates);
    if !lanes {
        emitter.all(instructions, &segment.stored)?;
        emitter.builder.ins().return_(&[]);
    } else {
        emitter.load_scalars(instructions);
        let (head, body, done) =
            (emitter.builder.create_block(), emitter.builder.create_block(), emitter.builder.create_block());
        let lane = emitter.builder.append_block_param(head, types::I64);
        emitter.builder.ins().jump(head, &[start.into()]);
        emitter.builder.switch_to_block(head);
        let more = emitter.builder.ins().icmp(IntCC::UnsignedLessThan, lane, end);
        emitter.builder.ins().brif(more, body, &[], done, &[]);
        emitter.builder.switch_to_block(body);
        emitter.enter(lane);
        emitter.all(instructions, &segment.stored)?;
        let next = emitter.builder.ins().iadd_imm_s(lane, 1);
        emitter.builder.ins().jump(head, &[next.into()]);
        emitter.builder.switch_to_block(done);
        emitter.builder.ins().return_(&[]);
    }
    emitter.builder.seal_all_blocks();
    emitter.builder.finalize(target);
    Ok(())
}
