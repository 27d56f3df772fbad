//! Words on screen: help, version, completions, usage errors, colour.

use crate::world::World;

#[test]
fn the_version_is_one_line() {
    let answer = World::without_hook().run(&["--version"]).ended_with(0);
    assert_eq!(answer.stdout, concat!("agent-tracer ", env!("AGENT_TRACER_VERSION"), "\n"));
    assert!(env!("AGENT_TRACER_VERSION").starts_with(env!("CARGO_PKG_VERSION")));
}

#[test]
fn each_command_has_a_manual_page() {
    let world = World::without_hook();
    let folder = tempfile::tempdir().expect("a folder");
    world.run(&["manual", &folder.path().to_string_lossy()]).ended_with(0);
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap_or_default();
    assert!(page("agent-tracer.1").contains(".SH SYNOPSIS"));
    assert!(page("agent-tracer-install.1").contains("Connects an agent"));
    assert!(page("agent-tracer-policy-test.1").contains(".SH NAME"));
    let missing = folder.path().join("missing");
    let answer = world.run(&["manual", &missing.to_string_lossy()]).ended_with(1);
    assert!(answer.stderr.contains("cannot write manual pages"), "{}", answer.stderr);
}

#[test]
fn help_has_examples_and_no_colour() {
    let world = World::without_hook();
    for command in
        ["serve", "import", "install", "uninstall", "doctor", "completions", "statusline", "policy", "guard"]
    {
        let answer = world.run(&[command, "--help"]).ended_with(0);
        assert!(answer.stdout.contains("Examples:\n"), "{}", answer.stdout);
        assert!(!answer.stdout.contains('\x1b'));
    }
}

#[test]
fn words_that_make_no_sense_end_with_two() {
    let world = World::without_hook();
    for arguments in
        [&["install"][..], &["install", "emacs"], &["frobnicate"], &["doctor", "--json", "--brief"], &[]]
    {
        let answer = world.run(arguments).ended_with(2);
        assert_eq!(answer.stdout, "", "{arguments:?}");
        assert!(!answer.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn without_a_terminal_and_without_words_the_help_is_shown() {
    let world = World::without_hook();
    // The short help: a person who has typed nothing yet needs the commands, not every option of them.
    let (bare, help) = (world.run(&[]).ended_with(2), world.run(&["-h"]).ended_with(0));
    assert_eq!((bare.stdout, bare.stderr), (String::new(), help.stdout));
}

#[test]
fn each_shell_gets_a_script() {
    let world = World::without_hook();
    for shell in ["bash", "zsh", "fish"] {
        let answer = world.run(&["completions", shell]).ended_with(0);
        assert!(answer.stdout.contains("agent-tracer") && answer.stdout.contains("uninstall"), "{shell}");
    }
}

#[test]
fn without_a_home_the_way_out_is_said() {
    let mut world = World::new();
    world.set("HOME", "");
    let answer = world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(1);
    assert!(answer.stderr.contains("hint: set `HOME`"), "{}", answer.stderr);
}

#[test]
fn the_status_line_is_the_hooks() {
    let world = World::with_real_hook();
    let answer = world.run(&["statusline", "--home", "[W]/tracer"]).ended_with(0);
    assert_eq!(answer.stdout, "[monitor]\n");
    assert!(world.exists("tracer/spool"), "the hook got the home");
    let missing = World::without_hook().run(&["statusline"]).ended_with(1);
    assert!(missing.stderr.contains("cannot find the hook binary"), "{}", missing.stderr);
}
