//! `agent-tracer install`: registers the hook in an agent's settings.
//!
//! Law: the version of the agent decides what is written. First everything is decided, then it is written, and in this
//! order: home, backup, status line chain, settings, record; then it is tried. Whatever fails, the user's file is either
//! untouched or whole.

use std::path::Path;
use std::process::ExitCode;

use agent_tracer_agents::hooks::{Changes, Undo, WantedHook};
use agent_tracer_agents::setup::{
    Plan, Request, Setup, StatusLine, StatusLineChange, Verifiers, own_entries,
};
use agent_tracer_spool::Home;

use self::choice::Choice;
use crate::arguments::{Install, Options, ScopeName};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files::{self, SettingsFile};
use crate::home;
use crate::output::Output;
use crate::proof;
use crate::record::{self, Installation, Record};
use crate::statusline_conf;
use crate::target::{self, Target};
use agent_tracer_event::Agent;

mod choice;
mod narrow;
pub(super) mod report;

pub(super) fn run(
    arguments: &Install,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let setup = target::setup_of(arguments.agent)?;
    let events = narrow::events(arguments.agent, setup, &arguments.events)?;
    let tools = narrow::tools(arguments.agent, setup, &arguments.tools)?;
    let choice = Choice::of(arguments, environment)?;
    let client = choice.version;
    let (hook, home, status_line) = (String::new(), None, StatusLine::Leave);
    let mut request = Request { hook, home, client, events, tools, status_line };
    if arguments.print {
        let left_out = left_out(arguments.agent, setup, &request)?;
        let template = setup.template(&request);
        output.data(&template.text)?;
        choice.say(arguments.agent, setup, &left_out, output)?;
        report::template(&template, output)?;
        return Ok(ExitCode::SUCCESS);
    }

    let target = Target::of(arguments.agent, arguments.scope, environment)?;
    let left_out = left_out(arguments.agent, setup, &request)?;
    let hook = target::hook(environment)?;
    let (home, named_home) = environment.home(options.home.as_deref())?;
    // A repository could link its settings to any file of the user, and we would write it.
    if target.scope != ScopeName::User {
        files::refuse_links(&target.path)?;
    }
    let found = files::find(&target.path)?;
    let (mut record, lost_record) = Record::load(&home);
    if let Some(lost) = lost_record {
        output.say(&format!("warning: {lost}"))?;
    }

    target::as_text("the path of the hook binary", &hook)?.clone_into(&mut request.hook);
    let home_text = named_home.as_deref().map(|home| target::as_text("the home", home)).transpose()?;
    request.home = home_text.map(str::to_owned);
    request.status_line = status_line_wish(arguments, &target, found.text()?, environment)?;
    target::as_text("the settings file", &found.target)?;
    let text = found.text()?;
    let ours_before = own_entries(setup, text);
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
        choice.say(target.agent, setup, &left_out, output)?;
        return Ok(ExitCode::SUCCESS);
    }

    if let Some(mended) = home::prepare(&home, named_home.is_none())? {
        output.say(&format!("warning: {mended}"))?;
    }
    let unchanged = found.exists() && change.text == text;
    let chosen_for = client.map(|client| client.to_string());
    // Another client version is worth a new record even where the entries stay the same: `doctor` compares with it.
    let is_news = known.as_ref().is_none_or(|known| known.client != chosen_for);
    if !unchanged || is_news {
        let base = base_of(&target, &found, known.as_ref(), text)?;
        // The copies come before the change: a change without a way back is not made.
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
    setup.check(&change.text).map_err(|error| target.refused(&error))?;
    report::installed(&target, &change, unchanged, output)?;
    choice.say(target.agent, setup, &left_out, output)?;
    report::moved_home(&ours_before, named_home.as_deref(), output)?;
    report::other_ways(&target, &other_ways(&target, environment), output)?;
    // Last, because the trial starts clients: what was written stays whatever comes of it.
    if !arguments.no_verify {
        let own = setup.own(&change.text);
        for client in &choice.clients {
            report::proof(
                target.agent,
                client,
                &proof::prove(target.agent, client, &own, environment),
                output,
            )?;
        }
    }
    report::advice(&target, client, &change.text, output)?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the events that are left out because the version does not know them. All of them would be no installation.
fn left_out(agent: Agent, setup: &dyn Setup, request: &Request) -> Result<Vec<&'static str>, Failure> {
    let left_out = setup.left_out(request);
    if !left_out.is_empty() && setup.hooks(request).is_empty() {
        let title = agent.name();
        let versions = match request.client {
            Some(client) => format!("{title} {client} does not know"),
            None => format!("not every version of {title} knows"),
        };
        return Err(Failure::usage(format!("{versions} {}", left_out.join(", ")))
            .hint("name other events, or another version with `--client-version`"));
    }
    Ok(left_out)
}

fn plan(target: &Target, text: &str, request: &Request, undo: &Undo) -> Result<Plan, Failure> {
    target.setup.plan(text, request, undo.clone()).map_err(|error| target.refused(&error))
}

/// Writes verifiers of rules into a settings file in which we are installed, so that `uninstall` still brings back
/// what the user had.
pub(super) fn verify(
    target: &Target,
    verifiers: &dyn Verifiers,
    wanted: &[WantedHook],
    home: &Home,
    environment: &Environment,
) -> Result<Changes, Failure> {
    let found = files::find(&target.path)?;
    let text = found.text()?;
    let (mut record, _) = Record::load(home);
    let known = record.of(&found.target).cloned();
    let undo = known.as_ref().map(|known| known.undo.clone()).unwrap_or_default();
    let plan = verifiers.plan(text, wanted, undo).map_err(|error| target.refused(&error))?;
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
        None if target.has_own_entries(text) => Ok(Some(target.withdraw(text, &Undo::default(), None)?.text)),
        None => Ok(Some(text.to_owned())),
    }
}

fn withdrawn(target: &Target, known: &Installation, text: &str) -> Result<Option<String>, Failure> {
    let change = target.withdraw(text, &known.undo, known.chained.as_deref())?;
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

/// Returns by what else the agent calls us already, if it runs every one of them, so that events would count twice.
fn other_ways(target: &Target, environment: &Environment) -> Vec<String> {
    if target.agent.spec().repeats_equal_events {
        return Vec::new();
    }
    let text_of =
        |path: &Path| files::find(path).and_then(|found| found.text().map(str::to_owned)).unwrap_or_default();
    let mut ways = Vec::new();
    for other in Target::all_of(target.agent, environment) {
        if other.path != target.path && target.has_own_entries(&text_of(&other.path)) {
            ways.push(format!("`{}`", other.path.display()));
        }
    }
    if let Ok(home) = target::home_of(target.agent, environment) {
        ways.extend(target.setup.other_ways(&home, &|path| Some(text_of(path))));
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
    let touched = target.agent.spec().statusline_word.is_some() && target.scope != ScopeName::Project;
    if arguments.no_statusline || !touched {
        return Ok(StatusLine::Leave);
    }
    let has_its_own = target.setup.status_line(text).is_some();
    if target.scope == ScopeName::User || has_its_own {
        return Ok(StatusLine::Ours { displaces: None });
    }
    // A local file outranks the project's and the user's: what is in effect there now has to be chained.
    for scope in [ScopeName::Project, ScopeName::User] {
        let other = Target::of(target.agent, scope, environment)?;
        // A file that cannot be read has no status line, as for the agent.
        let line =
            files::find(&other.path).ok().and_then(|found| other.setup.status_line(found.text().ok()?));
        match line {
            Some((_, true)) => return Ok(StatusLine::Leave),
            Some((command, false)) => return Ok(StatusLine::Ours { displaces: Some(command) }),
            None => {}
        }
    }
    Ok(StatusLine::Ours { displaces: None })
}
