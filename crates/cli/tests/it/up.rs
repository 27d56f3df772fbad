//! Tests `up`: it starts a server or finds the running one, and opens the dashboard of either.

use nix::sys::signal::Signal;

use crate::serve::Server;
use crate::terminal::Terminal;
use crate::world::World;

/// Returns the path of the last link in a text.
fn link(said: &str) -> String {
    let (_, path) = said.rsplit_once("/login?code=").expect("a link");
    let code = path.split_whitespace().next().expect("a code");
    format!("/login?code={code}")
}

#[test]
fn the_second_one_gets_a_link_of_the_first_and_ends() {
    let world = World::with_real_hook();
    let first = Server::start_by("up", &world, &["--no-browser"], "stop       Ctrl-C");
    let one = link(first.said());
    let second = world.run(&["up"]).ended_with(0);
    assert!(second.stderr.contains("runs already"), "{}", second.stderr);
    let two = link(&second.stderr);
    assert_ne!(one, two);
    for path in [&one, &two] {
        assert!(first.get(path).starts_with("HTTP/1.1 303"), "{path}");
    }
    let said = first.end(Signal::SIGINT);
    assert!(said.ends_with("stopped; new events wait in the spool\n"), "{said}");
}

#[test]
fn agents_that_are_connected_are_not_advised_to_be() {
    let world = World::new();
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let server = Server::start_by("up", &world, &[], "stop       Ctrl-C");
    assert!(!server.said().contains("install claude"), "{}", server.said());
    assert!(server.said().contains("install codex"), "{}", server.said());
    server.end(Signal::SIGTERM);
}

#[test]
fn on_a_terminal_it_opens_the_browser_and_shows_the_history_being_read() {
    let mut world = World::new();
    world.write(
        "bin/browser",
        "#!/bin/sh\necho \"$1\" > '[W]/opening' && exec /bin/mv '[W]/opening' '[W]/opened'\n",
    );
    world.set_mode("bin/browser", 0o755);
    world.set("BROWSER", "[W]/bin/browser");
    let row = r#"{"type":"user","uuid":"u1","sessionId":"5a13","cwd":"/nowhere/shop","timestamp":"2026-11-15T21:10:04.001Z","promptId":"p1","message":{"role":"user","content":"hi"}}"#;
    world.write("home/.claude/projects/-nowhere-shop/5a13.jsonl", &format!("{row}\n"));
    let mut terminal = Terminal::start(&world, &["up", "--listen", "127.0.0.1:0"]);
    terminal.read_until("opened in your browser");
    terminal.read_until("  history    1 session file read, ");
    terminal.signal(Signal::SIGTERM);
    let (code, said) = terminal.end();
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("stopped; new events wait in the spool"), "{said}");
    // The browser is a process of its own.
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !world.exists("opened") && std::time::Instant::now() < until {
        std::thread::yield_now();
    }
    assert!(said.contains(world.read("opened").trim()), "{said}");
}

#[test]
fn a_home_without_a_folder_is_made_and_a_taken_address_is_named() {
    let world = World::new();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let answer = world.run(&["up", "--listen", &address]).ended_with(1);
    assert!(answer.stderr.contains(&address) && answer.stderr.contains("hint: "), "{}", answer.stderr);
}
