//! From the tree to the steps: who runs, in which order, on what.
//!
//! The walker follows the tree as the shell would, without running anything: it knows where the shell stands
//! after `cd`, what variables the line has set, and what was downloaded on the way. Scripts inside words
//! (`bash -c`, `eval`, `ssh host '…'`) are read like any other, within a budget that bounds all of it.

mod argument_commands;
pub(crate) mod awk;
mod builtins;
pub(crate) mod code;
mod commands;
pub(crate) mod environment;
mod find;
mod invoke;
mod lists;
mod redirects;
mod scripts;
pub(crate) mod sed;
mod simple;
mod wrappers;
mod written_files;

use std::rc::Rc;

use crate::context::{Context, Dialect};
use crate::decide;
use crate::draft::{Access, Draft};
use crate::effect::Effects;
use crate::exit::{Ends, Node};
use crate::exposure::{Opacities, Opacity};
use crate::model::{Confidence, Operator};
use crate::path::Place;
use crate::syntax::ast::{Part, Span, Word};
use crate::syntax::{Fault, Parsed, parse_bash, parse_powershell};
use crate::words::{Field, Frame, Origin, Variables, expand};

/// Most steps that are listed. More are read and counted; a graver one is still listed.
const MAX_LISTED: usize = 256;
/// Greatest depth of scripts in scripts, and of compounds in compounds.
const MAX_SCRIPTS: usize = 6;
const MAX_LEVEL: usize = 32;
/// Most files that the line makes which are remembered. Past it any program named by a path may be one of them.
const MAX_MADE: usize = 64;

/// Returns `true` if a pattern has a qualifier of zsh that runs code for each match: `*(e:'command':)`, `*(+function)`.
fn runs_for_matches(word: &str) -> bool {
    word.match_indices('(').any(|(at, _)| {
        let inside = word.get(at + 1..).unwrap_or_default();
        let end = inside.find(')').unwrap_or(inside.len());
        let inside = inside.get(..end).unwrap_or_default();
        inside.starts_with(['e', '+'])
            || inside.contains([':', '\'', '"', '\\', ' '])
            || inside.contains("oe")
    })
}

/// The standard input of a command.
#[derive(Clone, Debug, Default)]
pub(crate) enum Input {
    /// Whatever the command was started with.
    #[default]
    Inherited,
    /// A pipe or a file.
    Stream {
        /// It comes from another machine.
        fetched: bool,
    },
    /// Text that stands in the command line.
    Text(String),
}

/// The result of a walk.
pub(crate) struct WalkResult {
    pub(crate) steps: Vec<Draft>,
    pub(crate) tree: Node,
    pub(crate) omitted: Omitted,
    /// Branches, loops, subshells or groups were seen.
    pub(crate) branches: bool,
    /// Part of the command could not be read or was not followed.
    pub(crate) incomplete: bool,
    /// The reasons for which the line is not understood, beside those of its steps.
    pub(crate) opacity: Opacities,
    /// Variables that the line sets.
    pub(crate) environment: Vec<String>,
    /// Programs named by a path outside the folders of the system.
    pub(crate) programs: Vec<String>,
    /// A substitution was taken for the text that it prints.
    pub(crate) printed: bool,
}

/// Steps that are not listed, in sum.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Omitted {
    pub(crate) count: usize,
    pub(crate) effects: Effects,
    pub(crate) confidence: Confidence,
}

/// The walk.
pub(crate) struct Walker {
    root_length: usize,
    dialect: Dialect,
    steps: Vec<Draft>,
    listed: usize,
    heaviest: u32,
    omitted: Omitted,
    operator: Option<Operator>,
    leaves: usize,
    scripts: usize,
    level: usize,
    /// Bytes of inner scripts that may still be read.
    fuel: usize,
    /// Arguments that may still be looked through for a script.
    scans: usize,
    opacity: Opacities,
    environment: Vec<String>,
    programs: Vec<String>,
    printed: bool,
    branches: bool,
    incomplete: bool,
    /// The labels, effects and location that every step gets while a wrapper around it is open.
    wrappers: Vec<&'static str>,
    added: Effects,
    elsewhere: bool,
    state: State,
}

/// The state that a shell carries from command to command.
#[derive(Clone, Debug, Default)]
struct State {
    place: Place,
    previous: Place,
    variables: Variables,
    functions: Vec<(String, Rc<Node>)>,
    /// Files that came from another machine, as seen from the start.
    downloads: Vec<String>,
    /// Files that the command line itself wrote, and what it wrote into them.
    written: Vec<(String, String)>,
    /// Names that stand for the beginning of a command.
    aliases: Vec<(String, String)>,
    /// Files that the command line itself made or changed, as seen from the start.
    made: Vec<String>,
    made_too_many: bool,
    /// Folders in which the command line lets programs be looked for.
    searched: Vec<String>,
}

/// The state that is restored at the end of a subshell.
struct Outside {
    place: Place,
    previous: Place,
    variables: usize,
    functions: usize,
}

/// Reads a whole command line.
pub(crate) fn walk(text: &str, context: &Context<'_>) -> WalkResult {
    let parsed = parse(text, context.dialect);
    let mut walker = Walker {
        root_length: text.len(),
        dialect: context.dialect,
        steps: Vec::new(),
        listed: 0,
        heaviest: 0,
        omitted: Omitted { count: 0, effects: Effects::NONE, confidence: Confidence::High },
        operator: None,
        leaves: 0,
        scripts: 0,
        level: 0,
        // Proportional to the line, because a script can be read once per wrapper around it: without a budget, time
        // would grow with the power of the nesting.
        fuel: 4 * 1024 + text.len() * 3,
        scans: 4 * 1024 + text.len() * 3,
        opacity: Opacities::default(),
        environment: Vec::new(),
        programs: Vec::new(),
        printed: false,
        branches: false,
        incomplete: parsed.fault.any(),
        wrappers: Vec::new(),
        added: Effects::NONE,
        elsewhere: false,
        state: State::default(),
    };
    let frame = Frame { text, parsed: &parsed, origin: Origin::At(0) };
    let tree = walker.script(&frame, &parsed.script);
    if walker.state.variables.has_overflowed() {
        walker.opacity.add(Opacity::Limit);
    }
    WalkResult {
        steps: walker.steps,
        tree,
        omitted: walker.omitted,
        branches: walker.branches,
        incomplete: walker.incomplete,
        opacity: walker.opacity,
        environment: walker.environment,
        programs: walker.programs,
        printed: walker.printed,
    }
}

fn parse(text: &str, dialect: Dialect) -> Parsed {
    match dialect {
        Dialect::Bash => parse_bash(text),
        Dialect::PowerShell => parse_powershell(text),
    }
}

impl Walker {
    /// Returns a new step at this place, with everything that applies to all steps here.
    fn draft(&mut self, raw: Span) -> Draft {
        let leaf = self.leaves;
        self.leaves += 1;
        let end = raw.end.min(self.root_length);
        let mut draft = Draft::new(leaf, Span::new(raw.start.min(end), end));
        draft.wrappers.clone_from(&self.wrappers);
        draft.effects = self.added;
        draft
    }

    /// Takes a finished step in.
    fn push(&mut self, mut draft: Draft) {
        // Taken: it stands before one step, and the next one has its own or none.
        draft.operator = self.operator.take();
        if self.elsewhere {
            for aim in &mut draft.aims {
                aim.local = false;
            }
        }
        if self.dialect == Dialect::PowerShell {
            draft.confidence = Confidence::Low;
        }
        self.opacity.join(draft.opacities());
        self.note_made(&draft);
        if draft
            .aims
            .iter()
            .any(|aim| aim.access == Access::Write && written_files::starts_something(&aim.value))
        {
            self.opacity.add(Opacity::Setting);
        }
        let weight = decide::weight(&draft);
        // A graver step is listed all the same: a long line must not hide its worst part behind harmless ones.
        if self.listed >= MAX_LISTED && weight <= self.heaviest {
            self.omitted.count += 1;
            self.omitted.effects = self.omitted.effects.and(draft.all_effects());
            self.omitted.confidence = self.omitted.confidence.min(draft.least_confidence());
            self.opacity.add(Opacity::Limit);
            return;
        }
        self.listed += 1;
        self.heaviest = self.heaviest.max(weight);
        self.steps.push(draft);
    }

    /// Reads a script that stands inside the command line. Past the budget nothing of it is read, and that is
    /// said.
    fn inner_script(&mut self, text: &str, origin: Origin, dialect: Dialect) -> Option<Node> {
        if self.scripts >= MAX_SCRIPTS || self.fuel < text.len() {
            self.incomplete = true;
            self.opacity.add(Opacity::Limit);
            return None;
        }
        self.fuel -= text.len();
        self.scripts += 1;
        let parsed = parse(text, dialect);
        // A script given as one word can hold mistakes that the shell would only find when it runs it.
        let Fault { unfinished, unexpected, too_deep } = parsed.fault;
        self.incomplete |= unfinished || unexpected || too_deep;
        let outer_dialect = std::mem::replace(&mut self.dialect, dialect);
        let frame = Frame { text, parsed: &parsed, origin };
        let node = self.script(&frame, &parsed.script);
        self.dialect = outer_dialect;
        self.scripts -= 1;
        Some(node)
    }

    /// Expands a word and notes where a limit cut it short.
    fn expand<'t>(&mut self, frame: &Frame<'t>, word: &'t Word, fields: &mut Vec<Field<'t>>) {
        let before = fields.len();
        expand(frame, word, &self.state.variables, fields);
        if fields.iter().skip(before).any(|field| field.cut) {
            self.opacity.add(Opacity::Limit);
        }
        if word
            .parts
            .iter()
            .any(|part| matches!(part, Part::Plain(span) if span.of(frame.text).contains('(')))
            && runs_for_matches(word.span.of(frame.text))
        {
            self.opacity.add(Opacity::Code);
        }
    }

    /// Runs `read` with a list of steps of its own and returns that list.
    fn apart(&mut self, read: impl FnOnce(&mut Self)) -> Vec<Draft> {
        let operator = self.operator.take();
        let outer = std::mem::take(&mut self.steps);
        read(self);
        let inner = std::mem::replace(&mut self.steps, outer);
        self.operator = operator;
        inner
    }

    fn enter_subshell(&self) -> Outside {
        Outside {
            place: self.state.place.clone(),
            previous: self.state.previous.clone(),
            variables: self.state.variables.mark(),
            functions: self.state.functions.len(),
        }
    }

    fn leave_subshell(&mut self, outside: Outside) {
        self.state.place = outside.place;
        self.state.previous = outside.previous;
        self.state.variables.cut_back(outside.variables);
        self.state.functions.truncate(outside.functions);
    }

    /// Leaves a branch or a loop body: what happened in it may not have happened.
    fn leave_branch(&mut self, outside: Outside) {
        self.state.variables.doubt(outside.variables);
        if self.state.place != outside.place {
            self.state.place = Place::Unknown;
            // `cd -` would go back to a folder of which it is not known whether it was left.
            self.state.previous = Place::Unknown;
        }
    }

    /// Reads one level deeper into the tree, if the stack allows it.
    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Node {
        if self.level >= MAX_LEVEL {
            self.incomplete = true;
            self.opacity.add(Opacity::Limit);
            return Node::Nothing;
        }
        self.level += 1;
        let node = read(self);
        self.level -= 1;
        node
    }

    /// Reads what runs inside a word, apart from the line: it neither moves the shell nor shapes the line.
    fn inside_word(&mut self, read: impl FnOnce(&mut Self) -> Node) -> Vec<Draft> {
        // A substitution with an `if` in it does not make the line branch.
        let branches = self.branches;
        let steps = self.apart(|walker| {
            let outside = walker.enter_subshell();
            walker.deeper(read);
            walker.leave_subshell(outside);
        });
        self.branches = branches;
        steps
    }

    /// Returns a leaf of the tree for a step that ends any way.
    const fn leaf(draft: &Draft) -> Node {
        Node::Step { leaf: draft.leaf, ends: Ends::Anyhow }
    }
}
