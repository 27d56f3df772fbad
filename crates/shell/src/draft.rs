//! A step while it is being read: the public step, and what only this crate needs to know about it.

use crate::effect::{Effect, Effects};
use crate::exposure::{Breadth, FileAccess, FileUse, Opacities, Opacity, Uses};
use crate::model::{Confidence, Operator, Redirect, Selectors, Step, Target, TargetType};
use crate::syntax::ast::Span;
use crate::words::{Frame, Origin};

/// Longest value of a target, in characters, and most targets of a step. What is beyond is cut: a target names
/// something, it does not carry content.
const MAX_VALUE: usize = 1024;
const MAX_TARGETS: usize = 100;
/// Most wrappers that are listed.
const MAX_WRAPPERS: usize = 8;

/// The way in which a step uses a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its content is read.
    Read,
    /// It is listed, tested, walked through.
    Look,
    Write,
    Delete,
    /// It is run.
    Run,
    /// It only names something.
    Mention,
}

/// A target and what is done to it.
#[derive(Clone, Debug)]
pub(crate) struct Aim {
    pub(crate) kind: TargetType,
    pub(crate) value: String,
    pub(crate) access: Access,
    /// On this machine's disk: not inside a container or on another host.
    pub(crate) local: bool,
    /// The files that the value covers.
    pub(crate) breadth: Breadth,
}

/// The source of the words that a title quotes. The words are copied only for steps that a title names: a line may have
/// hundreds of steps, and its title quotes two.
#[derive(Clone, Debug)]
pub(crate) enum QuoteSource {
    Nothing,
    /// A stretch of the command line.
    Root(Span),
    /// A text that has no place of its own in the command line.
    Text(String),
}

/// Longest text of a command that a title is made from, in characters.
const MAX_SHOWN: usize = 160;

impl QuoteSource {
    pub(crate) fn of(frame: &Frame<'_>, span: Span) -> Self {
        match &frame.origin {
            Origin::Whole(_) => Self::Text(one_line(span.of(frame.text))),
            Origin::At(_) | Origin::Map(_) => Self::Root(frame.origin.root(span)),
        }
    }

    /// Returns the text, on one line and not too long.
    pub(crate) fn text(&self, root: &str) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Root(span) => one_line(span.of(root)),
            Self::Text(text) => text.clone(),
        }
    }
}

fn one_line(text: &str) -> String {
    let mut shown = String::new();
    let mut length = 0;
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()) {
        if word.is_empty() {
            continue;
        }
        if length > 0 {
            shown.push(' ');
        }
        shown.extend(word.chars().take(MAX_SHOWN));
        length += word.chars().take(MAX_SHOWN).count() + 1;
        if length > MAX_SHOWN {
            break;
        }
    }
    shown
}

/// Returns `true` if a path begins with a variable other than those of the home and the working directory.
fn is_unknown(path: &str) -> bool {
    path.starts_with('$')
        && !["$HOME/", "${HOME}/", "$PWD/", "${PWD}/"].iter().any(|known| path.starts_with(known))
        && !matches!(path, "$HOME" | "${HOME}" | "$PWD" | "${PWD}")
}

/// A step under construction.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Identifies the step in the tree of [`crate::exit`].
    pub(crate) leaf: usize,
    pub(crate) raw: Span,
    pub(crate) name: String,
    pub(crate) subcommand: Option<String>,
    pub(crate) operation: &'static str,
    pub(crate) effects: Effects,
    pub(crate) confidence: Confidence,
    /// Reaches everything below its targets, or whatever a list names.
    pub(crate) recursive: bool,
    pub(crate) aims: Vec<Aim>,
    pub(crate) operator: Option<Operator>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) wrappers: Vec<&'static str>,
    pub(crate) members: Vec<Self>,
    pub(crate) substitutions: Vec<Self>,
    pub(crate) selectors: Selectors,
    /// A name for the title beside the targets: a commit message, a branch, a script.
    pub(crate) detail: Option<String>,
    /// The words of the command behind its wrappers.
    pub(crate) quote_source: QuoteSource,
    /// The output of the step, if the command line determines it.
    pub(crate) output: Option<String>,
    /// Why it cannot be seen through.
    pub(crate) opaque: Opacities,
    /// Hosts that it talks to beside its targets; absent where only running it would tell.
    pub(crate) hosts: Vec<Option<String>>,
    /// Files that it reaches beside its targets.
    pub(crate) reaches: Vec<FileUse>,
}

impl Draft {
    pub(crate) fn new(leaf: usize, raw: Span) -> Self {
        Self {
            leaf,
            raw,
            name: String::new(),
            subcommand: None,
            operation: "unknown",
            effects: Effects::NONE,
            confidence: Confidence::High,
            recursive: false,
            aims: Vec::new(),
            operator: None,
            redirects: Vec::new(),
            wrappers: Vec::new(),
            members: Vec::new(),
            substitutions: Vec::new(),
            selectors: Selectors::default(),
            detail: None,
            quote_source: QuoteSource::Nothing,
            output: None,
            opaque: Opacities::default(),
            hosts: Vec::new(),
            reaches: Vec::new(),
        }
    }

    pub(crate) fn aim(&mut self, kind: TargetType, value: impl Into<String>, access: Access) {
        self.aim_broadly(kind, value, access, Breadth::One);
    }

    /// Adds a target that stands for more than one file.
    pub(crate) fn aim_broadly(
        &mut self,
        kind: TargetType,
        value: impl Into<String>,
        access: Access,
        breadth: Breadth,
    ) {
        let mut value = value.into();
        if let Some((cut, _)) = value.char_indices().nth(MAX_VALUE) {
            value.truncate(cut);
            self.opaque.add(Opacity::Limit);
        }
        // Repetitions go first: the same file a hundred times over reaches no limit.
        if self.aims.iter().any(|aim| aim.kind == kind && aim.value == value && aim.access == access) {
            return;
        }
        if self.aims.len() >= MAX_TARGETS {
            self.opaque.add(Opacity::Limit);
            return;
        }
        let unknown = kind == TargetType::Unknown || is_unknown(&value);
        // To list or mention what a variable names does no harm under any name; to read or run it may.
        if unknown && !matches!(access, Access::Look | Access::Mention) {
            self.opaque.add(Opacity::Variable);
        }
        self.aims.push(Aim { kind, value, access, local: true, breadth });
    }

    /// Adds a host; `None` for one that only running the command would tell.
    pub(crate) fn host(&mut self, host: Option<String>) {
        if self.hosts.len() >= MAX_TARGETS {
            self.opaque.add(Opacity::Limit);
        } else if !self.hosts.contains(&host) {
            self.hosts.push(host);
        }
    }

    /// Returns the reasons for which the step is not understood: those noted so far, and [`Opacity::Program`] if its
    /// effects are unknown or only guessed.
    pub(crate) fn opacities(&self) -> Opacities {
        let mut opaque = self.opaque;
        if self.effects.has(Effect::Unknown) || self.confidence == Confidence::Low {
            opaque.add(Opacity::Program);
        }
        opaque
    }

    /// Takes over a target of a member or of what was unwrapped.
    pub(crate) fn take_aim(&mut self, aim: &Aim) {
        let before = self.aims.len();
        self.aim_broadly(aim.kind, aim.value.clone(), aim.access, aim.breadth);
        if self.aims.len() > before
            && let Some(taken) = self.aims.last_mut()
        {
            taken.local = aim.local;
        }
    }

    pub(crate) fn wrap(&mut self, label: &'static str) {
        // A wrapper in a wrapper of its kind says nothing new: only another kind is missed where the list is full.
        if self.wrappers.len() < MAX_WRAPPERS {
            self.wrappers.push(label);
        } else if !self.wrappers.contains(&label) {
            self.opaque.add(Opacity::Limit);
        }
    }

    pub(crate) fn at_most(&mut self, confidence: Confidence) {
        self.confidence = self.confidence.min(confidence);
    }

    /// Returns all effects, those of substitutions included.
    pub(crate) fn all_effects(&self) -> Effects {
        self.substitutions.iter().fold(self.effects, |effects, inner| effects.and(inner.all_effects()))
    }

    /// Returns the least confidence of the step and what runs inside it.
    pub(crate) fn least_confidence(&self) -> Confidence {
        self.substitutions.iter().fold(self.confidence, |least, inner| least.min(inner.least_confidence()))
    }

    /// Visits every step in here that is not a pipeline, substitutions included.
    pub(crate) fn each_simple<'d>(&'d self, visit: &mut impl FnMut(&'d Self)) {
        if self.members.is_empty() {
            visit(self);
        }
        for inner in self.members.iter().chain(&self.substitutions) {
            inner.each_simple(visit);
        }
    }

    /// Returns the step as others see it.
    pub(crate) fn finish(self, root: &str) -> Step {
        let effects = self.all_effects();
        let confidence = self.least_confidence();
        let uses = self.uses();
        let mut targets: Vec<Target> = Vec::new();
        for aim in self.aims {
            // `<>` reads and writes one file: two uses for rules, one target for people.
            let target = Target { kind: aim.kind, value: aim.value };
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        let pipeline = if self.members.is_empty() {
            None
        } else {
            Some(self.members.into_iter().map(|member| member.finish(root)).collect())
        };
        Step {
            raw: self.raw.of(root).to_owned(),
            command_name: self.name,
            subcommand: self.subcommand,
            operation: crate::semantics::public(self.operation).to_owned(),
            targets,
            effects: effects.list(),
            effect: effects.gravest(),
            confidence,
            recursive: self.recursive,
            operator_from_previous: self.operator,
            redirects: self.redirects,
            wrappers: self.wrappers.into_iter().map(str::to_owned).collect(),
            pipeline,
            substitutions: self.substitutions.into_iter().map(|inner| inner.finish(root)).collect(),
            selectors: self.selectors,
            uses,
        }
    }

    /// Returns the files and hosts that the step reaches. What it is only pointed at counts as what the step does.
    fn uses(&self) -> Uses {
        let mut uses = Uses::default();
        if !self.members.is_empty() {
            return uses;
        }
        let whole = if self.effects.has(Effect::Destructive) {
            FileAccess::Delete
        } else if self.effects.has(Effect::Write) {
            FileAccess::Write
        } else {
            FileAccess::Read
        };
        // A deletion without a name reaches files all the same (`xargs rm`). A use without a path keeps rules about
        // files from passing over it.
        if self.aims.is_empty() && whole == FileAccess::Delete {
            uses.files.push(FileUse { path: None, access: whole, breadth: Breadth::One });
        }
        for aim in &self.aims {
            let access = match aim.access {
                Access::Read | Access::Run => FileAccess::Read,
                Access::Write => FileAccess::Write,
                Access::Delete => FileAccess::Delete,
                Access::Look | Access::Mention => whole,
            };
            let path = match aim.kind {
                TargetType::File | TargetType::Directory | TargetType::Path => {
                    Some(aim.value.clone()).filter(|value| !is_unknown(value))
                }
                // `-C folder` and its like set where a program works, so that is where it writes.
                TargetType::Workspace if whole != FileAccess::Read => Some(aim.value.clone()),
                TargetType::Unknown => None,
                TargetType::Url => {
                    uses.hosts.push(Some(aim.value.clone()));
                    continue;
                }
                TargetType::Workspace | TargetType::Stream | TargetType::Package => continue,
            };
            uses.files.push(FileUse { path, access, breadth: aim.breadth });
        }
        uses.files.extend(self.reaches.iter().cloned());
        for host in &self.hosts {
            if !uses.hosts.contains(host) {
                uses.hosts.push(host.clone());
            }
        }
        uses
    }
}
