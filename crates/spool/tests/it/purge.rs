//! Purges of the spool: the chosen files are removed from every folder, and no others.

use std::fs;
use std::io::Write;

use agent_tracer_spool::drain::{PurgeDecision, SpoolPurge};
use agent_tracer_spool::{Drain, Spool};

const NOW: u64 = 1_794_979_800_000_000_000;

fn put(spool: &Spool, path: &str, bytes: &[u8]) {
    fs::File::create(spool.root().join(path)).unwrap().write_all(bytes).unwrap();
}

#[test]
fn chosen_files_go_with_their_reasons_and_living_hooks_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let spool = Spool::at(&folder.path().join("spool"));
    spool.prepare().unwrap();
    let old = "01794979000000000000-812-0";
    put(&spool, &format!("new/{old}"), b"gone");
    put(&spool, "new/01794979000000000001-812-0", b"stays");
    put(&spool, &format!("tmp/{old}"), b"gone");
    put(&spool, "tmp/01794979799999999999-813-0", b"gone");
    put(&spool, &format!("quarantine/{old}"), b"gone");
    put(&spool, &format!("quarantine/{old}.reason"), b"why");
    put(&spool, "quarantine/stranger-12", b"garbage");
    let elsewhere = folder.path().join("elsewhere");
    fs::File::create(&elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, spool.root().join("quarantine/link")).unwrap();
    fs::create_dir(spool.root().join("quarantine/folder")).unwrap();

    let choose = |_: &str, bytes: Option<&[u8]>| match bytes {
        Some(b"gone") => PurgeDecision::Remove,
        Some(b"stays") => PurgeDecision::Keep,
        _ => PurgeDecision::Unknown,
    };
    let done = Drain::open(&spool).unwrap().purge(NOW, choose).unwrap();
    assert_eq!(done, SpoolPurge { removed: 3, unknown: 2 });
    let names = |folder: &str| {
        let entries = fs::read_dir(spool.root().join(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    assert_eq!(names("new"), ["01794979000000000001-812-0"]);
    assert_eq!(names("tmp"), ["01794979799999999999-813-0"]);
    assert_eq!(names("quarantine"), ["folder", "link", "stranger-12"]);

    let all = Drain::open(&spool).unwrap().purge(NOW, |_, _| PurgeDecision::Remove).unwrap();
    assert_eq!(all, SpoolPurge { removed: 3, unknown: 0 });
    assert_eq!(names("quarantine"), ["folder"]);
    assert!(elsewhere.exists(), "a link is not followed");
}
