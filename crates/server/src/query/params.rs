//! Parameters of queries: one table holds their names, how they are parsed and how they are documented.
//!
//! The law: strict. An unknown parameter, a word that is not allowed, an invalid time or a number out of its bounds is
//! an error, and one response lists all of them; nothing is guessed and nothing is ignored.

use std::sync::Arc;

use agent_tracer_event::{Agent, Kind, Lane, Millis, TaskId};
use agent_tracer_ledger::{MAX_LIMIT, OwnerFilter, Paging, Range, RowFilter, Store};

use crate::app::App;
use crate::local_zone::{LocalZone, ParsedTime, TIME_FORMS};
use crate::problem::{FieldError, Problem};
use axum::http::StatusCode;

/// The type of a parameter.
#[derive(Clone, Copy)]
pub(crate) enum ParamType {
    /// Any text; an empty one is as none.
    Text,
    /// A time in any form of [`local_zone`](crate::local_zone).
    Time,
    /// `true` or `false`.
    Flag,
    /// One of these words.
    One(fn() -> Vec<&'static str>),
    /// Any of these words, repeated or with commas between them.
    Many(fn() -> Vec<&'static str>),
    /// A whole number within these bounds.
    Integer(u64, u64),
    /// The id of a task.
    Task,
    /// An IANA name or an offset from UTC.
    Zone,
}

/// A parameter of a query.
#[derive(Clone, Copy)]
pub(crate) struct Param {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its type.
    pub(crate) reads: ParamType,
    /// A one-line description.
    pub(crate) about: &'static str,
}

/// Declares a parameter that may be left out.
pub(crate) const fn optional(name: &'static str, reads: ParamType, about: &'static str) -> Param {
    Param { name, reads, about }
}

pub(crate) fn agents() -> Vec<&'static str> {
    Agent::ALL.iter().map(|agent| agent.as_str()).collect()
}

pub(crate) fn lanes() -> Vec<&'static str> {
    Lane::ALL.iter().map(|lane| lane.as_str()).collect()
}

pub(crate) fn kinds() -> Vec<&'static str> {
    Kind::ALL.iter().map(|kind| kind.as_str()).collect()
}

/// The part of a list.
pub(crate) const PAGING: &[Param] = &[
    optional("cursor", ParamType::Text, "Start of the part: `nextCursor` of the part before."),
    optional("limit", ParamType::Integer(1, MAX_LIMIT as u64), "Number of items; a hundred unless given."),
];

/// The stretch of time.
pub(crate) const BETWEEN: &[Param] = &[
    optional("since", ParamType::Time, "At or after this time; its forms are on the page about the API."),
    optional("until", ParamType::Time, "Before this time."),
    TIME_ZONE,
];

/// The time zone of dates, times and days.
pub(crate) const TIME_ZONE: Param = optional(
    "tz",
    ParamType::Zone,
    "Of dates, times and days: an IANA name or an offset; the server's own unless given.",
);

/// The person and the machine: only a team's server knows more than one.
pub(crate) const OWNER_AND_MACHINE: &[Param] = &[OWNER, MACHINE];

/// The person.
pub(crate) const OWNER: Param =
    optional("owner", ParamType::Text, "Of this person, as their token names them; on a team's server.");
const MACHINE: Param = optional("machine", ParamType::Text, "On this machine; on a team's server.");

/// Parameters that narrow the history.
pub(crate) const OWNERS: &[Param] = &[
    OWNER,
    MACHINE,
    optional("project", ParamType::Text, "In this project."),
    optional("agent", ParamType::One(agents), "Of this agent."),
    optional("agentType", ParamType::Text, "Of this type of agent; `main` for the main one."),
];

/// Parameters that choose rows of a task.
pub(crate) const ROWS: &[Param] = &[
    optional("lane", ParamType::Many(lanes), "In one of these lanes."),
    optional("kind", ParamType::Many(kinds), "Of one of these kinds."),
    optional("newestFirst", ParamType::Flag, "Newest first instead of oldest first."),
    optional("tree", ParamType::Flag, "With the rows of all subagents."),
];

/// With the subagents.
pub(crate) const TREE: &[Param] = &[optional("tree", ParamType::Flag, "With those of all subagents.")];

/// A value that was read.
enum Value {
    Text(String),
    Time(Millis),
    Flag(bool),
    Words(Vec<String>),
    Integer(u64),
    Task(TaskId),
    Zone,
}

/// The parsed parameters of a query.
pub(crate) struct QueryParams {
    /// The time of the request.
    pub(crate) now: Millis,
    /// The id in the path; empty if the path has none.
    pub(crate) id: String,
    /// The time zone that `tz` names, or the server's own.
    pub(crate) zone: LocalZone,
    /// True if a parameter is relative to the time of the request.
    pub(crate) relative: bool,
    /// True if the client may change things.
    pub(crate) may_write: bool,
    /// The store narrowed to an owner or a machine; none: all of it.
    pub(crate) narrowed: Option<Arc<dyn Store>>,
    values: Vec<(&'static str, Value)>,
}

impl QueryParams {
    /// Parses the query string of a request.
    pub(crate) fn read(
        groups: &[&[Param]],
        query: &str,
        now: Millis,
        zone: &LocalZone,
    ) -> Result<Self, Problem> {
        let mut params = Self {
            now,
            id: String::new(),
            zone: zone.clone(),
            relative: false,
            may_write: false,
            narrowed: None,
            values: Vec::new(),
        };
        // Dates are read in the zone of the query, which may come after them.
        let mut zones = query.split('&').filter_map(|pair| zone_of(groups, pair));
        if let Some(zone) = zones.next() {
            params.zone = zone;
        }
        let mut wrong = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let (Some(name), Some(value)) = (decode(name), decode(value)) else {
                wrong.push(FieldError::new(cut_name(name), "is not percent-encoded UTF-8"));
                continue;
            };
            let Some(param) = groups.iter().copied().flatten().find(|param| param.name == name) else {
                wrong.push(FieldError::new(cut_name(&name), "is not a parameter of this path"));
                continue;
            };
            params.take(param, &value, &mut wrong);
        }
        if let (Some(since), Some(until)) = (params.time("since"), params.time("until"))
            && since > until
        {
            wrong.push(FieldError::new("until", "is before `since`"));
        }
        if wrong.is_empty() {
            Ok(params)
        } else {
            Err(Problem::invalid_fields(StatusCode::BAD_REQUEST, wrong))
        }
    }

    /// Returns the owner and the machine that the query names.
    pub(crate) fn owner_filter(&self) -> OwnerFilter {
        OwnerFilter { owner: self.text("owner"), machine: self.text("machine") }
    }

    /// Returns the store, narrowed to the owner and the machine of the query.
    pub(crate) fn store<'params>(&'params self, app: &'params App) -> &'params dyn Store {
        self.narrowed.as_ref().unwrap_or(&app.deps.store).as_ref()
    }

    /// Narrows the store to the owner and the machine of the query.
    pub(crate) fn narrow(&mut self, app: &App) -> Result<(), Problem> {
        let owners = self.owner_filter();
        if owners == OwnerFilter::default() {
            return Ok(());
        }
        self.narrowed = app.deps.store.narrowed(&owners);
        if self.narrowed.is_some() {
            return Ok(());
        }
        let unknown = |name: &'static str| {
            FieldError::new(name, "is supported only by a team's server; this one records one machine")
        };
        let names = [("owner", owners.owner), ("machine", owners.machine)];
        let wrong = names.into_iter().filter(|(_, value)| value.is_some()).map(|(name, _)| unknown(name));
        Err(Problem::invalid_fields(StatusCode::BAD_REQUEST, wrong.collect()))
    }

    fn take(&mut self, param: &Param, text: &str, wrong: &mut Vec<FieldError>) {
        let mut refuse = |reason: String| wrong.push(FieldError::new(param.name, reason));
        if let ParamType::Many(words) = param.reads {
            let words = words();
            let mut found: Vec<String> = Vec::new();
            for word in text.split(',') {
                match words.iter().find(|known| **known == word) {
                    Some(known) => found.push((*known).to_owned()),
                    None => refuse(format!("is not one of {}", quoted_list(&words))),
                }
            }
            match self.values.iter_mut().find(|(name, _)| *name == param.name) {
                Some((_, Value::Words(before))) => before.extend(found),
                _ => self.values.push((param.name, Value::Words(found))),
            }
            return;
        }
        if self.value(param.name).is_some() {
            return refuse("is given twice".to_owned());
        }
        let value = match param.reads {
            ParamType::Text if text.is_empty() => return,
            ParamType::Text if text.len() > TEXT_BYTES => {
                return refuse(format!("is longer than {TEXT_BYTES} bytes"));
            }
            ParamType::Text => Some(Value::Text(text.to_owned())),
            ParamType::Time => {
                let time = time(text, self.now, &self.zone);
                self.relative |= time.is_some_and(|time| time.is_relative);
                time.map(|time| Value::Time(time.at))
            }
            ParamType::Flag => match text {
                "true" => Some(Value::Flag(true)),
                "false" => Some(Value::Flag(false)),
                _ => None,
            },
            ParamType::One(words) => words().contains(&text).then(|| Value::Words(vec![text.to_owned()])),
            ParamType::Many(_) => None,
            ParamType::Integer(least, most) => {
                let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
                let number = if digits { text.parse::<u64>().ok() } else { None };
                number.filter(|number| (least..=most).contains(number)).map(Value::Integer)
            }
            ParamType::Task => TaskId::parse(text).map(Value::Task),
            ParamType::Zone => LocalZone::parse(text).ok().map(|zone| self.zone = zone).map(|()| Value::Zone),
        };
        match value {
            Some(value) => self.values.push((param.name, value)),
            None => refuse(param.reads.expected()),
        }
    }

    fn value(&self, name: &str) -> Option<&Value> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(crate) fn text(&self, name: &str) -> Option<String> {
        match self.value(name)? {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        }
    }

    pub(crate) fn time(&self, name: &str) -> Option<Millis> {
        match self.value(name)? {
            Value::Time(time) => Some(*time),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, name: &str) -> bool {
        matches!(self.value(name), Some(Value::Flag(true)))
    }

    pub(crate) fn integer(&self, name: &str) -> Option<u64> {
        match self.value(name)? {
            Value::Integer(number) => Some(*number),
            _ => None,
        }
    }

    pub(crate) fn task(&self, name: &str) -> Option<TaskId> {
        match self.value(name)? {
            Value::Task(task) => Some(task.clone()),
            _ => None,
        }
    }

    /// Returns the words of a parameter, parsed by the caller.
    pub(crate) fn words<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Vec<T> {
        match self.value(name) {
            Some(Value::Words(words)) => words.iter().filter_map(|word| parse(word)).collect(),
            _ => Vec::new(),
        }
    }

    pub(crate) fn word<T>(&self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        self.words(name, parse).into_iter().next()
    }

    pub(crate) fn paging(&self) -> Paging {
        let limit =
            self.integer("limit").and_then(|limit| u32::try_from(limit).ok()).unwrap_or(DEFAULT_LIMIT);
        Paging { cursor: self.text("cursor"), limit }
    }

    pub(crate) fn range(&self) -> Range {
        Range {
            since: self.time("since"),
            until: self.time("until"),
            project: self.text("project"),
            agent: self.word("agent", Agent::parse),
            agent_type: self.text("agentType"),
            paging: self.paging(),
        }
    }

    pub(crate) fn rows(&self) -> RowFilter {
        RowFilter {
            lanes: self.words("lane", Lane::parse),
            kinds: self.words("kind", Kind::parse),
            since: self.time("since"),
            until: self.time("until"),
            newest_first: self.flag("newestFirst"),
            tree: self.flag("tree"),
            paging: self.paging(),
        }
    }
}

/// The length of a page unless the request names one.
const DEFAULT_LIMIT: u32 = 100;

/// The most bytes of a text; a cursor is never longer.
const TEXT_BYTES: usize = 2000;

impl ParamType {
    /// Describes the expected value.
    fn expected(self) -> String {
        match self {
            Self::Text => "is not a text".to_owned(),
            Self::Time => format!("is not a time: {TIME_FORMS}"),
            Self::Flag => "is neither `true` nor `false`".to_owned(),
            Self::One(words) | Self::Many(words) => format!("is not one of {}", quoted_list(&words())),
            Self::Integer(least, most) => format!("is not a whole number from {least} to {most}"),
            Self::Task => "is not the id of a task".to_owned(),
            Self::Zone => {
                "is neither a time zone such as `Europe/Berlin` nor an offset such as `+02:00`".to_owned()
            }
        }
    }
}

fn quoted_list(words: &[&str]) -> String {
    words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
}

/// Cuts a name that the client sent, so that a problem stays small.
fn cut_name(name: &str) -> String {
    name.chars().take(60).collect()
}

/// Returns the zone of a pair that names one.
fn zone_of(groups: &[&[Param]], pair: &str) -> Option<LocalZone> {
    let (name, value) = pair.split_once('=')?;
    let name = decode(name)?;
    let param = groups.iter().copied().flatten().find(|param| param.name == name)?;
    matches!(param.reads, ParamType::Zone).then(|| LocalZone::parse(&decode(value)?).ok())?
}

/// Reads a time. A `+` of an offset that arrived as a blank is one again.
fn time(text: &str, now: Millis, zone: &LocalZone) -> Option<ParsedTime> {
    zone.parse_time(text, now).ok().or_else(|| {
        let (moment, offset) = text.rsplit_once(' ')?;
        zone.parse_time(&format!("{moment}+{offset}"), now).ok()
    })
}

/// Undoes percent-encoding; `+` is a blank, as forms have it.
pub(crate) fn decode(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
                out.push(u8::try_from(high * 16 + low).ok()?);
            }
            other => out.push(other),
        }
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_794_777_004_001);

    fn ask(query: &str) -> Result<QueryParams, Problem> {
        let zone = LocalZone::parse("Europe/Berlin").unwrap();
        QueryParams::read(&[PAGING, BETWEEN, OWNERS, ROWS], query, NOW, &zone)
    }

    fn refused(query: &str) -> Vec<String> {
        ask(query).err().expect(query).errors.into_iter().map(|wrong| wrong.at).collect()
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let wrong = refused("limit=0&colour=red&agent=cursor&since=someday&lane=user,left&newestFirst=yes");
        assert_eq!(wrong, ["limit", "colour", "agent", "since", "lane", "newestFirst"]);
    }

    #[test]
    fn limits_and_repeats_are_strict() {
        for query in ["limit=501", "limit=-1", "limit=1e2", "limit=", "limit=5&limit=6", "limit=%2B5"] {
            assert_eq!(refused(query), ["limit"], "{query}");
        }
        assert_eq!(ask("limit=500").unwrap().paging().limit, 500);
        assert_eq!(ask("").unwrap().paging().limit, 100);
    }

    #[test]
    fn times_are_absolute_or_before_now() {
        let since =
            |text: &str| ask(&format!("since={text}")).map(|params| params.time("since").unwrap().0).ok();
        assert_eq!(since("-24h"), Some(NOW.0 - 86_400_000));
        assert_eq!(since("-7d"), Some(NOW.0 - 7 * 86_400_000));
        assert_eq!(since("now"), Some(NOW.0));
        assert_eq!(since("2026-11-15T21:10:04.001Z"), Some(NOW.0));
        assert_eq!(since("2026-11-15T22:10:04.001+01:00"), Some(NOW.0), "a plus that is not encoded");
        assert_eq!(since("2026-11-15T22:10:04.001%2B01:00"), Some(NOW.0));
        for text in ["-", "-h", "-24", "--4h", "-99999999999999999w", "-9223372036854775807s", ""] {
            assert_eq!(since(text), None, "{text}");
        }
        assert_eq!(refused("since=-1h&until=-2h"), ["until"]);
    }

    #[test]
    fn dates_are_read_in_the_zone_of_the_query_wherever_it_stands() {
        let read = |query: &str| {
            let params = ask(query).expect(query);
            (params.time("since").unwrap().to_string(), params.relative)
        };
        assert_eq!(read("since=2026-11-15"), ("2026-11-14T23:00:00.000Z".to_owned(), false));
        assert_eq!(read("since=2026-11-15&tz=UTC"), ("2026-11-15T00:00:00.000Z".to_owned(), false));
        assert_eq!(read("tz=-05:00&since=2026-11-15T10:00"), ("2026-11-15T15:00:00.000Z".to_owned(), false));
        assert_eq!(read("since=yesterday&tz=UTC"), ("2026-11-14T00:00:00.000Z".to_owned(), true));
        assert_eq!(read("since=10:00"), ("2026-11-15T09:00:00.000Z".to_owned(), true));
    }

    #[test]
    fn words_may_be_repeated_or_joined() {
        let lanes = ask("lane=user,assistant&lane=rule").unwrap().rows().lanes;
        assert_eq!(lanes, [Lane::User, Lane::Assistant, Lane::Rule]);
    }

    #[test]
    fn texts_are_decoded_and_broken_ones_are_refused() {
        assert_eq!(ask("project=%2Fhome%2Fdev+a%C3%A9").unwrap().range().project.unwrap(), "/home/dev aé");
        assert_eq!(ask("project=").unwrap().range().project, None);
        for query in ["project=%", "project=%4", "project=%zz", "project=%ff"] {
            assert_eq!(refused(query), ["project"], "{query}");
        }
    }

    #[test]
    fn zones_are_names_or_offsets() {
        for text in ["Europe/Berlin", "UTC", "%2B02:00", "+02:00", "-05:30"] {
            assert!(ask(&format!("tz={text}")).is_ok(), "{text}");
        }
        for text in ["Mars/Base", "", "2", "+25:00", "../../etc/passwd"] {
            assert_eq!(refused(&format!("tz={text}")), ["tz"], "{text}");
        }
    }
}
