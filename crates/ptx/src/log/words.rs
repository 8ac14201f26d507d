//! What ptxas says about each problem.

use super::statement::Statement;
use super::{Line, TEXT};
use crate::error::{Found, PtxProblem};
use crate::needs::{Need, Unmet};
use crate::types::ScalarType;

/// What ptxas says about a problem in a statement.
pub(super) fn lines(problem: &PtxProblem, statement: Option<&Statement<'_, '_>>) -> Vec<Line> {
    use PtxProblem as P;
    if let Some(found) = problem.found() {
        return vec![near(found_text(found))];
    }
    let instruction = statement.and_then(Statement::instruction).unwrap_or_default();
    let mismatch = || vec![Line::Error(format!("Arguments mismatch for instruction '{instruction}'"))];
    let is_guard = statement.is_some_and(Statement::is_guard);
    let one = |words: String| vec![Line::Error(words)];
    match problem {
        P::UnexpectedCharacter { character } => vec![near(&character.to_string())],
        P::InvalidNumber { text } => vec![near(text.trim_start_matches(|digit: char| digit.is_ascii_digit()))],
        P::UnterminatedComment => {
            vec![Line::Fatal("Parsing error near '': unexpected EOF while scanning".to_owned())]
        }
        P::UnterminatedString => vec![near("\"")],
        P::UnterminatedBracket { .. } => vec![near("")],
        P::MissingHeader { directive, .. } => {
            vec![Line::Fatal(format!("Missing {directive} directive at start of file '{TEXT}'"))]
        }
        P::InvalidVersion { .. } => {
            vec![Line::Fatal(format!("Missing .version directive at start of file '{TEXT}'"))]
        }
        P::UnsupportedVersion { version: (major, minor), newest: (most, least) } => {
            vec![Line::Fatal(format!("Unsupported .version {major}.{minor}; current version is '{most}.{least}'"))]
        }
        P::UnknownTarget { name } => vec![Line::Fatal(format!("Unsupported .target '{name}'"))],
        P::TargetNeedsVersion { name, version: (major, minor), .. } => {
            one(format!("PTX .version {major}.{minor} does not support .target {name}"))
        }
        P::TargetAbove { .. } => {
            vec![Line::FatalAtAll("SM version specified by .target is higher than default SM version assumed".into())]
        }
        P::TargetOfOthers { name, .. } if name.ends_with('a') => {
            vec![Line::FatalAtAll(format!("Program with .target '{name}' cannot be compiled to future architecture"))]
        }
        P::TargetOfOthers { name, .. } => vec![Line::FatalAtAll(format!(
            "Program with .target '{name}' cannot be compiled to different SM-family architecture"
        ))],
        P::Unmet { unmet, target, .. } => unmet.iter().map(|unmet| Line::Error(needed(unmet, target))).collect(),
        P::AddressSize32 => vec![Line::FatalAtAll(
            " 32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on sm_90 or higher architectures."
                .to_owned(),
        )],
        P::DuplicateEntry { name, .. } => one(format!("Duplicate definition of function '{name}'")),
        P::DuplicateParameter { name } => one(format!("Duplicate definition of variable '{name}'")),
        P::DuplicateName { name, .. } => one(format!("Duplicate definition of {} '{name}'", kind_of_name(statement))),
        P::PrototypeMismatch { name, .. } => {
            one(format!("Inconsistent prototypes of '{name}', number or types of parameters differ"))
        }
        P::CallCount { .. } => one("Call has wrong number of parameters".to_owned()),
        P::InvalidAlignment { .. } => one("Alignment must be a power of two".to_owned()),
        P::InvalidExpression { operator: "/" | "%" } => {
            vec![Line::Fatal("Constant expression has division by zero".to_owned())]
        }
        P::ParametersTooLarge { bytes, most } => {
            let entry = statement.and_then(|it| it.behind(".entry")).unwrap_or_default();
            one(format!("Entry function '{entry}' uses too much parameter space ({bytes:#x} bytes, {most:#x} max)."))
        }
        P::UnknownInstruction { name } => one(format!("Not a name of any known instruction: '{name}'")),
        P::UnknownModifier { modifier, .. } => one(wrong_modifier(modifier, &instruction)),
        P::MissingModifier { expected, .. } => missing_modifier(expected, &instruction, statement),
        P::OrderOfSpace { modifiers, space } => {
            let words = |modifier| Line::Error(format!("Modifier '{modifier}' cannot be applied to '{space}' space"));
            modifiers.iter().map(words).collect()
        }
        P::NumberTooLarge { text, most } if instruction == "bar" || instruction == "barrier" => {
            one(format!("Barrier number '{text}' out of range, expected to be in range [0..{most}]"))
        }
        P::InvalidInitial { reason } => match *reason {
            "has more elements than its variable" => {
                vec![Line::Fatal("Greater number of elements in array initializer".to_owned())]
            }
            "is of another sort than its variable" => vec![Line::Fatal("Initial value type mismatch".to_owned())],
            _ => one(format!(
                "No initial value is allowed for '{}' in this state space",
                statement.map_or("", |it| it.near(-1))
            )),
        },
        P::TypeMismatch { register, declared, .. } if is_address(statement) && declared.starts_with(".f") => {
            one(format!(
                "Illegal to use symbol '{register}' of type {declared} as address operand. Use integer or bit only."
            ))
        }
        P::TypeMismatch { .. } if is_guard => one("Predicate expression expected".to_owned()),
        P::UnexpectedOperand { expected, .. } => match unexpected_operand(expected, statement) {
            Some(words) => one(words),
            None => mismatch(),
        },
        P::OperandCount { .. } | P::TypeMismatch { .. } | P::ConstantMismatch { .. } => mismatch(),
        P::UnknownSymbol { name } => unknown_symbol(name, &instruction, statement),
        other => one(other.to_string()),
    }
}

/// What ptxas says about a part of the language that the header does not allow.
fn needed(Unmet { what, need }: &Unmet, target: &str) -> String {
    match need {
        Need::Version(major, minor) => format!("{what} requires PTX ISA .version {major}.{minor} or later"),
        Need::Sm(sm) => format!("{what} requires .target sm_{sm} or higher"),
        Need::Code(_) | Need::Only(_) => format!("{what} not supported on .target '{target}'"),
        Need::Before(major, minor, sm) => {
            format!("{what} is not supported on .target sm_{sm} and higher from PTX ISA version {major}.{minor}")
        }
    }
}

/// What ptxas says where its grammar goes no further.
fn near(text: &str) -> Line {
    Line::Fatal(format!("Parsing error near '{text}': syntax error"))
}

fn found_text(found: &Found) -> &str {
    match found {
        Found::Token(text) => text,
        Found::End => "",
    }
}

/// Whether the place is the beginning of an address.
fn is_address(statement: Option<&Statement<'_, '_>>) -> bool {
    statement.is_some_and(|statement| statement.near(0) == "[")
}

fn kind_of_name(statement: Option<&Statement<'_, '_>>) -> &'static str {
    match statement {
        Some(statement) if statement.near(1) == ":" => "label",
        Some(statement) if statement.has(".func") && !statement.is_inside("(", ")") => "function",
        _ => "variable",
    }
}

/// A modifier that does not go with its instruction.
fn wrong_modifier(modifier: &str, instruction: &str) -> String {
    const ROUNDINGS: [&str; 9] = [".rn", ".rz", ".rm", ".rp", ".rna", ".rni", ".rzi", ".rmi", ".rpi"];
    const SPACES: [&str; 5] = [".global", ".shared", ".local", ".const", ".param"];
    const OTHERS: [&str; 16] = [
        ".sat",
        ".ftz",
        ".approx",
        ".full",
        ".cc",
        ".sync",
        ".aligned",
        ".uni",
        ".volatile",
        ".cas",
        ".exch",
        ".add",
        ".inc",
        ".dec",
        ".min",
        ".max",
    ];
    match modifier {
        _ if ScalarType::from_directive(modifier).is_some() => {
            format!("Unexpected instruction types specified for '{instruction}'")
        }
        _ if ROUNDINGS.contains(&modifier) => format!("Illegal rounding modifier for instruction '{instruction}'"),
        _ if SPACES.contains(&modifier) => format!("No state space qualifier expected for instruction '{instruction}'"),
        _ if OTHERS.contains(&modifier) => format!("Illegal modifier '{modifier}' for instruction '{instruction}'"),
        _ => format!("Unknown modifier '{modifier}'"),
    }
}

/// A modifier, or an operand, that an instruction cannot do without.
fn missing_modifier(expected: &str, instruction: &str, statement: Option<&Statement<'_, '_>>) -> Vec<Line> {
    const ORDERS: [&str; 5] = [".relaxed", ".acquire", ".release", ".acq_rel", ".sc"];
    let types = format!("Unexpected instruction types specified for '{instruction}'");
    let required = |what: &str| format!("{what} required for instruction '{instruction}'");
    let words = match expected {
        "a type" => match statement.and_then(Statement::almost_type) {
            Some(modifier) => vec![format!("Unknown modifier '{modifier}'"), types],
            None => vec![types],
        },
        _ if expected.starts_with("a comparison") => vec![required("Comparison modifier")],
        _ if expected.starts_with("a rounding") && expected.ends_with("`.approx`") => {
            vec![required("Rounding modifier or '.approx' modifier")]
        }
        _ if expected.starts_with("a rounding") => vec![required("Rounding modifier")],
        _ if expected.starts_with("a scope") => {
            let order = ORDERS.into_iter().find(|order| statement.is_some_and(|it| it.contains(order)));
            let of_order = |order| format!("Modifier '{order}' requires scope with '{instruction}' instruction");
            let of_fence = (instruction == "fence").then(|| required("Scope modifier"));
            of_fence.into_iter().chain(order.map(of_order)).collect()
        }
        "`.sync`" if matches!(instruction, "shfl" | "vote") => vec![format!(
            "Instruction '{instruction}' without '.sync' is not supported on .target sm_70 and higher from PTX ISA \
             version 6.4"
        )],
        "`.sync`" => vec![required(".sync modifier")],
        "`.approx`" => vec![required(".approx modifier")],
        "`.wrap` or `.clamp`" | "`.clamp` or `.wrap`" => vec![required("Clamp modifier")],
        _ if !expected.starts_with('`') || expected.starts_with("`d|p`") => {
            vec![format!("Arguments mismatch for instruction '{instruction}'")]
        }
        _ => vec![types],
    };
    words.into_iter().map(Line::Error).collect()
}

/// An operand of another sort than the instruction takes, where ptxas says more than that.
fn unexpected_operand(expected: &str, statement: Option<&Statement<'_, '_>>) -> Option<String> {
    let statement = statement?;
    let instruction = statement.instruction()?;
    let is_constant = statement.near(0).starts_with(|digit: char| digit.is_ascii_digit());
    match expected {
        "a label" => Some(format!("Label expected for argument 0 of instruction '{instruction}'")),
        "a register" if is_constant => Some(format!("Result register required for instruction '{instruction}'")),
        "a register" if statement.near(0).starts_with('%') => {
            Some(format!("Special register argument not allowed for instruction '{instruction}'"))
        }
        "a multiple of 32 threads" => {
            Some("Number of threads participating in barrier must be in multiple of warp size".to_owned())
        }
        "an address that can be written" => {
            Some(format!("Illegal to write to function input parameter '{}'", statement.near(1)))
        }
        _ if expected.starts_with("an address of something in the space") => {
            Some(format!("State space mismatch between instruction and address in instruction '{instruction}'"))
        }
        _ => None,
    }
}

/// A name that is nowhere, and what the instruction lacks for it.
fn unknown_symbol(name: &str, instruction: &str, statement: Option<&Statement<'_, '_>>) -> Vec<Line> {
    let unknown = Line::Unknown(format!("Unknown symbol '{name}'"));
    let Some(statement) = statement else { return vec![unknown] };
    let words = match statement.first() {
        ".branchtargets" | ".calltargets" | ".alias" => return vec![unknown],
        first if first.starts_with('.') => return vec![Line::Fatal(format!("Invalid initial value symbol '{name}'"))],
        _ if statement.is_guard() => "Predicate expression expected".to_owned(),
        _ if instruction == "bra" && name.starts_with('%') => {
            return vec![Line::Error("Label expected for argument 0 of instruction 'bra'".to_owned())];
        }
        _ if instruction == "bra" || statement.near(1) == "+" => return vec![unknown],
        _ if instruction == "call" && !statement.is_inside("(", ")") => {
            format!("Call to '{name}' requires call prototype")
        }
        _ if is_address(Some(statement)) => format!("Illegal operand type to instruction '{instruction}'"),
        _ if statement.is_inside("{", "}") => format!("Illegal expression '{name}'"),
        _ => format!("Arguments mismatch for instruction '{instruction}'"),
    };
    vec![Line::Error(words), unknown]
}
