//! Where lanes that parted at a branch meet again.

use peermap_ptx::analysis::BlockId;

use super::mask::Mask;
use super::schedule::Group;

/// A meeting, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeetingId(u32);

/// Lanes that wait for each other before a block.
#[derive(Clone, Debug)]
struct Meeting {
    at: BlockId,
    arrived: Mask,
    missing: Mask,
    /// What scalars held for those who arrived last.
    scalars: Vec<u64>,
    /// Where they meet those that they parted from before.
    outer: Option<MeetingId>,
}

/// The meetings of a block of threads, each within the one before.
#[derive(Default)]
pub(crate) struct Meetings {
    /// `None` is a number that is free.
    all: Vec<Option<Meeting>>,
}

impl Meetings {
    /// Whether a meeting is before this block.
    pub(crate) fn is_at(&self, meeting: Option<MeetingId>, block: BlockId) -> bool {
        meeting.is_some_and(|id| self.get(id).is_some_and(|meeting| meeting.at == block))
    }

    /// The meeting of a group that parts, at the given block. Groups that part over and over, as in a loop, meet at one.
    pub(crate) fn for_those_who_part(&mut self, at: Option<BlockId>, group: &Group) -> Option<MeetingId> {
        let Some(at) = at.filter(|at| !self.is_at(group.meeting, *at)) else { return group.meeting };
        let meeting =
            Meeting { at, arrived: Mask::NONE, missing: group.lanes, scalars: Vec::new(), outer: group.meeting };
        let free = self.all.iter().position(Option::is_none).unwrap_or(self.all.len());
        if free == self.all.len() {
            self.all.push(None);
        }
        self.all[free] = Some(meeting);
        Some(MeetingId(free as u32))
    }

    /// Lanes have come to their meeting. If nobody is missing any more, all go on.
    pub(crate) fn arrive(
        &mut self,
        id: Option<MeetingId>,
        lanes: Mask,
        scalars: Vec<u64>,
    ) -> Option<(Group, Vec<u64>)> {
        let meeting = self.all[id?.0 as usize].as_mut()?;
        meeting.arrived = meeting.arrived.or(&lanes);
        meeting.missing = meeting.missing.and_not(&lanes);
        meeting.scalars = scalars;
        if meeting.missing.is_empty() { self.close(id?) } else { None }
    }

    /// Lanes have ended, and nobody waits for them any more.
    pub(crate) fn forget(&mut self, lanes: &Mask) -> Vec<(Group, Vec<u64>)> {
        let mut complete = Vec::new();
        for (number, meeting) in self.all.iter_mut().enumerate() {
            if let Some(meeting) = meeting {
                meeting.missing = meeting.missing.and_not(lanes);
                if meeting.missing.is_empty() {
                    complete.push(MeetingId(number as u32));
                }
            }
        }
        complete.into_iter().filter_map(|id| self.close(id)).collect()
    }

    /// Lets those go on who wait, without the others: of several meetings, at the one that was made last.
    pub(crate) fn split(&mut self) -> Option<(Group, Vec<u64>)> {
        let waited_for = |meeting: &Option<Meeting>| meeting.as_ref().is_some_and(|it| !it.arrived.is_empty());
        let number = self.all.iter().rposition(waited_for)?;
        let meeting = self.all[number].as_mut()?;
        let lanes = std::mem::replace(&mut meeting.arrived, Mask::NONE);
        let group = Group { block: meeting.at, step: 0, lanes, meeting: meeting.outer };
        Some((group, meeting.scalars.clone()))
    }

    fn get(&self, id: MeetingId) -> Option<&Meeting> {
        self.all[id.0 as usize].as_ref()
    }

    /// Ends a meeting; those who waited go on together.
    fn close(&mut self, id: MeetingId) -> Option<(Group, Vec<u64>)> {
        let meeting = self.all[id.0 as usize].take()?;
        if meeting.arrived.is_empty() {
            return None;
        }
        let group = Group { block: meeting.at, step: 0, lanes: meeting.arrived, meeting: meeting.outer };
        Some((group, meeting.scalars))
    }
}
