//! Implements `agent-tracer alerts`: shows the settings and tests the delivery.

use std::process::ExitCode;

use agent_tracer_jobs::alerts::{Alert, Format, Kind, Settings};
use agent_tracer_spool::Home;
use serde_json::{Value, json};

use crate::alert_job;
use crate::arguments::{Alerts, AlertsCommand, Options};
use crate::config;
use crate::environment::Environment;
use crate::failure::Failure;
use crate::http::TrustStore;
use crate::output::Output;
use crate::reading::json as json_of;

pub(super) fn run(
    arguments: &Alerts,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let (home, _) = environment.home(options.home.as_deref())?;
    let settings = alert_job::read(&home)?;
    match &arguments.command {
        AlertsCommand::Show(wanted) => show(settings.as_ref(), wanted.json, &home, output),
        AlertsCommand::Test(wanted) => test(settings.as_ref(), wanted.json, &home, environment, output),
    }
}

fn nothing(home: &Home) -> Failure {
    let path = config::path(home);
    Failure::new(format!("`[alerts]` of `{}` has neither a desktop nor a webhook entry", path.display()))
        .hint("write `desktop = true` there, or an `[[alerts.webhook]]` with its `url`: docs/alerts.md")
}

/// Returns an address without what may be secret in it.
pub(super) fn host(url: &str) -> &str {
    // Receivers keep their secret in the path, in the query or before the `@`.
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    host.rsplit('@').next().unwrap_or(host)
}

fn show(
    settings: Option<&Settings>,
    as_json: bool,
    home: &Home,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let Some(settings) = settings else {
        return Err(nothing(home));
    };
    let on = &settings.on;
    let lines: Vec<(&str, Value)> = [
        ("waiting_minutes", json!(on.waiting_minutes)),
        ("stuck_minutes", json!(on.stuck_minutes)),
        ("looping", json!(on.looping)),
        ("budget_usd", json!(on.budget_usd)),
        ("rate_limit_pct", json!(on.rate_limit_pct)),
        ("failures", json!(on.failures)),
        ("denials", if on.denials { json!(true) } else { Value::Null }),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_null())
    .collect();
    let webhooks: Vec<Value> = settings
        .webhook
        .iter()
        .map(|webhook| {
            let format = match webhook.format {
                Format::Json => "json",
                Format::Slack => "slack",
            };
            json!({"host": host(&webhook.url), "format": format})
        })
        .collect();
    if as_json {
        let on: serde_json::Map<String, Value> =
            lines.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let minutes = settings.cooldown_ms() / 60_000;
        let all =
            json!({"desktop": settings.desktop, "webhooks": webhooks, "cooldownMinutes": minutes, "on": on});
        output.data(&json_of(&all)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    if settings.desktop {
        text.push_str("to the desktop\n");
    }
    for webhook in &webhooks {
        text.push_str(&format!(
            "to {} ({})\n",
            webhook["host"].as_str().unwrap_or_default(),
            webhook["format"].as_str().unwrap_or_default()
        ));
    }
    for (name, value) in lines {
        text.push_str(&format!("on {name} = {value}\n"));
    }
    output.data(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn test(
    settings: Option<&Settings>,
    as_json: bool,
    home: &Home,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let settings = settings.filter(|settings| settings.has_receiver()).ok_or_else(|| nothing(home))?;
    let alert = Alert {
        kind: Kind::Test,
        key: String::new(),
        text: "alerts arrive".to_owned(),
        task_id: None,
        project: None,
        at: environment.now(),
    };
    let sent = alert_job::send(settings, &alert, &TrustStore::of(environment));
    let is_fine = sent.iter().all(|sent| sent.error.is_none());
    if as_json {
        let sent: Vec<Value> = sent.iter().map(|sent| json!({"to": sent.to, "error": sent.error})).collect();
        output.data(&json_of(&json!({ "sent": sent }))?)?;
    } else {
        for sent in &sent {
            match &sent.error {
                None => output.data(&format!("{}: sent\n", sent.to))?,
                Some(error) => output.data(&format!("{}: {error}\n", sent.to))?,
            }
        }
    }
    Ok(if is_fine { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        assert_eq!(host("https://user:secret@hooks.example:8443/services/T0/secret?x"), "hooks.example:8443");
        assert_eq!(host("http://127.0.0.1:9"), "127.0.0.1:9");
    }
}
