//! The tools, commands and texts of the made-up history.

use super::dice::Dice;

/// Pieces of text, escaped as in JSON.
const PIECES: &[&str] = &[
    "The function reads the file once and keeps nothing of it. ",
    "error[E0308]: mismatched types in the handler, expected a borrowed value. ",
    "Please move the retry into the client and cover it with a test. ",
    "running 214 tests, all of them passed. ",
    "The index was missing, so every request scanned the whole table. ",
    "Größe und Länge stimmen jetzt überein. ",
    "Next: the migration, then the dashboard, then the release notes. ",
];

const COMMANDS: &[&str] = &[
    "cargo test -p crate",
    "npm run build --workspace app",
    "git diff --stat HEAD~",
    "rg --line-number handler src/module",
    "pytest -q tests/unit -k case",
    "docker compose logs --tail 50 service",
    "make check TARGET=part",
    "ls -la crates/room",
];

/// The models that answer.
pub const MODELS: &[&str] =
    &["claude-opus-4-5-20251101", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"];

pub(crate) const AGENT_TYPES: &[&str] = &["Explore", "general-purpose", "researcher", "Plan"];

/// A word that occurs in many texts.
pub const COMMON: &str = "handler";

/// The beginning of some thousand words. Every third call holds one of them, and no other word begins like this.
pub const MANY: &str = "shard";

/// The beginning of words that each occur in one call only.
pub const SINGLE: &str = "probe";

/// Returns the rare word with this number.
#[must_use]
pub fn rare(number: u64) -> String {
    format!("needle{number}")
}

/// One call: the tool's name, its input and its result as JSON.
pub(crate) struct Call {
    pub(crate) tool: &'static str,
    pub(crate) input: String,
    pub(crate) result: String,
    /// Failures in a thousand such calls.
    pub(crate) failing: u64,
}

pub(crate) fn text(dice: &mut Dice, pieces: u64) -> String {
    let count = 1 + dice.skewed(pieces.max(1) * 2);
    (0..count).map(|_| dice.pick(PIECES)).collect()
}

/// Returns a path of a project: 5,000 of them each, and a few that occur far more often.
fn path(dice: &mut Dice, project: u64) -> String {
    let number = dice.skewed(5_000);
    format!("/home/dev/project-{project}/src/part_{}/file_{number}.rs", number % 40)
}

/// Makes a call of a session in this project. `serial` is unique to the call.
pub(crate) fn call(dice: &mut Dice, project: u64, serial: u64) -> Call {
    let plain = |tool, input, result, failing| Call { tool, input, result, failing };
    match dice.within(0, 1000) {
        0..400 => {
            // One command in ten is the same one, as with a test run that a user repeats.
            let (command, about) = if dice.per_mille(100) {
                ("cargo test --workspace".to_owned(), "Run it".to_owned())
            } else {
                let (command, number) = (dice.pick(COMMANDS), dice.skewed(2_000));
                (
                    format!("{command}-{number} --jobs {}", dice.within(1, 9)),
                    format!("Run it on {MANY}{number}"),
                )
            };
            let said = text(dice, 2);
            plain(
                "Bash",
                format!(r#"{{"command":"{command}","description":"{about}"}}"#),
                format!(
                    r#"{{"stdout":"{said}","stderr":"","interrupted":false,"isImage":false,"noOutputExpected":false}}"#
                ),
                80,
            )
        }
        400..650 => {
            let (path, said) = (path(dice, project), text(dice, 2));
            plain(
                "Read",
                format!(r#"{{"file_path":"{path}"}}"#),
                format!(
                    r#"{{"type":"text","file":{{"filePath":"{path}","content":"{said}","numLines":40,"startLine":1,"totalLines":40}}}}"#
                ),
                20,
            )
        }
        650..780 => {
            let (path, old, new) = (path(dice, project), text(dice, 1), text(dice, 1));
            plain(
                "Edit",
                format!(r#"{{"file_path":"{path}","old_string":"{old}","new_string":"{new}"}}"#),
                format!(r#"{{"filePath":"{path}","userModified":false,"replaceAll":false}}"#),
                40,
            )
        }
        780..880 => {
            let pattern = format!("fn part_{} {SINGLE}{serial}", dice.skewed(3_000));
            plain(
                "Grep",
                format!(r#"{{"pattern":"{pattern}","path":"src"}}"#),
                r#"{"mode":"files_with_matches","filenames":["src/a.rs"],"numFiles":1}"#.to_owned(),
                10,
            )
        }
        880..910 => {
            let (path, said) = (path(dice, project), text(dice, 2));
            plain(
                "Write",
                format!(r#"{{"file_path":"{path}","content":"{said}"}}"#),
                format!(r#"{{"type":"create","filePath":"{path}"}}"#),
                20,
            )
        }
        910..950 => {
            let tool = if dice.per_mille(500) { "mcp__docs__search" } else { "mcp__tracker__list" };
            let query = format!("topic {}", dice.skewed(500));
            plain(tool, format!(r#"{{"query":"{query}"}}"#), r#"{"content":[]}"#.to_owned(), 60)
        }
        950..965 => {
            let url = format!("https://docs.example.org/page/{}", dice.skewed(2_000));
            plain(
                "WebFetch",
                format!(r#"{{"url":"{url}","prompt":"What does it say?"}}"#),
                r#"{"code":200,"bytes":2048}"#.to_owned(),
                90,
            )
        }
        965..980 => {
            let (one, two) = (dice.within(0, 90), dice.within(0, 90));
            let todos = format!(
                r#"[{{"content":"Step {one}","status":"in_progress","activeForm":"Doing {one}"}},{{"content":"Step {two}","status":"pending","activeForm":"Doing {two}"}}]"#
            );
            plain("TodoWrite", format!(r#"{{"todos":{todos}}}"#), r#"{"oldTodos":[]}"#.to_owned(), 0)
        }
        980..990 => {
            let skill = format!("skill-{}", dice.skewed(30));
            plain("Skill", format!(r#"{{"skill":"{skill}"}}"#), r#"{"success":true}"#.to_owned(), 10)
        }
        _ => plain(
            "Glob",
            r#"{"pattern":"**/*.rs"}"#.to_owned(),
            r#"{"filenames":[],"numFiles":0}"#.to_owned(),
            0,
        ),
    }
}
