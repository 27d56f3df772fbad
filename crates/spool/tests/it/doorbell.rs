//! The doorbell: it wakes a listening server, and costs a hook nothing without one.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::time::Duration;

use agent_tracer_spool::Home;
use agent_tracer_spool::doorbell::{Listener, ring};

use crate::world::{mode, write};

/// Long enough for a ring to arrive; a passing test never waits for all of it.
const SOON: Duration = Duration::from_secs(20);
const NOW: Duration = Duration::ZERO;

fn near() -> (tempfile::TempDir, Home) {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::in_folder(folder.path());
    assert!(home.doorbell().as_os_str().len() <= 100);
    (folder, home)
}

/// A home whose data folder is too deep for a socket.
fn deep_home(folder: &Path) -> Home {
    let data = folder.join("d".repeat(100));
    fs::create_dir_all(&data).unwrap();
    let runtime = folder.join("run");
    fs::create_dir_all(&runtime).unwrap();
    fs::set_permissions(&runtime, fs::Permissions::from_mode(0o700)).unwrap();
    Home::in_folder(data).with_runtime(runtime)
}

#[test]
fn several_rings_wake_the_server_once() {
    let (_folder, home) = near();
    let listener = Listener::bind(&home).unwrap();
    assert_eq!(listener.path(), home.doorbell());
    assert_eq!(mode(listener.path()), 0o600);
    assert!(!listener.wait(NOW).unwrap());
    for _ in 0..3 {
        ring(&home);
    }
    assert!(listener.wait(SOON).unwrap());
    assert!(!listener.wait(NOW).unwrap());
    ring(&home);
    assert!(listener.wait(SOON).unwrap());
}

#[test]
fn ringing_without_a_listener_creates_nothing_and_does_not_block() {
    let (folder, home) = near();
    ring(&home);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    ring(&Home::in_folder(folder.path().join("missing")));
    let bound = UnixDatagram::bind(home.doorbell()).unwrap();
    // Far more than the queue takes: the rest must be dropped, not waited for.
    for _ in 0..5000 {
        ring(&home);
    }
    drop(bound);
    ring(&home);
}

#[test]
fn the_socket_of_a_dead_server_is_replaced() {
    let (_folder, home) = near();
    drop(UnixDatagram::bind(home.doorbell()).unwrap());
    assert!(home.doorbell().exists(), "a dead server leaves its socket behind");
    let listener = Listener::bind(&home).unwrap();
    ring(&home);
    assert!(listener.wait(SOON).unwrap());
}

#[test]
fn the_socket_of_a_living_server_is_not() {
    let (_folder, home) = near();
    let first = Listener::bind(&home).unwrap();
    assert_eq!(Listener::bind(&home).unwrap_err().kind(), io::ErrorKind::AddrInUse);
    ring(&home);
    assert!(first.wait(SOON).unwrap());
}

#[test]
fn something_else_in_its_place_is_left_alone() {
    let (folder, home) = near();
    write(&home.doorbell(), b"mine");
    assert_eq!(Listener::bind(&home).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    ring(&home);
    assert_eq!(fs::read(home.doorbell()).unwrap(), b"mine");
    fs::remove_file(home.doorbell()).unwrap();
    symlink(folder.path().join("target"), home.doorbell()).unwrap();
    assert_eq!(Listener::bind(&home).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
}

#[test]
fn a_listener_takes_its_own_socket_with_it_and_no_other() {
    let (_folder, home) = near();
    drop(Listener::bind(&home).unwrap());
    assert!(!home.doorbell().exists());
    let first = Listener::bind(&home).unwrap();
    fs::remove_file(home.doorbell()).unwrap();
    let second = Listener::bind(&home).unwrap();
    drop(first);
    ring(&home);
    assert!(second.wait(SOON).unwrap());
}

#[test]
fn a_deep_home_rings_in_the_runtime_directory() {
    let folder = tempfile::tempdir().unwrap();
    let home = deep_home(folder.path());
    ring(&home);
    let listener = Listener::bind(&home).unwrap();
    assert_eq!(listener.path().parent(), Some(folder.path().join("run").as_path()));
    assert!(listener.path().as_os_str().len() <= 100);
    assert_eq!(mode(listener.path()), 0o600);
    ring(&home);
    assert!(listener.wait(SOON).unwrap());
    let other = Home::in_folder(folder.path().join("e".repeat(100))).with_runtime(folder.path().join("run"));
    fs::create_dir(other.data()).unwrap();
    assert_ne!(Listener::bind(&other).unwrap().path(), listener.path(), "each home has its own");
}

#[test]
fn a_folder_that_others_may_enter_is_not_trusted() {
    let folder = tempfile::tempdir().unwrap();
    let home = deep_home(folder.path());
    let run = folder.path().join("run");
    fs::set_permissions(&run, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(Listener::bind(&home).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    ring(&home);
    let elsewhere = folder.path().join("elsewhere");
    fs::rename(&run, &elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&elsewhere, &run).unwrap();
    assert_eq!(Listener::bind(&home).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    fs::remove_file(&run).unwrap();
    assert!(Listener::bind(&home).is_ok(), "a missing folder is made");
    assert_eq!(mode(&run), 0o700);
}
