//! Reduces a payload in one forward pass, member by member.
//!
//! The output is compact JSON with the payload's members in their order and bodies replaced in place. A member
//! whose treatment depends on another that may come later (`error`, `last_assistant_message`, a top-level
//! `content`, a result before its `tool_name`) is remembered and written at the end of its object, when
//! everything about it is known.
//!
//! The replacements:
//!
//! | was | becomes |
//! |---|---|
//! | a result body | `{…named ids, states and numbers…, "outputBytes":N, "isError":…, "exitCode":N, "errorClass":"…", "firstLine":"…"}` ([`body`]) |
//! | content of a file, or any long string | `{"bytes":N,"lines":N,"hash":"…"}` ([`contents`]) |
//! | a patch | the same, with `"files":["*** Update File: a", …]` |
//! | a text at level `metadata` | `{"bytes":N,"lines":N}`, a command `{"program":"git","bytes":N}` ([`texts`]) |
//! | what nests deeper than 64 levels, or no longer fits | `{"reduced":"too_deep","bytes":N}`, `{"reduced":"too_big","bytes":N}` |

mod body;
mod contents;
mod context;
mod name_context;
mod outcome;
mod spawned_agent;
mod tally;
mod texts;
mod walk;
mod write;

use agent_tracer_agent::Agent;

use crate::config::Config;
use crate::fault::Fault;

/// The way by which a payload arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// A hook of this agent.
    Hook(Agent),
    /// A status line.
    StatusLine,
}

/// The result of reducing a payload.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Reduction {
    /// The fault of an unreadable payload, of which nothing was written.
    pub fault: Option<Fault>,
    /// The number of masked secrets.
    pub masked: u32,
    /// The payload's working directory, unescaped; only looked up when the configuration excludes folders.
    pub cwd: Option<Vec<u8>>,
    /// The payload's project directory (status line), likewise.
    pub project_dir: Option<Vec<u8>>,
    /// The moment, if the hook does more than record at this event.
    pub moment: Moment,
}

/// The moments at which a hook does more than record. They are recognised here because the one pass over the payload
/// reads the name of the event anyway; of names that are there twice the last counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Moment {
    /// Any other.
    #[default]
    Other,
    /// `SessionStart`
    SessionStarts,
    /// `SubagentStart`
    SubagentStarts,
    /// `PreCompact`
    Compacts,
    /// `UserPromptSubmit`
    Prompts,
}

impl Moment {
    fn named(name: &[u8]) -> Self {
        match name {
            b"SessionStart" => Self::SessionStarts,
            b"SubagentStart" => Self::SubagentStarts,
            b"PreCompact" => Self::Compacts,
            b"UserPromptSubmit" => Self::Prompts,
            _ => Self::Other,
        }
    }
}

/// Appends the parts of `input` that may be kept to `out`, as one compact JSON object.
///
/// `key` is called at most once, and only if something is hashed. If the payload cannot be understood, `out`
/// stays unchanged and the result has the fault. Exclusions by folder are not applied here: the caller checks the
/// directories of the result with [`Config::excludes`].
pub fn reduce(
    input: &[u8],
    source: Source,
    config: &Config,
    key: &mut dyn FnMut() -> [u8; 16],
    out: &mut Vec<u8>,
) -> Reduction {
    let start = out.len();
    let mut run = walk::PayloadPass::new(input, source, config, key, out);
    let fault = run.document().err();
    let masked = run.masked();
    let moment = run.moment;
    let (cwd, project_dir) = run.directories();
    if let Some(fault) = fault {
        out.truncate(start);
        return Reduction { fault: Some(fault), ..Reduction::default() };
    }
    Reduction { fault: None, masked, cwd, project_dir, moment }
}
