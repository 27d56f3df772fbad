//! A disk that is really full: a tmpfs of a few pages in a mount namespace of its own.
//!
//! The test starts itself again inside `unshare`, so nothing has to be cleaned up. Where namespaces are
//! not to be had, the same promises are held by the fail-points of the crate's own model.

use std::env;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use agent_tracer_spool::{Reason, Spool};

use crate::world::{T0, header};

const DISK: &str = "AGENT_TRACER_TEST_FULL_DISK";
const DONE: &str = "the full disk was survived";

#[test]
fn a_full_disk_is_a_counted_loss_that_leaves_nothing_behind() {
    if let Some(disk) = env::var_os(DISK) {
        survive(&PathBuf::from(disk));
        println!("{DONE}");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = r#"mount -t tmpfs -o size=256k tmpfs "$0" && exec "$@""#;
    let run = |arguments: &[&str]| {
        Command::new("unshare")
            .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
            .arg(folder.path())
            .args(arguments)
            .env(DISK, folder.path())
            .output()
    };
    if !run(&["true"]).is_ok_and(|output| output.status.success()) {
        println!("no mount namespaces here: only the fail-points of the model were run");
        return;
    }
    let own = env::current_exe().unwrap();
    let name = "full_disk::a_full_disk_is_a_counted_loss_that_leaves_nothing_behind";
    let output = run(&[own.to_str().unwrap(), "--exact", name, "--nocapture"]).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains(DONE),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn survive(disk: &Path) {
    let spool = Spool::at(&disk.join("spool"));
    spool.prepare().unwrap();
    let mut accepted = 0;
    let refused = loop {
        match spool.accept(&header(), &[b'x'; 9000], T0 + accepted, 7) {
            Ok(_) => accepted += 1,
            Err(refused) => break refused,
        }
        assert!(accepted < 1000, "256 KiB are full by now");
    };
    assert_eq!((refused.reason, refused.counted), (Reason::DiskFull, true));
    fill(&disk.join("filler"));
    for losses in 2..50 {
        let refused = spool.accept(&header(), &[b'x'; 9000], T0, 7).unwrap_err();
        assert_eq!(
            (refused.reason, refused.counted),
            (Reason::DiskFull, true),
            "the counter's block is there"
        );
        let stats = spool.stats().unwrap();
        assert_eq!((stats.waiting, stats.unfinished, stats.lost_total()), (accepted, 0, losses));
    }
    fs::remove_file(disk.join("filler")).unwrap();
    let mut drain = agent_tracer_spool::Drain::open(&spool).unwrap();
    let batch = drain.next_batch(1000, u64::MAX).unwrap();
    assert_eq!((batch.envelopes.len() as u64, batch.refused.len()), (accepted, 0));
    drain.ack(batch.receipt).unwrap();
    assert!(spool.accept(&header(), &[b'x'; 9000], T0, 7).is_ok());
}

/// Takes the last free page.
fn fill(path: &Path) {
    let mut file = File::create(path).unwrap();
    while file.write(&[0; 4096]).is_ok_and(|written| written > 0) {}
}
