//! Where a history of medians steps up or down for good.
//!
//! Binary segmentation: the place that splits the values best is looked for, tested, and if it holds, both sides are
//! searched in turn. How well a place splits is the rank sum of one side in standard deviations (Mann and Whitney), so that
//! wild values count for no more than their rank. Whether it is better than chance would find somewhere is tested by
//! shuffling the ranks: a step is one that fewer than one in a hundred shuffles reach. The shuffles have a fixed seed, so that
//! the same files give the same page.
//!
//! What follows from that: six values on each side are enough, and of twenty a step shows once five lie behind it. Ranks do not
//! tell how far apart values are, so the place itself is then moved to where both sides are closest to their medians.

/// The fewest values on a side of a step.
const FEWEST: usize = 3;
/// How far a place is moved at most.
const NEAR: usize = 3;
/// Steps of a smaller share are not worth a look, however sure they are.
const LEAST: f64 = 0.03;
/// How often ranks are shuffled, and how many shuffles may split as well as what was found.
const SHUFFLES: usize = 999;
const CHANCE: usize = 9;
const SEED: u64 = 0x9E37_79B9_7F4A_7C15;

/// A step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    /// The first value behind it.
    pub(super) at: usize,
    /// The median of the values behind it, up to the next step, as a share of that before it, less 1: 0.1 is 10 % more.
    pub(super) change: f64,
}

/// The steps in a row of positive values.
pub(super) fn steps(values: &[f64]) -> Vec<Step> {
    let mut places = Vec::new();
    split(values, 0, &mut places);
    places.sort_unstable();
    let ends = places.iter().skip(1).copied().chain([values.len()]);
    let starts = [0].into_iter().chain(places.iter().copied());
    let pieces = starts.zip(&places).zip(ends);
    let steps =
        pieces.map(|((start, at), end)| Step { at: *at, change: change(&values[start..*at], &values[*at..end]) });
    steps.filter(|step| step.change.abs() >= LEAST).collect()
}

fn split(values: &[f64], start: usize, places: &mut Vec<usize>) {
    if values.len() < 2 * FEWEST {
        return;
    }
    let mut ranks = ranks(values);
    let (at, found) = best(&ranks);
    let (before, behind) = values.split_at(at);
    if change(before, behind).abs() < LEAST || !holds(&mut ranks, found) {
        return;
    }
    let at = moved(values, at);
    let (before, behind) = values.split_at(at);
    places.push(start + at);
    split(before, start, places);
    split(behind, start + at, places);
}

/// Twice the rank of each value, which is whole where equal values share a rank.
fn ranks(values: &[f64]) -> Vec<i64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|one, two| values[*one].total_cmp(&values[*two]));
    let mut ranks = vec![0; values.len()];
    let mut below = 0;
    for equal in order.chunk_by(|one, two| values[*one] == values[*two]) {
        let last = below + equal.len();
        equal.iter().for_each(|place| ranks[*place] = (below + 1 + last) as i64);
        below = last;
    }
    ranks
}

/// The place that splits best, and how well: the square of the rank sum's distance from its mean, in variances.
fn best(ranks: &[i64]) -> (usize, f64) {
    let count = ranks.len();
    let mut sum = 0;
    let mut best = (FEWEST, 0.0);
    for (number, rank) in ranks.iter().enumerate().take(count - FEWEST) {
        sum += rank;
        let (before, behind) = (number + 1, count - number - 1);
        let distance = (sum - (before * (count + 1)) as i64) as f64;
        let score = distance * distance / (before * behind) as f64;
        if before >= FEWEST && score > best.1 {
            best = (before, score);
        }
    }
    best
}

/// Whether shuffled ranks split as well only rarely.
fn holds(ranks: &mut [i64], found: f64) -> bool {
    let mut state = SEED;
    let mut reached = 0;
    for _ in 0..SHUFFLES {
        shuffle(ranks, &mut state);
        reached += usize::from(best(ranks).1 >= found);
        if reached > CHANCE {
            return false;
        }
    }
    true
}

/// A shuffle by xorshift; that its numbers are not perfectly even matters less than the count of shuffles.
fn shuffle(ranks: &mut [i64], state: &mut u64) {
    for last in (1..ranks.len()).rev() {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        ranks.swap(last, (*state % (last as u64 + 1)) as usize);
    }
}

/// The place near another one at which both sides are closest to their medians.
fn moved(values: &[f64], at: usize) -> usize {
    let near = at.saturating_sub(NEAR).max(FEWEST)..=(at + NEAR).min(values.len() - FEWEST);
    let distance = |at: &usize| {
        let (before, behind) = values.split_at(*at);
        [before, behind].map(spread).iter().sum::<f64>()
    };
    near.min_by(|one, two| distance(one).total_cmp(&distance(two))).unwrap_or(at)
}

/// How far values lie from their median, all together.
fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    values.iter().map(|value| (value - middle).abs()).sum()
}

fn change(before: &[f64], behind: &[f64]) -> f64 {
    let ratio = median(behind) / median(before);
    if ratio.is_finite() { ratio - 1.0 } else { 0.0 }
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { f64::midpoint(sorted[middle - 1], sorted[middle]) } else { sorted[middle] }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that go up and down a little around each of some levels.
    fn levels(levels: &[(f64, usize)]) -> Vec<f64> {
        let values = levels.iter().flat_map(|(level, count)| std::iter::repeat_n(*level, *count));
        values.enumerate().map(|(number, level)| level * (1.0 + 0.004 * ((number * 7 % 5) as f64 - 2.0))).collect()
    }

    fn places(values: &[f64]) -> Vec<usize> {
        steps(values).iter().map(|step| step.at).collect()
    }

    #[test]
    fn a_step_is_found_where_it_is() {
        let found = steps(&levels(&[(100.0, 12), (110.0, 9)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].at, 12);
        assert!((found[0].change - 0.1).abs() < 0.01, "{found:?}");
    }

    #[test]
    fn steps_up_and_down_are_both_found() {
        assert_eq!(places(&levels(&[(100.0, 15), (120.0, 15), (95.0, 15)])), [15, 30]);
    }

    #[test]
    fn six_on_each_side_are_enough_and_fewer_are_not() {
        assert_eq!(places(&levels(&[(100.0, 6), (120.0, 6)])), [6]);
        assert_eq!(places(&levels(&[(100.0, 5), (120.0, 5)])), [0; 0]);
        assert_eq!(places(&levels(&[(100.0, 15), (120.0, 5)])), [15]);
        assert_eq!(places(&levels(&[(100.0, 13), (120.0, 7)])), [13]);
    }

    #[test]
    fn noise_wild_values_and_small_steps_are_none() {
        let mut values = levels(&[(100.0, 30)]);
        assert_eq!(places(&values), [0; 0]);
        values[7] = 900.0;
        values[20] = 1.0;
        assert_eq!(places(&values), [0; 0]);
        assert_eq!(places(&levels(&[(100.0, 15), (101.0, 15)])), [0; 0]);
    }

    /// Thirty values with noise of 2 %, as the sum of even numbers has it; those from the seventeenth on are `factor` times as high.
    fn noisy(seed: u64, factor: f64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(SEED);
        let mut even = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
        };
        let mut noise = || 1.0 + 0.02 * (0..12).map(|_| even()).sum::<f64>();
        (0..30).map(|number| noise() * if number < 16 { 100.0 } else { 100.0 * factor }).collect()
    }

    #[test]
    fn a_step_of_eight_percent_is_found_in_noise_of_two_and_noise_alone_has_none() {
        let found = (1..=200).filter(|seed| matches!(*places(&noisy(*seed, 1.08)), [15..=17])).count();
        assert!(found >= 195, "{found} of 200");
        let invented = (1..=200).filter(|seed| !places(&noisy(*seed, 1.0)).is_empty()).count();
        assert!(invented <= 2, "{invented} of 200");
    }

    #[test]
    fn rows_without_any_change_or_value_have_no_step() {
        assert_eq!(places(&[5.0; 40]), [0; 0]);
        assert_eq!(places(&[0.0; 40]), [0; 0]);
        assert_eq!(places(&[]), [0; 0]);
    }
}
