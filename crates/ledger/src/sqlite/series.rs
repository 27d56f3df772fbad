//! Joins what channels tell of one series ([`agent_tracer_event::Series`]): prompts of one turn, or of a session whose
//! hooks do not name their turn, and the answers of such a session.
//!
//! Each channel tells the facts of a series in the same order, so the first of one is the first of the other. Moments
//! only decide where one channel tells more of them than the other: a replay hours later, a clock that differs and a
//! busy machine move all of them alike. Entries are laid to the fact that the file names; where there is none, to the
//! first that tells of it.
//!
//! Law: who belongs to whom follows from all entries of the series and is worked out anew when one of them comes or
//! goes. So it is the same in whatever order they come.

use std::collections::{BTreeMap, BTreeSet};

use agent_tracer_event::{Channel, Entry, Subject};
use rusqlite::params;

use super::append::FoldTransaction;
use super::{entry_codec, facts, tasks};
use crate::project::{List, row};

/// One telling of one fact of a series.
#[derive(Debug)]
struct Member {
    seq: i64,
    source: i64,
    channel: Channel,
    /// The fact that its entry belongs to now.
    fact: i64,
    uid: i64,
    entry: Entry,
}

impl Member {
    fn part(&self) -> &str {
        self.entry.series.as_ref().map_or("", |series| series.part.as_str())
    }

    fn position(&self) -> (i64, u64, i64) {
        (self.entry.occurred_at.0, self.entry.order, self.uid)
    }
}

/// A fact of a series, and what is known of it so far.
#[derive(Debug)]
struct Anchor {
    fact: i64,
    at: (i64, u64, i64),
    part: String,
    turn: Option<String>,
}

/// In which order channels name facts. Each is laid to what those before it reported.
const SIDES: [&[Channel]; 3] = [&[Channel::Transcript], &[Channel::Hook, Channel::Http], &[Channel::Otlp]];

impl FoldTransaction<'_> {
    /// Matches the entries of each touched series to facts again.
    pub(super) fn settle_series(&mut self) -> rusqlite::Result<()> {
        if self.is_rebuild {
            return Ok(());
        }
        let mut wanted: BTreeSet<(i64, i64)> = BTreeSet::new();
        let mut reloaded = Vec::new();
        for ((task, fact), touch) in &self.touched {
            let series = touch.fresh.iter().filter_map(|reported| reported.entry.series.as_ref());
            wanted.extend(series.map(|series| (*task, row::number(&series.name))));
            if touch.reload {
                reloaded.push((*task, *fact));
            }
        }
        for (task, fact) in reloaded {
            let rows = facts::read_outlines(self.conn, "WHERE f.task = ?1 AND f.fact = ?2", [task, fact])?;
            let rows = rows.iter().filter(|row| List::IN_SERIES.contains(&row.list));
            wanted.extend(rows.filter_map(|row| Some((task, row.series()?))));
        }
        for (task, series) in wanted {
            let members = self.members(task, series)?;
            self.join_series(task, members)?;
        }
        Ok(())
    }

    /// Returns whether a source has reported this entry before, whatever fact it belongs to now.
    pub(super) fn has_entry(&self, source: i64, uid: i64) -> rusqlite::Result<bool> {
        self.conn
            .prepare_cached("SELECT 1 FROM entry WHERE source = ?1 AND uid = ?2 LIMIT 1")?
            .exists([source, uid])
    }

    /// Returns all entries of a series, in order.
    fn members(&self, task: i64, series: i64) -> rusqlite::Result<Vec<Member>> {
        let is_of =
            |entry: &Entry| entry.series.as_ref().is_some_and(|known| row::number(&known.name) == series);
        let [prompt, stop] = List::IN_SERIES.map(List::code);
        let mut find = self.conn.prepare_cached(&format!(
            "SELECT fact FROM fact WHERE task = ?1 AND signature = ?2 AND list IN ({prompt}, {stop})"
        ))?;
        let mut found: BTreeSet<i64> =
            find.query_map([task, series], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        for ((_, fact), touch) in self.touched.range((task, i64::MIN)..=(task, i64::MAX)) {
            if touch.fresh.iter().any(|reported| is_of(&reported.entry)) {
                found.insert(*fact);
            }
        }
        let Some(key) = tasks::key(self.conn, task)? else { return Ok(Vec::new()) };
        let mut members = Vec::new();
        let mut find = self.conn.prepare_cached(
            "SELECT seq, source, channel, uid, data FROM entry WHERE task = ?1 AND fact = ?2",
        )?;
        for fact in found {
            let mut rows = find.query([task, fact])?;
            while let Some(row) = rows.next()? {
                let Some(entry) = entry_codec::read(row.get_ref(4)?.as_blob()?, &key).filter(is_of) else {
                    continue;
                };
                let channel = facts::word_at(Channel::ALL, row.get(2)?).unwrap_or(Channel::Hook);
                let (seq, source, uid) = (row.get(0)?, row.get(1)?, row.get(3)?);
                members.push(Member { seq, source, channel, fact, uid, entry });
            }
        }
        members.sort_by_key(Member::position);
        Ok(members)
    }

    fn join_series(&mut self, task: i64, members: Vec<Member>) -> rusqlite::Result<()> {
        let mut anchors: Vec<Anchor> = Vec::new();
        for side in SIDES {
            let mut reported: Vec<&Member> =
                members.iter().filter(|member| side.contains(&member.channel)).collect();
            if side.contains(&Channel::Transcript) {
                // A file numbers its facts itself, and may tell of one in several rows.
                let mut named: BTreeMap<i64, Anchor> = BTreeMap::new();
                for member in reported {
                    let fact = row::number(&member.entry.key);
                    named.entry(fact).or_insert_with(|| Anchor::new(fact, member));
                    self.move_entry(task, member.seq, member.fact, fact)?;
                }
                anchors = named.into_values().collect();
                anchors.sort_by_key(|anchor| anchor.at);
                continue;
            }
            let pairs = pair(&reported, &anchors);
            let mut taken: BTreeSet<i64> = anchors.iter().map(|anchor| anchor.fact).collect();
            for (member, pair) in reported.drain(..).zip(pairs) {
                let own = row::number(&member.entry.key);
                match pair.and_then(|place| anchors.get(place)) {
                    Some(anchor) => {
                        self.move_entry(task, member.seq, member.fact, anchor.fact)?;
                        let turn = anchor.turn.as_deref().map(|turn| row::number(&format!("turn:{turn}")));
                        self.move_turn(task, member, turn)?;
                        self.note_name(task, own, (!taken.contains(&own)).then_some(anchor.fact))?;
                    }
                    None => {
                        let fact = free_fact(&member.entry.key, &taken);
                        taken.insert(fact);
                        self.move_entry(task, member.seq, member.fact, fact)?;
                        self.move_turn(task, member, None)?;
                        self.note_name(task, own, None)?;
                        anchors.push(Anchor::new(fact, member));
                    }
                }
            }
            anchors.sort_by_key(|anchor| anchor.at);
        }
        Ok(())
    }

    fn move_entry(&mut self, task: i64, seq: i64, from: i64, to: i64) -> rusqlite::Result<()> {
        if from == to {
            return Ok(());
        }
        self.conn.prepare_cached("UPDATE entry SET fact = ?2 WHERE seq = ?1")?.execute([seq, to])?;
        for fact in [from, to] {
            self.touched.entry((task, fact)).or_default().reload = true;
        }
        Ok(())
    }

    /// Lays the turn that a prompt without a name began to the one that its pair names, or back to itself.
    fn move_turn(&mut self, task: i64, member: &Member, turn: Option<i64>) -> rusqlite::Result<()> {
        if member.entry.turn.is_some() || member.entry.subject == Subject::Turn {
            return Ok(());
        }
        let mut find =
            self.conn.prepare_cached("SELECT seq, fact, data FROM entry WHERE source = ?1 AND task = ?2")?;
        let mut moves = Vec::new();
        let mut rows = find.query([member.source, task])?;
        while let Some(row) = rows.next()? {
            let reported = entry_codec::read(row.get_ref(2)?.as_blob()?, &member.entry.task);
            if let Some(reported) =
                reported.filter(|reported| reported.subject == Subject::Turn && reported.turn.is_none())
            {
                moves.push((row.get(0)?, row.get(1)?, row::number(&reported.key)));
            }
        }
        drop(rows);
        drop(find);
        for (seq, fact, own) in moves {
            self.move_entry(task, seq, fact, turn.unwrap_or(own))?;
            self.note_name(task, own, turn)?;
        }
        Ok(())
    }

    /// Remembers what became of a fact that a client may have seen under this number, and forgets what it became
    /// before.
    fn note_name(&mut self, task: i64, own: i64, fact: Option<i64>) -> rusqlite::Result<()> {
        match fact.filter(|fact| *fact != own) {
            Some(fact) => self
                .conn
                .prepare_cached("INSERT OR REPLACE INTO alias (task, key, fact) VALUES (?1, ?2, ?3)")?
                .execute(params![task, own, fact])?,
            None => self
                .conn
                .prepare_cached("DELETE FROM alias WHERE task = ?1 AND key = ?2")?
                .execute([task, own])?,
        };
        Ok(())
    }
}

impl Anchor {
    fn new(fact: i64, member: &Member) -> Self {
        let (part, turn) = (member.part().to_owned(), member.entry.turn.clone());
        Self { fact, at: member.position(), part, turn }
    }
}

/// Returns the first fact of this key that no one has: two channels number the same key alike.
fn free_fact(key: &str, taken: &BTreeSet<i64>) -> i64 {
    let own = row::number(key);
    if !taken.contains(&own) {
        return own;
    }
    let numbered = |n: u32| row::number(&agent_tracer_event::Series::nth_key(key, n));
    (2..).map(numbered).find(|fact| !taken.contains(fact)).unwrap_or(own)
}

/// Returns for each telling, in order, the place of the anchor that is the same.
fn pair(reported: &[&Member], anchors: &[Anchor]) -> Vec<Option<usize>> {
    let mut pairs: Vec<Option<usize>> = vec![None; reported.len()];
    let mut named = BTreeSet::new();
    // Entries with the same name are the same.
    for (pair, member) in pairs.iter_mut().zip(reported) {
        let own = row::number(&member.entry.key);
        *pair = anchors.iter().position(|anchor| anchor.fact == own && named.insert(own));
    }
    let mut free: Vec<(usize, &Anchor)> = anchors.iter().enumerate().collect();
    free.retain(|(place, _)| !pairs.contains(&Some(*place)));
    let mut join = |is_ours: &dyn Fn(&Member) -> bool, is_theirs: &dyn Fn(&Anchor) -> bool| {
        let left = pairs.iter_mut().zip(reported).filter(|(pair, member)| pair.is_none() && is_ours(member));
        let (ours, moments): (Vec<_>, Vec<i64>) =
            left.map(|(pair, member)| (pair, member.entry.occurred_at.0)).unzip();
        let theirs: Vec<(usize, &Anchor)> =
            free.iter().filter(|(_, anchor)| is_theirs(anchor)).copied().collect();
        let their_moments: Vec<i64> = theirs.iter().map(|(_, anchor)| anchor.at.0).collect();
        let partners: BTreeMap<usize, usize> = align(&moments, &their_moments).into_iter().collect();
        for (place, pair) in ours.into_iter().enumerate() {
            *pair = partners.get(&place).and_then(|other| theirs.get(*other)).map(|(place, _)| *place);
        }
        free.retain(|(place, _)| !pairs.contains(&Some(*place)));
    };
    let parts: BTreeSet<&str> = reported.iter().map(|member| member.part()).collect();
    for part in parts {
        join(&|member| member.part() == part, &|anchor| anchor.part == part);
    }
    // Of one of them alone it is certain which it is, whatever its text looks like; where a text is not known, the
    // order tells.
    let is_only = reported.len() == 1 && anchors.len() == 1;
    join(&|member| is_only || member.part().is_empty(), &|_| true);
    pairs
}

/// More pairs than this are not weighed against each other: the first is the first.
const MOST_WEIGHED: usize = 1 << 18;

/// Joins two lists of moments, both in order, so that as many as possible have a partner, no two pairs cross, and the
/// partners are as near to each other as can be.
fn align(ours: &[i64], theirs: &[i64]) -> Vec<(usize, usize)> {
    if ours.len() > theirs.len() {
        return align(theirs, ours).into_iter().map(|(one, other)| (other, one)).collect();
    }
    if ours.len() == theirs.len() || ours.len().saturating_mul(theirs.len()) > MOST_WEIGHED {
        return (0..ours.len()).map(|place| (place, place)).collect();
    }
    // The least cost of joining all of ours up to a place with some of theirs up to another.
    let width = theirs.len() + 1;
    let mut costs = vec![0_u64; width];
    let mut choices = vec![false; (ours.len() + 1) * width];
    for (one, our) in ours.iter().enumerate() {
        let mut next = vec![u64::MAX; width];
        for (other, their) in theirs.iter().enumerate().skip(one) {
            let before = costs.get(other).copied().unwrap_or(u64::MAX);
            let joined = before.saturating_add(our.abs_diff(*their));
            let skipped = next.get(other).copied().unwrap_or(u64::MAX);
            let is_joined = joined < skipped;
            if let Some(cost) = next.get_mut(other + 1) {
                *cost = joined.min(skipped);
            }
            if let Some(choice) = choices.get_mut((one + 1) * width + other + 1) {
                *choice = is_joined;
            }
        }
        costs = next;
    }
    let mut pairs = Vec::with_capacity(ours.len());
    let (mut one, mut other) = (ours.len(), theirs.len());
    while one > 0 && other > 0 {
        if choices.get(one * width + other) == Some(&true) {
            pairs.push((one - 1, other - 1));
            one -= 1;
        }
        other -= 1;
    }
    pairs.reverse();
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_are_joined_in_order_whatever_the_clock_says() {
        assert_eq!(align(&[9_000_000, 9_000_001], &[1, 50_000]), [(0, 0), (1, 1)]);
        assert_eq!(align(&[], &[1]), []);
    }

    #[test]
    fn where_some_are_missing_the_nearest_are_joined() {
        assert_eq!(align(&[5_010], &[1_000, 5_000, 9_000]), [(0, 1)]);
        assert_eq!(align(&[1_010, 5_010, 9_010], &[5_000]), [(1, 0)]);
        assert_eq!(align(&[5_010, 5_020], &[1_000, 5_000, 9_990]), [(0, 0), (1, 1)]);
        assert_eq!(align(&[1_010, 9_010], &[1_000, 5_000, 9_000]), [(0, 0), (1, 2)]);
    }
}
