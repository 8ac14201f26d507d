//! Comparing, and finding the simplest operands that differ.

use std::fmt;

use thiserror::Error;

use crate::form::Form;
use crate::operands::{Row, rows};
use crate::program::{Program, Spread};

/// A result that is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The form.
    pub form: &'static str,
    /// How operands were given to threads.
    pub spread: Spread,
    /// The operands.
    pub operands: Row,
    /// What `%x` and `%y` must hold.
    pub expected: [u64; 2],
    /// What they hold.
    pub found: [u64; 2],
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { form, spread, operands, expected, found } = self;
        let list = |words: &[u64]| words.iter().map(|word| format!("{word:#x}")).collect::<Vec<_>>().join(", ");
        let (operands, expected, found) = (list(operands), list(expected), list(found));
        write!(formatter, "`{form}` ({spread:?}) of {operands} gives {found} instead of {expected}")
    }
}

/// Why a form is not confirmed.
#[derive(Debug, Error)]
pub enum Failure<E> {
    /// It could not be run.
    #[error("`{form}` could not be run")]
    Run {
        /// The form.
        form: &'static str,
        /// Why not.
        source: E,
    },
    /// It computes something else.
    #[error("{0}")]
    Differs(Box<Mismatch>),
}

/// Runs a form on its rows and compares what `run` says the results hold. If any are wrong, looks for the simplest
/// operands for which they are.
///
/// # Errors
/// [`Failure`].
pub fn check<E>(
    form: &Form,
    spread: Spread,
    seed: u64,
    mut run: impl FnMut(&Program) -> Result<Vec<u8>, E>,
) -> Result<(), Failure<E>> {
    let mut differing = |rows: &[Row]| -> Result<Option<Mismatch>, Failure<E>> {
        let program = Program::new(form, spread, rows);
        let results = run(&program).map_err(|source| Failure::Run { form: form.text, source })?;
        let mismatches = program.outcomes(&results).filter_map(|(operands, found)| {
            let expected = form.expected(operands);
            (found != expected).then_some(Mismatch { form: form.text, spread, operands, expected, found })
        });
        Ok(mismatches.min_by_key(|mismatch| weight(&mismatch.operands)))
    };
    let Some(mut simplest) = differing(&rows(form, seed))? else { return Ok(()) };
    while let Some(simpler) = differing(&simplifications(simplest.operands))?
        .filter(|simpler| weight(&simpler.operands) < weight(&simplest.operands))
    {
        simplest = simpler;
    }
    Err(Failure::Differs(Box::new(simplest)))
}

/// How complicated operands are: how many bits they have, and how many of these are set.
fn weight(operands: &Row) -> u32 {
    operands.iter().map(|operand| 64 - operand.leading_zeros() + operand.count_ones()).sum()
}

/// Operands of which one is simpler.
fn simplifications(operands: Row) -> Vec<Row> {
    let with = |place: usize, value: u64| {
        let mut simpler = operands;
        simpler[place] = value;
        simpler
    };
    (0..operands.len())
        .flat_map(|place| {
            let operand = operands[place];
            let halves = (0..6).map(move |power| operand & (u64::MAX >> (1 << power)));
            let bits = (0..64).map(move |bit| operand & !(1 << bit));
            let simple = [0, 1, operand >> 1, operand >> 8];
            simple.into_iter().chain(halves).chain(bits).map(move |value| with(place, value))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::form::Reference;

    const DOUBLE: Form = Form {
        text: "add.u64 %x64, %a64, %a64;",
        sm: 70,
        edges: &[0, u64::MAX],
        reference: Reference::One(|[a, ..]| a.wrapping_mul(2)),
    };

    /// What a machine gives that computes so.
    fn results(program: &Program, compute: fn(u64) -> u64) -> Result<Vec<u8>, Infallible> {
        let pairs = program.rows.iter().map(|row| [compute(row[0]).to_le_bytes(), [0; 8], [0; 8], [0; 8]].concat());
        Ok(pairs.collect::<Vec<_>>().concat())
    }

    #[test]
    fn a_machine_that_computes_right_is_confirmed() {
        for spread in Spread::ALL {
            check(&DOUBLE, spread, 3, |program| results(program, |a| a << 1)).unwrap();
        }
    }

    #[test]
    fn the_simplest_operand_that_differs_is_found() {
        let wrong = |a: u64| if a & 0x100 == 0 { a << 1 } else { a };
        for spread in Spread::ALL {
            let failure = check(&DOUBLE, spread, 3, |program| results(program, wrong)).unwrap_err();
            assert!(matches!(&failure, Failure::Differs(it) if it.operands == [0x100, 0, 0, 0]), "{failure}");
        }
    }
}
