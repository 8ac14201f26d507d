//! Registers of 128 bits, as two of 64.

use std::collections::HashMap;

use peermap_ptx::{
    Body, Entry, Instruction, InstructionId, MoveSource, Operation, Register, RegisterId, ScalarType, Sink, Source,
};

use crate::error::CompileError;

/// An entry without registers of 128 bits: each becomes its lower half, and gets a register for its upper half.
pub(crate) fn split(entry: &Entry) -> Result<Entry, CompileError> {
    let mut entry = entry.clone();
    let body = &mut entry.body;
    let halves = halves(body);
    if halves.uppers.is_empty() {
        return Ok(entry);
    }
    let mut starts = Vec::with_capacity(body.instructions.len() + 1);
    let mut instructions = Vec::with_capacity(body.instructions.len());
    for instruction in std::mem::take(&mut body.instructions) {
        starts.push(id(instructions.len()));
        let operations = halves.operations(&instruction)?;
        instructions.extend(operations.into_iter().map(|operation| Instruction { operation, ..instruction.clone() }));
    }
    starts.push(id(instructions.len()));
    body.instructions = instructions;
    let moved = |target: InstructionId| starts[target.index()];
    body.labels.iter_mut().for_each(|label| label.target = moved(label.target));
    for instruction in &mut body.instructions {
        match &mut instruction.operation {
            Operation::Branch(branch) => branch.target = moved(branch.target),
            Operation::BranchTable(table) => {
                table.targets = table.targets.iter().copied().map(moved).collect();
            }
            _ => {}
        }
    }
    Ok(entry)
}

fn id(index: usize) -> InstructionId {
    InstructionId(u32::try_from(index).unwrap_or(u32::MAX))
}

/// Gives each register of 128 bits an upper half.
fn halves(body: &mut Body) -> Halves {
    let mut uppers = HashMap::new();
    for index in 0..body.registers.len() {
        if body.registers[index].ty == ScalarType::B128 {
            let upper = Register { name: format!("{}.upper", body.registers[index].name), ty: ScalarType::B64 };
            uppers.insert(RegisterId(index as u32), RegisterId(body.registers.len() as u32));
            body.registers[index].ty = ScalarType::B64;
            body.registers.push(upper);
        }
    }
    Halves { uppers }
}

/// The upper half of each register that had 128 bits.
struct Halves {
    uppers: HashMap<RegisterId, RegisterId>,
}

impl Halves {
    /// What an instruction does, as one or two operations on halves.
    fn operations(&self, instruction: &Instruction) -> Result<Vec<Operation>, CompileError> {
        let operation = &instruction.operation;
        let mut touched = instruction.reads().into_iter().chain(instruction.writes());
        if !touched.any(|register| self.uppers.contains_key(&register)) {
            return Ok(vec![operation.clone()]);
        }
        let not_modelled = || CompileError::NotModelled {
            line: instruction.at.line,
            what: format!("{} of 128 bits", instruction.name),
        };
        self.halved(operation).ok_or_else(not_modelled)
    }

    fn halved(&self, operation: &Operation) -> Option<Vec<Operation>> {
        let ty = ScalarType::B64;
        Some(match operation {
            Operation::Move { ty: ScalarType::B128, destination, source: MoveSource::Value(source) } => {
                vec![moved(self.sink(Some(*destination))?, self.source(*source)?)]
            }
            Operation::Pack { ty: ScalarType::B128, destination, sources } => {
                let [lower, upper] = self.sink(Some(*destination))?;
                match sources.as_slice() {
                    [a, b] => vec![moved([lower, upper], [*a, *b])],
                    [a, b, c, d] => vec![
                        Operation::Pack { ty, destination: lower?, sources: vec![*a, *b] },
                        Operation::Pack { ty, destination: upper?, sources: vec![*c, *d] },
                    ],
                    _ => return None,
                }
            }
            Operation::Unpack { ty: ScalarType::B128, destinations, source } => {
                let [lower, upper] = self.source(*source)?;
                match destinations.as_slice() {
                    [a, b] => vec![moved([*a, *b], [lower, upper])],
                    [a, b, c, d] => vec![
                        Operation::Unpack { ty, destinations: vec![*a, *b], source: lower },
                        Operation::Unpack { ty, destinations: vec![*c, *d], source: upper },
                    ],
                    _ => return None,
                }
            }
            Operation::Load(load) if load.ty == ScalarType::B128 => {
                let [sink] = load.destinations.as_slice() else { return None };
                let destinations = self.sink(*sink)?.to_vec();
                vec![Operation::Load(peermap_ptx::instruction::Load { ty, destinations, ..load.clone() })]
            }
            Operation::Store(store) if store.ty == ScalarType::B128 => {
                let [source] = store.sources.as_slice() else { return None };
                let sources = self.source(*source)?.to_vec();
                vec![Operation::Store(peermap_ptx::instruction::Store { ty, sources, ..store.clone() })]
            }
            // What is narrower reads the lower half.
            Operation::Store(_) => vec![operation.clone()],
            Operation::Convert { destination, .. } if !self.uppers.contains_key(destination) => {
                vec![operation.clone()]
            }
            _ => return None,
        })
    }

    fn sink(&self, sink: Sink) -> Option<[Sink; 2]> {
        match sink {
            None => Some([None, None]),
            Some(register) => self.uppers.get(&register).map(|upper| [Some(register), Some(*upper)]),
        }
    }

    fn source(&self, source: Source) -> Option<[Source; 2]> {
        let Source::Register(register) = source else { return None };
        self.uppers.get(&register).map(|upper| [source, Source::Register(*upper)])
    }
}

fn moved(destinations: [Sink; 2], sources: [Source; 2]) -> Operation {
    let sources = sources.map(MoveSource::Value).to_vec();
    Operation::MoveVector { ty: ScalarType::B64, destinations: destinations.to_vec(), sources }
}
