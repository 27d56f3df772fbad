//! Tests `upgrade`: programs that are replaced together, and those that are left alone.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use nix::sys::signal::Signal;

use crate::serve::Server;
use crate::world::World;

const NEWER: &str = "99.0.0";

/// Returns a world in which `sh` finds its tools.
fn world() -> World {
    let mut world = World::new();
    world.set("PATH", "/usr/local/bin:/usr/bin:/bin");
    world
}

fn target() -> String {
    let system = if cfg!(target_os = "macos") { "apple-darwin" } else { "unknown-linux-musl" };
    format!("{}-{system}", std::env::consts::ARCH)
}

fn archive(version: &str) -> String {
    format!("agent-tracer-{version}-{}.tar.gz", target())
}

fn sh(folder: &Path, script: &str) {
    let status = Command::new("sh").args(["-ec", script]).current_dir(folder).status().expect("sh");
    assert!(status.success(), "{script}");
}

/// Makes a release in the folder `release`, of programs that only say their version.
fn release(world: &World, version: &str, hook: &str) {
    let top = archive(version).replace(".tar.gz", "");
    let program = |name: &str| format!("#!/bin/sh\necho \"{name} {version}\"\n");
    world.write(&format!("release/{top}/agent-tracer"), &program("agent-tracer"));
    world.write(&format!("release/{top}/agent-tracer-hook"), if hook.is_empty() { "" } else { hook });
    if hook.is_empty() {
        world.write(&format!("release/{top}/agent-tracer-hook"), &program("agent-tracer-hook"));
    }
    let archive = archive(version);
    let sum = "if command -v sha256sum >/dev/null; then sha256sum \"$1\"; else shasum -a 256 \"$1\"; fi";
    let script =
        format!("tar -czf {archive} {top}; rm -r {top}; set -- {archive}; {{ {sum}; }} > SHA256SUMS");
    sh(&world.path("release"), &script);
}

/// Returns the state of both programs, and the names beside them.
fn programs(world: &World) -> (u64, String, Vec<String>) {
    let main = fs::metadata(world.path("bin/agent-tracer")).expect("the program");
    (main.len(), world.read("bin/agent-tracer-hook"), world.names("bin"))
}

#[test]
fn without_a_source_it_names_the_way_and_asks_no_server() {
    let world = world();
    let before = programs(&world);
    for arguments in [&["upgrade"][..], &["upgrade", "--check"]] {
        let answer = world.run(arguments).ended_with(0);
        let first = concat!("agent-tracer ", env!("CARGO_PKG_VERSION"), ", by install.sh, in [W]/bin\n");
        assert!(answer.stdout.starts_with(first), "{}", answer.stdout);
        assert!(answer.stdout.contains("agent-tracer upgrade --from FOLDER\n"), "{}", answer.stdout);
    }
    assert_eq!(programs(&world), before);
}

#[test]
fn a_newer_release_replaces_both_programs_and_a_running_server_is_named() {
    let world = world();
    release(&world, NEWER, "");
    let server = Server::start(&world);
    let before = programs(&world);
    let answer = world.run(&["upgrade", "--from", "[W]/release", "--check"]).ended_with(0);
    let newer = concat!("99.0.0 is newer than this ", env!("CARGO_PKG_VERSION"), "\n");
    assert_eq!(answer.stdout, newer);
    assert_eq!(programs(&world), before);
    world.run(&["install", "claude", "--client-version", "2.1.326"]).ended_with(0);
    let answer = world.run(&["upgrade", "--from", &format!("[W]/release/{}", archive(NEWER))]).ended_with(0);
    assert!(answer.stdout.contains("replaced agent-tracer "), "{}", answer.stdout);
    assert!(
        answer.stderr.contains(&format!("server at http://{}/ still runs", server.address())),
        "{}",
        answer.stderr
    );
    assert!(answer.stderr.contains("install claude` to bring its hooks up to date"), "{}", answer.stderr);
    server.end(Signal::SIGTERM);
    assert_eq!(world.run(&["--version"]).ended_with(0).stdout, "agent-tracer 99.0.0\n");
    assert_eq!(world.hook("project", "x", "").ended_with(0).stdout, "agent-tracer-hook 99.0.0\n");
    assert_eq!(world.names("bin"), ["agent-tracer", "agent-tracer-hook"]);
}

#[test]
fn whatever_is_wrong_with_a_release_both_programs_stay() {
    let world = world();
    let before = programs(&world);
    let refused = |why: &str, path: &str| {
        let answer = world.run(&["upgrade", "--from", path]);
        assert!(answer.code > 0, "{why}: {}", answer.stdout);
        assert!(answer.stderr.contains(why) && answer.stderr.contains("hint: "), "{why}: {}", answer.stderr);
        assert_eq!(programs(&world), before, "{why}");
    };
    refused("does not exist", "[W]/nowhere");
    refused("SHA256SUMS` is missing", "[W]/empty");
    release(&world, NEWER, "#!/bin/sh\nexit 3\n");
    refused("the new `agent-tracer-hook` does not run", "[W]/release");
    sh(&world.path("release"), &format!("printf x >> {}", archive(NEWER)));
    refused("has a wrong sum", "[W]/release");
    fs::remove_dir_all(world.path("release")).expect("removed");
    release(&world, "0.0.1", "");
    refused("0.0.1 is older than this", "[W]/release");
    world.write("other/agent-tracer-99.0.0-s390x-unknown-linux-musl.tar.gz", "");
    refused(
        "not the tarball of a release for this system",
        "[W]/other/agent-tracer-99.0.0-s390x-unknown-linux-musl.tar.gz",
    );
    let answer = world.run(&["upgrade", "--url", "ftp://example"]).ended_with(2);
    assert!(answer.stderr.contains("invalid release address"), "{}", answer.stderr);
}

#[test]
fn a_second_program_that_cannot_be_moved_brings_the_first_back() {
    let mut world = world();
    release(&world, NEWER, "");
    // The last words of a move name its target.
    world.write(
        "tools/mv",
        "#!/bin/sh\nfor last; do :; done\ncase $1$2$last in *unpacked*bin/agent-tracer-hook) exit 1 ;; esac\nexec /bin/mv \"$@\"\n",
    );
    world.set_mode("tools/mv", 0o755);
    world.set("PATH", "[W]/tools:/usr/local/bin:/usr/bin:/bin");
    let before = programs(&world);
    let answer = world.run(&["upgrade", "--from", "[W]/release"]).ended_with(1);
    assert!(answer.stderr.contains("agent-tracer-hook`: nothing was changed"), "{}", answer.stderr);
    assert_eq!(programs(&world), before);
    let mode = fs::metadata(world.path("bin/agent-tracer")).expect("the program").permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
}

#[test]
fn programs_of_a_package_manager_are_left_to_it() {
    let world = world();
    release(&world, NEWER, "");
    world.write("lib/python3.11/site-packages/agent_tracer-0.2.0.dist-info/METADATA", "");
    world.write("pipx_metadata.json", "{}");
    let answer = world.run(&["upgrade"]).ended_with(0);
    assert!(answer.stdout.ends_with("upgrade: pipx upgrade agent-tracer\n"), "{}", answer.stdout);
    let before = programs(&world);
    let answer = world.run(&["upgrade", "--from", "[W]/release"]).ended_with(1);
    assert!(answer.stderr.contains("belongs to pipx"), "{}", answer.stderr);
    assert!(answer.stderr.contains("hint: run `pipx upgrade agent-tracer`"), "{}", answer.stderr);
    assert_eq!(programs(&world), before);
}
