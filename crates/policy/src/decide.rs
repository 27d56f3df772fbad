//! Decides: which rules apply to a call, and what comes of all of them together.
//!
//! The laws: the strictest decision wins, in whatever order the rules stand. `warn` permits nothing and forbids
//! nothing. A rule in `dry_run` is recorded and does nothing. A rule of a project that the user has not trusted may
//! deny, ask and warn, and nothing else, and none of its own words reach the model or the human; trusted or not, it
//! never makes weaker what the user's own rules decided.
//! A rewritten call is a call: the new input goes through all rules again. A stop is deferred a bounded number of
//! times, and never because of an outage.

use agent_tracer_event::words;
use serde_json::Value;

use crate::call::Call;
use crate::criteria::CriterionState;
use crate::history::{History, Truth};
use crate::read::RuleFile;
use crate::rewrite::RewriteOutcome;
use crate::rule::Rule;
use crate::words::{Decision, Event, Mode, OnOutage, Severity};

words! {
    /// The origin of a rule.
    Origin {
        /// The user's.
        User = "user",
        /// The project's, which the user trusts by its hash.
        TrustedProject = "trusted_project",
        /// The project's.
        Project = "project",
    }
}

impl Origin {
    /// Returns whether a rule of this origin may decide so.
    #[must_use]
    pub const fn may(self, decision: Decision) -> bool {
        match self {
            Self::User | Self::TrustedProject => true,
            Self::Project => matches!(decision, Decision::Deny | Decision::Ask | Decision::Warn),
        }
    }
}

/// The outcome of a call, least strict first. `Silent` is what happens without us.
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
    /// Returns the decision that leads here; none for silence.
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

    const fn from_decision(decision: Decision) -> Self {
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

/// The reason why a rule fired.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Basis {
    /// It applies.
    Applies,
    /// Its conditions could not be evaluated.
    Outage,
    /// Its rewrite was not possible.
    NotPossible,
    /// It has put off this end as often as it may.
    DeferralLimit,
}

/// A rule that spoke.
#[derive(Clone, Debug, PartialEq)]
pub struct FiredRule {
    /// Its name.
    pub rule: String,
    /// Its origin.
    pub origin: Origin,
    /// Its decision here.
    pub decision: Decision,
    /// The reason.
    pub basis: Basis,
    /// Its mode.
    pub mode: Mode,
    /// Its severity.
    pub severity: Severity,
    /// True if its decision counted: it is enforced, and its origin may decide so.
    pub counted: bool,
}

/// The verdict on a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The strictest of what was wanted.
    pub outcome: Outcome,
    /// The reason for the model.
    pub reasons: Vec<String>,
    /// Additional context for the model.
    pub context: Vec<String>,
    /// The message for the human.
    pub messages: Vec<String>,
    /// The text shown when the agent stops.
    pub stop_reason: Option<String>,
    /// Keeps what the hook printed out of sight.
    pub suppress_output: bool,
    /// The new input.
    pub input: Option<Value>,
    /// New permission rules.
    pub permissions: Vec<Value>,
    /// Every rule that spoke, those that did not count too.
    pub fired: Vec<FiredRule>,
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

    /// Returns whether the verdict is empty.
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

/// The user's trust in a project's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// By its hash.
    Trusted,
    /// Not, or it has changed since.
    NotTrusted,
}

impl Policy {
    /// Returns a policy with the user's rules alone.
    #[must_use]
    pub fn of_user(file: RuleFile) -> Self {
        Self { rules: file.rules.into_iter().map(|rule| (Origin::User, rule)).collect() }
    }

    /// Adds a project's rules.
    #[must_use]
    pub fn with_project(mut self, file: RuleFile, trust: Trust) -> Self {
        let origin = match trust {
            Trust::Trusted => Origin::TrustedProject,
            Trust::NotTrusted => Origin::Project,
        };
        self.rules.extend(file.rules.into_iter().map(|rule| (origin, rule)));
        self
    }

    /// Lists the rules with their origins, the user's first.
    pub fn rules(&self) -> impl Iterator<Item = (Origin, &Rule)> {
        self.rules.iter().map(|(origin, rule)| (*origin, rule))
    }

    /// Decides on a call.
    #[must_use]
    pub fn decide(&self, call: &Call, history: &dyn History) -> Verdict {
        let mut verdict = Verdict::silent();
        let mut decided: Option<Outcome> = None;
        // All rules are asked, also after one has denied: the record names every rule that spoke, and the strictest
        // wins in whatever order they stand.
        for (origin, rule) in self.rules.iter().filter(|(_, rule)| rule.decision != Decision::Rewrite) {
            let outcome = rule_decision(rule, call, call, history)
                .and_then(|ruling| verdict.take(*origin, rule, ruling));
            decided = decided.max(outcome);
        }
        // Each rewrite works on the result of those before it, and the user's come last, so that no other undoes them.
        let mut current: Option<Call> = None;
        let mut without_projects: Option<Call> = None;
        let rewrites = |users: bool| {
            self.rules.iter().filter(move |(origin, rule)| {
                rule.decision == Decision::Rewrite && (*origin == Origin::User) == users
            })
        };
        for (origin, rule) in rewrites(false).chain(rewrites(true)) {
            let subject = current.as_ref().unwrap_or(call);
            let mut ruling = rule_decision(rule, call, subject, history);
            if *origin == Origin::User {
                // A user's rule also fires where a project has made its change already: otherwise a project could make a
                // rule disappear from the record, or an `ask` with it.
                let own = without_projects.as_ref().unwrap_or(call);
                let alone = rule_decision(rule, call, own, history);
                let changed =
                    alone.as_ref().and_then(|alone| alone.input.clone()).map(|input| own.with_input(input));
                if rule.mode == Mode::Enforce {
                    without_projects = changed.or(without_projects);
                }
                ruling = ruling.or_else(|| alone.map(|alone| alone.already_made(subject)));
            }
            let Some(ruling) = ruling else { continue };
            let changed = ruling.input.clone();
            if let Some(outcome) = verdict.take(*origin, rule, ruling) {
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
            // A rule that spoke about the old input has had its say; asked again, it would stand in the record twice.
            let spoke = verdict.fired.iter().any(|it| it.rule == rule.name && it.origin == *origin);
            if !forbids || spoke {
                continue;
            }
            if let Some(ruling) = rule_decision(rule, call, call, history)
                && let Some(outcome) = verdict.take(*origin, rule, ruling)
            {
                verdict.outcome = verdict.outcome.max(outcome);
            }
        }
    }
}

/// Evaluates one rule on a call.
struct RuleDecision {
    decision: Decision,
    basis: Basis,
    input: Option<Value>,
    why: Option<String>,
}

impl RuleDecision {
    /// Returns the decision with the input of `call`, which has the change already.
    fn already_made(self, call: &Call) -> Self {
        Self { input: self.input.map(|_| call.input.clone()), ..self }
    }
}

/// Asks a rule about a call, or about what became of it on the way. A rewrite changes the latter.
fn rule_decision(rule: &Rule, call: &Call, subject: &Call, history: &dyn History) -> Option<RuleDecision> {
    // What the client's own hook verifies is not judged here.
    let whole = rule.is_about(call) || rule.is_about(subject);
    let changes = rule.decision == Decision::Rewrite;
    let partly = changes && (rule.is_about_part(call) || rule.is_about_part(subject));
    if rule.verify.is_some() || !(whole || partly) {
        return None;
    }
    let plain = |decision, basis| Some(RuleDecision { decision, basis, input: None, why: None });
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
        // An unknown criterion defers no stop.
        match history.work(call).map(|work| rule.require.judge(&work, call.roots())) {
            Some(CriterionState::No(missing)) => why = Some(missing),
            Some(CriterionState::Yes | CriterionState::Unknown) | None => return None,
        }
    }
    if rule.decision == Decision::Deny && call.event.is_an_end() {
        return may_defer(rule, call, history, why);
    }
    if rule.decision != Decision::Rewrite {
        return Some(RuleDecision { decision: rule.decision, basis: Basis::Applies, input: None, why });
    }
    match rule.rewrite.apply(subject) {
        RewriteOutcome::Unchanged => None,
        // What the rule is not about would run along without asking.
        RewriteOutcome::Changed(_) if !whole => Some(RuleDecision {
            decision: Decision::Ask,
            basis: Basis::NotPossible,
            input: None,
            why: Some("the call does more than the rule is about".to_owned()),
        }),
        RewriteOutcome::Changed(input) => Some(RuleDecision {
            decision: Decision::Rewrite,
            basis: Basis::Applies,
            input: Some(input),
            why: None,
        }),
        RewriteOutcome::Impossible(why) => Some(RuleDecision {
            decision: Decision::Ask,
            basis: Basis::NotPossible,
            input: None,
            why: Some(why.to_owned()),
        }),
    }
}

/// Returns whether a stop may be deferred again: as often as the rule says. Without a count, once: the client marks a
/// repeated stop.
fn may_defer(rule: &Rule, call: &Call, history: &dyn History, why: Option<String>) -> Option<RuleDecision> {
    let plain = |decision, basis| Some(RuleDecision { decision, basis, input: None, why });
    match history.deferrals(call, &rule.name) {
        Some(times) if times < rule.at_most => plain(Decision::Deny, Basis::Applies),
        Some(_) => plain(Decision::Warn, Basis::DeferralLimit),
        // Without a count one deferral is safe only where the client itself marks the repeated stop. Elsewhere it
        // could go on for ever, and an agent that cannot end is worse than one that ends too early.
        None if matches!(call.event, Event::Stop | Event::SubagentStop) && !call.again => {
            plain(Decision::Deny, Basis::Applies)
        }
        None => plain(Decision::Warn, Basis::DeferralLimit),
    }
}

impl Verdict {
    /// Takes up what a rule wants. Returns what it decides, if it counts and decides anything.
    fn take(&mut self, origin: Origin, rule: &Rule, ruling: RuleDecision) -> Option<Outcome> {
        // Who may not change a call may not ask because it could not be changed either.
        let may =
            origin.may(ruling.decision) && (ruling.basis != Basis::NotPossible || origin.may(rule.decision));
        let counted = rule.mode == Mode::Enforce && may;
        self.fired.push(FiredRule {
            rule: rule.name.clone(),
            origin,
            decision: ruling.decision,
            basis: ruling.basis,
            mode: rule.mode,
            severity: rule.severity,
            counted,
        });
        if !counted {
            return None;
        }
        if ruling.basis == Basis::DeferralLimit {
            self.messages.push(format!("not put off any longer: {}", reason_text(origin, rule, &ruling)));
            return None;
        }
        self.messages.extend(rule.says.system_message.clone().filter(|_| origin != Origin::Project));
        self.suppress_output |= rule.says.suppress_output && origin != Origin::Project;
        if ruling.decision == Decision::Warn {
            self.context.push(reason_text(origin, rule, &ruling));
            return None;
        }
        // The first one is shown: the client has one line for it.
        if ruling.decision == Decision::Stop && self.stop_reason.is_none() {
            let own = rule.says.stop_reason.clone().filter(|_| origin != Origin::Project);
            self.stop_reason = Some(own.unwrap_or_else(|| reason_text(origin, rule, &ruling)));
        }
        if matches!(ruling.decision, Decision::Allow | Decision::Rewrite) {
            self.permissions.extend(rule.says.permissions.iter().cloned());
        }
        self.reasons.push(reason_text(origin, rule, &ruling));
        Some(Outcome::from_decision(ruling.decision))
    }

    /// Leaves only what belongs to the outcome.
    fn settle(&mut self) {
        let wins = |fired: &&FiredRule| {
            fired.counted && fired.decision != Decision::Warn && fired.basis != Basis::DeferralLimit
        };
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

/// Returns the text for an agent where the conditions of a rule could not be evaluated, and the rule's decision if it needs no
/// past: then neither the server nor the program that stands in could judge the call, and the human has to.
pub(crate) fn outage_verdict(origin: Origin, rule: &Rule) -> Option<Verdict> {
    let needs_past = !rule.when.is_empty() || !rule.require.is_empty();
    let forbids = matches!(rule.decision, Decision::Ask | Decision::Deny | Decision::Stop);
    let at_least = if forbids && !needs_past { OnOutage::Ask } else { OnOutage::Allow };
    let (decision, outcome) = match rule.on_outage.max(at_least) {
        OnOutage::Allow => return None,
        OnOutage::Ask => (Decision::Ask, Outcome::Ask),
        OnOutage::Deny => (Decision::Deny, Outcome::Deny),
    };
    let why = (!needs_past).then(|| "the call could not be checked".to_owned());
    let ruling = RuleDecision { decision, basis: Basis::Outage, input: None, why };
    Some(Verdict { outcome, reasons: vec![reason_text(origin, rule, &ruling)], ..Verdict::silent() })
}

/// Returns the text for the model with the rule's name first, so that a reader of the outcome sees at once which rule
/// refused it, however long the reason is.
fn reason_text(origin: Origin, rule: &Rule, ruling: &RuleDecision) -> String {
    let (who, reason, why) = match origin {
        Origin::User | Origin::TrustedProject => {
            let reason = match rule.reason.trim() {
                "" => "decided by a rule of the user",
                reason => reason,
            };
            (format!("policy rule `{}`", rule.name), reason, ruling.why.as_deref())
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
    let more = match (ruling.basis, why) {
        (Basis::Outage, _) => {
            format!("; {}", ruling.why.as_deref().unwrap_or("what happened before could not be looked up"))
        }
        (Basis::NotPossible, Some(why)) => format!("; the call could not be changed: {why}"),
        _ => String::new(),
    };
    let missing = match (ruling.basis, why) {
        (Basis::Applies | Basis::DeferralLimit, Some(why)) => format!(": {why}"),
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
