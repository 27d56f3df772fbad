//! Settings that cannot be relied on: nothing is recorded and no command runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use crate::world::{World, assert_silent, run};

const PROMPT: &[u8] = br#"{"session_id":"5a133364-48e1-40c2-b568-cfba1112cbce","cwd":"/home/dev/project","hook_event_name":"UserPromptSubmit","prompt":"hello"}"#;

fn chmod(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

fn pipe(path: &Path) {
    drop(fs::remove_file(path));
    fs::create_dir_all(path.parent().expect("a folder")).expect("made");
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

/// Makes a file one that the hook must not obey.
type Damage = fn(&Path);

#[test]
fn settings_that_cannot_be_relied_on_record_nothing_and_are_counted() {
    let spoil: [(&str, Damage); 8] = [
        ("a folder", |path| fs::create_dir(path).expect("made")),
        ("a pipe", pipe),
        ("a link to nowhere", |path| symlink("/nowhere/at/all", path).expect("made")),
        ("a link to itself", |path| symlink(path, path).expect("made")),
        ("others may write it", |path| {
            fs::File::create(path).expect("made");
            chmod(path, 0o666);
        }),
        ("others may write its folder", |path| chmod(path.parent().expect("a folder"), 0o777)),
        ("a misspelled exclusion", |path| {
            std::io::Write::write_all(&mut fs::File::create(path).expect("made"), b"exlude /x\n")
                .expect("text");
        }),
        ("a file that is too long", |path| {
            fs::File::create(path).and_then(|file| file.set_len(65 * 1024)).expect("made");
        }),
    ];
    for (what, spoil) in spoil {
        let world = World::new();
        world.write("anything", "");
        spoil(&world.home().join("privacy.conf"));
        for caller in ["claude", "codex"] {
            assert_silent(&world.run(&[caller], PROMPT));
        }
        assert_eq!(world.envelopes().len(), 0, "{what}");
        assert_eq!(world.lost(), [("unreadable_privacy".to_owned(), 2)], "{what}");
    }
}

#[test]
fn a_folder_is_excluded_by_each_of_its_names() {
    let world = World::new();
    world.write("anything", "");
    let root = world.home().canonicalize().expect("a path");
    fs::create_dir_all(root.join("secret/in")).expect("made");
    symlink(root.join("secret"), root.join("link")).expect("made");
    let prompt_in = |cwd: &str| {
        let cwd = root.join(cwd);
        String::from_utf8_lossy(PROMPT).replace("/home/dev/project", cwd.to_str().expect("text")).into_bytes()
    };
    for pattern in ["secret", "link"] {
        world.write("privacy.conf", &format!("exclude {}\n", root.join(pattern).display()));
        for cwd in ["secret/in", "link", "link/in", "link/in/gone"] {
            assert_silent(&world.run(&["claude"], &prompt_in(cwd)));
            let mut command = world.command(&["claude"]);
            assert_silent(&run(command.env("CLAUDE_PROJECT_DIR", root.join(cwd)), PROMPT));
        }
        let mut command = world.command(&["claude"]);
        assert_silent(&run(command.current_dir(root.join("link/in")), PROMPT));
    }
    assert_eq!((world.envelopes().len(), world.lost().len()), (0, 0), "what is excluded is not lost");
    assert_silent(&world.run(&["claude"], &prompt_in("other")));
    assert_eq!(world.envelopes().len(), 1);
}

#[test]
fn a_pipe_in_the_place_of_a_file_does_not_block_the_hook() {
    let start = String::from_utf8_lossy(PROMPT).replace("UserPromptSubmit", "SessionStart");
    let write = br#"{"session_id":"s","cwd":"/p","hook_event_name":"PreToolUse","tool_name":"Write","tool_input":{"file_path":"a","content":"b"}}"#;
    for name in ["policy.tbl", "key", "statusline.conf", "context/0000000000000000", "context/export-task"] {
        let world = World::new();
        pipe(&world.home().join(name));
        let home = agent_tracer_spool::Home::in_folder(world.home());
        if name.starts_with("context/0") {
            pipe(&agent_tracer_spool::context::path(&home, Path::new("/home/dev/project")));
        }
        for (caller, payload) in
            [("claude", PROMPT), ("claude", start.as_bytes()), ("claude", &write[..]), ("statusline", b"{}")]
        {
            assert_eq!(world.run(&[caller], payload).status.code(), Some(0), "{name}");
        }
        assert_eq!(world.envelopes().len(), 4, "{name}");
    }
}

#[test]
fn the_command_of_a_status_line_that_others_can_write_does_not_run() {
    let world = World::new();
    let proof = world.home().join("ran");
    world.write("statusline.conf", &format!("prefix mine\nchain touch '{}'\n", proof.display()));
    for (path, mode) in [(world.home().join("statusline.conf"), 0o666), (world.home(), 0o777)] {
        chmod(&path, mode);
        let output = world.run(&["statusline"], b"{}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "[monitor]\n");
        assert!(!proof.exists());
        chmod(&path, 0o700);
    }
    world.run(&["statusline"], b"{}");
    assert!(proof.exists(), "it runs where only the user can write");
}
