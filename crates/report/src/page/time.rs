//! When results were made.

/// Seconds since 1970 of a time such as `2026-01-31T12:00:00Z`; `None` for what is written otherwise.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let (date, time) = text.strip_suffix('Z')?.split_once('T')?;
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(time.split('.').next()?, ':')?;
    let fits = (1..=12).contains(&month) && (1..=31).contains(&day) && hour < 24 && minute < 60 && second <= 60;
    fits.then(|| days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
}

fn numbers(text: &str, between: char) -> Option<[i64; 3]> {
    let parts: Vec<&str> = text.split(between).collect();
    let digits =
        parts.iter().all(|part| (1..=4).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit()));
    let numbers: Vec<i64> = parts.iter().filter_map(|part| part.parse().ok()).collect();
    numbers.try_into().ok().filter(|_| digits)
}

/// Days since 1970 in the Gregorian calendar, with years that begin in March, so that the leap day is their last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let month = (month + 9) % 12;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leap_days + (153 * month + 2) / 5 + day - 1 - 719_468
}

/// A time for people: `2026-01-31 12:00 UTC`. What is written otherwise stays as it is.
pub(super) fn show(text: &str) -> String {
    match seconds(text) {
        Some(_) => format!("{} {} UTC", &text[..10.min(text.len())], text.get(11..16).unwrap_or_default()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_counted_from_1970() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T00:00:01Z"), Some(951_782_401));
        assert_eq!(seconds("2026-01-31T12:00:00.25Z"), Some(1_769_860_800));
    }

    #[test]
    fn what_is_written_otherwise_is_no_time() {
        let wrong =
            ["", "today", "2026-01-31", "2026-13-01T00:00:00Z", "2026-01-31T12:00Z", "2026-01-31T12:00:00+01:00"];
        assert_eq!(wrong.map(seconds), [None; 6]);
        assert_eq!(show("today"), "today");
        assert_eq!(show("2026-01-31T12:00:00Z"), "2026-01-31 12:00 UTC");
    }
}
