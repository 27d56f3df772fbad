//! Titles of commands, for people.
//!
//! A title names an operation and its targets in a few words and at most [`MAX_TITLE`] characters. It shows nothing
//! that is not in the command.

use crate::decide;
use crate::draft::{Access, Draft};
use crate::effect::Effect;
use crate::model::TargetType;
use crate::semantics::{is_format, is_type_check};

/// Longest title, in characters.
const MAX_TITLE: usize = 100;
/// Longest part of a title that quotes the command.
const MAX_QUOTE: usize = 72;

/// Returns the title of a command line.
pub(crate) fn title(steps: &[Draft], root: &str) -> String {
    let Some(decisive) = decide::decisive(steps) else { return "Empty command".to_owned() };
    let Some(main) = steps.get(decisive) else { return "Empty command".to_owned() };
    let main_weight = decide::weight(main);
    // Beside the decisive step, only what changes something is worth a word; among probes, any other probe.
    let bar = if main_weight >= 400 { 500 } else { 150 };
    let others: Vec<usize> = steps
        .iter()
        .enumerate()
        .filter(|(position, step)| {
            *position != decisive
                && decide::weight(step) >= bar
                && !decide::is_preparation(decide::meaning(step))
        })
        .map(|(position, _)| position)
        .collect();
    let own = whole_phrase(main, root);
    let text = match others.as_slice() {
        [] => own,
        [other] => {
            let other_phrase = steps.get(*other).map(|step| whole_phrase(step, root)).unwrap_or_default();
            if other_phrase == own {
                own
            } else if *other < decisive {
                format!("{other_phrase}, then {}", lower_first(&own))
            } else {
                format!("{own}, then {}", lower_first(&other_phrase))
            }
        }
        more => format!("{own} and {} more steps", more.len()),
    };
    // A name may hold a line break: that of a step which is a substitution that never ends.
    cut(&text.replace(['\n', '\r'], " "), MAX_TITLE)
}

/// Returns the phrase for a step together with the steps that feed it, such as `curl … | sh`.
fn whole_phrase(step: &Draft, root: &str) -> String {
    let main = decide::meaning(step);
    if step.all_effects().has(Effect::RemoteExecution)
        && let Some(source) = fetched_from(step)
    {
        return format!("Run a script from {source}");
    }
    // `find … | xargs rm`: what is deleted stands in another member.
    let finder = step.members.iter().find(|member| matches!(member.operation, "search" | "list"));
    if main.operation == "delete_file"
        && main.aims.is_empty()
        && let Some(finder) = finder
    {
        return format!("Delete what `{}` finds", cut(&finder.quote_source.text(root), 60));
    }
    let place = match main.wrappers.iter().rev().find(|wrapper| is_elsewhere(wrapper)) {
        Some(wrapper) if wrapper.contains("ssh") => " over ssh",
        Some(_) => " in a container",
        None => "",
    };
    format!("{}{place}", phrase(main, root))
}

/// Wrappers that run their command on another machine or in a container.
fn is_elsewhere(wrapper: &str) -> bool {
    wrapper.contains("ssh")
        || ["docker", "podman", "nerdctl", "kubectl", "oc "]
            .into_iter()
            .any(|start| wrapper.starts_with(start))
}

/// Returns the address from which code is fetched and run.
fn fetched_from(step: &Draft) -> Option<String> {
    let fetches = matches!(step.operation, "fetch_url" | "download");
    let own = if fetches { url(step) } else { None };
    own.or_else(|| step.members.iter().chain(&step.substitutions).find_map(fetched_from))
}

/// Returns the phrase for one step.
fn phrase(draft: &Draft, root: &str) -> String {
    let words = || quote(draft, root);
    let detail =
        draft.detail.as_deref().map(|detail| cut(detail, MAX_QUOTE)).filter(|detail| !detail.is_empty());
    let read = || list(draft, &[Access::Read, Access::Look, Access::Run]);
    let written = || list(draft, &[Access::Write]);
    let deleted = || list(draft, &[Access::Delete]);
    let with = |verb: &str, what: Option<String>| match what {
        Some(what) => format!("{verb} {what}"),
        None => format!("{verb}: {}", words()),
    };
    match draft.operation {
        "run_test" => format!("Run tests: {}", words()),
        "run_lint" if is_type_check(draft) => format!("Type-check: {}", words()),
        "run_lint" if is_format(draft) => format!("Format: {}", words()),
        "run_lint" => format!("Lint: {}", words()),
        "run_build" => format!("Build: {}", words()),
        "verify" => format!("Check: {}", words()),
        "install_dependency" => with("Install", packages(draft).or(Some("dependencies".to_owned()))),
        "remove_dependency" => with("Remove", packages(draft)),
        "search" => search(draft),
        "list" => with_place("List", read(), "List the directory"),
        "read_file" => with("Read", read()),
        "read_range" => read_range(draft, root),
        "follow" => with("Follow", read()),
        "limit_output" | "filter" | "sort_output" | "transform" => match read() {
            Some(files) => {
                format!("{} {files}", if draft.operation == "transform" { "Process" } else { "Read" })
            }
            None => format!("Filter output: {}", words()),
        },
        "compare" => with("Compare", read()),
        "compute_hash" => with("Hash", read()),
        "write_file" => with("Write", written()),
        "append_file" => with("Append to", written()),
        "edit_in_place" | "modify_file" => with("Edit", written()),
        "create_file" => with("Create", written()),
        "create_directory" => with("Create directory", written()),
        "change_mode" => with("Change permissions of", written()),
        "delete_file" if is_finder(&draft.name) => {
            let what = draft
                .selectors
                .pattern
                .as_deref()
                .map_or("files".to_owned(), |name| format!("`{}`", cut(name, 48)));
            with_place(&format!("Delete {what} in"), read(), &format!("Delete {what}"))
        }
        "delete_file" => with("Delete", deleted()),
        "rename_file" => moved("Move", draft, &[Access::Delete], root),
        "copy_file" => moved("Copy", draft, &[Access::Read], root),
        "link_file" => moved("Link", draft, &[Access::Mention], root),
        "pack" => with("Pack", written()),
        "unpack" => with("Unpack", read()),
        "apply_patch" => with("Patch", list(draft, &[Access::Write, Access::Delete])),
        "fetch_url" => with("Fetch", url(draft)),
        "download" => match (url(draft), written()) {
            (Some(url), Some(file)) => format!("Download {url} to {file}"),
            (Some(url), None) => format!("Download {url}"),
            (None, _) => format!("Download: {}", words()),
        },
        "send_request" => match (&detail, url(draft)) {
            (Some(method), Some(url)) => format!("{method} {url}"),
            _ => format!("Send a request: {}", words()),
        },
        "change_directory" => with("Go to", list(draft, &[Access::Mention])),
        "print" => with("Print", detail.map(|text| format!("“{}”", cut(&one_line(&text), 60)))),
        "wait" if draft.name == "sleep" => with("Wait", detail.map(seconds)),
        "wait" => with("Wait", detail),
        "execute_program"
            if draft.aims.iter().any(|aim| aim.access == Access::Run && aim.kind == TargetType::File) =>
        {
            with("Run", list(draft, &[Access::Run]))
        }
        "execute_code" => format!("Run {} code", draft.name),
        "start_server" => format!("Start: {}", words()),
        "stop_process" => with("Stop", detail),
        "delete_resource" => match detail {
            Some(what) => format!("Delete {what} with {}", draft.name),
            None => format!("Run {}", words()),
        },
        "deploy" | "change_cloud" | "change_forge" => format!("Run {}", words()),
        "query_database" => {
            let verb = if draft.effects.gravest() >= Effect::Write { "Change" } else { "Query" };
            format!("{verb} the database: {}", detail.unwrap_or_else(words))
        }
        "dry_run" => format!("Dry run: {}", words()),
        "inspect_version" => format!("Ask {} about itself", draft.name),
        _ => git_phrase(draft, detail, root).unwrap_or_else(|| format!("Run {}", words())),
    }
}

/// Returns the duration in an argument of `sleep`, where a bare number means seconds.
fn seconds(word: String) -> String {
    if word.parse::<f64>().is_ok() { format!("{word} s") } else { word }
}

fn git_phrase(draft: &Draft, detail: Option<String>, root: &str) -> Option<String> {
    let files = || list(draft, &[Access::Read, Access::Look, Access::Write]);
    let or = |what: Option<String>, otherwise: &str| what.unwrap_or_else(|| otherwise.to_owned());
    Some(
        match draft.operation {
            "inspect_status" => "Check git status".to_owned(),
            "inspect_diff" => with_place("Show changes in", files(), "Show changes"),
            "inspect_history" if draft.name == "git" => match draft.subcommand.as_deref() {
                Some("blame") => with_place("Blame", files(), "Blame"),
                Some("show") => {
                    format!("Show {}", or(shown_objects(&draft.quote_source.text(root)), "the last commit"))
                }
                Some("log" | "shortlog" | "reflog" | "whatchanged") => {
                    with_place("Show history of", files(), "Show git history")
                }
                _ => return None,
            },
            "stage" => format!("Stage {}", or(detail.or(files()), "changes")),
            "unstage" => format!("Unstage {}", or(files(), "changes")),
            "commit" => match detail {
                Some(message) => format!("Commit: {message}"),
                None => "Commit".to_owned(),
            },
            "switch_branch" => match detail.as_deref() {
                Some("-") => "Switch to the previous branch".to_owned(),
                _ => format!("Switch to {}", or(detail, "another branch")),
            },
            "create_branch" => format!("Create branch {}", or(detail, "")),
            "delete_branch" => format!("Delete branch {}", or(detail, "")),
            "create_tag" => format!("Tag {}", or(detail, "")),
            "delete_tag" => format!("Delete tag {}", or(detail, "")),
            "merge" => format!("Merge {}", or(detail, "")),
            "rebase" => format!("Rebase onto {}", or(detail, "its base")),
            "discard_changes" => format!("Discard changes in {}", or(files(), "files")),
            "reset_hard" => format!("Throw away changes: {}", quote(draft, root)),
            "stash" => "Stash changes".to_owned(),
            "drop_stash" => "Drop stashed changes".to_owned(),
            "clean_worktree" => "Delete untracked files".to_owned(),
            "publish" if draft.name == "git" => format!("Push {}", or(detail, "")),
            "force_publish" => format!("Force-push {}", or(detail, "")),
            "fetch_repo" if draft.subcommand.as_deref() == Some("clone") => {
                format!("Clone {}", or(url(draft), "a repository"))
            }
            "fetch_repo" if draft.subcommand.as_deref() == Some("pull") => format!("Pull {}", or(detail, "")),
            "fetch_repo" if draft.subcommand.as_deref() == Some("fetch") => {
                format!("Fetch {}", or(detail, ""))
            }
            _ => return None,
        }
        .trim_end()
        .to_owned(),
    )
}

/// Programs that look for files by name.
fn is_finder(name: &str) -> bool {
    matches!(name, "find" | "gfind" | "fd" | "fdfind" | "locate" | "mdfind")
}

fn search(draft: &Draft) -> String {
    let places = list(draft, &[Access::Read, Access::Look, Access::Delete]);
    let by_name = is_finder(&draft.name);
    let what = match (&draft.selectors.pattern, by_name) {
        (Some(pattern), true) => format!("Find `{}`", cut(&one_line(pattern), 48)),
        (Some(pattern), false) => format!("Search for `{}`", cut(&one_line(pattern), 48)),
        (None, true) => "Find files".to_owned(),
        (None, false) => "Search".to_owned(),
    };
    match places.filter(|places| places != ".") {
        Some(places) => format!("{what} in {places}"),
        None => what,
    }
}

fn read_range(draft: &Draft, root: &str) -> String {
    let Some(files) = list(draft, &[Access::Read]) else {
        return format!("Filter output: {}", quote(draft, root));
    };
    let Some(range) = &draft.selectors.line_range else { return format!("Read {files}") };
    match range.split_once('-') {
        Some(("", last)) => format!("Read the last {last} lines of {files}"),
        Some((first, "")) => format!("Read {files} from line {first}"),
        Some((first, last)) if first == last => format!("Read {files}, line {first}"),
        Some((first, last)) => format!("Read {files}, lines {first}–{last}"),
        None => format!("Read {files}"),
    }
}

fn moved(verb: &str, draft: &Draft, from: &[Access], root: &str) -> String {
    // A place on another machine is an address, whichever side it is on.
    let source = list(draft, from).or_else(|| url(draft));
    let target =
        list(draft, &[Access::Write]).or_else(|| url(draft).filter(|url| source.as_ref() != Some(url)));
    match (source, target) {
        (Some(from), Some(to)) => format!("{verb} {from} to {to}"),
        (Some(from), None) => format!("{verb} {from}"),
        _ => format!("{verb}: {}", quote(draft, root)),
    }
}

fn with_place(verb: &str, place: Option<String>, otherwise: &str) -> String {
    match place.filter(|place| place != ".") {
        Some(place) => format!("{verb} {place}"),
        None => otherwise.to_owned(),
    }
}

/// Returns the targets that are reached in one of these ways, as a person would list them.
fn list(draft: &Draft, ways: &[Access]) -> Option<String> {
    let mut values: Vec<&str> = Vec::new();
    for aim in &draft.aims {
        let counts =
            ways.contains(&aim.access) && aim.kind != TargetType::Stream && aim.kind != TargetType::Workspace;
        if counts && !values.contains(&aim.value.as_str()) {
            values.push(&aim.value);
        }
    }
    enumerate(&values)
}

fn packages(draft: &Draft) -> Option<String> {
    let values: Vec<&str> = draft
        .aims
        .iter()
        .filter(|aim| matches!(aim.kind, TargetType::Package | TargetType::Url))
        .map(|aim| aim.value.as_str())
        .collect();
    enumerate(&values)
}

fn url(draft: &Draft) -> Option<String> {
    let aim = draft.aims.iter().find(|aim| matches!(aim.kind, TargetType::Url | TargetType::Unknown))?;
    Some(cut(&one_line(&aim.value), MAX_QUOTE))
}

fn enumerate(values: &[&str]) -> Option<String> {
    let shown = |value: &str| cut(&one_line(value), 60);
    match values {
        [] => None,
        [one] => Some(shown(one)),
        [one, two] => Some(format!("{} and {}", shown(one), shown(two))),
        [one, two, rest @ ..] => Some(format!("{}, {} and {} more", shown(one), shown(two), rest.len())),
    }
}

fn quote(draft: &Draft, root: &str) -> String {
    let words = draft.quote_source.text(root);
    cut(if words.is_empty() { &draft.name } else { &words }, MAX_QUOTE)
}

/// Returns the objects in a call of `git show`: its words without the options.
fn shown_objects(words: &str) -> Option<String> {
    let objects: Vec<&str> = words.split(' ').skip(2).filter(|word| !word.starts_with('-')).collect();
    (!objects.is_empty()).then(|| cut(&objects.join(" "), MAX_QUOTE))
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cuts a text to a number of characters, with an ellipsis where something is missing.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    match characters.next() {
        Some(first) => first.to_lowercase().chain(characters).collect(),
        None => String::new(),
    }
}
