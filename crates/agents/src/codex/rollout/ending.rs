//! Reads the end of a call from the words that Codex itself puts before the output of a tool.
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

/// Describes what the client reports of the end of a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Ending {
    /// Holds where the call stands; nothing if it goes on.
    pub(super) state: Option<CallState>,
    /// Why it failed, if the client's words say so.
    pub(super) error_class: Option<ErrorClass>,
    /// The code of a command.
    pub(super) exit_code: Option<i64>,
    /// Measures its duration.
    pub(super) wall_ms: Option<u64>,
    /// The process or script that goes on.
    pub(super) process: Option<String>,
    /// Holds where in the text the tool's own output begins.
    pub(super) body: usize,
    /// True if the text is the client's own and no output of a tool.
    pub(super) refused: bool,
}

/// The form that a tool's output has if the tool ran at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// The client's lines, then `Output:`.
    Framed,
    /// JSON of the client's own, or nothing.
    Json,
    /// Anything.
    Free,
}

impl Form {
    /// Returns the form of a tool, by the name that hooks have for it.
    pub(super) fn of(tool: &str) -> Self {
        const AGENT_TOOLS: &[&str] = &[
            "spawn_agent",
            "wait_agent",
            "close_agent",
            "send_input",
            "send_message",
            "followup_task",
            "resume_agent",
            "list_agents",
            "interrupt_agent",
        ];
        match tool {
            "Bash" | "apply_patch" | "write_stdin" | "exec" | "wait" => Self::Framed,
            "request_user_input" | "create_goal" | "update_goal" | "get_goal" => Self::Json,
            tool if AGENT_TOOLS.iter().any(|name| tool.ends_with(name)) => Self::Json,
            _ => Self::Free,
        }
    }
}

/// Limits how far into a text the client's words are looked for.
// The client writes a handful of short lines; further down is the tool's own output, which may quote them.
const HEAD_BYTES: usize = 1024;

/// Reads the beginning of an output.
pub(super) fn ending(text: &str, form: Form) -> Ending {
    if let Some(ending) = older(text) {
        return ending;
    }
    let mut ending = Ending { state: Some(CallState::Succeeded), ..Ending::default() };
    let mut at = 0;
    let mut first = "";
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
            first = line;
            break;
        }
    }
    // No `Output:`: these are the client's own words, or the answer of a tool that has no frame.
    let expected = match form {
        Form::Framed => false,
        Form::Json => text.trim().is_empty() || text.trim_start().starts_with(['{', '[']),
        Form::Free => true,
    };
    // A tool without a frame can answer with any sentence, so there only exact beginnings count.
    let said = if expected { anchored(first) } else { own_words(first) };
    if let Some((state, class)) = said {
        ending.state = Some(state);
        ending.error_class = class;
        ending.refused = true;
    }
    ending
}

/// Returns a line that the client puts before the output.
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

/// Returns a refusal in a place where a tool's answer could stand as well: only the client's exact beginnings count.
fn anchored(line: &str) -> Option<(CallState, Option<ErrorClass>)> {
    const BEGINNINGS: &[&str] = &[
        "aborted by user",
        "Command blocked by ",
        "Tool call blocked by ",
        "exec command rejected",
        "patch rejected",
        "failed to parse function arguments",
        "unsupported call",
        "unsupported custom tool call",
        "tool call error",
        "unable to process image",
        "unable to locate image",
    ];
    let refused = line == "aborted" || BEGINNINGS.iter().any(|words| line.starts_with(words));
    refused.then(|| own_words(line)).flatten()
}

/// Returns why a call did not run, or not to its end, where nothing but the client can have written the line.
fn own_words(line: &str) -> Option<(CallState, Option<ErrorClass>)> {
    use CallState::{Denied, Failed, Interrupted};
    let starts = |words: &[&str]| words.iter().any(|word| line.starts_with(word));
    let holds = |words: &[&str]| words.iter().any(|word| line.contains(word));
    Some(if starts(&["aborted"]) {
        (Interrupted, Some(ErrorClass::Interrupt))
    } else if starts(&["Command blocked by ", "Tool call blocked by "]) && holds(&["hook"]) {
        // What a rule of ours says begins with its name.
        let is_ours = holds(&[" hook: [policy rule `"]);
        (Denied, Some(if is_ours { ErrorClass::PolicyDenied } else { ErrorClass::HookBlocked }))
    } else if holds(&["rejected", "approval policy", "approval required", "approval review"]) {
        (Denied, Some(ErrorClass::Permission))
    } else if holds(&["No such file or directory", "not found"]) {
        (Failed, Some(ErrorClass::NotFound))
    } else if holds(&["timed out"]) {
        (Failed, Some(ErrorClass::Timeout))
    } else if starts(&["failed to parse", "unsupported ", "unable to ", "invalid ", "unknown "])
        || holds(&[" is unavailable in ", "verification failed", "Unknown process"])
    {
        (Failed, Some(ErrorClass::InvalidInput))
    } else {
        (Failed, None)
    })
}

/// Returns the output of older versions: `{"output": …, "metadata": {"exit_code": …, "duration_seconds": …}}`.
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

    fn state(tool: &str, text: &str) -> (Option<CallState>, Option<ErrorClass>) {
        let ending = ending(text, Form::of(tool));
        (ending.state, ending.error_class)
    }

    #[test]
    fn the_words_before_the_output_tell_how_a_command_ended() {
        let text = "Chunk ID: 8093ca\nWall time: 1.2345 seconds\nProcess exited with code 3\nOriginal token count: \
                    97\nOutput:\naborted by user\n";
        let ending = ending(text, Form::Framed);
        assert_eq!((ending.state, ending.exit_code), (Some(CallState::Failed), Some(3)));
        assert_eq!((ending.error_class, ending.wall_ms), (Some(ErrorClass::NonZeroExit), Some(1235)));
        assert_eq!(text.get(ending.body..), Some("aborted by user\n"));
    }

    #[test]
    fn a_command_that_goes_on_has_not_ended() {
        let text = "Chunk ID: 1\nWall time: 0.3 seconds\nProcess running with session ID 72248\nOutput:\nx";
        let running = ending(text, Form::Framed);
        assert_eq!((running.state, running.process.as_deref()), (None, Some("session:72248")));
        let script = ending("Script running with cell ID 1\nWall time 0.5 seconds\nOutput:\n", Form::Framed);
        assert_eq!((script.state, script.process.as_deref()), (None, Some("cell:1")));
    }

    #[test]
    fn refusals_are_the_clients_own_words_only() {
        use CallState::{Denied, Failed, Interrupted, Succeeded};
        use ErrorClass::{HookBlocked, Interrupt, InvalidInput, NotFound, Permission, PolicyDenied, Timeout};
        for (tool, text, expected, class) in [
            ("Bash", "aborted by user", Interrupted, Some(Interrupt)),
            ("Bash", "Wall time: 1.4 seconds\naborted by user", Interrupted, Some(Interrupt)),
            ("mcp__a__b", "aborted by user after 2.0s", Interrupted, Some(Interrupt)),
            (
                "Bash",
                "Command blocked by PreToolUse hook: not allowed. Command: echo hi",
                Denied,
                Some(HookBlocked),
            ),
            (
                "Bash",
                "Command blocked by PreToolUse hook: [policy rule `no-delete`] keep it. Command: rm -rf build",
                Denied,
                Some(PolicyDenied),
            ),
            ("Bash", "exec command rejected by user", Denied, Some(Permission)),
            (
                "Bash",
                "approval policy is Never; reject command — you cannot ask for escalated permissions",
                Denied,
                Some(Permission),
            ),
            (
                "Bash",
                r#"exec_command failed: CreateProcess { message: "Rejected(\"Automatic approval review failed: …"#,
                Denied,
                Some(Permission),
            ),
            (
                "Bash",
                r#"exec_command failed: CreateProcess { message: "Rejected(\"Failed to create unified exec process: No such file or directory (os error 2)\")" }"#,
                Failed,
                Some(NotFound),
            ),
            ("Bash", "failed to parse function arguments: missing field `cmd`", Failed, Some(InvalidInput)),
            ("Bash", "command timed out after 10 s", Failed, Some(Timeout)),
            ("Bash", "something new went wrong", Failed, None),
            ("no_such_tool", "unsupported call: no_such_tool", Failed, Some(InvalidInput)),
            ("write_stdin", "write_stdin failed: Unknown process id 99999", Failed, Some(InvalidInput)),
            (
                "request_user_input",
                "request_user_input is unavailable in Default mode",
                Failed,
                Some(InvalidInput),
            ),
            ("request_user_input", r#"{"answers":{}}"#, Succeeded, None),
            (
                "apply_patch",
                "apply_patch verification failed: Failed to read file to update /x: No such file or directory (os \
                 error 2)",
                Failed,
                Some(NotFound),
            ),
            ("apply_patch", "apply_patch verification failed: invalid hunk", Failed, Some(InvalidInput)),
            ("multi_agent_v1wait_agent", "invalid agent id nope: Error(…)", Failed, Some(InvalidInput)),
            ("spawn_agent", "unknown agent_type 'no_such_role'", Failed, Some(InvalidInput)),
            ("collaborationspawn_agent", r#"{"task_name":"/root/scout"}"#, Succeeded, None),
            ("collaborationsend_message", "", Succeeded, None),
            (
                "view_image",
                "unable to process image: invalid or unsupported image data",
                Failed,
                Some(InvalidInput),
            ),
            ("mcp__a__b", "tool call error: kaboom", Failed, None),
            ("exec", "Script completed\nWall time 0.1 seconds\nOutput:\n", Succeeded, None),
            (
                "exec",
                "Script failed\nWall time 0.0 seconds\nOutput:\nScript error:\nError: boom",
                Failed,
                None,
            ),
            ("update_plan", "Plan updated", Succeeded, None),
            ("update_plan", "", Succeeded, None),
            ("mcp__a__b", "the user rejected the offer, file not found, timed out", Succeeded, None),
            ("Bash", "Output:\naborted by user", Succeeded, None),
            (
                "Bash",
                "Exit code: 0\nWall time: 0 seconds\nOutput:\nexec command rejected by user",
                Succeeded,
                None,
            ),
        ] {
            assert_eq!(state(tool, text), (Some(expected), class), "{text}");
        }
    }

    #[test]
    fn outputs_of_older_versions_are_understood() {
        let ending =
            ending(r#"{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.25}}"#, Form::Framed);
        assert_eq!((ending.exit_code, ending.wall_ms), (Some(2), Some(250)));
        assert_eq!(ending.state, Some(CallState::Failed));
        assert_eq!(state("mcp__a__b", r#"{"output":"x""#).0, Some(CallState::Succeeded));
    }

    #[test]
    fn odd_numbers_are_no_numbers() {
        let odd = ending("Exit code: many\nWall time: -1 seconds\nOutput:\n", Form::Framed);
        assert_eq!((odd.exit_code, odd.wall_ms), (None, None));
        assert_eq!(ending("Wall time: 1e300 seconds\nOutput:\n", Form::Framed).wall_ms, None);
    }
}
