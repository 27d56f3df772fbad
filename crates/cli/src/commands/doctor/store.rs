//! The ledger itself: whether it can be opened, whether it is whole, and what stands beside it that it could not take.
//!
//! Law: writes nothing. While a server has the ledger, its log is left to it; the pages themselves may be read all the same.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use agent_tracer_event::Millis;
use agent_tracer_ledger::{
    OpenError, check_pages, check_store, damaged_commits, error_text, foreign_log, set_aside,
};
use agent_tracer_spool::Home;

use super::check::{Check, Group, State, counted};
use crate::failure::plain;
use crate::instance::Instance;
use crate::{figures, store_backups};

/// Time limit for the check of a large ledger; the rest is then left unchecked.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for the brief form.
const PATIENCE_BRIEF: Duration = Duration::from_secs(1);

fn check(name: &'static str, state: State, text: impl Into<String>) -> Check {
    Check::new(Group::Home, name, state, text)
}

pub(super) fn checks(home: &Home, is_brief: bool, now: Millis) -> Vec<Check> {
    let path = home.data().join("ledger.db");
    let patience = if is_brief { PATIENCE_BRIEF } else { PATIENCE };
    let is_held = Instance::is_held(home);
    // Not beside a server: it changes the file and its log together, and a look between two changes proves nothing.
    let foreign = if is_held { None } else { foreign_log(&path) };
    let mut checks = match foreign {
        Some(why) => vec![check("ledger", State::Fail, format!("cannot use `{}`: {why}", path.display())).fix(
            "put the file back that belongs to the log, or run `agent-tracer recover`, which keeps both and goes on with \
             what can be read",
        )],
        None => vec![ledger(&path, patience)],
    };
    checks.extend(posts(&beside(&path, "-journal-of-posts")));
    if !is_held {
        checks.extend(log(&path));
        // A server compares them itself, and moves pages meanwhile.
        checks.extend(pages(&path, patience));
    }
    checks.extend(backups(home, now));
    let aside = set_aside(&path);
    if aside > 0 {
        let text =
            format!("{} could not be written and {} set aside", counted(aside, "posted event"), were(aside));
        checks.push(check("set_aside", State::Warn, text).fix(format!(
            "see why: cat '{}'/*.reason; every start of the server tries them again",
            beside(&path, ".aside").display()
        )));
    }
    checks
}

/// Checks the age of the last backup of the store against its schedule.
fn backups(home: &Home, now: Millis) -> Option<Check> {
    let standing = store_backups::status(home, now);
    if let Some(problem) = standing.problem {
        let (text, hint) = problem.split_once("\nhint: ").unwrap_or((&problem, "agent-tracer backup create"));
        return Some(check("backup", State::Warn, text.strip_prefix("error: ").unwrap_or(text)).fix(hint));
    }
    let schedule = standing.schedule.map_or_else(String::new, |(every, keep)| {
        format!("; one is made every {} and {keep} are kept", store_backups::span(every))
    });
    match standing.last {
        Some(last) => {
            let age = figures::age(now.0.saturating_sub(last.0));
            Some(check("backup", State::Ok, format!("the store was backed up {age} ago{schedule}")))
        }
        None if standing.schedule.is_some() => {
            Some(check("backup", State::Info, format!("the store has no backup yet{schedule}")))
        }
        None if home.data().join("ledger.db").exists() => {
            let text = "the store was never backed up";
            Some(check("backup", State::Info, text).fix("agent-tracer backup create --every 1d --keep 7"))
        }
        None => None,
    }
}

fn were(count: u64) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(end);
    PathBuf::from(beside)
}

fn ledger(path: &Path, patience: Duration) -> Check {
    let shown = path.display();
    match path.try_exists() {
        Ok(true) => {}
        Ok(false) if beside(path, "-wal").exists() => {
            let text = format!("`{shown}` is gone, but its log is there: nothing of it can be shown");
            return check("ledger", State::Fail, text).fix(
                "restore the file, or run `agent-tracer recover`, which salvages the contents of the log",
            );
        }
        Ok(false) => return check("ledger", State::Info, "nothing is recorded yet"),
        Err(cause) => {
            return check("ledger", State::Fail, format!("cannot access `{shown}`: {}", plain(&cause)))
                .fix("check the owner and mode of the home folder");
        }
    }
    let until = Instant::now() + patience;
    match check_store(path, move || Instant::now() < until) {
        Ok(true) => check("ledger", State::Ok, "the ledger is readable and intact"),
        Ok(false) => {
            let text = format!(
                "the ledger can be read; {} s were too short to look through all of it",
                patience.as_secs()
            );
            check("ledger", State::Info, text)
        }
        Err(error) => {
            let message = error_text(&error);
            let (text, hint) =
                message.split_once("\nhint: ").unwrap_or((&message, "see the log of the server"));
            // An older one is brought up to date by the next start, and nothing is wrong with it.
            let state = if matches!(error, OpenError::Older { .. }) { State::Info } else { State::Fail };
            let check = check("ledger", state, format!("cannot open `{shown}`: {text}"));
            match store_backups::hint(path).filter(|_| matches!(error, OpenError::Corrupt(_))) {
                Some(backup) => check.fix(format!("{hint}\n{backup}")),
                None => check.fix(hint),
            }
        }
    }
}

/// Checks that the journal of posts is readable: otherwise the server does not start.
fn posts(path: &Path) -> Option<Check> {
    match std::fs::File::open(path) {
        Ok(_) => None,
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => None,
        Err(cause) => {
            let text = format!("the journal of posts `{}` cannot be read: {}", path.display(), plain(&cause));
            Some(
                check("journal", State::Fail, text)
                    .fix("check its owner and mode: it holds posts that were acknowledged"),
            )
        }
    }
}

fn log(path: &Path) -> Option<Check> {
    match damaged_commits(path) {
        Ok(0) => None,
        Ok(commits) => {
            let text = format!(
                "{} in the log of the ledger {} behind a part that cannot be read, and would be dropped by the next start",
                counted(commits, "commit"),
                if commits == 1 { "stands" } else { "stand" }
            );
            Some(check("log", State::Fail, text).fix(
                "`agent-tracer recover` uses them and keeps the files; after a power cut they may never have been acknowledged",
            ))
        }
        Err(cause) => Some(
            check("log", State::Fail, format!("cannot read the log of the ledger: {}", plain(&cause)))
                .fix("check the owner and mode of `ledger.db-wal`"),
        ),
    }
}

/// Pages are compared with their sums: damage of what stands on them is seen by nothing else.
fn pages(path: &Path, patience: Duration) -> Option<Check> {
    let until = Instant::now() + patience;
    match check_pages(path, move || Instant::now() < until) {
        Ok(report) if !report.damaged.is_empty() => {
            Some(check("pages", State::Fail, report.words()).fix(report.way_out()))
        }
        Ok(report) if report.changed > 0 => {
            let text = format!(
                "{} of the ledger {} changed while no server used it, by another program or by the disk",
                counted(report.changed, "page"),
                were(report.changed)
            );
            Some(check("pages", State::Fail, text).fix(report.way_out()))
        }
        // Only a whole comparison is a good line: a part of the pages proves nothing of the rest.
        Ok(report) if report.compared > 0 && report.is_whole => {
            let text = format!("{} of the ledger are what was written", counted(report.compared, "page"));
            Some(check("pages", State::Ok, text))
        }
        Ok(_) => None,
        // Where the ledger itself cannot be read, that was said already.
        Err(cause) if path.exists() => {
            let text = format!("cannot compare the pages of the ledger with their sums: {}", plain(&cause));
            Some(check("pages", State::Warn, text).fix("check the owner and mode of `ledger.db.sums`"))
        }
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{File, OpenOptions};
    use std::os::unix::fs::FileExt;

    use agent_tracer_ledger::{Ledger, Options};

    use super::*;

    fn findings(home: &Home) -> Vec<(&'static str, State, String)> {
        checks(home, false, Millis(1_790_000_000_000))
            .into_iter()
            .map(|check| (check.name, check.state, check.text))
            .collect()
    }

    /// Returns a home with a ledger that was closed.
    fn home(folder: &tempfile::TempDir) -> (Home, PathBuf) {
        let home = Home::in_folder(folder.path());
        let path = home.data().join("ledger.db");
        Ledger::open(&path, Options::default()).expect("a ledger").close();
        (home, path)
    }

    #[test]
    fn a_ledger_that_is_well_or_not_there_is_no_failure() {
        let folder = tempfile::tempdir().expect("a folder");
        let empty = Home::in_folder(folder.path());
        assert_eq!(findings(&empty), [("ledger", State::Info, "nothing is recorded yet".to_owned())]);
        let (home, _) = home(&folder);
        let seen = findings(&home);
        let names: Vec<_> = seen.iter().map(|(name, state, _)| (*name, *state)).collect();
        assert_eq!(names, [("ledger", State::Ok), ("pages", State::Ok), ("backup", State::Info)], "{seen:?}");
    }

    #[test]
    fn what_cannot_be_opened_is_named_for_what_it_is_with_a_way_out() {
        type Damage<'a> = &'a dyn Fn(&File);
        let garbage = |file: &File| file.write_all_at(&[0x5a; 20_000], 0).expect("written");
        let zeros = |file: &File| file.write_all_at(&[0; 20_000], 0).expect("written");
        let hole = |file: &File| file.write_all_at(&vec![0x5a; 200_000], 8192).expect("written");
        let empty = |file: &File| file.set_len(0).expect("cut");
        let newer = |file: &File| file.write_all_at(&99_u32.to_be_bytes(), 60).expect("written");
        let theirs = |file: &File| file.write_all_at(&7_u32.to_be_bytes(), 68).expect("written");
        let cases: [(&str, Damage<'_>); 6] = [
            ("damaged", &garbage),
            ("damaged", &zeros),
            ("damaged", &hole),
            ("it is empty", &empty),
            ("newer version (schema 99", &newer),
            ("another program", &theirs),
        ];
        for (word, damage) in cases {
            let folder = tempfile::tempdir().expect("a folder");
            let (home, path) = home(&folder);
            damage(&OpenOptions::new().write(true).open(&path).expect("the ledger"));
            let checks = checks(&home, false, Millis(1_790_000_000_000));
            let (state, text) = (checks[0].state, checks[0].text.as_str());
            assert!(state == State::Fail && text.contains(word), "{word}: {text}");
            assert!(checks[0].fix.is_some(), "{word}");
        }
    }

    #[test]
    fn a_flipped_bit_on_a_page_is_a_failure_with_a_way_out() {
        let folder = tempfile::tempdir().expect("a folder");
        let (home, path) = home(&folder);
        let file = OpenOptions::new().read(true).write(true).open(&path).expect("the ledger");
        // In the free space of a page, where nothing else could see it.
        let mut byte = [0];
        file.read_exact_at(&mut byte, 3 * 4096 + 2000).expect("a byte");
        file.write_all_at(&[byte[0] ^ 16], 3 * 4096 + 2000).expect("written");
        let checks = checks(&home, true, Millis(1_790_000_000_000));
        let found = checks.iter().find(|check| check.name == "pages").expect("a check");
        assert!(found.state == State::Fail && found.text.contains("page 4 in `"), "{}", found.text);
        assert!(found.fix.as_ref().is_some_and(|fix| fix.contains("agent-tracer rec")), "{:?}", found.fix);
    }

    #[test]
    fn a_ledger_that_is_gone_while_its_log_is_there_is_not_a_new_home() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::in_folder(folder.path());
        File::create(home.data().join("ledger.db-wal")).expect("a log");
        let found = findings(&home);
        assert!(found[0].1 == State::Fail && found[0].2.contains("is gone"), "{found:?}");
    }
}
