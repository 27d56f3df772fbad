//! A schema of `policy.toml` for editors: which keys there are, what each takes, and what it means.
//!
//! Law: a file that is read without a fault fits the schema. The schema is not as strict as the reader: what depends on
//! two keys at once is checked by `policy check`.

use agent_tracer_shell::Effect;
use serde_json::{Map, Value, json};

use crate::read::{self, AT_MOST_MAX, DEADLINE_MS_MAX};
use crate::verify::Verifier;
use crate::words::{Decision, Event, Mode, Moment, OnOutage, Scope, Severity, Thread, Weekday};

/// A closed set of words.
type Set = fn() -> Vec<&'static str>;

/// The type of a key.
enum ValueType {
    /// A text that is not empty.
    Text,
    /// The name of a rule.
    Name,
    /// A time of the day.
    Minute,
    /// A text or a list of texts.
    Texts,
    /// One of these words.
    Word(Set),
    /// One or several of these words.
    Words(Set),
    /// True or false.
    Flag,
    /// A whole number between these two.
    Whole(u64, u64),
    /// One of these words under a key, and a number of this type that has to be passed.
    Both((&'static str, Set), &'static str),
    /// A table with any keys.
    Object,
    /// A list of those.
    Objects,
    /// Another part of the file.
    Table(SchemaPart),
    /// Several of those.
    Tables(SchemaPart),
}

use ValueType::{Both, Flag, Minute, Name, Object, Objects, Table, Tables, Text, Texts, Whole, Word, Words};

/// A part of the file, with keys of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaPart {
    /// The file itself.
    File,
    /// A rule.
    Rule,
    /// A matcher.
    Match,
    /// A matcher of shell commands.
    Command,
    /// A matcher of times.
    Time,
    /// A condition about the history.
    When,
    /// Criteria of a stop.
    Require,
    /// Changes of a rewrite.
    Rewrite,
    /// A call and what should come of it.
    Example,
}

/// A key: its name, what it takes, and what it means. `{agents}` stands for the ids of the table of agents.
type Key = (&'static str, ValueType, &'static str);

const FILE: &[Key] = &[
    ("version", Whole(1, 1), "1"),
    (
        "deadline_ms",
        Whole(1, DEADLINE_MS_MAX as u64),
        "how long a hook waits for the server before the guard judges: 1 to 10000, 50 if absent; only your own file's counts",
    ),
    ("rule", Tables(SchemaPart::Rule), "the rules, each `[[rule]]`"),
];

const RULE: &[Key] = &[
    ("name", Name, "letters, digits, `-`, `_`, `.`; unique in the file"),
    ("description", Text, "for people"),
    ("on", Words(events), "the event or events"),
    ("decision", Word(decisions), "`allow`, `rewrite`, `warn`, `ask`, `deny` or `stop`"),
    ("reason", Text, "the text that the model receives; needed unless the rule allows or rewrites"),
    ("severity", Word(severities), "`info`, `low`, `medium` (default), `high`, `critical`"),
    ("mode", Word(modes), "`enforce` (default) or `dry_run`"),
    ("on_outage", Word(outages), "`allow` (default), `ask` or `deny`"),
    ("match", Table(SchemaPart::Match), "what has to be so"),
    ("unless", Table(SchemaPart::Match), "what must not all be so"),
    ("when", Table(SchemaPart::When), "what has to have been so"),
    ("require", Table(SchemaPart::Require), "what has to be so at an end; the rule speaks where it is not"),
    (
        "verify",
        Word(verifiers),
        "`prompt` or `agent`: Claude Code's own hook verifies, instead of us; see [below](#verified-by-claude-code-itself)",
    ),
    ("condition", Text, "what it verifies, in words; what `require` asks for if absent"),
    ("rewrite", Table(SchemaPart::Rewrite), "what a rewrite changes"),
    ("system_message", Text, "the text that you see when the rule acts"),
    ("stop_reason", Text, "what is shown when the agent stops; the reason if absent"),
    (
        "suppress_output",
        Flag,
        "keeps what the hook printed out of the transcript view; not for a project that is not trusted",
    ),
    (
        "permissions",
        Objects,
        "with `allow` at `PermissionRequest` of Claude Code: new permission rules, as the client spells them in `updatedPermissions`",
    ),
    ("at_most", Whole(1, AT_MOST_MAX), "how often an end is put off: 1 to 20, 3 if absent"),
    ("example", Tables(SchemaPart::Example), "calls and what should come of them, each `[[rule.example]]`"),
];

const MATCH: &[Key] = &[
    ("agent", Words(agents), "{agents}"),
    ("agent_type", Texts, "patterns for the kind of agent: `Explore`, your own agents' names"),
    ("thread", Word(threads), "`main` or `subagent`"),
    (
        "tool",
        Texts,
        "patterns for the tool's name, as the agent spells it. Codex' `apply_patch` is also `Edit` and `Write`, its `spawn_agent` also `Agent`",
    ),
    ("path", Texts, "patterns for any file that the call touches"),
    ("reads", Texts, "… that it reads"),
    ("writes", Texts, "… that it writes or takes away"),
    ("deletes", Texts, "… that it takes away; also if a folder above it goes"),
    ("command", Table(SchemaPart::Command), "what a shell command means, see below"),
    ("host", Texts, "patterns for hosts of addresses, in any case"),
    ("mcp_server", Texts, "patterns for the MCP server"),
    ("mcp_tool", Texts, "patterns for its tool"),
    ("skill", Texts, "patterns for the skill"),
    ("permission_mode", Texts, "patterns: `default`, `plan`, `acceptEdits`, `auto`, `bypassPermissions`"),
    ("project", Texts, "path patterns for the root of the project"),
    ("prompt", Texts, "at `UserPromptSubmit`: patterns for the whole prompt, in any case"),
    ("time", Table(SchemaPart::Time), "when, in local time"),
];

const COMMAND: &[Key] = &[
    ("program", Texts, "patterns for the program behind all wrappers"),
    ("subcommand", Texts, "patterns"),
    ("operation", Texts, "patterns for what is done: `delete_file`, `run_test`, `copy_file`, …"),
    (
        "effect",
        Words(effects),
        "`delete` (files are taken away or emptied), or one of `remote_execution`, `destructive`, `write`, `network`, `execute_check`, `unknown`, `read_only`, `neutral`",
    ),
    ("target", Texts, "path patterns for what it is done to"),
    ("wrapper", Texts, "patterns for what was unwrapped: `sudo`, `bash -c`, `xargs`, …"),
    ("text", Texts, "patterns for the step's own words"),
    ("recursive", Flag, "whether it reaches everything below its targets"),
    ("understood", Flag, "whether the whole command could be understood"),
];

const TIME: &[Key] = &[
    ("days", Words(days), "`mon` … `sun`, `weekdays`, `weekend`: the days on which it begins"),
    ("from", Minute, "`HH:MM`"),
    ("to", Minute, "`HH:MM`, no longer included; earlier than `from` means over midnight"),
];

const WHEN: &[Key] = &[
    (
        "tokens",
        Both(("per", scopes), "integer"),
        "`{ per = \"turn\" | \"task\" | \"tree\" | \"day\", over = N }`",
    ),
    ("cost_usd", Both(("per", scopes), "number"), "`{ per = …, over = 2.50 }`"),
    ("repeated", Whole(0, u64::MAX), "the same call was made at least N times before in its task"),
    ("failures_in_a_row", Whole(0, u64::MAX), "at least N"),
    ("unread_edit", Flag, "`true`: a file is changed that the task has not read"),
    (
        "minutes_since",
        Both(("last", moments), "integer"),
        "`{ last = \"prompt\" | \"edit\" | \"test\" | \"commit\" | \"start\", over = N }`; also if it has never been",
    ),
];

const REQUIRE: &[Key] = &[
    (
        "tests_passed",
        Flag,
        "`true`: after the last change of a file of the project tests ran in the project and passed, by an exit code that says so (not with `|| true`, a pipe or a trailing `echo`)",
    ),
    (
        "failures_handled",
        Flag,
        "`true`: every command that failed was followed by one of its kind that did not; a failed look is an answer and does not count",
    ),
    ("todos_closed", Flag, "`true`: no work item is open"),
    ("mentioned_opened", Flag, "`true`: every file that you named was opened"),
    ("wrote", Texts, "path patterns: a file that fits was written"),
];

const REWRITE: &[Key] = &[
    ("set", Object, "sets fields of the tool's input"),
    ("remove", Texts, "takes fields away"),
    ("add_flag", Text, "adds a word to a command of one plain step, unless it is there"),
    ("directory", Text, "lets a command start in this folder, seen from the project"),
];

const EXAMPLE: &[Key] = &[
    ("agent", Word(agents), "the rule's first, or {first agent}"),
    ("event", Word(events), "the rule's first"),
    ("tool", Text, "the tool"),
    ("input", Object, "its input"),
    ("payload", Object, "any other fields of the payload: `agent_type`, `prompt`, `cwd`, …"),
    (
        "expect",
        Word(expected),
        "a decision, or `nothing`; looked up with all rules of the file and without a past",
    ),
];

impl SchemaPart {
    /// Every part, the file first.
    pub const ALL: &[Self] = &[
        Self::File,
        Self::Rule,
        Self::Match,
        Self::Command,
        Self::Time,
        Self::When,
        Self::Require,
        Self::Rewrite,
        Self::Example,
    ];

    const fn keys(self) -> &'static [Key] {
        match self {
            Self::File => FILE,
            Self::Rule => RULE,
            Self::Match => MATCH,
            Self::Command => COMMAND,
            Self::Time => TIME,
            Self::When => WHEN,
            Self::Require => REQUIRE,
            Self::Rewrite => REWRITE,
            Self::Example => EXAMPLE,
        }
    }

    /// Lists the keys, in the order of the document, each with what it means.
    pub fn described(self) -> impl Iterator<Item = (&'static str, String)> {
        self.keys().iter().map(|(name, _, means)| (*name, with_agents(means)))
    }

    /// Lists the keys that have to be there.
    const fn needed(self) -> &'static [&'static str] {
        match self {
            Self::File => &["version"],
            Self::Rule => &["name", "on", "decision"],
            Self::Example => &["expect"],
            _ => &[],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Rule => "rule",
            Self::Match => "match",
            Self::Command => "command",
            Self::Time => "time",
            Self::When => "when",
            Self::Require => "require",
            Self::Rewrite => "rewrite",
            Self::Example => "example",
        }
    }

    fn schema(self) -> Value {
        let keys: Map<String, Value> = self
            .keys()
            .iter()
            .map(|(name, takes, means)| {
                let mut schema = takes.schema();
                if let Value::Object(members) = &mut schema {
                    members.insert("description".to_owned(), with_agents(means).into());
                }
                ((*name).to_owned(), schema)
            })
            .collect();
        json!({ "type": "object", "properties": keys, "required": self.needed(), "additionalProperties": false })
    }
}

fn words<T: Copy>(all: &[T], spell: fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|word| spell(*word)).collect()
}

/// Puts the ids of the agents into the meaning of a key.
fn with_agents(means: &str) -> String {
    let quoted: Vec<String> = agents().into_iter().map(|agent| format!("`{agent}`")).collect();
    let first = quoted.first().map_or("", String::as_str);
    means.replace("{agents}", &quoted.join(", ")).replace("{first agent}", first)
}

fn agents() -> Vec<&'static str> {
    read::agents()
}

fn events() -> Vec<&'static str> {
    words(Event::ALL, Event::as_str)
}

fn decisions() -> Vec<&'static str> {
    words(Decision::ALL, Decision::as_str)
}

fn verifiers() -> Vec<&'static str> {
    words(Verifier::ALL, Verifier::as_str)
}

fn expected() -> Vec<&'static str> {
    [decisions(), vec!["nothing"]].concat()
}

fn severities() -> Vec<&'static str> {
    words(Severity::ALL, Severity::as_str)
}

fn modes() -> Vec<&'static str> {
    words(Mode::ALL, Mode::as_str)
}

fn outages() -> Vec<&'static str> {
    words(OnOutage::ALL, OnOutage::as_str)
}

fn threads() -> Vec<&'static str> {
    words(Thread::ALL, Thread::as_str)
}

fn scopes() -> Vec<&'static str> {
    words(Scope::ALL, Scope::as_str)
}

fn moments() -> Vec<&'static str> {
    words(Moment::ALL, Moment::as_str)
}

fn effects() -> Vec<&'static str> {
    [vec!["delete"], words(&Effect::GRAVEST_FIRST, Effect::as_str)].concat()
}

fn days() -> Vec<&'static str> {
    [words(Weekday::ALL, Weekday::as_str), vec!["weekdays", "weekend"]].concat()
}

/// Allows one of something, or a list of it.
fn one_or_many(one: &Value) -> Value {
    json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
}

impl ValueType {
    fn schema(&self) -> Value {
        let text = json!({ "type": "string", "minLength": 1 });
        match self {
            Text => text,
            Name => json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" }),
            Minute => json!({ "type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$|^24:00$" }),
            Texts => one_or_many(&text),
            Word(set) => json!({ "enum": set() }),
            Words(set) => one_or_many(&json!({ "enum": set() })),
            Flag => json!({ "type": "boolean" }),
            Whole(least, u64::MAX) => json!({ "type": "integer", "minimum": least }),
            Whole(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
            Both((key, set), number) => json!({
                "type": "object",
                "properties": { *key: { "enum": set() }, "over": { "type": number, "minimum": 0 } },
                "required": [key, "over"],
                "additionalProperties": false,
            }),
            Object => json!({ "type": "object" }),
            Objects => json!({ "type": "array", "items": { "type": "object" } }),
            Table(part) => json!({ "allOf": [{ "$ref": format!("#/definitions/{}", part.name()) }] }),
            Tables(part) => {
                json!({ "type": "array", "items": { "$ref": format!("#/definitions/{}", part.name()) } })
            }
        }
    }
}

/// Returns the schema, in the draft that editors of TOML understand.
#[must_use]
pub fn schema() -> Value {
    let definitions: Map<String, Value> = SchemaPart::ALL
        .iter()
        .filter(|part| **part != SchemaPart::File)
        .map(|part| (part.name().to_owned(), part.schema()))
        .collect();
    let mut schema = SchemaPart::File.schema();
    if let Value::Object(members) = &mut schema {
        members.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
        members.insert("title".to_owned(), "Rules of Agent Tracer, `policy.toml`".into());
        members.insert("definitions".to_owned(), definitions.into());
    }
    schema
}
