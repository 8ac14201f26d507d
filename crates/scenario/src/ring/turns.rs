//! Who fills which buffer when.

use crate::content::Author;

/// The buffer that `worker` fills in `step`. There are as many buffers as workers.
pub(crate) fn buffer_of(worker: u32, step: u32, workers: u32) -> u32 {
    ((u64::from(step) + u64::from(worker)) % u64::from(workers.max(1))) as u32
}

/// Who filled `buffer` in the last of `steps`.
pub(crate) fn last_author(buffer: u32, workers: u32, steps: u32) -> Author {
    let (workers, step) = (workers.max(1), steps.saturating_sub(1));
    // The worker from which `step` steps lead to the buffer.
    Author { worker: buffer_of(buffer, workers - step % workers, workers), step }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays all steps and gives the last author of each buffer.
    fn play(workers: u32, steps: u32) -> Vec<Option<Author>> {
        let mut authors = vec![None; workers as usize];
        for step in 0..steps {
            for worker in 0..workers {
                authors[buffer_of(worker, step, workers) as usize] = Some(Author { worker, step });
            }
        }
        authors
    }

    #[test]
    fn after_any_number_of_steps_the_last_author_of_each_buffer_is_known() {
        for (workers, steps) in (1..=9).flat_map(|workers| (1..=20).map(move |steps| (workers, steps))) {
            let expected: Vec<_> = (0..workers).map(|buffer| Some(last_author(buffer, workers, steps))).collect();
            assert_eq!(play(workers, steps), expected, "{workers} workers, {steps} steps");
        }
    }

    #[test]
    fn after_as_many_steps_as_workers_a_buffer_holds_what_its_next_neighbour_wrote() {
        let authors: Vec<u32> = (0..5).map(|buffer| last_author(buffer, 5, 5).worker).collect();
        assert_eq!(authors, [1, 2, 3, 4, 0]);
    }

    #[test]
    fn in_one_step_no_two_workers_fill_the_same_buffer() {
        for step in 0..7 {
            let buffers: std::collections::BTreeSet<u32> = (0..7).map(|worker| buffer_of(worker, step, 7)).collect();
            assert_eq!(buffers.len(), 7);
        }
    }
}
