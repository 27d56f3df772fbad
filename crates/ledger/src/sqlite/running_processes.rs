//! The agent processes that run, as far as hooks reported. A server that restarts watches them for their end.

use agent_tracer_event::{Agent, TaskKey, attributes};

use super::read::staleness;
use super::{AppendError, Ledger, codec};
use crate::project::task_fields::TaskFields;

/// The process of a task that has not ended, as its hooks named it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunningProcess {
    /// The task.
    pub task: TaskKey,
    /// Its process.
    pub pid: u32,
    /// The moment when that started, in the kernel's own unit.
    pub start: u64,
    /// The namespace of the id.
    pub namespace: u64,
}

impl Ledger {
    /// Returns the processes of all tasks that have not ended.
    ///
    /// # Errors
    /// If the store cannot answer.
    pub fn running(&self) -> Result<Vec<RunningProcess>, AppendError> {
        self.on_writer(|writer| {
            let mut find = writer.conn.prepare_cached(&format!(
                "SELECT agent, session, told FROM task WHERE {} AND pid IS NOT NULL",
                staleness::alive()
            ))?;
            let rows = find.query_map([], |row| {
                let agent = Agent::from_place(row.get(0)?).unwrap_or_default();
                let reported: TaskFields = codec::decode_json(row.get_ref(2)?.as_blob()?).unwrap_or_default();
                let number = |name: &str| reported.number(name).and_then(|number| u64::try_from(number).ok());
                Ok(number(attributes::PID)
                    .and_then(|pid| u32::try_from(pid).ok())
                    .zip(number(attributes::PID_START))
                    .and_then(|(pid, start)| {
                        let task = TaskKey::new(agent, row.get::<_, String>(1).ok()?);
                        Some(RunningProcess {
                            task,
                            pid,
                            start,
                            namespace: number(attributes::PID_NAMESPACE)?,
                        })
                    }))
            })?;
            rows.filter_map(Result::transpose).collect::<rusqlite::Result<Vec<_>>>()
        })?
        .map_err(AppendError::from)
    }
}
