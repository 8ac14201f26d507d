//! Calls.

use peermap_ptx::instruction::{CacheOperator, Call, CallArgument, CallReturn, CallTarget, Load, Order, Store};
use peermap_ptx::{
    Address, AddressBase, Body, Function, FunctionId, Instruction, LocalId, MoveSource, Operation, Param, ParamType,
    Parameter, RegisterId, ScalarType, Source, StateSpace, Symbol,
};

use super::{Bindings, Instance, Linker};
use crate::error::CompileError;
use crate::step::SystemFunction;

impl Linker<'_> {
    /// Puts in what an instruction calls; its registers and variables are renamed already.
    pub(super) fn call(
        &mut self,
        caller: &Instance,
        instruction: &Instruction,
        call: &Call,
    ) -> Result<(), CompileError> {
        let CallTarget::Direct(id) = call.target else {
            return Err(not_modelled(instruction, "a call by way of a register"));
        };
        let module = self.module;
        let function = &module.functions()[id.index()];
        let name = &function.name;
        if self.calls.is_recursive(id) {
            return Err(not_modelled(instruction, format!("a call of {name:?}, which may call itself,")));
        }
        let skip = self.skip_unless_guarded(instruction);
        match &function.body {
            Some(body) => self.own(caller, instruction, call, (function, body))?,
            None => {
                let Some(known) = SystemFunction::named(name) else {
                    return Err(not_modelled(instruction, format!("a call of {name:?}, which has no body here,")));
                };
                self.linked.system.insert(id, known);
                self.system(instruction, call, id, function)?;
            }
        }
        skip.into_iter().for_each(|branch| self.land(branch));
        Ok(())
    }

    /// A call of a function that has a body.
    fn own(
        &mut self,
        caller: &Instance,
        instruction: &Instruction,
        call: &Call,
        (function, body): (&Function, &Body),
    ) -> Result<(), CompileError> {
        let bindings = self.bindings(caller, instruction, call, function);
        let returned = bindings.returned.clone();
        let instance = self.enter(body, caller.number, bindings);
        for (argument, parameter) in call.arguments.iter().zip(&function.params) {
            if let Parameter::Register { register, ty } = parameter {
                let destination = instance.register(*register);
                let given = match argument {
                    CallArgument::Local(local) => load(destination, *ty, *local),
                    CallArgument::Value(value) => moved(destination, *ty, *value),
                };
                self.push_for(instruction, given);
            }
        }
        self.put(body, &instance)?;
        for ((receiver, parameter), symbol) in call.returns.iter().zip(&function.returns).zip(returned) {
            let received = match (receiver, parameter, symbol) {
                (CallReturn::Register(Some(register)), Parameter::Memory(param), Symbol::Local(local)) => {
                    load(*register, element(param), local)
                }
                (CallReturn::Register(Some(destination)), Parameter::Register { register, ty }, _) => {
                    moved(*destination, *ty, Source::Register(instance.register(*register)))
                }
                (CallReturn::Local(local), Parameter::Register { register, ty }, _) => {
                    store(*local, *ty, Source::Register(instance.register(*register)))
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
                    self.push_for(instruction, store(local, element(param), *value));
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
                    self.push_for(instruction, load(register, ty, *local));
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
                    behind.push(store(*local, ty, Source::Register(register)));
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

/// The type of a parameter that a register holds.
fn scalar(instruction: &Instruction, parameter: &Parameter) -> Result<ScalarType, CompileError> {
    match parameter {
        Parameter::Memory(Param { ty: ParamType::Scalar(ty), .. }) | Parameter::Register { ty, .. } => Ok(*ty),
        Parameter::Memory(_) => Err(not_modelled(instruction, "an array as a parameter of the system")),
    }
}

/// The type of a parameter, or of its elements.
fn element(param: &Param) -> ScalarType {
    match param.ty {
        ParamType::Scalar(ty) | ParamType::Array { element: ty, .. } => ty,
    }
}

fn at(local: LocalId) -> Address {
    Address { base: AddressBase::Symbol(Symbol::Local(local)), offset: 0 }
}

fn load(destination: RegisterId, ty: ScalarType, local: LocalId) -> Operation {
    Operation::Load(Load {
        space: StateSpace::ParamFunction,
        order: Order::Weak,
        read_only: false,
        cache: CacheOperator::Default,
        ty,
        destinations: vec![Some(destination)],
        address: at(local),
    })
}

fn store(local: LocalId, ty: ScalarType, source: Source) -> Operation {
    Operation::Store(Store {
        space: StateSpace::ParamFunction,
        order: Order::Weak,
        cache: CacheOperator::Default,
        ty,
        address: at(local),
        sources: vec![source],
    })
}

fn moved(destination: RegisterId, ty: ScalarType, source: Source) -> Operation {
    Operation::Move { ty, destination, source: MoveSource::Value(source) }
}
