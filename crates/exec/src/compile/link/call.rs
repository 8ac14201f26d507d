//! Calls.

use peermap_ptx::instruction::{
    CacheOperator, Call, CallArgument, CallReturn, CallTarget, Comparison, Load, Order, Store,
};
use peermap_ptx::{
    Address, AddressBase, Body, Function, FunctionId, Guard, Immediate, Instruction, InstructionId, LocalId,
    MoveSource, Operation, Param, ParamType, Parameter, RegisterId, ScalarType, Source, StateSpace, Symbol,
};

use super::{Bindings, Instance, Linker, Site, compared};
use crate::data::code_address;
use crate::error::CompileError;
use crate::step::SystemFunction;

impl Linker<'_> {
    /// Puts in what an instruction calls; its registers and variables are renamed already.
    pub(super) fn call(&mut self, site: Site<'_>, call: &Call) -> Result<(), CompileError> {
        let skip = self.skip_unless_guarded(site.instruction);
        match &call.target {
            CallTarget::Direct(id) => self.direct(site, call, *id)?,
            CallTarget::Indirect { pointer, targets } => {
                let functions = targets.as_deref().unwrap_or(self.calls.taken()).to_vec();
                self.any_of(site, (call, *pointer), &functions)?;
            }
        }
        skip.into_iter().for_each(|branch| self.land(branch));
        Ok(())
    }

    /// A call by way of a register: the address is compared with that of one function after the other. A thread that
    /// calls what is none of them is stopped.
    fn any_of(
        &mut self,
        site: Site<'_>,
        (call, pointer): (&Call, RegisterId),
        functions: &[FunctionId],
    ) -> Result<(), CompileError> {
        let instruction = site.instruction;
        let mut ends = Vec::new();
        for id in functions {
            if !self.fits(call, &self.module.functions()[id.index()]) {
                continue;
            }
            let is_other = self.new_register(ScalarType::Pred);
            let address = code_address(Symbol::Function(*id));
            let b = Immediate { ty: ScalarType::U64, bits: address };
            self.push_for(instruction, compared(Comparison::NotEqual, is_other, Source::Register(pointer), b));
            let guard = Guard { predicate: is_other, negated: false };
            let other = self.push_branch(instruction, Some(guard), InstructionId(0));
            self.direct(site, call, *id)?;
            ends.push(self.push_branch(instruction, None, InstructionId(0)));
            self.land(other);
        }
        self.push_for(instruction, Operation::Trap);
        ends.into_iter().for_each(|branch| self.land(branch));
        Ok(())
    }

    /// Whether a call gives and receives what a function takes and returns.
    fn fits(&self, call: &Call, function: &Function) -> bool {
        let size = |local: LocalId| self.linked.entry.body.locals[local.index()].size;
        let given = |(argument, parameter): (&CallArgument, &Parameter)| match argument {
            CallArgument::Local(local) => size(*local) == bytes(parameter),
            CallArgument::Value(Source::Immediate(value)) => u64::from(value.ty.size()) == bytes(parameter),
            CallArgument::Value(Source::Register(register)) => self.register_bytes(*register) == bytes(parameter),
        };
        let received = |(receiver, parameter): (&CallReturn, &Parameter)| match receiver {
            CallReturn::Local(local) => size(*local) == bytes(parameter),
            CallReturn::Register(Some(register)) => self.register_bytes(*register) == bytes(parameter),
            CallReturn::Register(None) => true,
        };
        let counts = (call.arguments.len(), call.returns.len());
        counts == (function.params.len(), function.returns.len())
            && call.arguments.iter().zip(&function.params).all(given)
            && call.returns.iter().zip(&function.returns).all(received)
    }

    fn register_bytes(&self, register: RegisterId) -> u64 {
        u64::from(self.linked.entry.body.registers[register.index()].ty.size())
    }

    /// A call of one function.
    fn direct(&mut self, site: Site<'_>, call: &Call, id: FunctionId) -> Result<(), CompileError> {
        let module = self.module;
        let function = &module.functions()[id.index()];
        let (name, instruction) = (&function.name, site.instruction);
        match &function.body {
            Some(body) if self.calls.is_recursive(id) => self.recursive(site, call, (id, function, body)),
            Some(body) => self.own(site, call, (function, body))?,
            None => {
                let Some(known) = SystemFunction::named(name) else {
                    return Err(not_modelled(instruction, format!("a call of {name:?}, which has no body here,")));
                };
                self.linked.system.insert(id, known);
                self.system(instruction, call, id, function)?;
            }
        }
        Ok(())
    }

    /// A call of a function that has a body.
    fn own(&mut self, site: Site<'_>, call: &Call, (function, body): (&Function, &Body)) -> Result<(), CompileError> {
        let Site { caller, instruction, .. } = site;
        let bindings = self.bindings(caller, instruction, call, function);
        let returned = bindings.returned.clone();
        let instance = self.enter(body, (caller.number, caller.frame), bindings);
        for (argument, parameter) in call.arguments.iter().zip(&function.params) {
            if let Parameter::Register { register, ty } = parameter {
                let destination = instance.register(*register);
                let given = match argument {
                    CallArgument::Local(local) => load(destination, *ty, (*local, 0)),
                    CallArgument::Value(value) => moved(destination, *ty, *value),
                };
                self.push_for(instruction, given);
            }
        }
        self.put(body, &instance)?;
        for ((receiver, parameter), symbol) in call.returns.iter().zip(&function.returns).zip(returned) {
            let received = match (receiver, parameter, symbol) {
                (CallReturn::Register(Some(register)), Parameter::Memory(param), Symbol::Local(local)) => {
                    load(*register, element(param), (local, 0))
                }
                (CallReturn::Register(Some(destination)), Parameter::Register { register, ty }, _) => {
                    moved(*destination, *ty, Source::Register(instance.register(*register)))
                }
                (CallReturn::Local(local), Parameter::Register { register, ty }, _) => {
                    store((*local, 0), *ty, Source::Register(instance.register(*register)))
                }
                // The variable is what the function has written.
                _ => continue,
            };
            self.push_for(instruction, received);
        }
        Ok(())
    }

    /// The variables that are the parameters of a call and what it returns. What is in a register stands for itself.
    fn bindings(&mut self, caller: &Instance, instruction: &Instruction, call: &Call, function: &Function) -> Bindings {
        let mut bindings = Bindings::default();
        for ((number, argument), parameter) in (0..).zip(&call.arguments).zip(&function.params) {
            bindings.parameters.push(match (argument, parameter) {
                (CallArgument::Local(local), Parameter::Memory(_)) => Symbol::Local(*local),
                (CallArgument::Value(value), Parameter::Memory(param)) => {
                    let local = self.local_for(caller, instruction, param);
                    self.push_for(instruction, store((local, 0), element(param), *value));
                    Symbol::Local(local)
                }
                (_, Parameter::Register { .. }) => Symbol::Parameter(number),
            });
        }
        for ((number, receiver), parameter) in (0..).zip(&call.returns).zip(&function.returns) {
            bindings.returned.push(match (receiver, parameter) {
                (CallReturn::Local(local), Parameter::Memory(_)) => Symbol::Local(*local),
                (CallReturn::Register(_), Parameter::Memory(param)) => {
                    Symbol::Local(self.local_for(caller, instruction, param))
                }
                (_, Parameter::Register { .. }) => Symbol::Returned(number),
            });
        }
        bindings
    }

    fn local_for(&mut self, caller: &Instance, instruction: &Instruction, param: &Param) -> LocalId {
        self.new_local(caller.number, u64::from(param.size), param.align, instruction.at)
    }

    /// A call of what the system has: all that it takes and returns is in registers.
    fn system(
        &mut self,
        instruction: &Instruction,
        call: &Call,
        id: FunctionId,
        function: &Function,
    ) -> Result<(), CompileError> {
        let mut arguments = Vec::new();
        for (argument, parameter) in call.arguments.iter().zip(&function.params) {
            let value = match argument {
                CallArgument::Value(value) => *value,
                CallArgument::Local(local) => {
                    let ty = scalar(instruction, parameter)?;
                    let register = self.new_register(ty);
                    self.push_for(instruction, load(register, ty, (*local, 0)));
                    Source::Register(register)
                }
            };
            arguments.push(CallArgument::Value(value));
        }
        let (mut returns, mut behind) = (Vec::new(), Vec::new());
        for (receiver, parameter) in call.returns.iter().zip(&function.returns) {
            returns.push(match receiver {
                CallReturn::Register(register) => CallReturn::Register(*register),
                CallReturn::Local(local) => {
                    let ty = scalar(instruction, parameter)?;
                    let register = self.new_register(ty);
                    behind.push(store((*local, 0), ty, Source::Register(register)));
                    CallReturn::Register(Some(register))
                }
            });
        }
        let target = CallTarget::Direct(id);
        self.push_for(instruction, Operation::Call(Call { target, returns, arguments, uniform: call.uniform }));
        for store in behind {
            self.push_for(instruction, store);
        }
        Ok(())
    }
}

fn not_modelled(instruction: &Instruction, what: impl Into<String>) -> CompileError {
    CompileError::NotModelled { line: instruction.at.line, what: what.into() }
}

/// How much a parameter takes.
pub(super) fn bytes(parameter: &Parameter) -> u64 {
    match parameter {
        Parameter::Memory(param) => u64::from(param.size),
        Parameter::Register { ty, .. } => u64::from(ty.size()),
    }
}

/// The type of a parameter that a register holds.
fn scalar(instruction: &Instruction, parameter: &Parameter) -> Result<ScalarType, CompileError> {
    match parameter {
        Parameter::Memory(Param { ty: ParamType::Scalar(ty), .. }) | Parameter::Register { ty, .. } => Ok(*ty),
        Parameter::Memory(_) => Err(not_modelled(instruction, "an array as a parameter of the system")),
    }
}

/// The type of a parameter, or of its elements.
pub(super) fn element(param: &Param) -> ScalarType {
    match param.ty {
        ParamType::Scalar(ty) | ParamType::Array { element: ty, .. } => ty,
    }
}

fn at((local, offset): (LocalId, i64)) -> Address {
    Address { base: AddressBase::Symbol(Symbol::Local(local)), offset }
}

/// A load from so far behind the start of a variable.
pub(super) fn load(destination: RegisterId, ty: ScalarType, from: (LocalId, i64)) -> Operation {
    Operation::Load(Load {
        space: StateSpace::ParamFunction,
        order: Order::Weak,
        read_only: false,
        cache: CacheOperator::Default,
        ty,
        destinations: vec![Some(destination)],
        address: at(from),
    })
}

/// A store to so far behind the start of a variable.
pub(super) fn store(to: (LocalId, i64), ty: ScalarType, source: Source) -> Operation {
    Operation::Store(Store {
        space: StateSpace::ParamFunction,
        order: Order::Weak,
        cache: CacheOperator::Default,
        ty,
        address: at(to),
        sources: vec![source],
    })
}

pub(super) fn moved(destination: RegisterId, ty: ScalarType, source: Source) -> Operation {
    Operation::Move { ty, destination, source: MoveSource::Value(source) }
}
