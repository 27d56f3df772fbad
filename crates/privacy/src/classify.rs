//! Why a tool failed, read from the first words of what the model was told.
//!
//! Two readings, because they may be wrong in different ways. The `error` of a failed call is known to be a
//! failure, so its words are searched freely. The text of a batch may just as well be the output of a command
//! that went well: there only forms count that the client itself writes, at the start of the text. The text
//! of a successful call is not read at all, but for the header that Codex puts before a patch's outcome.

/// How much of a text is looked at.
pub(crate) const HEAD: usize = 512;

/// Why a tool failed.
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

/// What a text, or the structure of a result, says about the outcome. `None` where it says nothing.
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

    /// What an exit code says.
    pub(crate) fn exited(code: i64) -> Self {
        Self {
            is_error: Some(code != 0),
            exit_code: Some(code),
            class: (code != 0).then_some(ErrorClass::NonZeroExit),
        }
    }
}

/// What kind of tool a text comes from, as far as it matters here.
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
                ];
                if hints.iter().any(|hint| contains(name, hint)) { Self::Shell } else { Self::Named }
            }
        }
    }
}

/// Whether `text` holds `word` (in lower case) in any letter case.
fn contains(text: &[u8], word: &[u8]) -> bool {
    text.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word))
}

/// Words anywhere in the head of an `error`, in order: the first that is there decides.
const WORDS: &[(&[u8], ErrorClass)] = &[
    (b"request interrupted", ErrorClass::Interrupt),
    (b"interrupted by user", ErrorClass::Interrupt),
    (b"cancelled by user", ErrorClass::Interrupt),
    (b"canceled by user", ErrorClass::Interrupt),
    (b"user rejected", ErrorClass::Permission),
    (b"user doesn't want to proceed", ErrorClass::Permission),
    (b"policy", ErrorClass::PolicyDenied),
    (b"hook error", ErrorClass::HookBlocked),
    (b"hook failed", ErrorClass::HookBlocked),
    (b"blocked by hook", ErrorClass::HookBlocked),
    (b"permission to use", ErrorClass::Permission),
    (b"permission denied", ErrorClass::Permission),
    (b"permission for this action", ErrorClass::Permission),
    (b"requested permissions", ErrorClass::Permission),
    (b"operation not permitted", ErrorClass::Permission),
    (b"eacces", ErrorClass::Permission),
    (b"eperm", ErrorClass::Permission),
    (b"needs approval", ErrorClass::Permission),
    (b"requires approval", ErrorClass::Permission),
    (b"auto-denied", ErrorClass::Permission),
    (b"was blocked", ErrorClass::Permission),
    (b"not allowed", ErrorClass::Permission),
    (b"access denied", ErrorClass::Permission),
    (b"timed out", ErrorClass::Timeout),
    (b"timeout", ErrorClass::Timeout),
    (b"etimedout", ErrorClass::Timeout),
    (b"deadline exceeded", ErrorClass::Timeout),
    (b"no such file", ErrorClass::NotFound),
    (b"does not exist", ErrorClass::NotFound),
    (b"doesn't exist", ErrorClass::NotFound),
    (b"enoent", ErrorClass::NotFound),
    (b"file not found", ErrorClass::NotFound),
    (b"not found in file", ErrorClass::InvalidInput),
    (b"econnrefused", ErrorClass::Network),
    (b"econnreset", ErrorClass::Network),
    (b"enotfound", ErrorClass::Network),
    (b"getaddrinfo", ErrorClass::Network),
    (b"connection refused", ErrorClass::Network),
    (b"connection reset", ErrorClass::Network),
    (b"connection closed", ErrorClass::Network),
    (b"connection error", ErrorClass::Network),
    (b"socket hang up", ErrorClass::Network),
    (b"network", ErrorClass::Network),
    (b"dns", ErrorClass::Network),
    (b"could not resolve", ErrorClass::Network),
    (b"unable to connect", ErrorClass::Network),
    (b"fetch failed", ErrorClass::Network),
    (b"status code 4", ErrorClass::Network),
    (b"status code 5", ErrorClass::Network),
    (b"http 429", ErrorClass::Network),
    (b"http 5", ErrorClass::Network),
    (b"api error: 429", ErrorClass::Network),
    (b"api error: 5", ErrorClass::Network),
    (b"overloaded", ErrorClass::Network),
    (b"rate limit", ErrorClass::Network),
    (b"inputvalidationerror", ErrorClass::InvalidInput),
    (b"no such tool available", ErrorClass::InvalidInput),
    (b"invalid", ErrorClass::InvalidInput),
    (b"must be", ErrorClass::InvalidInput),
    (b"is required", ErrorClass::InvalidInput),
    (b"missing required", ErrorClass::InvalidInput),
    (b"has not been read yet", ErrorClass::InvalidInput),
    (b"<tool_use_error>", ErrorClass::InvalidInput),
    (b"not found", ErrorClass::NotFound),
];

fn words(head: &[u8]) -> ErrorClass {
    // The safety of a domain could not be checked "due to network restrictions or enterprise security policies".
    if contains(head, b"unable to verify if domain") {
        return ErrorClass::Network;
    }
    WORDS.iter().find(|(word, _)| contains(head, word)).map_or(ErrorClass::Unknown, |(_, class)| *class)
}

/// Reads the `error` of a call that failed.
pub(crate) fn failure(text: &[u8]) -> Verdict {
    let head = text.get(..HEAD).unwrap_or(text);
    if let Some((code, rest)) = exit_code(head) {
        // Behind the code comes the command's own output, whose words say nothing; but for the client's own line.
        let class = if rest.starts_with(b"Command timed out") {
            ErrorClass::Timeout
        } else if rest.starts_with(b"[Request interrupted") {
            ErrorClass::Interrupt
        } else {
            ErrorClass::NonZeroExit
        };
        return Verdict { exit_code: Some(code), ..Verdict::error(class) };
    }
    if let Some(verdict) = from_client(head) {
        return verdict;
    }
    Verdict::error(words(head))
}

/// Reads the text of a call in a batch, which may be anything.
pub(crate) fn batch(text: &[u8], tool: Tool) -> Verdict {
    let head = text.get(..HEAD).unwrap_or(text);
    if tool == Tool::Shell
        && let Some((code, _)) = exit_code(head)
        && code != 0
    {
        return failure(head);
    }
    from_client(head).unwrap_or_default()
}

/// Reads the text of a call that went well: only Codex's patch tool puts an exit code before it.
pub(crate) fn used(text: &[u8], tool: Tool) -> Verdict {
    if tool != Tool::ApplyPatch {
        return Verdict::default();
    }
    let Some(rest) = text.strip_prefix(b"Exit code: ") else { return Verdict::default() };
    number(rest).map_or_else(Verdict::default, |(code, _)| Verdict::exited(code))
}

/// `Exit code 3`, or as older documents have it, alone or before a line break; and what follows.
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

/// How the clients themselves begin the text of a refused call, and what the rest of the first line must hold.
const REFUSALS: &[(&[u8], &[u8])] = &[
    (b"Permission to use ", b" has been denied"),
    (b"Permission for this ", b"denied"),
    (b"Permission for this ", b"blocked"),
    (b"Claude requested permissions to ", b""),
    (b"The user doesn't want to ", b""),
    ("The user doesn’t want to ".as_bytes(), b""),
    (b"Auto mode is unavailable: ", b""),
    (b"This command requires approval", b""),
    // The program comes first: `touch in '/etc/x' needs approval. The path is outside …`
    (b"", b"' needs approval. the path is outside "),
    (b"", b"' was blocked. for security, claude code may only "),
];

/// Reads the forms that the clients write themselves, at the start of the text.
fn from_client(head: &[u8]) -> Option<Verdict> {
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let refused = |(start, holds): &(&[u8], &[u8])| {
        head.starts_with(start) && (holds.is_empty() || contains(line, holds))
    };
    let class = if head.starts_with(b"[Request interrupted by user") {
        ErrorClass::Interrupt
    } else if head.starts_with(b"<tool_use_error>") {
        tool_use_error(head)
    } else if REFUSALS.iter().any(refused) {
        ErrorClass::Permission
    } else if head.starts_with(b"PreToolUse:") && contains(line, b" hook error: ") {
        if contains(line, b"agent-tracer") { ErrorClass::PolicyDenied } else { ErrorClass::HookBlocked }
    } else if head.starts_with(b"Agent terminated early due to an API error: ") {
        api_error(line)
    } else {
        return None;
    };
    Some(Verdict::error(class))
}

/// The client refused the call before it ran.
fn tool_use_error(head: &[u8]) -> ErrorClass {
    let has = |word: &[u8]| contains(head, word);
    if has(b"cancelled: ") || has(b"sibling tool call") || has(b"interrupted") {
        ErrorClass::Interrupt
    } else if has(b"no such tool") || has(b"string to replace not found") || has(b"inputvalidationerror") {
        ErrorClass::InvalidInput
    } else if has(b"does not exist") || has(b"no such file") || has(b"file not found") || has(b"enoent") {
        ErrorClass::NotFound
    } else if has(b"permission") || has(b"denied") || has(b"not allowed") {
        ErrorClass::Permission
    } else if has(b"<tool_use_error>blocked") || has(b"<tool_use_error>error: blocked") {
        ErrorClass::PolicyDenied
    } else if has(b"timed out") {
        ErrorClass::Timeout
    } else {
        ErrorClass::InvalidInput
    }
}

/// The model's provider did not answer: out of reach or overloaded, or for a reason that we cannot name.
fn api_error(line: &[u8]) -> ErrorClass {
    let has = |word: &[u8]| contains(line, word);
    let out_of_reach = [&b"http 429"[..], b"http 5", b"overloaded", b"connection", b"timed out", b"network"];
    if out_of_reach.iter().any(|word| has(word)) { ErrorClass::Network } else { ErrorClass::Unknown }
}
