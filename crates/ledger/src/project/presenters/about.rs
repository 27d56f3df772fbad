//! The values that all rows of a task share, and the presentation of a row.

use agent_tracer_event::{Agent, FactId, Kind, Millis, SessionId, TaskId, TaskKey, TurnId, attributes};

use crate::project::FactRow;
use crate::project::row::channels_of;
use crate::view::Row;

/// The main agent's type.
pub const MAIN: &str = "main";

/// The type of a subagent of which no type is known.
pub const SUBAGENT: &str = "subagent";

/// More stays than this are not distinguished: a hostile client may start as often as it likes.
pub const MOST_STAYS: u32 = 1_000;

/// The values that all rows of a task share.
#[derive(Clone, Debug)]
pub struct About {
    /// The task's id.
    pub uid: TaskId,
    /// The owner; none on one machine.
    pub owner: Option<String>,
    /// The product.
    pub agent: Agent,
    /// The agent's id of the session.
    pub session: String,
    /// The type of its agent.
    pub agent_type: String,
    /// It is a subagent.
    pub background: bool,
    /// The moment when its process was resumed, oldest first.
    pub resumed: Vec<i64>,
}

/// Returns a task's id from its text.
#[must_use]
pub fn task_id(text: &str) -> TaskId {
    // A stored text may be damaged, and a sender may call its task anything: it still needs some id that opens nothing.
    TaskId::parse(text).unwrap_or_else(|| TaskKey::new(Agent::default(), text).task_id())
}

/// Returns when the process of a task was resumed after the task began, out of its starts, oldest first.
pub fn resumes<'row>(starts: impl IntoIterator<Item = &'row FactRow>, started: i64) -> Vec<i64> {
    let resumed = starts.into_iter().filter(|start| start.text(attributes::SESSION_SOURCE) == Some("resume"));
    resumed.map(|start| start.occurred).filter(|at| *at > started).collect()
}

impl About {
    /// Returns the stay of the process in which something at this moment happened.
    #[must_use]
    pub fn stay(&self, at: i64) -> SessionId {
        let resumes = self.resumed.partition_point(|resumed| *resumed <= at);
        SessionId::derive(&self.uid, &format!("stay:{}", resumes + 1))
    }

    /// Returns the id of one of its rows.
    #[must_use]
    pub fn row_id(&self, fact: i64) -> String {
        FactId::from_number(&self.uid, fact.cast_unsigned()).to_string()
    }

    /// Returns the id of one of its turns.
    #[must_use]
    pub fn turn_id(&self, turn: i64) -> String {
        TurnId::from_number(&self.uid, turn.cast_unsigned()).to_string()
    }

    /// Returns the type of the agent that a fact is of. A fact that does not name it is of its task's.
    pub(super) fn type_of(&self, fact: &FactRow) -> String {
        let own = fact.data.agent_type.clone().filter(|own| !own.is_empty());
        own.unwrap_or_else(|| self.agent_type.clone())
    }

    /// Returns the row of a fact that last changed at `seq`.
    #[must_use]
    pub fn row(&self, fact: &FactRow, seq: u64) -> Row {
        let data = &fact.data;
        let mut metadata = data.metadata.clone();
        for (key, value) in &fact.derived {
            metadata.insert(key.clone(), value.clone());
        }
        Row {
            id: self.row_id(fact.fact),
            seq,
            task_id: self.uid.to_string(),
            owner: self.owner.clone(),
            session_id: self.stay(fact.occurred).to_string(),
            turn_id: fact.turn.map(|turn| self.turn_id(turn)),
            kind: fact.kind.unwrap_or(Kind::Unrecognised),
            lane: fact.lane,
            title: data.title.clone(),
            body: data.body.clone(),
            occurred_at: Millis(fact.occurred),
            ended_at: fact.ended.map(Millis),
            state: fact.state,
            tool_name: fact.tool.clone(),
            tool_use_id: data.tool_use_id.clone(),
            agent_id: data.agent_id.clone(),
            agent_type: self.type_of(fact),
            is_subagent: self.background,
            runtime_session_id: self.session.clone(),
            hook_event_name: data.hook_event_name.clone(),
            file_paths: data.file_paths.clone(),
            metadata,
            channels: channels_of(fact.channels),
            certainty: fact.certainty,
        }
    }
}
