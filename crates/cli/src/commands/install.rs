//! `agent-tracer install`: registers the hook in an agent's settings.
//!
//! Law: the version of the agent decides what is written. First everything is decided, then it is written, and in this
//! order: home, backup, status line chain, settings, record; then it is tried. Whatever fails, the user's file is either
//! untouched or whole.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use agent_tracer_agents::claude::install::{StatusLine, StatusLineChange};
use agent_tracer_agents::hooks::{Changes, Undo, WantedHook, own_hooks};
use agent_tracer_agents::settings::Settings;
use agent_tracer_agents::{ClientVersion, claude, codex};
use agent_tracer_spool::Home;

use self::choice::Choice;
use super::target::{self, Change, Target};
use crate::arguments::{Install, Options, ScopeName};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files::{self, SettingsFile};
use crate::home;
use crate::output::Output;
use crate::proof;
use crate::record::{self, Installation, Record};
use crate::statusline_conf;
use agent_tracer_event::Agent;

mod choice;
mod narrow;
pub(super) mod report;

/// Holds a checked request for an installation.
#[derive(Debug, Clone)]
struct InstallRequest {
    hook: String,
    home: Option<String>,
    client: Option<ClientVersion>,
    events: Option<Vec<String>>,
    tools: Option<Vec<String>>,
    status_line: StatusLine,
}

pub(super) fn run(
    arguments: &Install,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let events = narrow::events(arguments.agent, &arguments.events)?;
    let tools = narrow::tools(arguments.agent, &arguments.tools)?;
    let choice = Choice::of(arguments, environment)?;
    let client = choice.version;
    if arguments.print {
        let left_out = left_out(arguments.agent, client, events.as_ref())?;
        let template = match arguments.agent {
            Agent::CLAUDE_CODE => claude::install::template(client, events, tools),
            _ => codex::install::template(events, tools),
        };
        output.data(&format!("{template:#}\n"))?;
        choice.say(arguments.agent, &left_out, output)?;
        report::template(arguments.agent, output)?;
        return Ok(ExitCode::SUCCESS);
    }

    let target = Target::of(arguments.agent, arguments.scope, environment)?;
    let left_out = left_out(arguments.agent, client, events.as_ref())?;
    let hook = target::hook(environment)?;
    let (home, named_home) = environment.home(options.home.as_deref())?;
    if target.scope != ScopeName::User {
        files::refuse_links(&target.path)?;
    }
    let found = files::find(&target.path)?;
    let (mut record, lost_record) = Record::load(&home);
    if let Some(lost) = lost_record {
        output.say(&format!("warning: {lost}"))?;
    }

    let mut request = InstallRequest {
        hook: target::as_text("the path of the hook binary", &hook)?.to_owned(),
        home: named_home
            .as_deref()
            .map(|home| target::as_text("the home", home))
            .transpose()?
            .map(str::to_owned),
        client,
        events,
        tools,
        status_line: status_line_wish(arguments, &target, found.text()?, environment)?,
    };
    target::as_text("the settings file", &found.target)?;
    let text = found.text()?;
    let ours_before = target::own_entries(text);
    // Notes about a file that has nothing of ours any more are about another file of that name.
    let known = record.of(&found.target).filter(|_| !ours_before.is_empty()).cloned();
    let undo = known.as_ref().map(|known| known.undo.clone()).unwrap_or_default();
    let mut change = plan(&target, text, &request, &undo)?;
    let conf = files::find(&home.statusline_conf())?;
    if let (StatusLineChange::Chained(command), Some(other)) =
        (&change.status_line, record.chained_elsewhere(&found.target))
        && command != other
    {
        // There is one chain; a second status line of the user's would push the first one out of it.
        request.status_line = StatusLine::Leave;
        change = plan(&target, text, &request, &undo)?;
        change.status_line = StatusLineChange::LeftAlone;
    }

    if arguments.dry_run {
        report::difference(&target.path, text, &change.text, output)?;
        report::planned(&target, &change, output)?;
        choice.say(target.agent, &left_out, output)?;
        return Ok(ExitCode::SUCCESS);
    }

    if let Some(mended) = home::prepare(&home, named_home.is_none())? {
        output.say(&format!("warning: {mended}"))?;
    }
    let unchanged = found.exists() && change.text == text;
    let chosen_for = client.map(|client| client.to_string());
    let is_news = known.as_ref().is_none_or(|known| known.client != chosen_for);
    if !unchanged || is_news {
        let base = base_of(&target, &found, known.as_ref(), text)?;
        let label = target.label();
        let now = environment.now();
        let base = base.map(|base| home::back_up(&home, now, &label, base.as_bytes())).transpose()?;
        if !ours_before.is_empty() && !unchanged {
            // The base is the file without us; what the user really had goes beside it.
            home::back_up(&home, now, &format!("{label}-found"), text.as_bytes())?;
        }
        rechain(&conf, &change.status_line, record.chained_elsewhere(&found.target))?;
        let made = if unchanged { None } else { files::replace(&found, change.text.as_bytes())? };
        let chained = match &change.status_line {
            StatusLineChange::Chained(command) => Some(command.clone()),
            _ => known.as_ref().and_then(|known| known.chained.clone()),
        };
        record.put(Installation {
            agent: target.agent.spec().word.to_owned(),
            file: found.target.canonicalize().unwrap_or_else(|_| found.target.clone()),
            base,
            written: record::hash(change.text.as_bytes()),
            made_folder: made.or_else(|| known.and_then(|known| known.made_folder)),
            chained,
            events: request.events,
            client: chosen_for,
            shared: target.scope == ScopeName::Project,
            hook,
            installed_at: now.to_string(),
            undo: change.undo.clone(),
        });
        record.save(&home)?;
    }
    let settings = Settings::parse(&change.text).map_err(|error| target.refused(&error))?;
    report::installed(&target, &change, unchanged, output)?;
    choice.say(target.agent, &left_out, output)?;
    report::moved_home(&ours_before, named_home.as_deref(), output)?;
    report::other_ways(&target, &other_ways(&target, environment), output)?;
    if !arguments.no_verify {
        let own = own_hooks(&settings);
        for client in &choice.clients {
            report::proof(
                target.agent,
                client,
                &proof::prove(target.agent, client, &own, environment),
                output,
            )?;
        }
    }
    report::advice(&target, client, &settings, output)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the events that are left out because the version does not know them. All of them would be no installation.
fn left_out(
    agent: Agent,
    client: Option<ClientVersion>,
    events: Option<&Vec<String>>,
) -> Result<Vec<&'static str>, Failure> {
    if agent == Agent::CODEX {
        // It ignores what it does not know.
        return Ok(Vec::new());
    }
    let wanted = claude::install::InstallOptions {
        hook: String::new(),
        home: None,
        client,
        events: events.cloned(),
        tools: None,
        status_line: StatusLine::Leave,
    };
    let left_out = wanted.left_out();
    if wanted.hooks().is_empty() {
        let version = client.map_or("not every version of Claude Code".to_owned(), |client| {
            format!("Claude Code {client} does not")
        });
        let verb = if client.is_some() { "know" } else { "knows" };
        return Err(Failure::usage(format!("{version} {verb} {}", left_out.join(", ")))
            .hint("name other events, or another version with `--client-version`"));
    }
    Ok(left_out)
}

fn plan(target: &Target, text: &str, request: &InstallRequest, undo: &Undo) -> Result<Change, Failure> {
    let InstallRequest { hook, home, client, events, tools, status_line } = request.clone();
    let refused = |error| target.refused(&error);
    Ok(match target.agent {
        Agent::CLAUDE_CODE => {
            let wanted = claude::install::InstallOptions { hook, home, client, events, tools, status_line };
            let plan = claude::install::plan(text, &wanted, undo.clone()).map_err(refused)?;
            Change { text: plan.text, changes: plan.changes, status_line: plan.status_line, undo: plan.undo }
        }
        _ => {
            let wanted = codex::install::InstallOptions { hook, home, events, tools };
            Change::of_codex(codex::install::plan(text, &wanted, undo.clone()).map_err(refused)?)
        }
    })
}

/// Writes verifiers of rules into a settings file in which we are installed, so that `uninstall` still brings back
/// what the user had.
pub(super) fn verify(
    target: &Target,
    wanted: &[WantedHook],
    home: &Home,
    environment: &Environment,
) -> Result<Changes, Failure> {
    let found = files::find(&target.path)?;
    let text = found.text()?;
    let (mut record, _) = Record::load(home);
    let known = record.of(&found.target).cloned();
    let undo = known.as_ref().map(|known| known.undo.clone()).unwrap_or_default();
    let plan = claude::install::verify(text, wanted, undo).map_err(|error| target.refused(&error))?;
    if plan.text == text {
        return Ok(plan.changes);
    }
    let now = environment.now();
    let base = base_of(target, &found, known.as_ref(), text)?;
    let base = base.map(|base| home::back_up(home, now, &target.label(), base.as_bytes())).transpose()?;
    files::replace(&found, plan.text.as_bytes())?;
    // Where the record is lost, `uninstall` knows our entries by their looks.
    if let Some(known) = known {
        let written = record::hash(plan.text.as_bytes());
        record.put(Installation { base, written, undo: plan.undo, installed_at: now.to_string(), ..known });
        record.save(home)?;
    }
    Ok(plan.changes)
}

/// Returns the file as it would be without our entries: `uninstall` restores it if the file is unchanged until then.
fn base_of(
    target: &Target,
    found: &SettingsFile,
    known: Option<&Installation>,
    text: &str,
) -> Result<Option<String>, Failure> {
    if !found.exists() {
        return Ok(None);
    }
    if let Some(known) = known
        && known.wrote(text.as_bytes())
    {
        return match &known.base {
            None => Ok(None),
            Some(base) => match files::find(base).and_then(|base| base.text().map(str::to_owned)) {
                Ok(base) => Ok(Some(base)),
                // The backup is gone: the file itself still knows.
                Err(_) => withdrawn(target, known, text),
            },
        };
    }
    match known {
        Some(known) => withdrawn(target, known, text),
        None if !target::own_entries(text).is_empty() => {
            let change =
                target.withdraw(text, &Undo::default(), None).map_err(|error| target.refused(&error))?;
            Ok(Some(change.text))
        }
        None => Ok(Some(text.to_owned())),
    }
}

fn withdrawn(target: &Target, known: &Installation, text: &str) -> Result<Option<String>, Failure> {
    let change = target
        .withdraw(text, &known.undo, known.chained.as_deref())
        .map_err(|error| target.refused(&error))?;
    let nothing_left = known.base.is_none() && change.text.trim().is_empty();
    Ok((!nothing_left).then_some(change.text))
}

/// Writes the chain that our status line has to run. A chain left by an installation that is gone goes, too.
fn rechain(conf: &SettingsFile, change: &StatusLineChange, elsewhere: Option<&str>) -> Result<(), Failure> {
    let before = conf.text()?;
    let after = match change {
        StatusLineChange::Chained(command) => statusline_conf::with_chain(before, Some(command)),
        StatusLineChange::Added if elsewhere.is_none() => statusline_conf::with_chain(before, None),
        _ => return Ok(()),
    };
    if after == before { Ok(()) } else { files::write_private(&conf.target, after.as_bytes()) }
}

/// Returns by what else Codex calls us already. It runs every one of them, so events would count twice; Claude Code
/// runs equal commands once.
fn other_ways(target: &Target, environment: &Environment) -> Vec<String> {
    if target.agent != Agent::CODEX {
        return Vec::new();
    }
    let mut ways = Vec::new();
    for scope in [ScopeName::User, ScopeName::Project] {
        let Ok(other) = Target::of(Agent::CODEX, scope, environment) else { continue };
        let text =
            files::find(&other.path).and_then(|found| found.text().map(str::to_owned)).unwrap_or_default();
        if other.path != target.path && !target::own_entries(&text).is_empty() {
            ways.push(format!("`{}`", other.path.display()));
        }
    }
    let configuration = target::codex_home(environment).map(|home| codex::paths::configuration(&home));
    let store = configuration.and_then(|path| {
        files::find(&path).and_then(|found| found.text().map(codex::trust::TrustStore::parse))
    });
    if store.is_ok_and(|store| store.is_ok_and(|store| store.plugin_enabled)) {
        ways.push("the plugin".to_owned());
    }
    ways
}

/// Decides about the status line: never in a file that is shared, and never in front of our own.
fn status_line_wish(
    arguments: &Install,
    target: &Target,
    text: &str,
    environment: &Environment,
) -> Result<StatusLine, Failure> {
    let touched = target.agent == Agent::CLAUDE_CODE && target.scope != ScopeName::Project;
    if arguments.no_statusline || !touched {
        return Ok(StatusLine::Leave);
    }
    let has_its_own =
        Settings::parse(text).is_ok_and(|settings| claude::install::status_line(&settings).is_some());
    if target.scope == ScopeName::User || has_its_own {
        return Ok(StatusLine::Ours { displaces: None });
    }
    // A local file outranks the project's and the user's: what is in effect there now has to be chained.
    for scope in [ScopeName::Project, ScopeName::User] {
        let path: PathBuf = Target::of(Agent::CLAUDE_CODE, scope, environment)?.path;
        match status_line_of(&path) {
            Some((_, true)) => return Ok(StatusLine::Leave),
            Some((command, false)) => return Ok(StatusLine::Ours { displaces: Some(command) }),
            None => {}
        }
    }
    Ok(StatusLine::Ours { displaces: None })
}

/// Returns the status line of another settings file; one that cannot be read has none, as for the agent.
fn status_line_of(path: &Path) -> Option<(String, bool)> {
    let found = files::find(path).ok()?;
    claude::install::status_line(&Settings::parse(found.text().ok()?).ok()?)
}
