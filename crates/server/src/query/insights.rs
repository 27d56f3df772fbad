//! Questions about many tasks.

use agent_tracer_event::{CallState, Kind};
use agent_tracer_ledger::view::{
    ActivityBucket, AgentStat, Attention, CommandStat, FailureStat, FileStat, Hit, Limit, Loop, McpStat,
    SkillStat, ToolStat, UsageBlock, UsageBucket,
};
use agent_tracer_ledger::{SearchFilter, UsageBy};

use super::params::{BETWEEN, OWNER_AND_MACHINE, OWNERS, PAGING, Param, kinds};
use super::{CachePolicy, Endpoint, ParamType, QueryParams, json, optional};
use crate::app::App;
use crate::openapi::page;
use crate::problem::Problem;

/// The dimensions by which usage can be split.
const BY: &[(&str, UsageBy)] = &[
    ("day", UsageBy::Day),
    ("week", UsageBy::Week),
    ("month", UsageBy::Month),
    ("model", UsageBy::Model),
    ("project", UsageBy::Project),
    ("task", UsageBy::Task),
    ("agent", UsageBy::Agent),
    ("agentType", UsageBy::AgentType),
    ("skill", UsageBy::Skill),
    ("owner", UsageBy::Owner),
    ("machine", UsageBy::Machine),
];

fn by() -> Vec<&'static str> {
    BY.iter().map(|(word, _)| *word).collect()
}

fn states() -> Vec<&'static str> {
    CallState::ALL.iter().map(|state| state.as_str()).collect()
}

/// Parameters of the stretch of history and of the page.
const RANGE: &[&[Param]] = &[OWNERS, BETWEEN, PAGING];

fn usage(app: &App, params: &QueryParams) -> Result<Vec<u8>, Problem> {
    let by = params.word("by", |word| BY.iter().find(|(known, _)| *known == word).map(|(_, by)| *by));
    let by = by.unwrap_or(UsageBy::Day);
    json(params.store(app).usage(&params.range(), by, &params.zone))
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/tools",
        operation: "listTools",
        summary: "Calls, durations and failures by tool.",
        params: RANGE,
        shape: page::<ToolStat>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).tools(&params.range())),
    },
    Endpoint {
        path: "/failures",
        operation: "listFailures",
        summary: "Failures by class and tool.",
        params: RANGE,
        shape: page::<FailureStat>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).failures(&params.range())),
    },
    Endpoint {
        path: "/usage",
        operation: "listUsage",
        summary: "Usage by time, model, project, task, agent or skill.",
        params: &[
            &[optional("by", ParamType::One(by), "The dimension to split by; `day` unless given.")],
            OWNERS,
            BETWEEN,
            PAGING,
        ],
        shape: page::<UsageBucket>,
        cache: CachePolicy::WithLedger,
        ask: usage,
    },
    Endpoint {
        path: "/usage/blocks",
        operation: "listUsageBlocks",
        summary: "Five-hour windows, newest first; the open one with its rate and forecast.",
        params: RANGE,
        shape: page::<UsageBlock>,
        cache: CachePolicy::Always,
        ask: |app, params| json(params.store(app).blocks(params.now, &params.range())),
    },
    Endpoint {
        path: "/limits",
        operation: "listLimits",
        summary: "Use of each agent's rate limits, with a forecast.",
        params: &[OWNER_AND_MACHINE],
        shape: page::<Limit>,
        cache: CachePolicy::Always,
        ask: |app, params| json(params.store(app).limits(params.now)),
    },
    Endpoint {
        path: "/files",
        operation: "listFiles",
        summary: "Files over many tasks.",
        params: RANGE,
        shape: page::<FileStat>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).files(&params.range())),
    },
    Endpoint {
        path: "/skills",
        operation: "listSkills",
        summary: "Skills over many tasks.",
        params: RANGE,
        shape: page::<SkillStat>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).skills(&params.range())),
    },
    Endpoint {
        path: "/mcp",
        operation: "listMcp",
        summary: "Tools of MCP servers over many tasks.",
        params: RANGE,
        shape: page::<McpStat>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).mcp(&params.range())),
    },
    Endpoint {
        path: "/agents",
        operation: "listAgents",
        summary: "Types of agents over many tasks.",
        params: RANGE,
        shape: page::<AgentStat>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).agents(&params.range())),
    },
    Endpoint {
        path: "/commands",
        operation: "listCommands",
        summary: "Commands over many tasks.",
        params: RANGE,
        shape: page::<CommandStat>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).commands(&params.range())),
    },
    Endpoint {
        path: "/loops",
        operation: "listLoops",
        summary: "Repeated calls.",
        params: RANGE,
        shape: page::<Loop>,
        cache: CachePolicy::WithLedger,
        ask: |app, params| json(params.store(app).loops(&params.range())),
    },
    Endpoint {
        path: "/activity",
        operation: "listActivity",
        summary: "Activity over time, in equal intervals.",
        params: &[
            &[optional(
                "buckets",
                ParamType::Integer(1, 2000),
                "Number of intervals; a hundred unless given.",
            )],
            OWNERS,
            BETWEEN,
        ],
        shape: page::<ActivityBucket>,
        cache: CachePolicy::WithTime,
        ask: |app, params| {
            let buckets =
                params.integer("buckets").and_then(|buckets| u32::try_from(buckets).ok()).unwrap_or(100);
            json(params.store(app).activity(&params.range(), buckets))
        },
    },
    Endpoint {
        path: "/search",
        operation: "search",
        summary: "Rows that hold all words; the last may be a prefix.",
        params: &[
            &[
                optional("q", ParamType::Text, "The words. Without any, the other filters decide."),
                optional("tool", ParamType::Text, "Calls of this tool."),
                optional("state", ParamType::One(states), "Calls in this state."),
                optional("kind", ParamType::One(kinds), "Of this kind."),
                optional(
                    "longerThanMs",
                    ParamType::Integer(0, u32::MAX as u64),
                    "That took at least this long.",
                ),
                optional("task", ParamType::Task, "In this task."),
            ],
            OWNERS,
            BETWEEN,
            PAGING,
        ],
        shape: page::<Hit>,
        // Search follows the ledger at its own pace: the same ledger may give more a moment later.
        cache: CachePolicy::Always,
        ask: |app, params| {
            json(params.store(app).search(&SearchFilter {
                q: params.text("q").unwrap_or_default(),
                tool: params.text("tool"),
                state: params.word("state", |word| Some(word.to_owned())),
                kind: params.word("kind", Kind::parse),
                longer_than_ms: params.integer("longerThanMs"),
                task: params.task("task"),
                range: params.range(),
            }))
        },
    },
    Endpoint {
        path: "/attention",
        operation: "listAttention",
        summary: "Tasks that wait for a person, with the reason and the start of the wait.",
        params: &[OWNER_AND_MACHINE],
        shape: page::<Attention>,
        cache: CachePolicy::WithTime,
        ask: |app, params| json(params.store(app).attention(params.now)),
    },
];
