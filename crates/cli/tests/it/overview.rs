//! Tests the bare command: what it shows on a terminal, and that only keys change anything.

use nix::sys::signal::Signal;

use crate::serve::Server;
use crate::terminal::Terminal;
use crate::world::World;

const READY: &str = "Press a key";
const SETTINGS: &str = "home/.claude/settings.json";

#[test]
fn an_empty_machine_is_offered_the_demo_and_nothing_is_made() {
    let world = World::new();
    let mut terminal = Terminal::start(&world, &[]);
    terminal.read_until("Press a key (Enter is d): ");
    terminal.press("x");
    terminal.read_until("No step has that key; press d, u, h, q: ");
    terminal.press("zxq");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("not found") && said.contains("Server       not running"), "{said}");
    assert_eq!(world.names("home"), Vec::<String>::new(), "{said}");
}

#[test]
fn whatever_ends_it_the_terminal_is_as_before() {
    let world = World::new();
    for (keys, expected) in [("q", 0), ("\x04", 0), ("\x1b", 0), ("\x03", 130), ("", 130)] {
        let mut terminal = Terminal::start(&world, &[]);
        terminal.read_until(READY);
        terminal.press("x");
        terminal.read_until("No step has that key");
        let during = terminal.modes();
        if keys.is_empty() {
            terminal.signal(Signal::SIGTERM);
        } else {
            terminal.press(keys);
        }
        terminal.read_until("\n");
        let before = Terminal::start(&world, &["--version"]).modes();
        let after = terminal.modes();
        assert_ne!(during.local_flags, before.local_flags, "{keys:?}");
        assert_eq!(after.local_flags, before.local_flags, "{keys:?}");
        assert_eq!(terminal.end().0, Some(expected), "{keys:?}");
    }
}

#[test]
fn colour_is_used_on_a_terminal_and_no_color_is_obeyed() {
    let mut world = World::new();
    for is_plain in [false, true] {
        if is_plain {
            world.set("NO_COLOR", "1");
        }
        let mut terminal = Terminal::start(&world, &[]);
        terminal.read_until(READY);
        terminal.press("q");
        let (_, said) = terminal.end();
        assert_eq!(said.contains('\x1b'), !is_plain, "{said:?}");
        assert!(said.lines().all(|line| is_plain || line.len() < 120), "{said}");
    }
}

#[test]
fn an_agent_is_connected_after_the_preview_and_a_yes() {
    let mut world = World::new();
    world.set("NO_COLOR", "1");
    world.write(SETTINGS, "{\"model\": \"x\"}\n");
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", "{}\n");
    let mut terminal = Terminal::start(&world, &[]);
    terminal.read_until("Press a key (Enter is u): ");
    for (keys, is_connected) in [("n", false), ("\r", false), ("\x04", false), ("y", true)] {
        terminal.press("c");
        terminal.read_until("(y/N): ");
        assert_eq!(world.read(SETTINGS), "{\"model\": \"x\"}\n", "the preview writes nothing");
        terminal.press(keys);
        terminal.read_until("Press a key");
        assert_eq!(world.read(SETTINGS).contains("agent-tracer-hook"), is_connected, "{keys:?}");
    }
    terminal.press("q");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 session file, 1 KB, newest 0s ago in ~/.claude"), "{said}");
    assert!(said.contains("+") && said.contains("install claude --dry-run"), "{said}");
    assert!(said.contains("connected; no call yet: start a new session"), "{said}");
}

#[test]
fn each_home_has_its_own_line_and_the_one_without_hooks_is_connected() {
    const WORK: &str = "home/.claude-work/settings.json";
    let mut world = World::new();
    world.set("NO_COLOR", "1");
    world.write(SETTINGS, "{}\n");
    world.write(WORK, "{\"model\": \"x\"}\n");
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", "{}\n");
    for name in ["6b24", "7c35"] {
        world.write(&format!("home/.claude-work/projects/-nowhere-shop/{name}.jsonl"), "{}\n");
    }
    world.run(&["install", "claude", "--no-verify"]).ended_with(0);
    let connected = world.read(SETTINGS);
    let mut terminal = Terminal::start(&world, &[]);
    terminal.read_until(READY);
    terminal.press("c");
    terminal.read_until("(y/N): ");
    terminal.press("y");
    terminal.read_until(READY);
    terminal.press("q");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1 session file, 1 KB, newest 0s ago in ~/.claude\r\n"), "{said}");
    assert!(said.contains("2 session files, 1 KB, newest 0s ago in ~/.claude-work\r\n"), "{said}");
    assert!(said.contains("c  connect Claude Code in ~/.claude-work: "), "{said}");
    assert!(said.contains("CLAUDE_CONFIG_DIR='") && world.read(WORK).contains("agent-tracer-hook"), "{said}");
    assert_eq!(world.read(SETTINGS), connected);
}

#[test]
fn the_dashboard_of_a_running_server_is_one_key_away() {
    let mut world = World::new();
    world.set("NO_COLOR", "1");
    let server = Server::start(&world);
    let mut terminal = Terminal::start(&world, &[]);
    terminal.read_until("Press a key (Enter is u): ");
    terminal.press("\r");
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains(&format!("running at http://{}/", server.address())), "{said}");
    assert!(said.contains("runs already") && said.contains("/login?code="), "{said}");
    server.end(Signal::SIGTERM);
}
