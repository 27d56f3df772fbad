//! Decides: which rules apply to a call, and what comes of all of them together.
//!
//! The laws: the strictest decision wins, in whatever order the rules stand. `warn` permits nothing and forbids
//! nothing. A rule in `dry_run` is recorded and does nothing. A rule of a project that the user has not trusted may
//! deny, ask and warn, and nothing else, and none of its own words reach the model or the human; trusted or not, it
//! never makes weaker what the user's own rules decided.
//! What holds for a call holds for what a rewrite makes of it: the new input goes through all rules again. An end is
//! put off a bounded number of times, and never because somebody could not be asked.

use serde_json::Value;

use crate::call::Call;
use crate::criteria::Met;
use crate::history::{History, Truth};
use crate::read::RuleFile;
use crate::rewrite::Rewritten;
use crate::rule::Rule;
use crate::words::{Decision, Event, Mode, OnOutage, Severity};

/// Whose rule it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// The user's.
    User,
    /// The project's, which the user trusts by its hash.
    TrustedProject,
    /// The project's.
    Project,
}

impl Origin {
    /// The spelling in records and lists.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::TrustedProject => "trusted_project",
            Self::Project => "project",
        }
    }

    /// Whether a rule of this origin may decide so.
    #[must_use]
    pub const fn may(self, decision: Decision) -> bool {
        match self {
            Self::User | Self::TrustedProject => true,
            Self::Project => matches!(decision, Decision::Deny | Decision::Ask | Decision::Warn),
        }
    }
}

/// What comes of a call, least strict first. `Silent` is what happens without us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Outcome {
    /// Runs without asking.
    Allow,
    /// Runs with another input, without asking.
    Rewrite,
    /// Goes its usual way.
    Silent,
    /// The human decides.
    Ask,
    /// Does not happen.
    Deny,
    /// Does not happen, and the agent stops.
    Stop,
}

impl Outcome {
    /// The decision that leads here; none for silence.
    #[must_use]
    pub const fn decision(self) -> Option<Decision> {
        match self {
            Self::Allow => Some(Decision::Allow),
            Self::Rewrite => Some(Decision::Rewrite),
            Self::Silent => None,
            Self::Ask => Some(Decision::Ask),
            Self::Deny => Some(Decision::Deny),
            Self::Stop => Some(Decision::Stop),
        }
    }

    const fn of(decision: Decision) -> Self {
        match decision {
            Decision::Allow => Self::Allow,
            Decision::Rewrite => Self::Rewrite,
            Decision::Warn => Self::Silent,
            Decision::Ask => Self::Ask,
            Decision::Deny => Self::Deny,
            Decision::Stop => Self::Stop,
        }
    }
}

/// Why a rule spoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// It applies.
    Applies,
    /// Nobody could tell whether it applies.
    Outage,
    /// Its rewrite was not possible.
    NotPossible,
    /// It has put off this end as often as it may.
    LetGo,
}

/// A rule that spoke.
#[derive(Clone, Debug, PartialEq)]
pub struct Fired {
    /// Its name.
    pub rule: String,
    /// Whose it is.
    pub origin: Origin,
    /// What it wants here.
    pub decision: Decision,
    /// Why.
    pub basis: Basis,
    /// Whether it acts.
    pub mode: Mode,
    /// How much a person should care.
    pub severity: Severity,
    /// Whether what it wants counted: it is enforced, and its origin may want it.
    pub counted: bool,
}

/// What comes of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The strictest of what was wanted.
    pub outcome: Outcome,
    /// What the model is told about it.
    pub reasons: Vec<String>,
    /// What the model is told besides.
    pub context: Vec<String>,
    /// What the human is told.
    pub messages: Vec<String>,
    /// What is shown when the agent stops.
    pub stop_reason: Option<String>,
    /// Keeps what the hook printed out of sight.
    pub suppress_output: bool,
    /// The new input.
    pub input: Option<Value>,
    /// New permission rules.
    pub permissions: Vec<Value>,
    /// Every rule that spoke, those that did not count too.
    pub fired: Vec<Fired>,
}

impl Verdict {
    pub(crate) fn silent() -> Self {
        Self {
            outcome: Outcome::Silent,
            reasons: Vec::new(),
            context: Vec::new(),
            messages: Vec::new(),
            stop_reason: None,
            suppress_output: false,
            input: None,
            permissions: Vec::new(),
            fired: Vec::new(),
        }
    }

    /// Whether there is nothing to say.
    #[must_use]
    pub fn is_silent(&self) -> bool {
        self.outcome == Outcome::Silent && self.context.is_empty() && self.messages.is_empty()
    }
}

/// All rules that are in force.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    rules: Vec<(Origin, Rule)>,
}

/// Whether the user has trusted a project's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// By its hash.
    Trusted,
    /// Not, or it has changed since.
    NotTrusted,
}

impl Policy {
    /// The user's rules.
    #[must_use]
    pub fn of_user(file: RuleFile) -> Self {
        Self { rules: file.rules.into_iter().map(|rule| (Origin::User, rule)).collect() }
    }

    /// The same with a project's rules.
    #[must_use]
    pub fn with_project(mut self, file: RuleFile, trust: Trust) -> Self {
        let origin = match trust {
            Trust::Trusted => Origin::TrustedProject,
            Trust::NotTrusted => Origin::Project,
        };
        self.rules.extend(file.rules.into_iter().map(|rule| (origin, rule)));
        self
    }

    /// Every rule with its origin, the user's first.
    pub fn rules(&self) -> impl Iterator<Item = (Origin, &Rule)> {
        self.rules.iter().map(|(origin, rule)| (*origin, rule))
    }

    /// Decides on a call.
    #[must_use]
    pub fn decide(&self, call: &Call, history: &dyn History) -> Verdict {
        let mut verdict = Verdict::silent();
        let mut decided: Option<Outcome> = None;
        for (origin, rule) in self.rules.iter().filter(|(_, rule)| rule.decision != Decision::Rewrite) {
            let outcome = wish(rule, call, call, history).and_then(|wish| verdict.take(*origin, rule, wish));
            decided = decided.max(outcome);
        }
        // Each rewrite works on what those before it made, and the user's come last: nobody undoes them.
        let mut current: Option<Call> = None;
        let rewrites = |users: bool| {
            self.rules.iter().filter(move |(origin, rule)| {
                rule.decision == Decision::Rewrite && (*origin == Origin::User) == users
            })
        };
        for (origin, rule) in rewrites(false).chain(rewrites(true)) {
            let subject = current.as_ref().unwrap_or(call);
            let Some(wish) = wish(rule, call, subject, history) else { continue };
            let changed = wish.input.clone();
            if let Some(outcome) = verdict.take(*origin, rule, wish) {
                decided = decided.max(Some(outcome));
                if let Some(input) = changed {
                    current = Some(subject.with_input(input));
                }
            }
        }
        verdict.outcome = decided.unwrap_or(Outcome::Silent);
        if let Some(rewritten) = &current {
            self.decide_again(rewritten, history, &mut verdict);
            verdict.input = Some(rewritten.input.clone());
        }
        verdict.settle();
        verdict
    }

    /// Holds what a rewrite made against every rule that can forbid it.
    fn decide_again(&self, call: &Call, history: &dyn History, verdict: &mut Verdict) {
        for (origin, rule) in &self.rules {
            let forbids = matches!(rule.decision, Decision::Ask | Decision::Deny | Decision::Stop);
            let spoke = verdict.fired.iter().any(|it| it.rule == rule.name && it.origin == *origin);
            if !forbids || spoke {
                continue;
            }
            if let Some(wish) = wish(rule, call, call, history)
                && let Some(outcome) = verdict.take(*origin, rule, wish)
            {
                verdict.outcome = verdict.outcome.max(outcome);
            }
        }
    }
}

/// What one rule wants of a call.
struct Wish {
    decision: Decision,
    basis: Basis,
    input: Option<Value>,
    why: Option<String>,
}

/// Asks a rule about a call, or about what became of it on the way. A rewrite changes the latter.
fn wish(rule: &Rule, call: &Call, subject: &Call, history: &dyn History) -> Option<Wish> {
    // What the client's own hook verifies is not judged here.
    let whole = rule.is_about(call) || rule.is_about(subject);
    let changes = rule.decision == Decision::Rewrite;
    let partly = changes && (rule.is_about_part(call) || rule.is_about_part(subject));
    if rule.verify.is_some() || !(whole || partly) {
        return None;
    }
    let plain = |decision, basis| Some(Wish { decision, basis, input: None, why: None });
    let truth =
        rule.when.iter().fold(Truth::Holds, |truth, condition| truth.and(condition.holds(call, history)));
    match truth {
        Truth::Fails => return None,
        Truth::Unknown => {
            return match rule.on_outage {
                OnOutage::Allow => None,
                OnOutage::Ask => plain(Decision::Ask, Basis::Outage),
                OnOutage::Deny => plain(Decision::Deny, Basis::Outage),
            };
        }
        Truth::Holds => {}
    }
    let mut why = None;
    if !rule.require.is_empty() {
        // What nobody knows keeps nobody.
        match history.work(call).map(|work| rule.require.judge(&work, call.roots())) {
            Some(Met::No(missing)) => why = Some(missing),
            Some(Met::Yes | Met::Unknown) | None => return None,
        }
    }
    if rule.decision == Decision::Deny && call.event.is_an_end() {
        return put_off(rule, call, history, why);
    }
    if rule.decision != Decision::Rewrite {
        return Some(Wish { decision: rule.decision, basis: Basis::Applies, input: None, why });
    }
    match rule.rewrite.apply(subject) {
        Rewritten::Unchanged => None,
        // What the rule is not about would run along without asking.
        Rewritten::Changed(_) if !whole => Some(Wish {
            decision: Decision::Ask,
            basis: Basis::NotPossible,
            input: None,
            why: Some("the call does more than the rule is about".to_owned()),
        }),
        Rewritten::Changed(input) => {
            Some(Wish { decision: Decision::Rewrite, basis: Basis::Applies, input: Some(input), why: None })
        }
        Rewritten::Impossible(why) => Some(Wish {
            decision: Decision::Ask,
            basis: Basis::NotPossible,
            input: None,
            why: Some(why.to_owned()),
        }),
    }
}

/// An end is put off as often as the rule says. Where nobody counts, once: the client says when it comes again.
fn put_off(rule: &Rule, call: &Call, history: &dyn History, why: Option<String>) -> Option<Wish> {
    let plain = |decision, basis| Some(Wish { decision, basis, input: None, why });
    match history.put_off(call, &rule.name) {
        Some(times) if times < rule.at_most => plain(Decision::Deny, Basis::Applies),
        Some(_) => plain(Decision::Warn, Basis::LetGo),
        None if matches!(call.event, Event::Stop | Event::SubagentStop) && !call.again => {
            plain(Decision::Deny, Basis::Applies)
        }
        None => plain(Decision::Warn, Basis::LetGo),
    }
}

impl Verdict {
    /// Takes up what a rule wants. Returns what it decides, if it counts and decides anything.
    fn take(&mut self, origin: Origin, rule: &Rule, wish: Wish) -> Option<Outcome> {
        // Who may not change a call may not ask because it could not be changed either.
        let may =
            origin.may(wish.decision) && (wish.basis != Basis::NotPossible || origin.may(rule.decision));
        let counted = rule.mode == Mode::Enforce && may;
        self.fired.push(Fired {
            rule: rule.name.clone(),
            origin,
            decision: wish.decision,
            basis: wish.basis,
            mode: rule.mode,
            severity: rule.severity,
            counted,
        });
        if !counted {
            return None;
        }
        if wish.basis == Basis::LetGo {
            self.messages.push(format!("not put off any longer: {}", said(origin, rule, &wish)));
            return None;
        }
        self.messages.extend(rule.says.system_message.clone().filter(|_| origin != Origin::Project));
        self.suppress_output |= rule.says.suppress_output && origin != Origin::Project;
        if wish.decision == Decision::Warn {
            self.context.push(said(origin, rule, &wish));
            return None;
        }
        if wish.decision == Decision::Stop && self.stop_reason.is_none() {
            let own = rule.says.stop_reason.clone().filter(|_| origin != Origin::Project);
            self.stop_reason = Some(own.unwrap_or_else(|| said(origin, rule, &wish)));
        }
        if matches!(wish.decision, Decision::Allow | Decision::Rewrite) {
            self.permissions.extend(rule.says.permissions.iter().cloned());
        }
        self.reasons.push(said(origin, rule, &wish));
        Some(Outcome::of(wish.decision))
    }

    /// Leaves only what belongs to the outcome.
    fn settle(&mut self) {
        let wins =
            |fired: &&Fired| fired.counted && fired.decision != Decision::Warn && fired.basis != Basis::LetGo;
        // Reasons stand in the order of the rules that decided; those of weaker decisions are dropped.
        let decisions: Vec<Decision> = self.fired.iter().filter(wins).map(|fired| fired.decision).collect();
        let strictest = self.outcome.decision();
        let mut kept = Vec::new();
        for (decision, reason) in decisions.into_iter().zip(std::mem::take(&mut self.reasons)) {
            if Some(decision) == strictest {
                kept.push(reason);
            }
        }
        self.reasons = kept;
        if self.outcome != Outcome::Stop {
            self.stop_reason = None;
        }
        if !matches!(self.outcome, Outcome::Allow | Outcome::Rewrite) {
            self.permissions.clear();
        }
        // A new input comes with a call that runs, or that the human may let run.
        if !matches!(self.outcome, Outcome::Rewrite | Outcome::Ask) {
            self.input = None;
        }
    }
}

/// What an agent is told where it could not be looked up whether a rule applies, and the rule's decision if it needs no
/// past: then neither the server nor the program that stands in could judge the call, and the human has to.
pub(crate) fn in_outage(origin: Origin, rule: &Rule) -> Option<Verdict> {
    let needs_past = !rule.when.is_empty() || !rule.require.is_empty();
    let forbids = matches!(rule.decision, Decision::Ask | Decision::Deny | Decision::Stop);
    let at_least = if forbids && !needs_past { OnOutage::Ask } else { OnOutage::Allow };
    let (decision, outcome) = match rule.on_outage.max(at_least) {
        OnOutage::Allow => return None,
        OnOutage::Ask => (Decision::Ask, Outcome::Ask),
        OnOutage::Deny => (Decision::Deny, Outcome::Deny),
    };
    let why = (!needs_past).then(|| "the call could not be checked".to_owned());
    let wish = Wish { decision, basis: Basis::Outage, input: None, why };
    Some(Verdict { outcome, reasons: vec![said(origin, rule, &wish)], ..Verdict::silent() })
}

/// What the model is told, and by which rule: that comes first, so that whoever reads how a call ended sees at once who
/// refused it, however long the reason is.
fn said(origin: Origin, rule: &Rule, wish: &Wish) -> String {
    let (who, reason, why) = match origin {
        Origin::User | Origin::TrustedProject => {
            let reason = match rule.reason.trim() {
                "" => "decided by a rule of the user",
                reason => reason,
            };
            (format!("policy rule `{}`", rule.name), reason, wish.why.as_deref())
        }
        // A repository is not the user: a file that came with it must not speak to the model.
        Origin::Project => {
            let who = match plain_name(&rule.name) {
                Some(name) => format!("policy rule `{name}` of this project"),
                None => format!("policy rule `line {}` of this project", rule.line),
            };
            (
                who,
                "decided by a rule of the project, whose own words are not shown until the user trusts it",
                None,
            )
        }
    };
    let more = match (wish.basis, why) {
        (Basis::Outage, _) => {
            format!("; {}", wish.why.as_deref().unwrap_or("what happened before could not be looked up"))
        }
        (Basis::NotPossible, Some(why)) => format!("; the call could not be changed: {why}"),
        _ => String::new(),
    };
    let missing = match (wish.basis, why) {
        (Basis::Applies | Basis::LetGo, Some(why)) => format!(": {why}"),
        _ => String::new(),
    };
    format!("[{who}{more}] {reason}{missing}")
}

/// The longest name of a rule that a project may have said, in bytes, and the most words in it: a name holds no blanks,
/// but it can hold a sentence.
const NAME_BYTES_MAX: usize = 40;
const NAME_WORDS_MAX: usize = 4;

fn plain_name(name: &str) -> Option<&str> {
    let mut words = 0;
    let mut before = '-';
    for letter in name.chars() {
        let is_letter = letter.is_ascii_alphanumeric();
        let begins =
            !before.is_ascii_alphanumeric() || (before.is_ascii_lowercase() && letter.is_ascii_uppercase());
        words += usize::from(is_letter && begins);
        before = letter;
    }
    let is_short = name.len() <= NAME_BYTES_MAX && words <= NAME_WORDS_MAX;
    (is_short && name.is_ascii()).then_some(name)
}
