//! Every question that a store answers, each time with other parameters.

use std::sync::Arc;
use std::time::Instant;

use agent_tracer_event::{Agent, FactId, Kind, Lane, Millis, TaskId};
use agent_tracer_ledger::view::{Page, TaskKind, TaskStatus};
use agent_tracer_ledger::{
    Answer, MAX_LIMIT, Paging, Range, RowFilter, SearchFilter, Store, TaskFilter, UsageBy, Utc,
};
use serde_json::json;

use crate::machine;
use crate::report::Report;
use crate::sample::Sample;
use agent_tracer_testkit::history::{BEGIN, COMMON, Dice, MANY, MODELS, SINGLE, SPAN, rare};

/// No question may take longer than this at the usual worst, in milliseconds.
const BAR_MS: f64 = 20.0;

/// Largest ratio of a query's time in a history ten times as long.
const GROWTH: f64 = 2.0;

/// Times below this are noise when two of them are compared, in milliseconds.
const NOISE_MS: f64 = 2.0;

/// Holds the cost of a query, and the number of items in all its answers.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) sample: Sample,
    /// The same in processor time, which repeats on a busy machine too.
    cpu: Sample,
    items: usize,
}

impl Row {
    /// Items of one answer.
    fn items_each(&self) -> f64 {
        self.items as f64 / self.sample.len().max(1) as f64
    }
}

/// Returns the ratio of processor time per item in the longer history: where its answer is larger, a question
/// may cost as much more. An answer that is smaller excuses nothing.
fn grown(row: &Row, before: &Row) -> f64 {
    let larger = (row.items_each() / before.items_each().max(1.0)).max(1.0);
    row.cpu.p95() / before.cpu.p95().max(NOISE_MS) / larger
}

/// Holds the parameters of the queries.
struct Known {
    tasks: Vec<TaskId>,
    /// The task with the most events, and its first and last moment.
    longest: TaskId,
    begun: i64,
    ended: i64,
    events: Vec<FactId>,
    end: i64,
    newest: u64,
    rare: u64,
}

fn look(store: &dyn Store, dice: &mut Dice, history: u64) -> Answer<Known> {
    let end = BEGIN + SPAN;
    let now = Millis(end);
    let mut tasks = Vec::new();
    let mut longest = (0, None, BEGIN, end);
    for part in 0..40 {
        // The first parts are early: there the longest task begins.
        let until = if part < 4 {
            BEGIN + (1 + part) * 3_600_000
        } else {
            BEGIN + dice.within(0, SPAN as u64) as i64
        };
        let filter = TaskFilter {
            until: Some(Millis(until)),
            paging: Paging { cursor: None, limit: MAX_LIMIT },
            ..TaskFilter::default()
        };
        for task in store.tasks(now, &filter)?.items {
            let Some(id) = TaskId::parse(&task.id) else { continue };
            if task.event_count > longest.0 {
                longest = (task.event_count, Some(id.clone()), task.started_at.0, task.last_event_at.0);
            }
            tasks.push(id);
        }
    }
    let (_, Some(longest), begun, ended) = longest else {
        return Err(agent_tracer_ledger::QueryError::NotFound);
    };
    let mut events = Vec::new();
    for _ in 0..20 {
        let Some(task) = tasks.get(dice.throw() as usize % tasks.len().max(1)) else { continue };
        let rows = store.timeline(task, &RowFilter::default())?;
        events.extend(rows.items.iter().filter_map(|row| FactId::parse(&row.id)));
    }
    Ok(Known {
        tasks,
        longest,
        begun,
        ended,
        events,
        end,
        newest: store.seq()?,
        rare: (history / 250_000).max(1),
    })
}

impl Known {
    /// Some task; every fourth time the longest.
    fn task(&self, dice: &mut Dice) -> &TaskId {
        let any = self.tasks.get(dice.throw() as usize % self.tasks.len().max(1));
        any.filter(|_| !dice.per_mille(250)).unwrap_or(&self.longest)
    }

    fn rows(&self, dice: &mut Dice, limit: u32) -> RowFilter {
        RowFilter {
            newest_first: dice.per_mille(500),
            since: dice.per_mille(300).then(|| self.moment_of_longest(dice)),
            paging: page(limit),
            ..RowFilter::default()
        }
    }

    fn moment_of_longest(&self, dice: &mut Dice) -> Millis {
        Millis(
            dice.within(self.begun.cast_unsigned(), self.ended.max(self.begun + 1).cast_unsigned())
                .cast_signed(),
        )
    }

    /// A range as people ask for: the last day, week, month, quarter, or all of it; often of one project.
    fn range(&self, dice: &mut Dice) -> Range {
        let day: i64 = 86_400_000;
        let back = match dice.within(0, 5) {
            0 => Some(day),
            1 => Some(7 * day),
            2 => Some(30 * day),
            3 => Some(90 * day),
            _ => None,
        };
        // A moment of their own for every question: nothing is answered from the last answer.
        let end = self.end - dice.within(0, 30 * day.cast_unsigned()).cast_signed();
        Range {
            since: back.map(|back| Millis(end - back)),
            until: back.map(|_| Millis(end)),
            project: dice.per_mille(400).then(|| format!("/home/dev/project-{}", dice.skewed(40))),
            agent: dice.per_mille(200).then_some(Agent::CLAUDE_CODE),
            agent_type: None,
            paging: page(0),
        }
    }
}

fn page(limit: u32) -> Paging {
    Paging { cursor: None, limit }
}

fn count<T>(page: Answer<Page<T>>) -> Answer<usize> {
    page.map(|page| page.items.len())
}

type Ask = Box<dyn Fn(&dyn Store, &Known, &mut Dice) -> Answer<usize>>;

fn questions() -> Vec<(&'static str, Ask)> {
    fn ask(ask: impl Fn(&dyn Store, &Known, &mut Dice) -> Answer<usize> + 'static) -> Ask {
        Box::new(ask)
    }
    let now = |known: &Known| Millis(known.end);
    let tasks = |more: fn(&Known, &mut Dice, &mut TaskFilter)| {
        ask(move |store, known, dice| {
            let until = Some(Millis(BEGIN + dice.within(1, SPAN as u64).cast_signed()));
            let mut filter = TaskFilter { until, paging: page(100), ..TaskFilter::default() };
            more(known, dice, &mut filter);
            count(store.tasks(now(known), &filter))
        })
    };
    vec![
        ("tasks", tasks(|_, _, _| ())),
        ("tasks, newest", tasks(|_, _, filter| filter.until = None)),
        (
            "tasks of a project",
            tasks(|_, dice, filter| filter.project = Some(format!("/home/dev/project-{}", dice.skewed(40)))),
        ),
        (
            "tasks that run",
            tasks(|_, _, filter| filter.status = vec![TaskStatus::Running, TaskStatus::Waiting]),
        ),
        ("tasks with failures", tasks(|_, _, filter| filter.failed_calls = true)),
        ("tasks of a model", tasks(|_, dice, filter| filter.model = Some(dice.pick(MODELS).to_owned()))),
        (
            "tasks by words",
            tasks(|_, dice, filter| filter.q = Some(dice.pick(&["retry", "migration", "index"]).to_owned())),
        ),
        (
            // Of sessions: as many endings as there are tasks.
            "tasks by a beginning",
            tasks(|_, dice, filter| filter.q = Some(format!("{:02x}", dice.within(0, 256)))),
        ),
        (
            "tasks below one",
            tasks(|known, dice, filter| {
                filter.until = None;
                filter.parent = Some(known.task(dice).clone());
            }),
        ),
        ("subagents", tasks(|_, _, filter| filter.kind = Some(TaskKind::Background))),
        ("task", ask(move |store, known, dice| store.task(now(known), known.task(dice)).map(|_| 1))),
        ("tree", ask(move |store, known, dice| count(store.tree(now(known), known.task(dice))))),
        (
            "timeline",
            ask(|store, known, dice| count(store.timeline(known.task(dice), &known.rows(dice, 500)))),
        ),
        (
            "timeline of a tree",
            ask(|store, known, dice| {
                let filter = RowFilter { tree: true, ..known.rows(dice, 200) };
                count(store.timeline(known.task(dice), &filter))
            }),
        ),
        (
            "timeline of a lane",
            ask(|store, known, dice| {
                let lanes = vec![if dice.per_mille(500) { Lane::Planning } else { Lane::Exploration }];
                count(store.timeline(&known.longest, &RowFilter { lanes, ..known.rows(dice, 200) }))
            }),
        ),
        (
            "timeline of a kind",
            ask(|store, known, dice| {
                let kinds =
                    vec![if dice.per_mille(500) { Kind::UserMessage } else { Kind::PermissionRequest }];
                count(store.timeline(&known.longest, &RowFilter { kinds, ..known.rows(dice, 200) }))
            }),
        ),
        ("turns", ask(|store, known, dice| count(store.turns(known.task(dice), &page(100))))),
        (
            "tool calls",
            ask(|store, known, dice| count(store.tool_calls(known.task(dice), &known.rows(dice, 200)))),
        ),
        ("context", ask(|store, known, dice| count(store.context(known.task(dice), &page(500))))),
        (
            "files of a task",
            ask(|store, known, dice| {
                let tree = dice.per_mille(300);
                count(store.task_files(known.task(dice), tree, &page(100)))
            }),
        ),
        (
            "commands of a task",
            ask(|store, known, dice| count(store.task_commands(known.task(dice), &known.rows(dice, 100)))),
        ),
        (
            "exploration",
            ask(|store, known, dice| count(store.exploration(known.task(dice), &known.rows(dice, 100)))),
        ),
        ("web", ask(|store, known, dice| count(store.web(known.task(dice), &known.rows(dice, 100))))),
        (
            "permissions",
            ask(|store, known, dice| count(store.permissions(known.task(dice), &known.rows(dice, 100)))),
        ),
        ("todos", ask(|store, known, dice| count(store.todos(known.task(dice))))),
        (
            "questions",
            ask(|store, known, dice| count(store.questions(known.task(dice), &known.rows(dice, 100)))),
        ),
        ("summary", ask(move |store, known, dice| store.summary(now(known), known.task(dice)).map(|_| 1))),
        (
            "lanes",
            ask(|store, known, dice| {
                let (a, b) = (known.moment_of_longest(dice), known.moment_of_longest(dice));
                store.lanes(&known.longest, Some(a.min(b)), Some(Millis(a.max(b).0 + 1)), 1_200).map(|_| 1)
            }),
        ),
        (
            "lanes of everything",
            ask(|store, known, dice| {
                store.lanes(known.task(dice), None, None, 800 + dice.within(0, 800) as u32).map(|_| 1)
            }),
        ),
        (
            "event",
            ask(|store, known, dice| {
                let place = dice.throw() as usize % known.events.len().max(1);
                known.events.get(place).map_or(Ok(0), |id| store.event(id).map(|_| 1))
            }),
        ),
        ("tools", ask(|store, known, dice| count(store.tools(&known.range(dice))))),
        ("failures", ask(|store, known, dice| count(store.failures(&known.range(dice))))),
        (
            "usage by day",
            ask(|store, known, dice| count(store.usage(&known.range(dice), UsageBy::Day, &Utc))),
        ),
        (
            "usage by model",
            ask(|store, known, dice| count(store.usage(&known.range(dice), UsageBy::Model, &Utc))),
        ),
        (
            "usage by project",
            ask(|store, known, dice| count(store.usage(&known.range(dice), UsageBy::Project, &Utc))),
        ),
        (
            "usage by task",
            ask(|store, known, dice| count(store.usage(&known.range(dice), UsageBy::Task, &Utc))),
        ),
        (
            "usage by type of agent",
            ask(|store, known, dice| count(store.usage(&known.range(dice), UsageBy::AgentType, &Utc))),
        ),
        ("files", ask(|store, known, dice| count(store.files(&known.range(dice))))),
        ("skills", ask(|store, known, dice| count(store.skills(&known.range(dice))))),
        ("mcp", ask(|store, known, dice| count(store.mcp(&known.range(dice))))),
        ("agents", ask(|store, known, dice| count(store.agents(&known.range(dice))))),
        ("commands", ask(|store, known, dice| count(store.commands(&known.range(dice))))),
        ("loops", ask(|store, known, dice| count(store.loops(&known.range(dice))))),
        (
            "activity",
            ask(|store, known, dice| {
                let buckets = dice.within(20, 300) as u32;
                count(store.activity(&known.range(dice), buckets))
            }),
        ),
        (
            "search, a rare word",
            ask(|store, known, dice| {
                count(
                    store.search(&SearchFilter {
                        q: rare(dice.within(0, known.rare)),
                        ..SearchFilter::default()
                    }),
                )
            }),
        ),
        (
            "search, a common word",
            ask(|store, known, dice| {
                let range = known.range(dice);
                count(store.search(&SearchFilter { q: COMMON.to_owned(), range, ..SearchFilter::default() }))
            }),
        ),
        (
            "search, two words",
            ask(|store, _, dice| {
                let q = format!(
                    "{} {}",
                    dice.pick(&["retry", "index", "release"]),
                    dice.pick(&["test", "table", "not"])
                );
                count(store.search(&SearchFilter { q, ..SearchFilter::default() }))
            }),
        ),
        (
            // Thousands of endings: of a word that stands everywhere, of every path, and of one call each.
            "search, a beginning",
            ask(|store, known, dice| {
                let q = match dice.within(0, 4) {
                    0 => MANY.to_owned(),
                    1 => "file_".to_owned(),
                    2 => SINGLE.to_owned(),
                    _ => format!("{SINGLE}{}", dice.within(1, 9)),
                };
                let range = if dice.per_mille(500) { known.range(dice) } else { Range::default() };
                count(store.search(&SearchFilter { q, range, ..SearchFilter::default() }))
            }),
        ),
        (
            "search, word, beginning",
            ask(|store, _, dice| {
                let q = format!(
                    "{} {}",
                    dice.pick(&["cargo", "part_12", "src"]),
                    dice.pick(&[MANY, SINGLE, "file_"])
                );
                count(store.search(&SearchFilter { q, ..SearchFilter::default() }))
            }),
        ),
        (
            "search in a task",
            ask(|store, known, dice| {
                let task = Some(known.task(dice).clone());
                let q = dice.pick(&["retry", "cargo", "file"]).to_owned();
                count(store.search(&SearchFilter { q, task, ..SearchFilter::default() }))
            }),
        ),
        (
            "attention",
            ask(move |store, known, dice| {
                count(store.attention(Millis(now(known).0 - dice.within(0, 3_600_000).cast_signed())))
            }),
        ),
        (
            "changes",
            ask(|store, known, dice| store.changes(dice.within(0, known.newest), 200).map(|rows| rows.len())),
        ),
        ("seq", ask(|store, _, _| store.seq().map(|_| 1))),
        ("outcomes", ask(|store, _, _| store.outcomes().map(|_| 1))),
        ("unrecognised", ask(|store, _, _| store.unrecognised().map(|names| names.len()))),
        ("sources", ask(|store, _, _| store.sources().map(|sources| sources.len()))),
        ("health", ask(|store, _, _| store.health().map(|_| 1))),
    ]
}

/// Asks everything so many times.
pub(crate) fn ask(store: &Arc<dyn Store>, history: u64, seed: u64, calls: usize) -> Result<Vec<Row>, String> {
    let mut dice = Dice::new(seed ^ 0x5eed);
    let known = look(store.as_ref(), &mut dice, history)
        .map_err(|error| format!("cannot look around in the store: {error}"))?;
    let mut rows = Vec::new();
    for (name, ask) in questions() {
        let mut row = Row { name, sample: Sample::default(), cpu: Sample::default(), items: 0 };
        for _ in 0..calls {
            let (start, before) = (Instant::now(), machine::thread_cpu());
            let answer = ask(store.as_ref(), &known, &mut dice);
            row.sample.push(start.elapsed());
            row.cpu.push(machine::thread_cpu().saturating_sub(before));
            row.items += answer.map_err(|error| format!("`{name}`: {error}"))?;
        }
        rows.push(row);
    }
    Ok(rows)
}

/// Prints what the questions cost, beside the same in a history of a tenth.
pub(crate) fn report(rows: &[Row], tenth: &[Row], events: u64, report: &mut Report) {
    report
        .title(&format!("questions at {events} events, and at a tenth of it (load {:.1})", machine::load()));
    report.line(&format!(
        "  {:<24} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}   {:>9} {:>8} {:>6} {:>10}",
        "ms", "p50", "p95", "max", "CPU p50", "CPU p95", "items", "tenth CPU", "items", "x", "x an item"
    ));
    for row in rows {
        let small = tenth.iter().find(|before| before.name == row.name);
        let before = small.map_or(f64::NAN, |row| row.cpu.p95());
        let growth = row.cpu.p95() / before;
        let by_item = small.map_or(f64::NAN, |before| grown(row, before));
        report.line(&format!(
            "  {:<24} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8.2} {:>8}   {before:>9.2} {:>8} {growth:>6.1} {by_item:>10.1}",
            row.name,
            row.sample.p50(),
            row.sample.p95(),
            row.sample.max(),
            row.cpu.p50(),
            row.cpu.p95(),
            row.items_each() as u64,
            small.map_or(0, |before| before.items_each() as u64),
        ));
        report.keep(
            "questions",
            json!({ "name": row.name, "times": row.sample.json(), "cpu": row.cpu.json(), "items": row.items, "tenthCpuP95Ms": before, "grownByItem": by_item }),
        );
    }
    let slow: Vec<&str> = rows.iter().filter(|row| row.sample.p95() >= BAR_MS).map(|row| row.name).collect();
    let what = match slow.as_slice() {
        [] => format!("every question has its p95 below {BAR_MS} ms"),
        slow => format!("p95 is {BAR_MS} ms or more: {}", slow.join(", ")),
    };
    report.judge("Q1", &what, slow.is_empty());
    let slow: Vec<&str> = rows.iter().filter(|row| row.cpu.p95() >= BAR_MS).map(|row| row.name).collect();
    let what = match slow.as_slice() {
        [] => format!("every question has its p95 of processor time below {BAR_MS} ms"),
        slow => format!("p95 of processor time is {BAR_MS} ms or more: {}", slow.join(", ")),
    };
    report.judge("Q1", &what, slow.is_empty());
    let growing: Vec<&str> = rows
        .iter()
        .zip(tenth)
        .filter(|(row, before)| row.cpu.p95() > NOISE_MS * GROWTH && grown(row, before) > GROWTH)
        .map(|(row, _)| row.name)
        .collect();
    let what = match growing.as_slice() {
        [] => format!(
            "no question takes more than {GROWTH} x the processor time for an item of its answer in ten times the history"
        ),
        growing => format!(
            "an item of the answer costs more than {GROWTH} x in ten times the history: {}",
            growing.join(", ")
        ),
    };
    report.judge("Q1", &what, growing.is_empty());
}

/// The questions that found nothing at all.
#[cfg(test)]
pub(crate) fn silent(rows: &[Row]) -> Vec<&'static str> {
    rows.iter().filter(|row| row.items == 0).map(|row| row.name).collect()
}
