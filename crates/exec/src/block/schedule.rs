//! Which lanes of a block run together, which are ready, and which wait for others.

use peermap_ptx::analysis::BlockId;

use super::frame::Frame;
use super::mask::Mask;
use super::meeting::{MeetingId, Meetings};
use crate::step::Target;

/// Lanes that run together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// The basic block that they are in.
    pub(crate) block: BlockId,
    /// The step of it that is next.
    pub(crate) step: u32,
    pub(crate) lanes: Mask,
    /// Where they wait for those that they parted from; without one they run to their end.
    pub(crate) meeting: Option<MeetingId>,
}

/// What lanes wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// A barrier of the block.
    Barrier { number: u32, instruction: u32 },
    /// Lanes that must come to this very step.
    Step { needs: Mask, instruction: u32 },
    /// Lanes that must come to a barrier of their warp.
    Warp { needs: Mask, instruction: u32 },
}

/// A group that does not run, with what scalars held when it ran last.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parked {
    group: Group,
    scalars: Vec<u64>,
    /// What it gets when it goes on.
    result: Option<(Target, u64)>,
}

/// What comes after the running lanes have gone somewhere.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Lanes run.
    Runs,
    /// All lanes have ended.
    Ended,
    /// All lanes wait for others.
    Stuck,
}

/// All lanes of a block: those that run, those that wait, those that have ended.
pub(crate) struct Schedule<'p> {
    pub(crate) running: Group,
    ready: Vec<Parked>,
    held: Vec<(Parked, Wait)>,
    meetings: Meetings,
    alive: Mask,
    /// The scalars that groups which part must not share, as long as they part at branches only.
    restored: &'p [u32],
    /// Whether groups run the same instructions one after the other for another reason than a branch: then they share no
    /// scalar at all.
    apart: bool,
    /// How many groups had their turn since the block last rested.
    turns: usize,
}

impl<'p> Schedule<'p> {
    pub(crate) fn new(lanes: Mask, restored: &'p [u32]) -> Self {
        Self {
            running: Group { block: BlockId(0), step: 0, lanes, meeting: None },
            ready: Vec::new(),
            held: Vec::new(),
            meetings: Meetings::default(),
            alive: lanes,
            restored,
            apart: false,
            turns: 0,
        }
    }

    /// The lanes that have not ended.
    pub(crate) fn alive(&self) -> &Mask {
        &self.alive
    }

    /// Sends the running lanes to a block; `None` is their end.
    pub(crate) fn go(&mut self, next: Option<BlockId>, frame: &mut Frame) -> Next {
        match next {
            None => {
                self.end(self.running.lanes);
                self.resume(frame)
            }
            Some(block) if self.meetings.is_at(self.running.meeting, block) => self.meet(frame),
            Some(block) => {
                (self.running.block, self.running.step) = (block, 0);
                Next::Runs
            }
        }
    }

    /// Sends the lanes of `taken` one way and the other running ones another, to meet again at `meeting`.
    pub(crate) fn part(
        &mut self,
        (taken, first): (Mask, Option<BlockId>),
        other: Option<BlockId>,
        meeting: Option<BlockId>,
        frame: &mut Frame,
    ) -> Next {
        let rest = self.running.lanes.and_not(&taken);
        if rest.is_empty() {
            return self.go(first, frame);
        }
        if taken.is_empty() {
            return self.go(other, frame);
        }
        let meeting = self.meetings.for_those_who_part(meeting, &self.running);
        for (lanes, target) in [(rest, other), (taken, first)] {
            match target {
                None => self.end(lanes),
                Some(block) if self.meetings.is_at(meeting, block) => {
                    let met = self.meetings.arrive(meeting, lanes, self.save(frame));
                    self.make_ready(met);
                }
                Some(block) => {
                    let group = Group { block, step: 0, lanes, meeting };
                    self.ready.push(Parked { group, scalars: self.save(frame), result: None });
                }
            }
        }
        self.resume(frame)
    }

    /// Holds some of the running lanes, which go on after the given steps.
    pub(crate) fn hold(&mut self, lanes: Mask, steps: u32, wait: Wait, frame: &Frame) {
        let group = self.take_out(lanes, steps);
        self.held.push((Parked { group, scalars: self.save(frame), result: None }, wait));
    }

    /// What held groups wait for, and which lanes they have.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (Wait, Mask)> + '_ {
        self.held.iter().map(|(parked, wait)| (*wait, parked.group.lanes))
    }

    /// Takes those into the running group who are held at its step and came there in the same way.
    pub(crate) fn absorb(&mut self, frame: &Frame) {
        let scalars = self.save(frame);
        let running = &mut self.running;
        self.held.retain(|(parked, wait)| {
            let here = Group { lanes: running.lanes, ..parked.group } == *running && parked.scalars == scalars;
            let absorbed = here && matches!(wait, Wait::Step { .. });
            if absorbed {
                running.lanes = running.lanes.or(&parked.group.lanes);
            }
            !absorbed
        });
    }

    /// The lanes that are held at the step of the running group.
    pub(crate) fn held_here(&self) -> Mask {
        let here = |group: &Group| (group.block, group.step) == (self.running.block, self.running.step);
        let held = self.held.iter().filter(|(parked, wait)| matches!(wait, Wait::Step { .. }) && here(&parked.group));
        held.fold(Mask::NONE, |all, (parked, _)| all.or(&parked.group.lanes))
    }

    /// Lets the held groups go on for which `result` says what they get. Those that stand at the same step go on together.
    pub(crate) fn release(&mut self, mut result: impl FnMut(Wait) -> Option<Option<(Target, u64)>>) {
        let mut kept = Vec::new();
        for (mut parked, wait) in std::mem::take(&mut self.held) {
            let Some(gets) = result(wait) else {
                kept.push((parked, wait));
                continue;
            };
            parked.result = gets;
            let same = |other: &&mut Parked| {
                Group { lanes: parked.group.lanes, ..other.group } == parked.group
                    && (&other.scalars, other.result) == (&parked.scalars, parked.result)
            };
            match self.ready.iter_mut().find(same) {
                Some(other) => other.group.lanes = other.group.lanes.or(&parked.group.lanes),
                None => self.ready.push(parked),
            }
        }
        self.held = kept;
    }

    /// Lets other groups run first. True if all had a turn, and the block may rest.
    pub(crate) fn take_turns(&mut self, frame: &mut Frame) -> bool {
        self.turns += 1;
        let mut rests = false;
        if self.turns > self.ready.len() {
            self.turns = 0;
            // What runs may wait for those that wait for it at a meeting.
            rests = !self.split_meeting();
        }
        if !self.ready.is_empty() {
            let parked = Parked { group: self.running, scalars: self.save(frame), result: None };
            self.ready.insert(0, parked);
            let next = self.resume(frame);
            debug_assert_eq!(next, Next::Runs, "a group was ready");
        }
        rests
    }

    fn take_out(&mut self, lanes: Mask, steps: u32) -> Group {
        let rest = self.running.lanes.and_not(&lanes);
        self.apart |= !rest.is_empty();
        let group = Group { lanes, step: self.running.step + steps, ..self.running };
        self.running.lanes = rest;
        group
    }

    /// The running lanes have come to the place where they meet others.
    fn meet(&mut self, frame: &mut Frame) -> Next {
        let Group { lanes, meeting, .. } = self.running;
        if let Some((group, _)) = self.meetings.arrive(meeting, lanes, self.save(frame)) {
            self.running = group;
            return Next::Runs;
        }
        self.resume(frame)
    }

    fn end(&mut self, lanes: Mask) {
        self.alive = self.alive.and_not(&lanes);
        let met = self.meetings.forget(&lanes);
        self.make_ready(met);
    }

    fn make_ready(&mut self, met: impl IntoIterator<Item = (Group, Vec<u64>)>) {
        self.ready.extend(met.into_iter().map(|(group, scalars)| Parked { group, scalars, result: None }));
    }

    /// Goes on with lanes that are ready.
    pub(crate) fn resume(&mut self, frame: &mut Frame) -> Next {
        loop {
            if let Some(Parked { group, scalars, result }) = self.ready.pop() {
                self.restore(&scalars, frame);
                if let Some((target, value)) = result {
                    frame.set(target, &group.lanes, value);
                }
                self.running = group;
                return Next::Runs;
            }
            if self.alive.is_empty() {
                return Next::Ended;
            }
            if !self.split_meeting() {
                return Next::Stuck;
            }
        }
    }

    /// Sends those on who wait at a meeting, without the others: nothing obliges threads to meet. False if nobody waits.
    fn split_meeting(&mut self) -> bool {
        let split = self.meetings.split();
        let any = split.is_some();
        self.apart |= any;
        self.make_ready(split);
        any
    }

    fn save(&self, frame: &Frame) -> Vec<u64> {
        match self.apart {
            true => frame.scalars().to_vec(),
            false => self.restored.iter().map(|word| frame.scalar(*word)).collect(),
        }
    }

    /// Groups that parted before they shared nothing have saved fewer scalars than those after.
    fn restore(&self, saved: &[u64], frame: &mut Frame) {
        if saved.len() == self.restored.len() {
            self.restored.iter().zip(saved).for_each(|(word, value)| frame.set_scalar(*word, *value));
        } else {
            frame.set_scalars(saved);
        }
    }
}
