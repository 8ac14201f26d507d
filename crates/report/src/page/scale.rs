//! From values to places in a figure, and which values an axis names.

/// The least share of the axis that a range without extent is given on each side.
const WIDEN: f64 = 0.05;
/// What a logarithmic axis may name of each power of ten, the finest first.
const MULTIPLES: [&[f64]; 3] = [&[1.0, 2.0, 5.0], &[1.0, 3.0], &[1.0]];

/// An axis: from values to places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Scale {
    logarithmic: bool,
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// An axis on which equal differences are equal lengths. `low` lies at `from`, `high` at `to`.
    pub(super) fn linear((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        let (low, high) = widened(low, high);
        Self { logarithmic: false, low, high, from, to }
    }

    /// An axis on which equal ratios are equal lengths, if all its values are positive; otherwise a linear one.
    pub(super) fn logarithmic((low, high): (f64, f64), places: (f64, f64)) -> Self {
        if low.is_nan() || low <= 0.0 {
            return Self::linear((low, high), places);
        }
        let (low, high) = widened(low, high);
        Self { logarithmic: true, low, high, from: places.0, to: places.1 }
    }

    /// Where a value lies. What lies outside the axis is put on its end, and what is no number on its beginning.
    pub(super) fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
        self.from + share * (self.to - self.from)
    }

    /// About `count` round values on the axis.
    pub(super) fn ticks(&self, count: usize) -> Vec<f64> {
        if !self.logarithmic {
            return self.even_ticks(count);
        }
        let of = |multiples: &[f64]| -> Vec<f64> {
            let decades = decade(self.low)..=decade(self.high);
            let all = decades.flat_map(|power| multiples.iter().map(move |multiple| multiple * 10f64.powi(power)));
            all.filter(|tick| self.holds(*tick)).collect()
        };
        let fine = MULTIPLES.iter().map(|multiples| of(multiples)).find(|ticks| ticks.len() <= count);
        let ticks = fine.unwrap_or_else(|| of(&[1.0]));
        if ticks.len() < 2 {
            return self.even_ticks(count);
        }
        let step = ticks.len().div_ceil(count.max(2));
        ticks.into_iter().step_by(step).collect()
    }

    /// Powers of two on the axis, not more than `count`.
    pub(super) fn binary_ticks(&self, count: usize) -> Vec<f64> {
        let powers = self.low.max(1.0).log2().ceil() as i32..=self.high.max(1.0).log2().floor() as i32;
        let step = powers.clone().count().div_ceil(count.max(1)).max(1);
        powers.step_by(step).map(|power| 2f64.powi(power)).collect()
    }

    /// Whether a value lies on the axis. The last bits of a tick do not decide.
    fn holds(&self, value: f64) -> bool {
        let slack = 1e-9 * (self.high - self.low);
        self.low - slack <= value && value <= self.high + slack
    }

    fn even_ticks(&self, count: usize) -> Vec<f64> {
        let step = round_up((self.high - self.low) / count.max(1) as f64);
        let first = (self.low / step).ceil();
        let ticks = (0..=2 * count).map(|number| (first + number as f64) * step);
        ticks.take_while(|tick| self.holds(*tick)).collect()
    }
}

/// The power of ten at or below a positive value.
fn decade(value: f64) -> i32 {
    value.log10().floor() as i32
}

/// The first of 1, 2, 5, 10, 20, … that is at least this.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powi(decade(value));
    let multiples = [1.0, 2.0, 5.0, 10.0];
    multiples
        .map(|multiple| multiple * power)
        .into_iter()
        .find(|step| *step >= value * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// A range that has an extent, whatever it is made from.
fn widened(low: f64, high: f64) -> (f64, f64) {
    match (low.is_finite() && high.is_finite(), high - low > 1e-12 * high.abs()) {
        (false, _) => (0.0, 1.0),
        (true, true) => (low, high),
        (true, false) if low == 0.0 => (0.0, 1.0),
        (true, false) => (low - WIDEN * low.abs(), low + WIDEN * low.abs()),
    }
}

/// The least and the greatest of some values, those that are numbers; 0 to 1 if there are none.
pub(super) fn range(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let finite = values.into_iter().filter(|value| value.is_finite());
    finite.map(|value| (value, value)).reduce(|one, two| (one.0.min(two.0), one.1.max(two.1))).unwrap_or((0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACES: (f64, f64) = (0.0, 100.0);

    #[test]
    fn values_lie_by_difference_or_by_ratio() {
        assert_eq!(Scale::linear((0.0, 10.0), PLACES).place(2.5), 25.0);
        assert_eq!(Scale::logarithmic((1.0, 100.0), PLACES).place(10.0), 50.0);
        assert_eq!(Scale::linear((0.0, 10.0), (100.0, 0.0)).place(2.5), 75.0);
    }

    #[test]
    fn no_value_leaves_the_axis() {
        let scale = Scale::logarithmic((1.0, 100.0), PLACES);
        assert_eq!(
            [1e9, 0.0, -1.0, f64::NAN, f64::INFINITY].map(|value| scale.place(value)),
            [100.0, 0.0, 0.0, 0.0, 100.0]
        );
    }

    #[test]
    fn a_range_without_extent_or_number_is_an_axis_all_the_same() {
        assert_eq!(Scale::linear((5.0, 5.0), PLACES).place(5.0), 50.0);
        assert_eq!(Scale::linear((0.0, 0.0), PLACES).place(0.0), 0.0);
        assert_eq!(Scale::linear((f64::NAN, 1.0), PLACES).place(0.5), 50.0);
        assert!(Scale::logarithmic((7.0, 7.0), PLACES).place(7.0).is_finite());
        assert_eq!(range([f64::NAN, 3.0, 1.0]), (1.0, 3.0));
        assert_eq!(range([]), (0.0, 1.0));
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(Scale::linear((0.0, 97.0), PLACES).ticks(5), [0.0, 20.0, 40.0, 60.0, 80.0]);
        assert_eq!(Scale::logarithmic((3.0, 40.0), PLACES).ticks(5), [5.0, 10.0, 20.0]);
        assert_eq!(Scale::logarithmic((10.0, 1e6), PLACES).ticks(3), [10.0, 1e3, 1e5]);
        let close = Scale::logarithmic((6.1, 6.9), PLACES).ticks(4);
        assert_eq!(close.iter().map(|tick| format!("{tick:.2}")).collect::<Vec<_>>(), ["6.20", "6.40", "6.60", "6.80"]);
    }

    #[test]
    fn ticks_of_sizes_are_powers_of_two() {
        let scale = Scale::logarithmic((4096.0, 1_073_741_824.0), PLACES);
        let ticks = scale.binary_ticks(5);
        assert_eq!(ticks[..2], [4096.0, 65536.0]);
        assert!(ticks.len() <= 5, "{ticks:?}");
    }
}
