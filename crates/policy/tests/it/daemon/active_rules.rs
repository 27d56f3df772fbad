//! Rules while a server runs.

use std::fs;
use std::path::PathBuf;

use agent_tracer_policy::Origin;
use agent_tracer_policy::daemon::{ActiveRules, TrustList};

use crate::daemon::world::{World, rule, write};

fn active_rules(world: &World) -> ActiveRules {
    ActiveRules::new(world.home.clone(), PathBuf::from("/opt/agent-tracer"))
}

fn names(book: &ActiveRules, root: &std::path::Path) -> Vec<String> {
    book.policy(root).rules().map(|(origin, rule)| format!("{}/{}", origin.as_str(), rule.name)).collect()
}

#[test]
fn an_edit_of_any_file_is_in_force_after_the_next_look() {
    let world = World::new();
    let book = active_rules(&world);
    assert!(!book.reload(&[]).changed);
    assert_eq!(world.rows(), None);
    world.user(&rule("mine", "deny", "Bash"));
    let app = world.project("app", &rule("theirs", "deny", "Write"));
    assert!(book.reload(std::slice::from_ref(&app)).changed);
    assert_eq!(names(&book, &app), ["user/mine", "project/theirs"]);
    assert_eq!(world.rows().unwrap().len(), 2);
    assert!(!book.reload(&[]).changed, "nothing changed");
    world.user(&rule("other", "deny", "Bash"));
    assert!(book.reload(&[]).changed);
    assert_eq!(names(&book, &app), ["user/other", "project/theirs"]);
    fs::remove_file(world.home.policy_file()).unwrap();
    fs::remove_dir_all(&app).unwrap();
    assert!(book.reload(&[]).changed);
    assert_eq!(names(&book, &app), Vec::<String>::new());
    assert_eq!(world.rows(), None);
}

#[test]
fn rules_that_were_sound_stay_until_sound_ones_replace_them() {
    let world = World::new();
    let book = active_rules(&world);
    world.user(&rule("mine", "deny", "Bash"));
    book.reload(&[]);
    world.user("version = 1\n[[rule]]\nname = \"mine\"\n");
    let looked = book.reload(&[]);
    assert!(
        looked.problems[0].contains("not in force") && looked.problems[0].contains("hint: "),
        "{looked:?}"
    );
    assert_eq!(book.reload(&[]).problems, looked.problems, "reported as long as it lasts");
    assert_eq!(names(&book, &world.path("x")), ["user/mine"]);
    assert_eq!(world.rows().unwrap(), [" PreToolUse Bash user/mine"]);
    world.user(&rule("new", "deny", "Bash"));
    assert_eq!(book.reload(&[]).problems, Vec::<String>::new());
    assert_eq!(world.rows().unwrap(), [" PreToolUse Bash user/new"]);
}

#[test]
fn broken_rules_at_the_start_leave_the_table_of_the_last_server() {
    let world = World::new();
    world.user(&rule("mine", "deny", "Bash"));
    active_rules(&world).reload(&[]);
    world.user("version = ");
    assert_eq!(active_rules(&world).reload(&[]).problems.len(), 1);
    assert_eq!(world.rows().unwrap(), [" PreToolUse Bash user/mine"]);
}

#[test]
fn trust_that_is_given_while_the_server_runs_counts() {
    let world = World::new();
    let book = active_rules(&world);
    let app = world.project("app", &rule("theirs", "allow", "Read"));
    book.reload(std::slice::from_ref(&app));
    assert_eq!(book.rules()[0].origin, Origin::Project);
    let file = app.join(".agent-tracer/policy.toml");
    let mut trusted = TrustList::default();
    trusted.add(&file, &agent_tracer_policy::daemon::Rules::find(&file).unwrap().unwrap().hash);
    trusted.save(&world.home).unwrap();
    assert!(book.reload(&[]).changed);
    assert_eq!(names(&book, &app), ["trusted_project/theirs"]);
    write(&world.home.policy_trust(), b"{");
    assert!(book.reload(&[]).problems[0].contains("policy-trust.json"));
    assert_eq!(names(&book, &app), ["project/theirs"], "a list that cannot be read trusts nothing");
}

#[test]
fn a_project_that_asks_before_it_was_seen_is_known_from_then_on() {
    let world = World::new();
    let book = active_rules(&world);
    let app = world.project("app", &rule("theirs", "deny", "Write"));
    book.reload(&[]);
    assert_eq!(world.rows(), None);
    assert_eq!(names(&book, &app), ["project/theirs"]);
    assert_eq!(world.rows().unwrap(), ["app PreToolUse Write project/theirs"]);
}

#[test]
fn a_removed_table_is_written_again() {
    let world = World::new();
    let book = active_rules(&world);
    world.user(&rule("mine", "deny", "Bash"));
    book.reload(&[]);
    fs::remove_file(world.home.policy_table()).unwrap();
    book.reload(&[]);
    assert_eq!(world.rows().unwrap().len(), 1);
}
