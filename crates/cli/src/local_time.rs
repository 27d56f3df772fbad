//! Times as people here read them.

use agent_tracer_event::Millis;
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use crate::arguments::PeriodName;
use crate::environment::Environment;
use crate::failure::Failure;

/// Holds the local time zone; UTC if the system names none, or an unknown one.
#[derive(Debug, Clone)]
pub(crate) struct LocalTime(TimeZone);

impl LocalTime {
    /// The zone of this machine.
    pub(crate) fn of(environment: &Environment) -> LocalTime {
        LocalTime::named(environment.time_zone().as_deref())
    }

    fn named(name: Option<&str>) -> LocalTime {
        let known = name.and_then(|name| TimeZoneDatabase::bundled().get(name).ok());
        LocalTime(known.unwrap_or(TimeZone::UTC))
    }

    /// Returns the zone with an IANA name: `Europe/Berlin`, `UTC`.
    pub(crate) fn parse(name: &str) -> Result<LocalTime, Failure> {
        TimeZoneDatabase::bundled().get(name).map(LocalTime).map_err(|_| {
            Failure::usage(format!("unknown time zone `{name}`"))
                .hint("use an IANA name, such as `Europe/Berlin` or `UTC`")
        })
    }

    /// The moments between which a day, week or month of this zone lies, by the date that names it.
    pub(crate) fn stretch(&self, name: &str, period: PeriodName) -> Option<(Millis, Millis)> {
        let day = if name.len() == 7 { format!("{name}-01") } else { name.to_owned() };
        let first: jiff::civil::Date = day.parse().ok()?;
        let next = match period {
            PeriodName::Weekly => first.checked_add(jiff::Span::new().weeks(1)),
            PeriodName::Monthly => first.checked_add(jiff::Span::new().months(1)),
            _ => first.tomorrow(),
        };
        let at = |date: jiff::civil::Date| {
            let moment = date.to_zoned(self.0.clone()).ok()?;
            Some(Millis(moment.timestamp().as_millisecond()))
        };
        Some((at(first)?, at(next.ok()?)?))
    }

    /// `2026-11-15 21:10`.
    pub(crate) fn minute(&self, at: Millis) -> String {
        self.show(at, "%Y-%m-%d %H:%M")
    }

    /// `2026-11-15 21:10:04`.
    pub(crate) fn full(&self, at: Millis) -> String {
        self.show(at, "%Y-%m-%d %H:%M:%S")
    }

    /// `21:10:04`.
    pub(crate) fn time(&self, at: Millis) -> String {
        self.show(at, "%H:%M:%S")
    }

    /// The day of the week and the minute of the day, as rules know them.
    pub(crate) fn of_week(&self, at: Millis) -> Option<agent_tracer_policy::LocalTime> {
        let moment = Timestamp::from_millisecond(at.0).ok()?.to_zoned(self.0.clone());
        let days = agent_tracer_policy::Weekday::ALL;
        let day = usize::try_from(moment.weekday().to_monday_zero_offset()).ok()?;
        let minute = i32::from(moment.hour()) * 60 + i32::from(moment.minute());
        Some(agent_tracer_policy::LocalTime { weekday: *days.get(day)?, minute: u16::try_from(minute).ok()? })
    }

    /// The beginning of the day that a moment lies in.
    pub(crate) fn midnight(&self, at: Millis) -> Millis {
        let moment = Timestamp::from_millisecond(at.0).ok().map(|at| at.to_zoned(self.0.clone()));
        let begin = moment.and_then(|moment| moment.start_of_day().ok());
        begin.map_or(at, |begin| Millis(begin.timestamp().as_millisecond()))
    }

    fn show(&self, at: Millis, form: &str) -> String {
        match Timestamp::from_millisecond(at.0) {
            Ok(moment) => moment.to_zoned(self.0.clone()).strftime(form).to_string(),
            // A time that no calendar has.
            Err(_) => at.to_string(),
        }
    }
}

impl agent_tracer_ledger::Zone for LocalTime {
    fn offset_seconds(&self, at: Millis) -> i32 {
        Timestamp::from_millisecond(at.0).map_or(0, |at| self.0.to_offset(at).seconds())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_local_and_never_fail() {
        let at = Millis(1_794_777_004_001);
        assert_eq!(LocalTime::named(Some("Europe/Berlin")).full(at), "2026-11-15 22:10:04");
        assert_eq!(LocalTime::named(Some("Nowhere/Shop")).time(at), "21:10:04");
        assert_eq!(LocalTime::named(None).full(at), "2026-11-15 21:10:04");
        assert!(!LocalTime::named(None).full(Millis(i64::MAX)).is_empty());
        let week = LocalTime::named(Some("Europe/Berlin")).of_week(at).expect("a time");
        assert_eq!((week.weekday, week.minute), (agent_tracer_policy::Weekday::Sunday, 22 * 60 + 10));
        assert!(LocalTime::named(None).of_week(Millis(i64::MAX)).is_none());
        let berlin = LocalTime::named(Some("Europe/Berlin"));
        assert_eq!(berlin.full(berlin.midnight(at)), "2026-11-15 00:00:00");
        assert_eq!(berlin.midnight(Millis(i64::MAX)), Millis(i64::MAX));
    }
}
