//! The asker's days: an IANA time zone from the table inside this program, or a fixed offset.

use agent_tracer_event::Millis;
use agent_tracer_ledger::Zone;
use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone, TimeZoneDatabase};

/// The most seconds that local time is ahead of or behind UTC.
const DAY_SECONDS: i32 = 18 * 3600;

/// The offset of the client's clock from UTC at each moment.
pub(crate) struct ClientZone(TimeZone);

impl ClientZone {
    /// Reads `Europe/Berlin` or `+02:00`. A `+` that arrived as a blank is one again.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(offset) = offset(text) {
            return Some(Self(TimeZone::fixed(Offset::from_seconds(offset).ok()?)));
        }
        let is_name = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/_+-".contains(&byte));
        if text.is_empty() || !is_name {
            return None;
        }
        // Only the table inside this program: what the machine has may differ from one to the next.
        TimeZoneDatabase::bundled().get(text).ok().map(Self)
    }
}

fn offset(text: &str) -> Option<i32> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+" | " ", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str| -> Option<i32> {
        (text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let seconds = hours * 3600 + minutes * 60;
    (minutes < 60 && seconds <= DAY_SECONDS).then_some(sign * seconds)
}

impl Zone for ClientZone {
    fn offset_seconds(&self, at: Millis) -> i32 {
        Timestamp::from_millisecond(at.0).map_or(0, |at| self.0.to_offset(at).seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hours(zone: &str, at: &str) -> f64 {
        let zone = ClientZone::parse(zone).expect(zone);
        f64::from(zone.offset_seconds(Millis::parse(at).expect(at))) / 3600.0
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
        assert_eq!(ClientZone::parse("Europe/Berlin").unwrap().offset_seconds(Millis(i64::MAX)), 0);
    }
}
