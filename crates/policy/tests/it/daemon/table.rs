//! The writers of `policy.tbl`, and its contents.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use agent_tracer_policy::daemon::table::load;
use agent_tracer_policy::daemon::{RulesError, TrustList, table};
use agent_tracer_policy_abi::Table;

use crate::daemon::world::{World, rule, write};

const GUARD: &str = "/opt/agent-tracer";

fn refresh(world: &World, roots: &[&Path]) -> Vec<RulesError> {
    let roots: Vec<_> = roots.iter().map(|root| (*root).to_owned()).collect();
    table::refresh(&world.home, Path::new(GUARD), &roots).expect("written")
}

#[test]
fn without_a_file_of_rules_there_is_no_table_and_one_without_rules_has_an_empty_one() {
    let world = World::new();
    refresh(&world, &[&world.path("nowhere")]);
    assert_eq!(world.rows(), None);
    world.user(&rule("mine", "deny", "Bash"));
    refresh(&world, &[]);
    assert_eq!(world.rows().unwrap(), [" PreToolUse Bash user/mine"]);
    let facts = fs::metadata(world.home.policy_table()).unwrap();
    assert_eq!(facts.permissions().mode() & 0o777, 0o600);
    world.user("version = 1\n");
    refresh(&world, &[]);
    assert_eq!(
        world.rows().unwrap(),
        Vec::<String>::new(),
        "a hook can tell it from one that was taken away"
    );
    fs::remove_file(world.home.policy_file()).unwrap();
    refresh(&world, &[]);
    assert_eq!(world.rows(), None);
}

#[test]
fn rules_that_other_users_can_write_are_not_read_and_the_table_stays() {
    let world = World::new();
    world.user(&rule("mine", "deny", "Bash"));
    refresh(&world, &[]);
    world.user(&rule("theirs", "allow", "Bash"));
    let path = world.home.policy_file();
    for (what, mode) in [(path.as_path(), 0o666), (world.home.data(), 0o777)] {
        let before = fs::metadata(what).unwrap().permissions();
        fs::set_permissions(what, fs::Permissions::from_mode(mode)).unwrap();
        let refused = table::refresh(&world.home, Path::new(GUARD), &[]);
        let Err(error @ RulesError::Refused { .. }) = refused else { panic!("{refused:?}") };
        assert!(error.hint().contains("chmod go-w"), "{}", error.hint());
        fs::set_permissions(what, before).unwrap();
        assert_eq!(world.rows().unwrap(), [" PreToolUse Bash user/mine"]);
    }
    refresh(&world, &[]);
    assert_eq!(world.rows().unwrap(), [" PreToolUse Bash user/theirs"]);
}

#[test]
fn a_project_that_was_ever_known_stays_known_until_its_rules_go() {
    let world = World::new();
    let app = world.project("app", &rule("theirs", "deny", "Write"));
    refresh(&world, &[&app]);
    world.user(&rule("mine", "deny", "Bash"));
    refresh(&world, &[]);
    assert_eq!(world.rows().unwrap(), [" PreToolUse Bash user/mine", "app PreToolUse Write project/theirs"]);
    fs::remove_dir_all(app.join(".agent-tracer")).unwrap();
    refresh(&world, &[]);
    assert_eq!(world.rows().unwrap(), [" PreToolUse Bash user/mine"]);
}

#[test]
fn a_project_may_allow_only_while_the_user_trusts_the_very_file() {
    let world = World::new();
    let app = world.project("app", &rule("theirs", "allow", "Read"));
    refresh(&world, &[&app]);
    assert_eq!(world.rows(), None);
    let file = app.join(".agent-tracer/policy.toml");
    let hash = agent_tracer_policy::daemon::Rules::find(&file).unwrap().unwrap().hash;
    let mut trusted = TrustList::default();
    trusted.add(&file, &hash);
    trusted.save(&world.home).unwrap();
    refresh(&world, &[]);
    assert_eq!(world.rows().unwrap(), ["app PreToolUse Read trusted_project/theirs"]);
    world.project("app", &rule("theirs", "allow", "*"));
    refresh(&world, &[]);
    assert_eq!(world.rows(), None);
}

#[test]
fn broken_rules_take_nothing_away() {
    let world = World::new();
    let app = world.project("app", &rule("theirs", "deny", "Write"));
    world.user(&rule("mine", "deny", "Bash"));
    refresh(&world, &[&app]);
    let before = world.rows();
    world.project("app", "version = ");
    assert!(matches!(refresh(&world, &[]).as_slice(), [RulesError::Broken { .. }]));
    assert_eq!(world.rows(), before);
    world.user("version = 1\n[[rule]]\nname = 7\n");
    let error = table::refresh(&world.home, Path::new(GUARD), &[]).unwrap_err();
    assert!(matches!(&error, RulesError::Broken { .. }) && error.hint().contains("policy check"), "{error}");
    assert_eq!(world.rows(), before);
}

#[test]
fn a_folder_behind_a_link_is_known_by_both_names() {
    let world = World::new();
    let app = world.project("app", &rule("theirs", "deny", "Write"));
    let link = world.path("link");
    std::os::unix::fs::symlink(&app, &link).unwrap();
    refresh(&world, &[&link]);
    let rows = world.rows().unwrap();
    assert_eq!(rows, ["app PreToolUse Write project/theirs", "link PreToolUse Write project/theirs"]);
}

#[test]
fn the_table_names_the_guard_and_the_deadline_of_the_user() {
    let world = World::new();
    let text = rule("mine", "deny", "Bash").replace("version = 1", "version = 1\ndeadline_ms = 70");
    world.user(&text);
    let app = world.project("app", &text.replace("70", "9000"));
    refresh(&world, &[&app]);
    let bytes = load(&world.home).unwrap().unwrap();
    let table = Table::open(&bytes).unwrap();
    assert_eq!((table.deadline_ms(), table.guard()), (70, GUARD.as_bytes()));
}

#[test]
fn a_table_that_is_as_it_should_be_is_not_written_again() {
    let world = World::new();
    world.user(&rule("mine", "deny", "Bash"));
    refresh(&world, &[]);
    let before = fs::metadata(world.home.policy_table()).unwrap().modified().unwrap();
    refresh(&world, &[]);
    assert_eq!(fs::metadata(world.home.policy_table()).unwrap().modified().unwrap(), before);
    write(&world.home.policy_table(), b"damaged");
    refresh(&world, &[]);
    assert_eq!(world.rows().unwrap().len(), 1);
}
