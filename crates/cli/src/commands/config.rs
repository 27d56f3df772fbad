//! Implements `agent-tracer config`: shows and changes `config.toml`.

use std::io::{self, Read};
use std::process::ExitCode;

use agent_tracer_spool::Home;
use serde_json::{Value, json};

use crate::arguments::{Config, ConfigCommand, ConfigGet, ConfigList, ConfigSet, ConfigUnset, Options};
use crate::commands::alerts::host;
use crate::config::{self, Edit, EffectiveSetting, Setting, Values};
use crate::environment::Environment;
use crate::failure::{Failure, plain};
use crate::output::{Output, Paint};
use crate::reading::json as json_of;
use crate::table::{Cell, Side, Table};
use crate::{files, home as own_home};

/// The most bytes of a value on standard input.
const VALUE_BYTES: u64 = 64 << 10;

pub(super) fn run(
    arguments: &Config,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    match &arguments.command {
        ConfigCommand::List(wanted) => list(wanted, &home, output)?,
        ConfigCommand::Get(wanted) => get(wanted, &home, output)?,
        ConfigCommand::Set(wanted) => set(wanted, &home, output)?,
        ConfigCommand::Unset(wanted) => unset(wanted, &home, output)?,
        ConfigCommand::Migrate(_) => migrate(&home, environment, output)?,
        ConfigCommand::Path => output.data(&format!("{}\n", config::path(&home).display()))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns a value as one line of text: a text as it is, anything else as JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// Returns a value without what may be secret in its addresses.
fn masked(value: Value) -> Value {
    match value {
        Value::Array(members) => members.into_iter().map(masked).collect(),
        Value::Object(mut members) => {
            if let Some(url) = members.get_mut("url") {
                *url = json!(url.as_str().map_or_else(|| "…".to_owned(), |url| format!("{}/…", host(url))));
            }
            Value::Object(members)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Value::from("…"),
    }
}

/// Returns the value as it is listed.
fn listed(it: &EffectiveSetting) -> Value {
    if it.setting.kind.is_secret() { masked(it.value.clone()) } else { it.value.clone() }
}

fn described(it: &EffectiveSetting, value: &Value) -> Value {
    let Setting { kind, default, unit, meaning, .. } = it.setting;
    json!({
        "key": it.key, "value": value, "source": it.source.word(), "type": kind.to_string(),
        "default": Some(default).filter(|default| !default.is_empty()),
        "unit": Some(unit).filter(|unit| !unit.is_empty()), "meaning": meaning,
    })
}

fn list(wanted: &ConfigList, home: &Home, output: &mut Output) -> Result<(), Failure> {
    let all = Values::read(home)?.all();
    for (_, failure) in config::faults(home) {
        output.failure(&failure);
    }
    if wanted.json {
        let settings: Vec<Value> = all.iter().map(|it| described(it, &listed(it))).collect();
        let path = config::path(home);
        return output.data(&json_of(&json!({"path": path.to_string_lossy(), "settings": settings}))?);
    }
    let mut table = Table::new(&[("KEY", Side::Left), ("SOURCE", Side::Left), ("VALUE", Side::Left)]);
    for it in &all {
        let value = match listed(it) {
            Value::Null => Cell::new("-").paint(Paint::Dim),
            value => Cell::new(text_of(&value)),
        };
        table.row(vec![Cell::new(&it.key), Cell::new(it.source.word()), value]);
    }
    output.data(&table.render(output))
}

fn get(wanted: &ConfigGet, home: &Home, output: &mut Output) -> Result<(), Failure> {
    let parts = config::parts(&wanted.key)?;
    let found = Values::read(home)?.get(config::find(&parts)?, &parts);
    if let Some((_, failure)) =
        config::faults(home).into_iter().find(|(table, _)| *table == found.setting.table())
    {
        output.failure(&failure);
    }
    if wanted.json {
        return output.data(&json_of(&described(&found, &found.value))?);
    }
    match &found.value {
        Value::Null => output.say(&format!("`{}` is not set", found.key)),
        value => output.data(&(text_of(value) + "\n")),
    }
}

fn set(wanted: &ConfigSet, home: &Home, output: &mut Output) -> Result<(), Failure> {
    let mut edits = Vec::new();
    for pair in wanted.pairs.chunks(2) {
        let [key, value] = pair else {
            let key = pair.first().map(String::as_str).unwrap_or_default();
            return Err(Failure::usage(format!("`{key}` has no value")).hint("give a value behind each key"));
        };
        let parts = config::parts(key)?;
        // Before its value is waited for.
        config::find(&parts)?;
        let typed = if value == "-" { read_value()? } else { value.clone() };
        edits.push(config::set(&parts, &typed)?);
    }
    // All pairs or none: a model needs two prices, and either alone is refused.
    apply(&edits, home, output)
}

fn read_value() -> Result<String, Failure> {
    let mut text = String::new();
    let read = io::stdin().lock().take(VALUE_BYTES).read_to_string(&mut text);
    read.map_err(|cause| Failure::new(format!("cannot read standard input: {}", plain(&cause))))?;
    // A value from a file or a pipe ends with a line end that is not part of it.
    Ok(text.trim().to_owned())
}

fn unset(wanted: &ConfigUnset, home: &Home, output: &mut Output) -> Result<(), Failure> {
    let parts = config::parts(&wanted.key)?;
    // A misspelt key can be removed, if it is there.
    if let Err(unknown) = config::find(&parts)
        && !Values::read(home)?.has(&parts)
    {
        return Err(unknown);
    }
    apply(&[Edit::Unset(parts)], home, output)
}

fn apply(edits: &[Edit], home: &Home, output: &mut Output) -> Result<(), Failure> {
    let mut tables: Vec<&config::Table> = Vec::new();
    for table in edits.iter().filter_map(Edit::table) {
        if tables.iter().all(|known| known.name != table.name) {
            tables.push(table);
        }
    }
    let applied = config::apply(home, &tables, edits)?;
    applied.notes().iter().try_for_each(|note| output.say(note))?;
    if !applied.is_changed {
        output.say(&format!("unchanged: `{}`", config::path(home).display()))?;
    }
    Ok(())
}

fn migrate(home: &Home, environment: &Environment, output: &mut Output) -> Result<(), Failure> {
    let applied = config::adopt_all(home)?;
    for (path, table) in &applied.adopted {
        let found = files::find(path)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let copy =
            own_home::back_up(home, environment.now(), &name, found.bytes.as_deref().unwrap_or_default())?;
        files::remove(&found)?;
        output
            .say(&format!("moved `{name}` into the table `[{table}]`; a copy is in `{}`", copy.display()))?;
    }
    if applied.adopted.is_empty() {
        output.say("no older settings file is in force")?;
    }
    for old in config::leftovers(home) {
        output.say(&format!(
            "`{0}` is not read: the table `[{1}]` of `config.toml` takes its place\nhint: rm '{0}'",
            old.path.display(),
            old.table
        ))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_listed_without_their_secrets() {
        let value = json!([{"url": "https://user:pass@hooks.example/services/secret?x", "format": "slack"}, "secret"]);
        assert_eq!(masked(value), json!([{"url": "hooks.example/…", "format": "slack"}, "…"]));
        assert_eq!(masked(json!([{"url": ["secret"]}])), json!([{"url": "…"}]));
    }
}
