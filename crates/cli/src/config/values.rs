//! The settings in force, each with the place where it was found.

use agent_tracer_spool::Home;
use serde_json::{Map, Value, json};
use toml_edit::{DocumentMut, Item, TableLike};

use super::{SETTINGS, Setting, TABLES, Table, path, read_text, registry, table_of};
use crate::failure::Failure;

/// The place where a value was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    ConfigToml,
    /// The file that held the table before.
    OldFile(&'static str),
}

impl Source {
    /// Returns the word that is shown.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::ConfigToml => "config.toml",
            Self::OldFile(name) => name,
        }
    }
}

/// A setting with its value.
#[derive(Debug)]
pub(crate) struct EffectiveSetting {
    pub(crate) setting: &'static Setting,
    /// The key, with names in place of patterns.
    pub(crate) key: String,
    /// The value; `Null` if there is neither one nor a default.
    pub(crate) value: Value,
    pub(crate) source: Source,
}

/// The tables as they are written.
#[derive(Debug)]
pub(crate) struct Values {
    tables: Vec<(&'static str, Item, Source)>,
}

impl Values {
    /// Reads `config.toml`, and the old file of each table that it does not have. An old file that is not understood has
    /// no values; [`super::faults`] says why.
    pub(crate) fn read(home: &Home) -> Result<Self, Failure> {
        let path = path(home);
        let text = read_text(&path)?.unwrap_or_default();
        table_of(&text, "").map_err(|fault| fault.failure(&path).hint("correct the line"))?;
        let mut document = parse(&text);
        let of_table = |table: &Table| match document.remove(table.name) {
            Some(item) => (table.name, item, Source::ConfigToml),
            None => {
                // A mistake in an old file is reported where it is used; a list of settings must not fail by it.
                let text = table.old_file.read(home).ok().flatten();
                let text = text.and_then(|text| table.old_file.rewrite(&text).ok()).unwrap_or_default();
                (table.name, parse(&text).into_item(), Source::OldFile(table.old_file.name))
            }
        };
        Ok(Self { tables: TABLES.iter().map(of_table).collect() })
    }

    /// Returns the setting of a key.
    pub(crate) fn get(&self, setting: &'static Setting, parts: &[String]) -> EffectiveSetting {
        let table = parts.first().and_then(|name| self.tables.iter().find(|(table, ..)| table == name));
        let found = table.and_then(|(_, item, source)| {
            let mut keys = parts.iter().skip(1);
            keys.try_fold(item, |item, key| item.get(key)).map(|item| (json_of(item), *source))
        });
        let default = || {
            // Defaults are written as TOML, so that one reader and the page of settings have the same text.
            let text = format!("x = {}", setting.default);
            (parse(&text).get("x").map_or(Value::Null, json_of), Source::Default)
        };
        let (value, source) = found.unwrap_or_else(default);
        EffectiveSetting { setting, key: registry::written(parts), value, source }
    }

    /// Returns whether a key is written, known or not.
    pub(crate) fn has(&self, parts: &[String]) -> bool {
        let Some((name, keys)) = parts.split_first() else { return false };
        let table = self.tables.iter().find(|(table, ..)| table == name);
        table.is_some_and(|(_, item, _)| keys.iter().try_fold(item, |item, key| item.get(key)).is_some())
    }

    /// Returns every setting; those with names of the user's only where they are written.
    pub(crate) fn all(&self) -> Vec<EffectiveSetting> {
        let keys = |setting: &'static Setting| -> Vec<Vec<String>> {
            if !setting.is_pattern() {
                return vec![setting.key.split('.').map(str::to_owned).collect()];
            }
            let mut keys = Vec::new();
            if let Some((name, item, _)) = self.tables.iter().find(|(name, ..)| *name == setting.table()) {
                leaves(item, &mut vec![(*name).to_owned()], &mut keys);
            }
            keys.retain(|key| setting.matches(key));
            keys
        };
        let in_force = |setting| keys(setting).into_iter().map(move |key| self.get(setting, &key));
        SETTINGS.iter().flat_map(in_force).collect()
    }
}

/// Returns a document, an empty one for a text that is none.
fn parse(text: &str) -> DocumentMut {
    text.trim_start_matches('\u{feff}').parse().unwrap_or_default()
}

/// Collects the keys of all values below an item.
fn leaves(item: &Item, key: &mut Vec<String>, keys: &mut Vec<Vec<String>>) {
    let Some(table) = item.as_table_like() else { return keys.push(key.clone()) };
    for (name, item) in table.iter() {
        key.push(name.to_owned());
        leaves(item, key, keys);
        key.pop();
    }
}

fn json_of(item: &Item) -> Value {
    match item {
        Item::None => Value::Null,
        Item::Value(value) => json_of_value(value),
        Item::Table(table) => json_of_table(table),
        Item::ArrayOfTables(tables) => tables.iter().map(|table| json_of_table(table)).collect(),
    }
}

fn json_of_table(table: &dyn TableLike) -> Value {
    let members = table.iter().map(|(name, item)| (name.to_owned(), json_of(item)));
    Value::Object(members.collect::<Map<_, _>>())
}

fn json_of_value(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => json!(text.value()),
        toml_edit::Value::Integer(number) => json!(number.value()),
        toml_edit::Value::Float(number) => json!(number.value()),
        toml_edit::Value::Boolean(value) => json!(value.value()),
        toml_edit::Value::Datetime(time) => json!(time.value().to_string()),
        toml_edit::Value::Array(members) => members.iter().map(json_of_value).collect(),
        toml_edit::Value::InlineTable(table) => json_of_table(table),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files;

    #[test]
    fn every_value_has_its_source() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        let write = |name: &str, text: &str| {
            files::write_private(&home.config().join(name), text.as_bytes()).expect("written");
        };
        write("backup.conf", "on\ndays 3\n");
        write("retention.conf", "days 3\n");
        write("config.toml", "\u{feff}[retention]\n[prices.models]\n\"gpt-5.5\".flex.input = 2\n");
        let values = Values::read(&home).expect("values");
        let all = values.all();
        let of = |key: &str| {
            let found = all.iter().find(|it| it.key == key).expect(key);
            (found.value.clone(), found.source.word())
        };
        assert_eq!(of("backup.compactions.enabled"), (json!(true), "backup.conf"));
        assert_eq!(of("backup.compactions.days"), (json!(3), "backup.conf"));
        assert_eq!(of("backup.compactions.megabytes"), (json!(1024), "default"));
        assert_eq!(of("retention.days"), (Value::Null, "default"));
        assert_eq!(of("prices.models.\"gpt-5.5\".flex.input"), (json!(2), "config.toml"));
        assert_eq!(of("ship.level"), (json!("actions"), "default"));
        assert_eq!(all.iter().filter(|it| it.setting.is_pattern()).count(), 1);
    }
}
