//! Questions about many tasks.

use agent_tracer_event::{CallState, Kind};
use agent_tracer_ledger::view::{
    ActivityBucket, AgentStat, Attention, CommandStat, FailureStat, FileStat, Hit, Limit, Loop, McpStat,
    SkillStat, ToolStat, UsageBlock, UsageBucket,
};
use agent_tracer_ledger::{SearchFilter, UsageBy};

use super::params::{BETWEEN, OWNERS, PAGING, Param, WHOSE, kinds};
use super::{CachePolicy, Endpoint, ParamType, QueryParams, json, may};
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

fn usage(app: &App, asked: &QueryParams) -> Result<Vec<u8>, Problem> {
    let by = asked.word("by", |word| BY.iter().find(|(known, _)| *known == word).map(|(_, by)| *by));
    let by = by.unwrap_or(UsageBy::Day);
    json(asked.store(app).usage(&asked.range(), by, &asked.zone))
}

pub(super) const ENDPOINTS: &[Endpoint] = &[
    Endpoint {
        path: "/tools",
        operation: "listTools",
        summary: "How often, how long and how well each tool worked.",
        params: RANGE,
        shape: page::<ToolStat>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).tools(&asked.range())),
    },
    Endpoint {
        path: "/failures",
        operation: "listFailures",
        summary: "Failures by class and tool.",
        params: RANGE,
        shape: page::<FailureStat>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).failures(&asked.range())),
    },
    Endpoint {
        path: "/usage",
        operation: "listUsage",
        summary: "Usage by time, model, project, task, agent or skill.",
        params: &[
            &[may("by", ParamType::One(by), "The dimension to split by; `day` unless given.")],
            OWNERS,
            BETWEEN,
            PAGING,
        ],
        shape: page::<UsageBucket>,
        ages: CachePolicy::WithLedger,
        ask: usage,
    },
    Endpoint {
        path: "/usage/blocks",
        operation: "listUsageBlocks",
        summary: "Windows of five hours, newest first; the open one with its pace and forecast.",
        params: RANGE,
        shape: page::<UsageBlock>,
        ages: CachePolicy::Always,
        ask: |app, asked| json(asked.store(app).blocks(asked.now, &asked.range())),
    },
    Endpoint {
        path: "/limits",
        operation: "listLimits",
        summary: "How much of each agent's rate limits is used, and when they will be reached.",
        params: &[WHOSE],
        shape: page::<Limit>,
        ages: CachePolicy::Always,
        ask: |app, asked| json(asked.store(app).limits(asked.now)),
    },
    Endpoint {
        path: "/files",
        operation: "listFiles",
        summary: "Files over many tasks.",
        params: RANGE,
        shape: page::<FileStat>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).files(&asked.range())),
    },
    Endpoint {
        path: "/skills",
        operation: "listSkills",
        summary: "Skills over many tasks.",
        params: RANGE,
        shape: page::<SkillStat>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).skills(&asked.range())),
    },
    Endpoint {
        path: "/mcp",
        operation: "listMcp",
        summary: "Tools of MCP servers over many tasks.",
        params: RANGE,
        shape: page::<McpStat>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).mcp(&asked.range())),
    },
    Endpoint {
        path: "/agents",
        operation: "listAgents",
        summary: "Types of agents over many tasks.",
        params: RANGE,
        shape: page::<AgentStat>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).agents(&asked.range())),
    },
    Endpoint {
        path: "/commands",
        operation: "listCommands",
        summary: "Commands over many tasks.",
        params: RANGE,
        shape: page::<CommandStat>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).commands(&asked.range())),
    },
    Endpoint {
        path: "/loops",
        operation: "listLoops",
        summary: "Calls that were made again and again.",
        params: RANGE,
        shape: page::<Loop>,
        ages: CachePolicy::WithLedger,
        ask: |app, asked| json(asked.store(app).loops(&asked.range())),
    },
    Endpoint {
        path: "/activity",
        operation: "listActivity",
        summary: "What happened over time, in equal stretches.",
        params: &[
            &[may("buckets", ParamType::Whole(1, 2000), "How many stretches; a hundred unless given.")],
            OWNERS,
            BETWEEN,
        ],
        shape: page::<ActivityBucket>,
        ages: CachePolicy::WithTime,
        ask: |app, asked| {
            let buckets =
                asked.whole("buckets").and_then(|buckets| u32::try_from(buckets).ok()).unwrap_or(100);
            json(asked.store(app).activity(&asked.range(), buckets))
        },
    },
    Endpoint {
        path: "/search",
        operation: "search",
        summary: "Rows that hold all of the words; the last may be the beginning of one.",
        params: &[
            &[
                may("q", ParamType::Text, "The words. Without any, what the other filters leave."),
                may("tool", ParamType::Text, "Calls of this tool."),
                may("state", ParamType::One(states), "Calls in this state."),
                may("kind", ParamType::One(kinds), "Of this kind."),
                may("longerThanMs", ParamType::Whole(0, u32::MAX as u64), "That took at least this long."),
                may("task", ParamType::Task, "In this task."),
            ],
            OWNERS,
            BETWEEN,
            PAGING,
        ],
        shape: page::<Hit>,
        // Search follows the ledger at its own pace: the same ledger may give more a moment later.
        ages: CachePolicy::Always,
        ask: |app, asked| {
            json(asked.store(app).search(&SearchFilter {
                q: asked.text("q").unwrap_or_default(),
                tool: asked.text("tool"),
                state: asked.word("state", |word| Some(word.to_owned())),
                kind: asked.word("kind", Kind::parse),
                longer_than_ms: asked.whole("longerThanMs"),
                task: asked.task("task"),
                range: asked.range(),
            }))
        },
    },
    Endpoint {
        path: "/attention",
        operation: "listAttention",
        summary: "Who waits for a person, why and since when.",
        params: &[WHOSE],
        shape: page::<Attention>,
        ages: CachePolicy::WithTime,
        ask: |app, asked| json(asked.store(app).attention(asked.now)),
    },
];
