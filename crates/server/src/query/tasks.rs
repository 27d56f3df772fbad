//! Questions about tasks and about one task.

use agent_tracer_event::{Agent, FactId, TaskId};
use agent_tracer_ledger::view::{
    CommandRun, ContextPoint, EventDetail, Exploration, FileUse, LaneBins, Permission, Question, Row, Task,
    TaskKind, TaskStatus, TaskSummary, Todo, ToolCall, TreeNode, Turn, UsageBucket, WebLookup,
};
use agent_tracer_ledger::{TaskFilter, UsageBy};

use super::params::{BETWEEN, OWNER_AND_MACHINE, OWNERS, PAGING, ROWS, TREE};
use super::{CachePolicy, Endpoint, ParamType, QueryParams, json, optional};
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

fn find_word<T: Copy>(table: &[(&str, T)], word: &str) -> Option<T> {
    table.iter().find(|(known, _)| *known == word).map(|(_, value)| *value)
}

/// Returns the task in the path. A text that has not the shape of an id names no task.
fn task(params: &QueryParams) -> Result<TaskId, Problem> {
    TaskId::parse(&params.id).ok_or_else(|| Problem::not_found("task not found"))
}

fn filter(params: &QueryParams) -> TaskFilter {
    TaskFilter {
        status: params.words("status", |word| find_word(STATUSES, word)),
        agent: params.word("agent", Agent::parse),
        agent_type: params.text("agentType"),
        project: params.text("project"),
        model: params.text("model"),
        q: params.text("q"),
        since: params.time("since"),
        until: params.time("until"),
        parent: params.task("parent"),
        kind: params.word("kind", |word| find_word(KINDS, word)),
        failed_calls: params.flag("failedCalls"),
        paging: params.paging(),
    }
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/tasks",
        operation: "listTasks",
        summary: "Tasks, newest first.",
        params: &[
            &[
                optional("status", ParamType::Many(statuses), "In one of these states."),
                optional("model", ParamType::Text, "With this model."),
                optional("q", ParamType::Text, "With these words in the title or session id."),
                optional("parent", ParamType::Task, "Started by this task."),
                optional(
                    "kind",
                    ParamType::One(task_kinds),
                    "Started by people (`primary`) or by another task (`background`).",
                ),
                optional(
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
        cache: CachePolicy::WithTime,
        ask: |app, params| json(params.store(app).tasks(params.now, &filter(params))),
    },
    Endpoint {
        path: "/tasks/{id}",
        operation: "getTask",
        summary: "One task.",
        params: &[OWNER_AND_MACHINE],
        shape: one::<Task>,
        cache: CachePolicy::WithTime,
        ask: |app, params| json(params.store(app).task(params.now, &task(params)?)),
    },
    Endpoint {
        path: "/tasks/{id}/tree",
        operation: "getTaskTree",
        summary: "A task and all its descendants, parents before children.",
        params: &[OWNER_AND_MACHINE],
        shape: page::<TreeNode>,
        cache: CachePolicy::WithTime,
        ask: |app, params| json(params.store(app).tree(params.now, &task(params)?)),
    },
    Endpoint {
        path: "/tasks/{id}/timeline",
        operation: "listTaskTimeline",
        summary: "The rows of a task.",
        params: &[OWNER_AND_MACHINE, ROWS, BETWEEN, PAGING],
        shape: page::<Row>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).timeline(&task(params)?, &params.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/turns",
        operation: "listTaskTurns",
        summary: "The turns of a task, each from a prompt to its end.",
        params: &[OWNER_AND_MACHINE, PAGING],
        shape: page::<Turn>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).turns(&task(params)?, &params.paging())),
    },
    Endpoint {
        path: "/tasks/{id}/tool-calls",
        operation: "listTaskToolCalls",
        summary: "The tool calls of a task, each from attempt to end.",
        params: &[OWNER_AND_MACHINE, ROWS, BETWEEN, PAGING],
        shape: page::<ToolCall>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).tool_calls(&task(params)?, &params.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/context",
        operation: "listTaskContext",
        summary: "The points of the context chart.",
        params: &[OWNER_AND_MACHINE, PAGING],
        shape: page::<ContextPoint>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).context(&task(params)?, &params.paging())),
    },
    Endpoint {
        path: "/tasks/{id}/files",
        operation: "listTaskFiles",
        summary: "The files that a task touched.",
        params: &[OWNER_AND_MACHINE, TREE, PAGING],
        shape: page::<FileUse>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| {
            json(params.store(app).task_files(&task(params)?, params.flag("tree"), &params.paging()))
        },
    },
    Endpoint {
        path: "/tasks/{id}/commands",
        operation: "listTaskCommands",
        summary: "The shell commands of a task.",
        params: &[OWNER_AND_MACHINE, ROWS, BETWEEN, PAGING],
        shape: page::<CommandRun>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).task_commands(&task(params)?, &params.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/exploration",
        operation: "listTaskExploration",
        summary: "Exploration of a task: reads with ranges, searches, lookups.",
        params: &[OWNER_AND_MACHINE, ROWS, BETWEEN, PAGING],
        shape: page::<Exploration>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).exploration(&task(params)?, &params.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/web",
        operation: "listTaskWeb",
        summary: "Web searches and fetched pages of a task.",
        params: &[OWNER_AND_MACHINE, ROWS, BETWEEN, PAGING],
        shape: page::<WebLookup>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).web(&task(params)?, &params.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/permissions",
        operation: "listTaskPermissions",
        summary: "The permission prompts of a task.",
        params: &[OWNER_AND_MACHINE, ROWS, BETWEEN, PAGING],
        shape: page::<Permission>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).permissions(&task(params)?, &params.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/todos",
        operation: "listTaskTodos",
        summary: "The to-do list of a task, with the history of each item.",
        params: &[OWNER_AND_MACHINE],
        shape: page::<Todo>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).todos(&task(params)?)),
    },
    Endpoint {
        path: "/tasks/{id}/questions",
        operation: "listTaskQuestions",
        summary: "Questions of a task to people.",
        params: &[OWNER_AND_MACHINE, ROWS, BETWEEN, PAGING],
        shape: page::<Question>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).questions(&task(params)?, &params.rows())),
    },
    Endpoint {
        path: "/tasks/{id}/usage",
        operation: "listTaskUsage",
        summary: "Usage of a task and its subagents by model, skill, type of agent or task.",
        params: &[
            OWNER_AND_MACHINE,
            &[optional("by", ParamType::One(parts), "The dimension to split by; `model` unless given.")],
        ],
        shape: page::<UsageBucket>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| {
            let by =
                params.word("by", |word| PARTS.iter().find(|(known, _)| *known == word).map(|(_, by)| *by));
            json(params.store(app).task_usage(&task(params)?, by.unwrap_or(UsageBy::Model)))
        },
    },
    Endpoint {
        path: "/tasks/{id}/summary",
        operation: "getTaskSummary",
        summary: "The numbers of a task with its subagents.",
        params: &[OWNER_AND_MACHINE],
        shape: one::<TaskSummary>,
        cache: CachePolicy::WithTime,
        ask: |app, params| json(params.store(app).summary(params.now, &task(params)?)),
    },
    Endpoint {
        path: "/tasks/{id}/lanes",
        operation: "getTaskLanes",
        summary: "The lanes of a task and its subagents, in as many columns as the screen has.",
        params: &[
            OWNER_AND_MACHINE,
            &[
                optional("from", ParamType::Time, "Start of the range; the first event unless given."),
                optional("to", ParamType::Time, "End of the range; the last event unless given."),
                optional(
                    "width",
                    ParamType::Integer(1, 10_000),
                    "Number of columns; a thousand unless given.",
                ),
            ],
        ],
        shape: one::<LaneBins>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| {
            let width = params.integer("width").and_then(|width| u32::try_from(width).ok()).unwrap_or(1000);
            json(params.store(app).lanes(&task(params)?, params.time("from"), params.time("to"), width))
        },
    },
    Endpoint {
        path: "/events/{id}",
        operation: "getEvent",
        summary: "One row, the channel that each field came from, and the entries behind it.",
        params: &[OWNER_AND_MACHINE],
        shape: one::<EventDetail>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| {
            let id = FactId::parse(&params.id);
            let id = id.ok_or_else(|| Problem::not_found("event not found"))?;
            json(params.store(app).event(&id))
        },
    },
];
