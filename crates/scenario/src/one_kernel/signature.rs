//! Whether arguments are what a kernel declares.

use peermap_ptx::{Module, Param, ParamType, PtxError};

use super::argument::Given;

/// Why arguments do not go with a kernel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignatureError {
    /// The text is none that can be read here, so nothing was compared.
    #[error("the PTX cannot be read here, so the arguments are not compared with it: {}", .0.as_ref().map_or_else(|| "it is no text".to_owned(), ToString::to_string))]
    Unreadable(Option<PtxError>),
    /// There is no such entry.
    #[error("--entry: there is no entry {name:?}; {}", listed(known))]
    NoEntry {
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// More or fewer arguments than parameters.
    #[error("--arg: {given} arguments for entry {entry:?}, which declares {}: {}", declared.len(), shown(declared))]
    Count {
        /// The entry.
        entry: String,
        /// How many were given.
        given: usize,
        /// What it declares.
        declared: Vec<String>,
    },
    /// An argument of another size than its parameter.
    #[error("--arg {index} has {given} bytes; the entry declares {parameter}, which has {declared}")]
    Size {
        /// The argument, counted from 0.
        index: usize,
        /// Its bytes.
        given: usize,
        /// The parameter.
        parameter: String,
        /// The bytes of that.
        declared: usize,
    },
}

fn listed(known: &[String]) -> String {
    if known.is_empty() { "there is none at all".to_owned() } else { format!("there is {}", known.join(", ")) }
}

fn shown(declared: &[String]) -> String {
    if declared.is_empty() { "none".to_owned() } else { declared.join(", ") }
}

/// A parameter as the text declares it.
fn written(param: &Param) -> String {
    match param.ty {
        ParamType::Scalar(ty) => format!("{} {}", ty.directive(), param.name),
        ParamType::Array { element, count } => format!("{} {}[{count}]", element.directive(), param.name),
    }
}

/// Compares arguments with the parameters of an entry.
///
/// # Errors
/// [`SignatureError::Unreadable`] if that cannot be done; otherwise what is wrong with them.
pub fn check(image: &[u8], entry: &str, arguments: &[Given]) -> Result<(), SignatureError> {
    let text = std::str::from_utf8(image).map_err(|_| SignatureError::Unreadable(None))?;
    let module = Module::parse(text).map_err(|error| SignatureError::Unreadable(Some(error)))?;
    let Some(found) = module.entry(entry) else {
        let known = module.entries().iter().map(|entry| entry.name.clone()).collect();
        return Err(SignatureError::NoEntry { name: entry.to_owned(), known });
    };
    if found.params.len() != arguments.len() {
        let declared = found.params.iter().map(written).collect();
        return Err(SignatureError::Count { entry: entry.to_owned(), given: arguments.len(), declared });
    }
    for (index, (param, argument)) in found.params.iter().zip(arguments).enumerate() {
        let (given, declared) = (argument.parameter_bytes(), param.size as usize);
        if given != declared {
            return Err(SignatureError::Size { index, given, parameter: written(param), declared });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use peermap_driver::{ByteSize, KernelArg};

    use super::super::argument::Start;
    use super::*;

    const TEXT: &str = ".version 8.0\n.target sm_90\n.address_size 64\n\
        .entry none() { ret; }\n.entry two(.param .u64 to, .param .align 4 .b8 how[12]) { ret; }\n";

    fn buffer() -> Given {
        Given::Buffer(Start::Filled { size: ByteSize::new(1), byte: 0 })
    }

    #[test]
    fn arguments_of_the_right_number_and_size_pass() {
        assert_eq!(check(TEXT.as_bytes(), "none", &[]), Ok(()));
        let structure = Given::Value(KernelArg::Bytes(vec![0; 12]));
        assert_eq!(check(TEXT.as_bytes(), "two", &[buffer(), structure.clone()]), Ok(()));
        assert_eq!(check(TEXT.as_bytes(), "two", &[Given::Value(KernelArg::I64(1)), structure]), Ok(()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let message = |entry, arguments: &[Given]| check(TEXT.as_bytes(), entry, arguments).unwrap_err().to_string();
        assert_eq!(message("three", &[]), "--entry: there is no entry \"three\"; there is none, two");
        assert_eq!(
            message("two", &[buffer()]),
            "--arg: 1 arguments for entry \"two\", which declares 2: .u64 to, .b8 how[12]"
        );
        assert_eq!(message("none", &[buffer()]), "--arg: 1 arguments for entry \"none\", which declares 0: none");
        assert_eq!(
            message("two", &[buffer(), Given::Value(KernelArg::U8(1))]),
            "--arg 1 has 1 bytes; the entry declares .b8 how[12], which has 12"
        );
    }

    #[test]
    fn what_cannot_be_read_is_not_judged() {
        assert!(matches!(check(b"\xff", "none", &[]), Err(SignatureError::Unreadable(None))));
        assert!(matches!(check(b".version", "none", &[]), Err(SignatureError::Unreadable(Some(_)))));
    }
}
