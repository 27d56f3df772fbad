//! One event with everything behind it, and the rows that changed since the last look.

use std::collections::BTreeMap;

use agent_tracer_event::{Channel, Entry, FactId, Metadata};
use rusqlite::{Connection, OptionalExtension};
use serde_json::Value;

use super::row::RowBuilder;
use super::task;
use super::text::Texts;
use crate::fold::{SourcedEntry, fold};
use crate::project::List;
use crate::sqlite::facts::{self, StoredFact, word_at};
use crate::sqlite::{entry_codec, tasks};
use crate::store::{Answer, QueryError};
use crate::view::{EntryDetail, EventDetail, Row};

/// More entries than this are not shown. A fact has two or three; a status line that never changes may have thousands.
const MOST_ENTRIES: i64 = 1_000;

/// So many rows are sent at once, whatever is asked for.
const MOST_CHANGES: u32 = 5_000;

/// Returns one event.
pub(crate) fn event(conn: &Connection, id: &FactId) -> Answer<EventDetail> {
    let task = task::number(conn, &id.task())?;
    let stored = find(conn, task, id.number().cast_signed())?;
    let stored = stored.filter(|stored| stored.row.list != List::Turn).ok_or(QueryError::NotFound)?;
    let mut find = conn.prepare_cached(
        "SELECT seq, uid, channel, machine, data FROM entry WHERE task = ?1 AND fact = ?2 LIMIT ?3",
    )?;
    let mut rows = find.query([task, stored.row.fact, MOST_ENTRIES])?;
    let key = tasks::key(conn, task)?.ok_or(QueryError::NotFound)?;
    let mut texts = Texts::new(conn);
    let mut reported = Vec::new();
    let mut entries = Vec::new();
    while let Some(row) = rows.next()? {
        let channel = word_at(Channel::ALL, row.get(2)?).unwrap_or(Channel::Http);
        // An entry that cannot be read says nothing here; the row still shows what was folded from it.
        let Some(entry) = entry_codec::read(row.get_ref(4)?.as_blob().unwrap_or_default(), &key) else {
            continue;
        };
        entries.push(EntryDetail {
            seq: u64::try_from(row.get::<_, i64>(0)?).unwrap_or(0),
            entry_id: entry_id(row.get(1)?),
            channel,
            phase: entry.phase,
            occurred_at: entry.occurred_at,
            evidence: entry.evidence.reason.clone(),
            certainty: entry.evidence.certainty,
            fields: fields(&entry),
            machine_id: texts.word(row.get(3)?)?,
        });
        reported.push(SourcedEntry { entry, channel });
    }
    entries.sort_by_key(|entry| entry.seq);
    let field_channels: BTreeMap<String, Channel> =
        fold(&reported).map(|fact| fact.field_channels).unwrap_or_default();
    let row = RowBuilder::new(conn).row(&stored.row, task, stored.changed)?;
    Ok(EventDetail { row, field_channels, entries })
}

/// Returns the fact with this number, or the one that it became part of.
fn find(conn: &Connection, task: i64, number: i64) -> rusqlite::Result<Option<StoredFact>> {
    if let Some(stored) = facts::load(conn, task, number)? {
        return Ok(Some(stored));
    }
    let alias: Option<i64> = conn
        .prepare_cached("SELECT fact FROM alias WHERE task = ?1 AND key = ?2")?
        .query_row([task, number], |row| row.get(0))
        .optional()?;
    alias.map_or(Ok(None), |fact| facts::load(conn, task, fact))
}

/// Returns the id of an entry from its number in the store: the letter of entries and the number in base 32.
fn entry_id(uid: i64) -> String {
    const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bits = uid.cast_unsigned();
    let mut id = String::from("n");
    for _ in 0..20 {
        id.push(ALPHABET.get((bits & 31) as usize).map_or('0', |byte| char::from(*byte)));
        bits >>= 5;
    }
    id
}

/// Returns the fields of an entry that are not presented elsewhere.
fn fields(entry: &Entry) -> Metadata {
    let mut fields = match serde_json::to_value(entry) {
        Ok(Value::Object(fields)) => fields,
        _ => Metadata::new(),
    };
    for shown in ["phase", "task", "occurredAt", "evidence", "order"] {
        fields.shift_remove(shown);
    }
    fields
}

/// Returns about `limit` rows that changed after a position in the order of delivery, in that order, and always all
/// that changed at the last position, so that the next call continues without a gap.
pub(crate) fn changes(conn: &Connection, after: u64, limit: u32) -> Answer<Vec<Row>> {
    let limit = i64::from(limit.clamp(1, MOST_CHANGES));
    let mut after = i64::try_from(after).unwrap_or(i64::MAX);
    let mut builder = RowBuilder::new(conn);
    loop {
        let last: Option<i64> = conn
            .prepare_cached("SELECT max(changed) FROM (SELECT changed FROM fact WHERE changed > ?1 ORDER BY changed LIMIT ?2)")?
            .query_row([after, limit], |row| row.get(0))?;
        let Some(last) = last else { return Ok(Vec::new()) };
        let changed = facts::select(
            conn,
            "WHERE f.changed > ?1 AND f.changed <= ?2 ORDER BY f.changed, f.id",
            [after, last],
        )?;
        let mut rows = Vec::with_capacity(changed.len());
        for stored in changed.iter().filter(|stored| stored.row.list != List::Turn) {
            rows.push(builder.row(&stored.row, stored.task, stored.changed)?);
        }
        if !rows.is_empty() {
            return Ok(rows);
        }
        // Only turns changed, which are no rows: the next rows may be behind them.
        after = last;
    }
}

#[cfg(test)]
mod tests {
    use agent_tracer_event::EntryId;

    use super::*;

    #[test]
    fn an_entry_has_an_id_of_the_right_shape() {
        for uid in [0, 1, -1, i64::MAX, i64::MIN] {
            assert!(EntryId::parse(&entry_id(uid)).is_some(), "{uid}");
        }
        assert_ne!(entry_id(1), entry_id(2));
    }
}
