//! Tests `service` with a `systemctl` that writes down how it is called: there is no systemd in a test.

use crate::serve::Server;
use crate::world::World;

use nix::sys::signal::Signal;

const UNIT: &str = "home/.config/systemd/user/agent-tracer.service";

/// A manager that answers, enables by a link as systemd does, and starts nothing.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$*" >> '[W]/calls'
folder=$HOME/.config/systemd/user
wants=$folder/default.target.wants
case $2 in
  enable) /bin/mkdir -p "$wants" && /bin/ln -sf "$folder/agent-tracer.service" "$wants/agent-tracer.service" ;;
  restart) : > '[W]/running' ;;
  disable)
    /bin/rm -f '[W]/running' "$wants/agent-tracer.service"
    /bin/rmdir "$wants"
    ;;
  show)
    if [ -e "$wants/agent-tracer.service" ]; then echo UnitFileState=enabled; else echo UnitFileState=disabled; fi
    if [ -e '[W]/running' ]; then echo ActiveState=active; echo MainPID=4711; else echo ActiveState=inactive; echo MainPID=0; fi
    ;;
esac
exit 0
"#;

fn world() -> World {
    let mut world = World::new();
    fake(&mut world, "systemctl", SYSTEMCTL);
    world.set("PATH", "[W]/tools");
    world
}

fn fake(world: &mut World, name: &str, script: &str) {
    world.write(&format!("tools/{name}"), script);
    world.set_mode(&format!("tools/{name}"), 0o755);
}

#[test]
fn it_is_installed_started_and_removed_without_a_trace() {
    let mut world = world();
    fake(&mut world, "loginctl", "#!/bin/sh\necho no\n");
    world.set("CODEX_HOME", "[W]/home/my codex");
    let before = world.names("home");
    let answer = world.run(&["service", "install", "--home", "[W]/tracer"]).ended_with(0);
    assert!(
        answer.stderr.contains("installed and started: `[W]/home/.config/systemd/user/agent-tracer.service`")
    );
    assert!(answer.stderr.contains("loginctl enable-linger"), "{}", answer.stderr);
    let unit = world.read(UNIT);
    let root = world.path("").display().to_string();
    let start =
        format!("ExecStart={root}bin/agent-tracer serve --listen 127.0.0.1:4747 --home {root}tracer\n");
    assert!(unit.contains(&start), "{unit}");
    assert!(unit.contains(&format!("Environment=\"CODEX_HOME={root}home/my codex\"\n")), "{unit}");
    let calls = world.read("calls");
    let last =
        ["--user daemon-reload", "--user enable agent-tracer", "--user restart agent-tracer"].join("\n");
    assert!(calls.trim_end().ends_with(&last), "{calls}");

    let again = world.run(&["service", "install", "--home", "[W]/tracer"]).ended_with(0);
    assert!(again.stderr.starts_with("already installed and running"), "{}", again.stderr);
    assert_eq!(world.read(UNIT), unit);

    let status = world.run(&["service", "status", "--json"]).ended_with(0);
    let status: serde_json::Value = serde_json::from_str(&status.stdout).expect("JSON");
    for (key, expected) in
        [("installed", true), ("ours", true), ("isThisProgram", true), ("enabled", true), ("running", true)]
    {
        assert_eq!(status[key], expected, "{key}: {status:#}");
    }
    assert_eq!(status["pid"], 4711);

    let dry = world.run(&["service", "remove", "--dry-run"]).ended_with(0);
    assert!(dry.stdout.contains("\n-[Service]\n"), "{}", dry.stdout);
    assert_eq!(world.read(UNIT), unit);
    world.run(&["service", "remove"]).ended_with(0);
    assert_eq!(world.names("home"), before, "the folders that were made are gone, too");
    assert!(!world.exists("running"));
    let again = world.run(&["service", "remove"]).ended_with(0);
    assert_eq!(again.stderr, "not installed\n");
    let status = world.run(&["service", "status"]).ended_with(0);
    assert_eq!(status.stdout, "installed  no: run `[W]/bin/agent-tracer service install`\n");
}

#[test]
fn a_dry_run_shows_the_file_and_the_commands_and_does_nothing() {
    let world = world();
    let answer = world.run(&["service", "install", "--dry-run", "--listen", "127.0.0.1:8080"]).ended_with(0);
    assert!(
        answer.stdout.contains("+ExecStart=[W]/bin/agent-tracer serve --listen 127.0.0.1:8080\n"),
        "{}",
        answer.stdout
    );
    assert!(answer.stderr.contains("would run `systemctl --user enable agent-tracer`"), "{}", answer.stderr);
    assert!(!world.exists("calls") && !world.exists("home/.config"));
}

#[test]
fn a_manager_that_does_not_answer_is_explained_and_nothing_is_written() {
    let mut world = world();
    fake(
        &mut world,
        "systemctl",
        "#!/bin/sh\necho 'Failed to connect to bus: No medium found' >&2\nexit 1\n",
    );
    let answer = world.run(&["service", "install"]).ended_with(1);
    assert!(answer.stderr.contains("Failed to connect to bus: No medium found"), "{}", answer.stderr);
    assert!(
        answer.stderr.contains("agent-tracer serve` by whatever starts programs here"),
        "{}",
        answer.stderr
    );
    assert!(!world.exists("home/.config"));
    world.set("PATH", "[W]/empty");
    let answer = world.run(&["service", "install"]).ended_with(1);
    assert!(answer.stderr.contains("`systemctl` is not on the `PATH`"), "{}", answer.stderr);
    assert!(!world.exists("home/.config"));
}

#[test]
fn a_failed_start_says_which_command_is_left() {
    let mut world = world();
    let broken =
        SYSTEMCTL.replace("  restart) : > '[W]/running' ;;", "  restart) echo 'Job failed' >&2; exit 1 ;;");
    fake(&mut world, "systemctl", &broken);
    let answer = world.run(&["service", "install"]).ended_with(1);
    assert!(
        answer.stderr.contains("was not started: `systemctl --user restart agent-tracer` failed: Job failed"),
        "{}",
        answer.stderr
    );
    assert!(
        answer.stderr.contains("hint: run `systemctl --user restart agent-tracer` by hand"),
        "{}",
        answer.stderr
    );
    world.run(&["service", "remove"]).ended_with(0);
    assert!(!world.exists("home/.config"));
}

#[test]
fn a_file_of_another_is_neither_replaced_nor_removed() {
    let world = world();
    world.write(UNIT, "[Service]\nExecStart=/usr/bin/agent-tracer serve\n");
    for command in ["install", "remove"] {
        let answer = world.run(&["service", command]).ended_with(1);
        assert!(answer.stderr.contains("was not written by"), "{}", answer.stderr);
    }
    assert_eq!(world.read(UNIT), "[Service]\nExecStart=/usr/bin/agent-tracer serve\n");
}

#[test]
fn a_server_in_a_terminal_is_not_disturbed() {
    let world = world();
    let server = Server::start(&world);
    let answer = world.run(&["service", "install"]).ended_with(1);
    assert!(
        answer.stderr.contains(&format!("already runs at http://{}/", server.address())),
        "{}",
        answer.stderr
    );
    assert!(!world.exists("home/.config/systemd"));
    server.end(Signal::SIGTERM);
}

#[test]
fn doctor_finds_a_service_that_starts_a_program_that_is_gone() {
    let world = world();
    let service = || {
        let answer = world.run(&["doctor", "--json"]);
        let report: serde_json::Value = serde_json::from_str(&answer.stdout).expect("JSON");
        let checks = report["checks"].as_array().expect("checks").clone();
        checks.into_iter().filter(|check| check["name"] == "service").collect::<Vec<_>>()
    };
    assert!(service().is_empty());
    world.run(&["service", "install"]).ended_with(0);
    assert_eq!(service()[0]["state"], "ok");
    let unit = world.read(UNIT);
    world.write(UNIT, &unit.replace("/bin/agent-tracer serve", "/gone/agent-tracer serve"));
    let found = service();
    assert_eq!(found[0]["state"], "fail", "{found:?}");
    assert_eq!(found[0]["fix"], "agent-tracer service install");
}
