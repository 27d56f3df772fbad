//! `usage`: the ledger and the files give one answer, and it is the provider's.

use std::fs;

use serde_json::Value;

use crate::history::{full, json};

const FOUR: [&str; 4] = ["inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens"];

fn four(usage: &Value) -> [u64; 4] {
    FOUR.map(|name| usage[name].as_u64().expect("a count"))
}

fn answered(usage: &Value) -> [u64; 4] {
    let of = |key: &str| usage[key].as_u64().unwrap_or(0);
    if usage.get("cached_input_tokens").is_some() {
        let cached = of("cached_input_tokens");
        return [of("input_tokens") - cached, of("output_tokens"), cached, 0];
    }
    let (input, output) = (of("input_tokens"), of("output_tokens"));
    [input, output, of("cache_read_input_tokens"), of("cache_creation_input_tokens")]
}

fn items(answer: &Value) -> &Vec<Value> {
    answer["items"].as_array().expect("items")
}

fn truths() -> Vec<(String, Value)> {
    let mut all = Vec::new();
    let fixtures = agent_tracer_testkit::fixtures();
    for folder in ["claude-code/2.1.325", "codex/0.166.0/truth"] {
        for entry in fs::read_dir(fixtures.join(folder)).expect("fixtures") {
            let path = entry.expect("an entry").path();
            let path = if path.is_dir() { path.join("truth.json") } else { path };
            if let Ok(text) = fs::read_to_string(&path) {
                all.push((path.display().to_string(), serde_json::from_str(&text).expect("JSON")));
            }
        }
    }
    assert!(all.len() >= 33, "{}", all.len());
    all
}

#[test]
fn the_files_alone_say_what_the_provider_answered_to_each_session_and_agent() {
    let world = full();
    let answer = json(&world, &["usage", "session", "--files"]);
    let (mut sessions, mut agents) = (0, 0);
    for (name, truth) in truths() {
        for session in truth["sessions"].as_array().expect("sessions") {
            let all = session.get("agents").or(session.get("threads")).expect("agents");
            let root = session["session_id"].as_str().expect("an id");
            // Of a thread that only names another one Codex leaves no file; a failed request is answered with nothing.
            let is_hidden =
                all[0]["thread_source"] == "thread_title" || answered(&session["usage"]) == [0; 4];
            let item = items(&answer).iter().find(|item| item["key"] == root);
            let Some(item) = item.filter(|_| !is_hidden) else {
                assert!(is_hidden, "{name}: {root} is not there");
                continue;
            };
            assert_eq!(four(&item["usage"]), answered(&session["usage"]), "{name}: {root}");
            sessions += 1;
            for agent in all.as_array().expect("agents") {
                let id = agent["agent_id"].as_str().or(agent["thread_id"].as_str()).unwrap_or(root);
                if id == root || answered(&agent["usage"]) == [0; 4] {
                    continue;
                }
                let parts = item["agents"].as_array().expect("agents");
                let part =
                    parts.iter().find(|part| part["key"] == id).unwrap_or_else(|| panic!("{name}: {id}"));
                assert_eq!(four(&part["usage"]), answered(&agent["usage"]), "{name}: {id}");
                agents += 1;
            }
        }
    }
    assert!(sessions >= 33 && agents >= 10, "{sessions} {agents}");
}

#[test]
fn sessions_and_days_are_grouped_as_requested_and_the_files_agree_on_skills() {
    let world = full();
    for by in ["model", "project", "agent"] {
        for item in items(&json(&world, &["usage", "session", "--by", by])) {
            let parts = item["parts"].as_array().into_iter().flatten().map(|part| four(&part["usage"]));
            let sum = parts
                .fold([0; 4], |sum: [u64; 4], part| std::array::from_fn(|index| sum[index] + part[index]));
            assert_eq!(sum, four(&item["usage"]), "by {by}: {item}");
        }
    }
    for period in ["session", "daily", "blocks"] {
        let grouped = |more: &[&str]| -> Vec<(String, String, [u64; 4])> {
            let answer = json(&world, &[&["usage", period, "--by", "skill", "--tz", "UTC"], more].concat());
            let mut all = Vec::new();
            for item in items(&answer) {
                for part in item["parts"].as_array().into_iter().flatten() {
                    let text = |value: &Value| value.as_str().expect("a key").to_owned();
                    all.push((text(&item["key"]), text(&part["key"]), four(&part["usage"])));
                }
            }
            all.sort();
            all
        };
        let stored = grouped(&[]);
        assert!(stored.iter().any(|(_, skill, _)| skill == "greet"), "{period}: {stored:?}");
        assert!(stored.iter().any(|(_, skill, _)| skill == "shout"), "{period}: {stored:?}");
        assert_eq!(grouped(&["--files"]), stored, "{period}");
    }
}

#[test]
fn the_ledger_and_the_files_give_one_answer() {
    let world = full();
    for period in ["daily", "weekly", "monthly", "blocks"] {
        let stored = json(&world, &["usage", period, "--tz", "UTC"]);
        let files = json(&world, &["usage", period, "--tz", "UTC", "--files"]);
        let lines = |answer: &Value| -> Vec<(String, [u64; 4])> {
            let line = |item: &Value| (item["key"].as_str().expect("a key").to_owned(), four(&item["usage"]));
            items(answer).iter().map(line).collect()
        };
        assert_eq!(lines(&stored), lines(&files), "{period}");
        assert!(!lines(&stored).is_empty());
        let cost = |answer: &Value| answer["total"]["costUsd"].as_f64().expect("a cost");
        assert!((cost(&stored) - cost(&files)).abs() < 1e-6, "{period}: {} {}", cost(&stored), cost(&files));
        assert_eq!(
            stored["total"]["residual"]["reason"], files["total"]["residual"]["reason"],
            "{period}: what is left is a group"
        );
    }
}

#[test]
fn parts_add_up_to_their_line_and_lines_to_the_total() {
    let world = full();
    for files in [false, true] {
        for by in ["model", "project", "agent"] {
            let mut words = vec!["usage", "daily", "--by", by];
            if files {
                words.push("--files");
            }
            let answer = json(&world, &words);
            let mut total = [0; 4];
            for item in items(&answer) {
                let parts = item["parts"].as_array().expect("parts").iter();
                let sum = parts.fold([0; 4], |sum: [u64; 4], part| {
                    let part = four(&part["usage"]);
                    std::array::from_fn(|index| sum[index] + part[index])
                });
                assert_eq!(sum, four(&item["usage"]), "{by} {}", item["key"]);
                total = std::array::from_fn(|index| total[index] + sum[index]);
            }
            assert_eq!(total, four(&answer["total"]), "{by}");
        }
    }
}

#[test]
fn a_table_has_a_total_a_residual_and_a_line_for_spreadsheets() {
    let world = full();
    let text = world.run(&["usage", "monthly", "--tz", "UTC"]).ended_with(0).stdout;
    assert!(text.starts_with("MONTH"), "{text}");
    let named = "(compaction, cut short, side request)";
    assert!(text.contains("\ntotal ") && text.contains("RESIDUAL") && text.contains(named), "{text}");
    let csv = world.run(&["usage", "daily", "--csv", "--by", "model", "--tz", "UTC"]).ended_with(0).stdout;
    let heads: Vec<&str> = csv.lines().next().expect("heads").split(',').collect();
    assert_eq!(heads[..3], ["day", "part", "responses"]);
    assert!(csv.lines().all(|line| line.split(',').count() == heads.len()), "{csv}");
    assert!(csv.contains(",gpt-5.5,"), "{csv}");
}

#[test]
fn words_that_make_no_sense_are_refused() {
    let world = full();
    for (words, said) in [
        (&["usage", "--tz", "Mars/Base"][..], "unknown time zone"),
        (&["usage", "--since", "1d", "--until", "2d"], "before `--since`"),
    ] {
        let answer = world.run(words).ended_with(2);
        assert!(answer.stderr.contains(said) && answer.stderr.contains("hint: "), "{}", answer.stderr);
    }
    let nowhere = world.run(&["usage", "--files", "nowhere"]).ended_with(1);
    assert!(nowhere.stderr.contains("no folder"), "{}", nowhere.stderr);
}

#[test]
fn prices_of_the_user_come_first() {
    let world = full();
    let cost = || {
        let answer = json(&world, &["usage", "--files", "--by", "model", "--tz", "UTC"]);
        let total = answer["total"]["costUsd"].as_f64().expect("a cost");
        (total, answer["total"]["provenance"]["unpriced"].as_u64().expect("a count"))
    };
    let before = cost();
    let prices = "[models.\"claude-opus-5-5\"]\ninput = 1000\noutput = 1000\n";
    world.write("home/.config/agent-tracer/prices.toml", prices);
    assert!(cost().0 > before.0 * 10.0, "{:?} {before:?}", cost());
    world.write("home/.config/agent-tracer/prices.toml", "[models.x]\nprice = 3\n");
    let said = world.run(&["usage", "--files"]).ended_with(1).stderr;
    assert!(said.contains("prices.toml") && said.contains("hint: "), "{said}");
}

#[test]
fn a_task_shows_what_only_the_account_knows() {
    let world = full();
    let text = world.run(&["show", "cf6eed33-95cd-441c-9928-264127d6c214"]).ended_with(0).stdout;
    let line = text.lines().find(|line| line.trim_start().starts_with("residual ")).expect("a residual");
    assert!(line.contains("10.7k of them only in the client's account (compaction): 7 in, 42 out"), "{line}");
}
