//! Names of choices on the command line.

/// Gives an enumeration its names: `NAMES`, `Display` and `FromStr`.
macro_rules! names {
    ($kind:ident { $($variant:ident = $name:literal,)* }) => {
        impl $kind {
            /// The names on the command line.
            pub const NAMES: &[&str] = &[$($name),*];
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $name,)* })
            }
        }

        impl std::str::FromStr for $kind {
            type Err = $crate::names::UnknownName;

            fn from_str(text: &str) -> std::result::Result<Self, Self::Err> {
                match text {
                    $($name => Ok(Self::$variant),)*
                    other => Err(Self::Err { name: other.to_owned(), known: Self::NAMES }),
                }
            }
        }
    };
}

pub(crate) use names;

/// A name that is none of the known ones.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is unknown; use {}", known.join(" or "))]
pub struct UnknownName {
    pub(crate) name: String,
    pub(crate) known: &'static [&'static str],
}
