//! Times as the vocabulary has them: milliseconds since 1970, UTC, written as RFC 3339.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Milliseconds since the beginning of 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Millis(pub i64);

const DAY_MS: i64 = 86_400_000;

impl Millis {
    /// Converts the nanoseconds that an envelope carries.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self((nanos / 1_000_000) as i64)
    }

    /// Reads RFC 3339 with any precision and offset. Leap seconds count as the second before.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let number = |from: usize, to: usize| -> Option<i64> {
            let digits = bytes.get(from..to)?;
            digits.iter().all(u8::is_ascii_digit).then_some(())?;
            std::str::from_utf8(digits).ok()?.parse().ok()
        };
        // By hand and not by a library: every row of a history has a time, and this crate has no dependency that
        // knows calendars.
        let separators = bytes.get(4) == Some(&b'-')
            && bytes.get(7) == Some(&b'-')
            // RFC 3339 allows a blank and a small letter between date and time.
            && matches!(bytes.get(10), Some(b'T' | b't' | b' '))
            && bytes.get(13) == Some(&b':')
            && bytes.get(16) == Some(&b':');
        let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
        let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
        if !separators
            || !(1..=12).contains(&month)
            || day < 1
            || day > days_in_month(year, month)
            || hour > 23
            || minute > 59
            // Sixty is a leap second, which is a valid time.
            || second > 60
        {
            return None;
        }
        let mut at = 19;
        let mut millis = 0;
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            let mut scale = 100;
            let begin = at;
            while let Some(digit) = bytes.get(at).filter(|byte| byte.is_ascii_digit()) {
                millis += i64::from(digit - b'0') * scale;
                // More than three digits add nothing: the scale is zero then, and the digits are still checked.
                scale /= 10;
                at += 1;
            }
            if at == begin {
                return None;
            }
        }
        let offset_minutes = match bytes.get(at)? {
            b'Z' | b'z' if bytes.len() == at + 1 => 0,
            sign @ (b'+' | b'-') if bytes.len() == at + 6 && bytes.get(at + 3) == Some(&b':') => {
                let minutes = number(at + 1, at + 3)? * 60 + number(at + 4, at + 6)?;
                if *sign == b'-' { -minutes } else { minutes }
            }
            _ => return None,
        };
        let days = days_from_civil(year, month, day);
        let seconds = days * 86_400 + hour * 3600 + minute * 60 + second.min(59) - offset_minutes * 60;
        Some(Self(seconds * 1000 + millis))
    }
}

const fn is_leap(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

const fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 31,
    }
}

/// Returns days since 1970-01-01. Years are counted from March, so that the leap day is the last of its year.
const fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    // January and February belong to the year before, as its last months.
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// Returns year, month and day of a number of days since 1970-01-01.
const fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

impl fmt::Display for Millis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Rounded down and not towards zero, or times before 1970 would fall on the wrong day.
        let (year, month, day) = civil_from_days(self.0.div_euclid(DAY_MS));
        let rest = self.0.rem_euclid(DAY_MS);
        let (hour, minute) = (rest / 3_600_000, rest / 60_000 % 60);
        let (second, millis) = (rest / 1000 % 60, rest % 1000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
    }
}

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Owned, because a value that is read from a stream or a tree cannot be borrowed.
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| de::Error::custom(format!("`{text}` is not an RFC 3339 time")))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_times_read_and_write() {
        for (text, millis) in [
            ("1970-01-01T00:00:00.000Z", 0),
            ("2000-02-29T12:00:00.500Z", 951_825_600_500),
            ("2026-11-15T21:10:04.001Z", 1_794_777_004_001),
            ("1969-12-31T23:59:59.999Z", -1),
        ] {
            assert_eq!(Millis::parse(text), Some(Millis(millis)), "{text}");
            assert_eq!(Millis(millis).to_string(), text);
        }
    }

    #[test]
    fn offsets_and_other_precisions_are_understood() {
        let same = Millis::parse("2026-11-15T21:10:04Z");
        assert!(same.is_some());
        for text in
            ["2026-11-15T22:10:04+01:00", "2026-11-15T15:40:04.000000-05:30", "2026-11-15 21:10:04.0Z"]
        {
            assert_eq!(Millis::parse(text), same, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2026",
            "2026-11-15",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T21:10:04",
            "2026-11-15T21:10:04.Z",
            "2026-11-15T21:10:04Zulu",
            "2026-11-15T21:10:04+1:00",
            "２026-11-15T21:10:04Z",
        ] {
            assert_eq!(Millis::parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_time_of_ten_thousand_years_reads_back(millis in -62_135_596_800_000_i64..253_402_300_799_999) {
            prop_assert_eq!(Millis::parse(&Millis(millis).to_string()), Some(Millis(millis)));
        }

        #[test]
        fn no_text_breaks_the_reader(text in ".{0,40}") {
            if let Some(time) = Millis::parse(&text) {
                prop_assert_eq!(Millis::parse(&time.to_string()), Some(time));
            }
        }
    }
}
