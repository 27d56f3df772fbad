//! One session with our hooks, by `--settings`: a file beside the user's own, whose hooks run too.
//!
//! Law: the client takes one such file, the last one that is named, so a file that the user names is read and goes into
//! ours. An event that a settings file of the user's reports already is left to it; our plugin is switched off in this
//! session, because its hooks are spelled otherwise than those of an installation.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use serde_json::{Map, Value, json};

use super::paths;
use crate::hooks::{WantedHook, own_hooks};
use crate::settings::Settings;
use crate::setup::{Scope, SessionRequest, SessionStart};

/// The option that names settings, and the one that names the scopes that are loaded.
const SETTINGS: &str = "--settings";
const SOURCES: &str = "--setting-sources";
/// The name of our file.
const FILE: &str = "settings.json";

/// Returns how the client is started so that it calls these hooks.
pub(super) fn start(hooks: &[WantedHook], session: &SessionRequest<'_>) -> SessionStart {
    let (own, rest) = take(session.arguments, SETTINGS);
    let (sources, _) = take(session.arguments, SOURCES);
    let given = match own.last() {
        None => Some(json!({})),
        Some(given) => given_settings(given, session),
    };
    let Some(Value::Object(mut settings)) = given else {
        // The client says best what is wrong with it.
        return SessionStart { arguments: session.arguments.to_vec(), ..SessionStart::default() };
    };
    let known = loaded(sources.last().copied(), session);
    let reported: Vec<String> = known.iter().flat_map(|settings| reported(settings, session)).collect();
    add_hooks(&mut settings, hooks.iter().filter(|hook| !reported.iter().any(|event| event == hook.event)));
    switch_off_plugins(&mut settings, &known);
    let mut arguments = vec![OsString::from(SETTINGS), session.folder.join(FILE).into_os_string()];
    arguments.extend(rest);
    let text = Value::Object(settings).to_string();
    SessionStart { arguments, files: vec![(FILE, text)], ..SessionStart::default() }
}

/// Takes an option with its value out of the arguments, before `--`. Returns the values and the rest.
fn take<'a>(arguments: &'a [OsString], option: &str) -> (Vec<&'a OsStr>, Vec<OsString>) {
    let (mut values, mut rest) = (Vec::new(), Vec::new());
    let mut left = arguments.iter();
    while let Some(argument) = left.next() {
        let joined = argument.to_str().and_then(|text| text.strip_prefix(option)?.strip_prefix('='));
        if argument == "--" {
            rest.push(argument.clone());
            rest.extend(left.by_ref().cloned());
        } else if let Some(value) = joined {
            values.push(OsStr::new(value));
        } else if argument == option {
            match left.next() {
                Some(value) => values.push(value),
                None => rest.push(argument.clone()),
            }
        } else {
            rest.push(argument.clone());
        }
    }
    (values, rest)
}

/// Returns the settings that the user gives on the command line: JSON, or the path of a file.
fn given_settings(given: &OsStr, session: &SessionRequest<'_>) -> Option<Value> {
    let inline = given.to_str().filter(|text| text.trim_start().starts_with('{')).map(str::to_owned);
    let text = inline.or_else(|| (session.read)(&session.places.directory.join(Path::new(given))))?;
    let settings = Settings::parse(&text).ok().filter(|settings| !settings.is_blank())?;
    Some(settings.value())
}

/// Returns the settings files that the client loads.
fn loaded(sources: Option<&OsStr>, session: &SessionRequest<'_>) -> Vec<Settings> {
    let places = session.places;
    let sources = sources.map(OsStr::to_string_lossy);
    let is_loaded = |scope: &Scope| {
        sources.as_ref().is_none_or(|sources| sources.split(',').any(|source| source.trim() == scope.word()))
    };
    let scopes = Scope::ALL.into_iter().filter(is_loaded);
    let texts =
        scopes.filter_map(|scope| (session.read)(&paths::settings(places.home, places.directory, scope)));
    texts.filter_map(|text| Settings::parse(&text).ok()).collect()
}

/// Returns the events that hooks of ours in a settings file bring to the same home.
fn reported(settings: &Settings, session: &SessionRequest<'_>) -> Vec<String> {
    let own = own_hooks(settings).into_iter().filter(|own| session.is_served_by(own));
    own.map(|own| own.event).collect()
}

fn add_hooks<'a>(settings: &mut Map<String, Value>, hooks: impl Iterator<Item = &'a WantedHook>) {
    let Some(table) = settings.entry("hooks").or_insert_with(|| json!({})).as_object_mut() else { return };
    for hook in hooks {
        if let Some(groups) = table.entry(hook.event).or_insert_with(|| json!([])).as_array_mut() {
            groups.push(hook.group());
        }
    }
}

fn switch_off_plugins(settings: &mut Map<String, Value>, known: &[Settings]) {
    let enabled = known.iter().filter_map(|settings| settings.member("enabledPlugins"));
    let names = enabled.filter_map(|plugins| Some(plugins.as_object()?.keys().cloned().collect::<Vec<_>>()));
    for name in names.flatten().filter(|name| name.starts_with("agent-tracer@")) {
        if let Some(plugins) = settings.entry("enabledPlugins").or_insert_with(|| json!({})).as_object_mut() {
            plugins.insert(name, Value::Bool(false));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::setup::{Places, Request, Setup, StatusLine};

    const OWN: &str = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/b/agent-tracer-hook", "args": ["claude"]}]}]}}"#;

    struct World<'a> {
        files: &'a [(&'a str, &'a str)],
        home: Option<&'a str>,
    }

    impl World<'_> {
        /// Returns the arguments after ours, and our settings.
        fn start(&self, arguments: &[&str]) -> (Vec<String>, Value) {
            let start = self.whole(arguments);
            let mut words = start.arguments.iter().map(|word| word.to_str().expect("text").to_owned());
            assert_eq!(
                [words.next().as_deref(), words.next().as_deref()],
                [Some("--settings"), Some("/run/settings.json")]
            );
            let (_, text) = start.files.first().expect("a file");
            (words.collect(), serde_json::from_str(text).expect("JSON"))
        }

        fn whole(&self, arguments: &[&str]) -> SessionStart {
            let request = Request {
                hook: "/b/agent-tracer-hook".to_owned(),
                home: self.home.map(str::to_owned),
                client: crate::ClientVersion::parse("2.1.326"),
                events: None,
                tools: None,
                status_line: StatusLine::Leave,
            };
            let (home, project) = (Path::new("/h/.claude"), Path::new("/p"));
            let places = Places { home, directory: project, repository: project };
            let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
            let read = |path: &Path| {
                let found = self.files.iter().find(|(name, _)| Path::new(name) == path);
                found.map(|(_, text)| (*text).to_owned())
            };
            let session = SessionRequest {
                request: &request,
                places: &places,
                folder: Path::new("/run"),
                arguments: &arguments,
                read: &read,
            };
            super::super::setup::ClaudeSetup.session(&session).expect("a start")
        }
    }

    fn hooks<'a>(settings: &'a Value, event: &str) -> Vec<&'a Value> {
        settings["hooks"][event].as_array().into_iter().flatten().map(|group| &group["hooks"][0]).collect()
    }

    #[test]
    fn all_events_are_registered_and_the_arguments_pass_untouched() {
        let world = World { files: &[], home: None };
        let (words, settings) = world.start(&["-p", "--model", "x", "say --settings"]);
        assert_eq!(words, ["-p", "--model", "x", "say --settings"]);
        assert_eq!(
            hooks(&settings, "Stop"),
            [&json!({"type": "command", "command": "/b/agent-tracer-hook", "args": ["claude"]})]
        );
        assert!(hooks(&settings, "PreToolUse").len() == 1 && hooks(&settings, "WorktreeCreate").is_empty());
        assert_eq!(settings.get("statusLine"), None);
    }

    #[test]
    fn settings_that_the_user_names_go_into_ours() {
        let theirs =
            r#"{"model": "x", "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "mine"}]}]}}"#;
        let files = [("/p/own.json", theirs)];
        let world = World { files: &files, home: None };
        let joined = format!("--settings={theirs}");
        for words in [&["--settings", "own.json", "-c"][..], &["-c", "--settings", theirs], &["-c", &joined]]
        {
            let (left, settings) = world.start(words);
            assert_eq!(left, ["-c"]);
            assert_eq!(settings["model"], "x");
            let commands: Vec<_> = hooks(&settings, "Stop").iter().map(|hook| &hook["command"]).collect();
            assert_eq!(commands, ["mine", "/b/agent-tracer-hook"]);
        }
        let (left, _) = world.start(&["--", "--settings", "own.json"]);
        assert_eq!(left, ["--", "--settings", "own.json"]);
    }

    #[test]
    fn settings_that_cannot_be_read_are_left_to_the_client() {
        let world = World { files: &[("/p/broken.json", "{")], home: None };
        for words in [["--settings", "missing.json"], ["--settings", "broken.json"], ["--settings", "{]"]] {
            let start = world.whole(&words);
            assert_eq!(start.arguments, words);
            assert!(start.files.is_empty());
        }
    }

    #[test]
    fn an_event_that_is_installed_already_is_not_registered_again() {
        for path in ["/h/.claude/settings.json", "/p/.claude/settings.json", "/p/.claude/settings.local.json"]
        {
            let files = [(path, OWN)];
            let world = World { files: &files, home: None };
            let (_, settings) = world.start(&[]);
            assert!(hooks(&settings, "Stop").is_empty(), "{path}");
            assert_eq!(hooks(&settings, "StopFailure").len(), 1);
        }
        let files = [("/h/.claude/settings.json", OWN)];
        let world = World { files: &files, home: None };
        let (_, settings) = world.start(&["--setting-sources", "project,local"]);
        assert_eq!(hooks(&settings, "Stop").len(), 1, "the user's file is not loaded");
    }

    #[test]
    fn a_hook_for_another_home_records_beside_ours() {
        let other = OWN.replace(r#"["claude"]"#, r#"["claude", "--home", "/other"]"#);
        let files = [("/h/.claude/settings.json", other.as_str())];
        let (_, settings) = World { files: &files, home: None }.start(&[]);
        assert_eq!(hooks(&settings, "Stop").len(), 1);
        let (_, settings) = World { files: &files, home: Some("/named") }.start(&[]);
        assert!(hooks(&settings, "Stop").is_empty(), "the variable sends it to the named home");
    }

    #[test]
    fn our_plugin_is_switched_off_and_no_other() {
        let enabled = r#"{"enabledPlugins": {"agent-tracer@agent-tracer": true, "other@x": true}}"#;
        let (_, settings) = World { files: &[("/h/.claude/settings.json", enabled)], home: None }.start(&[]);
        assert_eq!(settings["enabledPlugins"], json!({"agent-tracer@agent-tracer": false}));
    }
}
