//! Playing traces on a backend, for `replay` and `record`.

mod files;
mod launch;
mod place;

pub(crate) use files::{Steps, each_trace, malformed, open};
pub(crate) use place::{Place, Refusal};
