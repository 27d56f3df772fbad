//! Questions: strict, unchanged where nothing changed, and compressed where it is worth it.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use agent_tracer_event::{Agent, FactId, Kind, Millis};
use agent_tracer_ledger::view::RuleStat;
use serde_json::{Value, json};

use crate::store::Memory;
use crate::world::{NOW, TOKEN, World, config, task};

#[test]
fn every_question_of_the_document_is_answered() {
    let world = World::new();
    let task = world.memory.add_task(&task("s"), None, "/p");
    let document = world.get("/api/v1/openapi.json").json();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let operation = &item["get"];
        if !path.starts_with("/api/v1") || !operation.is_object() || path.ends_with("/stream") {
            continue;
        }
        asked += 1;
        let required = operation["parameters"].as_array().into_iter().flatten();
        let required: Vec<String> = required
            .filter(|param| param["required"] == true && param["in"] == "query")
            .map(|param| format!("{}=x", param["name"].as_str().unwrap()))
            .collect();
        let path = format!("{}?{}", path.replace("{id}", &task.id), required.join("&"));
        // The owner may ask everything.
        let ask = |path: &str| world.ask("GET", path).bearer(TOKEN).send();
        let answer = ask(&path);
        // The fake has no events, no summaries, no files of agents and no team; that it was asked is what counts.
        let absent = ["/events/", "/summary", "/compaction", "/audit"].iter().any(|part| path.contains(part));
        let expected = if absent { 404 } else { 200 };
        assert_eq!(answer.status, expected, "{path} {}", answer.text());
        if expected == 200 {
            assert_eq!(answer.header("content-type"), "application/json");
        }
        let wrong = ask(&format!("{path}&colour=red"));
        assert_eq!((wrong.status, wrong.wrong()), (400, vec!["colour".to_owned()]), "{path}");
    }
    assert!(asked >= 32, "{asked}");
}

#[test]
fn a_server_of_one_machine_refuses_owner_filters() {
    let world = World::new();
    let one = format!("tasks/{}/timeline", task("s").task_id());
    for path in
        ["tasks", "tools", "usage", "search", "activity", "attention", "limits", "policies/decisions", &one]
    {
        let refused = world.get(&format!("/api/v1/{path}?owner=ann&machine=desk"));
        let wrong = vec!["owner".to_owned(), "machine".to_owned()];
        assert_eq!((refused.status, refused.wrong()), (400, wrong), "{path}");
        assert!(refused.text().contains("one machine"), "{}", refused.text());
    }
    assert_eq!(world.get("/api/v1/stream?owner=ann").wrong(), ["owner"]);
}

#[test]
fn a_query_about_one_person_is_answered_from_that_persons_rows() {
    let world = World::new();
    let of_ann = Arc::new(Memory::default());
    let id = of_ann.add_task(&task("s"), None, "/p").id;
    world.memory.team.set(Arc::clone(&of_ann)).ok().unwrap();
    let document = world.get("/api/v1/openapi.json").json();
    let mut narrowed = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        let params = item["get"]["parameters"].as_array().cloned().unwrap_or_default();
        if !params.iter().any(|param| param["name"] == "owner") || path.ends_with("/stream") {
            continue;
        }
        narrowed += 1;
        let (before, others) = (of_ann.questions_asked().len(), world.memory.questions_asked().len());
        let event = FactId::derive(&task("s").task_id(), "e").to_string();
        let id = if path.contains("/events/") { &event } else { &id };
        let answer = world.get(&format!("{}?owner=ann&machine=desk", path.replace("{id}", id)));
        // Neither store has events, summaries or files of agents.
        let is_absent = ["/events/", "/summary", "/compaction"].iter().any(|part| path.contains(part));
        assert_eq!(answer.status, if is_absent { 404 } else { 200 }, "{path} {}", answer.text());
        let asked = of_ann.questions_asked();
        assert_eq!(
            asked.get(before).map(String::as_str),
            Some("narrowed OwnerFilter { owner: Some(\"ann\"), machine: Some(\"desk\") }"),
            "{path}"
        );
        assert!(asked.len() > before + 1, "{path} asks nothing of what ann has");
        let others: Vec<String> = world
            .memory
            .questions_asked()
            .split_off(others)
            .into_iter()
            .filter(|asked| asked != "seq")
            .collect();
        assert_eq!(others, Vec::<String>::new(), "{path} asks everybody");
    }
    assert!(narrowed >= 34, "{narrowed}");
}

#[test]
fn parameters_reach_the_store_as_they_were_meant() {
    let world = World::new();
    let id = world.memory.add_task(&task("s"), None, "/p").id;
    let asks = |path: &str, hints: &[&str]| {
        assert_eq!(world.get(path).status, 200, "{path}");
        let asked = world.memory.questions_asked();
        let last = asked.last().unwrap();
        for hint in hints {
            assert!(last.contains(hint), "{path}: {last}");
        }
    };
    let day_ago = format!("Millis({})", NOW - 86_400_000);
    asks(
        "/api/v1/tasks?status=running,waiting&agent=codex&q=a+b&since=-24h&kind=background&limit=7&failedCalls=true",
        &[
            "[Running, Waiting]",
            "Some(codex)",
            "\"a b\"",
            &day_ago,
            "Background",
            "limit: 7",
            "failed_calls: true",
        ],
    );
    asks(
        &format!(
            "/api/v1/tasks/{id}/timeline?lane=user&kind=user.message&newestFirst=true&tree=true&cursor=abc"
        ),
        &[
            "lanes: [User]",
            "kinds: [UserMessage]",
            "newest_first: true",
            "tree: true",
            "Some(\"abc\")",
            "limit: 100",
        ],
    );
    asks("/api/v1/usage?by=agentType&tz=Europe/Berlin", &["AgentType 3600"]);
    asks("/api/v1/usage", &["Day 0"]);
    asks("/api/v1/search?tool=Bash", &["\"Bash\""]);
    asks("/api/v1/search?q=x&tool=Bash&state=failed&longerThanMs=5", &["\"Bash\"", "\"failed\"", "Some(5)"]);
    asks(
        &format!(
            "/api/v1/policies/decisions?rule=no-write&decision=deny,ask&mode=enforce&task={id}&since=-24h&limit=9"
        ),
        &[
            "\"no-write\"",
            "[\"deny\", \"ask\"]",
            "\"enforced\", \"held_back\", \"let_go\"",
            &id,
            &day_ago,
            "limit: 9",
        ],
    );
    asks("/api/v1/policies/decisions?mode=dry_run", &["statuses: [\"dry_run\"]", "task: None"]);
    asks("/api/v1/activity?buckets=12&project=%2Fp", &["activity 12", "\"/p\""]);
}

#[test]
fn days_are_the_servers_own_unless_the_asker_says() {
    let mut eastern = config();
    eastern.time_zone = Some("Asia/Kolkata".to_owned());
    let world = World::with(eastern).unwrap();
    world.get("/api/v1/usage");
    assert!(world.memory.questions_asked().last().unwrap().contains("Day 19800"));
    let mut wrong = config();
    wrong.time_zone = Some("Mars/Base".to_owned());
    assert!(World::with(wrong).is_err());
}

#[test]
fn what_is_wrong_is_a_problem_of_its_own_kind() {
    let world = World::new();
    let table = [
        ("GET", "/api/v1/tasks?limit=0&since=soon", 400),
        ("GET", "/api/v1/tasks?cursor=torn", 400),
        ("GET", "/api/v1/search?words=x", 400),
        ("GET", "/api/v1/tasks/unknown", 404),
        ("GET", "/api/v1/events/%00", 404),
        ("GET", "/api/v1/nothing", 404),
        ("GET", "/api", 404),
        ("GET", "/ingest/v1/events", 401),
    ];
    for (method, path, status) in table {
        let answer = world.ask(method, path).send();
        assert_eq!(answer.status, status, "{path}");
        answer.wrong();
    }
    let method = world.ask("DELETE", "/api/v1/tasks").bearer(TOKEN).send();
    assert_eq!(method.status, 405);
    method.wrong();
    assert!(method.header("allow").contains("GET"));
}

#[test]
fn an_unchanged_store_answers_that_nothing_changed() {
    let world = World::new();
    world.memory.row(&task("s"), "a", Kind::UserMessage, 5);
    let first = world.get("/api/v1/tools");
    let tag = first.header("etag").to_owned();
    assert_eq!(first.header("cache-control"), "private, no-cache");
    let again = |path: &str| world.ask("GET", path).header("If-None-Match", &tag).send();
    let asked = world.memory.questions_asked().len();
    let same = again("/api/v1/tools");
    assert_eq!((same.status, same.body.len(), same.header("etag")), (304, 0, tag.as_str()));
    assert_eq!(world.memory.questions_asked().len(), asked, "the store was not asked");
    assert_eq!(again("/api/v1/tools?agent=codex").status, 200, "another question");
    assert_eq!(again("/api/v1/skills").status, 200, "another path");
    world.memory.row(&task("s"), "b", Kind::UserMessage, 6);
    assert_eq!(again("/api/v1/tools").status, 200, "something was added");
}

#[test]
fn answers_that_depend_on_the_time_do_not_stay_the_same() {
    let world = World::new();
    for path in ["/api/v1/tasks", "/api/v1/tools?since=-24h", "/api/v1/attention"] {
        let tag = world.get(path).header("etag").to_owned();
        let again = || world.ask("GET", path).header("If-None-Match", &tag).send().status;
        assert_eq!(again(), 304, "{path}");
        world.clock.fetch_add(61_000, Ordering::SeqCst);
        assert_eq!(again(), 200, "{path}");
    }
    assert_eq!(world.get("/api/v1/search?q=x").header("etag"), "", "search follows at its own pace");
}

#[test]
fn long_answers_are_compressed_for_who_asks() {
    let world = World::new();
    for number in 0..50 {
        world.memory.add_task(&task(&number.to_string()), None, "/p");
    }
    let plain = world.get("/api/v1/tasks");
    assert_eq!(plain.header("content-encoding"), "");
    let packed = world.ask("GET", "/api/v1/tasks").header("Accept-Encoding", "gzip").send();
    assert_eq!((packed.header("content-encoding"), packed.header("vary")), ("gzip", "accept-encoding"));
    assert!(packed.body.len() * 4 < plain.body.len());
    let mut text = Vec::new();
    flate2::read::GzDecoder::new(&packed.body[..]).read_to_end(&mut text).unwrap();
    assert_eq!(text, plain.body);
}

#[test]
fn health_says_what_is_wrong_and_liveness_only_that_it_lives() {
    let world = World::new();
    let health = world.get("/api/v1/health").json();
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["spool"]["lost"]["full"], 3);
    assert_eq!(health["outcomes"]["received"], 3);
    assert!(health["problems"][0].as_str().unwrap().contains("lost 3 events"));
    assert_eq!(world.get("/health").json()["status"], "ok");
}

#[test]
fn a_store_that_breaks_breaks_only_its_own_answer() {
    let world = World::new();
    world.memory.breaks.store(true, Ordering::SeqCst);
    let broken = world.get("/api/v1/tools");
    assert_eq!(broken.status, 500);
    broken.wrong();
    world.memory.breaks.store(false, Ordering::SeqCst);
    assert_eq!(world.get("/api/v1/tools").status, 200);
}

#[test]
fn health_of_a_store_that_cannot_answer_is_unknown_and_not_nothing() {
    const OF_THE_STORE: [&str; 6] = ["store", "seq", "outcomes", "reasons", "sources", "unrecognised"];
    let world = World::new();
    let health = world.get("/api/v1/health").json();
    for part in OF_THE_STORE {
        assert!(health.get(part).is_some(), "{part}: {health}");
    }
    world.memory.is_damaged.store(true, Ordering::SeqCst);
    let answer = world.get("/api/v1/health");
    let health = answer.json();
    assert_eq!((answer.status, &health["status"]), (200, &json!("degraded")));
    for part in OF_THE_STORE {
        assert_eq!(health.get(part), None, "{part}: {health}");
    }
    assert_eq!(health["spool"]["lost"]["full"], 3, "the spool is another matter");
}

#[test]
fn a_dead_letter_is_listed_and_goes_back_once() {
    let world = World::new();
    let letters = || world.get("/api/v1/dead-letters").json()["items"].as_array().cloned().unwrap();
    let listed = letters();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["arrivedAt"], "1970-01-01T00:00:05.000Z");
    assert!(listed[0]["reason"].as_str().unwrap().contains("it ends early"));
    let path = format!("/api/v1/dead-letters/{}/requeue", listed[0]["name"].as_str().unwrap());
    assert_eq!(world.post(&path, &serde_json::json!({})).status, 204);
    assert!(letters().is_empty());
    let again = world.post(&path, &serde_json::json!({}));
    assert_eq!(again.status, 404);
    again.wrong();
    for name in ["..%2f..%2ftoken", "%00", "."] {
        let answer = world.post(&format!("/api/v1/dead-letters/{name}/requeue"), &serde_json::json!({}));
        assert_eq!(answer.status, 404, "{name}");
    }
}

#[test]
fn rules_are_listed_with_their_files_and_with_what_they_decided() {
    let world = World::new();
    let stat = |rule: &str, project: Option<&str>, count: u64| RuleStat {
        rule: rule.to_owned(),
        project: project.map(str::to_owned),
        count,
        last_at: Some(Millis(NOW)),
        ..RuleStat::default()
    };
    *world.memory.rules.lock().unwrap() =
        vec![stat("no-write", Some("/srv/api"), 5), stat("gone", None, 3), stat("no-write", None, 2)];
    let answer = world.get("/api/v1/policies?since=-24h").json();
    let day_ago = format!("Millis({})", NOW - 86_400_000);
    assert!(world.memory.questions_asked().last().unwrap().contains(&day_ago));
    let counts: Vec<(&Value, &Value)> = answer["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (&item["project"], &item["counts"]["count"]))
        .collect();
    assert_eq!(counts, [(&Value::Null, &json!(2)), (&json!("/srv/api"), &json!(5))], "each its own");
    assert_eq!(answer["items"][0]["name"], "no-write");
    assert_eq!(answer["items"][0]["matches"], json!(["tool is `Write`"]));
    assert_eq!(answer["items"][0]["counts"]["lastAt"], Millis(NOW).to_string());
    assert_eq!(answer["past"][0]["rule"], "gone");
    assert_eq!(answer["files"][0]["path"], "/home/dev/policy.toml");
    assert_eq!((&answer["deadlineMs"], &answer["problems"]), (&json!(50), &json!(["something"])));
    for wrong in ["decision=maybe", "mode=off", "task=x", "colour=red"] {
        assert_eq!(world.get(&format!("/api/v1/policies/decisions?{wrong}")).status, 400, "{wrong}");
    }
}

#[test]
fn agents_are_listed_as_the_table_describes_them() {
    let world = World::new();
    let items = world.get("/api/v1/supported-agents").json()["items"].as_array().unwrap().clone();
    assert_eq!(items.len(), Agent::ALL.len());
    for (item, agent) in items.iter().zip(Agent::ALL) {
        let spec = agent.spec();
        let mut expected = json!({
            "id": spec.id, "name": spec.name, "shortName": spec.short_name, "mark": spec.mark,
            "darkColour": spec.dark_colour, "lightColour": spec.light_colour, "word": spec.word,
        });
        if !spec.model_prefix.is_empty() {
            expected["modelPrefix"] = json!(spec.model_prefix);
        }
        assert_eq!(*item, expected);
    }
}
