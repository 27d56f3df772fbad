//! Nothing that the policy excludes leaves: every byte that a server got is searched for what must not be in it.

use agent_tracer_event::{Millis, TaskId};
use agent_tracer_ledger::{RowFilter, TaskFilter};

use crate::ship::world::World;

const SCENARIOS: [&str; 2] = ["2.1.325/agent_nested", "2.1.325/agent_fg"];

/// Returns every byte that the server got.
fn bytes(world: &World) -> String {
    let bodies = world.server.bodies.lock().unwrap();
    bodies.iter().map(|body| String::from_utf8_lossy(body).into_owned()).collect()
}

/// Returns the texts of people and models in the ledger: prompts, answers and commands, too long to be a name.
fn sent_texts(world: &World) -> Vec<String> {
    let store = world.ledger.store();
    let mut said = Vec::new();
    for task in store.tasks(Millis(0), &TaskFilter::default()).unwrap().items {
        said.push(task.title.clone());
        let id = TaskId::parse(&task.id).unwrap();
        for row in store.timeline(&id, &RowFilter::default()).unwrap().items {
            said.extend(row.body);
            let command = row.metadata.get("command").and_then(|command| command.as_str().map(str::to_owned));
            said.extend(command);
        }
    }
    // As JSON spells them, without the quotes around.
    let spelled = |text: &String| serde_json::to_string(text).unwrap().trim_matches('"').to_owned();
    let mut said: Vec<String> = said.iter().map(spelled).filter(|text| text.len() >= 12).collect();
    said.sort();
    said.dedup();
    said
}

#[test]
fn at_the_lowest_level_no_prompt_answer_or_command_leaves() {
    let world = World::of(&SCENARIOS);
    let said = sent_texts(&world);
    assert!(said.len() >= 4, "{said:?}");
    world.ship("level = \"actions\"");
    let sent = bytes(&world);
    assert!(said.iter().any(|text| sent.contains(text)), "the canaries live in what the ledger holds");
    world.server.bodies.lock().unwrap().clear();
    world.ship("level = \"metadata\"");
    let sent = bytes(&world);
    assert!(!sent.is_empty());
    for text in said {
        assert!(!sent.contains(&text), "`{text}` left");
    }
}

#[test]
fn at_the_lowest_level_a_decision_still_says_which_rule_and_what_it_came_to() {
    let world = World::of(&[]);
    let decided = agent_tracer_testkit::scenario(SCENARIOS[0]).decided();
    assert!(!decided.is_empty());
    world.bring(decided);
    world.ship("level = \"metadata\"");
    let sent = bytes(&world);
    for word in ["ruleId", "rule-0", "ruleOutcome", "ruleStatus", "ruleBasis", "answeredBy", "severity"] {
        assert!(sent.contains(word), "`{word}` did not leave");
    }
    assert!(!sent.contains("ruleProject"), "where the rule's project is left");
}

#[test]
fn of_a_project_that_is_not_named_nothing_leaves_not_even_an_id() {
    let world = World::of(&SCENARIOS);
    let store = world.ledger.store();
    let tasks = store.tasks(Millis(0), &TaskFilter::default()).unwrap().items;
    let projects: std::collections::BTreeSet<String> =
        tasks.iter().map(|task| task.project.clone()).collect();
    let only = projects.first().unwrap().clone();
    world.ship(&format!("projects = [{}]", serde_json::to_string(&only).unwrap()));
    let sent = bytes(&world);
    for task in &tasks {
        let is_inside = task.project == only || task.project.starts_with(&format!("{only}/"));
        assert_eq!(sent.contains(&task.id), is_inside, "{} {}", task.project, task.id);
        assert!(is_inside || !sent.contains(&task.runtime_session_id), "{}", task.runtime_session_id);
    }
    assert!(sent.contains(&only));
}

#[test]
fn dropped_fields_leave_at_no_depth() {
    let world = World::of(&SCENARIOS);
    world.ship(
        "level = \"full\"\ndrop = [\"cwd\", \"title\", \"command\", \"commandAnalysis\", \"filePaths\"]",
    );
    for body in world.server.bodies.lock().unwrap().iter() {
        let shipment: serde_json::Value = serde_json::from_slice(body).unwrap();
        let mut next = vec![&shipment];
        while let Some(value) = next.pop() {
            match value {
                serde_json::Value::Object(fields) => {
                    for (name, value) in fields {
                        assert!(!["command", "commandAnalysis"].contains(&name.as_str()), "{name}");
                        assert!(
                            !["cwd", "title", "t"].contains(&name.as_str()) || value == "",
                            "{name}: {value}"
                        );
                        next.push(value);
                    }
                }
                serde_json::Value::Array(items) => next.extend(items),
                _ => {}
            }
        }
    }
}
