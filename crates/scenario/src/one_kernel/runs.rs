//! What a buffer holds, in short.

/// Bytes as runs of equal ones, of which the first few are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Runs {
    kept: Vec<(u8, u64)>,
    left_out: u64,
    last: Option<u8>,
}

impl Runs {
    /// How many runs are kept.
    pub const MOST: usize = 48;

    /// Adds the bytes that follow.
    pub fn extend(&mut self, bytes: &[u8]) {
        for run in bytes.chunk_by(u8::eq) {
            let (byte, count) = (run[0], run.len() as u64);
            let goes_on = self.last.replace(byte) == Some(byte);
            let has_room = self.kept.len() < Self::MOST;
            match self.kept.last_mut() {
                Some((_, length)) if goes_on && self.left_out == 0 => *length += count,
                _ if goes_on => {}
                _ if has_room => self.kept.push((byte, count)),
                _ => self.left_out += 1,
            }
        }
    }

    /// The first runs: a byte and how often it stands there.
    #[must_use]
    pub fn kept(&self) -> &[(u8, u64)] {
        &self.kept
    }

    /// How many runs came after them.
    #[must_use]
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(pieces: &[&[u8]]) -> Runs {
        let mut runs = Runs::default();
        pieces.iter().for_each(|piece| runs.extend(piece));
        runs
    }

    #[test]
    fn a_run_goes_on_from_one_piece_to_the_next() {
        let runs = runs(&[&[7, 7, 0], &[], &[0, 0], &[7]]);
        assert_eq!(runs.kept(), [(7, 2), (0, 3), (7, 1)]);
        assert_eq!(runs.left_out(), 0);
    }

    #[test]
    fn forty_eight_are_kept_and_the_rest_is_counted() {
        let bytes: Vec<u8> = (0..100).collect();
        assert_eq!(runs(&[&bytes[..48]]).left_out(), 0);
        let all = runs(&[&bytes, &[99, 99], &[98]]);
        assert_eq!(all.kept().len(), Runs::MOST);
        assert_eq!(all.kept()[47], (47, 1));
        assert_eq!(all.left_out(), 53);
    }
}
