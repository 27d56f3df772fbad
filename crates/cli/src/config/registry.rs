//! The registry of settings: every key of `config.toml` with its type, default, unit and meaning.
//!
//! `config set` takes its values by it, `config list` and `docs/config.md` are made from it, and tests hold the types of
//! the tables to it. Law: a setting that is not here does not exist. A part of a key in `<…>` stands for a name of the
//! user's, or for one of the words between its bars.

use std::borrow::Cow;
use std::fmt;

use toml_edit::{Array, InlineTable, Value};

use super::{TABLES, nearest};
use crate::backup_job::COUNT_MAX;
use crate::failure::Failure;
use crate::retention::MOST_DAYS;

/// A setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setting {
    /// The dotted key.
    pub(crate) key: &'static str,
    pub(crate) kind: Kind,
    /// The value without the key, as TOML; empty if the setting is off or absent then.
    pub(crate) default: &'static str,
    /// The unit of a number.
    pub(crate) unit: &'static str,
    pub(crate) meaning: &'static str,
}

/// The type of a setting.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// `true` or `false`.
    Switch,
    /// A whole number between two bounds, both allowed.
    Whole { least: i64, most: i64 },
    /// A number above nothing and at most this.
    Amount { most: f64 },
    /// A number between two bounds, both allowed.
    Number { least: f64, most: f64 },
    /// One of these words.
    Word(&'static [&'static str]),
    /// Any text.
    Text,
    /// A list of texts.
    Texts,
    /// Addresses with their formats. They hold secrets.
    Webhooks,
}

impl Kind {
    /// Returns whether a value may hold a secret.
    pub(crate) fn is_secret(self) -> bool {
        match self {
            Self::Webhooks => true,
            Self::Switch
            | Self::Whole { .. }
            | Self::Amount { .. }
            | Self::Number { .. }
            | Self::Word(_)
            | Self::Text
            | Self::Texts => false,
        }
    }

    /// Reads a value that was typed.
    pub(crate) fn parse(self, text: &str) -> Result<Value, Failure> {
        let not = |what: &str| Failure::usage(format!("`{text}` is not {what}"));
        match self {
            Self::Switch => text.parse::<bool>().map(Value::from).map_err(|_| not("`true` or `false`")),
            Self::Whole { least, most } => match text.replace('_', "").parse::<i64>() {
                Ok(number) if (least..=most).contains(&number) => Ok(number.into()),
                Ok(_) => Err(not(&self.to_string())),
                Err(_) => Err(not("a whole number")),
            },
            Self::Amount { most } => number(text, |number| number > 0.0 && number <= most, self),
            Self::Number { least, most } => number(text, |number| (least..=most).contains(&number), self),
            Self::Word(words) if words.contains(&text) => Ok(text.into()),
            Self::Word(words) => {
                let hint = nearest(text, words.iter().copied());
                let hint = hint.map(|word| format!("did you mean `{word}`?"));
                Err(hint.into_iter().fold(not(&self.to_string()), Failure::hint))
            }
            Self::Text => Ok(text.into()),
            Self::Texts => match text.starts_with('[') {
                true => array(text),
                false => {
                    Ok(Value::Array(text.split(',').map(str::trim).filter(|it| !it.is_empty()).collect()))
                }
            },
            Self::Webhooks => match text.starts_with('[') {
                true => array(text),
                false => {
                    let mut webhook = InlineTable::new();
                    webhook.insert("url", text.into());
                    Ok(Value::Array(Array::from_iter([webhook])))
                }
            },
        }
    }
}

/// Reads a number, whole where it is written so.
fn number(text: &str, is_sound: impl FnOnce(f64) -> bool, kind: Kind) -> Result<Value, Failure> {
    match (text.parse::<f64>(), text.parse::<i64>()) {
        (Err(_), _) => Err(Failure::usage(format!("`{text}` is not a number"))),
        (Ok(number), _) if !is_sound(number) => Err(Failure::usage(format!("`{text}` is not {kind}"))),
        (Ok(_), Ok(whole)) => Ok(whole.into()),
        (Ok(number), Err(_)) => Ok(number.into()),
    }
}

/// Reads a list as TOML. The error does not quote it: it may hold a secret.
fn array(text: &str) -> Result<Value, Failure> {
    match text.parse::<Value>() {
        Ok(list @ Value::Array(_)) => Ok(list),
        Ok(_) | Err(_) => Err(Failure::usage("the value is not a TOML list")),
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Switch => f.write_str("true or false"),
            Self::Whole { least, most } if *most >= i64::from(u32::MAX) => {
                write!(f, "a whole number from {least}")
            }
            Self::Whole { least, most } => write!(f, "a whole number from {least} to {most}"),
            Self::Amount { .. } => f.write_str("a number above 0"),
            Self::Number { least, most } => write!(f, "a number from {least} to {most}"),
            Self::Word(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
                f.write_str(&words.join(", "))
            }
            Self::Text => f.write_str("text"),
            Self::Texts => f.write_str("list of texts"),
            Self::Webhooks => f.write_str("list of tables with `url` and `format` (`json` or `slack`)"),
        }
    }
}

const COUNT: Kind = Kind::Whole { least: 1, most: COUNT_MAX };
const MINUTES: Kind = Kind::Whole { least: 0, most: u32::MAX as i64 };
const EVENTS: Kind = Kind::Whole { least: 0, most: i64::MAX };
const DOLLARS: Kind = Kind::Amount { most: 999_999_999.0 };
const PRICE: Kind = Kind::Number { least: 0.0, most: 1_000_000.0 };
const TOKENS: Kind = Kind::Whole { least: 0, most: i64::MAX };

const fn setting(
    key: &'static str,
    kind: Kind,
    default: &'static str,
    unit: &'static str,
    meaning: &'static str,
) -> Setting {
    Setting { key, kind, default, unit, meaning }
}

const PER_MILLION: &str = "US dollars per million tokens";

/// Every setting, by table.
#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    setting("alerts.desktop", Kind::Switch, "false", "", "show alerts on the desktop"),
    setting("alerts.cooldown_minutes", MINUTES, "10", "minutes", "pause before an equal alert is sent again"),
    setting("alerts.webhook", Kind::Webhooks, "[]", "", "addresses that receive alerts, at most 10"),
    setting("alerts.on.waiting_minutes", MINUTES, "", "minutes", "alert if an agent waits for you for this long"),
    setting("alerts.on.stuck_minutes", MINUTES, "", "minutes", "alert if a task works without an event for this long"),
    setting("alerts.on.looping", EVENTS, "", "calls", "alert if one task makes the same call this often"),
    setting("alerts.on.failures", EVENTS, "", "calls", "alert if this many calls of one task fail within ten minutes"),
    setting("alerts.on.budget_usd", DOLLARS, "", "US dollars", "alert if the day costs this much"),
    setting("alerts.on.rate_limit_pct", Kind::Number { least: 1.0, most: 100.0 }, "", "percent", "alert if this much of a rate limit is used"),
    setting("alerts.on.denials", Kind::Switch, "false", "", "alert if a rule denies something"),
    setting("backup.compactions.enabled", Kind::Switch, "false", "", "keep a copy of the input of every automatic compaction"),
    setting("backup.compactions.days", COUNT, "30", "days", "time for which a copy is kept"),
    setting("backup.compactions.megabytes", COUNT, "1024", "megabytes", "room for all copies; the oldest are removed first"),
    setting("backup.store.every_minutes", COUNT, "", "minutes", "interval of backups of the store; none are made without it"),
    setting("backup.store.keep", COUNT, "7", "backups", "number of backups to keep; the oldest are removed first"),
    setting("context.enabled", Kind::Switch, "false", "", "add a summary of the project's history to new sessions"),
    setting("context.bytes", Kind::Whole { least: 200, most: 8192 }, "1500", "bytes", "longest summary; lines that do not fit are left out"),
    setting("context.budget_usd", DOLLARS, "", "US dollars", "budget of a day; the summary shows the rest"),
    setting("context.export_task", Kind::Switch, "false", "", "write the task id where the agent's shells read it"),
    setting("prices.models.<model>.same_as", Kind::Text, "", "", "begin with the prices of this built-in model"),
    setting("prices.models.<model>.window", TOKENS, "", "tokens", "largest prompt"),
    setting("prices.models.<model>.web_search", PRICE, "", "US dollars per thousand", "price of web searches"),
    setting("prices.models.<model>.us_only", PRICE, "", "factor", "factor for processing in the US alone"),
    setting("prices.models.<model>.<input|output|cache_read|cache_write_5m|cache_write_1h>", PRICE, "", PER_MILLION, "standard price"),
    setting("prices.models.<model>.<batch|fast|flex|priority|ultrafast>.<input|output|cache_read|cache_write_5m|cache_write_1h>", PRICE, "", PER_MILLION, "price in this service tier"),
    setting("prices.models.<model>.long.above", TOKENS, "", "tokens", "length of a prompt from which the prices of `long` apply"),
    setting("prices.models.<model>.long.<input|output|cache_read|cache_write_5m|cache_write_1h>", PRICE, "", PER_MILLION, "price for a longer prompt"),
    setting("retention.days", Kind::Whole { least: 1, most: MOST_DAYS as i64 }, "", "days", "time for which events are kept; for ever without it"),
    setting("ship.to", Kind::Text, "", "", "team server that `serve` ships to"),
    setting("ship.level", Kind::Word(&["metadata", "actions", "full"]), "\"actions\"", "", "part of the recorded data that may leave"),
    setting("ship.projects", Kind::Texts, "", "", "patterns of the projects that may leave; all without it"),
    setting("ship.drop", Kind::Texts, "[]", "", "fields that never leave"),
];

impl Setting {
    /// Returns whether the key has a part that stands for names.
    pub(crate) fn is_pattern(&self) -> bool {
        self.key.contains('<')
    }

    /// Returns the name of its table.
    pub(crate) fn table(&self) -> &'static str {
        self.key.split('.').next().unwrap_or_default()
    }

    /// Returns whether the key of these parts is this setting.
    pub(crate) fn matches(&self, parts: &[String]) -> bool {
        let mut own = self.key.split('.');
        parts.iter().all(|part| own.next().is_some_and(|own| is_part(own, part))) && own.next().is_none()
    }

    /// Returns the key with the names of these parts in place of its patterns.
    fn with_names_of(&self, parts: &[String]) -> String {
        let own = self.key.split('.').enumerate();
        let name = |(number, own): (usize, &str)| match (own.strip_prefix('<'), parts.get(number)) {
            (Some(words), Some(part)) => {
                let words: Vec<&str> = words.trim_end_matches('>').split('|').collect();
                let near = if words.len() > 1 { nearest(part, words.iter().copied()) } else { Some(&**part) };
                quoted(near.unwrap_or_else(|| words.first().copied().unwrap_or_default())).into_owned()
            }
            (Some(_), None) | (None, _) => own.to_owned(),
        };
        own.map(name).collect::<Vec<_>>().join(".")
    }
}

fn is_part(own: &str, part: &str) -> bool {
    match own.strip_prefix('<').and_then(|own| own.strip_suffix('>')) {
        Some(words) if words.contains('|') => words.split('|').any(|word| word == part),
        Some(_) => !part.is_empty(),
        None => own == part,
    }
}

/// Returns a part of a key as it is written.
fn quoted(part: &str) -> Cow<'_, str> {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match !part.is_empty() && part.bytes().all(is_bare) {
        true => Cow::Borrowed(part),
        false => Cow::Owned(toml_edit::Key::new(part).display_repr().into_owned()),
    }
}

/// Returns a key of these parts as it is written.
pub(crate) fn written(parts: &[String]) -> String {
    parts.iter().map(|part| quoted(part)).collect::<Vec<_>>().join(".")
}

/// Returns the parts of a key that was typed.
pub(crate) fn parts(key: &str) -> Result<Vec<String>, Failure> {
    let keys = toml_edit::Key::parse(key).map_err(|_| {
        Failure::usage(format!("invalid key `{key}`")).hint(
            "parts are joined by dots; a part with dots needs quotes: `prices.models.\"gpt-5.5\".input`",
        )
    })?;
    Ok(keys.iter().map(|key| key.get().to_owned()).collect())
}

/// Returns the setting of a key; the failure names the nearest one.
pub(crate) fn find(parts: &[String]) -> Result<&'static Setting, Failure> {
    SETTINGS.iter().find(|setting| setting.matches(parts)).ok_or_else(|| unknown(parts))
}

fn unknown(parts: &[String]) -> Failure {
    let key = written(parts);
    let below: Vec<String> = SETTINGS
        .iter()
        .filter(|setting| {
            setting.key.split('.').zip(parts).filter(|(own, part)| is_part(own, part)).count() == parts.len()
        })
        .map(|setting| format!("`{}`", setting.key))
        .collect();
    if !below.is_empty() {
        return Failure::usage(format!("`{key}` is a table")).hint(format!("it has {}", below.join(", ")));
    }
    let all: Vec<String> = SETTINGS.iter().map(|setting| setting.with_names_of(parts)).collect();
    // A word alone is the last part of a key that was meant, or its table.
    let is_last = |known: &&String| known.rsplit('.').next() == Some(&*key);
    let mut near: Vec<&str> = all.iter().filter(is_last).map(String::as_str).collect();
    if near.is_empty() {
        near.extend(nearest(
            &key,
            all.iter().map(String::as_str).chain(TABLES.iter().map(|table| table.name)),
        ));
    }
    let failure = Failure::usage(format!("unknown setting `{key}`"));
    match near.is_empty() {
        false => failure.hint(format!("did you mean `{}`?", near.join("` or `"))),
        true => failure.hint("`agent-tracer config list` lists all settings"),
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_jobs::{alerts, context};
    use toml::Spanned;
    use toml::de::DeTable;

    use super::super::{Fault, Section, parse, table_of};
    use super::*;
    use crate::backup_job::BackupSettings;
    use crate::retention::RetentionSettings;

    fn split(key: &str) -> Vec<String> {
        parts(key).expect("a key")
    }

    /// Returns a key of this setting, with names in place of patterns.
    fn example(setting: &Setting) -> Vec<String> {
        let own = setting.key.split('.');
        own.map(|own| match own.strip_prefix('<').map(|words| words.trim_end_matches('>')) {
            Some("model") => "gpt-5.5".to_owned(),
            Some(words) => words.split('|').next_back().unwrap_or_default().to_owned(),
            None => own.to_owned(),
        })
        .collect()
    }

    /// Checks a text by the types of its tables.
    fn check(text: &str) -> Result<(), Fault> {
        DeTable::parse(text).map_err(|error| Fault::of(text, &error))?;
        TABLES.iter().try_for_each(|table| match table_of(text, table.name)? {
            Some(found) => (table.check)(text, found),
            None => Ok(()),
        })
    }

    fn line(setting: &Setting, value: &Value) -> String {
        let key = written(&example(setting));
        let needed = match setting.key {
            key if key.starts_with("prices.models.<model>.long.<") => {
                "prices.models.\"gpt-5.5\".long.above = 5\nprices.models.\"gpt-5.5\".long.input = 5\n\
                 prices.models.\"gpt-5.5\".long.output = 5\n"
            }
            "prices.models.<model>.long.above" => {
                "prices.models.\"gpt-5.5\".long.input = 5\nprices.models.\"gpt-5.5\".long.output = 5\n"
            }
            _ => "",
        };
        format!("{needed}{key} = {value}\n")
    }

    #[test]
    fn the_types_take_what_the_registry_allows_and_refuse_what_it_refuses() {
        for setting in SETTINGS {
            let bounds: Vec<(Value, bool)> = match setting.kind {
                Kind::Switch => vec![(true.into(), true), (3.into(), false)],
                Kind::Whole { least, most } => [
                    (Some(least), true),
                    (Some(most), true),
                    (least.checked_sub(1), false),
                    (most.checked_add(1), false),
                ]
                .into_iter()
                .filter_map(|(number, is_fine)| Some((Value::from(number?), is_fine)))
                .collect(),
                Kind::Amount { most } => {
                    vec![
                        (0.01.into(), true),
                        (most.into(), true),
                        (0.into(), false),
                        ((most + 1.0).into(), false),
                    ]
                }
                Kind::Number { least, most } => vec![
                    (least.into(), true),
                    (most.into(), true),
                    ((least - 0.01).into(), false),
                    ((most + 1.0).into(), false),
                ],
                Kind::Word(words) => {
                    words.iter().map(|word| ((*word).into(), true)).chain([("x".into(), false)]).collect()
                }
                Kind::Text => vec![("gpt-5.5".into(), true), (3.into(), false)],
                Kind::Texts => vec![(Value::Array(Array::from_iter(["a"])), true), ("a".into(), false)],
                Kind::Webhooks => {
                    let webhook = |text| Kind::Webhooks.parse(text).expect("a list");
                    let both = "[{ url = \"https://a.example/x\", format = \"slack\" }]";
                    vec![
                        (webhook("https://a.example/x"), true),
                        (webhook(both), true),
                        (webhook("ftp://a"), false),
                    ]
                }
            };
            for (value, is_fine) in bounds {
                let text = line(setting, &value);
                // `long.output` is among what a longer price needs.
                let text = text.replacen(
                    "prices.models.\"gpt-5.5\".long.output = 5\nprices.models.\"gpt-5.5\".long.output",
                    "prices.models.\"gpt-5.5\".long.output",
                    1,
                );
                assert_eq!(check(&text).is_ok(), is_fine, "{text}{:?}", check(&text));
                if !matches!(setting.kind, Kind::Webhooks) {
                    let typed = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    let is_typed = setting.kind.parse(&typed).is_ok();
                    let is_text = matches!(setting.kind, Kind::Text | Kind::Texts);
                    assert!(is_typed == is_fine || is_text, "{text}");
                }
            }
        }
    }

    /// Reads a table in which every setting has its default.
    fn of_defaults<T: Section + Default>() -> (T, T) {
        let text: String = SETTINGS
            .iter()
            .filter(|setting| {
                setting.table() == T::NAME && !setting.default.is_empty() && !setting.is_pattern()
            })
            .map(|setting| format!("{} = {}\n", setting.key, setting.default))
            .collect();
        let table = table_of(&text, T::NAME).expect("TOML");
        let read = |table: Spanned<_>| parse::<T>(&text, table).expect("settings");
        (table.map_or_else(T::default, read), T::default())
    }

    #[test]
    fn the_defaults_are_those_of_the_types() {
        let (mut alerts, absent) = of_defaults::<alerts::Settings>();
        assert_eq!(alerts.cooldown_ms(), absent.cooldown_ms());
        alerts.cooldown_minutes = None;
        assert_eq!(alerts, absent);
        let (one, other) = of_defaults::<BackupSettings>();
        assert_eq!(one, other);
        let (one, other) = of_defaults::<context::Settings>();
        assert_eq!(one, other);
        let (one, other) = of_defaults::<RetentionSettings>();
        assert_eq!(one, other);
        let (one, other) = of_defaults::<agent_tracer_fleet::ship::Settings>();
        assert_eq!(one, other);
    }

    #[test]
    fn every_key_of_the_types_is_registered() {
        for table in TABLES {
            let text = format!("[{}]\nqqqqqq = 1\n", table.name);
            let fault = check(&text).expect_err("unknown").to_string();
            let known = fault.split(" has ").nth(1).expect("the keys").split('`').skip(1).step_by(2);
            for key in known {
                let parts = [table.name.to_owned(), key.to_owned()];
                let is_known = |setting: &Setting| {
                    let own: Vec<&str> = setting.key.split('.').take(2).collect();
                    own == parts
                };
                assert!(SETTINGS.iter().any(is_known), "{parts:?}");
            }
        }
        for (key, tail) in
            [("alerts.on", 7), ("backup.compactions", 3), ("backup.store", 2), ("prices.models.x", 15)]
        {
            let text = format!("[{key}]\nqqqqqq = 1\n");
            let fault = check(&text).expect_err("unknown").to_string();
            let known =
                fault.split(" has ").nth(1).expect("the keys").split('`').skip(1).step_by(2).map(|word| {
                    let mut parts = split(key);
                    parts.push(word.to_owned());
                    parts
                });
            let known: Vec<Vec<String>> = known.collect();
            assert_eq!(known.len(), tail, "{known:?}");
            for parts in known {
                let is_known = |setting: &Setting| {
                    setting.key.split('.').zip(&parts).filter(|(own, part)| is_part(own, part)).count()
                        == parts.len()
                };
                assert!(SETTINGS.iter().any(is_known), "{parts:?}");
            }
        }
    }

    #[test]
    fn an_unknown_key_is_refused_with_the_nearest() {
        for (key, hint) in [
            ("retention.dyas", "did you mean `retention.days`?"),
            ("retension.days", "did you mean `retention.days`?"),
            ("days", "did you mean `backup.compactions.days` or `retention.days`?"),
            ("megabytes", "did you mean `backup.compactions.megabytes`?"),
            ("prices.models.\"gpt-5.5\".inptu", "did you mean `prices.models.\"gpt-5.5\".input`?"),
            ("backup.store", "it has `backup.store.every_minutes`, `backup.store.keep`"),
            ("retension", "did you mean `retention`?"),
            ("colour", "`agent-tracer config list` lists all settings"),
        ] {
            let failure = find(&split(key)).expect_err(key).to_string();
            assert!(failure.contains(hint), "{key}: {failure}");
        }
        assert!(parts("a..b").is_err() && parts("").is_err());
        assert_eq!(
            find(&split("prices.models.'gpt-5.5'.flex.input")).expect("known").meaning,
            "price in this service tier"
        );
    }

    #[test]
    fn lists_are_typed_with_commas_or_as_toml() {
        let text = |kind: Kind, typed| kind.parse(typed).map(|value| value.to_string());
        assert_eq!(text(Kind::Texts, "~/code/**, /srv").as_deref(), Ok("[\"~/code/**\", \"/srv\"]"));
        assert_eq!(text(Kind::Texts, "['a,b']").as_deref(), Ok("['a,b']"));
        assert_eq!(text(Kind::Texts, "").as_deref(), Ok("[]"));
        let refused = text(Kind::Webhooks, "[{ url = \"https://a/secret\" }").expect_err("open").to_string();
        assert!(!refused.contains("secret"), "{refused}");
    }
}
