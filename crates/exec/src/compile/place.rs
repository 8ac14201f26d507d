//! Where registers are kept: once for a block, or once for each lane.

use peermap_ptx::analysis::{BlockShape, ControlFlow, Liveness, Shape, Uniformity};
use peermap_ptx::{Body, RegisterId, ScalarType};

/// Where a register is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// One word: the value in a thread whose `%tid.x` is zero, and how much more it is from thread to thread.
    Scalar { word: u32, stride: i64 },
    /// An array of words, by number.
    Lanes { array: u32 },
    /// A predicate: an array of bytes, by number.
    Predicates { array: u32 },
}

/// The places of all registers of a body.
pub(crate) struct Places {
    places: Vec<Place>,
    bits: Vec<u32>,
    pub(crate) scalars: u32,
    /// The scalar that is no register: where the variables of the module start.
    pub(crate) data: u32,
    pub(crate) lane_arrays: u32,
    pub(crate) predicate_arrays: u32,
    /// The words that threads which part before they meet again must not share.
    pub(crate) restored: Vec<u32>,
}

impl Places {
    /// A register is kept once if its values go together and all that its writers read is kept once too.
    pub(crate) fn of(body: &Body, flow: &ControlFlow, liveness: &Liveness, shape: BlockShape) -> Self {
        let uniformity = Uniformity::of(body, flow, liveness, shape);
        let mut once: Vec<bool> = ids(body).map(|register| uniformity.shape(register) != Shape::Varying).collect();
        // Whether an assumption holds is known only when the kernel runs: then it is too late to change a place.
        for assumed in uniformity.assumed() {
            body.instructions[assumed.index()].writes().iter().for_each(|register| once[register.index()] = false);
        }
        loop {
            let before = once.clone();
            for instruction in &body.instructions {
                if instruction.reads().iter().any(|register| !once[register.index()]) {
                    instruction.writes().iter().for_each(|register| {
                        once[register.index()] &=
                            uniformity.shape(*register) == Shape::Uniform && is_gathered(instruction);
                    });
                }
                // An instruction runs once or for each lane, not both.
                let written = instruction.writes();
                if written.iter().any(|register| !once[register.index()]) && !is_gathered(instruction) {
                    written.iter().for_each(|register| once[register.index()] = false);
                }
            }
            if once == before {
                break;
            }
        }
        let mut places = Self {
            places: Vec::with_capacity(once.len()),
            bits: body.registers.iter().map(|register| register.ty.bits()).collect(),
            scalars: 1,
            data: 0,
            lane_arrays: 0,
            predicate_arrays: 0,
            restored: Vec::new(),
        };
        for register in ids(body) {
            let stride = match uniformity.shape(register) {
                Shape::Affine { stride } => stride,
                Shape::Uniform | Shape::Varying => 0,
            };
            let is_predicate = body.registers[register.index()].ty == ScalarType::Pred;
            let place = match (once[register.index()], is_predicate) {
                (true, _) => Place::Scalar { word: take(&mut places.scalars), stride },
                (false, true) => Place::Predicates { array: take(&mut places.predicate_arrays) },
                (false, false) => Place::Lanes { array: take(&mut places.lane_arrays) },
            };
            places.places.push(place);
        }
        places.restored = places.written_often(body, flow);
        places
    }

    pub(crate) fn of_register(&self, register: RegisterId) -> Place {
        self.places[register.index()]
    }

    pub(crate) fn is_scalar(&self, register: RegisterId) -> bool {
        matches!(self.of_register(register), Place::Scalar { .. })
    }

    /// How wide a register is.
    pub(crate) fn bits(&self, register: RegisterId) -> u32 {
        self.bits[register.index()]
    }

    /// The words of registers that are written in more than one place, or over and over.
    fn written_often(&self, body: &Body, flow: &ControlFlow) -> Vec<u32> {
        let mut writes = vec![0_u32; body.registers.len()];
        for block in flow.ids() {
            let weight = if comes_back(flow, block.index()) { 2 } else { 1 };
            for index in flow.block(block).instructions.clone() {
                let written = body.instructions[index as usize].writes();
                written.iter().for_each(|register| writes[register.index()] += weight);
            }
        }
        let often = ids(body).filter(|register| writes[register.index()] > 1);
        often
            .filter_map(|register| match self.of_register(register) {
                Place::Scalar { word, .. } => Some(word),
                Place::Lanes { .. } | Place::Predicates { .. } => None,
            })
            .collect()
    }
}

/// Whether what an instruction writes is the same for all lanes although it reads what differs.
fn is_gathered(instruction: &peermap_ptx::Instruction) -> bool {
    matches!(instruction.operation, peermap_ptx::Operation::Barrier(_)) && instruction.guard.is_none()
}

fn comes_back(flow: &ControlFlow, block: usize) -> bool {
    let mut seen = vec![false; flow.blocks().len()];
    let mut open = vec![block];
    while let Some(next) = open.pop() {
        for successor in &flow.blocks()[next].successors {
            if successor.index() == block {
                return true;
            }
            if !std::mem::replace(&mut seen[successor.index()], true) {
                open.push(successor.index());
            }
        }
    }
    false
}

fn take(count: &mut u32) -> u32 {
    *count += 1;
    *count - 1
}

fn ids(body: &Body) -> impl Iterator<Item = RegisterId> + use<> {
    (0..u32::try_from(body.registers.len()).unwrap_or(u32::MAX)).map(RegisterId)
}
