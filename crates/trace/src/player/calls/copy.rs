//! Fills and copies.

use peermap_driver::ByteSize;
use serde_json::{Value as Json, json};

use crate::player::arguments::Arguments;
use crate::player::error::PlayError;
use crate::player::process::{Answer, Answered, Process};

/// The most bytes that go through a buffer of the player, which is the most that a recording copies.
const HOST_BUFFER: u64 = 1 << 30;

/// How many runs the recordings write out.
const RUNS: usize = 48;

pub(super) fn memset_d8(process: &mut Process, given: Arguments<'_>) -> Answered {
    let start = given.address("ptr", &process.values)?;
    process.driver.memset_d8(start, given.number("value")?, given.size("size")?)?;
    Answer::nothing()
}

pub(super) fn dtoh(process: &mut Process, given: Arguments<'_>) -> Answered {
    let start = given.address("ptr", &process.values)?;
    let mut bytes = vec![0; host_size(given)?];
    process.driver.memcpy_dtoh(&mut bytes, start)?;
    Ok(Answer::out([("runs", Json::Array(runs(&bytes)))]))
}

pub(super) fn htod(process: &mut Process, given: Arguments<'_>) -> Answered {
    let start = given.address("ptr", &process.values)?;
    let bytes = vec![given.number::<u8>("value")?; host_size(given)?];
    process.driver.memcpy_htod(start, &bytes)?;
    Answer::nothing()
}

pub(super) fn dtod(process: &mut Process, given: Arguments<'_>) -> Answered {
    let dst = given.address("dst", &process.values)?;
    let src = given.address("src", &process.values)?;
    process.driver.memcpy_dtod(dst, src, given.size("size")?)?;
    Answer::nothing()
}

fn host_size(given: Arguments<'_>) -> Result<usize, PlayError> {
    let size = given.size("size")?;
    let fits = Some(size).filter(|size| size.get() <= HOST_BUFFER).and_then(ByteSize::to_usize);
    fits.ok_or(PlayError::HostBuffer { size: size.get(), most: HOST_BUFFER })
}

/// Run-length coding as the recordings write it: `[byte, count]` for each run, and `["more", n]` for the `n` runs
/// after the first 48.
pub(crate) fn runs(mut bytes: &[u8]) -> Vec<Json> {
    let mut runs = Vec::new();
    let mut more = 0_u64;
    while let Some(&byte) = bytes.first() {
        let length = run_length(bytes, byte);
        if runs.len() < RUNS {
            runs.push(json!([byte, length]));
        } else {
            more += 1;
        }
        bytes = &bytes[length..];
    }
    if more > 0 {
        runs.push(json!(["more", more]));
    }
    runs
}

/// How many bytes at the start equal `byte`. Whole blocks are compared with themselves, shifted by one byte, which is
/// a memory comparison even in a build without optimisation: recordings have runs of 1 GiB.
fn run_length(bytes: &[u8], byte: u8) -> usize {
    const BLOCK: usize = 4096;
    let is_run = |block: &&[u8]| block[0] == byte && block[1..] == block[..BLOCK - 1];
    let whole = BLOCK * bytes.chunks_exact(BLOCK).take_while(is_run).count();
    whole + bytes[whole..].iter().take_while(|other| **other == byte).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_one_run() {
        assert_eq!(runs(&[]), [] as [Json; 0]);
        assert_eq!(runs(&[7]), [json!([7, 1])]);
        assert_eq!(runs(&[1, 1, 6, 6, 6, 1]), [json!([1, 2]), json!([6, 3]), json!([1, 1])]);
    }

    #[test]
    fn a_run_ends_where_it_ends_whatever_its_length() {
        for length in [1, 4095, 4096, 4097, 8191, 8192, 10_000] {
            let mut bytes = vec![3; length];
            bytes.push(4);
            assert_eq!(runs(&bytes), [json!([3, length]), json!([4, 1])], "{length}");
        }
    }

    #[test]
    fn forty_eight_runs_are_written_out() {
        let bytes: Vec<u8> = (0..48).collect();
        assert_eq!(runs(&bytes).len(), 48);
        assert_eq!(runs(&bytes)[47], json!([47, 1]));
    }

    #[test]
    fn further_runs_are_counted() {
        let bytes: Vec<u8> = (0..50).flat_map(|byte| [byte; 3]).collect();
        assert_eq!(runs(&bytes).len(), 49);
        assert_eq!(runs(&bytes)[48], json!(["more", 2]));
    }
}
