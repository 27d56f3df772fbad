//! Questions about tasks and about one task.

use agent_tracer_event::{Agent, FactId, TaskId};
use agent_tracer_ledger::view::{
    CommandRun, ContextPoint, EventDetail, Exploration, FileUse, LaneBins, Permission, Question, Row, Task,
    TaskKind, TaskStatus, TaskSummary, Todo, ToolCall, TreeNode, Turn, UsageBucket, WebLookup,
};
use agent_tracer_ledger::{TaskFilter, UsageBy};

use super::params::{BETWEEN, OWNERS, PAGING, ROWS, TREE, WHOSE};
use super::{CachePolicy, Endpoint, ParamType, QueryParams, json, may};
use crate::openapi::{one, page};
use crate::problem::Problem;

const STATUSES: &[(&str, TaskStatus)] = &[
    ("running", TaskStatus::Running),
    ("waiting", TaskStatus::Waiting),
    ("completed", TaskStatus::Completed),
    ("failed", TaskStatus::Failed),
    ("abandoned", TaskStatus::Abandoned),
];

const KINDS: &[(&str, TaskKind)] = &[("primary", TaskKind::Primary), ("background", TaskKind::Background)];

/// The dimensions by which the usage of one task can be split.
const PARTS: &[(&str, UsageBy)] = &[
    ("model", UsageBy::Model),
    ("skill", UsageBy::Skill),
    ("agentType", UsageBy::AgentType),
    ("task", UsageBy::Task),
];

fn parts() -> Vec<&'static str> {
    PARTS.iter().map(|(word, _)| *word).collect()
}

fn statuses() -> Vec<&'static str> {
    STATUSES.iter().map(|(word, _)| *word).collect()
}

fn task_kinds() -> Vec<&'static str> {
    KINDS.iter().map(|(word, _)| *word).collect()
}

fn known<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// Returns the task in the path. A text that has not the shape of an id names no task.
fn task(asked: &QueryParams) -> Result<TaskId, Problem> {
    TaskId::parse(&asked.id).ok_or_else(|| Problem::not_found("there is no task with this id"))
}

fn filter(asked: &QueryParams) -> TaskFilter {
    TaskFilter {
        status: asked.words("status", |word| known(STATUSES, word)),
        agent: asked.word("agent", Agent::parse),
        agent_type: asked.text("agentType"),
        project: asked.text("project"),
        model: asked.text("model"),
        q: asked.text("q"),
        since: asked.time("since"),
        until: asked.time("until"),
        parent: asked.task("parent"),
        kind: asked.word("kind", |word| known(KINDS, word)),
        failed_calls: asked.flag("failedCalls"),
        paging: asked.paging(),
    }
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/tasks",
        operation: "listTasks",
        summary: "Tasks, newest first.",
        params: &[
            &[
                may("status", ParamType::Many(statuses), "In one of these states."),
                may("model", ParamType::Text, "With this model."),
                may("q", ParamType::Text, "Whose title or session has these words."),
                may("parent", ParamType::Task, "Started by this task."),
                may(
                    "kind",
                    ParamType::One(task_kinds),
                    "Started by people (`primary`) or by another task (`background`).",
                ),
                may(
                    "failedCalls",
                    ParamType::Flag,
                    "Only those with a failed call, their own or a subagent's.",
                ),
            ],
            OWNERS,
            BETWEEN,
            PAGING,
        ],
        shape: page::<Task>,
        ages: CachePolicy::WithTime,
        ask: |app, asked| json(asked.store(app).tasks(asked.now, &filter(asked))),
    },
    Endpoint {
        path: "/tasks/{id}",
        operation: "getTask",
        summary: "One task.",
        params: &[WHOSE],
        shape: one::<Task>,
        ages: CachePolicy::WithTime,
        ask: |app, asked| json(asked.store(app).task(asked.now, &task(asked)?)),
    },
    Endpoint {
        path: "/tasks/{id}/tree",
        operation: "getTaskTree",
        summary: "A task and all its descendants, parents before children.",
        params: &[WHOSE],
        shape: page::<TreeNode>,
        ages: CachePolicy::WithTime,
        ask: |app, asked| json(asked.store(app).tree(asked.now, &task(asked)?)),
    },
    Endpoint {
        path: "/tasks/{id}/timeline",
        operation: "listTaskTimeline",
        summary: "The rows of a task.",
        params: &[WHOSE, ROWS, BETWEEN, PAGING],
        shape: page::<Row>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).timeline(&task(asked)?, &asked.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/turns",
        operation: "listTaskTurns",
        summary: "The turns of a task, each from a prompt to its end.",
        params: &[WHOSE, PAGING],
        shape: page::<Turn>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).turns(&task(asked)?, &asked.paging())),
    },
    Endpoint {
        path: "/tasks/{id}/tool-calls",
        operation: "listTaskToolCalls",
        summary: "The tool calls of a task, each from attempt to end.",
        params: &[WHOSE, ROWS, BETWEEN, PAGING],
        shape: page::<ToolCall>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).tool_calls(&task(asked)?, &asked.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/context",
        operation: "listTaskContext",
        summary: "The points of the context chart.",
        params: &[WHOSE, PAGING],
        shape: page::<ContextPoint>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).context(&task(asked)?, &asked.paging())),
    },
    Endpoint {
        path: "/tasks/{id}/files",
        operation: "listTaskFiles",
        summary: "The files that a task touched.",
        params: &[WHOSE, TREE, PAGING],
        shape: page::<FileUse>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| {
            json(asked.store(app).task_files(&task(asked)?, asked.flag("tree"), &asked.paging()))
        },
    },
    Endpoint {
        path: "/tasks/{id}/commands",
        operation: "listTaskCommands",
        summary: "The shell commands of a task.",
        params: &[WHOSE, ROWS, BETWEEN, PAGING],
        shape: page::<CommandRun>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).task_commands(&task(asked)?, &asked.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/exploration",
        operation: "listTaskExploration",
        summary: "What a task looked at: reads with ranges, searches, look-ups.",
        params: &[WHOSE, ROWS, BETWEEN, PAGING],
        shape: page::<Exploration>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).exploration(&task(asked)?, &asked.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/web",
        operation: "listTaskWeb",
        summary: "What a task looked up in the web.",
        params: &[WHOSE, ROWS, BETWEEN, PAGING],
        shape: page::<WebLookup>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).web(&task(asked)?, &asked.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/permissions",
        operation: "listTaskPermissions",
        summary: "The permissions that a task asked for.",
        params: &[WHOSE, ROWS, BETWEEN, PAGING],
        shape: page::<Permission>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).permissions(&task(asked)?, &asked.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/todos",
        operation: "listTaskTodos",
        summary: "The to-do list of a task and how each item got where it is.",
        params: &[WHOSE],
        shape: page::<Todo>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).todos(&task(asked)?)),
    },
    Endpoint {
        path: "/tasks/{id}/questions",
        operation: "listTaskQuestions",
        summary: "What a task asked people.",
        params: &[WHOSE, ROWS, BETWEEN, PAGING],
        shape: page::<Question>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).questions(&task(asked)?, &asked.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/usage",
        operation: "listTaskUsage",
        summary: "Usage of a task and its subagents by model, skill, type of agent or task.",
        params: &[
            WHOSE,
            &[may("by", ParamType::One(parts), "The dimension to split by; `model` unless given.")],
        ],
        shape: page::<UsageBucket>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| {
            let by =
                asked.word("by", |word| PARTS.iter().find(|(known, _)| *known == word).map(|(_, by)| *by));
            json(asked.store(app).task_usage(&task(asked)?, by.unwrap_or(UsageBy::Model)))
        },
    },
    Endpoint {
        path: "/tasks/{id}/summary",
        operation: "getTaskSummary",
        summary: "The numbers of a task with its subagents.",
        params: &[WHOSE],
        shape: one::<TaskSummary>,
        ages: CachePolicy::WithTime,
        ask: |app, asked| json(asked.store(app).summary(asked.now, &task(asked)?)),
    },
    Endpoint {
        path: "/tasks/{id}/lanes",
        operation: "getTaskLanes",
        summary: "The lanes of a task and its subagents, in as many columns as the screen has.",
        params: &[
            WHOSE,
            &[
                may("from", ParamType::Time, "Where the picture begins; the first event unless given."),
                may("to", ParamType::Time, "Where the picture ends; the last event unless given."),
                may("width", ParamType::Whole(1, 10_000), "How many columns; a thousand unless given."),
            ],
        ],
        shape: one::<LaneBins>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| {
            let width = asked.whole("width").and_then(|width| u32::try_from(width).ok()).unwrap_or(1000);
            json(asked.store(app).lanes(&task(asked)?, asked.time("from"), asked.time("to"), width))
        },
    },
    Endpoint {
        path: "/events/{id}",
        operation: "getEvent",
        summary: "One row, the channel that each field came from, and the entries behind it.",
        params: &[WHOSE],
        shape: one::<EventDetail>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| {
            let id = FactId::parse(&asked.id);
            let id = id.ok_or_else(|| Problem::not_found("there is no event with this id"))?;
            json(asked.store(app).event(&id))
        },
    },
];
