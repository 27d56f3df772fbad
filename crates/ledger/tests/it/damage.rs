//! Pages that the disk changes: whatever the place, it is seen, and nothing that is well is ever accused.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use agent_tracer_event::Millis;
use agent_tracer_ledger::view::StoreFaults;
use agent_tracer_ledger::{Batch, CheckPace, Ledger, Options, check_pages, damaged_commits, salvage};
use agent_tracer_testkit::history::History;
use rusqlite::Connection;

use crate::world::World;

const PAGE: usize = 4096;
/// In the order in which they are copied, see [`Folder::hold`].
const FILES: [&str; 4] = ["ledger.db", "ledger.db.sums", "ledger.db-wal", "ledger.db-journal-of-posts"];

/// A folder with a store in it.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Self(folder.unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Opens the ledger; nothing is checked unless a caller asks for it.
    fn open(&self) -> Ledger {
        let check = CheckPace { bytes_per_second: 0, rest: Duration::from_hours(9) };
        Ledger::open(&self.path("ledger.db"), Options { check, ..Options::default() }).unwrap()
    }

    /// Opens the ledger, looks at every page, and says what was found.
    fn checked(&self) -> StoreFaults {
        let ledger = self.open();
        ledger.check_all_pages().unwrap();
        ledger.faults()
    }

    /// Keeps the log from being used anew until this is dropped. The ledger moves its log and fills the search beside the
    /// test, so copying one file after the other mixes moments. With this, what is copied is a state that a crash can leave:
    /// pages first, then sums that are at least as new, then a log that holds every page of both.
    fn hold(&self) -> Connection {
        let reader = Connection::open(self.path("ledger.db")).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema").unwrap();
        reader
    }

    /// Copies the files to another folder, as they are now. While a ledger has them open, only under a [`Self::hold`].
    fn copy(&self) -> Self {
        let copy = Self::new();
        for name in FILES.iter().filter(|name| self.path(name).exists()) {
            // With the moments of the files: a disk does not change them.
            let status =
                std::process::Command::new("cp").arg("-p").arg(self.path(name)).arg(copy.path(name)).status();
            assert!(status.unwrap().success());
        }
        copy
    }

    /// Changes a bit as a disk does: the file is not younger for it.
    fn flip(&self, name: &str, bit: u64) {
        let file = OpenOptions::new().read(true).write(true).open(self.path(name)).unwrap();
        let then = file.metadata().unwrap().modified().unwrap();
        let mut byte = [0];
        file.read_exact_at(&mut byte, bit / 8).unwrap();
        file.write_all_at(&[byte[0] ^ (1 << (bit % 8))], bit / 8).unwrap();
        file.set_modified(then).unwrap();
    }

    /// Makes the file younger, as a program does that writes to it.
    fn touch(&self, name: &str) {
        let file = OpenOptions::new().write(true).open(self.path(name)).unwrap();
        let then = file.metadata().unwrap().modified().unwrap();
        file.set_modified(then + Duration::from_secs(1)).unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let file = OpenOptions::new().write(true).create(true).truncate(true).open(self.path(name)).unwrap();
        file.write_all_at(bytes, 0).unwrap();
    }

    fn bits(&self, name: &str) -> u64 {
        fs::metadata(self.path(name)).unwrap().len() * 8
    }
}

fn bring(ledger: &Ledger, history: &mut History, events: usize) {
    let observed = history.batch(events);
    ledger.append(Batch { observed, ..Batch::default() }).unwrap();
}

/// Returns a store that was closed, with so many events.
fn closed(events: usize) -> Folder {
    let folder = Folder::new();
    let ledger = folder.open();
    let mut history = History::new(events as u64, 7);
    for _ in 0..4 {
        bring(&ledger, &mut history, events / 4);
    }
    ledger.finish_search().unwrap();
    ledger.close();
    folder
}

/// Numbers that are spread and the same every time.
fn draws() -> impl Iterator<Item = u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(state >> 3)
    })
}

#[test]
fn a_flipped_bit_anywhere_in_the_file_is_seen_or_is_read_by_no_one() {
    let whole = closed(400);
    let rows = World::rows_of(&whole.copy().path("ledger.db"));
    let (mut seen, mut refused) = (0, 0);
    for (number, draw) in draws().take(40).enumerate() {
        let folder = whole.copy();
        let bit = draw % folder.bits("ledger.db");
        folder.flip("ledger.db", bit);
        // A single bit is damage also where another program may have been at work.
        if number % 8 == 0 {
            folder.touch("ledger.db");
        }
        let report = check_pages(&folder.path("ledger.db"), || true).unwrap();
        let check = CheckPace { bytes_per_second: 0, rest: Duration::from_hours(9) };
        let options = Options { check, ..Options::default() };
        let Ok(ledger) = Ledger::open(&folder.path("ledger.db"), options) else {
            refused += 1;
            continue;
        };
        ledger.check_all_pages().unwrap();
        let faults = ledger.faults();
        drop(ledger);
        let page = u32::try_from(bit / 8 / PAGE as u64).unwrap() + 1;
        if faults.damaged_pages == 0 {
            assert_eq!(World::rows_of(&folder.path("ledger.db")), rows, "silent damage at bit {bit}");
        } else {
            seen += 1;
            assert!(faults.problems[0].contains(&format!("page {page}")), "{:?}", faults.problems);
            assert!(faults.problems[0].contains("\nhint: "));
            assert!(report.damaged.contains_key(&page) && report.is_whole, "{report:?}");
        }
    }
    assert!(seen > 30, "{seen} seen, {refused} refused");
}

#[test]
fn a_store_that_is_well_is_never_accused_wherever_a_process_ends() {
    let folder = Folder::new();
    let ledger = folder.open();
    let mut history = History::new(4_000, 3);
    for round in 0..24 {
        bring(&ledger, &mut history, 60);
        if round % 5 == 4 {
            ledger.finish_search().unwrap();
        }
        // As a process leaves it that is killed now; now and then before and after the log was moved.
        let held = folder.hold();
        let before = folder.copy();
        if round % 3 == 2 {
            ledger.check_all_pages().unwrap();
            ledger.move_log_now().unwrap();
        }
        let after = folder.copy();
        drop(held);
        for copy in [&before, &after] {
            let report = check_pages(&copy.path("ledger.db"), || true).unwrap();
            assert!(report.damaged.is_empty() && report.changed == 0, "{report:?}");
            let faults = copy.copy().checked();
            assert_eq!((faults.damaged_pages, faults.changed_pages), (0, 0), "{:?}", faults.problems);
        }
        // While pages were being moved: some are there, some are not, and all of them are still in the log.
        if round % 3 == 2 {
            let (old, new) = (before.read("ledger.db"), after.read("ledger.db"));
            let mut mixed = new.clone();
            for (place, page) in old.chunks(PAGE).enumerate().filter(|(place, _)| place % 2 == round % 2) {
                mixed[place * PAGE..][..page.len()].copy_from_slice(page);
            }
            let torn = after.copy();
            torn.write("ledger.db", &mixed);
            let faults = torn.checked();
            assert_eq!(faults.damaged_pages, 0, "{:?}", faults.problems);
            // The sums came to the disk, the pages did not.
            let late = after.copy();
            late.write("ledger.db", &old);
            assert_eq!(late.checked().damaged_pages, 0);
        }
    }
    ledger.check_all_pages().unwrap();
    assert_eq!(ledger.faults().damaged_pages, 0);
    ledger.close();
    let faults = folder.checked();
    assert_eq!((faults.damaged_pages, faults.changed_pages, faults.check.sums_remade), (0, 0, 0));
    assert_eq!(faults.check.rounds, 1);
}

#[test]
fn what_another_program_writes_is_not_called_damage() {
    // While no server runs.
    let folder = closed(200);
    let change = "UPDATE word SET text = text || ' and more' WHERE id < 40";
    Connection::open(folder.path("ledger.db")).unwrap().execute_batch(change).unwrap();
    let report = check_pages(&folder.path("ledger.db"), || true).unwrap();
    assert!(report.damaged.is_empty() && report.changed > 0, "{report:?}");
    let faults = folder.checked();
    assert!(faults.damaged_pages == 0 && faults.changed_pages > 0, "{:?}", faults.problems);
    assert!(faults.problems[0].contains("another program"), "{:?}", faults.problems);
    let again = check_pages(&folder.path("ledger.db"), || true).unwrap();
    assert!(again.damaged.is_empty() && again.changed == faults.changed_pages, "{again:?}");
    assert_eq!(folder.checked().changed_pages, faults.changed_pages, "it is reported until it is accepted");
    let ledger = folder.open();
    assert_eq!(ledger.accept_changes().unwrap() as u64, faults.changed_pages);
    assert_eq!(ledger.faults().problems, Vec::<String>::new());
    ledger.close();
    assert_eq!(folder.checked().problems, Vec::<String>::new());
    let whole = check_pages(&folder.path("ledger.db"), || true).unwrap();
    assert!(whole.damaged.is_empty() && whole.changed == 0, "{whole:?}");
    // One that only looks, too, after a server was killed: it moves the log.
    let ledger = folder.open();
    bring(&ledger, &mut History::new(900, 5), 300);
    let held = folder.hold();
    let killed = folder.copy();
    drop(held);
    drop(ledger);
    let look = Connection::open(killed.path("ledger.db")).unwrap();
    look.query_row("SELECT count(*) FROM word", [], |row| row.get::<_, i64>(0)).unwrap();
    drop(look);
    assert!(!killed.path("ledger.db-wal").exists());
    assert_eq!(killed.checked().damaged_pages, 0);
    // And while one runs, with the log moved by the other.
    let ledger = folder.open();
    let mut history = History::new(900, 9);
    bring(&ledger, &mut history, 100);
    let other = Connection::open(folder.path("ledger.db")).unwrap();
    other.execute_batch(change).unwrap();
    other.execute_batch("PRAGMA wal_checkpoint(PASSIVE)").unwrap();
    for _ in 0..4 {
        bring(&ledger, &mut history, 50);
        ledger.move_log_now().unwrap();
        other.execute_batch("PRAGMA wal_checkpoint(PASSIVE)").unwrap();
        ledger.check_all_pages().unwrap();
    }
    assert_eq!((ledger.faults().damaged_pages, ledger.faults().changed_pages), (0, 0));
}

#[test]
fn sums_that_are_missing_torn_or_of_another_store_are_made_anew_and_accuse_nothing() {
    let whole = closed(200);
    let other = closed(80);
    let sums = whole.read("ledger.db.sums");
    let ways: [(&str, Breakage<'_>); 5] = [
        ("missing", &|folder| fs::remove_file(folder.path("ledger.db.sums")).unwrap()),
        ("empty", &|folder| folder.write("ledger.db.sums", b"")),
        ("cut off", &|folder| folder.write("ledger.db.sums", &sums[..20])),
        ("a damaged head", &|folder| folder.flip("ledger.db.sums", 77)),
        ("a damaged part", &|folder| folder.flip("ledger.db.sums", (PAGE as u64 + 99) * 8)),
    ];
    for (name, change) in ways {
        let folder = whole.copy();
        change(&folder);
        let faults = folder.checked();
        assert_eq!((faults.damaged_pages, faults.changed_pages), (0, 0), "{name}: {:?}", faults.problems);
        assert_eq!(faults.check.sums_remade, 1, "{name}");
        assert!(faults.check.remade_because.is_some() && faults.problems.is_empty(), "{name}");
        assert_eq!(folder.checked().check.sums_remade, 0, "{name}: the new ones are used");
        folder.flip("ledger.db", 3 * PAGE as u64 * 8 + 4_000);
        assert!(check_pages(&folder.path("ledger.db"), || true).unwrap().damaged.len() == 1, "{name}");
    }
    let folder = whole.copy();
    folder.write("ledger.db.sums", &other.read("ledger.db.sums"));
    assert_eq!(folder.checked().damaged_pages, 0);
}

#[test]
fn a_store_that_begins_beside_the_sums_of_another_is_well() {
    let folder = closed(200);
    folder.flip("ledger.db", bit_of(&folder.copy(), "word").1);
    assert_eq!(folder.checked().damaged_pages, 1);
    fs::rename(folder.path("ledger.db"), folder.path("aside.db")).unwrap();
    let ledger = folder.open();
    bring(&ledger, &mut History::new(300, 2), 300);
    ledger.move_log_now().unwrap();
    ledger.check_all_pages().unwrap();
    let faults = ledger.faults();
    assert_eq!((faults.damaged_pages, faults.changed_pages), (0, 0), "{:?}", faults.problems);
    ledger.close();
    assert_eq!(folder.checked().problems, Vec::<String>::new());
}

/// A way to break something in a folder.
type Breakage<'a> = &'a dyn Fn(&Folder);

/// Returns a bit of a text or blob of a table's last page.
fn bit_of(folder: &Folder, table: &str) -> (u32, u64) {
    let conn = Connection::open(folder.path("ledger.db")).unwrap();
    let find = "SELECT max(pageno) FROM dbstat WHERE name = ?1 AND pagetype = 'leaf'";
    let page: u32 = conn.query_row(find, [table], |row| row.get(0)).unwrap();
    // Cells stand at the end of a page.
    (page, u64::from(page) * PAGE as u64 * 8 - 21 * 8)
}

#[test]
fn damage_in_what_is_folded_is_mended_by_folding_anew_and_in_the_rest_it_is_not_promised() {
    let whole = closed(400);
    let rows = World::rows_of(&whole.copy().path("ledger.db"));
    for table in ["fact", "rollup", "turn_sum", "fact_time", "search_data", "vocabulary"] {
        let folder = whole.copy();
        let (page, bit) = bit_of(&folder.copy(), table);
        folder.flip("ledger.db", bit);
        let faults = folder.checked();
        assert_eq!(faults.damaged_pages, 1, "{table}");
        let problem = &faults.problems[0];
        assert!(problem.contains(&format!("page {page} in `{table}`")), "{problem}");
        assert!(problem.contains("`agent-tracer rebuild`"), "{problem}");
        let ledger = folder.open();
        ledger.rebuild().unwrap();
        ledger.finish_search().unwrap();
        ledger.check_all_pages().unwrap();
        assert_eq!(ledger.faults().damaged_pages, 0, "{table}: {:?}", ledger.faults().problems);
        ledger.close();
        assert_eq!(folder.checked().damaged_pages, 0, "{table}");
        assert_eq!(World::rows_of(&folder.path("ledger.db")), rows, "{table}");
    }
    for table in ["entry", "word", "source", "entry_of_fact", "task"] {
        let folder = whole.copy();
        folder.flip("ledger.db", bit_of(&folder.copy(), table).1);
        let problem = &folder.checked().problems[0];
        assert!(problem.contains("agent-tracer recover") && !problem.contains("rebuild"), "{problem}");
        assert!(!check_pages(&folder.path("ledger.db"), || true).unwrap().is_mendable);
    }
}

#[test]
fn damage_that_is_written_over_before_it_is_found_is_reported_all_the_same() {
    let folder = closed(200);
    let (page, bit) = bit_of(&folder.copy(), "word");
    folder.flip("ledger.db", bit);
    let ledger = folder.open();
    // Something new on the same page: the damage goes on in what is written.
    let more = Connection::open(folder.path("ledger.db")).unwrap();
    more.execute_batch("INSERT INTO word (text) VALUES ('one more')").unwrap();
    drop(more);
    ledger.move_log_now().unwrap();
    assert_eq!(ledger.faults().damaged_pages, 1);
    ledger.close();
    for _ in 0..2 {
        let report = check_pages(&folder.path("ledger.db"), || true).unwrap();
        assert_eq!(report.damaged.keys().collect::<Vec<_>>(), [&page]);
        assert_eq!(folder.checked().damaged_pages, 1, "it lasts");
    }
}

#[test]
fn a_flipped_bit_in_any_table_is_turned_back_by_salvaging_and_more_of_them_are_named() {
    let whole = closed(400);
    let salvaged = |folder: &Folder| {
        let new = Folder::new();
        let to = new.path("ledger.db");
        let report = salvage(&folder.path("ledger.db"), &to, Options::default(), |_| {}).unwrap();
        let checked = check_pages(&to, || true).unwrap();
        assert!(checked.compared > 0 && checked.damaged.is_empty(), "{checked:?}");
        (World::rows_of(&to), report)
    };
    let (rows, report) = salvaged(&whole);
    assert!(report.is_whole() && report.mended_pages == 0, "{report:?}");
    for table in ["entry", "word", "source", "task", "meta", "sqlite_schema", "alias", "outcome"] {
        let (page, bit) = bit_of(&whole.copy(), table);
        let folder = whole.copy();
        folder.flip("ledger.db", bit);
        assert!(
            check_pages(&folder.path("ledger.db"), || true).unwrap().damaged.contains_key(&page),
            "{table}"
        );
        let (found, report) = salvaged(&folder);
        assert_eq!(found, rows, "{table}");
        assert!(report.is_whole() && report.mended_pages == 1, "{table}: {report:?}");
    }
    let (_, bit) = bit_of(&whole.copy(), "word");
    let folder = whole.copy();
    folder.flip("ledger.db", bit);
    folder.flip("ledger.db", bit - 3 * 8);
    let (_, report) = salvaged(&folder);
    assert!(!report.is_whole() && report.suspect_pages == 1, "{report:?}");
    assert_eq!(report.suspect_tables, ["word"]);
    let (_, bit) = bit_of(&whole.copy(), "task");
    let folder = whole.copy();
    folder.flip("ledger.db", bit);
    folder.flip("ledger.db", bit + 1);
    let (_, report) = salvaged(&folder);
    assert_eq!(report.suspect_tables, ["task"], "{report:?}");
    assert!(!report.suspect_tasks.is_empty(), "{report:?}");
}

#[test]
fn damage_of_more_than_a_bit_in_a_store_that_was_stopped_is_reported_until_it_is_dealt_with() {
    let whole = closed(400);
    let rows = World::rows_of(&whole.copy().path("ledger.db"));
    let damaged = |table: &str| {
        let folder = whole.copy();
        let (page, bit) = bit_of(&folder.copy(), table);
        for bit in [bit, bit + 1, bit - 5 * 8] {
            folder.flip("ledger.db", bit);
        }
        // A disk that writes what was not asked for, or a tool that copies files: the file is younger.
        folder.touch("ledger.db");
        (folder, page)
    };
    let (folder, _) = damaged("word");
    for life in 0..3 {
        let report = check_pages(&folder.path("ledger.db"), || true).unwrap();
        assert_eq!((report.damaged.len(), report.changed), (0, 1), "{life}");
        let ledger = folder.open();
        // Something new on the same page.
        let more = Connection::open(folder.path("ledger.db")).unwrap();
        more.execute("INSERT INTO word (text) VALUES (?1)", [format!("one more {life}")]).unwrap();
        drop(more);
        ledger.move_log_now().unwrap();
        ledger.check_all_pages().unwrap();
        let faults = ledger.faults();
        assert_eq!(faults.changed_pages, 1, "{life}: {:?}", faults.problems);
        assert!(faults.problems[0].contains("--accept-changes"), "{:?}", faults.problems);
        ledger.close();
    }
    let new = Folder::new();
    let report =
        salvage(&folder.path("ledger.db"), &new.path("ledger.db"), Options::default(), |_| {}).unwrap();
    assert_eq!(report.suspect_tables, ["word"], "{report:?}");
    assert_eq!(new.checked().problems, Vec::<String>::new());
    // Where it is folded from the rest, folding anew mends it.
    let (folder, _) = damaged("fact");
    assert_eq!(folder.checked().changed_pages, 1);
    let ledger = folder.open();
    ledger.rebuild().unwrap();
    ledger.finish_search().unwrap();
    ledger.close();
    assert_eq!(folder.checked().problems, Vec::<String>::new());
    assert_eq!(World::rows_of(&folder.path("ledger.db")), rows);
}

/// Returns a store as a process leaves it that is killed, with most of its events in the log, and all its rows.
fn killed() -> (Folder, Vec<String>) {
    let folder = closed(200);
    let ledger = folder.open();
    let mut history = History::new(900, 5);
    for _ in 0..4 {
        bring(&ledger, &mut history, 100);
    }
    ledger.finish_search().unwrap();
    let held = folder.hold();
    let killed = folder.copy();
    drop(held);
    let whole = killed.copy();
    whole.open().close();
    (killed, World::rows_of(&whole.path("ledger.db")))
}

#[test]
fn a_log_that_has_lost_its_first_sector_is_missed_and_what_is_behind_it_is_salvaged() {
    let (whole, rows) = killed();
    assert!(whole.read("ledger.db-wal").len() > 100 * PAGE, "much is in the log");
    let events = |path: &Path| -> i64 {
        let sql = "SELECT coalesce(sum(events), 0) FROM task";
        Connection::open(path).unwrap().query_row(sql, [], |row| row.get(0)).unwrap()
    };
    for filler in [0, 0x5a] {
        let folder = whole.copy();
        let log = OpenOptions::new().write(true).open(folder.path("ledger.db-wal")).unwrap();
        log.write_all_at(&[filler; 512], 0).unwrap();
        assert!(damaged_commits(&folder.path("ledger.db")).unwrap() > 0, "{filler}");
        let new = Folder::new();
        let to = new.path("ledger.db");
        salvage(&folder.path("ledger.db"), &to, Options::default(), |_| {}).unwrap();
        let salvaged = events(&to);
        let ledger = folder.open();
        let faults = ledger.faults();
        assert!(faults.damaged_commits > 0 && faults.problems[0].contains("hint: "), "{filler}: {faults:?}");
        ledger.close();
        assert_eq!(fs::read_dir(folder.path("ledger.db.aside")).unwrap().count(), 2, "a copy and its reason");
        assert!(salvaged > events(&folder.path("ledger.db")), "{filler}: {salvaged}");
    }
    // One that was all moved misses nothing.
    let folder = whole.copy();
    let ledger = folder.open();
    ledger.move_log_now().unwrap();
    let held = folder.hold();
    let moved = folder.copy();
    drop(held);
    ledger.close();
    let log = OpenOptions::new().write(true).open(moved.path("ledger.db-wal")).unwrap();
    log.write_all_at(&[0; 512], 0).unwrap();
    assert_eq!(damaged_commits(&moved.path("ledger.db")).unwrap(), 0);
    moved.open().close();
    assert_eq!(World::rows_of(&moved.path("ledger.db")), rows);
}

#[test]
fn what_a_power_cut_takes_of_the_log_and_the_journal_still_has_is_no_damage() {
    let folder = closed(100);
    let ledger = folder.open();
    let mut history = History::new(900, 5);
    bring(&ledger, &mut history, 50);
    ledger.finish_search().unwrap();
    let held = folder.hold();
    // The writer is kept at something, and what is posted meanwhile stays in the journal.
    let (go, gone) = channel::<()>();
    let (came, comes) = channel();
    let gone = Mutex::new(gone);
    ledger.on_commit(move |_| {
        came.send(()).ok();
        gone.lock().unwrap().recv().ok();
    });
    ledger.submit(Batch { observed: history.batch(1), ..Batch::default() }, |_| {}).unwrap();
    comes.recv_timeout(Duration::from_secs(60)).unwrap();
    let (tell, reported) = channel();
    for _ in 0..20 {
        let tell = tell.clone();
        let batch = Batch { observed: history.batch(5), ..Batch::default() };
        ledger.post(batch, move |answer| tell.send(answer.is_ok()).unwrap()).unwrap();
    }
    for _ in 0..20 {
        assert!(reported.recv_timeout(Duration::from_secs(60)).unwrap());
    }
    let before = folder.copy();
    drop(go);
    ledger.finish_search().unwrap();
    let after = folder.read("ledger.db-wal");
    drop(held);
    ledger.close();
    let rows = World::rows_of(&folder.path("ledger.db"));
    let known = before.read("ledger.db-wal").len();
    assert!(after.len() > known + 20 * PAGE, "the folds are in the log");
    let cut = |posts: bool| {
        let cut = before.copy();
        let mut log = after.clone();
        let at = known.next_multiple_of(512) + 512;
        log[at..at + 1024].fill(0);
        cut.write("ledger.db-wal", &log);
        if !posts {
            fs::remove_file(cut.path("ledger.db-journal-of-posts")).unwrap();
        }
        cut
    };
    let well = cut(true);
    assert_eq!(damaged_commits(&well.path("ledger.db")).unwrap(), 0);
    let ledger = well.open();
    ledger.finish_search().unwrap();
    assert_eq!(ledger.faults().problems, Vec::<String>::new());
    ledger.close();
    assert_eq!(World::rows_of(&well.path("ledger.db")), rows);
    let left = fs::read_dir(well.path("ledger.db.aside")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "nothing is kept of it");
    // Without the journal the same is a loss.
    let lost = cut(false);
    assert!(damaged_commits(&lost.path("ledger.db")).unwrap() > 0);
    let ledger = lost.open();
    ledger.finish_search().unwrap();
    assert!(ledger.faults().damaged_commits > 0);
}

#[test]
fn a_small_store_that_is_damaged_answers_nothing_before_it_says_so() {
    let folder = closed(200);
    folder.flip("ledger.db", bit_of(&folder.copy(), "word").1);
    // So slow that no second slice is ever read beside everything else.
    let check = CheckPace { bytes_per_second: 1, rest: Duration::from_hours(9) };
    let ledger = Ledger::open(&folder.path("ledger.db"), Options { check, ..Options::default() }).unwrap();
    let faults = ledger.faults();
    assert_eq!((faults.damaged_pages, faults.check.rounds), (1, 1), "{faults:?}");
    assert!(faults.problems[0].contains(" in `word`"), "{:?}", faults.problems);
}

#[test]
fn a_store_of_which_all_was_deleted_is_no_longer_damaged() {
    let folder = closed(200);
    folder.flip("ledger.db", bit_of(&folder.copy(), "entry").1);
    let ledger = folder.open();
    ledger.check_all_pages().unwrap();
    assert_eq!(ledger.faults().damaged_pages, 1);
    ledger.purge_all_with(Millis(i64::MAX / 2), |_| {}).unwrap();
    ledger.check_all_pages().unwrap();
    assert_eq!(ledger.faults().damaged_pages, 0, "{:?}", ledger.faults().problems);
    ledger.close();
    assert_eq!(folder.checked().problems, Vec::<String>::new());
}
