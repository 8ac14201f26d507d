//! Which checks there are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Something that a launch can be watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// Memory is read that was never written, by whichever process.
    Uninitialised,
    /// Two threads write one byte and nothing orders them.
    Races,
    /// Memory is read by another address than it was written by, without `fence.proxy.alias` in between; by the launch that wrote
    /// it, or by one that began before that had ended.
    Aliases,
    /// An access leaves the buffer that its address was computed from, and hits another one.
    Bounds,
}

impl Check {
    /// All checks.
    pub const ALL: [Self; 4] = [Self::Uninitialised, Self::Races, Self::Aliases, Self::Bounds];

    /// Its name on a command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uninitialised => "uninitialised",
            Self::Races => "races",
            Self::Aliases => "aliases",
            Self::Bounds => "bounds",
        }
    }
}

/// A set of checks, empty by default.
///
/// As text it is a list of names with commas between, or `all`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Checks(u8);

impl Checks {
    /// No check.
    pub const NONE: Self = Self(0);

    /// All checks.
    pub const ALL: Self = Self((1 << Check::ALL.len()) - 1);

    /// These checks and one more.
    #[must_use]
    pub const fn with(self, check: Check) -> Self {
        Self(self.0 | 1 << check as u8)
    }

    /// Whether a check is among them.
    #[must_use]
    pub const fn has(self, check: Check) -> bool {
        self.0 & 1 << check as u8 != 0
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for Checks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return formatter.write_str("none");
        }
        let names: Vec<_> = Check::ALL.into_iter().filter(|check| self.has(*check)).map(Check::name).collect();
        formatter.write_str(&names.join(","))
    }
}

/// A name that no check has.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no check {0:?}; there are uninitialised, races, aliases and bounds, or all of them: all, or none")]
pub struct UnknownCheck(String);

impl FromStr for Checks {
    type Err = UnknownCheck;

    fn from_str(text: &str) -> Result<Self, UnknownCheck> {
        match text {
            "all" => return Ok(Self::ALL),
            "none" => return Ok(Self::NONE),
            _ => {}
        }
        text.split(',').try_fold(Self::NONE, |checks, name| {
            let check = Check::ALL.into_iter().find(|check| check.name() == name);
            check.map(|check| checks.with(check)).ok_or_else(|| UnknownCheck(name.to_owned()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_read_as_it_is_written() {
        for text in ["none", "races", "uninitialised,bounds", "uninitialised,races,aliases,bounds"] {
            assert_eq!(text.parse::<Checks>().unwrap().to_string(), text);
        }
        assert_eq!("all".parse(), Ok(Checks::ALL));
        assert_eq!("bounds,races".parse(), Ok(Checks::NONE.with(Check::Races).with(Check::Bounds)));
    }

    #[test]
    fn a_name_that_no_check_has_is_refused_with_those_that_there_are() {
        assert_eq!("".parse::<Checks>(), Err(UnknownCheck(String::new())));
        let error = "races,leaks".parse::<Checks>().unwrap_err().to_string();
        assert!(error.contains("\"leaks\"") && Check::ALL.iter().all(|check| error.contains(check.name())), "{error}");
    }
}
