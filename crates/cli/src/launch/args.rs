//! Arguments of `launch`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use peermap_driver::{ByteSize, Dim3};
use peermap_scenario::one_kernel::Argument;
use peermap_sim::Checks;

use crate::args::Where;
use crate::output::Force;

/// Arguments of `launch`.
#[derive(Debug, Args)]
pub(crate) struct Launch {
    /// The code, as PTX.
    #[arg(value_name = "FILE.ptx")]
    pub(super) file: PathBuf,
    /// The name of the kernel.
    #[arg(long, value_name = "NAME")]
    pub(super) entry: String,
    /// Blocks.
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "1")]
    grid: Dimensions,
    /// Threads of a block.
    #[arg(long, value_name = "X[,Y[,Z]]", default_value = "1")]
    block: Dimensions,
    /// Dynamic shared memory of a block.
    #[arg(long, value_name = "BYTES", default_value = "0")]
    pub(super) shared: ByteSize,
    #[command(flatten)]
    pub(super) place: Where,
    /// An argument of the kernel, in order and counted from 0: buf:BYTES (zero), buf:BYTES=VALUE (each byte), buf@FILE, or
    /// u8, s8, u16, s16, u32, s32, u64, s64, f32 or f64 with :VALUE, decimal or the bits as 0x…; floats also inf and nan.
    /// Each buffer is a mapping of its own, with nothing mapped behind its last granule.
    #[arg(long = "arg", value_name = "A", allow_hyphen_values = true)]
    pub(super) arguments: Vec<Argument>,
    /// Write what buffer I holds after the launch to this file instead of printing it. It must not be there yet.
    #[arg(long = "out", value_name = "I=FILE")]
    pub(super) outs: Vec<Out>,
    #[command(flatten)]
    pub(super) force: Force,
    /// Watch the kernel for mistakes that a GPU does not tell: uninitialised, races, aliases and bounds, separated by commas,
    /// or all. Simulator only; the kernel takes longer.
    #[arg(long, value_name = "LIST|all", default_value = "none", hide_default_value = true)]
    pub(super) check: Checks,
    /// How many seconds the kernel may run.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=MOST_SECONDS))]
    pub(super) deadline: u64,
    /// Print one JSON object on standard output instead of lines.
    #[arg(long)]
    pub(crate) json: bool,
}

/// A day.
const MOST_SECONDS: u64 = 86_400;

impl Launch {
    pub(super) const fn grid(&self) -> Dim3 {
        self.grid.0
    }

    pub(super) const fn block(&self) -> Dim3 {
        self.block.0
    }
}

/// One to three numbers; those that are left out are 1.
#[derive(Debug, Clone, Copy)]
struct Dimensions(Dim3);

impl FromStr for Dimensions {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let positive = |part: &str| part.parse().ok().filter(|count: &u32| *count > 0);
        let parts = text.split(',').map(positive).collect::<Option<Vec<u32>>>();
        let (x, y, z) = match parts.as_deref() {
            Some([x]) => (*x, 1, 1),
            Some([x, y]) => (*x, *y, 1),
            Some([x, y, z]) => (*x, *y, *z),
            _ => return Err("expected one to three numbers above 0, such as 64 or 8,8,4"),
        };
        Ok(Self(Dim3 { x, y, z }))
    }
}

/// Where the bytes of a buffer go.
#[derive(Debug, Clone)]
pub(super) struct Out {
    pub(super) argument: usize,
    pub(super) file: PathBuf,
}

impl FromStr for Out {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('=').filter(|(_, file)| !file.is_empty());
        let out = parts.and_then(|(argument, file)| Some(Self { argument: argument.parse().ok()?, file: file.into() }));
        out.ok_or("expected the number of an argument and a file, such as 0=result.bin")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_that_are_left_out_are_one() {
        let read = |text: &str| text.parse::<Dimensions>().map(|it| (it.0.x, it.0.y, it.0.z));
        assert_eq!(read("64"), Ok((64, 1, 1)));
        assert_eq!(read("8,4"), Ok((8, 4, 1)));
        assert_eq!(read("8,4,2"), Ok((8, 4, 2)));
        for wrong in ["", "0", "1,0", "1,2,3,4", "1,", "x", "-1", "4294967296"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }
}
