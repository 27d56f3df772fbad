//! Finds alerts in the ledger and remembers the ones sent.
//!
//! Every question walks an index; what happened before the watch began is no news.

use std::collections::{HashMap, VecDeque};

use agent_tracer_event::{Kind as RowKind, Millis, attributes};
use agent_tracer_ledger::view::{TaskStatus, WaitingReason};
use agent_tracer_ledger::{Answer, Paging, Range, Store, TaskFilter, UsageBy, Utc};
use serde_json::Value;

use crate::alerts::alert::{Alert, Kind};
use crate::alerts::counts::{Counts, Outcome};
use crate::alerts::settings::Settings;

const MINUTE_MS: i64 = 60_000;
/// Failures are counted over this time, and a loop is news for as long.
const LATELY_MS: i64 = 10 * MINUTE_MS;
/// A measure of a rate limit older than this is out of date.
const LIMIT_MS: i64 = 6 * 60 * MINUTE_MS;
/// A task that was silent for longer is no matter of minutes any more.
const FORGOTTEN_MS: i64 = 24 * 60 * MINUTE_MS;
/// Tasks, and rows, that are looked at each time.
const TASKS_MAX: u32 = 200;
const ROWS_MAX: u32 = 1000;
/// Alerts that are remembered for the cool-down.
const SENT_MAX: usize = 10_000;

/// The alerts sent, and the state needed to find new ones.
#[derive(Debug, Default)]
pub struct Watch {
    sent: HashMap<(Kind, String), Millis>,
    /// The place in the order of delivery up to which rows were looked at.
    seen: Option<u64>,
    /// Failures of each task as they were at some moments, oldest first.
    failures: HashMap<String, VecDeque<(Millis, u64)>>,
    counts: Counts,
}

impl Watch {
    /// Counts what is held back.
    #[must_use]
    pub fn counting(counts: Counts) -> Self {
        Self { counts, ..Self::default() }
    }

    /// Returns the alerts that are due now and were not sent lately.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn check(
        &mut self,
        store: &dyn Store,
        settings: &Settings,
        now: Millis,
        midnight: Millis,
    ) -> Answer<Vec<Alert>> {
        let mut alerts = Vec::new();
        add_waiting(store, settings, now, &mut alerts)?;
        self.tasks(store, settings, now, &mut alerts)?;
        add_loops(store, settings, now, &mut alerts)?;
        add_budget(store, settings, now, midnight, &mut alerts)?;
        add_limits(store, settings, now, &mut alerts)?;
        self.denials(store, settings, &mut alerts)?;
        let cooldown = settings.cooldown_ms();
        // Swept only when it has grown: an entry is a few words, and each look would walk all of them.
        if self.sent.len() > SENT_MAX {
            self.sent.retain(|_, at| now.0 - at.0 < cooldown);
        }
        alerts.retain(|alert| {
            let key = (alert.kind, alert.key.clone());
            let is_news = self.sent.get(&key).is_none_or(|at| now.0 - at.0 >= cooldown);
            if is_news {
                self.sent.insert(key, now);
            } else {
                self.counts.add(alert.kind, Outcome::CooledDown);
            }
            is_news
        });
        Ok(alerts)
    }

    /// Adds the tasks that are silent, and those that fail.
    fn tasks(
        &mut self,
        store: &dyn Store,
        settings: &Settings,
        now: Millis,
        out: &mut Vec<Alert>,
    ) -> Answer<()> {
        if settings.on.stuck_minutes.is_none() && settings.on.failures.is_none() {
            return Ok(());
        }
        let filter = TaskFilter {
            since: Some(Millis(now.0.saturating_sub(FORGOTTEN_MS))),
            paging: Paging { cursor: None, limit: TASKS_MAX },
            ..TaskFilter::default()
        };
        let tasks = store.tasks(now, &filter)?.items;
        for task in &tasks {
            let silent = (now.0 - task.last_event_at.0) / MINUTE_MS;
            if let Some(most) = settings.on.stuck_minutes
                && task.status == TaskStatus::Running
                && silent >= i64::from(most)
            {
                out.push(Alert {
                    kind: Kind::Stuck,
                    key: task.id.clone(),
                    text: format!(
                        "{} is running and has been silent for {silent} minutes",
                        agent_name(task.agent.as_str(), &task.agent_type)
                    ),
                    task_id: Some(task.id.clone()),
                    project: Some(task.project.clone()),
                    at: now,
                });
            }
            let Some(most) = settings.on.failures else { continue };
            let known = self.failures.entry(task.id.clone()).or_default();
            if known.back().is_none_or(|(_, count)| *count != task.failure_count) {
                known.push_back((now, task.failure_count));
            }
            // What is older than the window is the ground from which is counted; one of it stays.
            while known.get(1).is_some_and(|(at, _)| now.0 - at.0 >= LATELY_MS) {
                known.pop_front();
            }
            let ground = known.front().map_or(task.failure_count, |(_, count)| *count);
            let news = task.failure_count.saturating_sub(ground);
            if news >= most.max(1) {
                out.push(Alert {
                    kind: Kind::Failures,
                    key: task.id.clone(),
                    text: format!(
                        "{news} calls of {} failed within ten minutes",
                        agent_name(task.agent.as_str(), &task.agent_type)
                    ),
                    task_id: Some(task.id.clone()),
                    project: Some(task.project.clone()),
                    at: now,
                });
            }
        }
        // A task that is listed no more would be remembered for as long as the server runs.
        self.failures.retain(|id, _| tasks.iter().any(|task| task.id == *id));
        Ok(())
    }

    /// Adds the denials of rules since the last look.
    fn denials(&mut self, store: &dyn Store, settings: &Settings, out: &mut Vec<Alert>) -> Answer<()> {
        let newest = store.seq()?;
        // The first look only takes its place. Switched off, it still moves on, so that switching on reports nothing old.
        let Some(mut after) = self.seen.replace(newest).filter(|_| settings.on.denials) else {
            return Ok(());
        };
        while after < newest {
            let rows = store.changes(after, ROWS_MAX)?;
            let Some(last) = rows.last() else { break };
            after = last.seq.max(after + 1);
            for row in rows.iter().filter(|row| row.kind == RowKind::RuleLogged) {
                let word = |key: &str| row.metadata.get(key).and_then(Value::as_str).unwrap_or_default();
                if word(attributes::RULE_STATUS) != "enforced"
                    || !matches!(word(attributes::RULE_OUTCOME), "deny" | "block_stop")
                {
                    continue;
                }
                // A rule's name has a shape of its own: it is the user's or the project's file that gives it.
                let rule = word(attributes::RULE_ID);
                out.push(Alert {
                    kind: Kind::Denial,
                    key: format!("{} {rule}", row.task_id),
                    text: format!(
                        "rule `{rule}` denied an action of {}",
                        agent_name("the agent", &row.agent_type)
                    ),
                    task_id: Some(row.task_id.clone()),
                    project: None,
                    at: row.occurred_at,
                });
            }
        }
        Ok(())
    }
}

/// Returns the name of the agent; the type of a subagent only if it is a plain name.
fn agent_name(agent: &str, agent_type: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
    match agent_type {
        "main" => agent.to_owned(),
        // The type comes from a file of the project: what is no plain name could carry a message into a chat.
        name if name.len() <= 48 && name.bytes().all(is_plain) => format!("{agent} ({name})"),
        _ => format!("a subagent of {agent}"),
    }
}

fn add_waiting(store: &dyn Store, settings: &Settings, now: Millis, out: &mut Vec<Alert>) -> Answer<()> {
    let Some(most) = settings.on.waiting_minutes else { return Ok(()) };
    for item in store.attention(now)?.items {
        let what = match item.reason {
            WaitingReason::Permission => "a permission",
            WaitingReason::Question => "an answer to a question",
            WaitingReason::Elicitation => "an answer to a server's form",
            WaitingReason::Plan => "the approval of a plan",
            // A finished task does not wait.
            WaitingReason::Idle => continue,
        };
        let minutes = (now.0 - item.since.0) / MINUTE_MS;
        if minutes >= i64::from(most) {
            out.push(Alert {
                kind: Kind::Waiting,
                // By the row that asks: the next question of the same task is news.
                key: item.row_id.clone().unwrap_or_else(|| item.task_id.clone()),
                text: format!(
                    "{} has waited for {what} for {minutes} minutes",
                    agent_name(item.agent.as_str(), &item.agent_type)
                ),
                task_id: Some(item.task_id),
                project: Some(item.project),
                at: now,
            });
        }
    }
    Ok(())
}

fn add_loops(store: &dyn Store, settings: &Settings, now: Millis, out: &mut Vec<Alert>) -> Answer<()> {
    let Some(least) = settings.on.looping else { return Ok(()) };
    let range = Range { since: Some(Millis(now.0.saturating_sub(LATELY_MS))), ..Range::default() };
    for found in store.loops(&range)?.items {
        if found.count < least || now.0 - found.last_at.0 > LATELY_MS {
            continue;
        }
        out.push(Alert {
            kind: Kind::Looping,
            key: format!("{} {}", found.task_id, found.tool),
            text: format!(
                "the same call was repeated {} times, {} of them failed",
                found.count, found.failures
            ),
            task_id: Some(found.task_id),
            project: None,
            at: found.last_at,
        });
    }
    Ok(())
}

fn add_budget(
    store: &dyn Store,
    settings: &Settings,
    now: Millis,
    midnight: Millis,
    out: &mut Vec<Alert>,
) -> Answer<()> {
    let Some(budget) = settings.on.budget_usd else { return Ok(()) };
    let range = Range { since: Some(midnight), ..Range::default() };
    let parts = store.usage(&range, UsageBy::Agent, &Utc)?.items;
    let cost: f64 = parts.iter().map(|part| part.usage.cost_usd).sum();
    let unpriced: u64 = parts.iter().map(|part| part.usage.provenance.unpriced).sum();
    if cost >= budget {
        out.push(Alert {
            kind: Kind::Budget,
            key: midnight.to_string(),
            text: over_budget(cost, unpriced, budget),
            task_id: None,
            project: None,
            at: now,
        });
    }
    Ok(())
}

/// Describes a day that cost more than its budget, of which so many responses have no price.
fn over_budget(cost: f64, unpriced: u64, budget: f64) -> String {
    let least = if unpriced > 0 { "at least " } else { "" };
    format!("today's cost is {least}${cost:.2}; the budget is ${budget:.2}")
}

fn add_limits(store: &dyn Store, settings: &Settings, now: Millis, out: &mut Vec<Alert>) -> Answer<()> {
    let Some(most) = settings.on.rate_limit_pct else { return Ok(()) };
    for limit in store.limits(now)?.items {
        // A window that has begun anew, or a measure of hours ago, says nothing about now.
        let is_over = limit.resets_at.is_some_and(|at| at <= now) || now.0 - limit.at.0 > LIMIT_MS;
        if limit.used_pct < most || is_over {
            continue;
        }
        let window = limit.window.replace('_', "-");
        out.push(Alert {
            kind: Kind::RateLimit,
            key: format!("{} {window}", limit.agent.as_str()),
            text: format!(
                "{:.0} % of the {window} limit of {} is used",
                limit.used_pct,
                limit.agent.as_str()
            ),
            task_id: None,
            project: None,
            at: now,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cost_of_which_a_part_has_no_price_is_a_least_one() {
        assert_eq!(over_budget(6.0, 0, 5.0), "today's cost is $6.00; the budget is $5.00");
        assert_eq!(over_budget(6.0, 2, 5.0), "today's cost is at least $6.00; the budget is $5.00");
    }
}
