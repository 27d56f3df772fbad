/**
 * Who works just now: tasks from the server, put below their parents, with what the stream has told since on top.
 */
import type { Row, Task } from '../../api/types';

export interface Doing {
  title: string;
  tool?: string;
  since: number;
  running: boolean;
  seq: number;
}

export interface Card {
  task: Task;
  /** Its subagents that work or wait, at any depth. */
  below: { task: Task; depth: number }[];
}

/** Those who wait for a person first, then by who did something last; idle ones last. */
export function cards(tasks: readonly Task[]): Card[] {
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const children = new Map<string, Task[]>();
  const roots: Task[] = [];
  for (const task of tasks) {
    const parent = task.parentTaskId;
    if (parent && byId.has(parent)) {
      const list = children.get(parent);
      if (list) list.push(task);
      else children.set(parent, [task]);
    } else roots.push(task);
  }
  const below = (id: string, depth: number, seen: Set<string>): Card['below'] =>
    (children.get(id) ?? []).filter((task) => !seen.has(task.id)).flatMap((task) => {
      seen.add(task.id);
      return [{ task, depth }, ...below(task.id, depth + 1, seen)];
    });
  return roots.map((task) => ({ task, below: below(task.id, 1, new Set([task.id])) })).sort((a, b) => rank(a.task) - rank(b.task) || a.task.startedAt.localeCompare(b.task.startedAt) || a.task.id.localeCompare(b.task.id));
}

/** It waits for nothing in particular: for the next prompt, as far as anybody knows. */
export const isIdle = (task: Task): boolean => task.status === 'waiting' && (task.waitingReason ?? 'idle') === 'idle';

const rank = (task: Task) => (isIdle(task) ? 2 : task.status === 'waiting' ? 0 : 1);

/** What a row says about what its task does now; rows of the past say nothing. */
export function doing(before: Doing | undefined, row: Row): Doing | undefined {
  if (before && row.seq < before.seq) return before;
  if (row.lane === 'telemetry') return before;
  const running = row.state === 'running';
  // A call that ended while another one runs does not hide the one that runs.
  if (!running && before?.running && before.title !== row.title) return before;
  return { title: row.title, tool: row.toolName, since: Date.parse(running ? row.occurredAt : (row.endedAt ?? row.occurredAt)), running, seq: row.seq };
}

export interface Limit {
  agent: string;
  name: string;
  usedPct: number;
  resetsAt?: string;
  at: string;
}

/** The windows that a snapshot tells of. */
export function limits(row: Row, agent: string): Limit[] {
  const out: Limit[] = [];
  for (const [name, key] of [['5 hours', 'rateLimitFiveHour'], ['7 days', 'rateLimitSevenDay']] as const) {
    const used = row.metadata[`${key}UsedPct`];
    const resets = row.metadata[`${key}ResetsAt`];
    if (typeof used === 'number') out.push({ agent, name, usedPct: used, resetsAt: typeof resets === 'string' ? resets : undefined, at: row.occurredAt });
  }
  return out;
}
