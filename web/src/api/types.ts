/**
 * The answers of the query API, by the names that the pages use.
 */
export type Agent = 'claude_code' | 'codex' | (string & {});
export type Certainty = 'measured' | 'reported' | 'inferred' | 'guessed';
export type CallState = 'running' | 'succeeded' | 'failed' | 'denied' | 'interrupted' | 'abandoned';
export type Channel = 'hook' | 'transcript' | 'otlp' | 'http';
export type TaskStatus = 'running' | 'waiting' | 'completed' | 'failed' | 'abandoned';
export type WaitingReason = 'permission' | 'question' | 'elicitation' | 'plan' | 'idle';
export type Metadata = Record<string, unknown>;

export interface Page<T> {
  items: T[];
  nextCursor?: string;
}

export interface UsageView {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
  reasoningTokens?: number;
  costUsd: number;
  clientCostUsd?: number;
  residual?: Residual;
  provenance: { responses: number; unpriced: number; copies: number };
}

export interface Residual {
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheCreationTokens: number;
  costUsd: number;
  reason: string;
}

export interface Task {
  id: string;
  title: string;
  kind: 'primary' | 'background';
  status: TaskStatus;
  waitingReason?: WaitingReason;
  waitingSince?: string;
  stale: boolean;
  parentTaskId?: string;
  parentCertainty?: Certainty;
  parentToolUseId?: string;
  agent: Agent;
  agentType: string;
  agentId?: string;
  runtimeSessionId: string;
  workspacePath: string;
  model?: string;
  startedAt: string;
  lastEventAt: string;
  endedAt?: string;
  eventCount: number;
  toolCallCount: number;
  failureCount: number;
  turnCount: number;
  childCount: number;
  current?: string;
  contextUsedPct?: number;
  usage: UsageView;
  treeUsage: UsageView;
  continuesTaskId?: string;
  forkedFromTaskId?: string;
  gitBranch?: string;
  clientVersion?: string;
  machineId: string;
  project: string;
}

export interface TreeNode {
  depth: number;
  task: Task;
}

export interface Turn {
  id: string;
  taskId: string;
  number: number;
  prompt?: string;
  promptOrigin?: string;
  startedAt: string;
  endedAt?: string;
  durationMs?: number;
  state: string;
  stopReason?: string;
  answer?: string;
  toolCallCount: number;
  failureCount: number;
  usage: UsageView;
}

export interface TaskSummary {
  taskId: string;
  durationMs: number;
  activeMs: number;
  waitingMs: number;
  turns: number;
  toolCalls: number;
  failures: number;
  filesRead: number;
  filesChanged: number;
  permissions: number;
  compactions: number;
  agents: number;
  usage: UsageView;
  sessions: { id: string; startedAt: string; endedAt?: string; source?: string; completionReason?: string }[];
}

export interface Row {
  id: string;
  seq: number;
  taskId: string;
  sessionId: string;
  turnId?: string;
  kind: string;
  lane: string;
  title: string;
  body?: string;
  occurredAt: string;
  endedAt?: string;
  state?: CallState;
  toolName?: string;
  toolUseId?: string;
  agentId?: string;
  agentType: string;
  isSubagent: boolean;
  runtimeSessionId: string;
  hookEventName?: string;
  filePaths: string[];
  metadata: Metadata;
  channels: Channel[];
  certainty: Certainty;
}

export interface ToolCall {
  id: string;
  toolUseId?: string;
  taskId: string;
  agentId?: string;
  turnId?: string;
  toolName: string;
  state: CallState;
  startedAt: string;
  endedAt?: string;
  durationMs?: number;
  durationSource?: string;
  permissionWaitMs?: number;
  exitCode?: number;
  errorClass?: string;
  title: string;
  channels: Channel[];
}

export interface EventDetail {
  row: Row;
  fieldChannels: Record<string, Channel>;
  entries: ToldEntry[];
}

export interface ToldEntry {
  seq: number;
  entryId: string;
  channel: Channel;
  phase: string;
  occurredAt: string;
  evidence: string;
  certainty: Certainty;
  fields: Metadata;
  machineId: string;
}

export interface LaneBin {
  start: number;
  end: number;
  count: number;
  failures: number;
  running: boolean;
  track: number;
  id?: string;
  title: string;
  kind?: string;
  tool?: string;
  certainty: string;
}

export interface LaneStrip {
  taskId: string;
  lane: string;
  bins: LaneBin[];
}

export interface LaneBins {
  from: string;
  to: string;
  width: number;
  strips: LaneStrip[];
  gaps: [number, number][];
}

export interface FileUse {
  path: string;
  reads: number;
  changes: number;
  failures: number;
  firstAt: string;
  lastAt: string;
  by: { taskId: string; agentType: string; count: number }[];
}

export interface CommandRun {
  id: string;
  taskId: string;
  title: string;
  command: string;
  effect: string;
  failureMasked: boolean;
  state: CallState;
  exitCode?: number;
  errorClass?: string;
  occurredAt: string;
  durationMs?: number;
}

export interface Exploration {
  id: string;
  taskId: string;
  what: string;
  title: string;
  toolName?: string;
  filePaths: string[];
  offset?: number;
  limit?: number;
  pattern?: string;
  scope?: string;
  mode?: string;
  occurredAt: string;
  durationMs?: number;
  state?: CallState;
}

export interface WebLookup {
  id: string;
  taskId: string;
  what: string;
  title: string;
  query?: string;
  prompt?: string;
  urls: string[];
  domains: string[];
  occurredAt: string;
  durationMs?: number;
  state?: CallState;
}

export interface Permission {
  id: string;
  taskId: string;
  toolName?: string;
  toolUseId?: string;
  callId?: string;
  title: string;
  decision?: string;
  occurredAt: string;
  waitMs?: number;
}

export interface Todo {
  todoId: string;
  taskId: string;
  subject: string;
  state: string;
  history: { state: string; at: string; id: string }[];
}

export interface Question {
  id: string;
  taskId: string;
  title: string;
  questions: unknown[];
  phase: string;
  answerCount?: number;
  occurredAt: string;
  waitMs?: number;
}

export interface ContextPoint {
  id: string;
  kind: 'snapshot' | 'compaction' | 'model_switch';
  at: string;
  usedPct?: number;
  totalTokens?: number;
  windowSize?: number;
  model?: string;
  costUsd?: number;
  fiveHourUsedPct?: number;
  sevenDayUsedPct?: number;
  title?: string;
}

export interface ToolStat {
  tool: string;
  count: number;
  failures: number;
  p50Ms?: number;
  p95Ms?: number;
  p99Ms?: number;
  totalMs: number;
}

export interface FailureStat {
  errorClass: string;
  tool: string;
  count: number;
  calls: number;
}

export interface UsageBucket {
  key: string;
  label?: string;
  usage: UsageView;
}

export interface FileStat {
  path: string;
  project: string;
  reads: number;
  changes: number;
}

export interface SkillStat {
  skill: string;
  count: number;
  failures: number;
  usage: UsageView;
}

export interface McpStat {
  server: string;
  tool: string;
  count: number;
  failures: number;
  totalMs: number;
}

export interface AgentStat {
  agentType: string;
  tasks: number;
  toolCalls: number;
  failures: number;
  usage: UsageView;
}

export interface CommandStat {
  command: string;
  count: number;
  failures: number;
  totalMs: number;
  meanMs?: number;
}

export interface Loop {
  taskId: string;
  tool: string;
  title: string;
  count: number;
  failures: number;
  firstAt: string;
  lastAt: string;
  lastId: string;
}

export interface Attention {
  taskId: string;
  title: string;
  agent: Agent;
  agentType: string;
  project: string;
  reason: WaitingReason;
  since: string;
  rowId?: string;
  text?: string;
}

export interface Hit {
  row: Row;
  taskTitle: string;
  snippet: string;
}

export interface ActivityBucket {
  at: string;
  events: number;
  toolCalls: number;
  failures: number;
  toolMs: number;
  waitingMs: number;
  inputTokens: number;
  outputTokens: number;
  costUsd: number;
}

export interface Health {
  status: string;
  version: string;
  store: {
    kind: string;
    bytes: number;
    entries: number;
    events: number;
    tasks: number;
    searchLag: number;
    schema: number;
  };
  seq: number;
  spool: { waiting: number; quarantined: number; lost: Record<string, number> };
  outcomes: {
    received: number;
    recorded: number;
    duplicate: number;
    unrecognised: number;
    malformed: number;
    refused: number;
  };
  lagMs: number;
  sources: {
    name: string;
    lastAt?: string;
    observations: number;
    files: number;
    bytes: number;
    problem?: string;
  }[];
  unrecognised: { agent: string; clientVersion: string; what: string; name: string; count: number }[];
  problems: string[];
}
