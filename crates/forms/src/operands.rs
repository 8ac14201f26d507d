//! The operands that every form is run on.

use crate::form::{Form, Operands};

/// The operands of one thread.
pub type Row = Operands;

/// So many rows are random, as the docs of [`rows`] say.
const RANDOM: usize = 1000;

/// So many edges of each operand are combined with all of the others, by how many operands there are.
const COMBINED: [usize; 5] = [0, usize::MAX, 24, 9, 5];

/// The rows that a form is run on: its edges in all combinations, then 1,000 random rows. The same seed gives the
/// same rows.
#[must_use]
pub fn rows(form: &Form, seed: u64) -> Vec<Row> {
    let count = form.operands();
    let edges = &form.edges[..form.edges.len().min(COMBINED[count])];
    let mut rows = vec![[0; 4]];
    for operand in 0..count {
        let with = |row: &Row| {
            let row = *row;
            edges.iter().map(move |edge| {
                let mut row = row;
                row[operand] = *edge;
                row
            })
        };
        rows = rows.iter().flat_map(with).collect();
    }
    let mut random = Random(seed);
    rows.extend(
        (0..RANDOM).map(|_| std::array::from_fn(|operand| if operand < count { random.operand(form) } else { 0 })),
    );
    rows
}

/// The generator "splitmix64".
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// An edge, a small number, some bits, or any bits.
    fn operand(&mut self, form: &Form) -> u64 {
        let any = self.next();
        match self.next() % 4 {
            0 => form.edges[any as usize % form.edges.len()],
            1 => any % 72,
            2 => any >> (self.next() % 64),
            _ => any,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Reference;

    fn form(text: &'static str) -> Form {
        Form { text, sm: 70, edges: &[1, 2, 3], reference: Reference::One(|[a, ..]| a) }
    }

    #[test]
    fn edges_are_combined_and_the_rest_is_random() {
        let rows = rows(&form("add.u32 %x32, %a32, %b32;"), 7);
        assert_eq!(rows.len(), 9 + RANDOM);
        assert_eq!((rows[0], rows[1], rows[3]), ([1, 1, 0, 0], [1, 2, 0, 0], [2, 1, 0, 0]));
        assert!(rows.iter().all(|row| row[2..] == [0, 0]));
    }

    #[test]
    fn a_seed_gives_the_same_rows_and_another_gives_others() {
        let form = form("neg.s32 %x32, %a32;");
        assert_eq!(rows(&form, 1), rows(&form, 1));
        assert_ne!(rows(&form, 1), rows(&form, 2));
    }
}
