//! Whether buffers hold what they should.

use peermap_driver::{DevicePtr, Driver, Result};
use peermap_report::Mismatch;
use serde::{Deserialize, Serialize};

use crate::content::{Author, Content};
use crate::device_kernels::{Buffer, DeviceKernels};
use crate::names::names;

/// Which buffers a worker verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verify {
    /// Its own, as in NVIDIA's sample.
    Own,
    /// Every one.
    All,
}

/// Where a worker verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum VerifyOn {
    /// On the device, 16 bytes at a time.
    Device,
    /// On the host, after a copy.
    Host,
}

impl VerifyOn {
    /// Compares a buffer with what its author filled it with. Work on it has ended by now.
    pub(crate) fn look(
        self,
        driver: &dyn Driver,
        kernels: &DeviceKernels<'_>,
        buffer: Buffer,
        author: Author,
    ) -> Result<Option<Difference>> {
        match self {
            Self::Device => on_device(driver, kernels, buffer, author),
            Self::Host => on_host(driver, buffer, kernels.content(author)),
        }
    }
}

names!(Verify { Own = "own", All = "all", });
names!(VerifyOn { Device = "device", Host = "host", });

/// Where a buffer differs from what it should hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The lowest wrong offset.
    pub(crate) offset: u64,
    pub(crate) expected: u8,
    pub(crate) got: u8,
    pub(crate) wrong_bytes: u64,
}

impl Difference {
    /// The same with the names of worker and buffer.
    pub(crate) fn seen_by(self, worker: u32, buffer: u32) -> Mismatch {
        let Self { offset, expected, got, wrong_bytes } = self;
        Mismatch { worker, buffer, offset, expected, got, wrong_bytes }
    }
}

/// How much is copied to the host at once.
pub(crate) const CHUNK: usize = 8 << 20;

/// Compares on the device.
pub(crate) fn on_device(
    driver: &dyn Driver,
    kernels: &DeviceKernels<'_>,
    buffer: Buffer,
    author: Author,
) -> Result<Option<Difference>> {
    kernels.clear_findings()?;
    kernels.verify(buffer, author)?;
    let Some(findings) = kernels.findings()? else { return Ok(None) };
    let offset = findings.first_offset;
    let mut got = [0];
    driver.memcpy_dtoh(&mut got, buffer.at(offset))?;
    let expected = kernels.content(author).byte(offset);
    Ok(Some(Difference { offset, expected, got: got[0], wrong_bytes: findings.wrong_bytes }))
}

/// Copies to the host, piece by piece, and compares there. Work on the buffer has ended by now.
pub(crate) fn on_host(driver: &dyn Driver, buffer: Buffer, content: Content) -> Result<Option<Difference>> {
    in_pieces(buffer, content, |piece, at| driver.memcpy_dtoh(piece, at))
}

/// Gets a buffer piece by piece, and compares it here.
pub(crate) fn in_pieces(
    buffer: Buffer,
    content: Content,
    mut get: impl FnMut(&mut [u8], DevicePtr) -> Result<()>,
) -> Result<Option<Difference>> {
    let size = buffer.size.get();
    let mut piece = vec![0; buffer.size.to_usize().map_or(CHUNK, |size| size.min(CHUNK))];
    let mut difference = None;
    let mut offset = 0;
    while offset < size {
        let len = usize::try_from(size - offset).map_or(CHUNK, |left| left.min(CHUNK));
        get(&mut piece[..len], buffer.at(offset))?;
        compare(&piece[..len], offset, content, &mut difference);
        offset += len as u64;
    }
    Ok(difference)
}

/// Compares bytes that lie at an offset, which is a multiple of 8.
fn compare(found: &[u8], offset: u64, content: Content, difference: &mut Option<Difference>) {
    for (index, eight) in (0u64..).zip(found.chunks(8)) {
        let start = offset + 8 * index;
        let expected = content.eight(start);
        // Whole words that are right need no look at their bytes.
        if *eight == expected[..eight.len()] {
            continue;
        }
        let wrong = (0u64..).zip(eight.iter().zip(expected)).filter(|(_, (got, expected))| *got != expected);
        for (place, (got, expected)) in wrong {
            let first = Difference { offset: start + place, expected, got: *got, wrong_bytes: 0 };
            difference.get_or_insert(first).wrong_bytes += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Fill;

    fn bytes(content: Content, len: u64) -> Vec<u8> {
        (0..len).map(|offset| content.byte(offset)).collect()
    }

    fn difference(found: &[u8], content: Content) -> Option<Difference> {
        let mut difference = None;
        compare(found, 0, content, &mut difference);
        difference
    }

    #[test]
    fn what_was_filled_is_right_whatever_its_length() {
        for fill in [Fill::Id, Fill::Pattern] {
            let content = fill.content(Author { worker: 3, step: 7 });
            assert_eq!(difference(&bytes(content, 1001), content), None);
        }
    }

    #[test]
    fn the_lowest_wrong_byte_is_named_and_all_are_counted() {
        let content = Fill::Id.content(Author { worker: 6, step: 0 });
        let mut found = bytes(content, 100);
        found[17] = 0;
        found[98] = 1;
        assert_eq!(difference(&found, content), Some(Difference { offset: 17, expected: 6, got: 0, wrong_bytes: 2 }));
    }

    #[test]
    fn swapped_pages_show_in_the_pattern() {
        let content = Fill::Pattern.content(Author { worker: 0, step: 0 });
        let mut found = bytes(content, 8192);
        found.rotate_left(4096);
        assert_eq!(difference(&found, content).map(|difference| difference.offset), Some(0));
    }

    #[test]
    fn names_read_back() {
        assert!(Verify::NAMES.iter().all(|name| name.parse::<Verify>().unwrap().to_string() == *name));
        assert!(VerifyOn::NAMES.iter().all(|name| name.parse::<VerifyOn>().unwrap().to_string() == *name));
        assert_eq!("gpu".parse::<VerifyOn>().unwrap_err().to_string(), "\"gpu\" is unknown; use device or host");
    }
}
