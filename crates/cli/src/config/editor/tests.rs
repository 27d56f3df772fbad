//! Tests of changes to `config.toml`.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

use proptest::prelude::*;

use super::*;

fn home() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().expect("a folder");
    let home = Home::in_folder(folder.path());
    (folder, home)
}

fn write(home: &Home, name: &str, text: &str) {
    files::write_private(&home.config().join(name), text.as_bytes()).expect("written");
}

fn read(home: &Home) -> String {
    fs::read_to_string(path(home)).expect("a file")
}

fn keys(key: &str) -> Vec<String> {
    registry::parts(key).expect("a key")
}

fn put(home: &Home, key: &str, value: &str) -> Result<Applied, Failure> {
    let key = keys(key);
    let edit = set(&key, value).expect("a value");
    apply(home, &[Table::named(&key[0]).expect("a table")], &[edit])
}

fn take(home: &Home, key: &str) -> Result<Applied, Failure> {
    let key = keys(key);
    apply(home, &[Table::named(&key[0]).expect("a table")], &[Edit::Unset(key)])
}

#[test]
fn a_change_keeps_comments_order_and_line_ends() {
    for (before, key, value, after) in [
        ("", "retention.days", "90", "[retention]\ndays = 90\n"),
        (
            "# mine\n\n[retention] # kept\n# a quarter\ndays = 90   # or so\n\n[ship]\nlevel = 'full'\n# end\n",
            "retention.days",
            "30",
            "# mine\n\n[retention] # kept\n# a quarter\ndays = 30   # or so\n\n[ship]\nlevel = 'full'\n# end\n",
        ),
        ("# nothing yet\n", "retention.days", "1", "# nothing yet\n\n[retention]\ndays = 1\n"),
        ("# nothing yet", "retention.days", "1", "# nothing yet\n\n[retention]\ndays = 1\n"),
        (
            "[ship]\nlevel = \"full\"\n# to = 1\n",
            "alerts.on.looping",
            "5",
            "[ship]\nlevel = \"full\"\n# to = 1\n\n[alerts.on]\nlooping = 5\n",
        ),
        (
            "[alerts]\ndesktop = true\n\n[ship]\nlevel = \"full\"\n",
            "alerts.on.looping",
            "5",
            "[alerts]\ndesktop = true\n\n[alerts.on]\nlooping = 5\n\n[ship]\nlevel = \"full\"\n",
        ),
        ("retention.days = 3\n", "retention.days", "4", "retention.days = 4\n"),
        (
            "alerts = { desktop = true }\n",
            "alerts.on.looping",
            "5",
            // The blank before the brace belonged to the value, and stays with it.
            "alerts = { desktop = true , on = { looping = 5 } }\n",
        ),
        ("\u{feff}[retention]\ndays = 3\n", "retention.days", "4", "\u{feff}[retention]\ndays = 4\n"),
        (
            "# a\r\n[retention]\r\ndays = 3 # b\r\n",
            "retention.days",
            "4",
            "# a\r\n[retention]\r\ndays = 4 # b\r\n",
        ),
        (
            "[prices.models.x]\ninput = 1\noutput = 1\n",
            "prices.models.\"gpt-5.5\".input",
            "2.5",
            "[prices.models.x]\ninput = 1\noutput = 1\n\n[prices.models.\"gpt-5.5\"]\ninput = 2.5\n",
        ),
        (
            "[[alerts.webhook]]\nurl = \"https://a/1\"\n[[alerts.webhook]]\nurl = \"https://a/2\"\n",
            "alerts.webhook",
            "https://b/3",
            "[alerts]\nwebhook = [{ url = \"https://b/3\" }]\n",
        ),
    ] {
        let (_folder, home) = home();
        if !before.is_empty() {
            write(&home, "config.toml", before);
        }
        let applied = put(&home, key, value).expect(before);
        assert_eq!(read(&home), after, "{before}");
        assert!(applied.is_changed && applied.adopted.is_empty());
        assert!(!put(&home, key, value).expect("again").is_changed, "{before}");
        assert_eq!(fs::metadata(path(&home)).expect("facts").mode() & 0o777, 0o600);
    }
}

#[test]
fn a_key_is_removed_and_its_table_stays() {
    let (_folder, home) = home();
    assert!(!take(&home, "retention.days").expect("nothing to do").is_changed);
    assert!(!path(&home).exists());
    write(
        &home,
        "config.toml",
        "# top\n[retention]\ndays = 3\n[ship]\nto = \"https://a\"\nlevel = \"full\"\n",
    );
    assert!(take(&home, "retention.days").expect("removed").is_changed);
    assert!(take(&home, "ship.to").expect("removed").is_changed);
    assert!(!take(&home, "alerts.on.looping").expect("nothing to do").is_changed);
    assert_eq!(read(&home), "# top\n[retention]\n[ship]\nlevel = \"full\"\n");
}

#[test]
fn nothing_is_written_where_the_file_or_the_result_is_not_understood() {
    for (text, what) in [
        ("[retention]\ndays = 3\ndyas = 4\n", "unknown key `retention.dyas`"),
        ("[retention\n", "line 1, column "),
        ("[retention]\ndays = 3\n[retention]\n", "duplicate key"),
        ("[retension]\ndays = 3\n", "did you mean `retention`?"),
        ("retention = 3\n", "`retention` is not a table"),
        ("[[retention]]\ndays = 3\n", "`retention` is not a table"),
    ] {
        let (_folder, home) = home();
        write(&home, "config.toml", text);
        let failure = put(&home, "retention.days", "9").expect_err(text).to_string();
        assert!(failure.contains(what) && failure.contains("nothing was written"), "{text}: {failure}");
        assert_eq!(read(&home), text);
    }
    // A mistake in one table does not hold up another, and one in a value is mended by another value.
    let (_folder, home) = home();
    write(&home, "config.toml", "[ship]\nlevle = 3\n[retention]\ndays = \"x\"\n");
    put(&home, "retention.days", "9").expect("mended");
    assert_eq!(read(&home), "[ship]\nlevle = 3\n[retention]\ndays = 9\n");
    take(&home, "ship.levle").expect("mended");
    assert_eq!(read(&home), "[ship]\n[retention]\ndays = 9\n");
}

#[test]
fn a_hostile_file_is_refused_and_stays_as_it_is() {
    let (folder, home) = home();
    let refused = |home: &Home| put(home, "retention.days", "9").expect_err("hostile").to_string();
    files::write_private(&path(&home), b"# \xff\n").expect("written");
    assert!(refused(&home).contains("byte 2 is not UTF-8"));
    files::write_private(&path(&home), &vec![b'#'; FILE_BYTES + 1]).expect("written");
    assert!(refused(&home).contains("is over 1048576 bytes"));
    write(&home, "config.toml", &format!("#{}\n", "x".repeat(FILE_BYTES - 2)));
    assert!(refused(&home).contains("would be over"));
    fs::remove_file(path(&home)).expect("removed");
    symlink("nowhere", path(&home)).expect("a link");
    assert!(refused(&home).contains("cannot read"));
    fs::remove_file(path(&home)).expect("removed");
    fs::create_dir(path(&home)).expect("a folder");
    assert!(refused(&home).contains("not a regular file"));
    fs::remove_dir(path(&home)).expect("removed");
    write(&home, "config.toml", "# open\n");
    fs::set_permissions(path(&home), fs::Permissions::from_mode(0o666)).expect("a mode");
    assert!(refused(&home).contains("other users may write"));
    assert_eq!(read(&home), "# open\n");
    fs::set_permissions(path(&home), fs::Permissions::from_mode(0o600)).expect("a mode");
    // Only root may give a file away.
    if nix::unistd::geteuid().is_root() {
        chown(path(&home), Some(54_321), None).expect("given away");
        assert!(refused(&home).contains("belongs to the user with id 54321"));
    }
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).expect("a mode");
    assert!(refused(&home).contains("other users may write"));
}

#[test]
fn a_link_stays_a_link_and_the_mode_becomes_private() {
    let (folder, home) = home();
    let real = folder.path().join("dotfiles.toml");
    files::write_private(&real, b"# mine\n").expect("written");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o644)).expect("a mode");
    symlink("dotfiles.toml", path(&home)).expect("a link");
    put(&home, "retention.days", "9").expect("set");
    assert!(fs::symlink_metadata(path(&home)).expect("facts").is_symlink());
    assert_eq!(fs::read_to_string(&real).expect("read"), "# mine\n\n[retention]\ndays = 9\n");
    assert_eq!(fs::metadata(&real).expect("facts").mode() & 0o777, 0o600);
}

#[test]
fn an_old_file_in_force_becomes_the_table_with_its_comments() {
    let (_folder, home) = home();
    write(&home, "backup.conf", "# copies\non\ndays 14 # two weeks\nmegabytes 9\n# end\n");
    write(
        &home,
        "alerts.toml",
        "# mine\ndesktop = true\n\n[[webhook]]\nurl = \"https://a/1\"\n\n[on]\nlooping = 5 # often\n# end\n",
    );
    write(
        &home,
        "config.toml",
        "[retention]\ndays = 1\n\n# about prices\n[prices.models.o3]\ninput = 1\n# last\n",
    );
    let applied = put(&home, "backup.store.keep", "3").expect("set");
    assert_eq!(applied.adopted, [(home.config().join("backup.conf"), "backup")]);
    assert!(applied.notes()[0].contains("in the table `[backup]` of `config.toml` now\nhint: remove it"));
    let applied = put(&home, "alerts.on.looping", "7").expect("set");
    assert_eq!(applied.adopted, [(home.config().join("alerts.toml"), "alerts")]);
    assert_eq!(
        read(&home),
        "[retention]\ndays = 1\n\n# about prices\n[prices.models.o3]\ninput = 1\n# last\n\n\
         [backup]\n# copies\ncompactions.enabled = true\ncompactions.days = 14 # two weeks\n\
         compactions.megabytes = 9\n\n[backup.store]\nkeep = 3\n# end\n\n\
         [alerts]\n# mine\ndesktop = true\n\n[[alerts.webhook]]\nurl = \"https://a/1\"\n\n\
         [alerts.on]\nlooping = 7 # often\n# end\n"
    );
    assert!(put(&home, "backup.store.keep", "4").expect("set").adopted.is_empty());
    // An old file that is not understood is not half of a table.
    write(&home, "context.conf", "on\nloud\n");
    let before = read(&home);
    let failure = put(&home, "context.bytes", "300").expect_err("a mistake").to_string();
    assert!(failure.contains("context.conf`: line 2: unknown setting `loud`"), "{failure}");
    assert_eq!(read(&home), before);
}

#[test]
fn every_old_file_becomes_a_table_that_is_understood() {
    let (_folder, home) = home();
    for (name, text) in [
        ("alerts.toml", "\u{feff}desktop = true\r\n[on]\r\ndenials = true\r\n"),
        ("backup.conf", "store-every 60\nstore-every 120\n"),
        ("context.conf", "on\nexport-task\nbytes 400\nbudget-usd 20\n"),
        (
            "prices.toml",
            "# ours\n[models.\"gpt-5.5\"]\ninput = 1\nlong = { above = 1, input = 2, output = 3 }\n",
        ),
        ("retention.conf", ""),
        ("ship.toml", "to = \"https://a\"\nprojects = [\n  \"~/code/**\", # work\n]\n"),
    ] {
        write(&home, name, text);
    }
    let applied = adopt_all(&home).expect("moved");
    assert_eq!(applied.adopted.len(), TABLES.len());
    let text = read(&home);
    assert!(
        super::super::faults(&home).is_empty() && super::super::leftovers(&home).iter().all(|it| !it.is_read)
    );
    assert!(text.contains("[backup]\n\nstore.every_minutes = 120\n"), "{text}");
    assert!(text.contains("# ours\n[prices.models.\"gpt-5.5\"]\n") && text.contains("# work\n]\n"), "{text}");
    assert!(!adopt_all(&home).expect("again").is_changed);
}

#[test]
fn a_switch_works_where_the_table_is_not_understood() {
    let off = || [set(&keys("context.enabled"), "false").expect("a value")];
    let switch = |home: &Home| switch::<agent_tracer_jobs::context::Settings>(home, &off());
    for (name, text, after) in [
        (
            "config.toml",
            "# top\n[context]\nbtyes = 3\n[retention]\ndays = 3\n",
            "[retention]\ndays = 3\n\n[context]\nenabled = false\n",
        ),
        ("context.conf", "nonsense\n", "[context]\nenabled = false\n"),
    ] {
        let (_folder, home) = home();
        write(&home, name, text);
        let applied = switch(&home).expect("switched");
        assert_eq!(applied.notes(), ["the table `[context]` was not understood and was written anew"]);
        assert_eq!(read(&home), after);
    }
    let (_folder, home) = home();
    write(&home, "config.toml", "[context\n");
    assert!(switch(&home).expect_err("no TOML").to_string().contains("line 1, column "));
}

#[test]
fn changes_at_once_all_take_effect() {
    let (_folder, home) = home();
    let setters = ["retention.days", "context.bytes", "backup.store.keep", "alerts.on.looping"].map(|key| {
        let home = home.clone();
        std::thread::spawn(move || {
            for value in 200..220 {
                put(&home, key, &value.to_string()).expect(key);
            }
        })
    });
    setters.into_iter().for_each(|setter| setter.join().expect("set"));
    let text = read(&home);
    for line in ["days = 219\n", "bytes = 219\n", "keep = 219\n", "looping = 219\n"] {
        assert!(text.contains(line), "{line}{text}");
    }
    let mut names: Vec<_> =
        fs::read_dir(home.config()).expect("a folder").flatten().map(|it| it.file_name()).collect();
    names.sort();
    assert_eq!(names, [".config.toml.lock", "config.toml"], "nothing is left behind");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// A file of lines that are each TOML, in any order: what is refused stays, and otherwise every line stays.
    #[test]
    fn no_line_of_the_user_is_lost(lines in prop::collection::vec(prop::sample::select(vec![
        "# a comment", "", "[retention]", "[ship]", "[alerts]", "[alerts.on]", "[[alerts.webhook]]", "url = 'https://a/1'",
        "level = 'full' # all", "looping = 4", "desktop = true", "\tprojects = [ 'a', # one\n 'b' ]", "on.failures = 2",
        "ship = { level = 'full' }", "[prices.models.\"gpt-5.5\"]", "input = 1", "]", "\u{e9} = 1",
    ]), 0..12)) {
        let (_folder, home) = home();
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        write(&home, "config.toml", &text);
        match put(&home, "backup.store.keep", "3") {
            Err(_) => prop_assert_eq!(read(&home), text),
            Ok(_) => {
                prop_assert_eq!(read(&home), format!("{text}{}[backup.store]\nkeep = 3\n", if text.is_empty() { "" } else { "\n" }));
                take(&home, "backup.store.keep").expect("removed");
                prop_assert!(read(&home).starts_with(&text));
            }
        }
    }
}
