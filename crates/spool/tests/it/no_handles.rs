//! A process without a file handle left: what waits goes on waiting.
//!
//! The test starts itself again with a low limit, because the limit is that of the whole process.

use std::env;
use std::fs::File;
use std::process::Command;

use crate::world::{T0, World, bodies};

const CHILD: &str = "AGENT_TRACER_TEST_NO_HANDLES";
const DONE: &str = "nothing was put aside";

#[test]
fn envelopes_wait_for_a_file_handle_and_are_not_put_aside() {
    if env::var_os(CHILD).is_some() {
        wait_for_a_handle();
        println!("{DONE}");
        return;
    }
    let output = Command::new("sh")
        .args(["-c", r#"ulimit -n 64 && exec "$0" "$@""#])
        .arg(env::current_exe().unwrap())
        .args([
            "--exact",
            "no_handles::envelopes_wait_for_a_file_handle_and_are_not_put_aside",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains(DONE),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn wait_for_a_handle() {
    let world = World::prepared();
    for number in 0..4 {
        world.accept(T0 + number, b"waits").unwrap();
    }
    let mut drain = world.open();
    let first = drain.next_batch(1, u64::MAX).unwrap();
    assert_eq!(bodies(&first).len(), 1);
    let hoard: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    for attempt in 0..10 {
        let error = drain.next_batch(10, u64::MAX).unwrap_err();
        assert!(error.to_string().starts_with("cannot read `"), "{attempt}: {error}");
    }
    drop(hoard);
    let rest = drain.next_batch(10, u64::MAX).unwrap();
    assert_eq!((bodies(&rest).len(), rest.refused.len()), (3, 0));
    assert!(world.list("quarantine").is_empty());
}
