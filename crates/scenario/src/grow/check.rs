//! The contents of the vector, through all its addresses.

use peermap_driver::{Driver, Result};
use peermap_report::Mismatch;

use super::vector::Vector;
use crate::check::VerifyOn;
use crate::content::Author;
use crate::device_kernels::Buffer;
use crate::workplace::Workplace;

/// What the chunks of a vector hold, and what was found of it.
pub(super) struct Contents<'a, 'd> {
    pub(super) driver: &'d dyn Driver,
    pub(super) workplace: &'a Workplace<'d>,
    pub(super) verify_on: VerifyOn,
    pub(super) worker: u32,
    /// Who filled each chunk; `None`: it was freed.
    pub(super) authors: Vec<Option<Author>>,
    /// How often something was filled.
    pub(super) fills: u32,
    /// How many bytes were found right, each as often as it was looked at.
    pub(super) verified: u64,
    /// How many of them at addresses that the vector had left.
    pub(super) verified_old: u64,
    pub(super) mismatch: Option<Mismatch>,
}

impl Contents<'_, '_> {
    /// Fills the chunks that were added, each in its own way.
    pub(super) fn fill_added(&mut self, vector: &Vector<'_>) -> Result<()> {
        for number in self.authors.len() as u32..vector.len() {
            let author = self.next_author();
            self.workplace.kernels.fill(vector.range().chunk(number), author)?;
            self.authors.push(Some(author));
        }
        self.driver.stream_synchronize(self.workplace.stream)
    }

    /// Verifies each chunk at each address where it is mapped.
    pub(super) fn verify(&mut self, vector: &Vector<'_>) -> Result<()> {
        for (number, author) in (0..).zip(self.authors.clone()) {
            let Some(author) = author else { continue };
            for (age, buffer) in vector.places_of(number).into_iter().enumerate() {
                let right = self.look(number, buffer, author)?;
                self.verified_old += if age > 0 { right } else { 0 };
            }
        }
        Ok(())
    }

    /// Fills and verifies all chunks as one buffer, each with a single launch.
    pub(super) fn use_as_one(&mut self, vector: &Vector<'_>) -> Result<()> {
        let author = self.next_author();
        self.workplace.kernels.fill(vector.all(), author)?;
        self.driver.stream_synchronize(self.workplace.stream)?;
        self.look(0, vector.all(), author).map(drop)
    }

    /// Verifies one buffer. Gives how many bytes are right if all are.
    fn look(&mut self, number: u32, buffer: Buffer, author: Author) -> Result<u64> {
        let difference = self.verify_on.look(self.driver, &self.workplace.kernels, buffer, author)?;
        let right = if difference.is_none() { buffer.size.get() } else { 0 };
        self.verified += right;
        self.mismatch = self.mismatch.or(difference.map(|difference| difference.seen_by(self.worker, number)));
        Ok(right)
    }

    const fn next_author(&mut self) -> Author {
        self.fills += 1;
        Author { worker: self.worker, step: self.fills }
    }
}
