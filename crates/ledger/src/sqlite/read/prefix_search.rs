//! The law of search: what is found is what has the words, newest first, whichever way the index is asked and in
//! whatever order the rows arrived.

use std::collections::HashSet;

use agent_tracer_event::{
    Agent, Certainty, Channel, Entry, Evidence, Kind, Millis, Phase, Reading, Subject, TaskKey, attributes,
};
use proptest::prelude::*;
use rusqlite::Connection;

use super::follower::{document, document_of_task, is_indexed};
use super::fts_query::{Bounds, ask};
use super::search::search_within;
use super::task_words::TaskWords;
use crate::sqlite::facts;
use crate::store::{Paging, Range, SearchFilter};
use crate::{Batch, Ledger, Observed, Options, Verdict};

/// One by one, merged, read, and each of them by how many there are.
const WAYS: [Bounds; 5] = [
    Bounds { single: usize::MAX, merged: 0 },
    Bounds { single: 0, merged: i64::MAX },
    Bounds { single: 0, merged: 0 },
    Bounds { single: 2, merged: 6 },
    Bounds::USUAL,
];

/// Returns when the fact at a place happened: not in the order of arrival, and several in one second.
fn moment(place: usize, shift: i64) -> Millis {
    let scattered = i64::try_from(place * 7_919 % 41).unwrap();
    Millis(1_790_000_000_000 + (scattered * 400 + shift) * if place.is_multiple_of(4) { 90_000 } else { 1 })
}

/// Returns facts with these texts, two kinds of them in turn, in three tasks whose titles are the first texts.
fn reported(texts: &[String], shift: i64) -> Vec<Observed> {
    let tell = |(place, text): (usize, &String)| {
        let task = TaskKey::new(Agent::CODEX, format!("session-{}", place % 3));
        let evidence = || Evidence { certainty: Certainty::Measured, reason: String::new() };
        let at = moment(place, shift);
        // Fill levels are not searched.
        let kind = [Kind::UserMessage, Kind::TerminalCommand, Kind::ContextSnapshot][place % 3];
        let key = format!("fact:{place}");
        let mut fact = Entry::new(Subject::Event(kind), Phase::Close, task.clone(), &key, at, evidence());
        // No two have the same title.
        fact.title = Some(format!("{text} ~{place}"));
        fact.body = texts.get(place / 2).cloned();
        let mut entries = vec![fact];
        if place < 3 {
            let mut about = Entry::new(Subject::Task, Phase::Update, task, "task", at, evidence());
            about.metadata.insert(attributes::TITLE.to_owned(), text.as_str().into());
            about.metadata.insert(attributes::TITLE_SOURCE.to_owned(), "prompt".into());
            entries.push(about);
        }
        Observed {
            name: format!("{key} {shift}"),
            source: None,
            agent: Agent::CODEX,
            channel: Channel::Hook,
            arrived: at,
            verdict: Verdict::Read(Reading { entries, ..Reading::default() }),
            payload: None,
            kept: None,
        }
    };
    texts.iter().enumerate().map(tell).collect()
}

/// Returns the titles of all hits, over pages of this length.
fn found(conn: &Connection, filter: &SearchFilter, bounds: Bounds, limit: u32) -> Vec<String> {
    let (mut titles, mut cursor) = (Vec::new(), None);
    loop {
        let range = Range { paging: Paging { cursor, limit }, ..filter.range.clone() };
        let page = search_within(conn, &SearchFilter { range, ..filter.clone() }, bounds).unwrap();
        titles.extend(page.items.into_iter().map(|hit| hit.row.title));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return titles;
        }
    }
}

/// Returns a word that begins like many others: plain, with parts, with digits, with letters of other scripts.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{1,4}[0-9]{0,2}", "[ab]{1,2}_[ab1]{1,2}", "[ab]{1,2}[AB][ab]{0,2}", "[aä検索]{1,3}"]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn every_way_to_ask_finds_what_has_the_words(
        texts in proptest::collection::vec(proptest::collection::vec(word(), 1..4), 3..40),
        questions in proptest::collection::vec(proptest::collection::vec(word(), 1..3), 8),
        limit in 1_u32..9,
    ) {
        let texts: Vec<String> = texts.iter().map(|words| words.join(" ")).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let ledger = Ledger::open(&path, Options::default()).unwrap();
        // Some are said again to have happened at another moment, after search has seen them.
        for (observed, shift) in [(texts.as_slice(), 0), (&texts[..texts.len() / 2], -1_500)] {
            ledger.append(Batch { observed: reported(observed, shift), ..Batch::default() }).unwrap();
            ledger.finish_search().unwrap();
        }
        let conn = Connection::open(&path).unwrap();
        let facts = facts::select(&conn, "ORDER BY f.occurred DESC, f.id DESC", []).unwrap();
        let documents: i64 =
            conn.query_row("SELECT count(*) FROM search_docsize WHERE id > 0", [], |row| row.get(0)).unwrap();
        let indexed = facts.iter().filter(|stored| is_indexed(&stored.row)).count();
        prop_assert_eq!(usize::try_from(documents), Ok(indexed), "a row has one document");
        let tasks: Vec<(i64, String, String)> = conn
            .prepare("SELECT id, title, session FROM task").unwrap()
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap()
            .collect::<rusqlite::Result<_>>().unwrap();
        for words in &questions {
            let question = words.join(" ");
            let ask = ask(&question);
            for kind in [None, Some(Kind::TerminalCommand)] {
                let filter = SearchFilter { q: question.clone(), kind, ..SearchFilter::default() };
                let expected: Vec<String> = facts
                    .iter()
                    .filter(|stored| kind.is_none() || stored.row.kind == kind)
                    .filter(|stored| ask.is_met_by(&document(stored)))
                    .map(|stored| stored.row.data.title.clone())
                    .collect();
                for bounds in WAYS {
                    let found = found(&conn, &filter, bounds, limit);
                    prop_assert_eq!(&found, &expected, "`{}` of {:?} within {:?}", question, kind, bounds);
                }
            }
            let expected: HashSet<i64> = tasks
                .iter()
                .filter(|(_, title, session)| ask.is_met_by(&document_of_task(title, session)))
                .map(|(id, _, _)| *id)
                .collect();
            for bounds in WAYS {
                let words = TaskWords::parse(&conn, &question, bounds).unwrap();
                let all = tasks.iter().map(|(id, _, _)| *id).collect();
                let among = words.as_ref().map(|words| words.filter_tasks(&conn, all).unwrap()).unwrap_or_default();
                prop_assert_eq!(&among, &expected, "`{}` within {:?}", question, bounds);
                if let Some(few) = words.and_then(|words| words.find_tasks(&conn, usize::MAX).unwrap()) {
                    prop_assert_eq!(&few, &expected, "`{}` within {:?}", question, bounds);
                }
            }
        }
    }
}
