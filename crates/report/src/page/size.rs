//! Sizes as parameters of benchmarks say them.

/// The units, each 1024 times the one before it.
const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// The bytes of a size such as `2 MiB`, `64KiB` or `512`; `None` for what is no size.
pub(super) fn bytes(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = text.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let power = match unit.trim() {
        "" => 0,
        unit => UNITS.iter().position(|known| *known == unit)?,
    };
    let bytes = number.parse::<u64>().ok()?.checked_mul(1 << (10 * power))?;
    (bytes > 0).then_some(bytes)
}

/// A size in the largest unit that it fills: `2 MiB`.
pub(super) fn show(bytes: f64) -> String {
    let mut value = bytes;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(value.fract().abs() > 0.05);
    format!("{value:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_and_without_a_space() {
        assert_eq!(
            ["2 MiB", "64KiB", "1 GiB", "512", " 8 B "].map(bytes),
            [Some(2 << 20), Some(64 << 10), Some(1 << 30), Some(512), Some(8)]
        );
    }

    #[test]
    fn what_is_no_size_is_none() {
        let wrong = ["", "MiB", "2 MB", "-2 MiB", "2.5 MiB", "0 B", "99999999 TiB", "many"];
        assert_eq!(wrong.map(bytes), [None; 8]);
    }

    #[test]
    fn a_size_is_shown_in_the_largest_unit_that_it_fills() {
        assert_eq!(show(512.0), "512 B");
        assert_eq!(show(f64::from(2 << 20)), "2 MiB");
        assert_eq!(show(1536.0), "1.5 KiB");
    }
}
