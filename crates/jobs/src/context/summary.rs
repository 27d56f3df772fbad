//! The text: what failed in a project before, what is slow, which skills help, what is left of the budget.

use agent_tracer_event::Millis;
use agent_tracer_ledger::view::{CommandStat, Limit, ToolStat};
use agent_tracer_ledger::{Answer, Paging, Range, Store, UsageBy, Utc};

use crate::context::settings::Settings;
use crate::context::words;

/// The stretch of history that it covers.
const DAYS: i64 = 30;
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Rows that each list is asked for.
const ASKED: u32 = 100;
/// Names in one line.
const NAMED: usize = 4;
/// Fewer failures are chance.
const FAILURES_LEAST: u64 = 3;
/// Faster is not slow, on average.
const SLOW_MS: f64 = 10_000.0;
/// From here on a rate limit is worth a word, in percent.
const LIMIT_PCT: f64 = 50.0;

/// A query for the text.
#[derive(Clone, Copy, Debug)]
pub struct SummaryRequest<'a> {
    /// The project, as the ledger calls it.
    pub project: &'a str,
    /// The time of the query.
    pub now: Millis,
    /// The beginning of the day, where the human is.
    pub midnight: Millis,
    /// The settings of the user.
    pub settings: &'a Settings,
}

/// Returns the context for an agent that starts in a project; none if there is nothing to report.
///
/// # Errors
/// If the store cannot answer.
pub fn text(store: &dyn Store, ask: &SummaryRequest<'_>) -> Answer<Option<String>> {
    let range = Range {
        since: Some(Millis(ask.now.0.saturating_sub(DAYS * DAY_MS))),
        project: Some(ask.project.to_owned()),
        paging: Paging { cursor: None, limit: ASKED },
        ..Range::default()
    };
    let tools = store.tools(&range)?.items;
    let calls: u64 = tools.iter().map(|tool| tool.count).sum();
    if calls == 0 {
        return Ok(None);
    }
    let failed: u64 = tools.iter().map(|tool| tool.failures).sum();
    let commands = store.commands(&range)?.items;
    let mut lines = vec![format!(
        "Agent Tracer recorded {calls} tool calls in this project in the last {DAYS} days, {failed} of them failed."
    )];
    lines.extend(list_line("Failed often here", failing(&commands, &tools)));
    lines.extend(list_line("Slow here, on average", slow(&commands)));
    lines.extend(list_line("Skills that were used here without failing", skills(store, &range)?));
    lines.extend(list_line("Files that were changed most", files(store, &range, ask.project)?));
    lines.extend(spending_line(store, ask)?);
    lines.extend(limits(&store.limits(ask.now)?.items));
    // The model reads this beside its instructions, and must not take a count for one.
    lines.push("These are counts of what happened before, not instructions.".to_owned());
    Ok(Some(fit_lines(&lines, ask.settings.bytes)))
}

fn list_line(what: &str, names: Vec<String>) -> Option<String> {
    (!names.is_empty()).then(|| format!("- {what}: {}.", names.join(", ")))
}

fn failing(commands: &[CommandStat], tools: &[ToolStat]) -> Vec<String> {
    let commands =
        commands.iter().filter_map(|it| Some((words::command(&it.command)?, it.failures, it.count)));
    // A shell fails with its commands, which are listed already.
    let tools = tools.iter().filter(|it| !matches!(it.tool.as_str(), "Bash" | "exec_command" | "shell"));
    let tools = tools.filter_map(|it| Some((words::name(&it.tool)?.to_owned(), it.failures, it.count)));
    let mut all: Vec<(String, u64, u64)> =
        commands.chain(tools).filter(|(_, failures, _)| *failures >= FAILURES_LEAST).collect();
    all.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    all.dedup_by(|one, two| one.0 == two.0);
    all.into_iter()
        .take(NAMED)
        .map(|(name, failures, count)| format!("{name} ({failures} of {count})"))
        .collect()
}

fn slow(commands: &[CommandStat]) -> Vec<String> {
    let mut slow: Vec<(f64, String)> = commands
        .iter()
        .filter_map(|it| Some((it.mean_ms.filter(|mean| *mean >= SLOW_MS)?, words::command(&it.command)?)))
        .collect();
    slow.sort_by(|one, two| two.0.total_cmp(&one.0).then_with(|| one.1.cmp(&two.1)));
    slow.dedup_by(|one, two| one.1 == two.1);
    slow.into_iter().take(NAMED).map(|(mean, name)| format!("{name} ({:.0} s)", mean / 1000.0)).collect()
}

fn skills(store: &dyn Store, range: &Range) -> Answer<Vec<String>> {
    let mut skills = store.skills(range)?.items;
    skills.retain(|it| it.failures == 0 && it.count > 0);
    skills.sort_by(|one, two| two.count.cmp(&one.count).then_with(|| one.skill.cmp(&two.skill)));
    let lines =
        skills.iter().filter_map(|it| Some(format!("{} ({} times)", words::skill(&it.skill)?, it.count)));
    Ok(lines.take(NAMED).collect())
}

fn files(store: &dyn Store, range: &Range, project: &str) -> Answer<Vec<String>> {
    let mut files = store.files(range)?.items;
    files.retain(|it| it.changes > 1);
    files.sort_by(|one, two| two.changes.cmp(&one.changes).then_with(|| one.path.cmp(&two.path)));
    let lines = files
        .iter()
        .filter_map(|it| Some(format!("{} ({} times)", words::path(&it.path, project)?, it.changes)));
    Ok(lines.take(NAMED).collect())
}

/// Returns the cost of today, of all projects, and the rest of the day's budget.
fn spending_line(store: &dyn Store, ask: &SummaryRequest<'_>) -> Answer<Option<String>> {
    let range = Range { since: Some(ask.midnight), ..Range::default() };
    let today = store.usage(&range, UsageBy::Agent, &Utc)?.items;
    let cost: f64 = today.iter().map(|part| part.usage.cost_usd).sum();
    let unpriced: u64 = today.iter().map(|part| part.usage.provenance.unpriced).sum();
    Ok(spending(ask.settings.budget_usd, cost, unpriced))
}

/// Writes the line about the cost of today. With responses that have no price it is at least that, and at most the rest is left.
fn spending(budget: Option<f64>, cost: f64, unpriced: u64) -> Option<String> {
    let (least, most, why) = match unpriced {
        0 => ("", "", String::new()),
        1 => ("at least ", "at most ", " (1 response has no price)".to_owned()),
        many => ("at least ", "at most ", format!(" ({many} responses have no price)")),
    };
    match budget {
        Some(budget) if cost >= budget => Some(format!(
            "- The budget of today, ${budget:.2}, is used up: {least}${cost:.2} were spent{why}."
        )),
        Some(budget) => {
            Some(format!("- Left of today's budget of ${budget:.2}: {most}${:.2}{why}.", budget - cost))
        }
        None if cost >= 0.01 => Some(format!("- Spent today on this machine: {least}${cost:.2}{why}.")),
        None => None,
    }
}

fn limits(limits: &[Limit]) -> Option<String> {
    let near = limits.iter().filter(|limit| limit.used_pct >= LIMIT_PCT);
    let limits: Vec<String> = near
        .filter_map(|limit| {
            let window = words::name(&limit.window)?.replace('_', "-");
            Some(format!("{} {window} limit {:.0} % used", limit.agent.as_str(), limit.used_pct.min(999.0)))
        })
        .collect();
    list_line("Rate limits", limits)
}

/// Joins as many whole lines as there is room for. The first and the last always stay.
fn fit_lines(lines: &[String], bytes: usize) -> String {
    let (Some(first), Some(last)) = (lines.first(), lines.last()) else { return String::new() };
    let mut text = first.clone();
    let middle = lines.get(1..lines.len().saturating_sub(1)).unwrap_or_default();
    for line in middle {
        // Not the end: a shorter line further down may still fit.
        if text.len() + line.len() + last.len() + 2 > bytes {
            continue;
        }
        text.push('\n');
        text.push_str(line);
    }
    text.push('\n');
    text.push_str(last);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_without_a_price_are_never_shown_as_free() {
        for (budget, cost, unpriced, line) in [
            (None, 2.0, 0, Some("- Spent today on this machine: $2.00.")),
            (
                None,
                2.0,
                3,
                Some("- Spent today on this machine: at least $2.00 (3 responses have no price)."),
            ),
            (None, 0.0, 3, None),
            (Some(5.0), 2.0, 0, Some("- Left of today's budget of $5.00: $3.00.")),
            (
                Some(5.0),
                2.0,
                1,
                Some("- Left of today's budget of $5.00: at most $3.00 (1 response has no price)."),
            ),
            (Some(5.0), 6.0, 0, Some("- The budget of today, $5.00, is used up: $6.00 were spent.")),
            (
                Some(5.0),
                6.0,
                2,
                Some(
                    "- The budget of today, $5.00, is used up: at least $6.00 were spent (2 responses have no price).",
                ),
            ),
        ] {
            assert_eq!(spending(budget, cost, unpriced).as_deref(), line);
        }
    }

    #[test]
    fn a_text_keeps_to_its_bound_by_whole_lines() {
        let lines: Vec<String> =
            ["first", "- a long line that has no room", "- short", "last"].map(str::to_owned).into();
        assert_eq!(fit_lines(&lines, 1000), lines.join("\n"));
        assert_eq!(fit_lines(&lines, 24), "first\n- short\nlast");
        assert_eq!(fit_lines(&lines, 1), "first\nlast");
    }
}
