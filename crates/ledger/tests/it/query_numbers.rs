//! Numbers over many tasks, compared with what reading every row says.

use std::collections::BTreeMap;

use agent_tracer_event::{Millis, Tokens};
use agent_tracer_ledger::view::{Row, Task};
use agent_tracer_ledger::{Range, UsageBy, Utc, Zone};

use crate::queries::{every_of, is_call, is_failure, ranges, reported, text, took};
use crate::query_world::HOUR_MS;

#[test]
fn tools_and_failures_are_those_of_the_calls_in_the_range() {
    let reported = reported();
    for range in ranges() {
        let rows = reported.rows_in(&range);
        let mut expected: BTreeMap<&str, (u64, u64, u64)> = BTreeMap::new();
        let mut durations: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        let mut classes: BTreeMap<(String, &str), u64> = BTreeMap::new();
        for (row, _) in rows.iter().filter(|(row, _)| is_call(row)) {
            let tool = row.tool_name.as_deref().unwrap();
            let sums = expected.entry(tool).or_default();
            sums.0 += 1;
            sums.1 += u64::from(is_failure(row));
            sums.2 += took(row).unwrap_or(0);
            durations.entry(tool).or_default().extend(took(row));
            if is_failure(row) {
                *classes
                    .entry((text(row, "errorClass").unwrap_or("unknown").to_owned(), tool))
                    .or_default() += 1;
            }
        }
        let tools = every_of(2, &mut |paging| reported.store.tools(&Range { paging, ..range.clone() }));
        let found: BTreeMap<&str, (u64, u64, u64)> = tools
            .iter()
            .map(|tool| (tool.tool.as_str(), (tool.count, tool.failures, tool.total_ms)))
            .collect();
        assert_eq!(found, expected, "{range:?}");
        assert!(tools.windows(2).all(|pair| pair[0].count >= pair[1].count));
        for tool in &tools {
            let all = durations.get_mut(tool.tool.as_str()).unwrap();
            all.sort_unstable();
            for (answer, share) in [(tool.p50_ms, 0.5), (tool.p95_ms, 0.95), (tool.p99_ms, 0.99)] {
                let rank = ((all.len() as f64 * share).ceil() as usize).max(1);
                let exact = all[rank - 1] as f64;
                assert!(
                    (answer.unwrap() - exact).abs() <= exact * 0.01 + 1e-9,
                    "{answer:?} is not {exact}: `{}` in {range:?}",
                    tool.tool
                );
            }
        }
        let failures = every_of(2, &mut |paging| reported.store.failures(&Range { paging, ..range.clone() }));
        let found: BTreeMap<(String, &str), u64> = failures
            .iter()
            .map(|failure| ((failure.error_class.clone(), failure.tool.as_str()), failure.count))
            .collect();
        assert_eq!(found, classes, "{range:?}");
        assert!(failures.iter().all(|failure| failure.calls == expected[failure.tool.as_str()].0));
    }
}

#[test]
fn durations_at_bounds_are_those_of_every_call_in_the_range() {
    let reported = reported();
    let bounds = [0, 1, 10, 100, 1_000, 10_000, 100_000, u64::MAX];
    for range in ranges() {
        let mut expected: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
        let rows = reported.rows_in(&range);
        for (row, _) in rows.iter().filter(|(row, _)| is_call(row)) {
            if let Some(ms) = took(row) {
                expected.entry(row.tool_name.as_deref().unwrap()).or_default().push(ms);
            }
        }
        let found = reported.store.durations(&range, &bounds).unwrap();
        assert_eq!(found.len(), expected.len(), "{range:?}");
        assert!(found.windows(2).all(|pair| pair[0].count >= pair[1].count));
        for tool in &found {
            let all = &expected[tool.tool.as_str()];
            assert_eq!((tool.count, tool.total_ms), (all.len() as u64, all.iter().sum()), "{}", tool.tool);
            assert_eq!(tool.at_most.last(), Some(&tool.count));
            for (bound, count) in bounds.iter().zip(&tool.at_most) {
                let within = |limit: f64| all.iter().filter(|ms| **ms as f64 <= limit).count() as u64;
                let (least, most) = (within(*bound as f64), within(*bound as f64 * 1.02));
                assert!((least..=most).contains(count), "{} at {bound}: {count}", tool.tool);
            }
        }
    }
}

#[test]
fn commands_servers_skills_and_files_are_those_of_the_calls_in_the_range() {
    let reported = reported();
    for range in ranges() {
        let rows = reported.rows_in(&range);
        let calls: Vec<&Row> = rows.iter().map(|(row, _)| *row).filter(|row| is_call(row)).collect();
        let mut commands: BTreeMap<String, u64> = BTreeMap::new();
        let mut servers: BTreeMap<String, u64> = BTreeMap::new();
        let mut skills: BTreeMap<String, u64> = BTreeMap::new();
        let mut files: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for row in &calls {
            if let Some(line) = text(row, "command") {
                *commands.entry(line.trim_end_matches("--flag").trim().to_owned()).or_default() += 1;
            }
            if let Some(server) = text(row, "mcpServer") {
                *servers.entry(server.to_owned()).or_default() += 1;
            }
            if let Some(skill) = text(row, "skillName") {
                *skills.entry(skill.to_owned()).or_default() += 1;
            }
            for path in &row.file_paths {
                let used = files.entry(path.clone()).or_default();
                if text(row, "subtypeKey") == Some("read_file") { used.0 += 1 } else { used.1 += 1 }
            }
        }
        let asked = |paging| Range { paging, ..range.clone() };
        let found = every_of(2, &mut |paging| reported.store.commands(&asked(paging)));
        assert_eq!(
            found.into_iter().map(|stat| (stat.command, stat.count)).collect::<BTreeMap<_, _>>(),
            commands
        );
        let found = every_of(2, &mut |paging| reported.store.mcp(&asked(paging)));
        assert_eq!(
            found.into_iter().map(|stat| (stat.server, stat.count)).collect::<BTreeMap<_, _>>(),
            servers
        );
        let found = every_of(1, &mut |paging| reported.store.skills(&asked(paging)));
        let activated: BTreeMap<String, u64> =
            found.into_iter().filter(|stat| stat.count > 0).map(|stat| (stat.skill, stat.count)).collect();
        assert_eq!(activated, skills);
        let found = every_of(7, &mut |paging| reported.store.files(&asked(paging)));
        assert_eq!(
            found
                .iter()
                .map(|stat| (stat.path.clone(), (stat.reads, stat.changes)))
                .collect::<BTreeMap<_, _>>(),
            files,
            "{range:?}"
        );
        assert!(
            found.windows(2).all(|pair| pair[0].reads + pair[0].changes >= pair[1].reads + pair[1].changes)
        );
        if range.project.is_none() {
            assert!(found.iter().all(|stat| stat.path.starts_with(&format!("{}/src", stat.project))));
        }
    }
}

/// Somewhere with half an hour.
struct FixedOffset(i32);

impl Zone for FixedOffset {
    fn offset_seconds(&self, _: Millis) -> i32 {
        self.0
    }
}

#[test]
fn usage_by_anything_is_that_of_the_responses() {
    let reported = reported();
    for range in ranges() {
        let rows = reported.rows_in(&range);
        let responses: Vec<(&Row, &Task, Tokens)> =
            rows.iter().filter_map(|(row, task)| Some((*row, *task, Tokens::read(&row.metadata)?))).collect();
        let naive = |key: &dyn Fn(&Row, &Task) -> Option<String>| -> BTreeMap<String, (u64, u64, u64)> {
            let mut sums: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
            for (row, task, usage) in &responses {
                if let Some(key) = key(row, task) {
                    let sum = sums.entry(key).or_default();
                    sum.0 += 1;
                    sum.1 += usage.output;
                    sum.2 += usage.cache_read;
                }
            }
            sums
        };
        let asked = |by: UsageBy, zone: &dyn Zone| -> BTreeMap<String, (u64, u64, u64)> {
            let found =
                every_of(3, &mut |paging| reported.store.usage(&Range { paging, ..range.clone() }, by, zone));
            let count = found.len();
            let sums: BTreeMap<String, (u64, u64, u64)> = found
                .into_iter()
                .map(|bucket| {
                    let usage = bucket.usage;
                    (bucket.key, (usage.provenance.responses, usage.tokens.output, usage.tokens.cache_read))
                })
                .collect();
            assert_eq!(sums.len(), count, "a key twice by {by:?}");
            sums
        };
        assert_eq!(asked(UsageBy::Model, &Utc), naive(&|row, _| text(row, "model").map(str::to_owned)));
        assert_eq!(asked(UsageBy::Project, &Utc), naive(&|_, task| Some(task.project.clone())));
        assert_eq!(asked(UsageBy::Agent, &Utc), naive(&|_, task| Some(task.agent.to_string())));
        assert_eq!(asked(UsageBy::AgentType, &Utc), naive(&|_, task| Some(task.agent_type.clone())));
        let skills: BTreeMap<String, u64> =
            asked(UsageBy::Skill, &Utc).into_iter().map(|(key, sums)| (key, sums.1)).collect();
        let expected = naive(&|row, _| text(row, "attributionSkill").map(str::to_owned));
        assert_eq!(skills, expected.into_iter().map(|(key, sums)| (key, sums.1)).collect());
        for offset in [0, 7_200, -18_000, 20_700, 43_200] {
            let local = |row: &Row| Millis(row.occurred_at.0 + i64::from(offset) * 1_000).to_string();
            let days = naive(&|row, _| Some(local(row).chars().take(10).collect()));
            assert_eq!(asked(UsageBy::Day, &FixedOffset(offset)), days, "{range:?} {offset}");
            let months = naive(&|row, _| Some(local(row).chars().take(7).collect()));
            assert_eq!(asked(UsageBy::Month, &FixedOffset(offset)), months, "{range:?} {offset}");
            let weeks = naive(&|row, _| {
                let day = (row.occurred_at.0 + i64::from(offset) * 1_000).div_euclid(24 * HOUR_MS);
                let monday = day - (day + 3).rem_euclid(7);
                Some(Millis(monday * 24 * HOUR_MS).to_string().chars().take(10).collect())
            });
            assert_eq!(asked(UsageBy::Week, &FixedOffset(offset)), weeks, "{range:?} {offset}");
        }
        let tasks = asked(UsageBy::Task, &Utc);
        let expected: BTreeMap<String, u64> = reported
            .tasks
            .iter()
            .filter(|task| range.since.is_none_or(|since| task.last_event_at >= since))
            .filter(|task| range.until.is_none_or(|until| task.started_at < until))
            .filter(|task| range.project.as_ref().is_none_or(|project| task.project == *project))
            .filter(|task| range.agent.is_none_or(|agent| task.agent == agent))
            .filter(|task| range.agent_type.as_ref().is_none_or(|wanted| task.agent_type == *wanted))
            .map(|task| (task.id.clone(), task.usage.tokens.output))
            .collect();
        assert_eq!(tasks.into_iter().map(|(key, sums)| (key, sums.1)).collect::<BTreeMap<_, _>>(), expected);
    }
}

#[test]
fn types_of_agents_count_their_tasks_calls_and_tokens() {
    let reported = reported();
    for range in ranges() {
        let mut expected: BTreeMap<&str, (u64, u64, u64, u64, u64)> = BTreeMap::new();
        for (row, task) in reported.rows_in(&range) {
            let sums = expected.entry(task.agent_type.as_str()).or_default();
            sums.1 += u64::from(is_call(row));
            sums.3 += took(row).filter(|_| is_call(row)).unwrap_or(0);
            sums.2 += Tokens::read(&row.metadata).map_or(0, |usage| usage.output);
        }
        for task in &reported.tasks {
            let is_in = range.since.is_none_or(|since| task.last_event_at >= since)
                && range.until.is_none_or(|until| task.started_at < until)
                && range.project.as_ref().is_none_or(|project| task.project == *project)
                && range.agent.is_none_or(|agent| task.agent == agent)
                && range.agent_type.as_ref().is_none_or(|wanted| task.agent_type == *wanted);
            if is_in {
                let sums = expected.entry(task.agent_type.as_str()).or_default();
                sums.0 += 1;
                sums.4 += u64::try_from(task.last_event_at.0 - task.started_at.0).unwrap();
            }
        }
        let found = every_of(1, &mut |paging| reported.store.agents(&Range { paging, ..range.clone() }));
        let found: BTreeMap<&str, (u64, u64, u64, u64, u64)> = found
            .iter()
            .map(|stat| {
                let sums = (stat.tasks, stat.tool_calls, stat.usage.tokens.output, stat.tool_ms, stat.run_ms);
                (stat.agent_type.as_str(), sums)
            })
            .collect();
        assert_eq!(found, expected, "{range:?}");
    }
}

#[test]
fn activity_adds_up_to_the_rows_of_each_column() {
    let reported = reported();
    for range in ranges() {
        for buckets in [1, 10, 96, 400] {
            let columns = reported.store.activity(&range, buckets).unwrap().items;
            assert!(columns.len() <= buckets as usize);
            let rows = reported.rows_in(&range);
            let sum: u64 = columns.iter().map(|column| column.events).sum();
            assert_eq!(sum, rows.len() as u64, "{range:?} in {buckets}");
            let calls: u64 = columns.iter().map(|column| column.tool_calls).sum();
            assert_eq!(calls, rows.iter().filter(|(row, _)| is_call(row)).count() as u64);
            for pair in columns.windows(2) {
                let inside = rows
                    .iter()
                    .filter(|(row, _)| (pair[0].at..pair[1].at).contains(&row.occurred_at))
                    .count();
                assert_eq!(pair[0].events, inside as u64);
            }
        }
    }
}

#[test]
fn loops_are_calls_made_three_times_or_more_in_a_task() {
    let reported = reported();
    let mut repeats: BTreeMap<(String, String), Vec<&Row>> = BTreeMap::new();
    for row in reported.rows.iter().filter(|row| is_call(row)) {
        if let Some(signature) = text(row, "callSignature") {
            repeats.entry((row.task_id.clone(), signature.to_owned())).or_default().push(row);
        }
    }
    let mut expected: Vec<(String, u64, u64, Millis, Millis)> = repeats
        .into_iter()
        .filter(|(_, rows)| rows.len() >= 3)
        .map(|((task, _), rows)| {
            let failures = rows.iter().filter(|row| is_failure(row)).count() as u64;
            let times = rows.iter().map(|row| row.occurred_at);
            (task, rows.len() as u64, failures, times.clone().min().unwrap(), times.max().unwrap())
        })
        .collect();
    expected.sort();
    let loops = every_of(6, &mut |paging| reported.store.loops(&Range { paging, ..Range::default() }));
    assert!(loops.windows(2).all(|pair| pair[0].count >= pair[1].count));
    let mut found: Vec<(String, u64, u64, Millis, Millis)> = loops
        .iter()
        .map(|item| (item.task_id.clone(), item.count, item.failures, item.first_at, item.last_at))
        .collect();
    found.sort();
    assert_eq!(found, expected);
    assert!(loops.iter().all(|item| {
        reported.rows.iter().any(|row| row.id == item.last_id && row.occurred_at == item.last_at)
    }));
}
