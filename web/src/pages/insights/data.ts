/** All totals of one period, requested together. */
import { api } from '../../api/client';
import type {
  ActivityBucket,
  AgentStat,
  CommandStat,
  FailureStat,
  FileStat,
  Loop,
  McpStat,
  SkillStat,
  ToolStat,
  UsageBucket,
  UsageView,
} from '../../api/types';
import type { AgentId } from '../../app/agents.svelte';
import { duration } from '../../text/format';
import { rangeQuery, bucketCount, type TimeRange } from './range';

export interface InsightsData {
  tools: ToolStat[];
  failures: FailureStat[];
  days: UsageBucket[];
  models: UsageBucket[];
  projects: UsageBucket[];
  agents: UsageBucket[];
  /** The costliest sessions. */
  sessions: UsageBucket[];
  /** Only on a team's server. */
  people: UsageBucket[];
  machines: UsageBucket[];
  types: AgentStat[];
  commands: CommandStat[];
  files: FileStat[];
  loops: Loop[];
  skills: SkillStat[];
  mcp: McpStat[];
  activity: ActivityBucket[];
}

/** The filters of the page. */
export interface InsightsScope {
  project?: string;
  owner?: string;
  machine?: string;
  agent?: AgentId;
  agentType?: string;
}

const tz = Intl.DateTimeFormat().resolvedOptions().timeZone;

export async function loadInsights(
  span: TimeRange,
  scope: InsightsScope,
  ofTeam: boolean,
  signal: AbortSignal,
): Promise<InsightsData> {
  const plain = { ...rangeQuery(span), ...scope };
  const of = { ...plain, limit: 200 };
  const items = async <T>(page: Promise<{ items: T[] }>) => (await page).items;
  const [
    tools,
    failures,
    days,
    models,
    projects,
    agents,
    sessions,
    types,
    commands,
    files,
    loops,
    skills,
    mcp,
    activity,
    people,
    machines,
  ] = await Promise.all([
    items(api.tools(of, signal)),
    items(api.failures(of, signal)),
    items(api.usage({ ...of, by: 'day', tz, limit: 400 }, signal)),
    items(api.usage({ ...of, by: 'model' }, signal)),
    items(api.usage({ ...of, by: 'project' }, signal)),
    items(api.usage({ ...of, by: 'agent' }, signal)),
    items(api.usage({ ...of, by: 'task', limit: 20 }, signal)),
    items(api.agents(of, signal)),
    items(api.allCommands(of, signal)),
    items(api.allFiles(of, signal)),
    items(api.loops({ ...of, limit: 50 }, signal)),
    items(api.skills(of, signal)),
    items(api.mcp(of, signal)),
    items(api.activity({ ...plain, buckets: bucketCount(span) }, signal)),
    ofTeam ? items(api.usage({ ...of, by: 'owner' }, signal)) : [],
    ofTeam ? items(api.usage({ ...of, by: 'machine' }, signal)) : [],
  ]);
  return {
    tools,
    failures,
    days,
    models,
    projects,
    agents,
    sessions,
    people,
    machines,
    types,
    commands,
    files,
    loops,
    skills,
    mcp,
    activity,
  };
}

export const sum = <T>(rows: readonly T[], of: (row: T) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);

/** What a day cost, or nothing where that is not known at all. */
export const knownCost = (usage: UsageView): number | null =>
  usage.provenance.unpriced > 0 && !(usage.costUsd > 0) ? null : usage.costUsd;

/** How long people were waited for, as far as it was recorded. */
export const sumWaiting = (numbers: InsightsData): number => sum(numbers.activity, (row) => row.waitingMs);
export const WAITING_HINT =
  'recorded by hooks only: transcripts do not contain permission prompts, so imported sessions add nothing';
/** Nothing recorded is not the same as no wait. */
export const formatWaiting = (ms: number): string => (ms > 0 ? duration(ms) : 'none recorded');

/** All tokens that a provider counted. */
export const countTokens = (usage: UsageView): number =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheCreationTokens;

/** How many of a hundred calls failed. */
export const failureRate = (rows: readonly ToolStat[]): number =>
  (sum(rows, (row) => row.failures) /
    Math.max(
      sum(rows, (row) => row.count),
      1,
    )) *
  100;
