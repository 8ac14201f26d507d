//! Built-in kernels: what the entries of `kernels/` and of the recordings do, in Rust.
//!
//! A PTX entry is run by its twin only if its text is the very text that the twin was written for, whatever the entry is
//! called. Every byte goes through the page table of the device that runs the kernel, so a store without the right to
//! it faults.

use std::collections::HashMap;
use std::sync::OnceLock;

use peermap_memory::{Fault, View};
use peermap_ptx::{Entry, Module};

use crate::pattern;

/// A kernel: its parameters, each widened to 64 bits, in order.
pub(crate) type Body = fn(&View<'_>, &[u64]) -> Result<(), Fault>;

const MEMMAP_IPC: &str = include_str!("../../../kernels/memmap_ipc.ptx");
const RECORDER: &str = include_str!("../../../fixtures/traces/kernels.ptx");

const TWINS: &[(&str, &str, Body)] = &[
    (MEMMAP_IPC, "fill_byte", fill),
    (MEMMAP_IPC, "fill_id", fill),
    (MEMMAP_IPC, "fill_pattern", fill_pattern),
    (MEMMAP_IPC, "verify_id", verify_id),
    (MEMMAP_IPC, "verify_pattern", verify_pattern),
    (RECORDER, "fill", fill_signed),
    (RECORDER, "copy_add", copy_add),
    (RECORDER, "count_mismatch", count_mismatch),
];

/// The twin of an entry, if there is one.
pub(crate) fn twin_of(entry: &Entry) -> Option<Body> {
    static KNOWN: OnceLock<HashMap<String, Body>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        TWINS
            .iter()
            .map(|(text, name, body)| {
                let module = Module::parse(text).expect("the kernels that come with peermap are PTX");
                let entry = module.entry(name).expect("a twin is of an entry");
                (entry.normal_form().to_owned(), *body)
            })
            .collect()
    });
    known.get(entry.normal_form()).filter(|_| entry.is_self_contained()).copied()
}

#[expect(clippy::cast_possible_truncation, reason = "a parameter of one byte was widened to 64 bits")]
const fn byte(value: u64) -> u8 {
    value as u8
}

#[expect(clippy::cast_possible_truncation, reason = "a parameter of four bytes was widened to 64 bits")]
const fn word(value: u64) -> u32 {
    value as u32
}

/// A signed count of the recorder's kernels, which do nothing below 1.
fn count(value: u64) -> u64 {
    u64::try_from(word(value).cast_signed()).unwrap_or(0)
}

fn fill(view: &View<'_>, args: &[u64]) -> Result<(), Fault> {
    let [ptr, n, value] = *args else { unreachable!("checked at launch") };
    view.fill(ptr, byte(value), n)
}

fn fill_signed(view: &View<'_>, args: &[u64]) -> Result<(), Fault> {
    let [ptr, n, value] = *args else { unreachable!("checked at launch") };
    view.fill(ptr, byte(value), count(n))
}

fn fill_pattern(view: &View<'_>, args: &[u64]) -> Result<(), Fault> {
    let [ptr, n, worker, step] = *args else { unreachable!("checked at launch") };
    pattern::fill(view, ptr, n, pattern::key(word(worker), word(step)))
}

fn verify_id(view: &View<'_>, args: &[u64]) -> Result<(), Fault> {
    let [ptr, n, value, result] = *args else { unreachable!("checked at launch") };
    let difference = view.compare(ptr, n, byte(value))?;
    report(view, result, difference.bytes, difference.first)
}

fn verify_pattern(view: &View<'_>, args: &[u64]) -> Result<(), Fault> {
    let [ptr, n, worker, step, result] = *args else { unreachable!("checked at launch") };
    let difference = pattern::compare(view, ptr, n, pattern::key(word(worker), word(step)))?;
    report(view, result, difference.bytes, difference.first)
}

/// Adds what a verification found to its result: how many bytes differ, and the lowest offset.
fn report(view: &View<'_>, result: u64, bytes: u64, first: Option<u64>) -> Result<(), Fault> {
    if let Some(first) = first {
        view.atomic_add_u64(result, bytes)?;
        view.atomic_min_u64(result.wrapping_add(8), first)?;
    }
    Ok(())
}

/// Bytes that `copy_add` takes at a time.
const CHUNK: u64 = 64 << 10;

fn copy_add(view: &View<'_>, args: &[u64]) -> Result<(), Fault> {
    let [dst, src, n, delta] = *args else { unreachable!("checked at launch") };
    let n = count(n);
    let mut done = 0;
    let mut buffer = vec![0; usize::try_from(CHUNK.min(n)).expect("a chunk fits memory")];
    while done < n {
        let len = CHUNK.min(n - done);
        let part = &mut buffer[..usize::try_from(len).expect("a chunk fits memory")];
        view.read(src.wrapping_add(done), part)?;
        for value in part.iter_mut() {
            *value = value.wrapping_add(byte(delta));
        }
        view.write(dst.wrapping_add(done), part)?;
        done += len;
    }
    Ok(())
}

fn count_mismatch(view: &View<'_>, args: &[u64]) -> Result<(), Fault> {
    let [ptr, n, value, counter] = *args else { unreachable!("checked at launch") };
    let difference = view.compare(ptr, count(n), byte(value))?;
    if difference.bytes > 0 {
        view.atomic_add_u32(counter, word(difference.bytes))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_the_kernels_has_a_twin() {
        for text in [MEMMAP_IPC, RECORDER] {
            for entry in Module::parse(text).unwrap().entries() {
                assert!(twin_of(entry).is_some(), "{}", entry.name);
            }
        }
    }

    #[test]
    fn another_kernel_of_the_same_name_has_no_twin() {
        let changed = RECORDER.replace("add.s16", "sub.s16");
        let module = Module::parse(&changed).unwrap();
        assert!(twin_of(module.entry("copy_add").unwrap()).is_none());
        assert!(twin_of(module.entry("fill").unwrap()).is_some());
    }
}
