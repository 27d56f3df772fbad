//! The tree of a command line.
//!
//! Nodes hold positions, never text: every walk of the tree has the source at hand, and a tree without copies costs
//! little even for hostile input. Every span lies on character boundaries of that source.

use crate::one_or_many::OneOrMany;

/// A stretch of the source, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    pub(crate) const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// Returns the text of the span; empty where it does not fit the source, so that a mistake here never panics.
    pub(crate) fn of(self, source: &str) -> &str {
        source.get(self.start..self.end).unwrap_or_default()
    }
}

/// Commands that run one after another.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) items: Vec<Item>,
}

/// One chain and how it is left: waited for, or sent to the background.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) chain: Chain,
    pub(crate) background: bool,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(Link, Pipeline)>,
}

/// The operator between two pipelines of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    And,
    Or,
}

/// Commands joined by `|`; a single command is a pipeline of one.
#[derive(Clone, Debug)]
pub(crate) struct Pipeline {
    pub(crate) span: Span,
    pub(crate) negated: bool,
    pub(crate) timed: bool,
    pub(crate) commands: OneOrMany<Command>,
}

/// A command with the redirections that apply to all of it.
#[derive(Clone, Debug)]
pub(crate) struct Command {
    pub(crate) span: Span,
    pub(crate) shape: Shape,
    pub(crate) redirects: Vec<Redirect>,
}

/// The forms a command takes.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Simple(Simple),
    Subshell(Script),
    Group(Script),
    // Boxed, because a command is as large as its largest shape, and nearly all commands are simple ones.
    If(Box<If>),
    While(Box<While>),
    For(Box<For>),
    Case(Box<Case>),
    Function(Box<Function>),
    /// `[[ … ]]`: only its words matter here.
    Test(Vec<Word>),
    /// `(( … ))`: the parts that run commands or name parameters.
    Arithmetic(Vec<Part>),
}

/// Assignments, then words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: OneOrMany<Word>,
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value` or `NAME=(…)`.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) name: Span,
    /// False for `+=`, subscripts and arrays: then the variable's value is not the word alone.
    pub(crate) whole: bool,
    pub(crate) values: Vec<Word>,
}

#[derive(Clone, Debug)]
pub(crate) struct If {
    /// Condition and body of `if` and each `elif`.
    pub(crate) branches: Vec<(Script, Script)>,
    pub(crate) otherwise: Option<Script>,
}

/// `while` and `until`.
#[derive(Clone, Debug)]
pub(crate) struct While {
    pub(crate) condition: Script,
    pub(crate) body: Script,
}

/// `for NAME in …`, `select NAME in …` and `for ((…))`.
#[derive(Clone, Debug)]
pub(crate) struct For {
    pub(crate) name: Span,
    pub(crate) words: Vec<Word>,
    pub(crate) arithmetic: Vec<Part>,
    pub(crate) body: Script,
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) subject: Word,
    pub(crate) arms: Vec<Script>,
}

#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: Span,
    pub(crate) body: Option<Command>,
}

/// A redirection as written.
#[derive(Clone, Debug)]
pub(crate) struct Redirect {
    /// The operator with its descriptor: `>`, `2>>`, `&>`, `<<-`, `<<<`.
    pub(crate) operator: Span,
    pub(crate) kind: RedirectKind,
    pub(crate) target: Word,
    // An index, because the body begins after the line that announces it and is read when this is long built.
    /// The index of the here-document's body in [`super::Parsed::heredocs`].
    pub(crate) heredoc: Option<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RedirectKind {
    Read,
    Write,
    Append,
    ReadWrite,
    Duplicate,
    HereDocument,
    HereString,
}

/// The body of a here-document.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heredoc {
    pub(crate) body: Span,
    /// The expansions in the body; empty if its delimiter was quoted.
    pub(crate) parts: Vec<Part>,
}

/// A word before expansion.
#[derive(Clone, Debug, Default)]
pub(crate) struct Word {
    pub(crate) span: Span,
    pub(crate) parts: OneOrMany<Part>,
}

/// A piece of a word.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// Unquoted text: globs, braces and tildes in it are alive.
    Plain(Span),
    /// Text as it stands, from quotes or behind a backslash.
    Quoted(Span),
    /// `$'…'` with its escapes resolved.
    Decoded(Box<(Span, String)>),
    /// `$name`, `${name…}`.
    Parameter(Box<Parameter>),
    /// `$(…)`.
    Command(Box<Substitution>),
    /// The inside of `` `…` ``, still escaped.
    Backtick(Span),
    /// `<(…)` or `>(…)`.
    Process(Box<Substitution>),
    /// `$((…))`.
    Arithmetic(Box<(Span, Vec<Part>)>),
    /// Something too deep or too broken to be read.
    Opaque(Span),
}

#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) span: Span,
    pub(crate) name: Span,
    /// `$name` or `${name}` and nothing else.
    pub(crate) plain: bool,
    pub(crate) quoted: bool,
    /// The expansions inside the braces.
    pub(crate) operand: OneOrMany<Part>,
}

#[derive(Clone, Debug)]
pub(crate) struct Substitution {
    pub(crate) span: Span,
    /// Inside double quotes: what it prints stays one piece.
    pub(crate) quoted: bool,
    pub(crate) script: Script,
}
