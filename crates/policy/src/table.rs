//! Compiles rules into `policy.tbl`: which hooks must be answered at all, and the decision in an outage.
//!
//! The law: a row too many costs a question, a row too few would let a call pass unseen. So the table knows of a rule
//! only whose event it is about and which tools it could match, and asks for more rather than less. A rule of a project
//! that may not decide so has no row. One that only the server can judge (in `dry_run`, which only writes the
//! record, or about the history, where an outage means silence) is not worth a second process where there is no server. What
//! stands in a row for an outage is said only if that second process could not be started either: a rule that needs no
//! past and forbids then leaves the call to the human at least.

use agent_tracer_event::Agent;
use agent_tracer_policy_abi::{Outage, Row, TooLarge, build};

use crate::answer::{Answer, answer_to};
use crate::call::SKILLS;
use crate::clients;
use crate::command::SHELLS;
use crate::decide::{Origin, Outcome, outage_verdict};
use crate::legality;
use crate::rule::Rule;
use crate::words::{Event, Mode, OnOutage};

/// The scope of a rule.
#[derive(Clone, Copy, Debug)]
pub struct RuleScope<'p> {
    /// Its origin.
    pub origin: Origin,
    /// The root of its project; everywhere if it is the user's.
    pub project: Option<&'p str>,
}

/// A row that owns its texts.
struct OwnedRow {
    agent: &'static str,
    event: &'static str,
    tool: String,
    project: String,
    outage: Outage,
    answer: Answer,
    rule: String,
    server_only: bool,
}

/// Makes the bytes of the table. `kept` are rows of rules that cannot be read just now; `guard` is the program that
/// answers where no server does.
pub fn compile<'r>(
    rules: impl IntoIterator<Item = (RuleScope<'r>, &'r Rule)>,
    kept: &[Row<'_>],
    deadline_ms: u32,
    guard: &[u8],
) -> Result<Vec<u8>, TooLarge> {
    let mut rows: Vec<OwnedRow> = Vec::new();
    for (scope, rule) in rules {
        // A project's rule that may not decide still speaks in an outage, because `ask` and `deny` are what it may
        // do.
        let acts =
            scope.origin.may(rule.decision) || (!rule.when.is_empty() && rule.on_outage != OnOutage::Allow);
        if !acts || rule.verify.is_some() {
            continue;
        }
        for event in &rule.events {
            for agent in Agent::ALL.iter().filter(|agent| concerns(rule, **agent, *event)) {
                add(&mut rows, scope, rule, *agent, *event);
            }
        }
    }
    let rows: Vec<Row<'_>> = rows.iter().map(OwnedRow::as_row).chain(kept.iter().copied()).collect();
    build(deadline_ms, guard, &rows)
}

fn concerns(rule: &Rule, agent: Agent, event: Event) -> bool {
    legality::has_event(agent, event)
        && (rule.matches.agent.is_empty() || rule.matches.agent.contains(&agent))
}

fn add(rows: &mut Vec<OwnedRow>, scope: RuleScope<'_>, rule: &Rule, agent: Agent, event: Event) {
    let is_dry = rule.mode == Mode::DryRun;
    let outage = outage_verdict(scope.origin, rule).filter(|_| !event.is_an_end() && !is_dry);
    let answer = outage.as_ref().map(|verdict| answer_to(agent, event, verdict)).unwrap_or_default();
    let strictness = match outage.map(|verdict| verdict.outcome) {
        // Where the agent has no words for it, there is nothing to be strict with.
        _ if answer.is_silent() => Outage::Allow,
        Some(Outcome::Deny | Outcome::Stop) => Outage::Deny,
        Some(Outcome::Ask) => Outage::Ask,
        Some(Outcome::Allow | Outcome::Rewrite | Outcome::Silent) | None => Outage::Allow,
    };
    let looks_back = !rule.when.is_empty() || !rule.require.is_empty();
    let server_only = is_dry || (looks_back && strictness == Outage::Allow);
    for tool in tools(rule, agent, event) {
        let row = OwnedRow {
            agent: agent.as_str(),
            event: event.as_str(),
            tool,
            project: scope.project.unwrap_or_default().to_owned(),
            outage: strictness,
            answer: answer.clone(),
            rule: format!("{}/{}", scope.origin.as_str(), rule.name),
            server_only,
        };
        // A row that says no more than one that is there is not needed.
        let known = rows.iter().any(|other| {
            (other.agent, other.event, &other.tool, &other.project)
                == (row.agent, row.event, &row.tool, &row.project)
                && other.outage >= row.outage
                && other.server_only <= row.server_only
        });
        if !known {
            rows.push(row);
        }
    }
}

/// Patterns for every tool that a rule could be about.
fn tools(rule: &Rule, agent: Agent, event: Event) -> Vec<String> {
    let any = || vec!["*".to_owned()];
    if !event.has_tool() {
        return any();
    }
    if !rule.matches.tool.is_empty() {
        let mut names: Vec<String> = rule.matches.tool.iter().map(|glob| glob.as_str().to_owned()).collect();
        let own = clients::find(agent).map_or(&[][..], |client| client.aliases);
        let aliases = own.iter().filter(|(_, others)| {
            others.iter().any(|name| rule.matches.tool.iter().any(|glob| glob.matches(name)))
        });
        names.extend(aliases.map(|(name, _)| (*name).to_owned()));
        return names;
    }
    if rule.matches.command.is_some() {
        let shells = SHELLS.iter().map(|(name, _)| (*name).to_owned());
        // A tool of any server may take a command, and a patch may touch more files than are looked at.
        return shells.chain(["mcp__*".to_owned(), "apply_patch".to_owned()]).collect();
    }
    if !rule.matches.mcp_server.is_empty() || !rule.matches.mcp_tool.is_empty() {
        return vec!["mcp__*".to_owned()];
    }
    if !rule.matches.skill.is_empty() {
        return SKILLS.iter().map(|name| (*name).to_owned()).collect();
    }
    any()
}

impl OwnedRow {
    fn as_row(&self) -> Row<'_> {
        Row {
            agent: self.agent.as_bytes(),
            event: self.event.as_bytes(),
            tool: self.tool.as_bytes(),
            project: self.project.as_bytes(),
            outage: self.outage,
            stdout: self.answer.stdout.as_bytes(),
            stderr: self.answer.stderr.as_bytes(),
            exit: self.answer.exit,
            rule: self.rule.as_bytes(),
            server_only: self.server_only,
        }
    }
}
