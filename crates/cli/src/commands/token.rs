//! `agent-tracer token`: who may ship to a team's server, and who may ask it.

use std::process::ExitCode;
use std::sync::Arc;

use agent_tracer_event::Millis;
use agent_tracer_fleet::clickhouse::schema::Layout;
use agent_tracer_fleet::clickhouse::{Fleet, StoreAddress, Token, TokenScope};
use agent_tracer_fleet::team::token;
use agent_tracer_server::draw_token;
use serde_json::json;

use crate::arguments::{Token as Arguments, TokenCommand, TokenScopeName};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::output::Output;
use crate::reading::json as json_of;
use crate::ship_job::failure_of;

/// Returns the store of a team at an address, with the password of the environment.
pub(super) fn fleet(
    environment: &Environment,
    address: &str,
    cluster: Option<&str>,
) -> Result<Arc<Fleet>, Failure> {
    let mut place = StoreAddress::parse(address).ok_or_else(|| {
        Failure::usage(format!("invalid store URL `{address}`")).hint(
            "it looks like `clickhouse://user@host:8123/database`, or `clickhouses://…` for an encrypted way",
        )
    })?;
    // By the environment and not in the address: other users see the arguments of a process.
    if let Some(password) = environment.variable("AGENT_TRACER_STORE_PASSWORD") {
        place.password = password.into_string().ok();
    }
    if let Some(name) = cluster {
        place.layout = Layout::Cluster { name: name.to_owned() };
    }
    Fleet::new(place).map(Arc::new).map_err(|error| failure_of(&error))
}

pub(super) fn run(
    arguments: &Arguments,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let fleet = fleet(environment, &arguments.store, arguments.cluster.as_deref())?;
    fleet.migrate().map_err(|error| failure_of(&error))?;
    let now = environment.now();
    match &arguments.command {
        TokenCommand::Add { owner, scope, days } => {
            let scope = match scope {
                TokenScopeName::Ingest => TokenScope::Ingest,
                TokenScopeName::Read => TokenScope::Read,
                TokenScopeName::Admin => TokenScope::Admin,
            };
            let expires = days.map(|days| now.0.saturating_add(i64::from(days) * 86_400_000));
            add(&fleet, owner, scope, expires, now, output)?;
        }
        TokenCommand::List { json } => list(&fleet, *json, output)?,
        TokenCommand::Rotate { id } => {
            let old = find(&fleet, id)?;
            // The new one first: if revoking fails, two tokens work, and never none.
            add(&fleet, &old.owner, old.scope, old.expires, now, output)?;
            fleet.revoke_token(&old, now.0).map_err(|error| failure_of(&error))?;
        }
        TokenCommand::Revoke { id } => {
            fleet.revoke_token(&find(&fleet, id)?, now.0).map_err(|error| failure_of(&error))?;
            output.say(&format!("revoked `{id}`; every server refuses it within seconds"))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn add(
    fleet: &Fleet,
    owner: &str,
    scope: TokenScope,
    expires: Option<i64>,
    now: Millis,
    output: &mut Output,
) -> Result<(), Failure> {
    if owner.is_empty() || owner.len() > 256 {
        return Err(Failure::usage("the owner's name must have 1 to 256 bytes"));
    }
    let random = draw_token().map_err(|error| failure_of(&error))?;
    let (token, secret) = token::make(owner, scope, &random, now.0, expires);
    // Stored before it is shown: a secret that no server knows would be handed on.
    fleet.put_token(&token, now.0).map_err(|error| failure_of(&error))?;
    output.say(&format!(
        "token `{}` of `{owner}` may {}; the secret is shown once:",
        token.id,
        scope.as_str()
    ))?;
    // The secret alone is data, so that it can be piped into a file; what it is for goes to standard error.
    output.data(&format!("{secret}\n"))
}

fn find(fleet: &Fleet, id: &str) -> Result<Token, Failure> {
    let tokens = fleet.tokens().map_err(|error| failure_of(&error))?;
    tokens.into_iter().find(|token| token.id == id).ok_or_else(|| {
        Failure::new(format!("no token has the id `{id}`")).hint("run `token list` to see the ids")
    })
}

fn list(fleet: &Fleet, is_json: bool, output: &mut Output) -> Result<(), Failure> {
    let tokens = fleet.tokens().map_err(|error| failure_of(&error))?;
    let moment = |at: i64| Millis(at).to_string();
    if is_json {
        let items: Vec<_> = tokens
            .iter()
            .map(|token| {
                json!({
                    "id": token.id,
                    "owner": token.owner,
                    "scope": token.scope.as_str(),
                    "createdAt": moment(token.created),
                    "expiresAt": token.expires.map(moment),
                })
            })
            .collect();
        return output.data(&json_of(&json!({ "items": items }))?);
    }
    let lines: String = tokens
        .iter()
        .map(|token| {
            let ends = token.expires.map_or_else(|| "never".to_owned(), moment);
            format!("{}  {:6}  ends {ends}  {}\n", token.id, token.scope.as_str(), token.owner)
        })
        .collect();
    output.data(&lines)
}
