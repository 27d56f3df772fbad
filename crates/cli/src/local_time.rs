//! Times as the user reads and writes them, in the zone of this machine.

use agent_tracer_event::Millis;
use agent_tracer_server::{LocalZone, TIME_FORMS};

use crate::arguments::PeriodName;
use crate::environment::Environment;
use crate::failure::Failure;

/// Holds the local time zone; UTC if the system names none, or an unknown one.
#[derive(Debug, Clone)]
pub(crate) struct LocalTime(LocalZone);

impl LocalTime {
    /// Returns the zone of this machine.
    pub(crate) fn of(environment: &Environment) -> LocalTime {
        LocalTime::named(environment.time_zone().as_deref())
    }

    fn named(name: Option<&str>) -> LocalTime {
        // A zone of the system that is not known is no reason to fail: times are then in UTC.
        LocalTime(name.and_then(|name| LocalZone::parse(name).ok()).unwrap_or(LocalZone::UTC))
    }

    /// Returns the zone with an IANA name or an offset: `Europe/Berlin`, `UTC`, `+02:00`.
    pub(crate) fn zone(name: &str) -> Result<LocalTime, Failure> {
        LocalZone::parse(name).map(LocalTime).map_err(|error| {
            Failure::usage(error.to_string())
                .hint("use an IANA name, such as `Europe/Berlin` or `UTC`, or an offset, such as `+02:00`")
        })
    }

    /// Reads a time of the command line.
    pub(crate) fn parse(&self, text: &str, now: Millis) -> Result<Millis, Failure> {
        let parsed = self.0.parse_time(text, now);
        parsed.map(|time| time.at).map_err(|error| Failure::usage(error.to_string()).hint(TIME_FORMS))
    }

    /// Reads the beginning and the end of a range, in order.
    pub(crate) fn range(
        &self,
        since: Option<&str>,
        until: Option<&str>,
        now: Millis,
    ) -> Result<(Option<Millis>, Option<Millis>), Failure> {
        let read = |text: Option<&str>| text.map(|text| self.parse(text, now)).transpose();
        let (since, until) = (read(since)?, read(until)?);
        if let (Some(begin), Some(end)) = (since, until)
            && begin > end
        {
            return Err(Failure::usage("`--until` is before `--since`").hint("swap them"));
        }
        Ok((since, until))
    }

    /// Returns the moments between which a day, week or month of this zone lies, by the date that names it.
    pub(crate) fn stretch(&self, name: &str, period: PeriodName) -> Option<(Millis, Millis)> {
        let day = if name.len() == 7 { format!("{name}-01") } else { name.to_owned() };
        let first: jiff::civil::Date = day.parse().ok()?;
        let next = match period {
            PeriodName::Weekly => first.checked_add(jiff::Span::new().weeks(1)),
            PeriodName::Monthly => first.checked_add(jiff::Span::new().months(1)),
            _ => first.tomorrow(),
        };
        Some((self.0.midnight(first)?, self.0.midnight(next.ok()?)?))
    }

    /// Formats a time as `2026-11-15 21:10`.
    pub(crate) fn minute(&self, at: Millis) -> String {
        self.show(at, "%Y-%m-%d %H:%M")
    }

    /// Formats a time as `2026-11-15 21:10:04`.
    pub(crate) fn full(&self, at: Millis) -> String {
        self.show(at, "%Y-%m-%d %H:%M:%S")
    }

    /// Formats a time as `21:10:04`.
    pub(crate) fn time(&self, at: Millis) -> String {
        self.show(at, "%H:%M:%S")
    }

    /// Returns the day of the week and the minute of the day, as rules know them.
    pub(crate) fn of_week(&self, at: Millis) -> Option<agent_tracer_policy::LocalTime> {
        let moment = self.0.at(at)?;
        let days = agent_tracer_policy::Weekday::ALL;
        let day = usize::try_from(moment.weekday().to_monday_zero_offset()).ok()?;
        let minute = i32::from(moment.hour()) * 60 + i32::from(moment.minute());
        Some(agent_tracer_policy::LocalTime { weekday: *days.get(day)?, minute: u16::try_from(minute).ok()? })
    }

    /// Returns the beginning of the day that a moment lies in.
    pub(crate) fn midnight(&self, at: Millis) -> Millis {
        self.0.at(at).and_then(|moment| self.0.midnight(moment.date())).unwrap_or(at)
    }

    fn show(&self, at: Millis, form: &str) -> String {
        // Without a moment it is a time that no calendar has.
        self.0.at(at).map_or_else(|| at.to_string(), |moment| moment.strftime(form).to_string())
    }
}

impl agent_tracer_ledger::Zone for LocalTime {
    fn offset_seconds(&self, at: Millis) -> i32 {
        self.0.offset_seconds(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_where_the_user_is_and_refused_with_the_forms() {
        let berlin = LocalTime::named(Some("Europe/Berlin"));
        let now = Millis(1_794_777_004_001);
        let (since, until) = berlin.range(Some("2026-11-15T22:00"), Some("now"), now).expect("a range");
        assert_eq!(
            (since.map(|at| berlin.minute(at)).as_deref(), until),
            (Some("2026-11-15 22:00"), Some(now))
        );
        assert_eq!(berlin.range(None, None, now).expect("no range"), (None, None));
        let refused = berlin.parse("soon", now).expect_err("no time").to_string();
        assert!(refused.starts_with("error: invalid time `soon`\nhint: write `2026-11-19`"), "{refused}");
        assert!(berlin.range(Some("today"), Some("yesterday"), now).is_err());
    }

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
