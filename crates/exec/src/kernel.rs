//! Kernels: compiled once, launched often.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use peermap_memory::View;
use peermap_ptx::analysis::{BlockShape, ControlFlow, Liveness};
use peermap_ptx::{Entry, Module};

use crate::block::frame::FrameSize;
use crate::check::{Check, Origins};
use crate::compile::code::Code;
use crate::compile::emit::Surroundings;
use crate::compile::layout::Layout;
use crate::compile::link::Linked;
use crate::compile::place::Places;
use crate::compile::plan::Planner;
use crate::compile::wide;
use crate::error::{CompileError, Line, Stop};
use crate::grid::{Launch, run_all};
use crate::step::Plan;

/// An entry that can be launched.
pub struct Kernel {
    linked: Linked,
    layout: Layout,
    lines: Lines,
    /// For blocks whose y and z are 1.
    line: Program,
    /// For others; compiled when the first is launched.
    any: OnceLock<Result<Program, CompileError>>,
    /// What addresses are computed from; found when the first launch asks.
    origins: OnceLock<Origins>,
}

/// An entry, compiled for blocks of one shape.
pub(crate) struct Program {
    pub(crate) name: String,
    pub(crate) plan: Plan,
    pub(crate) code: Code,
    pub(crate) size: FrameSize,
    /// The scalars that threads which part must not share.
    pub(crate) restored: Vec<u32>,
    /// Whether a frame has so little in it that many blocks can be under way at once without leaving the host's caches.
    pub(crate) is_light: bool,
    firsts: Vec<u32>,
    pub(crate) lines: Lines,
}

/// Where the instructions of an entry stand.
#[derive(Clone, Debug)]
pub(crate) struct Lines(Arc<[Line]>);

/// Refuses an entry whose blocks form clusters: here each block is one by itself.
fn check_clusters(entry: &Entry) -> Result<(), CompileError> {
    let required = entry.directive(".reqnctapercluster").filter(|blocks| blocks.iter().product::<u32>() > 1);
    let name = match (required, entry.directive(".blocksareclusters")) {
        (Some(_), _) => ".reqnctapercluster",
        (None, Some(_)) => ".blocksareclusters",
        (None, None) => return Ok(()),
    };
    Err(CompileError::NotModelled { line: entry.line, what: format!("`{name}`") })
}

impl Kernel {
    /// Compiles an entry of a module.
    ///
    /// # Errors
    /// [`CompileError::NotModelled`] for the first instruction that is not covered.
    pub fn compile(module: &Module, entry: &Entry) -> Result<Self, CompileError> {
        check_clusters(entry)?;
        let mut linked = Linked::of(module, entry)?;
        linked.entry = wide::split(&linked.entry)?;
        let lines = Lines(lines(module, &linked.entry).into());
        let layout = Layout::of(module, &linked)?;
        let line = Program::compile(&linked, &layout, &lines, BlockShape::Line)?;
        Ok(Self { linked, layout, lines, line, any: OnceLock::new(), origins: OnceLock::new() })
    }

    /// Runs the kernel to its end.
    ///
    /// # Errors
    /// [`Stop`] says what ended it early, and in which thread. What other threads have done stays done.
    ///
    /// # Panics
    /// If the block has no threads or more than 1,024, or if there are fewer parameters than the entry declares.
    pub fn launch(&self, launch: &Launch<'_>, view: View<'_>) -> Result<(), Box<Stop>> {
        let threads: u64 = launch.block.iter().map(|threads| u64::from(*threads)).product();
        assert!((1..=1024).contains(&threads), "a block of {threads} threads");
        let (given, declared) = (launch.parameters.len(), self.linked.entry.parameter_bytes);
        assert!(given >= declared as usize, "{given} bytes of parameters, the entry declares {declared}");
        let program = match launch.block {
            [_, 1, 1] => &self.line,
            _ => {
                match self
                    .any
                    .get_or_init(|| Program::compile(&self.linked, &self.layout, &self.lines, BlockShape::Any))
                {
                    Ok(program) => program,
                    Err(error) => return Err(Box::new(self.refusal(error))),
                }
            }
        };
        let origins = launch.checks.has(Check::Bounds);
        let origins = origins.then(|| self.origins.get_or_init(|| Origins::of(&self.linked.entry)));
        run_all(program, launch, view, origins)
    }

    /// What was compiled for one shape of blocks compiles for another too, unless this crate is wrong.
    fn refusal(&self, error: &CompileError) -> Stop {
        let line = Line { ptx: self.linked.entry.line, source: None };
        let cause = crate::error::Cause::NotModelled(error.to_string());
        Stop { kernel: self.linked.entry.name.clone(), block: [0; 3], thread: [0; 3], line, cause }
    }
}

impl Program {
    fn compile(linked: &Linked, layout: &Layout, lines: &Lines, shape: BlockShape) -> Result<Self, CompileError> {
        let Linked { entry, system, .. } = linked;
        let body = &entry.body;
        let flow = ControlFlow::of(body);
        let liveness = Liveness::of(body, &flow);
        let places = Places::of(body, &flow, &liveness, shape);
        let size = FrameSize {
            scalars: places.scalars,
            data: places.data,
            parameter_bytes: entry.parameter_bytes,
            lane_arrays: places.lane_arrays,
            predicate_arrays: places.predicate_arrays,
            spaces: layout.sizes(),
        };
        let mut planner = Planner {
            body,
            flow: &flow,
            liveness: &liveness,
            places: &places,
            shape,
            layout,
            system,
            segments: Vec::new(),
            masks: BTreeSet::new(),
        };
        let plan = planner.plan()?;
        let surroundings = Surroundings { entry, body, places: &places, size, shape, layout };
        let code = Code::compile(&surroundings, &planner.segments)?;
        let firsts = flow.blocks().iter().map(|block| block.instructions.start).collect();
        let (name, restored) = (entry.name.clone(), places.restored.clone());
        let is_light = size.lane_arrays == 0 && size.spaces.shared == 0 && size.spaces.local == 0;
        Ok(Self { name, plan, code, size, restored, is_light, firsts, lines: lines.clone() })
    }

    pub(crate) fn first_instruction(&self, block: usize) -> u32 {
        self.firsts[block]
    }

    /// Where an instruction stands.
    pub(crate) fn line(&self, instruction: u32) -> Line {
        self.lines.of(instruction)
    }
}

impl Lines {
    /// Where an instruction stands.
    pub(crate) fn of(&self, instruction: u32) -> Line {
        self.0.get(instruction as usize).cloned().unwrap_or(Line { ptx: 0, source: None })
    }
}

fn lines(module: &Module, entry: &Entry) -> Vec<Line> {
    let source = |location: peermap_ptx::LocationId| {
        let place = entry.body.locations[location.index()].place;
        module.file(place.file).map(|file| (file.to_owned(), place.line))
    };
    let line = |it: &peermap_ptx::Instruction| Line { ptx: it.at.line, source: it.location.and_then(source) };
    entry.body.instructions.iter().map(line).collect()
}
