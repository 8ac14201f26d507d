//! What is said about code without running it, on small bodies whose answers can be read off.

mod calls_and_resources;
mod flow;
mod uniformity;

use peermap_ptx::{Body, Module, RegisterId};

/// A module around these statements.
fn module(statements: &str) -> Module {
    Module::parse(&format!(".version 9.0 .target sm_90 .address_size 64\n{statements}")).expect("parses")
}

/// The body of an entry with some registers and a parameter `p`.
fn body(statements: &str) -> Body {
    let declarations = ".reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<9>; .shared .b32 s[64];";
    module(&format!(".entry e(.param .u64 p) {{ {declarations} {statements} }}")).entries()[0].body.clone()
}

fn register(body: &Body, name: &str) -> RegisterId {
    let index = body.registers.iter().position(|register| register.name == name).expect("the register is used");
    RegisterId(u32::try_from(index).expect("few registers"))
}
