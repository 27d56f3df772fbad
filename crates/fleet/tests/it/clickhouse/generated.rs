//! The contract over a history made from a seed: more of everything than was captured.
//!
//! `AGENT_TRACER_CONTRACT_EVENTS=1000000` makes it as long as one wants (`make test-clickhouse-large`). It arrives the
//! hard way: in parts, so that facts are enriched by what comes later; a part of it twice; every other shipment twice; and
//! what was shipped first once more at the end. A session speaks Chinese, Japanese and Korean.

use std::collections::BTreeSet;
use std::sync::Arc;

use agent_tracer_event::{Agent, Millis};
use agent_tracer_fleet::clickhouse::{Fleet, StoreAddress};
use agent_tracer_ledger::view::ToolStat;
use agent_tracer_ledger::{Insights, Observed, Range, Search, SearchFilter, TaskFilter};
use agent_tracer_testkit::history::{BEGIN, History, MANY, SINGLE};
use agent_tracer_testkit::{hook, scenario};
use serde_json::json;

use crate::clickhouse::contract::{AT_ONCE_CLOSED, Both, COMPARED, ask, every, ship};
use crate::clickhouse::limits::sessions;
use crate::clickhouse::world::World;
use crate::engine;

/// Default number of events.
const EVENTS: u64 = 6_000;

/// Number of tasks that are queried one by one.
const TASKS: usize = 12;

/// Number of sessions with a word in their title that begins like that of the others.
const TICKETS: i64 = 130;

/// Observations that are brought at once.
const AT_ONCE: usize = 500;

/// The stated error of a percentile.
const ERROR: f64 = 0.01;

/// Brings a number of observations of a history, every third part of them twice: a repetition counts once.
fn bring(world: &World, history: &mut History, mut left: usize) {
    for turn in 0.. {
        let observed = history.batch(AT_ONCE.min(left));
        if observed.is_empty() {
            return;
        }
        left -= observed.len();
        if turn % 3 == 0 {
            world.bring(observed.clone());
        }
        world.bring(observed);
    }
}

/// Prompts in scripts without spaces, and what is looked for in them.
const SPOKEN: [(&str, &str); 4] = [
    ("全文検索のインデックスを作り直してください", "検索"),
    ("请把数据库索引的测试改成中文", "数据库"),
    ("데이터베이스 인덱스를 다시 만들어 주세요", "인덱스"),
    ("mixed 文字 and words in one line", "文"),
];

fn prompts() -> Vec<Observed> {
    let prompt = |(turn, (text, _)): (usize, &(&str, &str))| {
        let payload = json!({
            "session_id": "5b1c7e36-2d7e-4f6c-9a53-0a1f2e3d4c5b",
            "transcript_path": "/home/dev/.claude/projects/-home-dev-i18n/5b1c7e36-2d7e-4f6c-9a53-0a1f2e3d4c5b.jsonl",
            "cwd": "/home/dev/i18n", "hook_event_name": "UserPromptSubmit", "prompt": text,
        });
        let name = format!("spoken#{turn}");
        hook(
            Agent::CLAUDE_CODE,
            &name,
            Millis(BEGIN + turn as i64 * 1_000),
            false,
            payload.to_string().as_bytes(),
        )
    };
    SPOKEN.iter().enumerate().map(prompt).collect()
}

/// Sessions that each mend a ticket of its own: a word in titles that has more endings than are asked for one by one.
fn tickets() -> Vec<Observed> {
    let prompt = |number: i64| {
        let session = format!("7d1c7e36-2d7e-4f6c-9a53-{number:012}");
        let payload = json!({
            "session_id": session, "transcript_path": format!("/home/dev/.claude/projects/-home-dev-mend/{session}.jsonl"),
            "cwd": "/home/dev/mend", "hook_event_name": "UserPromptSubmit", "prompt": format!("Mend ticket{number}"),
        });
        let at = Millis(BEGIN + number * 60_000);
        hook(Agent::CLAUDE_CODE, &format!("ticket#{number}"), at, false, payload.to_string().as_bytes())
    };
    (0..TICKETS).map(prompt).collect()
}

/// Returns every duration of a tool's calls, shortest first, as the database has them.
fn durations(place: &StoreAddress, tool: &str) -> Vec<i64> {
    let client = clickhouse::Client::default().with_url(&place.url).with_database(&place.database);
    let ask = "SELECT assumeNotNull(duration) FROM fact FINAL WHERE is_call = 1 AND duration IS NOT NULL AND tool = ? \
               ORDER BY duration";
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(client.query(ask).bind(tool).fetch_all::<i64>()).unwrap()
}

/// Returns whether a value is that percentile: within the stated error of a duration with about as many below it.
fn is_percentile(value: f64, level: f64, sorted: &[i64]) -> bool {
    let place = level * (sorted.len() - 1) as f64;
    let near = sorted.iter().enumerate().filter(|(rank, _)| (*rank as f64 - place).abs() <= 1.0);
    near.map(|(_, real)| *real as f64).any(|real| (value - real).abs() <= (real * ERROR).max(1.0))
}

fn check_percentiles(place: &StoreAddress, tools: &[ToolStat]) {
    for tool in tools {
        let sorted = durations(place, &tool.tool);
        assert_eq!(sorted.iter().sum::<i64>().cast_unsigned(), tool.total_ms, "`{}`", tool.tool);
        let values = [(0.5, tool.p50_ms), (0.95, tool.p95_ms), (0.99, tool.p99_ms)];
        for (level, value) in values.into_iter().filter_map(|(level, value)| Some((level, value?))) {
            assert!(is_percentile(value, level, &sorted), "{level} of `{}` is given as {value}", tool.tool);
        }
    }
}

/// Returns the words of a snippet that begin like this.
fn marked(snippet: &str, beginning: &str) -> Vec<String> {
    let words = snippet.split('⟦').skip(1).filter_map(|rest| rest.split('⟧').next());
    words.filter(|word| word.starts_with(beginning)).map(str::to_owned).collect()
}

#[test]
fn both_engines_answer_alike_about_a_generated_history() {
    let events = std::env::var("AGENT_TRACER_CONTRACT_EVENTS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(EVENTS);
    let (fleet, place): (Arc<Fleet>, StoreAddress) = engine::database();
    let world = World::empty();
    let mut history = History::new(events, 11);
    bring(&world, &mut history, usize::try_from(events / 2).unwrap());
    let first = world.outbox.after(0, 1_000).unwrap();
    let after = ship(&world, "generated", &fleet, 0);
    // From now on days are closed: what comes later opens some of them again, and in the end some are open and most are not.
    let made = fleet.make_days(AT_ONCE_CLOSED, &|| true).unwrap();
    assert!(made.closed > 20, "{made:?}");
    bring(&world, &mut history, usize::MAX);
    world.bring(prompts());
    world.bring(prompts());
    world.bring(tickets());
    let ruled = scenario("2.1.325/agent_fg");
    world.bring([ruled.observed(None), ruled.decided()].concat());
    let newest = world.ledger.store().tasks(Millis(0), &TaskFilter::default()).unwrap().items;
    world.bring(sessions("6c1c7e36-2d7e-4f6c-9a53-0a1f2e3d4c5b", newest[0].last_event_at.0, 20.0, 15));
    ship(&world, "generated", &fleet, after);
    let made = fleet.make_days(AT_ONCE_CLOSED, &|| true).unwrap();
    assert!(made.again > 0, "{made:?}");
    fleet.write("generated", &first).unwrap();
    assert!(fleet.days_marked().unwrap() > 0);
    world.ledger.finish_search().unwrap();
    let both = Both::of(&world, &fleet, "generated", false);
    let tasks = usize::try_from(both.sqlite.health().unwrap().tasks).unwrap();
    let step = tasks.div_ceil(TASKS).max(1);
    let compared = ask(&both, |place| place.is_multiple_of(step));
    assert_eq!(compared, BTreeSet::from(COMPARED));
    let limits = both.reader.limits(Millis(newest[0].last_event_at.0 + 3_600_000)).unwrap().items;
    assert!(limits.iter().any(|limit| limit.forecast.is_some()), "{limits:?}");
    for (text, word) in SPOKEN {
        let found =
            both.reader.search(&SearchFilter { q: word.to_owned(), ..SearchFilter::default() }).unwrap();
        assert!(
            found.items.iter().any(|hit| hit.row.title.contains(text)),
            "`{word}` finds {:?}",
            found.items
        );
    }
    for (beginning, least) in [(MANY, 100), (SINGLE, 100), ("ticket", 130)] {
        let filter = SearchFilter { q: beginning.to_owned(), ..SearchFilter::default() };
        let of = |paging| SearchFilter { range: Range { paging, ..Range::default() }, ..filter.clone() };
        let hits = every(500, |paging| both.sqlite.search(&of(paging))).unwrap();
        let endings: BTreeSet<String> = hits.iter().flat_map(|hit| marked(&hit.snippet, beginning)).collect();
        assert!(endings.len() >= least, "`{beginning}` has {} endings", endings.len());
    }
    let tools = every(100, |paging| both.reader.tools(&Range { paging, ..Range::default() })).unwrap();
    assert!(tools.len() > 5, "{tools:?}");
    check_percentiles(&place, &tools);
}
