//! Damages stores in every way that comes to mind, and holds what is salvaged against what was there.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::mpsc::channel;
use std::time::Duration;

use agent_tracer_event::{Agent, Channel, Entry, Evidence, Kind, Phase, Reading, Subject, TaskKey};
use rusqlite::Connection;
use rusqlite::types::Value;

use super::btree::Page;
use super::pages::{PageNumber, Pages};
use super::*;
use crate::observation::{Batch, Observed, Verdict};

const PAGE: u64 = 4096;
const POSTED: u64 = 40;

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn throw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 24
    }
}

/// Events of many sessions in turn, with texts of all lengths.
struct History {
    dice: Dice,
    made: u64,
}

impl History {
    fn new(seed: u64) -> Self {
        Self { dice: Dice(seed), made: 0 }
    }

    fn batch(&mut self, count: u64) -> Vec<Observed> {
        (0..count).map(|_| self.next()).collect()
    }

    fn next(&mut self) -> Observed {
        self.made += 1;
        // A session goes on for a while, and another one after it.
        let session = format!("session-{}", self.made / 40 + self.dice.throw() % 4);
        let at = Millis(1_790_000_000_000 + self.made.cast_signed() * 1_000);
        let key = format!("tool:{}", self.made);
        let task = TaskKey::new(Agent::CLAUDE_CODE, session);
        let subject = Subject::Event(Kind::ToolUsed);
        let mut entry = Entry::new(subject, Phase::Open, task, &key, at, Evidence::reported("test"));
        entry.tool_name = Some("Bash".to_owned());
        let length = if self.dice.throw().is_multiple_of(40) { 30_000 } else { self.dice.throw() % 900 };
        entry.body = Some((0..length).map(|_| char::from(b'a' + (self.dice.throw() % 26) as u8)).collect());
        Observed {
            name: format!("{:019}-{}", at.0 * 1_000_000, self.made),
            source: None,
            agent: Agent::CLAUDE_CODE,
            channel: Channel::Hook,
            arrived: at,
            payload: None,
            kept: Some(format!("{{\"number\": {}}}", self.made).into_bytes()),
            verdict: Verdict::Read(Reading { entries: vec![entry], ..Reading::default() }),
        }
    }
}

/// The files of a store as a process leaves them that is killed: much in the file, some in the log, some in the
/// journal.
struct Original {
    folder: tempfile::TempDir,
    /// Rows by table and key.
    rows: BTreeMap<&'static str, BTreeMap<String, String>>,
    /// The tasks of which a row stands on a page, or on the pages that it goes on to.
    tasks_of_page: HashMap<PageNumber, BTreeSet<i64>>,
    /// The number of entries of each task.
    entries_of_task: BTreeMap<i64, i64>,
    pages: PageNumber,
}

fn folder() -> tempfile::TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

fn copy_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.path().is_file() {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

/// Each table with how many columns its key has. Numbers that are given in the order of arrival are left out.
const KEYS: &[(&str, usize, &str)] = &[
    (
        "entry",
        2,
        "SELECT t.uid, e.uid, e.fact, e.channel, CASE WHEN w.text LIKE 'unreadable %' THEN 'local' ELSE w.text END, e.data \
         FROM entry e JOIN task t ON t.id = e.task JOIN word w ON w.id = e.machine",
    ),
    ("source", 2, "SELECT time, name, agent, channel, arrived, payload, kept FROM source WHERE arrived > 0"),
    ("task", 1, "SELECT uid, agent, session, told FROM task"),
    ("cursor", 1, "SELECT source, agent, offset, state FROM cursor"),
    ("alias", 2, "SELECT t.uid, a.key, a.fact FROM alias a JOIN task t ON t.id = a.task"),
    ("tombstone", 1, "SELECT task, until FROM tombstone"),
];

fn rows(path: &Path) -> BTreeMap<&'static str, BTreeMap<String, String>> {
    let conn = Connection::open(path).unwrap();
    let mut all = BTreeMap::new();
    for (table, width, sql) in KEYS {
        let mut find = conn.prepare(sql).unwrap();
        let columns = find.column_count();
        let mut rows = find.query([]).unwrap();
        let mut found = BTreeMap::new();
        while let Some(row) = rows.next().unwrap() {
            let values: Vec<String> =
                (0..columns).map(|place| format!("{:?}", row.get::<_, Value>(place).unwrap())).collect();
            found.insert(values[..*width].join("|"), values.join("|"));
        }
        all.insert(*table, found);
    }
    all
}

fn original() -> Original {
    let live = folder();
    let path = live.path().join("ledger.db");
    let mut history = History::new(7);
    let bring = |ledger: &Ledger, observed| {
        ledger.append(Batch { observed, ..Batch::default() }).unwrap();
    };
    let ledger = Ledger::open(&path, Options::default()).unwrap();
    bring(&ledger, history.batch(650));
    // Some pages are free, and hold rows of tasks that were deleted.
    let gone: Vec<_> = ledger.every_task().unwrap().into_iter().step_by(5).collect();
    ledger.purge(gone, Millis(4_000_000_000_000)).unwrap();
    ledger.close();
    drop(ledger);
    let ledger = Ledger::open(&path, Options::default()).unwrap();
    bring(&ledger, history.batch(180));
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
    let (tell, done) = channel();
    let posted = Batch { observed: history.batch(POSTED), ..Batch::default() };
    ledger.post(posted, move |answer| tell.send(answer.is_ok()).unwrap()).unwrap();
    assert!(done.recv_timeout(Duration::from_secs(60)).unwrap());
    let left = folder();
    copy_all(live.path(), left.path());
    drop(go);
    ledger.close();
    drop(ledger);
    // What it is when everything is well.
    let whole = folder();
    copy_all(left.path(), whole.path());
    let whole_path = whole.path().join("ledger.db");
    let ledger = Ledger::open(&whole_path, Options::default()).unwrap();
    ledger.fold_waiting().unwrap();
    ledger.close();
    drop(ledger);
    let rows = rows(&whole_path);
    let conn = Connection::open(&whole_path).unwrap();
    let mut find = conn.prepare("SELECT task, count(*) FROM entry GROUP BY task").unwrap();
    let entries_of_task =
        find.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let pages = Pages::open(&left.path().join("ledger.db"), None).unwrap();
    let tables = rows::tables(&conn).unwrap();
    let mut tasks_of_page: HashMap<PageNumber, BTreeSet<i64>> = HashMap::new();
    for page in 1..=pages.count {
        pages.trace.borrow_mut().clear();
        let Some(Page::Leaf(rows)) = Page::read(&pages, page) else { continue };
        let trace = pages.trace.borrow().clone();
        let mut tasks = BTreeSet::new();
        for row in rows.into_iter().flatten() {
            if tables["entry"].fits(&row.values)
                && let Some(Value::Integer(task)) = row.values.get(1)
            {
                tasks.insert(*task);
            }
            if tables["task"].fits(&row.values) {
                tasks.insert(row.id);
            }
        }
        for page in trace {
            tasks_of_page.entry(page).or_default().extend(&tasks);
        }
    }
    let count = pages.count;
    Original { folder: left, rows, tasks_of_page, entries_of_task, pages: count }
}

/// The damage that a test did to a store.
struct Damage {
    words: String,
    /// Pages of the file that were touched; none if it is not known which.
    pages: Option<BTreeSet<PageNumber>>,
    /// The log and the journal are intact.
    has_log: bool,
    has_posts: bool,
    /// Rows that may differ: one bit is one row.
    may_differ: usize,
    /// The damage leaves nothing to salvage.
    is_hopeless: bool,
}

impl Damage {
    fn new(words: impl Into<String>) -> Self {
        let words = words.into();
        Self {
            words,
            pages: Some(BTreeSet::new()),
            has_log: true,
            has_posts: true,
            may_differ: 0,
            is_hopeless: false,
        }
    }
}

fn write_at(path: &Path, bytes: &[u8], at: u64) {
    OpenOptions::new().write(true).open(path).unwrap().write_all_at(bytes, at).unwrap();
}

fn flip(path: &Path, at: u64, bit: u32) {
    let file = OpenOptions::new().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ (1 << bit)], at).unwrap();
}

/// Brings the log into the file first: what is damaged then cannot be read from the log.
fn without_log(folder: &Path) {
    let conn = Connection::open(folder.join("ledger.db")).unwrap();
    conn.pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
}

fn damage(folder: &Path, number: usize, dice: &mut Dice, pages: PageNumber) -> Damage {
    let path = folder.join("ledger.db");
    let (log, posts) = (folder.join("ledger.db-wal"), folder.join("ledger.db-journal-of-posts"));
    let any_page = |dice: &mut Dice| 2 + (dice.throw() % u64::from(pages - 1)) as PageNumber;
    match number % 13 {
        kind @ 0..=2 => {
            let count = [1, 3, 12][kind];
            let chosen: BTreeSet<PageNumber> = (0..count).map(|_| any_page(dice)).collect();
            for page in &chosen {
                write_at(&path, &[0; PAGE as usize], u64::from(page - 1) * PAGE);
            }
            Damage { pages: Some(chosen.clone()), ..Damage::new(format!("zeroed pages {chosen:?}")) }
        }
        3 | 4 => {
            let (page, at, bit) = (any_page(dice), dice.throw() % PAGE, (dice.throw() % 8) as u32);
            flip(&path, u64::from(page - 1) * PAGE + at, bit);
            let words = format!("a flipped bit on page {page} at {at}");
            Damage { pages: Some(BTreeSet::from([page])), may_differ: 1, ..Damage::new(words) }
        }
        5 => {
            let length = u64::from(pages) * PAGE * (1 + dice.throw() % 9) / 10 + 77;
            OpenOptions::new().write(true).open(&path).unwrap().set_len(length).unwrap();
            let first = (length / PAGE) as PageNumber + 1;
            Damage { pages: Some((first..=pages).collect()), ..Damage::new(format!("cut to {length} bytes")) }
        }
        6 => {
            write_at(&path, &[0x5a; 100], 0);
            Damage { pages: Some(BTreeSet::from([1])), ..Damage::new("a garbage head") }
        }
        7 => {
            fs::remove_file(&log).unwrap();
            Damage { has_log: false, ..Damage::new("a lost log") }
        }
        8 => {
            let length = fs::metadata(&log).unwrap().len();
            write_at(&log, &[0x5a; 700], dice.throw() % (length - 700));
            Damage { has_log: false, ..Damage::new("a damaged log") }
        }
        9 => {
            write_at(&posts, &[0x5a; 300], 24 + dice.throw() % 4_000);
            Damage { has_posts: false, ..Damage::new("a damaged journal") }
        }
        10 => {
            for path in [&log, &posts] {
                drop(fs::remove_file(path));
            }
            File::options().write(true).open(&path).unwrap().set_len(0).unwrap();
            Damage { is_hopeless: true, ..Damage::new("an empty file") }
        }
        11 => {
            for path in [&path, &log, &posts] {
                drop(fs::remove_file(path));
            }
            let conn = Connection::open(&path).unwrap();
            conn.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
            Damage { is_hopeless: true, ..Damage::new("another program's file") }
        }
        _ => {
            let page = any_page(dice);
            let noise: Vec<u8> = (0..PAGE).map(|_| dice.throw() as u8).collect();
            write_at(&path, &noise, u64::from(page - 1) * PAGE);
            write_at(&path, &noise, 0);
            Damage {
                pages: Some(BTreeSet::from([1, page])),
                ..Damage::new(format!("noise on pages 1 and {page}"))
            }
        }
    }
}

fn bytes_of(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

#[test]
fn of_fifty_damaged_stores_everything_that_is_untouched_is_salvaged_and_nothing_is_invented() {
    let original = original();
    let mut dice = Dice(11);
    let (mut salvaged, mut kinds) = (0, BTreeSet::new());
    for number in 0..52 {
        let damaged = folder();
        copy_all(original.folder.path(), damaged.path());
        if number >= 26 && !matches!(number % 13, 7 | 8) {
            without_log(damaged.path());
        }
        let pages = (fs::metadata(damaged.path().join("ledger.db")).unwrap().len() / PAGE) as PageNumber;
        let damage = damage(damaged.path(), number, &mut dice, pages.min(original.pages));
        kinds.insert(number % 13);
        let before = bytes_of(damaged.path());
        let new = folder();
        let to = new.path().join("ledger.db");
        let outcome = salvage(&damaged.path().join("ledger.db"), &to, Options::default(), |_| {});
        assert_eq!(
            bytes_of(damaged.path()),
            before,
            "{number}: {}: the damaged files stay as they are",
            damage.words
        );
        if damage.is_hopeless {
            let error = outcome.unwrap_err();
            let is_named = matches!(error, SalvageError::Nothing(_) | SalvageError::NotOurs);
            assert!(is_named, "{number}: {}: {error}", damage.words);
            continue;
        }
        let report = outcome.unwrap_or_else(|error| panic!("{number}: {}: {error}", damage.words));
        let found = rows(&to);
        let all = original.rows["entry"].len();
        println!("{}: {} of {all} entries, {} tasks", damage.words, found["entry"].len(), report.tasks);
        let mut differing = Vec::new();
        for (table, rows) in &found {
            for (key, row) in rows {
                if original.rows[table].get(key) != Some(row) {
                    let was =
                        original.rows[table].get(key).map(|was| was.chars().take(300).collect::<String>());
                    differing.push(format!("{table} {:.300}, was {was:?}", row));
                }
            }
        }
        let count = differing.len();
        differing.truncate(3);
        assert!(count <= damage.may_differ, "{number}: {}: {count} differ: {differing:#?}", damage.words);
        let Some(touched) = &damage.pages else { continue };
        // Where the log holds newer rows, the file alone does not tell which pages a task stands on.
        let in_log = if number >= 26 { BTreeSet::new() } else { log_tasks(&original) };
        let hurt: BTreeSet<i64> =
            touched.iter().filter_map(|page| original.tasks_of_page.get(page)).flatten().copied().collect();
        let conn = Connection::open(&to).unwrap();
        for (task, entries) in &original.entries_of_task {
            let is_unclear = in_log.contains(task) && !(damage.has_log && damage.has_posts);
            if hurt.contains(task) || is_unclear || (number >= 26 && log_tasks(&original).contains(task)) {
                continue;
            }
            let sql = "SELECT count(*) FROM entry WHERE task = ?1";
            let there: i64 = conn.query_row(sql, [task], |row| row.get(0)).unwrap();
            assert_eq!(there, *entries, "{number}: {}: task {task}; {report:?}", damage.words);
            salvaged += 1;
        }
    }
    assert!(kinds.len() == 13 && salvaged > 200, "{salvaged}");
}

/// Returns tasks that came, or went on, after the file was last brought up to date.
fn log_tasks(original: &Original) -> BTreeSet<i64> {
    let path = original.folder.path().join("ledger.db");
    let pages = Pages::open(&path, None).unwrap();
    let mut in_file: BTreeMap<i64, i64> = BTreeMap::new();
    let root = schema_roots(&pages)["entry"];
    walk::Walk::new(&pages).table(root, &mut |row| {
        if let Some(Value::Integer(task)) = row.values.get(1) {
            *in_file.entry(*task).or_default() += 1;
        }
    });
    original
        .entries_of_task
        .iter()
        .filter(|(task, count)| in_file.get(task) != Some(count))
        .map(|(task, _)| *task)
        .collect()
}

#[test]
fn a_store_that_is_whole_comes_out_as_it_was() {
    let original = original();
    let new = folder();
    let to = new.path().join("ledger.db");
    let report = salvage(&original.folder.path().join("ledger.db"), &to, Options::default(), |_| {}).unwrap();
    assert!(report.is_whole(), "{report:?}");
    assert_eq!(rows(&to), original.rows);
    assert!(report.posts > 0 && report.log_pages > 0, "{report:?}");
    assert!(matches!(
        salvage(&original.folder.path().join("ledger.db"), &to, Options::default(), |_| {}),
        Err(SalvageError::Exists)
    ));
}

#[test]
fn a_log_without_its_file_or_beside_another_is_neither_removed_nor_used() {
    let original = original();
    let make = || {
        let left = folder();
        copy_all(original.folder.path(), left.path());
        let path = left.path().join("ledger.db");
        (left, path)
    };
    let refused = |path: &Path, what: &str| {
        let before = bytes_of(path.parent().unwrap());
        let error = Ledger::open(path, Options::default()).err().map(|error| error.to_string());
        let error = error.unwrap_or_else(|| panic!("{what}: it opens"));
        assert!(error.contains("log") && error.contains("agent-tracer recover"), "{what}: {error}");
        assert_eq!(bytes_of(path.parent().unwrap()), before, "{what}");
    };
    // Its own file: nothing is wrong.
    let (left, path) = make();
    assert_eq!(lineage::foreign(&path, &beside(&path, LOG)), None);
    Ledger::open(&path, Options::default()).unwrap().close();
    drop(left);
    // No file, as after moving the damaged one aside.
    let (_left, path) = make();
    fs::remove_file(&path).unwrap();
    refused(&path, "no file");
    File::create(&path).unwrap();
    refused(&path, "an empty file");
    // Another state of it, as after copying an older file over it: a copy, the state of an earlier run, another store.
    let (_left, path) = make();
    let copies = folder();
    let copy = copies.path().join("copy.db");
    super::super::copy_store(&path, &copy, Options::default(), |_, _| super::super::Pace::GoOn).unwrap();
    fs::copy(&copy, &path).unwrap();
    refused(&path, "a copy");
    let (_left, path) = make();
    let earlier = fs::read(&path).unwrap();
    let ledger = Ledger::open(&path, Options::default()).unwrap();
    ledger.append(Batch { observed: History::new(3).batch(30), ..Batch::default() }).unwrap();
    let log = fs::read(beside(&path, LOG)).unwrap();
    ledger.close();
    drop(ledger);
    write_at(&path, &earlier, 0);
    File::create(beside(&path, LOG)).unwrap();
    write_at(&beside(&path, LOG), &log, 0);
    refused(&path, "the state of an earlier run");
    // What can be read of it is salvaged without the log.
    let to = copies.path().join("new.db");
    let report = salvage(&path, &to, Options::default(), |_| {}).unwrap();
    assert!(report.foreign_log.is_some() && report.tasks > 0, "{report:?}");
}

#[test]
fn what_was_deleted_on_purpose_does_not_come_back_from_free_pages() {
    let original = original();
    let path = original.folder.path().join("ledger.db");
    let deleted: BTreeSet<String> =
        remains(&path).deleted.into_iter().map(|(task, _)| task.to_string()).collect();
    assert!(deleted.len() > 2);
    without_log(original.folder.path());
    // Every interior page is gone, so every row must be found by itself.
    let pages = Pages::open(&path, None).unwrap();
    for page in 2..=pages.count {
        if matches!(Page::read(&pages, page), Some(Page::Interior(..))) {
            write_at(&path, &[0; PAGE as usize], u64::from(page - 1) * PAGE);
        }
    }
    let new = folder();
    let to = new.path().join("ledger.db");
    let report = salvage(&path, &to, Options::default(), |_| {}).unwrap();
    assert!(report.damaged_pages > 0 && report.tasks > 0, "{report:?}");
    let found = rows(&to);
    for (key, row) in &found["task"] {
        assert!(!deleted.iter().any(|task| row.contains(task.as_str())), "{row}");
        assert_eq!(original.rows["task"].get(key), Some(row));
    }
    for (key, row) in &found["entry"] {
        assert_eq!(original.rows["entry"].get(key), Some(row));
    }
}
