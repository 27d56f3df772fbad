//! Words that do not come back into the tree.
//!
//! Law: each top-level room (`crates/ledger`, `web`, `docs`, …) has an allowance, and a room with more than its allowance fails.
//! The allowance only ever shrinks.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Words of prose. A word counts alone, in any case, and as a part of a name (`told_by`, `ToldBy`).
const PROSE: &[(&str, &str)] = &[
    ("told", "name the act: recorded, reported, sent, written, received"),
    ("heard", "name the act: received, seen, read"),
    ("nobody", "name the subject: no user, no rule, no destination configured"),
    ("somebody", "name the subject: a user, a person, another process"),
    ("whoever", "name the subject: the caller, the reader, the server"),
    ("anybody", "name the subject: a user, a reader, another process"),
    ("everybody", "name the subject: all users, all owners, every reader"),
];

/// Names of types, traits, modules and functions. A name counts only as a whole, whatever its case.
const NAMES: &[(&str, &str)] = &[
    ("Told", "a participle: name the value (`SourcedEntry`)"),
    ("Heard", "a participle: name the value (`FieldChange`)"),
    ("Shown", "a participle: name the view, or use a verb (`render`)"),
    ("Kept", "a participle: name the codec, row or setting"),
    ("Sought", "a participle: name the query (`FtsQuery`)"),
    ("Whose", "a pronoun: `OwnerFilter`"),
    ("Wanted", "a participle: name the request"),
    ("Asked", "a participle: `QueryParams`"),
    ("Looked", "a participle: `ReloadReport`"),
    ("Past", "an adjective: `TaskHistory`"),
    ("Doors", "a picture: `ServerDeps`"),
    ("Desk", "a picture: `PolicyServer`"),
    ("Clerk", "a picture: `PolicyWorker`"),
    ("Book", "a picture: `ActiveRules`"),
    ("Kin", "a picture: `TaskColumns`"),
    ("Fate", "a picture: `Disposition`"),
    ("Far", "an adjective: `FallbackSocket`"),
    ("Wish", "a picture: `InstallRequest`"),
    ("Patient", "a picture: `DoctorContext`"),
    ("letting_go", "an idiom: `retention`"),
    ("put_off", "an idiom: `defer`"),
    ("lay_over", "an idiom: `overlay`"),
    ("become_it", "a pronoun: `exec_guard`"),
    ("Rejected", "a participle: `RejectedEvent`"),
    ("Which", "a pronoun: name the choice"),
    ("Gathered", "a participle: name the result"),
    ("InForce", "a clause: name the setting and its value"),
    ("Greet", "a verb as a type: name the message"),
    ("Nest", "a picture: name the structure"),
    ("tend", "a picture: name the upkeep"),
    ("Rewritten", "a participle: `RewriteOutcome`"),
    ("NotJudged", "a clause: `UnevaluatedEvents`"),
    ("RuleFound", "a clause: `RuleReport`"),
    ("Tiered", "a participle: name the prices"),
    ("News", "a picture: `ArrivalUpdate`"),
    ("Flight", "a picture: `PartInFlight`"),
    ("Letters", "a picture: name the characters or the stream"),
    ("UsageBook", "a picture: name the table or the sums"),
    ("mine", "a pronoun: `task_filter`"),
    ("my_facts", "a pronoun: `fact_filter`"),
    ("my_owners", "a pronoun: `owner_filter`"),
    ("each_named", "a participle: `visit_named`"),
    ("found_words", "a participle: `add_words`"),
];

/// First words of a rustdoc summary that make it a clause instead of a sentence: begin with a verb ("Returns", "Holds").
const OPENINGS: &[&str] = &["What", "Who", "Whose", "Whether", "Which", "How", "When", "Where"];

/// Files that programs write, which repeat the words of their sources.
const GENERATED: &[&str] = &["docs/cli.md", "docs/events.md", "docs/tables.md"];

/// Stored names, which outlive the code: a word does not count on a line with the fragment.
const STORED: &[(&str, &str, &str)] = &[
    ("told", "rename = \"told\"", "a field of the stored state of a rollout's reader"),
    ("told", "b\"told\"", "a name in the stored state of a transcript's reader"),
    ("told", "session, told", "a column of the table `task` in `ledger.db`"),
    ("told", "agent, told", "the same column"),
    ("told", "SET told =", "the same column"),
    ("told", "t.told", "the same column"),
    ("told", "name == \"told\"", "the same column"),
    ("told", "told = coalesce(?14, told)", "the same column"),
    ("heard", "text(\"Heard it.\")", "the text of a captured scenario"),
    ("nobody", "Nobody inspects the spammish repetition", "a published test vector of XXH64"),
];

/// How often each room still breaks a rule of this page.
///
/// To lower it: take the words out, run `cargo test -p agent-tracer-house words` and write the printed count here.
const ALLOWED: &[(&str, usize)] = &[
    ("bench", 2),
    ("crates/agents", 12),
    ("crates/cli", 5),
    ("crates/event", 2),
    ("crates/ledger", 13),
    ("crates/server", 5),
    ("tests", 2),
];

/// One broken rule.
struct Finding {
    place: String,
    word: &'static str,
    reason: &'static str,
}

#[test]
fn banned_words_do_not_come_back() {
    let root = super::root();
    let mut files = Vec::new();
    collect(&root, &mut files);
    assert!(files.len() > 500, "the walk found the sources");
    let mut rooms: BTreeMap<String, Vec<Finding>> = BTreeMap::new();
    for path in &files {
        let inside = path.strip_prefix(&root).expect("a file of the tree").to_string_lossy().into_owned();
        if GENERATED.contains(&inside.as_str()) || inside == "tests/house/tests/words.rs" {
            continue;
        }
        let text = fs::read_to_string(path).expect("text");
        let found = scan(&inside, &text);
        if !found.is_empty() {
            rooms.entry(room_of(&inside)).or_default().extend(found);
        }
    }
    let allowed: BTreeMap<&str, usize> = ALLOWED.iter().copied().collect();
    let mut failures = String::new();
    for (room, found) in &rooms {
        let limit = allowed.get(room.as_str()).copied().unwrap_or(0);
        if found.len() > limit {
            failures.push_str(&complaint(room, limit, found));
        }
    }
    report_progress(
        "words",
        allowed.iter().map(|(room, limit)| (*room, rooms.get(*room).map_or(0, Vec::len), *limit)),
    );
    assert!(failures.is_empty(), "{failures}");
}

/// Prints which allowances can be lowered.
pub(super) fn report_progress<'room>(rule: &str, counts: impl Iterator<Item = (&'room str, usize, usize)>) {
    for (room, count, limit) in counts.filter(|(_, count, limit)| count < limit) {
        // Written past the capture of tests, so that a run that passes shows what to lower.
        let line = format!("{rule}: `{room}` is down to {count} from {limit}\n");
        std::io::stderr().write_all(line.as_bytes()).expect("a standard error");
    }
}

/// Returns the top-level room of a file: `crates/NAME`, the first folder, or `.` for files of the root.
pub(super) fn room_of(inside: &str) -> String {
    let parts: Vec<&str> = inside.split('/').collect();
    match parts.as_slice() {
        ["crates", name, _, ..] => format!("crates/{name}"),
        [folder, _, ..] => (*folder).to_owned(),
        _ => ".".to_owned(),
    }
}

/// Writes which findings a room has and how to make the test pass.
fn complaint(room: &str, limit: usize, found: &[Finding]) -> String {
    let mut text = format!(
        "`{room}` has {} banned words, {limit} are allowed (the newest are among these):\n",
        found.len()
    );
    for finding in found.iter().take(60) {
        text.push_str(&format!("  {}: `{}`: {}\n", finding.place, finding.word, finding.reason));
    }
    if found.len() > 60 {
        text.push_str(&format!("  … and {} more; `git diff` shows the lines you added\n", found.len() - 60));
    }
    text.push_str(
        "hint: reword the lines you added. The allowance in tests/house/tests/words.rs is never raised; when a count \
         goes down, write the new one there\n",
    );
    text
}

fn scan(inside: &str, text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    let code = !inside.ends_with(".md");
    let mut before = "";
    for (number, line) in text.lines().enumerate() {
        let place = || format!("{inside}:{}", number + 1);
        let trimmed = line.trim_start();
        for word in words(line) {
            if let Some((word, reason)) = PROSE.iter().find(|(banned, _)| word.eq_ignore_ascii_case(banned))
                && !STORED.iter().any(|(stored, fragment, _)| stored == word && line.contains(fragment))
            {
                found.push(Finding { place: place(), word, reason });
            }
        }
        if code && !trimmed.starts_with("//") && !trimmed.starts_with('*') && !trimmed.starts_with('#') {
            for name in declared(line) {
                if let Some((word, reason)) = NAMES.iter().find(|(banned, _)| same_name(name, banned)) {
                    found.push(Finding { place: place(), word, reason });
                }
            }
        }
        if inside.ends_with(".rs") {
            for marker in ["///", "//!"] {
                let Some(summary) = trimmed.strip_prefix(marker) else { continue };
                if before.starts_with(marker) {
                    continue;
                }
                let first =
                    summary.split(|letter: char| !letter.is_ascii_alphabetic()).find(|w| !w.is_empty());
                let opens = summary.starts_with(' ').then_some(first).flatten();
                if let Some(word) = OPENINGS.iter().find(|opening| opens == Some(**opening)) {
                    found.push(Finding { place: place(), word, reason: "begin the summary with a verb" });
                }
            }
        }
        before = trimmed;
    }
    if let Some(stem) = module_stem(inside)
        && let Some((word, reason)) = NAMES.iter().find(|(banned, _)| same_name(stem, banned))
    {
        found.push(Finding { place: inside.to_owned(), word, reason });
    }
    found
}

/// Returns the words of a line, with `snake_case` and `CamelCase` names taken apart.
fn words(line: &str) -> Vec<String> {
    let mut parts: Vec<String> = vec![String::new()];
    let mut lower = false;
    for letter in line.chars() {
        let starts = !letter.is_ascii_alphabetic() || (lower && letter.is_ascii_uppercase());
        if starts && parts.last().is_some_and(|part| !part.is_empty()) {
            parts.push(String::new());
        }
        if letter.is_ascii_alphabetic()
            && let Some(part) = parts.last_mut()
        {
            part.push(letter);
        }
        lower = letter.is_ascii_lowercase();
    }
    parts
}

/// Returns the names that a line declares as a type, trait, module or function.
fn declared(line: &str) -> impl Iterator<Item = &str> {
    const KEYWORDS: [&str; 11] =
        ["struct", "enum", "trait", "union", "type", "mod", "fn", "class", "interface", "function", "def"];
    let pieces = line.split_whitespace();
    pieces.clone().zip(pieces.skip(1)).filter(|(keyword, _)| KEYWORDS.contains(keyword)).filter_map(
        |(_, piece)| piece.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').next(),
    )
}

/// Returns whether two names are the same but for case and underscores.
fn same_name(name: &str, banned: &str) -> bool {
    let plain = |text: &str| text.replace('_', "").to_ascii_lowercase();
    plain(name) == plain(banned)
}

/// Returns the name that a file has as a module where no declaration repeats it.
fn module_stem(inside: &str) -> Option<&str> {
    let name = inside.rsplit('/').next()?;
    let (stem, ending) = name.split_once('.')?;
    matches!(ending, "ts" | "svelte" | "py" | "svelte.ts").then_some(stem)
}

/// Collects the files of the tree that people read.
pub(super) fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a readable folder").flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            let skipped = ["target", "node_modules", "dist", "fixtures", ".git", ".cache", "generated"];
            if !skipped.contains(&name.as_str()) {
                collect(&path, out);
            }
        } else if [".rs", ".ts", ".svelte", ".md", ".py"].iter().any(|ending| name.ends_with(ending)) {
            out.push(path);
        }
    }
}
