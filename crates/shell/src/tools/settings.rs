//! Arguments that make a command, or later ones, mean something else than their words: settings of `git` that hold
//! commands or force a push, and options that come out of a variable.

use crate::arguments::listed;
use crate::draft::Draft;
use crate::exposure::Opacity;
use crate::syntax::ast::Part;
use crate::walk::{awk, sed};
use crate::words::Field;

/// Programs to which an option more or less makes a great difference.
const SENSITIVE: &str = "git rm mv cp ln find curl wget rsync scp dd tar chmod chown docker kubectl gh npm sed truncate shred ssh psql";

/// Notes what the arguments of a program hide.
pub(crate) fn notice(name: &str, rest: &[Field<'_>], draft: &mut Draft) {
    if listed(SENSITIVE, name) && rest.iter().any(may_be_an_option) && !is_harmless(draft.operation) {
        draft.opaque.add(Opacity::Variable);
    }
    if name == "git" {
        git(rest, draft);
    }
    // What is in the file runs later on.
    let given = |field: &Field<'_>| !field.is_option();
    if name == "crontab" && rest.iter().any(given)
        || matches!(name, "at" | "batch") && rest.iter().any(|field| field.text.starts_with("-f"))
    {
        draft.opaque.add(Opacity::Script);
    }
    let texts = || rest.iter().map(|field| &*field.text);
    let given_file =
        |options: &[&str]| texts().any(|text| options.iter().any(|option| text.starts_with(option)));
    let opacity = match name {
        "awk" | "gawk" | "mawk" | "nawk" => {
            if given_file(&["-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"]) {
                Some(Opacity::Script)
            } else {
                awk::programs(rest).into_iter().any(awk::hides).then_some(Opacity::Code)
            }
        }
        "sed" | "gsed" if given_file(&["-f", "--file"]) => Some(Opacity::Script),
        "sed" | "gsed" => {
            let runs = sed::read(&sed::script(rest));
            (runs.runs_text || runs.broken).then_some(Opacity::Code)
        }
        "dc" if texts().any(|text| !text.starts_with('-')) && !texts().any(|text| text.starts_with("-e") || text.starts_with("--e")) => {
            Some(Opacity::Script)
        }
        "cmake" if texts().any(|text| text == "-P") => Some(Opacity::Script),
        "sqlite3" | "duckdb" if texts().any(|text| text.trim_start().starts_with(".read")) => {
            Some(Opacity::Script)
        }
        "make" | "gmake" if texts().any(|text| text.starts_with("SHELL=")) => Some(Opacity::Task),
        "parallel" if !matches!(draft.operation, "delete_file") => Some(Opacity::Input),
        "open" | "xdg-open" | "start" if texts().any(is_runnable) => Some(Opacity::Script),
        "tox" | "nox" => texts().any(names_other_task).then_some(Opacity::Task),
        // The subscript of an array is worked out, and what stands in it runs.
        "test" | "[" | "let" | "read" | "printf" | "declare" | "typeset" | "local" | "export" | "unset" => {
            texts().any(|text| text.contains("[$(") || text.contains("[`")).then_some(Opacity::Code)
        }
        _ => None,
    };
    opacity.into_iter().for_each(|opacity| draft.opaque.add(opacity));
    let sets_shell =
        |field: &Field<'_>| field.text.to_ascii_lowercase().replace('_', "-").contains("script-shell");
    if matches!(name, "npm" | "pnpm" | "yarn") && rest.iter().any(sets_shell) {
        draft.opaque.add(Opacity::Setting);
    }
}

/// Whether the desktop runs a file of this name instead of showing it.
fn is_runnable(path: &str) -> bool {
    let endings =
        [".bat", ".cmd", ".command", ".sh", ".exe", ".app", ".desktop", ".jar", ".ps1", ".py", ".workflow"];
    endings.iter().any(|ending| path.ends_with(ending))
}

/// Whether a session of a test runner is named after something other than a check.
fn names_other_task(name: &str) -> bool {
    use super::scripts::{Purpose, purpose};
    !name.starts_with(['-', '.', '/'])
        && !name.starts_with("py")
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && matches!(purpose(name), Purpose::Clean | Purpose::Publish | Purpose::Serve | Purpose::Other)
}

/// Operations that stay what they are with any option.
fn is_harmless(operation: &str) -> bool {
    matches!(
        operation,
        "inspect_diff"
            | "inspect_history"
            | "inspect_refs"
            | "inspect_status"
            | "commit"
            | "list"
            | "stop_container"
            | "stop_process"
            | "switch_branch"
            | "create_branch"
            | "inspect_container"
            | "read_log"
    )
}

/// A word that is nothing but an expansion, outside quotes: it may be any number of arguments.
fn may_be_an_option(field: &Field<'_>) -> bool {
    if !field.dynamic || !field.alternatives.is_empty() {
        return false;
    }
    match field.word.map(|word| word.parts.as_slice()) {
        Some([Part::Parameter(parameter)]) => !parameter.quoted && !field.text.starts_with("$HOME"),
        Some([Part::Command(command)]) => !command.quoted,
        Some([Part::Backtick(_)]) | None => true,
        Some(_) => false,
    }
}

fn git(rest: &[Field<'_>], draft: &mut Draft) {
    let texts: Vec<&str> = rest.iter().map(|field| &*field.text).collect();
    for (option, setting) in texts.iter().zip(texts.iter().skip(1)) {
        if *option == "-c" || *option == "--config-env" {
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            if changes_meaning(key, value) {
                draft.opaque.add(Opacity::Setting);
            }
        }
    }
    for setting in texts.iter().filter_map(|text| text.strip_prefix("--config-env=")) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        if changes_meaning(key, value) {
            draft.opaque.add(Opacity::Setting);
        }
    }
    // Commands of `git` that are programs of their own come from there.
    if texts.iter().any(|text| text.starts_with("--exec-path=")) {
        draft.opaque.add(Opacity::Setting);
    }
    let words: Vec<&str> = texts.iter().copied().filter(|text| !text.starts_with('-')).collect();
    if let Some(at) = words.iter().position(|word| *word == "config") {
        let given = words.get(at + 1..).unwrap_or_default();
        let given = given.strip_prefix(&["set"]).unwrap_or(given);
        if let [key, value, ..] = given
            && !matches!(*key, "get" | "list" | "unset" | "get-all")
            && changes_meaning(key, value)
        {
            draft.opaque.add(Opacity::Setting);
        }
    }
}

/// Settings that hold a command or a file of settings, or make a push force or a fetch go elsewhere.
fn changes_meaning(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (section, last) =
        (key.split('.').next().unwrap_or_default(), key.rsplit('.').next().unwrap_or_default());
    match (section, last) {
        ("alias" | "include" | "includeif" | "filter" | "url" | "protocol" | "difftool" | "mergetool", _) => {
            true
        }
        ("core", "hookspath" | "sshcommand" | "fsmonitor" | "gitproxy" | "askpass" | "attributesfile") => {
            true
        }
        ("core", "pager" | "editor") | ("sequence", "editor") | ("pager", _) => {
            !matches!(value.trim(), "cat" | "true" | ":" | "less" | "" | "false" | "delta")
        }
        ("remote", "push") => value.starts_with('+'),
        ("remote", "mirror") => !matches!(value, "false" | "0" | "no"),
        ("remote", "receivepack" | "uploadpack" | "proxy" | "vcs" | "pushurl" | "url") => true,
        ("diff", "external" | "command" | "textconv") | ("merge", "driver") => true,
        ("gpg", "program") | ("credential", "helper") | ("init", "templatedir") | ("uploadpack", _) => true,
        ("http" | "https", "proxy") => true,
        _ => false,
    }
}
