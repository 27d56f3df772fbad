/** Answers about one task, folded from its rows. */
import type { CommandRun, ContextPoint, Exploration, FileUse, Permission, Question, Row, TaskSummary, Todo, ToolCall, Turn, WebLookup } from '../src/api/types.ts';
import { addUsage, emptyUsage, type Told } from './story.ts';

const time = (t: string) => Date.parse(t);
const meta = <T>(row: Row, key: string) => row.metadata[key] as T | undefined;
const EXPLORING = new Set(['read_file', 'grep_code', 'glob_files', 'list_files', 'shell_probe']);

export function turns({ task, rows }: Told): Turn[] {
  const out: Turn[] = [];
  for (const row of rows) {
    if (row.kind === 'user.message') {
      out.push({
        id: row.turnId!, taskId: task.id, number: out.length + 1, prompt: row.body, promptOrigin: 'user', startedAt: row.occurredAt, state: 'running',
        toolCallCount: 0, failureCount: 0, usage: emptyUsage(),
      });
    }
    const turn = out.at(-1);
    if (!turn) continue;
    if (row.toolName && row.state) {
      turn.toolCallCount += 1;
      if (row.state === 'failed' || row.state === 'denied') turn.failureCount += 1;
    }
    if (row.kind === 'token.usage') addUsage(turn.usage, row.metadata as never);
    if (row.kind === 'assistant.response') {
      Object.assign(turn, { state: 'succeeded', endedAt: row.occurredAt, durationMs: time(row.occurredAt) - time(turn.startedAt), answer: row.body, stopReason: 'end_turn' });
    }
  }
  return out;
}

export function toolCalls(rows: readonly Row[]): ToolCall[] {
  return rows.filter((row) => row.toolName && row.state).map((row) => ({
    id: row.id, toolUseId: row.toolUseId, taskId: row.taskId, agentId: row.agentId, turnId: row.turnId, toolName: row.toolName!, state: row.state!, startedAt: row.occurredAt,
    endedAt: row.endedAt, durationMs: meta<number>(row, 'durationMs'), durationSource: 'agent', permissionWaitMs: meta<number>(row, 'permissionWaitMs'), exitCode: meta<number>(row, 'exitCode'),
    errorClass: meta<string>(row, 'errorClass'), title: row.title, channels: row.channels,
  }));
}

export function context(rows: readonly Row[]): ContextPoint[] {
  const out: ContextPoint[] = [];
  for (const row of rows) {
    if (row.kind === 'context.snapshot') {
      out.push({
        id: row.id, kind: 'snapshot', at: row.occurredAt, usedPct: meta(row, 'contextWindowUsedPct'), totalTokens: meta(row, 'contextWindowTotalTokens'), windowSize: 200_000, model: meta(row, 'modelId'),
        costUsd: meta(row, 'costTotalUsd'), fiveHourUsedPct: meta(row, 'rateLimitFiveHourUsedPct'), sevenDayUsedPct: meta(row, 'rateLimitSevenDayUsedPct'),
      });
    } else if (meta(row, 'compactPhase') === 'after') {
      out.push({ id: row.id, kind: 'compaction', at: row.occurredAt, title: row.title });
    }
  }
  // A change of model in the middle, so that the band has two colours.
  const middle = out[Math.floor(out.length * 0.6)];
  if (middle && out.length > 12) {
    for (const point of out.slice(Math.floor(out.length * 0.6))) if (point.model) point.model = 'claude-sonnet-5';
    out.splice(Math.floor(out.length * 0.6), 0, { id: middle.id, kind: 'model_switch', at: middle.at, model: 'claude-sonnet-5', title: 'claude-opus-4-8 → claude-sonnet-5' });
  }
  return out;
}

export function files(rows: readonly Row[]): FileUse[] {
  const out = new Map<string, FileUse>();
  for (const row of rows) {
    for (const path of row.filePaths) {
      let use = out.get(path);
      if (!use) out.set(path, (use = { path, reads: 0, changes: 0, failures: 0, firstAt: row.occurredAt, lastAt: row.occurredAt, by: [] }));
      if (row.lane === 'implementation') use.changes += 1;
      else use.reads += 1;
      if (row.state === 'failed') use.failures += 1;
      use.lastAt = row.occurredAt;
      const by = use.by.find((user) => user.taskId === row.taskId);
      if (by) by.count += 1;
      else use.by.push({ taskId: row.taskId, agentType: row.agentType, count: 1 });
    }
  }
  return [...out.values()].sort((a, b) => b.reads + b.changes - a.reads - a.changes);
}

export function commands(rows: readonly Row[]): CommandRun[] {
  return rows.filter((row) => row.kind === 'terminal.command').map((row) => {
    const analysis = meta<{ raw: string; overallEffect: string; failureMasked: boolean }>(row, 'commandAnalysis');
    return {
      id: row.id, taskId: row.taskId, title: row.title, command: analysis?.raw ?? row.title, effect: analysis?.overallEffect ?? 'unknown', failureMasked: analysis?.failureMasked ?? false, state: row.state!,
      exitCode: meta<number>(row, 'exitCode'), errorClass: meta<string>(row, 'errorClass'), occurredAt: row.occurredAt, durationMs: meta<number>(row, 'durationMs'),
    };
  });
}

export function exploration(rows: readonly Row[]): Exploration[] {
  return rows.filter((row) => EXPLORING.has(meta<string>(row, 'subtypeKey') ?? '')).map((row) => ({
    id: row.id, taskId: row.taskId, what: meta<string>(row, 'subtypeKey')!, title: row.title, toolName: row.toolName, filePaths: row.filePaths, offset: meta<number>(row, 'readOffset'), limit: meta<number>(row, 'readLimit'),
    pattern: meta<string>(row, 'searchPattern'), scope: meta<string>(row, 'searchScope'), mode: meta<string>(row, 'grepOutputMode'), occurredAt: row.occurredAt, durationMs: meta<number>(row, 'durationMs'), state: row.state,
  }));
}

export function web(rows: readonly Row[]): WebLookup[] {
  return rows.filter((row) => String(row.metadata['subtypeKey']).startsWith('web_')).map((row) => ({
    id: row.id, taskId: row.taskId, what: meta<string>(row, 'subtypeKey')!, title: row.title, query: meta<string>(row, 'webQuery'), prompt: meta<string>(row, 'webPrompt'), urls: meta<string[]>(row, 'webUrls') ?? [],
    domains: (meta<string[]>(row, 'webUrls') ?? []).map((url) => new URL(url).host), occurredAt: row.occurredAt, durationMs: meta<number>(row, 'durationMs'), state: row.state,
  }));
}

export function permissions(rows: readonly Row[]): Permission[] {
  return rows.filter((row) => row.kind === 'permission.request').map((row) => ({
    id: row.id, taskId: row.taskId, toolName: row.toolName, toolUseId: meta<string>(row, 'toolUseId'), title: String(row.metadata['toolInputSummary']), decision: meta<string>(row, 'decision'), occurredAt: row.occurredAt,
    waitMs: row.endedAt ? meta<number>(row, 'waitMs') : undefined,
  }));
}

export function todos(rows: readonly Row[]): Todo[] {
  const out = new Map<string, Todo>();
  for (const row of rows.filter((row) => row.kind === 'todo.logged')) {
    const id = String(row.metadata['todoId']);
    let todo = out.get(id);
    if (!todo) out.set(id, (todo = { todoId: id, taskId: row.taskId, subject: String(row.metadata['subject']), state: '', history: [] }));
    todo.state = String(row.metadata['todoState']);
    todo.history.push({ state: todo.state, at: row.occurredAt, id: row.id });
  }
  return [...out.values()];
}

export function questions(rows: readonly Row[]): Question[] {
  return rows.filter((row) => row.kind === 'question.logged').map((row) => ({ id: row.id, taskId: row.taskId, title: row.title, questions: meta<unknown[]>(row, 'questions') ?? [], phase: String(row.metadata['questionPhase']), occurredAt: row.occurredAt }));
}

export function summary(tree: readonly Told[], now: number): TaskSummary {
  const { task } = tree[0]!;
  const rows = tree.flatMap((told) => told.rows);
  const all = turns(tree[0]!);
  const used = files(rows);
  return {
    taskId: task.id, durationMs: time(task.lastEventAt) - time(task.startedAt), activeMs: all.reduce((sum, turn) => sum + (turn.durationMs ?? Math.max(0, now - time(turn.startedAt))), 0),
    waitingMs: permissions(rows).reduce((sum, { waitMs }) => sum + (waitMs ?? 0), 0), turns: all.length, toolCalls: tree.reduce((sum, told) => sum + told.task.toolCallCount, 0), failures: tree.reduce((sum, told) => sum + told.task.failureCount, 0),
    filesRead: used.filter((use) => use.reads > 0).length, filesChanged: used.filter((use) => use.changes > 0).length, permissions: permissions(rows).length, permissionsRecorded: true, compactions: context(rows).filter((point) => point.kind === 'compaction').length,
    agents: tree.length - 1, usage: task.treeUsage, sessions: [{ id: `${task.id}-s1`, startedAt: task.startedAt, endedAt: task.endedAt, source: 'startup' }],
  };
}
