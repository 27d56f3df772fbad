//! The forms in which the clients themselves begin the text of a call that they refused or gave up.
//!
//! Every form is anchored at the start of the text: a program's output may hold any words, but rarely begins with
//! these and goes on with those.

use super::words::{self, quoted_away};
use super::{ErrorClass, HEAD, contains};

/// A form: how the text begins, and what follows somewhere behind it (in lower case), in the whole or in its line.
struct Form {
    start: &'static [u8],
    holds: &'static [u8],
    /// True if a command of any length and any number of lines may stand between.
    open: bool,
    class: ErrorClass,
}

const fn line(start: &'static [u8], holds: &'static [u8], class: ErrorClass) -> Form {
    Form { start, holds, open: false, class }
}

const fn open(start: &'static [u8], holds: &'static [u8], class: ErrorClass) -> Form {
    Form { start, holds, open: true, class }
}

const FORMS: &[Form] = &[
    line(b"[Request interrupted by user", b"", ErrorClass::Interrupt),
    open(b"Permission to ", b" has been denied", ErrorClass::Permission),
    open(b"Permission to ", b" has been auto-denied", ErrorClass::Permission),
    open(b"Permission rule '", b" requires approval for this ", ErrorClass::Permission),
    line(b"Permission for this ", b"denied", ErrorClass::Permission),
    line(b"Permission for this ", b"blocked", ErrorClass::Permission),
    open(b"Hook '", b"' requires approval", ErrorClass::Permission),
    open(b"Hook '", b"' blocked this action", ErrorClass::HookBlocked),
    line(b"Hook PreToolUse:", b" denied this tool", ErrorClass::HookBlocked),
    line(b"Execution stopped by PreToolUse hook", b"", ErrorClass::HookBlocked),
    line(b"Current permission mode (", b") requires approval", ErrorClass::Permission),
    open(b"This ", b" command contains multiple operations. the following part", ErrorClass::Permission),
    line(b"This command requires approval", b"", ErrorClass::Permission),
    open(b"Classifier '", b"' requires approval", ErrorClass::Permission),
    open(b"Tool '", b"' requires approval", ErrorClass::Permission),
    line(b"sed command requires approval", b"", ErrorClass::Permission),
    line(b"File is in a directory that is denied by your permission settings", b"", ErrorClass::Permission),
    line(b"Claude requested permissions to ", b"", ErrorClass::Permission),
    line(b"The user doesn't want to ", b"", ErrorClass::Permission),
    line("The user doesn’t want to ".as_bytes(), b"", ErrorClass::Permission),
    line(b"Auto mode is unavailable: ", b"", ErrorClass::Permission),
    line(b"Command timed out after ", b"", ErrorClass::Timeout),
    // The program comes first: `touch in '/etc/x' needs approval. The path is outside …`
    line(b"", b"' needs approval. the path is outside ", ErrorClass::Permission),
    line(b"", b"' was blocked. for security, claude code may only ", ErrorClass::Permission),
];

/// Returns `true` if the text begins like a form that may end far from its start.
pub(super) fn is_open(head: &[u8]) -> bool {
    FORMS.iter().any(|form| form.open && head.starts_with(form.start))
}

/// Reads the forms.
pub(super) fn class(text: &[u8]) -> Option<ErrorClass> {
    let head = text.get(..HEAD).unwrap_or(text);
    let first = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let fits = |form: &&Form| {
        head.starts_with(form.start)
            && (form.holds.is_empty() || contains(if form.open { text } else { first }, form.holds))
    };
    if let Some(form) = FORMS.iter().find(fits) {
        let is_ours = form.class == ErrorClass::HookBlocked && contains(first, OUR_RULES);
        return Some(if is_ours { ErrorClass::PolicyDenied } else { form.class });
    }
    if let Some(inner) = head.strip_prefix(b"<tool_use_error>") {
        return Some(tool_use_error(inner));
    }
    if let Some(hook) = first.strip_prefix(b"PreToolUse:").and_then(behind_hook_error) {
        return Some(if is_ours(hook) { ErrorClass::PolicyDenied } else { ErrorClass::HookBlocked });
    }
    first.strip_prefix(b"Agent terminated early due to an API error: ").map(api_error)
}

/// The beginning of every reason that a rule of ours gives.
const OUR_RULES: &[u8] = b"[policy rule `";

/// Returns the text after ` hook error: `.
fn behind_hook_error(line: &[u8]) -> Option<&[u8]> {
    const ERROR: &[u8] = b" hook error: ";
    let at = line.windows(ERROR.len()).position(|part| part == ERROR)?;
    line.get(at + ERROR.len()..)
}

/// Returns `true` if Agent Tracer itself refused the call: the text is a reason of its rules, or has its name as in
/// `[/usr/bin/agent-tracer guard]: no`.
fn is_ours(hook: &[u8]) -> bool {
    if hook.starts_with(OUR_RULES) {
        return true;
    }
    let Some(command) = hook.strip_prefix(b"[") else { return false };
    let program = command
        .split(|byte| byte.is_ascii_whitespace() || matches!(byte, b']' | b'"' | b'\''))
        .find(|word| !word.is_empty())
        .unwrap_or_default();
    let name = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    matches!(name, b"agent-tracer" | b"agent-tracer-hook")
}

/// Classifies a call that the client refused before it ran.
fn tool_use_error(inner: &[u8]) -> ErrorClass {
    let said = quoted_away(inner);
    let has = |word: &[u8]| contains(&said, word);
    let starts = |word: &[u8]| said.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    if starts(b"cancelled: ") || has(b"sibling tool call") || has(b"interrupted") {
        ErrorClass::Interrupt
    } else if starts(b"blocked") || starts(b"error: blocked") {
        ErrorClass::PolicyDenied
    } else {
        match words::class(inner) {
            ErrorClass::Unknown => ErrorClass::InvalidInput,
            class => class,
        }
    }
}

/// Classifies a failure of the model's provider: out of reach, overloaded, or another reason.
fn api_error(said: &[u8]) -> ErrorClass {
    let has = |word: &[u8]| contains(said, word);
    let out_of_reach = [&b"overloaded"[..], b"connection", b"timed out", b"network"];
    // The first number of three digits is the status.
    let status = said
        .split(|byte| !byte.is_ascii_digit())
        .find(|digits| digits.len() == 3)
        .is_some_and(|digits| digits == b"429" || digits == b"408" || digits.starts_with(b"5"));
    if status || out_of_reach.iter().any(|word| has(word)) {
        ErrorClass::Network
    } else {
        ErrorClass::Unknown
    }
}
