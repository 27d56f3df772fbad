//! `agent-tracer service`: the server as a service of the user, installed, looked at and removed.
//!
//! Law: first everything is decided and the manager is asked whether it answers; then the file is written and made to count.
//! Only a file of ours is replaced or removed, and removing it leaves what was there before.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use agent_tracer_spool::Home;

use super::install::report;
use super::uninstall::remove_made_folder;
use crate::arguments::{Options, Service, ServiceCommand, ServiceInstall, ServiceRemove, ServiceStatus};
use crate::environment::Environment;
use crate::failure::Failure;
use crate::files::{self, SettingsFile};
use crate::instance::Instance;
use crate::output::Output;
use crate::service::{self, Definition, Manager, Status};

pub(super) fn run(
    arguments: &Service,
    options: &Options,
    environment: &Environment,
    output: &mut Output,
) -> Result<ExitCode, Failure> {
    let manager = Manager::of_system();
    match &arguments.command {
        ServiceCommand::Install(arguments) => install(arguments, options, manager, environment, output),
        ServiceCommand::Status(arguments) => {
            let (home, _) = environment.home(options.home.as_deref())?;
            status(arguments, &Status::look(manager, &home, environment)?, environment, output)
        }
        ServiceCommand::Remove(arguments) => remove(arguments, manager, environment, output),
    }?;
    Ok(ExitCode::SUCCESS)
}

fn install(
    arguments: &ServiceInstall,
    options: &Options,
    manager: Manager,
    environment: &Environment,
    output: &mut Output,
) -> Result<(), Failure> {
    let (home, named) = environment.home(options.home.as_deref())?;
    let mut definition = Definition::of(environment, named.as_deref(), arguments.listen)?;
    let path = manager.file(environment)?;
    let found = files::find(&path)?;
    let before = own_text(&found)?;
    // Kept over a second `install`, or `remove` would leave the folder that the first one made.
    definition.made_folder = service::made_folder(before);
    if arguments.dry_run {
        let text = manager.text(&definition, environment)?;
        report::difference(&path, before, &text, output)?;
        for command in manager.start(&path, found.exists()) {
            output.say(&format!("would run `{}`", command.text()))?;
        }
        return output.say("nothing was written");
    }
    refuse_root(environment)?;
    // Asked before anything is written: a file without a manager would look like a service and start nothing.
    manager.probe().run(environment).map_err(|failure| manager.absence(&failure, environment))?;
    let status = Status::look(manager, &home, environment)?;
    refuse_second_server(&home, &status)?;
    if let Some(folder) = path.parent() {
        definition.made_folder = definition.made_folder.or(files::make_folder(folder, 0o700)?);
    }
    let text = manager.text(&definition, environment)?;
    if text == before && status.running == Some(true) && status.enabled == Some(true) && is_current(&status) {
        return output.say(&format!("already installed and running: `{}`", path.display()));
    }
    files::replace(&found, text.as_bytes())?;
    for command in manager.start(&path, status.enabled == Some(true)) {
        command.run(environment).map_err(|failure| {
            let why = failure.message();
            Failure::new(format!("`{}` is written, but the service was not started: {why}", path.display()))
                .hint(format!("run `{}` by hand; `agent-tracer service remove` undoes it", command.text()))
        })?;
    }
    output.say(&format!("installed and started: `{}`", path.display()))?;
    output.say(&format!("  dashboard  {} up", environment.program()))?;
    output.say(&format!("  log        {}", manager.log(environment)?))?;
    if manager == Manager::Systemd && !lingers(environment) {
        output.say("hint: it ends when you log out; run `loginctl enable-linger` to have it go on")?;
    }
    Ok(())
}

/// Returns the text of our file, empty if there is none; another one is not ours to change.
fn own_text(found: &SettingsFile) -> Result<&str, Failure> {
    let text = found.text()?;
    if found.exists() && !service::is_ours(text) {
        let text = format!("`{}` was not written by `agent-tracer service install`", found.target.display());
        return Err(Failure::new(text).hint("move it away and run this again; nothing was changed"));
    }
    Ok(text)
}

/// Refuses to install a service of root for a person who only wanted more rights.
fn refuse_root(environment: &Environment) -> Result<(), Failure> {
    // Root alone is a user like others, as in a container; by `sudo` it would be another one than was meant.
    if nix::unistd::geteuid().is_root() && environment.variable("SUDO_USER").is_some() {
        return Err(Failure::usage("cannot install the service for root: it belongs to a user")
            .hint("run it without `sudo`"));
    }
    Ok(())
}

/// Refuses to start a service beside a server that would keep it from the ledger.
fn refuse_second_server(home: &Home, status: &Status) -> Result<(), Failure> {
    if status.running == Some(true) || !Instance::is_held(home) {
        return Ok(());
    }
    let place = status.address.as_ref().map_or_else(String::new, |address| format!(" at http://{address}/"));
    Err(Failure::new(format!("a server that is not the service already runs{place}"))
        .hint("end it with Ctrl-C where it runs, and run this again; nothing is lost meanwhile"))
}

/// Returns whether the server that runs has the version of this program.
fn is_current(status: &Status) -> bool {
    // A version that is not known is no reason to start a running server anew.
    status.version.as_deref().is_none_or(|version| version == env!("CARGO_PKG_VERSION"))
}

/// Returns whether the services of this user go on after a logout. If that is not known, they may.
fn lingers(environment: &Environment) -> bool {
    let user = nix::unistd::geteuid().to_string();
    let words = ["loginctl", "show-user", &user, "--property=Linger", "--value"].map(str::to_owned);
    let said = service::Command(words.to_vec()).run(environment);
    said.is_ok_and(|said| said.trim() != "no") || environment.on_path("loginctl").is_none()
}

fn status(
    arguments: &ServiceStatus,
    status: &Status,
    environment: &Environment,
    output: &mut Output,
) -> Result<(), Failure> {
    if arguments.json {
        let text = serde_json::to_string_pretty(status)
            .map_err(|cause| Failure::new(format!("cannot write the status: {cause}")))?;
        return output.data(&(text + "\n"));
    }
    output.data(&(lines(status, &environment.program()).join("\n") + "\n"))
}

/// Returns the status as lines.
fn lines(status: &Status, program: &str) -> Vec<String> {
    let file = status.file.display();
    let mut lines = vec![match (status.installed, status.ours) {
        (true, true) => format!("installed  yes: {file}"),
        (true, false) => format!("installed  by another: {file}"),
        (false, _) => format!("installed  no: run `{program} service install`"),
    }];
    if status.installed {
        let which = match (status.program_exists, status.is_this_program) {
            (_, true) => "this one",
            (true, false) => "not this one",
            (false, false) => "missing",
        };
        let path = status.program.as_deref().unwrap_or("not known");
        lines.push(format!("program    {path} ({which})"));
        let known = |state: Option<bool>| match state {
            Some(true) => "yes",
            Some(false) => "no",
            None => "not known",
        };
        lines.push(format!("enabled    {}", known(status.enabled)));
        let process = status.pid.map(|pid| format!(", process {pid}")).unwrap_or_default();
        lines.push(format!("running    {}{process}", known(status.running)));
    }
    if let Some(address) = &status.address {
        let version = status.version.as_deref().unwrap_or("of unknown version");
        lines.push(format!("server     {version} at http://{address}/"));
    }
    if status.installed {
        lines.push(format!("log        {}", status.log));
    }
    lines.extend(status.problem.as_ref().map(|problem| format!("problem    {problem}")));
    lines
}

fn remove(
    arguments: &ServiceRemove,
    manager: Manager,
    environment: &Environment,
    output: &mut Output,
) -> Result<(), Failure> {
    let path = manager.file(environment)?;
    let found = files::find(&path)?;
    let text = own_text(&found)?;
    if !found.exists() {
        let packaged =
            manager.packaged_file().map(|file| format!("; `{}` belongs to a package", file.display()));
        return output.say(&format!("not installed{}", packaged.unwrap_or_default()));
    }
    if arguments.dry_run {
        report::difference(&path, text, "", output)?;
        output.say(&format!("would run `{}`", manager.stop().text()))?;
        return output.say(&format!("nothing was changed; would remove `{}`", path.display()));
    }
    // A service that was stopped by hand is no failure, and one of a manager that does not answer does not run.
    if let Err(failure) = manager.stop().run(environment) {
        output.say(&format!("note: {}", failure.message()))?;
    }
    for link in manager.links(&path).iter().filter(|link| is_link_to(link, &path)) {
        drop(fs::remove_file(link));
        // The manager's own folder, with other links in it or empty.
        drop(link.parent().map(fs::remove_dir));
    }
    files::remove(&found)?;
    remove_made_folder(&path, service::made_folder(text).as_deref());
    if let Some(Err(failure)) = manager.forget().map(|command| command.run(environment)) {
        output.say(&format!("note: {}", failure.message()))?;
    }
    output.say(&format!("removed: `{}`; recorded data stays", path.display()))
}

/// Returns whether a path is a link to a file, which may be gone.
fn is_link_to(link: &Path, file: &Path) -> bool {
    fs::read_link(link).is_ok_and(|target| link.parent().is_some_and(|folder| folder.join(target) == file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn installed() -> Status {
        Status {
            manager: "systemd",
            installed: true,
            ours: true,
            file: "/home/dev/.config/systemd/user/agent-tracer.service".into(),
            program: Some("/home/dev/.local/bin/agent-tracer".to_owned()),
            program_exists: true,
            is_this_program: true,
            enabled: Some(true),
            running: Some(true),
            pid: Some(4711),
            address: Some("127.0.0.1:4747".to_owned()),
            version: Some("0.2.0".to_owned()),
            log: "journalctl --user --unit agent-tracer".to_owned(),
            problem: None,
        }
    }

    #[test]
    fn the_status_is_a_line_for_each_fact() {
        assert_eq!(
            lines(&installed(), "agent-tracer"),
            [
                "installed  yes: /home/dev/.config/systemd/user/agent-tracer.service",
                "program    /home/dev/.local/bin/agent-tracer (this one)",
                "enabled    yes",
                "running    yes, process 4711",
                "server     0.2.0 at http://127.0.0.1:4747/",
                "log        journalctl --user --unit agent-tracer",
            ]
        );
        let absent = Status { installed: false, ours: false, address: None, ..installed() };
        assert_eq!(lines(&absent, "agent-tracer"), ["installed  no: run `agent-tracer service install`"]);
        let silent = Status {
            enabled: None,
            running: None,
            pid: None,
            problem: Some("no bus".to_owned()),
            ..installed()
        };
        let text = lines(&silent, "agent-tracer").join("\n");
        assert!(text.contains("enabled    not known") && text.ends_with("problem    no bus"), "{text}");
    }
}
