//! Time zones, and times as people write them: the one reading for query parameters and for the command line.
//!
//! | form | meaning |
//! |---|---|
//! | `2026-11-19T10:00:04.5Z`, `2026-11-19T10:00:04+01:00` | RFC 3339 |
//! | `2026-11-19T10:00`, `2026-11-19 10:00:04.5` | a local time of the zone |
//! | `2026-11-19` | the beginning of that day |
//! | `10:00`, `10:00:04` | that time of today |
//! | `today`, `yesterday` | the beginning of that day |
//! | `now` | the present time |
//! | `-2h`, `7d` | how long ago, in `s`, `m`, `h`, `d` (24 hours) or `w` |
//! | `1794777004001` | Unix time in milliseconds, with at least eleven digits |
//!
//! A local time that clocks skip when they go forward is read by the offset before the change: `02:30` of such a night is
//! `03:30`. One that occurs twice when they go back is the first of both.
//!
//! Law: parsing what formatting wrote gives the same moment, and no text panics.

use agent_tracer_event::Millis;
use agent_tracer_ledger::Zone;
use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};
use jiff::{Timestamp, Zoned};

/// The forms of a time, for hints and for the description of the API.
pub const TIME_FORMS: &str = "write `2026-11-19`, `2026-11-19T10:00`, `10:00`, `today`, `yesterday`, how long ago (`2h`, \
                              `7d`), RFC 3339 or Unix milliseconds";

/// The most seconds that local time is ahead of or behind UTC.
const DAY_SECONDS: i32 = 18 * 3600;

/// The fewest digits of a Unix time. A shorter number is more likely a year or a date without dashes.
const UNIX_DIGITS: usize = 11;

/// A text that is not a time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid time `{text}`")]
pub struct TimeError {
    /// The text as it was written.
    pub text: String,
}

/// A text that is not a time zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown time zone `{name}`")]
pub struct ZoneError {
    /// The text as it was written.
    pub name: String,
}

/// A moment that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedTime {
    /// The moment.
    pub at: Millis,
    /// True if the same text means another moment later on.
    pub is_relative: bool,
}

/// A time zone: of the table inside this program, or a fixed offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalZone(pub TimeZone);

impl LocalZone {
    /// UTC.
    pub const UTC: Self = Self(TimeZone::UTC);

    /// Parses `Europe/Berlin` or `+02:00`. A `+` that arrived as a blank is one again.
    ///
    /// # Errors
    /// The text is neither the name of a zone nor an offset.
    pub fn parse(text: &str) -> Result<Self, ZoneError> {
        let error = || ZoneError { name: text.to_owned() };
        if let Some(offset) = offset(text) {
            return Offset::from_seconds(offset)
                .map(|offset| Self(TimeZone::fixed(offset)))
                .map_err(|_| error());
        }
        let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte));
        if text.is_empty() || !is_name {
            return Err(error());
        }
        // Only the table inside this program: what the machine has may differ from one to the next.
        TimeZoneDatabase::bundled().get(text).map(Self).map_err(|_| error())
    }

    /// Returns a moment in this zone; none for a time that no calendar has.
    #[must_use]
    pub fn at(&self, at: Millis) -> Option<Zoned> {
        Timestamp::from_millisecond(at.0).ok().map(|at| at.to_zoned(self.0.clone()))
    }

    /// Returns the beginning of a day. Where clocks skip midnight, that is the first moment after it.
    #[must_use]
    pub fn midnight(&self, day: Date) -> Option<Millis> {
        millis(&day.to_zoned(self.0.clone()).ok()?)
    }

    /// Parses a time in any form that the page of this module lists.
    ///
    /// # Errors
    /// The text has none of these forms, or names a time that no calendar has.
    pub fn parse_time(&self, text: &str, now: Millis) -> Result<ParsedTime, TimeError> {
        // The fixed forms first: only a time relative to now makes an answer age, which its entity tag has to show.
        let fixed = Millis::parse(text).or_else(|| unix(text)).or_else(|| self.local(text));
        let at = fixed.or_else(|| self.relative(text, now));
        at.map(|at| ParsedTime { at, is_relative: fixed.is_none() })
            .ok_or_else(|| TimeError { text: text.to_owned() })
    }

    /// Reads a date, or a date and a time of this zone.
    fn local(&self, text: &str) -> Option<Millis> {
        let (date, time) = match text.split_once(['T', 't', ' ']) {
            Some((date, time)) => (date, Some(time)),
            None => (text, None),
        };
        // `jiff` reads more forms than are listed: the shape is checked first.
        let date: Date = has_shape(date, "dddd-dd-dd").then(|| date.parse().ok())??;
        match time {
            Some(time) => self.moment(date.to_datetime(clock(time)?)),
            None => self.midnight(date),
        }
    }

    /// Reads a time that depends on now.
    fn relative(&self, text: &str, now: Millis) -> Option<Millis> {
        match text {
            "now" => return Some(now),
            "today" => return self.midnight(self.at(now)?.date()),
            "yesterday" => return self.midnight(self.at(now)?.date().yesterday().ok()?),
            _ => {}
        }
        if let Some(time) = clock(text) {
            return self.moment(self.at(now)?.date().to_datetime(time));
        }
        let ago = text.strip_prefix('-').unwrap_or(text);
        let unit = ago.chars().next_back()?;
        let unit_ms: i64 = match unit {
            's' => 1000,
            'm' => 60_000,
            'h' => 3_600_000,
            'd' => 86_400_000,
            'w' => 7 * 86_400_000,
            _ => return None,
        };
        let count = number(ago.strip_suffix(unit)?)?;
        Some(Millis(now.0.checked_sub(count.checked_mul(unit_ms)?)?))
    }

    /// Returns the moment at which the clocks of this zone show a time.
    fn moment(&self, local: DateTime) -> Option<Millis> {
        millis(&local.to_zoned(self.0.clone()).ok()?)
    }
}

impl Zone for LocalZone {
    fn offset_seconds(&self, at: Millis) -> i32 {
        Timestamp::from_millisecond(at.0).map_or(0, |at| self.0.to_offset(at).seconds())
    }
}

fn millis(moment: &Zoned) -> Option<Millis> {
    Some(Millis(moment.timestamp().as_millisecond()))
}

fn offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+" | " ", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = has_shape(rest, "dd:dd").then(|| rest.split_once(':'))??;
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    let seconds = hours * 3600 + minutes * 60;
    (minutes < 60 && seconds <= DAY_SECONDS).then_some(sign * seconds)
}

/// Reads a time of the day: `10:00`, `10:00:04`, `10:00:04.5`.
fn clock(text: &str) -> Option<Time> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (text, None),
    };
    let is_time = match fraction {
        None => has_shape(whole, "dd:dd") || has_shape(whole, "dd:dd:dd"),
        Some(fraction) => has_shape(whole, "dd:dd:dd") && fraction.len() <= 9 && number(fraction).is_some(),
    };
    is_time.then(|| text.parse().ok())?
}

fn unix(text: &str) -> Option<Millis> {
    (text.len() >= UNIX_DIGITS).then(|| number(text).map(Millis))?
}

/// Reads digits alone; no sign, no blank.
fn number(text: &str) -> Option<i64> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// Returns `true` if a text has this shape: `d` is a digit, anything else is itself.
fn has_shape(text: &str, shape: &str) -> bool {
    text.len() == shape.len()
        && text.bytes().zip(shape.bytes()).all(|(byte, kind)| match kind {
            b'd' => byte.is_ascii_digit(),
            kind => byte == kind,
        })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// 2026-11-15T21:10:04.001Z, a quarter past ten in the evening of Berlin.
    const NOW: Millis = Millis(1_794_777_004_001);

    fn zone(name: &str) -> LocalZone {
        LocalZone::parse(name).expect(name)
    }

    fn utc(text: &str) -> Millis {
        Millis::parse(text).expect(text)
    }

    fn hours(name: &str, at: &str) -> f64 {
        f64::from(zone(name).offset_seconds(utc(at))) / 3600.0
    }

    #[test]
    fn summer_time_is_known() {
        assert_eq!(hours("Europe/Berlin", "2026-01-15T12:00:00Z"), 1.0);
        assert_eq!(hours("Europe/Berlin", "2026-07-15T12:00:00Z"), 2.0);
        assert_eq!(hours("Asia/Kolkata", "2026-07-15T12:00:00Z"), 5.5);
        assert_eq!(hours("-05:30", "2026-07-15T12:00:00Z"), -5.5);
    }

    #[test]
    fn a_time_that_no_calendar_has_is_utc() {
        assert_eq!(zone("Europe/Berlin").offset_seconds(Millis(i64::MAX)), 0);
        assert_eq!(zone("Europe/Berlin").at(Millis(i64::MAX)), None);
        assert!(zone("Europe/Berlin").parse_time("today", Millis(i64::MAX)).is_err());
    }

    #[test]
    fn every_form_is_read_in_the_zone() {
        let cases = [
            ("2026-11-15T21:10:04.001Z", "2026-11-15T21:10:04.001Z", false),
            ("2026-11-15T22:10:04+01:00", "2026-11-15T21:10:04Z", false),
            ("2026-11-14T10:00", "2026-11-14T09:00:00Z", false),
            ("2026-11-14 10:00:30", "2026-11-14T09:00:30Z", false),
            ("2026-07-14t10:00:30.25", "2026-07-14T08:00:30.25Z", false),
            ("2026-11-14", "2026-11-13T23:00:00Z", false),
            ("1794777004001", "2026-11-15T21:10:04.001Z", false),
            ("10:00", "2026-11-15T09:00:00Z", true),
            ("23:59:59.5", "2026-11-15T22:59:59.5Z", true),
            ("today", "2026-11-14T23:00:00Z", true),
            ("yesterday", "2026-11-13T23:00:00Z", true),
            ("now", "2026-11-15T21:10:04.001Z", true),
            ("-2h", "2026-11-15T19:10:04.001Z", true),
            ("90s", "2026-11-15T21:08:34.001Z", true),
            ("30m", "2026-11-15T20:40:04.001Z", true),
            ("7d", "2026-11-08T21:10:04.001Z", true),
            ("-2w", "2026-11-01T21:10:04.001Z", true),
        ];
        for (text, at, is_relative) in cases {
            let parsed = zone("Europe/Berlin").parse_time(text, NOW);
            assert_eq!(parsed, Ok(ParsedTime { at: utc(at), is_relative }), "{text}");
        }
        let late = utc("2026-11-15T23:30:00Z");
        let today = zone("Europe/Berlin").parse_time("today", late).expect("a time");
        assert_eq!(today.at, utc("2026-11-15T23:00:00Z"), "the day of the zone, not of UTC");
    }

    #[test]
    fn anything_else_is_refused_with_what_was_written() {
        for text in [
            "",
            "-",
            "d",
            "-h",
            "7",
            "-24",
            "--4h",
            "+7d",
            "7y",
            "1.5d",
            "tomorrow",
            "Today",
            "20261119",
            "2026-11",
            "2026-13-01",
            "2026-02-29",
            "2026-11-15T",
            "2026-11-15T24:00",
            "2026-11-15T10",
            "10:60",
            "1:00",
            "10:00.5",
            "10:00:00.",
            "2026-11-15T10:00[Europe/Berlin]",
            "１０:00",
            "99999999999999999999d",
            "9223372036854775807w",
            "99999999999999999999",
        ] {
            let refused = LocalZone::UTC.parse_time(text, NOW);
            assert_eq!(refused, Err(TimeError { text: text.to_owned() }), "{text}");
        }
    }

    #[test]
    fn a_skipped_time_is_read_by_the_offset_before_the_change() {
        let berlin = zone("Europe/Berlin");
        let at = |text| berlin.parse_time(text, NOW).expect(text).at;
        assert_eq!(at("2026-03-29T02:30"), at("2026-03-29T03:30"));
        assert_eq!(at("2026-03-29T02:30"), utc("2026-03-29T01:30:00Z"));
        assert_eq!(at("2026-03-29T03:00").0 - at("2026-03-29T01:59:59").0, 1000);
        let havana = zone("America/Havana");
        let day = havana.parse_time("2026-03-08", NOW).expect("a day without midnight").at;
        assert_eq!(day, utc("2026-03-08T05:00:00Z"), "the day begins at one o'clock");
    }

    #[test]
    fn a_time_that_occurs_twice_is_the_first_of_both() {
        let berlin = zone("Europe/Berlin");
        let at = |text| berlin.parse_time(text, NOW).expect(text).at;
        assert_eq!(at("2026-10-25T02:30"), utc("2026-10-25T00:30:00Z"));
        assert_eq!(at("2026-10-25T02:30:00+01:00"), utc("2026-10-25T01:30:00Z"), "RFC 3339 names the second");
        assert_eq!(at("2026-10-25T03:00").0 - at("2026-10-25T01:59:59").0, 3_601_000 + 3_600_000);
    }

    fn zones() -> impl Strategy<Value = LocalZone> {
        let names =
            ["UTC", "Europe/Berlin", "America/Havana", "Asia/Kolkata", "Australia/Lord_Howe", "-05:30"];
        proptest::sample::select(names.map(zone).to_vec())
    }

    proptest! {
        #[test]
        fn what_was_formatted_is_parsed_back(zone in zones(), at in 10_000_000_000_i64..4_102_444_800_000) {
            let at = Millis(at);
            let moment = zone.at(at).expect("a time of the calendar");
            let forms = [
                at.to_string(),
                at.0.to_string(),
                moment.strftime("%Y-%m-%dT%H:%M:%S%.3f%:z").to_string(),
            ];
            for text in forms {
                prop_assert_eq!(zone.parse_time(&text, NOW), Ok(ParsedTime { at, is_relative: false }), "{}", text);
            }
            // A local time has no offset: where it occurs twice, it is the first of both.
            let local = moment.strftime("%Y-%m-%dT%H:%M:%S%.3f").to_string();
            let parsed = zone.parse_time(&local, NOW).expect("a local time").at;
            prop_assert!(parsed <= at);
            prop_assert_eq!(zone.at(parsed).expect("a time").datetime(), moment.datetime());
        }

        #[test]
        fn no_text_breaks_the_reader(zone in zones(), text in ".{0,40}", now in any::<i64>()) {
            if let Ok(parsed) = zone.parse_time(&text, Millis(now)) {
                prop_assert!(parsed.is_relative || zone.parse_time(&text, NOW) == Ok(parsed));
            }
        }
    }
}
