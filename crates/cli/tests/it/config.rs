//! Settings: shown, changed, moved from older files, and reported by `doctor`.

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::serve::Server;
use crate::world::World;

const FOLDER: &str = "home/.config/agent-tracer";
const CONF: &str = "home/.config/agent-tracer/config.toml";

/// Returns the texts and fixes of the checks of this name.
fn checks(world: &World, name: &str) -> Vec<(String, String)> {
    let report: Value = serde_json::from_str(&world.run(&["doctor", "--json"]).stdout).expect("JSON");
    let text = |check: &Value, key: &str| {
        check.get(key).and_then(Value::as_str).map(str::to_owned).unwrap_or_default()
    };
    let checks = report.get("checks").and_then(Value::as_array).expect("checks").iter();
    checks
        .filter(|check| text(check, "name") == name)
        .map(|check| (text(check, "text"), text(check, "fix")))
        .collect()
}

/// Returns the columns of the line of a setting.
fn listed(world: &World, key: &str) -> Vec<String> {
    let list = world.run(&["config", "list"]).ended_with(0).stdout;
    let line = list.lines().find(|line| line.split_whitespace().next() == Some(key)).expect("a line");
    line.split_whitespace().skip(1).map(str::to_owned).collect()
}

#[test]
fn a_setting_is_set_shown_and_unset() {
    let world = World::new();
    let path = world.run(&["config", "path"]).ended_with(0).stdout;
    assert_eq!(path, "[W]/home/.config/agent-tracer/config.toml\n");
    assert_eq!(listed(&world, "retention.days"), ["default", "-"]);
    let none = world.run(&["config", "get", "retention.days"]).ended_with(0);
    assert_eq!((none.stdout.as_str(), none.stderr.as_str()), ("", "`retention.days` is not set\n"));
    world.run(&["config", "set", "retention.days", "90"]).ended_with(0);
    assert_eq!((world.read(CONF).as_str(), world.mode(CONF)), ("[retention]\ndays = 90\n", 0o600));
    assert_eq!(world.run(&["config", "get", "retention.days"]).ended_with(0).stdout, "90\n");
    assert_eq!(listed(&world, "retention.days"), ["config.toml", "90"]);
    let json = world.run(&["config", "get", "retention.days", "--json"]).ended_with(0).stdout;
    let json: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!((&json["value"], &json["unit"], &json["default"]), (&90.into(), &"days".into(), &Value::Null));
    for (arguments, what) in [
        (&["set", "retention.dyas", "9"][..], "hint: did you mean `retention.days`?"),
        (&["set", "retention.days", "0"], "`0` is not a whole number from 1 to 36500\nhint: it is a whole"),
        (&["set", "retention.days", "many"], "`many` is not a whole number"),
        (&["set", "ship.level", "metdata"], "hint: did you mean `metadata`?"),
        (&["get", "retention"], "hint: it has `retention.days`"),
        (&["unset", "retention.months"], "unknown setting"),
    ] {
        let refused = world.run(&[&["config"], arguments].concat()).ended_with(2);
        assert!(refused.stderr.contains(what), "{}", refused.stderr);
        assert_eq!(world.read(CONF), "[retention]\ndays = 90\n");
    }
    world.run(&["config", "unset", "retention.days"]).ended_with(0);
    assert_eq!(world.read(CONF), "[retention]\n");
    // A model that is not built in needs two prices at once.
    let (input, output) = ("prices.models.ours.input", "prices.models.ours.output");
    let half = world.run(&["config", "set", input, "4", "retention.days", "9"]).ended_with(1).stderr;
    assert!(half.contains("has no price for `output`") && half.contains("nothing was written"), "{half}");
    let odd = world.run(&["config", "set", input, "4", output]).ended_with(2).stderr;
    assert!(odd.contains("`prices.models.ours.output` has no value\nhint: "), "{odd}");
    assert_eq!(world.read(CONF), "[retention]\n");
    world.run(&["config", "set", input, "4", output, "2.5", "retention.days", "9"]).ended_with(0);
    assert_eq!(world.read(CONF), "[retention]\ndays = 9\n\n[prices.models.ours]\ninput = 4\noutput = 2.5\n");
}

#[test]
fn an_address_is_listed_without_its_secret_and_read_from_standard_input() {
    let world = World::new();
    let address = "https://hooks.example/services/secret-part\n";
    world.run_with("home", &["config", "set", "alerts.webhook", "-"], address).ended_with(0);
    for arguments in [&["config", "list"][..], &["config", "list", "--json"]] {
        let list = world.run(arguments).ended_with(0).stdout;
        assert!(list.contains("hooks.example/…") && !list.contains("secret-part"), "{list}");
    }
    let get = world.run(&["config", "get", "alerts.webhook"]).ended_with(0).stdout;
    assert_eq!(get, "[{\"url\":\"https://hooks.example/services/secret-part\"}]\n");
    let refused = world.run(&["config", "set", "alerts.webhook", "ftp://secret-part"]).ended_with(1).stderr;
    assert!(refused.contains("must begin with `https://`") && !refused.contains("secret-part"), "{refused}");
}

#[test]
fn an_older_file_is_read_reported_and_moved() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    assert_eq!(checks(&world, "config"), []);
    world.write(&format!("{FOLDER}/retention.conf"), "# a quarter\ndays 90\n");
    world.write(&format!("{FOLDER}/backup.conf"), "on\nstore-keep 3\n");
    world.write(CONF, "[context]\nbytes = 300\n");
    world.write(&format!("{FOLDER}/context.conf"), "on\n");
    assert_eq!(listed(&world, "retention.days"), ["retention.conf", "90"]);
    assert_eq!(listed(&world, "context.enabled"), ["default", "false"]);
    let found = checks(&world, "config");
    let expected = [
        ("backup.conf` is still read; the table `[backup]` of `config.toml` replaces it", "config migrate`"),
        ("context.conf` is ignored: the table `[context]` of `config.toml` takes its place", "rm '[W]/home"),
        (
            "retention.conf` is still read; the table `[retention]` of `config.toml` replaces it",
            "config migrate`",
        ),
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((text, fix), (what, way)) in found.iter().zip(expected) {
        assert!(text.contains(what) && fix.contains(way), "{text}: {fix}");
    }
    // A command that changes a table takes its older file over, or the other settings in it would be lost.
    let set = world.run(&["backup", "on", "--days", "7"]).ended_with(0).stderr;
    assert!(set.contains("are in the table `[backup]` of `config.toml` now\nhint: remove it"), "{set}");
    assert_eq!(listed(&world, "backup.store.keep"), ["config.toml", "3"]);
    let moved = world.run(&["config", "migrate"]).ended_with(0).stderr;
    assert!(moved.contains("moved `retention.conf` into the table `[retention]`"), "{moved}");
    assert!(
        moved.contains("backup.conf` is not read") && moved.contains("context.conf` is not read"),
        "{moved}"
    );
    assert!(
        world.exists(&format!("{FOLDER}/backup.conf")) && !world.exists(&format!("{FOLDER}/retention.conf"))
    );
    assert!(world.read(CONF).ends_with("[retention]\n# a quarter\ndays = 90\n"), "{}", world.read(CONF));
    assert_eq!(listed(&world, "retention.days"), ["config.toml", "90"]);
    let again = world.run(&["config", "migrate"]).ended_with(0).stderr;
    assert!(again.starts_with("no older settings file is in force\n"), "{again}");
}

#[test]
fn a_mistake_is_reported_by_doctor_and_hides_no_other_table() {
    let world = World::with_real_hook();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    world.write(CONF, "[retention]\ndyas = 3\n[context]\nbytes = 300\n");
    let found = checks(&world, "config");
    assert!(
        found.len() == 1 && found[0].0.contains("line 2, column 1: unknown key `retention.dyas`"),
        "{found:?}"
    );
    let list = world.run(&["config", "list"]).ended_with(0);
    assert!(list.stderr.contains("did you mean `retention.days`?"), "{}", list.stderr);
    assert_eq!(listed(&world, "context.bytes"), ["config.toml", "300"]);
    // A misspelt key can be removed by its own name.
    world.run(&["config", "unset", "retention.dyas"]).ended_with(0);
    assert_eq!(checks(&world, "config"), []);
    world.write(CONF, "[retension]\ndays = 3\n");
    let found = checks(&world, "config");
    assert!(found.len() == 1 && found[0].0.contains("unknown table `retension`"), "{found:?}");
    let refused = world.run(&["config", "set", "retention.days", "9"]).ended_with(1).stderr;
    assert!(
        refused.contains("did you mean `retention`?") && refused.contains("nothing was written"),
        "{refused}"
    );
    assert_eq!(world.read(CONF), "[retension]\ndays = 3\n");
    world.set_mode(CONF, 0o666);
    let refused = world.run(&["config", "set", "retention.days", "9"]).ended_with(1).stderr;
    assert!(refused.contains("other users may write") && refused.contains("chmod go-w"), "{refused}");
    let report = checks(&world, "settings");
    assert!(report[0].0.contains("config.toml` is ignored: other users may write"), "{report:?}");
}

#[test]
fn commands_at_once_all_take_effect() {
    let world = World::new();
    let keys = ["alerts.on.looping", "context.bytes", "retention.days", "backup.store.keep"];
    std::thread::scope(|scope| {
        for key in keys {
            let world = &world;
            scope.spawn(move || world.run(&["config", "set", key, "300"]).ended_with(0));
        }
    });
    for key in keys {
        assert_eq!(listed(&world, key), ["config.toml", "300"]);
    }
}

#[test]
fn a_server_names_the_older_files_that_it_reads() {
    let world = World::new();
    world.write(&format!("{FOLDER}/retention.conf"), "days 90\n");
    world.write(&format!("{FOLDER}/context.conf"), "on\n");
    world.write(CONF, "[context]\n");
    let server = Server::start(&world);
    let log = server.end(Signal::SIGTERM);
    assert!(log.contains("reading retention.conf in place of the table [retention]"), "{log}");
    assert!(!log.contains("context.conf"), "{log}");
}
