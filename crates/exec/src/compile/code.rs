//! Machine code: making it and calling it.

use std::sync::Mutex;

use cranelift_codegen::Context;
use cranelift_codegen::ir::{AbiParam, Signature, types};
use cranelift_codegen::settings::{self, Configurable};
use cranelift_frontend::FunctionBuilderContext;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, default_libcall_names};

use crate::block::frame::Frame;
use crate::block::mask::Mask;
use crate::compile::emit::{self, Surroundings};
use crate::compile::segment::Segment;
use crate::error::CompileError;
use crate::float;

/// A segment of a kernel, by number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SegmentId(pub(crate) u32);

/// Words, predicates, the first lane and the one behind the last.
type Function = unsafe extern "C" fn(*mut u64, *mut u8, u64, u64);

/// The two halves of a segment: what runs once, and what runs for each lane.
#[derive(Clone, Copy)]
struct Halves {
    once: Option<Function>,
    lanes: Option<Function>,
}

/// The machine code of a kernel.
pub(crate) struct Code {
    halves: Vec<Halves>,
    module: Mutex<Option<JITModule>>,
}

impl Code {
    /// Compiles the segments of a body.
    pub(crate) fn compile(surroundings: &Surroundings<'_>, segments: &[Segment]) -> Result<Self, CompileError> {
        let mut compiler = Compiler::new()?;
        let made = segments.iter().map(|segment| compiler.halves(surroundings, segment));
        let made = made.collect::<Result<Vec<_>, _>>()?;
        compiler.module.finalize_definitions().map_err(refused)?;
        let function = |id: Option<FuncId>| id.map(|id| entry_point(compiler.module.get_finalized_function(id)));
        let halves = made.iter().map(|(once, lanes)| Halves { once: function(*once), lanes: function(*lanes) });
        Ok(Self { halves: halves.collect(), module: Mutex::new(Some(compiler.module)) })
    }

    /// Runs a segment for the lanes of a mask. The frame has the size that the code was compiled for.
    pub(crate) fn run(&self, segment: SegmentId, frame: &mut Frame, mask: &Mask) {
        let Halves { once, lanes } = self.halves[segment.0 as usize];
        let (words, predicates) = (frame.words.as_mut_ptr(), frame.predicates.as_mut_ptr());
        if let Some(function) = once {
            // SAFETY: the function reads and writes scalars, parameters and special registers, which the frame has.
            unsafe { function(words, predicates, 0, 0) }
        }
        if let Some(function) = lanes {
            for run in mask.runs() {
                // SAFETY: beyond those, the function reads and writes the given lanes of arrays, which the frame has:
                // masks have no lanes but those of the block.
                unsafe { function(words, predicates, run.start as u64, run.end as u64) }
            }
        }
    }
}

impl Drop for Code {
    fn drop(&mut self) {
        if let Some(module) = self.module.get_mut().ok().and_then(Option::take) {
            // SAFETY: the functions are reached through `self` alone, which is going away.
            unsafe { module.free_memory() }
        }
    }
}

/// The function at an address that the compiler gave for one of [`Function`]'s signature.
fn entry_point(address: *const u8) -> Function {
    // SAFETY: a function pointer may be made of the address of a function that has this signature.
    unsafe { std::mem::transmute::<*const u8, Function>(address) }
}

fn refused(error: impl std::fmt::Display) -> CompileError {
    CompileError::Compiler(error.to_string())
}

/// The signature of a function of so many words.
fn words(module: &JITModule, count: usize) -> Signature {
    let mut signature = Signature::new(module.isa().default_call_conv());
    signature.params = vec![AbiParam::new(types::I64); count];
    signature
}

struct Compiler {
    module: JITModule,
    /// [`float::answer`].
    float: FuncId,
    context: Context,
    builders: FunctionBuilderContext,
}

impl Compiler {
    fn new() -> Result<Self, CompileError> {
        let mut flags = settings::builder();
        flags.set("opt_level", "speed").map_err(refused)?;
        flags.set("enable_verifier", if cfg!(debug_assertions) { "true" } else { "false" }).map_err(refused)?;
        let isa = cranelift_native::builder().map_err(refused)?;
        let isa = isa.finish(settings::Flags::new(flags)).map_err(refused)?;
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        builder.symbol(float::SYMBOL, (float::answer as extern "C" fn(u64, u64, u64, u64) -> u64) as *const u8);
        let mut module = JITModule::new(builder);
        let mut signature = words(&module, 4);
        signature.returns.push(AbiParam::new(types::I64));
        let float = module.declare_function(float::SYMBOL, Linkage::Import, &signature).map_err(refused)?;
        let context = module.make_context();
        Ok(Self { module, float, context, builders: FunctionBuilderContext::new() })
    }

    fn halves(
        &mut self,
        surroundings: &Surroundings<'_>,
        segment: &Segment,
    ) -> Result<(Option<FuncId>, Option<FuncId>), CompileError> {
        let mut half = |instructions: &[u32], lanes: bool| {
            let made = |compiler: &mut Self| {
                let target = compiler.module.target_config();
                let function = &mut compiler.context.func;
                let float = compiler.module.declare_func_in_func(compiler.float, function);
                emit::segment(surroundings, segment, lanes, float, target, function, &mut compiler.builders)?;
                compiler.define()
            };
            (!instructions.is_empty()).then(|| self.prepare()).map(made).transpose()
        };
        Ok((half(&segment.once, false)?, half(&segment.lanes, true)?))
    }

    fn prepare(&mut self) -> &mut Self {
        self.module.clear_context(&mut self.context);
        self.context.func.signature = words(&self.module, 4);
        self
    }

    fn define(&mut self) -> Result<FuncId, CompileError> {
        let id = self.module.declare_anonymous_function(&self.context.func.signature).map_err(refused)?;
        self.module
            .define_function(id, &mut self.context)
            .map_err(|error| CompileError::Compiler(format!("{error:?}")))?;
        Ok(id)
    }
}
