//! Classifies the failures of tools by the first words of the text that the model received.
//!
//! Two readings, because they may be wrong in different ways. The `error` of a failed call is known to be a
//! failure, so its words are searched freely. The text of a batch may just as well be the output of a command
//! that went well: there only forms count that the client itself writes, at the start of the text ([`client`]). The
//! text of a successful call is not read at all, but for the header that Codex puts before a patch's outcome.
//!
//! Quotations in a text (paths, the words of a program, the source that was not found) decide nothing ([`words`]).

mod client;
mod words;

/// The bytes read from the start of a text.
pub(crate) const HEAD: usize = 512;

/// The bytes read where the client repeats a whole command before its outcome.
pub(crate) const REACH: usize = 64 * 1024;

/// Returns `true` if the first words do not settle the class, so that up to [`REACH`] bytes are needed.
pub(crate) fn wants_more(head: &[u8]) -> bool {
    head.len() >= HEAD && client::is_open(head)
}

/// The cause of a tool's failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ErrorClass {
    Interrupt,
    Permission,
    Timeout,
    NotFound,
    Network,
    InvalidInput,
    NonZeroExit,
    HookBlocked,
    PolicyDenied,
    Unknown,
}

impl ErrorClass {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Interrupt => "interrupt",
            Self::Permission => "permission",
            Self::Timeout => "timeout",
            Self::NotFound => "not_found",
            Self::Network => "network",
            Self::InvalidInput => "invalid_input",
            Self::NonZeroExit => "non_zero_exit",
            Self::HookBlocked => "hook_blocked",
            Self::PolicyDenied => "policy_denied",
            Self::Unknown => "unknown",
        }
    }

    /// Reads a class that was written before.
    pub(crate) fn parse(name: &[u8]) -> Option<Self> {
        [
            Self::Interrupt,
            Self::Permission,
            Self::Timeout,
            Self::NotFound,
            Self::Network,
            Self::InvalidInput,
            Self::NonZeroExit,
            Self::HookBlocked,
            Self::PolicyDenied,
            Self::Unknown,
        ]
        .into_iter()
        .find(|class| class.name().as_bytes() == name)
    }
}

/// The outcome as stated by a text or by the structure of a result. `None` stands for no statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Verdict {
    pub(crate) is_error: Option<bool>,
    pub(crate) exit_code: Option<i64>,
    pub(crate) class: Option<ErrorClass>,
}

impl Verdict {
    fn error(class: ErrorClass) -> Self {
        Self { is_error: Some(true), exit_code: None, class: Some(class) }
    }

    /// Returns the verdict of an exit code.
    pub(crate) fn exited(code: i64) -> Self {
        Self {
            is_error: Some(code != 0),
            exit_code: Some(code),
            class: (code != 0).then_some(ErrorClass::NonZeroExit),
        }
    }
}

/// The kind of tool that a text comes from, as far as it matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tool {
    /// No name was given, or two different ones.
    Unnamed,
    /// Runs commands: its error holds their output.
    Shell,
    /// Codex's patch tool.
    ApplyPatch,
    /// Codex's tools that start an agent.
    SpawnAgent,
    /// Sends a message to an agent that is running already.
    TellAgent,
    /// Writes a file: its result repeats the content.
    Write,
    /// Anything else.
    Named,
}

impl Tool {
    /// Sorts a tool by its name. Names of servers are free, so a hint of a shell anywhere is enough.
    pub(crate) fn of(name: &[u8]) -> Self {
        match name {
            b"" => Self::Unnamed,
            b"Bash" | b"PowerShell" => Self::Shell,
            b"apply_patch" => Self::ApplyPatch,
            b"Write" => Self::Write,
            b"sh" | b"zsh" | b"fish" | b"pwsh" | b"cmd" | b"REPL" => Self::Shell,
            _ if contains(name, b"send_input")
                || contains(name, b"send_message")
                || name == b"SendMessage" =>
            {
                Self::TellAgent
            }
            _ if contains(name, b"spawn_agent") => Self::SpawnAgent,
            _ => {
                let hints = [
                    &b"shell"[..],
                    b"bash",
                    b"exec",
                    b"terminal",
                    b"command",
                    b"monitor",
                    b"stdin",
                    b"run_",
                    b"console",
                    b"ssh",
                    b"zsh",
                    b"pwsh",
                    b"repl",
                    b"__sh",
                    b"__cmd",
                ];
                if hints.iter().any(|hint| contains(name, hint)) { Self::Shell } else { Self::Named }
            }
        }
    }
}

/// Returns `true` if `text` contains `word` (in lower case) in any letter case.
fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Reads the `error` of a call that failed.
pub(crate) fn failure(text: &[u8]) -> Verdict {
    if let Some((code, rest)) = exit_code(text) {
        // After the code comes the command's own output, whose words decide nothing, except for the client's own line.
        let class = if rest.starts_with(b"Command timed out") {
            ErrorClass::Timeout
        } else if rest.starts_with(b"[Request interrupted") {
            ErrorClass::Interrupt
        } else {
            ErrorClass::NonZeroExit
        };
        return Verdict { exit_code: Some(code), ..Verdict::error(class) };
    }
    let class = client::class(text).unwrap_or_else(|| words::class(text.get(..HEAD).unwrap_or(text)));
    Verdict::error(class)
}

/// Reads the text of a call in a batch, which may be anything.
pub(crate) fn batch(text: &[u8], tool: Tool) -> Verdict {
    if tool == Tool::Shell
        && let Some((code, _)) = exit_code(text)
        && code != 0
    {
        return failure(text);
    }
    client::class(text).map_or_else(Verdict::default, Verdict::error)
}

/// Reads the text of a call that went well: only Codex's patch tool puts an exit code before it.
pub(crate) fn used(text: &[u8], tool: Tool) -> Verdict {
    if tool != Tool::ApplyPatch {
        return Verdict::default();
    }
    let Some(rest) = text.strip_prefix(b"Exit code: ") else { return Verdict::default() };
    number(rest).map_or_else(Verdict::default, |(code, _)| Verdict::exited(code))
}

/// Parses `Exit code 3` in its present and its older spelling, alone or before a line break. Returns the code and the
/// text after it.
fn exit_code(head: &[u8]) -> Option<(i64, &[u8])> {
    let older = || head.strip_prefix(b"Command exited with non-zero status code ");
    let (code, rest) = number(head.strip_prefix(b"Exit code ").or_else(older)?)?;
    match rest {
        [] => Some((code, rest)),
        [b'\n', rest @ ..] | [b'\r', b'\n', rest @ ..] => Some((code, rest)),
        _ => None,
    }
}

fn number(text: &[u8]) -> Option<(i64, &[u8])> {
    let (sign, digits) = match text {
        [b'-', rest @ ..] => (-1, rest),
        _ => (1, text),
    };
    let length = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=10).contains(&length) {
        return None;
    }
    let (digits, rest) = digits.split_at(length);
    let value = digits.iter().fold(0i64, |value, digit| value * 10 + i64::from(digit - b'0'));
    Some((sign * value, rest))
}
