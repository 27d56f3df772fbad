//! Looks up what the client's account of a session holds beyond the rows of the session and its subagents.
//!
//! An agent that outlives `/clear` belongs to the session that started it, and what it costs from then on stands in the
//! account of the next one. Its responses say whose account that is (`accountSession`).
//!
//! The account counts from its own beginning. A fork's account begins with its parent's last one, so that one is taken
//! away as it was then; if no one knows it, the copies that the fork was given are. Everything is looked up among the
//! rows and sums as they stand, so it does not matter what came first.

use std::collections::BTreeSet;

use agent_tracer_event::{TaskId, TaskKey, attributes};
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::append::FoldTransaction;
use super::facts;
use super::settle::{Change, descendants};
use super::tasks;
use crate::project::list::list_code;
use crate::project::residual::{self, Account, ByModel, Reasons, Residual};
use crate::project::spend::{ModelSums, Spend};
use crate::project::tally::Tally;
use crate::project::task_fields::{PAID_BY, PAID_FOR};
use crate::project::{FactRow, List};

/// The member of a response that names the session whose account holds it.
const ACCOUNT: &str = attributes::ACCOUNT_SESSION;

impl FoldTransaction<'_> {
    /// Notes whose account these changes may have to do with.
    pub(super) fn note_unsettled(&mut self, changes: &[Change]) -> rusqlite::Result<()> {
        let tells = |change: &Change| {
            change.both().any(|row| {
                matches!(row.list, List::Response | List::Web | List::SessionStart)
                    || row.list == List::Context && row.meta(attributes::COMPACT_PHASE).is_some()
            })
        };
        for change in changes {
            if tells(change) || self.was_given_copies(change.task)? {
                self.unsettled.insert(change.task);
            }
        }
        Ok(())
    }

    /// Returns whether a session began with copies. When it began itself decides what its account began with.
    fn was_given_copies(&mut self, task: i64) -> rusqlite::Result<bool> {
        let known = self.memory.tasks.load(self.conn, &mut self.memory.words, task)?;
        Ok(known.is_some_and(|known| known.reported.get("account:copied").is_some()))
    }

    /// Computes the residuals of the unsettled tasks, their ancestors and their forks again.
    pub(super) fn settle_residuals(&mut self) -> rusqlite::Result<()> {
        let mut holders: BTreeSet<i64> = BTreeSet::new();
        for task in std::mem::take(&mut self.unsettled) {
            let mut chain = self.ancestors(task)?;
            chain.extend(self.payment_partners(task, PAID_BY)?);
            chain.push(task);
            for near in chain {
                let known = self.memory.tasks.load(self.conn, &mut self.memory.words, near)?;
                // Without an account there is nothing to be left of it, nor anything that a fork could begin with.
                if known.is_none_or(|known| known.reported.account().is_none()) {
                    continue;
                }
                holders.insert(near);
                let mut find = self.conn.prepare_cached("SELECT id FROM task WHERE forked = ?1")?;
                for fork in find.query_map([near], |row| row.get::<_, i64>(0))? {
                    holders.insert(fork?);
                }
            }
        }
        for task in holders {
            self.settle_residual(task)?;
        }
        if !self.tally.rollups.is_empty() {
            self.flush()?;
            self.flush_tasks()?;
        }
        Ok(())
    }

    fn settle_residual(&mut self, task: i64) -> rusqlite::Result<()> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(());
        };
        // What is sealed stays as it was when its rows were dropped.
        if known.sealed_until.is_some() {
            return Ok(());
        }
        let (rollup_key, reported) = (known.rollup_key.clone(), known.reported.clone());
        let new = match reported.account() {
            Some((at, account)) => self.residual(task, at, account, reported.get("account:copied"))?,
            None => Residual::default(),
        };
        let old = self.stored_residual(task)?;
        if old.as_ref().map_or(new.lines.is_empty(), |old| *old == new) {
            return Ok(());
        }
        if let Some(old) = &old {
            self.tally.count_residual(old, &rollup_key, -1);
        }
        self.tally.count_residual(&new, &rollup_key, 1);
        self.counted.entry(task).or_default();
        self.conn
            .prepare_cached("UPDATE task SET residual = ?2, changed = ?3 WHERE id = ?1")?
            .execute(params![task, new.stored(), self.memory.seq])?;
        Ok(())
    }

    pub(super) fn stored_residual(&self, task: i64) -> rusqlite::Result<Option<Residual>> {
        let text: Option<String> = self
            .conn
            .prepare_cached("SELECT residual FROM task WHERE id = ?1")?
            .query_row([task], |row| row.get(0))
            .optional()?
            .flatten();
        Ok(text.and_then(|text| Residual::parse(&text)))
    }

    fn residual(
        &mut self,
        task: i64,
        at: i64,
        account: &Value,
        copied: Option<&Value>,
    ) -> rusqlite::Result<Residual> {
        let account = Account::read(account);
        let tree = descendants(self.conn, task)?;
        let session = tasks::key(self.conn, task)?.map(|key| key.runtime_session).unwrap_or_default();
        let mut reported = ByModel::new();
        for member in &tree {
            if self.payment_partners(*member, PAID_BY)?.is_empty() {
                self.add_models(*member, false, account.started, &mut reported)?;
            } else {
                let is_ours = |row: &FactRow| row.text(ACCOUNT).is_none_or(|payer| payer == session);
                self.add_some(*member, account.started, is_ours, &mut reported)?;
            }
        }
        for other in self.payment_partners(task, PAID_FOR)? {
            if !tree.contains(&other) {
                let is_ours = |row: &FactRow| row.text(ACCOUNT) == Some(&session);
                self.add_some(other, account.started, is_ours, &mut reported)?;
            }
        }
        let base = self.base(task, &account, copied)?;
        let reasons = Reasons::default();
        let left = residual::residual(&account, &base, &reported, reasons, at, self.pricer);
        if left.lines.is_empty() {
            return Ok(left);
        }
        let reasons = self.reasons(&tree)?;
        Ok(residual::residual(&account, &base, &reported, reasons, at, self.pricer))
    }

    /// Returns the tasks that a task names under this beginning.
    pub(super) fn payment_partners(&mut self, task: i64, beginning: &str) -> rusqlite::Result<Vec<i64>> {
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, task)? else {
            return Ok(Vec::new());
        };
        let named = known.reported.names_behind(beginning);
        let ids: Vec<TaskId> = named.map(|session| TaskKey::new(known.agent, session).task_id()).collect();
        let mut others = Vec::new();
        for id in ids {
            let found: Option<i64> = self
                .conn
                .prepare_cached("SELECT id FROM task WHERE uid = ?1")?
                .query_row([id.as_str()], |row| row.get(0))
                .optional()?;
            others.extend(found);
        }
        Ok(others)
    }

    /// Adds the responses of a task that an account holds.
    fn add_some(
        &self,
        task: i64,
        since: Option<i64>,
        is_held: impl Fn(&FactRow) -> bool,
        sums: &mut ByModel,
    ) -> rusqlite::Result<()> {
        let rollup_key = crate::project::tally::RollupKey { task, ..Default::default() };
        let mut tally = Tally::default();
        let rows = facts::select(
            self.conn,
            concat!("WHERE f.task = ?1 AND f.list = ", list_code!(Response), " AND f.occurred >= ?2"),
            [task, since.unwrap_or(i64::MIN)],
        )?;
        for stored in rows.iter().filter(|stored| is_held(&stored.row)) {
            tally.count(&stored.row, &rollup_key, self.pricer, 1);
        }
        for ((_, model, is_copy), more) in tally.models {
            if !is_copy {
                *sums.entry(model).or_default() += more;
            }
        }
        Ok(())
    }

    /// Adds what a task was answered by each model, as far as it is not older than an account.
    fn add_models(
        &mut self,
        task: i64,
        copied: bool,
        since: Option<i64>,
        sums: &mut ByModel,
    ) -> rusqlite::Result<()> {
        let first: Option<i64> = self
            .conn
            .prepare_cached(concat!(
                "SELECT min(occurred) FROM fact WHERE task = ?1 AND list = ",
                list_code!(Response)
            ))?
            .query_row([task], |row| row.get(0))?;
        if let Some(since) = since.filter(|since| first.is_some_and(|first| first < *since)) {
            // A session that was killed before it wrote an account and then resumed: its account knows the rest only.
            let rollup_key = crate::project::tally::RollupKey { task, ..Default::default() };
            let mut tally = Tally::default();
            let rows = facts::select(
                self.conn,
                concat!("WHERE f.task = ?1 AND f.list = ", list_code!(Response), " AND f.occurred >= ?2"),
                [task, since],
            )?;
            for stored in rows {
                tally.count(&stored.row, &rollup_key, self.pricer, 1);
            }
            for ((_, model, is_copy), more) in tally.models {
                if is_copy == copied {
                    *sums.entry(model).or_default() += more;
                }
            }
            return Ok(());
        }
        let mut find = self.conn.prepare_cached(
            "SELECT w.text, m.n, m.input, m.output, m.cache_read, m.cache_write, m.cache_write_1h, m.searches, m.cost, \
             m.unpriced FROM task_model m JOIN word w ON w.id = m.model WHERE m.task = ?1 AND m.copied = ?2",
        )?;
        let mut rows = find.query(params![task, copied])?;
        while let Some(row) = rows.next()? {
            let more = ModelSums {
                spend: Spend {
                    responses: row.get(1)?,
                    input: row.get(2)?,
                    output: row.get(3)?,
                    cache_read: row.get(4)?,
                    cache_write: row.get(5)?,
                    cost: row.get(8)?,
                    unpriced: row.get(9)?,
                    ..Spend::default()
                },
                cache_write_1h: row.get(6)?,
                searches: row.get(7)?,
            };
            *sums.entry(row.get(0)?).or_default() += more;
        }
        Ok(())
    }

    /// Returns the initial content of a session's account.
    fn base(&mut self, task: i64, account: &Account, copied: Option<&Value>) -> rusqlite::Result<ByModel> {
        let mut copies = copied.map(|copied| Account::read(copied).models).unwrap_or_default();
        self.add_models(task, true, account.started, &mut copies)?;
        if copies.is_empty() {
            return Ok(copies);
        }
        let last = copied.and_then(|copied| copied.get(attributes::LAST_AT)?.as_i64());
        if let (Some(started), Some(last)) = (account.started, last)
            && started > last
        {
            // It began with nothing: it is younger than everything that was copied.
            return Ok(ByModel::new());
        }
        if let Some(parents) = self.parents_account(task, account)? {
            return Ok(parents);
        }
        for sums in copies.values_mut() {
            // What the client says that copies cost is not known.
            sums.spend.unpriced = sums.spend.unpriced.max(1);
        }
        Ok(copies)
    }

    /// Returns the last account of the session that this one was forked from, as it was then.
    fn parents_account(&mut self, task: i64, account: &Account) -> rusqlite::Result<Option<ByModel>> {
        let parent: Option<i64> = self
            .conn
            .prepare_cached("SELECT forked FROM task WHERE id = ?1")?
            .query_row([task], |row| row.get(0))
            .optional()?
            .flatten();
        let first: Option<i64> = self
            .conn
            .prepare_cached("SELECT min(occurred) FROM fact WHERE task = ?1 AND kind >= 0")?
            .query_row([task], |row| row.get(0))?;
        let (Some(parent), Some(first)) = (parent, first) else { return Ok(None) };
        let Some(known) = self.memory.tasks.load(self.conn, &mut self.memory.words, parent)? else {
            return Ok(None);
        };
        let before =
            known.reported.accounts().filter(|(at, _)| *at <= first).map(|(_, value)| Account::read(value));
        // An account that began at another moment is not the one that went on here.
        let same = before.filter(|before| before.started == account.started);
        Ok(same.last().map(|account| account.models))
    }

    fn reasons(&self, tree: &[i64]) -> rusqlite::Result<Reasons> {
        let mut reasons = Reasons::default();
        for task in tree {
            let saved = agent_tracer_event::Kind::ContextSaved as i64;
            reasons.compacted |= self
                .conn
                .prepare_cached(concat!(
                    "SELECT 1 FROM fact WHERE task = ?1 AND list = ",
                    list_code!(Context),
                    " AND kind = ?2 LIMIT 1"
                ))?
                .exists([*task, saved])?;
            reasons.searched |= self
                .conn
                .prepare_cached(concat!(
                    "SELECT 1 FROM fact f JOIN word w ON w.id = f.tool WHERE f.task = ?1 AND f.list = ",
                    list_code!(Web),
                    " AND w.text = 'WebSearch' LIMIT 1"
                ))?
                .exists([*task])?;
            let responses = facts::select(
                self.conn,
                concat!(
                    "WHERE f.task = ?1 AND f.list = ",
                    list_code!(Response),
                    " ORDER BY f.occurred DESC LIMIT 2000"
                ),
                [*task],
            )?;
            reasons.cut_short |= responses.iter().any(|stored| {
                stored.row.meta(attributes::PARTIAL) == Some(&Value::Bool(true))
                    && stored.row.usage().is_some()
            });
        }
        Ok(reasons)
    }
}
