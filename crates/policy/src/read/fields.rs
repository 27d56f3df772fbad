//! Reads one field at a time: its type, its words, its place.

use serde_json::{Map, Number, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::suggest::nearest;
use super::{Reader, type_of};

/// The longest text of a field, in bytes.
const TEXT_MAX: usize = 8 * 1024;
/// The most members of a list.
const LIST_MAX: usize = 500;

type SpannedValue<'a, 'i> = &'a Spanned<DeValue<'i>>;

/// Finds a field of a table.
fn get<'a, 'i>(table: &'a DeTable<'i>, key: &str) -> Option<SpannedValue<'a, 'i>> {
    table.iter().find(|(name, _)| name.get_ref().as_ref() == key).map(|(_, value)| value)
}

impl Reader<'_> {
    /// Complains about every key that is not known.
    pub(super) fn check_keys(&mut self, table: &DeTable<'_>, keys: &[&str], owner: &str) {
        for (key, _) in table {
            let name = key.get_ref().as_ref();
            if !keys.contains(&name) {
                let hint = match nearest(name, keys.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("it has {}", join_words(keys)),
                };
                self.fault(key.span().start, format!("{owner} has no key `{name}`"), Some(hint));
            }
        }
    }

    fn wrong_type(&mut self, key: &str, value: SpannedValue<'_, '_>, expected: &str) {
        let what = format!("`{key}` is {}, and should be {expected}", type_of(value.get_ref()));
        self.fault(value.span().start, what, None);
    }

    /// Reads a text that is not empty.
    pub(super) fn text(&mut self, table: &DeTable<'_>, key: &str) -> Option<(String, usize)> {
        let value = get(table, key)?;
        self.one_text(key, value)
    }

    fn one_text(&mut self, key: &str, value: SpannedValue<'_, '_>) -> Option<(String, usize)> {
        let at = value.span().start;
        let Some(text) = value.get_ref().as_str() else {
            self.wrong_type(key, value, "a text");
            return None;
        };
        if text.trim().is_empty() {
            self.fault(at, format!("`{key}` is empty"), None);
            return None;
        }
        if text.len() > TEXT_MAX {
            self.fault(at, format!("`{key}` is over {TEXT_MAX} bytes"), None);
            return None;
        }
        Some((text.to_owned(), at))
    }

    /// Reads a text, or a list of texts.
    pub(super) fn texts(&mut self, table: &DeTable<'_>, key: &str) -> Vec<(String, usize)> {
        let Some(value) = get(table, key) else { return Vec::new() };
        let Some(members) = value.get_ref().as_array() else {
            if value.get_ref().as_str().is_none() {
                self.wrong_type(key, value, "a text or a list of texts");
                return Vec::new();
            }
            return self.one_text(key, value).into_iter().collect();
        };
        if members.is_empty() {
            let hint = Some("leave it out if it should not matter".to_owned());
            self.fault(value.span().start, format!("`{key}` is an empty list"), hint);
        }
        if members.len() > LIST_MAX {
            self.fault(value.span().start, format!("`{key}` has over {LIST_MAX} members"), None);
            return Vec::new();
        }
        members.iter().filter_map(|member| self.one_text(key, member)).collect()
    }

    /// Reads one of some words.
    pub(super) fn word<T>(
        &mut self,
        key: &str,
        (text, at): (String, usize),
        parse: impl Fn(&str) -> Option<T>,
        words: &[&str],
    ) -> Option<T> {
        let parsed = parse(&text);
        if parsed.is_none() {
            let hint = match nearest(&text, words.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("it is one of {}", join_words(words)),
            };
            self.fault(at, format!("`{key}` cannot be `{text}`"), Some(hint));
        }
        parsed
    }

    pub(super) fn flag(&mut self, table: &DeTable<'_>, key: &str) -> Option<(bool, usize)> {
        let value = get(table, key)?;
        let flag = value.get_ref().as_bool();
        if flag.is_none() {
            self.wrong_type(key, value, "true or false");
        }
        flag.map(|flag| (flag, value.span().start))
    }

    pub(super) fn integer(&mut self, table: &DeTable<'_>, key: &str) -> Option<(u64, usize)> {
        let value = get(table, key)?;
        let integer = value.get_ref().as_integer();
        let number = integer.and_then(|it| u64::from_str_radix(it.as_str(), it.radix()).ok());
        if number.is_none() {
            self.wrong_type(key, value, "an integer of at least 0");
        }
        number.map(|number| (number, value.span().start))
    }

    /// Reads an amount with decimals, in millionths.
    pub(super) fn millionths(&mut self, table: &DeTable<'_>, key: &str) -> Option<u64> {
        let value = get(table, key)?;
        let number = match value.get_ref() {
            DeValue::Integer(it) => i64::from_str_radix(it.as_str(), it.radix()).ok().map(|it| it as f64),
            DeValue::Float(it) => it.as_str().parse::<f64>().ok(),
            _ => None,
        };
        let sound = number.filter(|number| (0.0..=1e9).contains(number));
        if sound.is_none() {
            self.wrong_type(key, value, "an amount from 0 to 1000000000");
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is from 0 to 10¹⁵")]
        sound.map(|number| (number * 1e6).round() as u64)
    }

    pub(super) fn table<'a, 'i>(
        &mut self,
        table: &'a DeTable<'i>,
        key: &str,
    ) -> Option<(&'a DeTable<'i>, usize)> {
        let value = get(table, key)?;
        let inner = value.get_ref().as_table();
        if inner.is_none() {
            self.wrong_type(key, value, "a table");
        }
        inner.map(|inner| (inner, value.span().start))
    }

    pub(super) fn tables<'a, 'i>(
        &mut self,
        table: &'a DeTable<'i>,
        key: &str,
    ) -> Vec<(&'a DeTable<'i>, usize)> {
        let Some(value) = get(table, key) else { return Vec::new() };
        let Some(members) = value.get_ref().as_array() else {
            let hint = value.get_ref().as_table().map(|_| format!("write `[[{key}]]`, with two brackets"));
            let what = format!("`{key}` is {}, and should be a list of tables", type_of(value.get_ref()));
            self.fault(value.span().start, what, hint);
            return Vec::new();
        };
        let mut tables = Vec::new();
        for member in members {
            match member.get_ref().as_table() {
                Some(inner) => tables.push((inner, member.span().start)),
                None => self.wrong_type(key, member, "a table"),
            }
        }
        tables
    }

    /// Reads a table as JSON.
    pub(super) fn json(&mut self, table: &DeTable<'_>, key: &str) -> Option<Map<String, Value>> {
        let (inner, _) = self.table(table, key)?;
        Some(self.object(inner))
    }

    fn object(&mut self, table: &DeTable<'_>) -> Map<String, Value> {
        table.iter().map(|(key, value)| (key.get_ref().to_string(), self.value(value))).collect()
    }

    pub(super) fn value(&mut self, value: SpannedValue<'_, '_>) -> Value {
        match value.get_ref() {
            DeValue::String(text) => Value::from(text.as_ref()),
            DeValue::Boolean(flag) => Value::from(*flag),
            DeValue::Integer(it) => match i64::from_str_radix(it.as_str(), it.radix()) {
                Ok(number) => Value::from(number),
                Err(_) => {
                    self.fault(value.span().start, format!("`{}` is too large", it.as_str()), None);
                    Value::Null
                }
            },
            DeValue::Float(it) => match it.as_str().parse().ok().and_then(Number::from_f64) {
                Some(number) => Value::Number(number),
                None => {
                    self.fault(
                        value.span().start,
                        format!("`{}` cannot be written in JSON", it.as_str()),
                        None,
                    );
                    Value::Null
                }
            },
            DeValue::Datetime(time) => Value::from(time.to_string()),
            DeValue::Array(members) => members.iter().map(|member| self.value(member)).collect(),
            DeValue::Table(table) => Value::Object(self.object(table)),
        }
    }

    /// Reads the members of a list as JSON.
    pub(super) fn values(&mut self, table: &DeTable<'_>, key: &str) -> Option<(Vec<Value>, usize)> {
        let value = get(table, key)?;
        let Some(members) = value.get_ref().as_array() else {
            self.wrong_type(key, value, "a list");
            return None;
        };
        Some((members.iter().map(|member| self.value(member)).collect(), value.span().start))
    }
}

/// Words as a person lists them.
pub(super) fn join_words(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    match quoted.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}
