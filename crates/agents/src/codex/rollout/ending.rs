//! How a call ended, by the words that Codex itself puts before the output of a tool.
//!
//! ```text
//! Chunk ID: 8093ca                        Exit code: 0                 Script completed
//! Wall time: 0.0012 seconds               Wall time: 0.1 seconds       Wall time 0.1 seconds
//! Process exited with code 0              Output:                      Output:
//! Original token count: 97                …                            …
//! Output:
//! …
//! ```
//!
//! Only these lines and the client's own refusals are read, and only before `Output:`. What a tool printed is
//! measured and never believed: a command that prints `aborted by user` was not aborted.

use agent_tracer_event::{CallState, ErrorClass};

use crate::codex::wire::Members;

/// What the client says of the end of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ending {
    /// Where the call stands; nothing if it goes on.
    pub(super) state: Option<CallState>,
    /// Why it failed, if the client's words say so.
    pub(super) error_class: Option<ErrorClass>,
    /// The code of a command.
    pub(super) exit_code: Option<i64>,
    /// How long it took.
    pub(super) wall_ms: Option<u64>,
    /// The process or script that goes on.
    pub(super) process: Option<String>,
    /// Where in the text the tool's own output begins.
    pub(super) body: usize,
    /// Whether the text is the client's own and no output of a tool.
    pub(super) refused: bool,
}

/// How far into a text the client's words are looked for.
const HEAD_BYTES: usize = 1024;

/// Reads the beginning of an output.
pub(super) fn ending(text: &str) -> Ending {
    if let Some(ending) = older(text) {
        return ending;
    }
    let mut ending = Ending { state: Some(CallState::Succeeded), ..Ending::default() };
    let mut at = 0;
    while at < HEAD_BYTES.min(text.len()) {
        let rest = text.get(at..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        at = (at + line.len() + 1).min(text.len());
        let line = line.trim_end();
        if line == "Output:" {
            ending.body = at;
            return ending;
        }
        if !header(line, &mut ending) {
            refusal(line, &mut ending);
            break;
        }
    }
    // A text without `Output:` is the client's own, or a plain answer: all of it counts as output.
    ending.body = 0;
    ending
}

/// A line that the client puts before the output.
fn header(line: &str, ending: &mut Ending) -> bool {
    if let Some(code) =
        ["Process exited with code ", "Exit code: "].iter().find_map(|words| line.strip_prefix(words))
    {
        ending.exit_code = code.trim().parse().ok();
        if ending.exit_code.is_some_and(|code| code != 0) {
            ending.state = Some(CallState::Failed);
            ending.error_class = Some(ErrorClass::NonZeroExit);
        }
    } else if let Some(seconds) =
        ["Wall time: ", "Wall time "].iter().find_map(|words| line.strip_prefix(words))
    {
        ending.wall_ms = seconds.split(' ').next().and_then(millis);
    } else if let Some(session) = line.strip_prefix("Process running with session ID ") {
        ending.state = None;
        ending.process = Some(format!("session:{}", session.trim()));
    } else if let Some(cell) = line.strip_prefix("Script running with cell ID ") {
        ending.state = None;
        ending.process = Some(format!("cell:{}", cell.trim()));
    } else if line == "Script failed" || line == "Script terminated" {
        ending.state = Some(CallState::Failed);
    } else {
        let others = ["Chunk ID: ", "Original token count: ", "Total output lines: ", "Script completed"];
        return others.iter().any(|words| line.starts_with(words));
    }
    true
}

/// The client's own words for a call that did not run, or not to its end.
fn refusal(line: &str, ending: &mut Ending) {
    use CallState::{Denied, Failed, Interrupted};
    let starts = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    let holds = |words: &[&str]| words.iter().any(|word| line.contains(word));
    let (state, class) = if starts(&["aborted by user"]) || line == "aborted" {
        (Interrupted, ErrorClass::Interrupt)
    } else if starts(&["Command blocked by ", "Tool call blocked by ", "blocked by "]) && holds(&["hook"]) {
        (Denied, ErrorClass::HookBlocked)
    } else if starts(&[
        "exec command rejected",
        "patch rejected",
        "rejected by user",
        "rejected: ",
        "approval required",
    ]) || line.ends_with(" rejected by user")
    {
        (Denied, ErrorClass::Permission)
    } else if starts(&[
        "failed to parse function arguments",
        "unsupported call",
        "unsupported custom tool call",
    ]) || holds(&[" is unavailable in "])
    {
        (Failed, ErrorClass::InvalidInput)
    } else if starts(&["apply_patch verification failed"]) {
        let missing = holds(&["No such file or directory"]);
        (Failed, if missing { ErrorClass::NotFound } else { ErrorClass::InvalidInput })
    } else if starts(&["command timed out"]) {
        (Failed, ErrorClass::Timeout)
    } else if starts(&[
        "tool call error",
        "exec_command failed",
        "write_stdin failed",
        "execution error",
        "apply_patch failed",
    ]) {
        ending.state = Some(Failed);
        ending.refused = true;
        return;
    } else {
        return;
    };
    ending.state = Some(state);
    ending.error_class = Some(class);
    ending.refused = true;
}

/// The output of older versions: `{"output": …, "metadata": {"exit_code": …, "duration_seconds": …}}`.
fn older(text: &str) -> Option<Ending> {
    if !text.starts_with("{\"output\":") {
        return None;
    }
    let metadata = Members::parse(text)?.members("metadata")?;
    let mut ending = Ending { state: Some(CallState::Succeeded), ..Ending::default() };
    ending.exit_code = metadata.whole("exit_code");
    ending.wall_ms = metadata.real("duration_seconds").and_then(from_seconds);
    if ending.exit_code.is_some_and(|code| code != 0) {
        ending.state = Some(CallState::Failed);
        ending.error_class = Some(ErrorClass::NonZeroExit);
    }
    Some(ending)
}

fn millis(seconds: &str) -> Option<u64> {
    from_seconds(seconds.trim_end_matches('s').parse().ok()?)
}

fn from_seconds(seconds: f64) -> Option<u64> {
    // A year is far more than any call takes, and far less than what would not fit.
    (0.0..31_536_000.0).contains(&seconds).then(|| (seconds * 1000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str) -> (Option<CallState>, Option<ErrorClass>) {
        let ending = ending(text);
        (ending.state, ending.error_class)
    }

    #[test]
    fn the_words_before_the_output_tell_how_a_command_ended() {
        let text = "Chunk ID: 8093ca\nWall time: 1.2345 seconds\nProcess exited with code 3\nOriginal token count: \
                    97\nOutput:\naborted by user\n";
        let ending = ending(text);
        assert_eq!((ending.state, ending.exit_code), (Some(CallState::Failed), Some(3)));
        assert_eq!((ending.error_class, ending.wall_ms), (Some(ErrorClass::NonZeroExit), Some(1235)));
        assert_eq!(text.get(ending.body..), Some("aborted by user\n"));
    }

    #[test]
    fn a_command_that_goes_on_has_not_ended() {
        let running =
            ending("Chunk ID: 1\nWall time: 0.3 seconds\nProcess running with session ID 72248\nOutput:\nx");
        assert_eq!((running.state, running.process.as_deref()), (None, Some("session:72248")));
        let script = ending("Script running with cell ID 1\nWall time 0.5 seconds\nOutput:\n");
        assert_eq!((script.state, script.process.as_deref()), (None, Some("cell:1")));
        assert_eq!(state("Script completed\nWall time 0.1 seconds\nOutput:\n").0, Some(CallState::Succeeded));
    }

    #[test]
    fn refusals_are_the_clients_own_words_only() {
        use CallState::{Denied, Failed, Interrupted, Succeeded};
        for (text, expected, class) in [
            ("aborted by user", Interrupted, Some(ErrorClass::Interrupt)),
            ("Wall time: 1.4 seconds\naborted by user", Interrupted, Some(ErrorClass::Interrupt)),
            ("aborted by user after 2.0s", Interrupted, Some(ErrorClass::Interrupt)),
            (
                "Command blocked by PreToolUse hook: not allowed here. Command: echo hi",
                Denied,
                Some(ErrorClass::HookBlocked),
            ),
            ("exec command rejected by user", Denied, Some(ErrorClass::Permission)),
            (
                "failed to parse function arguments: missing field `cmd`",
                Failed,
                Some(ErrorClass::InvalidInput),
            ),
            ("unsupported call: no_such_tool", Failed, Some(ErrorClass::InvalidInput)),
            ("request_user_input is unavailable in Default mode", Failed, Some(ErrorClass::InvalidInput)),
            (
                "apply_patch verification failed: Failed to read file to update /x: No such file or directory (os \
                 error 2)",
                Failed,
                Some(ErrorClass::NotFound),
            ),
            ("apply_patch verification failed: invalid hunk", Failed, Some(ErrorClass::InvalidInput)),
            ("tool call error: kaboom", Failed, None),
            ("Plan updated", Succeeded, None),
            ("", Succeeded, None),
            ("Output:\naborted by user", Succeeded, None),
            ("Exit code: 0\nWall time: 0 seconds\nOutput:\nexec command rejected by user", Succeeded, None),
            ("{\"task_name\":\"/root/scout\"}", Succeeded, None),
        ] {
            assert_eq!(state(text), (Some(expected), class), "{text}");
        }
    }

    #[test]
    fn outputs_of_older_versions_are_understood() {
        let ending = ending(r#"{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.25}}"#);
        assert_eq!((ending.exit_code, ending.wall_ms), (Some(2), Some(250)));
        assert_eq!(ending.state, Some(CallState::Failed));
        assert_eq!(state(r#"{"output":"x""#).0, Some(CallState::Succeeded));
    }

    #[test]
    fn odd_numbers_are_no_numbers() {
        let ending = ending("Exit code: many\nWall time: -1 seconds\nOutput:\n");
        assert_eq!((ending.exit_code, ending.wall_ms), (None, None));
        assert_eq!(super::ending("Wall time: 1e300 seconds\nOutput:\n").wall_ms, None);
    }
}
