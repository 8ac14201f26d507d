//! Who fills which buffer when.

use crate::content::Author;

/// The buffer that `worker` fills in `step`, of as many as there are workers.
pub(super) fn buffer_of(worker: u32, step: u32, workers: u32) -> u32 {
    ((u64::from(step) + u64::from(worker)) % u64::from(workers.max(1))) as u32
}

/// Who filled `buffer` in the last step.
pub(super) fn last_author(buffer: u32, workers: u32) -> Author {
    Author { worker: buffer_of(buffer, 1, workers), step: workers.saturating_sub(1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays all steps and gives the last author of each buffer.
    fn play(workers: u32) -> Vec<Option<Author>> {
        let mut authors = vec![None; workers as usize];
        for step in 0..workers {
            for worker in 0..workers {
                authors[buffer_of(worker, step, workers) as usize] = Some(Author { worker, step });
            }
        }
        authors
    }

    #[test]
    fn after_all_steps_a_buffer_holds_what_its_next_neighbour_wrote() {
        for workers in 1..=9 {
            let expected: Vec<_> = (0..workers).map(|buffer| Some(last_author(buffer, workers))).collect();
            assert_eq!(play(workers), expected, "{workers} workers");
        }
    }

    #[test]
    fn in_one_step_no_two_workers_fill_the_same_buffer() {
        for step in 0..7 {
            let buffers: std::collections::BTreeSet<u32> = (0..7).map(|worker| buffer_of(worker, step, 7)).collect();
            assert_eq!(buffers.len(), 7);
        }
    }
}
