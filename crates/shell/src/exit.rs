//! Conclusions from the exit code of a command line to the success of one of its steps.
//!
//! The line is a tree of steps. Assume that one step fails (or passes), let every other step do either, and
//! follow the rules of the shell: the set of exit codes that the whole can then have tells whether the code
//! proves anything. No case is listed here: `|| true`, a trailing `echo`, a pipe into `tail`, a background job
//! and `set -e` all follow from the same rules.

use std::rc::Rc;

use crate::syntax::ast::Link;

/// The effect of a step on the status of the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// Any way.
    Anyhow,
    /// Always well: `true`, `echo`.
    Well,
    /// Always badly: `false`, or a test of `PIPESTATUS`, which is only written to pass a failure on.
    Badly,
    /// Leaves the shell.
    Shell(Leaves),
    /// Sets options of the shell.
    Options(Options),
}

/// With what status a step leaves the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaves {
    Well,
    /// With a code other than zero, or with one that was saved before.
    Badly,
    /// With the status of the step before.
    AsItWas,
}

/// Options of the shell that change what a failure does. Absent means unchanged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    pub(crate) errexit: Option<bool>,
    pub(crate) pipefail: Option<bool>,
}

/// The tree of a command line.
#[derive(Clone, Debug)]
pub(crate) enum Node {
    Nothing,
    Step {
        leaf: usize,
        ends: Ends,
    },
    Chain(Box<Node>, Vec<(Link, Node)>),
    /// Items and whether each is sent to the background.
    Sequence(Vec<(Node, bool)>),
    Pipeline(Vec<Node>),
    Not(Box<Node>),
    If(Vec<(Node, Node)>, Option<Box<Node>>),
    Loop {
        condition: Option<Box<Node>>,
        body: Box<Node>,
    },
    OneOf(Vec<Node>),
    Subshell(Box<Node>, Options),
    Call(Rc<Node>),
}

/// Statuses that are possible, as a set: ended well or badly, or left the shell well or badly.
type Set = u8;
const NOWHERE: Set = 0;
const WELL: Set = 1;
const BADLY: Set = 2;
const LEFT_WELL: Set = 4;
const LEFT_BADLY: Set = 8;
const STAYED: Set = WELL | BADLY;
const LEFT: Set = LEFT_WELL | LEFT_BADLY;

/// An assumption about the statuses of all steps.
#[derive(Clone, Copy)]
struct Assume {
    leaf: usize,
    /// The status of that step.
    status: Set,
    /// The statuses of all others.
    others: Set,
    /// Read pipelines as if every member counted.
    pipes_count: bool,
    /// Look only at the ways on which that step runs.
    follow: bool,
}

#[derive(Clone, Copy, Default)]
struct Shell {
    errexit: bool,
    pipefail: bool,
    /// Inside a condition a failure is an answer, not an error.
    tested: bool,
    last: Set,
}

/// The result of a node: what statuses are possible, and whether the step in question is in there.
#[derive(Clone, Copy)]
struct Out {
    set: Set,
    through: bool,
}

/// Returns `true` if the command line can report success although the step failed.
pub(crate) fn can_hide_failure(tree: &Node, leaf: usize) -> bool {
    let out =
        possible(tree, Assume { leaf, status: BADLY, others: STAYED, pipes_count: false, follow: true });
    out.through && out.set & WELL != 0
}

/// Returns `true` if the command line reports success even if the step and all others that can fail do: the line was
/// written to hide the failure, as with `|| true`.
pub(crate) fn hides_failure_on_purpose(tree: &Node, leaf: usize) -> bool {
    let out = possible(tree, Assume { leaf, status: BADLY, others: BADLY, pipes_count: true, follow: true });
    out.through && out.set & BADLY == 0
}

/// The conclusions that the exit code of the whole line permits about one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Proof {
    /// Zero says that the step ran and passed.
    pub(crate) zero: bool,
    /// Any other code says that it failed.
    pub(crate) non_zero: bool,
}

/// Works out what the exit code says about a step.
pub(crate) fn proof(tree: &Node, leaf: usize) -> Proof {
    let failed =
        possible(tree, Assume { leaf, status: BADLY, others: STAYED, pipes_count: false, follow: true });
    if !failed.through {
        return Proof { zero: false, non_zero: false };
    }
    // Every way, those around the step included: can anything but this step make the whole fail?
    let passed =
        possible(tree, Assume { leaf, status: WELL, others: STAYED, pipes_count: false, follow: false });
    // Every way around it: a way that comes to the step ends there.
    let around =
        possible(tree, Assume { leaf, status: NOWHERE, others: STAYED, pipes_count: false, follow: false });
    Proof {
        zero: failed.set & WELL == 0 && around.set & WELL == 0,
        non_zero: failed.set & BADLY != 0 && passed.set & BADLY == 0,
    }
}

fn possible(tree: &Node, assume: Assume) -> Out {
    let mut shell = Shell { last: WELL, ..Shell::default() };
    let out = eval(tree, assume, &mut shell);
    Out { set: arrived(out.set), through: out.through }
}

fn eval(node: &Node, assume: Assume, shell: &mut Shell) -> Out {
    let out = match node {
        Node::Nothing => Out { set: WELL, through: false },
        Node::Step { leaf, ends } => step(*leaf, *ends, assume, shell),
        Node::Chain(first, rest) => chain(first, rest, assume, shell),
        Node::Sequence(items) => sequence(items, assume, shell),
        Node::Pipeline(members) => pipeline(members, assume, shell),
        Node::Not(inner) => {
            let tested = std::mem::replace(&mut shell.tested, true);
            let out = eval(inner, assume, shell);
            shell.tested = tested;
            let swapped = ((out.set & WELL) << 1) | ((out.set & BADLY) >> 1) | (out.set & LEFT);
            Out { set: swapped, ..out }
        }
        Node::If(branches, otherwise) => branch(branches, otherwise.as_deref(), assume, shell),
        Node::Loop { condition, body } => repeat(condition.as_deref(), body, assume, shell),
        Node::OneOf(arms) => {
            let mut all = Out { set: WELL, through: false };
            for arm in arms {
                let out = eval(arm, assume, &mut shell.clone());
                all = join(all, out);
            }
            all
        }
        Node::Subshell(inner, options) => {
            let mut own = *shell;
            own.apply(*options);
            let out = eval(inner, assume, &mut own);
            Out { set: arrived(out.set), ..out }
        }
        Node::Call(body) => eval(body, assume, shell),
    };
    shell.last = out.set & STAYED;
    out
}

impl Shell {
    fn apply(&mut self, options: Options) {
        self.errexit = options.errexit.unwrap_or(self.errexit);
        self.pipefail = options.pipefail.unwrap_or(self.pipefail);
    }

    /// Applies `set -e`: an untested failure ends the shell.
    ///
    /// Only simple commands, pipelines and subshells count. A compound that failed without ending the shell contains a
    /// failure that was tested inside, and an inverted command never ends it.
    const fn guard(&self, node: &Node, out: Out) -> Out {
        let counts = matches!(node, Node::Step { .. } | Node::Pipeline(_) | Node::Subshell(..));
        if self.errexit && !self.tested && counts && out.set & BADLY != 0 {
            return Out { set: (out.set & !BADLY) | LEFT_BADLY, ..out };
        }
        out
    }
}

/// Maps what leaves a shell to what is seen outside: there, leaving it is just its status.
const fn arrived(set: Set) -> Set {
    (set & STAYED) | ((set & LEFT) >> 2)
}

/// Joins two ways by which the same place can be reached; a way through the step in question is the one that is asked
/// about.
const fn join(one: Out, other: Out) -> Out {
    match (one.through, other.through) {
        (true, false) => one,
        (false, true) => other,
        (true, true) | (false, false) => Out { set: one.set | other.set, through: one.through },
    }
}

fn step(leaf: usize, ends: Ends, assume: Assume, shell: &mut Shell) -> Out {
    if leaf == assume.leaf {
        let set = match ends {
            // What leaves the shell or sets options cannot be assumed to fail.
            Ends::Shell(_) | Ends::Options(_) | Ends::Well if assume.status == WELL => WELL,
            Ends::Anyhow | Ends::Well | Ends::Badly | Ends::Shell(_) | Ends::Options(_) => assume.status,
        };
        return Out { set, through: assume.follow };
    }
    let set = match ends {
        Ends::Anyhow => assume.others,
        Ends::Well => WELL,
        Ends::Badly => BADLY,
        Ends::Shell(Leaves::Well) => LEFT_WELL,
        Ends::Shell(Leaves::Badly) => LEFT_BADLY,
        Ends::Shell(Leaves::AsItWas) => shell.last << 2,
        Ends::Options(options) => {
            shell.apply(options);
            WELL
        }
    };
    Out { set, through: false }
}

fn chain(first: &Node, rest: &[(Link, Node)], assume: Assume, shell: &mut Shell) -> Out {
    let tested = shell.tested;
    // Only the last command of a chain can end the shell under `set -e`: the others are tested by it.
    shell.tested = tested || !rest.is_empty();
    let mut all = eval(first, assume, shell);
    for (position, (link, node)) in rest.iter().enumerate() {
        let is_last = position + 1 == rest.len();
        shell.tested = tested || !is_last;
        let gate = match link {
            Link::And => WELL,
            Link::Or => BADLY,
        };
        let skipped = all.set & !gate;
        let runs = all.set & gate != 0;
        let before = *shell;
        shell.last = gate;
        let mut out = eval(node, assume, shell);
        if is_last {
            out = shell.guard(node, out);
        }
        if out.through {
            // The step in question ran, whatever had to happen for that.
            all = out;
        } else if runs {
            all.set = skipped | out.set;
        } else {
            *shell = before;
        }
    }
    shell.tested = tested;
    if rest.is_empty() { shell.guard(first, all) } else { all }
}

fn sequence(items: &[(Node, bool)], assume: Assume, shell: &mut Shell) -> Out {
    let mut all = Out { set: WELL, through: false };
    for (node, background) in items {
        let out = if *background {
            let out = eval(node, assume, &mut shell.clone());
            Out { set: if out.set == NOWHERE { NOWHERE } else { WELL }, ..out }
        } else if matches!(node, Node::Chain(..)) {
            eval(node, assume, shell)
        } else {
            let out = eval(node, assume, shell);
            shell.guard(node, out)
        };
        if out.through {
            all = out;
        } else if all.set & STAYED != 0 {
            all.set = (all.set & LEFT) | out.set;
        }
        shell.last = all.set & STAYED;
    }
    all
}

fn pipeline(members: &[Node], assume: Assume, shell: &mut Shell) -> Out {
    let all_count = shell.pipefail || assume.pipes_count;
    let mut through = false;
    let mut any_badly = 0;
    let mut all_well = WELL;
    let mut last = WELL;
    for member in members {
        let out = eval(member, assume, &mut shell.clone());
        let set = arrived(out.set);
        if set == NOWHERE {
            return Out { set, through };
        }
        through |= out.through;
        any_badly |= set & BADLY;
        all_well &= set;
        last = set;
    }
    let set = if all_count { any_badly | all_well } else { last };
    Out { set, through }
}

fn branch(branches: &[(Node, Node)], otherwise: Option<&Node>, assume: Assume, shell: &mut Shell) -> Out {
    // Follows the chain of conditions: `reach` is how the next one can be arrived at.
    let mut result = Out { set: 0, through: false };
    let mut through = false;
    let mut reachable = true;
    for (condition, body) in branches {
        let tested = std::mem::replace(&mut shell.tested, true);
        let asked = eval(condition, assume, shell);
        shell.tested = tested;
        if asked.through {
            through = true;
            result.set = 0;
            reachable = true;
        }
        result.set |= asked.set & LEFT;
        let taken = eval(body, assume, &mut shell.clone());
        if taken.through {
            return Out { set: taken.set, through: true };
        }
        if reachable && asked.set & WELL != 0 {
            result.set |= taken.set;
        }
        reachable = reachable && asked.set & BADLY != 0;
    }
    let last =
        otherwise.map_or(Out { set: WELL, through: false }, |node| eval(node, assume, &mut shell.clone()));
    if last.through {
        return last;
    }
    if reachable {
        result.set |= last.set;
    }
    Out { set: result.set, through }
}

fn repeat(condition: Option<&Node>, body: &Node, assume: Assume, shell: &mut Shell) -> Out {
    let mut through = false;
    let mut left = 0;
    if let Some(condition) = condition {
        let tested = std::mem::replace(&mut shell.tested, true);
        let asked = eval(condition, assume, shell);
        shell.tested = tested;
        through = asked.through;
        left = asked.set & LEFT;
        if asked.set & STAYED == 0 {
            return Out { set: left, through };
        }
    }
    let out = eval(body, assume, shell);
    if out.through && out.set & STAYED == 0 {
        // It leaves the shell: no later round can cover it up.
        return out;
    }
    // No round at all, or a later one, ends well.
    Out { set: left | out.set | WELL, through: through || out.through }
}
