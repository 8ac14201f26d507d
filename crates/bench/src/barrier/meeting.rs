//! Processes that meet at a barrier when they are told to.

use std::os::fd::AsFd;

use super::member::Kind;
use crate::error::BenchError;
use crate::partner::{Order, Partner};
use crate::rig::Starter;

/// Rounds of one order. What a partner answers has to fit one message.
const ROUNDS_AT_ONCE: u32 = 4000;

/// Processes that meet at a barrier when they are told to. They end when this is dropped.
pub struct Meeting {
    partners: Vec<Partner>,
}

impl Meeting {
    /// Starts so many processes on so many cores.
    ///
    /// # Errors
    /// If the host has no process, descriptor or memory left.
    pub fn start(starter: &dyn Starter, kind: Kind, members: u32, cores: usize) -> Result<Self, BenchError> {
        let memory = kind.memory(members)?;
        let mut partners = Vec::new();
        for member in 0..members {
            let mut partner = Partner::start(starter, false)?;
            partner.order(&Order::Join { kind, member, members, cores }, &[memory.as_fd()])?;
            partner.done()?;
            partners.push(partner);
        }
        Ok(Self { partners })
    }

    /// How long each of `count` rounds took, from one passage of the first member to its next, in nanoseconds.
    ///
    /// # Errors
    /// If a member has died.
    pub fn rounds(&mut self, count: u32) -> Result<Vec<f64>, BenchError> {
        let mut took = Vec::new();
        let mut left = count;
        while left > 0 {
            let rounds = left.min(ROUNDS_AT_ONCE);
            for partner in &mut self.partners {
                partner.order(&Order::Meet { rounds }, &[])?;
            }
            took.extend(self.answers()?);
            left -= rounds;
        }
        Ok(took)
    }

    /// Hears all, in whatever order they answer: where one has died the others would wait for it. Gives what the first member says.
    fn answers(&mut self) -> Result<Vec<f64>, BenchError> {
        let mut took = Vec::new();
        let mut silent: Vec<usize> = (0..self.partners.len()).collect();
        while !silent.is_empty() {
            let partners = self.partners.iter_mut().enumerate().filter(|(member, _)| silent.contains(member));
            let mut partners: Vec<&mut Partner> = partners.map(|(_, partner)| partner).collect();
            let heard = Partner::first_of(&mut partners)?;
            let rounds = partners[heard].done()?;
            if silent.remove(heard) == 0 {
                took = rounds;
            }
        }
        Ok(took)
    }
}
