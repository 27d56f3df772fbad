//! One follower: first what changed since it left, then what changes now.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio::time::{Instant, MissedTickBehavior};

use super::follower_access::FollowerAccess;
use super::row_selection::RowSelection;
use crate::app::App;
use crate::epoch::StreamPosition;
use crate::live::{Change, ChangeKind, missed, removed};

/// Rows that are params of the store at once, and put into one piece.
const PART: usize = 256;

/// The time after which a follower that takes nothing is dropped.
const PATIENCE: Duration = Duration::from_secs(60);

/// The follower left, or the server stops.
struct FollowEnd;

pub(super) struct Follower {
    app: Arc<App>,
    wanted: RowSelection,
    /// Rows up to here were read from the store; the same ones may still come out of `live`.
    caught: u64,
    /// The last place that the follower knows of.
    at: u64,
    _room: OwnedSemaphorePermit,
}

impl Follower {
    pub(super) fn new(app: Arc<App>, wanted: RowSelection, room: OwnedSemaphorePermit) -> Self {
        Self { app, wanted, caught: 0, at: 0, _room: room }
    }

    /// Follows until one of both sides hangs up, or the follower may not follow any more.
    pub(super) async fn run(
        mut self,
        after: Option<StreamPosition>,
        right: FollowerAccess,
        sender: mpsc::Sender<Bytes>,
    ) {
        // Subscribed before the store is params: what is committed in between is in one of the two, or in both.
        let live = self.app.deps.live.follow();
        let mut closing = self.app.closing.clone();
        let app = Arc::clone(&self.app);
        tokio::select! {
            () = right.ended(&app) => {}
            _ = closing.wait_for(|closing| *closing) => {}
            () = sender.closed() => {}
            _ = self.follow(after, live, &sender) => {}
        }
    }

    async fn follow(
        &mut self,
        after: Option<StreamPosition>,
        mut live: Receiver<Arc<Change>>,
        sender: &mpsc::Sender<Bytes>,
    ) -> Result<(), FollowEnd> {
        send(sender, "retry: 2000\n: agent-tracer\n\n").await?;
        self.catch_up(after, sender).await?;
        let period = self.app.config.limits.heartbeat;
        let mut heartbeat = tokio::time::interval_at(Instant::now() + period, period);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_late = false;
        loop {
            let first = tokio::select! {
                _ = heartbeat.tick() => {
                    send(sender, ": still here\n\n").await?;
                    continue;
                }
                received = live.recv() => received,
            };
            let first = match first {
                Ok(change) => change,
                // The next row is the oldest that is still there, unless more are lost until then.
                Err(RecvError::Lagged(_)) => {
                    is_late = true;
                    continue;
                }
                Err(RecvError::Closed) => return Ok(()),
            };
            // Sent before the rows behind the gap, or the follower would take them for the next ones.
            let before = first.seq.saturating_sub(1);
            if std::mem::take(&mut is_late) && before > self.at {
                self.send_missed(self.at, before, sender).await?;
            }
            let mut changes = vec![first];
            while changes.len() < PART {
                match live.try_recv() {
                    Ok(change) => changes.push(change),
                    Err(TryRecvError::Lagged(_)) => {
                        is_late = true;
                        break;
                    }
                    Err(TryRecvError::Empty | TryRecvError::Closed) => break,
                }
            }
            // Removed rows were never read from the store, so they are always sent.
            changes.retain(|change| change.seq > self.caught || change.what.is_for_all());
            self.pass_on(changes, sender).await?;
        }
    }

    /// Sends what changed behind `after`, in order, up to now.
    async fn catch_up(
        &mut self,
        after: Option<StreamPosition>,
        sender: &mpsc::Sender<Bytes>,
    ) -> Result<(), FollowEnd> {
        let app = Arc::clone(&self.app);
        let newest = self.app.blocking(move || app.deps.store.seq()).await;
        let Ok(Ok(newest)) = newest else { return Err(FollowEnd) };
        let Some(after) = after else {
            (self.caught, self.at) = (newest, newest);
            return Ok(());
        };
        let is_other = after.epoch.is_some_and(|epoch| epoch != self.app.epoch);
        let after = after.seq;
        (self.caught, self.at) = (after, after);
        // A place that was never reached belongs to another ledger.
        if after > newest || newest - after > self.app.config.limits.catch_up_rows {
            (self.caught, self.at) = (newest, newest);
            return self.send_missed(after, newest, sender).await;
        }
        match self.app.deps.live.gone_since(after).filter(|_| !is_other) {
            Some(gone) => {
                for ids in gone.chunks(PART) {
                    send(sender, removed(ids)).await?;
                }
            }
            // It is not known what else changed up to there: everything has to be loaded again.
            None => self.send_missed(0, after, sender).await?,
        }
        loop {
            let (app, from) = (Arc::clone(&self.app), self.caught);
            let read = self.app.blocking(move || app.deps.store.changes(from, PART as u32)).await;
            let Ok(Ok(rows)) = read else { return Err(FollowEnd) };
            // Only an empty part is the end: what is no row is left out of a part and makes it short.
            let Some(last) = rows.last().map(|row| row.seq) else { return Ok(()) };
            self.caught = last;
            let rows = rows.into_iter().map(|row| Arc::new(Change::row(row))).collect();
            self.pass_on(rows, sender).await?;
        }
    }

    /// Sends those of these changes that pass the filter, in one piece. Every follower receives every removed row: its
    /// task is no longer known.
    async fn pass_on(
        &mut self,
        mut changes: Vec<Arc<Change>>,
        sender: &mpsc::Sender<Bytes>,
    ) -> Result<(), FollowEnd> {
        let Some(last) = changes.iter().map(|change| change.seq).max() else { return Ok(()) };
        changes.retain(|change| match &change.what {
            ChangeKind::Row(row) => self.wanted.by_itself(row),
            ChangeKind::Removed(_) | ChangeKind::Missed(_) => true,
        });
        if !changes.is_empty() && self.wanted.asks_the_store() {
            let (app, mut wanted) = (Arc::clone(&self.app), std::mem::take(&mut self.wanted));
            let sorted = self
                .app
                .blocking(move || {
                    changes.retain(|change| match &change.what {
                        ChangeKind::Row(row) => wanted.by_task(&app, row),
                        ChangeKind::Removed(_) | ChangeKind::Missed(_) => true,
                    });
                    (changes, wanted)
                })
                .await;
            let Ok(sorted) = sorted else { return Err(FollowEnd) };
            (changes, self.wanted) = sorted;
        }
        if !changes.is_empty() {
            let text: String =
                changes.iter().map(|change| change.text(self.app.epoch)).collect::<Vec<_>>().concat();
            send(sender, text).await?;
        }
        self.at = self.at.max(last);
        Ok(())
    }

    async fn send_missed(&self, from: u64, to: u64, sender: &mpsc::Sender<Bytes>) -> Result<(), FollowEnd> {
        send(sender, missed(self.app.epoch, from, to)).await
    }
}

async fn send(sender: &mpsc::Sender<Bytes>, text: impl Into<Bytes>) -> Result<(), FollowEnd> {
    match tokio::time::timeout(PATIENCE, sender.send(text.into())).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(_)) | Err(_) => Err(FollowEnd),
    }
}
