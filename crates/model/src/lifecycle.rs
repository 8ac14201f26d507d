//! The life of a handle to memory in one process, as a table.

use peermap_driver::{CallSite, DriverError, MemHandle};

use crate::rule::Rule;
use crate::rules;

/// A handle value of one process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandleState {
    /// Obtained more often than released.
    Held {
        /// How much more often: at least once.
        references: u32,
        /// Mappings made with it.
        mappings: u32,
    },
    /// Released; mappings made with it keep the memory.
    Mapped {
        /// How many: at least one.
        mappings: u32,
    },
    /// Nothing is left of it but its value.
    Gone,
}

/// What can happen to a handle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandleEvent {
    /// One reference more, by way of a mapping.
    Retain,
    /// One reference less.
    Release,
    /// One mapping more.
    Map,
    /// One mapping less.
    Unmap,
    /// Anything else that a call does with it.
    Use,
}

impl HandleState {
    /// A handle that was just handed out.
    pub const NEW: Self = Self::Held { references: 1, mappings: 0 };

    /// What becomes of the handle.
    ///
    /// # Errors
    /// The rule that forbids it.
    ///
    /// # Panics
    /// On an unmap where nothing is mapped, or where a count would overflow: a bug of the caller.
    pub fn step(self, event: HandleEvent) -> Result<Self, &'static Rule> {
        use HandleEvent::{Map, Release, Retain, Unmap, Use};
        match (self, event) {
            (Self::Held { references, mappings }, Retain) => {
                Ok(Self::Held { references: references.checked_add(1).expect("fewer than 2^32 references"), mappings })
            }
            (Self::Held { references: 1, mappings: 0 }, Release) => Ok(Self::Gone),
            (Self::Held { references: 1, mappings }, Release) => Ok(Self::Mapped { mappings }),
            (Self::Held { references, mappings }, Release) => Ok(Self::Held { references: references - 1, mappings }),
            (Self::Held { references, mappings }, Map) => {
                Ok(Self::Held { references, mappings: mappings.checked_add(1).expect("fewer than 2^32 mappings") })
            }
            (Self::Held { references, mappings }, Unmap) => {
                Ok(Self::Held { references, mappings: mappings.checked_sub(1).expect("an unmap ends a mapping") })
            }
            (Self::Held { .. }, Use) => Ok(self),
            (Self::Mapped { mappings }, Retain) => Ok(Self::Held { references: 1, mappings }),
            (Self::Mapped { mappings: 1 }, Unmap) => Ok(Self::Gone),
            (Self::Mapped { mappings }, Unmap) => Ok(Self::Mapped { mappings: mappings - 1 }),
            (Self::Mapped { .. } | Self::Gone, Release) => Err(&rules::RELEASE_1),
            (Self::Mapped { .. } | Self::Gone, Map | Use) => Err(&rules::HANDLE_1),
            (Self::Gone, Retain) => Err(&rules::RETAIN_1),
            (Self::Gone, Unmap) => unreachable!("an unmap ends a mapping, and a mapping keeps its handle"),
        }
    }

    /// Whether anything of the handle keeps the memory.
    #[must_use]
    pub const fn keeps_memory(self) -> bool {
        !matches!(self, Self::Gone)
    }
}

/// The end of a call that broke a rule about a handle: a refusal, or the crash of the real driver.
pub(crate) fn handle_error(rule: &'static Rule, handle: MemHandle, made: Option<CallSite>) -> DriverError {
    if rule.crashes() { rule.crash(&[("handle", &handle)], made) } else { rule.refuse(&[("handle", &handle)], made) }
}

#[cfg(test)]
mod tests {
    use super::HandleEvent::{Map, Release, Retain, Unmap, Use};
    use super::*;

    const HELD: HandleState = HandleState::NEW;
    const HELD_TWICE: HandleState = HandleState::Held { references: 2, mappings: 0 };
    const HELD_MAPPED: HandleState = HandleState::Held { references: 1, mappings: 1 };
    const MAPPED: HandleState = HandleState::Mapped { mappings: 1 };
    const MAPPED_TWICE: HandleState = HandleState::Mapped { mappings: 2 };

    #[test]
    fn the_whole_table() {
        let rows: &[(HandleState, HandleEvent, Result<HandleState, &str>)] = &[
            (HELD, Retain, Ok(HELD_TWICE)),
            (HELD, Release, Ok(HandleState::Gone)),
            (HELD, Map, Ok(HELD_MAPPED)),
            (HELD, Use, Ok(HELD)),
            (HELD_TWICE, Release, Ok(HELD)),
            (HELD_MAPPED, Retain, Ok(HandleState::Held { references: 2, mappings: 1 })),
            (HELD_MAPPED, Release, Ok(MAPPED)),
            (HELD_MAPPED, Map, Ok(HandleState::Held { references: 1, mappings: 2 })),
            (HELD_MAPPED, Unmap, Ok(HELD)),
            (HELD_MAPPED, Use, Ok(HELD_MAPPED)),
            (MAPPED, Retain, Ok(HELD_MAPPED)),
            (MAPPED, Release, Err("RELEASE-1")),
            (MAPPED, Map, Err("HANDLE-1")),
            (MAPPED, Unmap, Ok(HandleState::Gone)),
            (MAPPED, Use, Err("HANDLE-1")),
            (MAPPED_TWICE, Unmap, Ok(MAPPED)),
            (HandleState::Gone, Retain, Err("RETAIN-1")),
            (HandleState::Gone, Release, Err("RELEASE-1")),
            (HandleState::Gone, Map, Err("HANDLE-1")),
            (HandleState::Gone, Use, Err("HANDLE-1")),
        ];
        for (state, event, expected) in rows {
            let got = state.step(*event).map_err(|rule| rule.id.0);
            assert_eq!(got, *expected, "{state:?} {event:?}");
        }
    }

    #[test]
    #[should_panic(expected = "an unmap ends a mapping")]
    fn an_unmap_without_a_mapping_is_a_bug() {
        let _ = HELD.step(Unmap);
    }
}
