/**
 * Running tasks: the tasks of the server below their parents, with the rows that the stream has brought since.
 */
import type { Limit, Row, Task, UsageBucket } from '../../api/types';
import { taskKey } from '../../text/format';

export interface TaskActivity {
  title: string;
  tool?: string;
  since: number;
  running: boolean;
  seq: number;
  /** What it did before, newest first. */
  before: readonly string[];
}

/** As many earlier steps as a card has room for. */
const STEPS_AT_MOST = 3;

export interface Card {
  task: Task;
  /** Its subagents that work or wait, at any depth. */
  below: { task: Task; depth: number }[];
}

/** Groups tasks below their parents: tasks that wait for a person first, then by start, idle ones last. */
export function groupTasks(tasks: readonly Task[]): Card[] {
  const known = new Set(tasks.map(taskKey));
  const children = new Map<string, Task[]>();
  const roots: Task[] = [];
  for (const task of tasks) {
    const parent = task.parentTaskId && taskKey({ id: task.parentTaskId, owner: task.owner });
    if (parent && known.has(parent)) {
      const list = children.get(parent);
      if (list) list.push(task);
      else children.set(parent, [task]);
    } else roots.push(task);
  }
  const below = (key: string, depth: number, seen: Set<string>): Card['below'] =>
    (children.get(key) ?? [])
      .filter((task) => !seen.has(task.id))
      .flatMap((task) => {
        seen.add(task.id);
        return [{ task, depth }, ...below(taskKey(task), depth + 1, seen)];
      });
  return roots
    .map((task) => ({ task, below: below(taskKey(task), 1, new Set([task.id])) }))
    .sort(
      (a, b) =>
        rank(a.task) - rank(b.task) ||
        a.task.startedAt.localeCompare(b.task.startedAt) ||
        a.task.id.localeCompare(b.task.id),
    );
}

/** Whether it waits for the next prompt, without a recorded reason. */
export const isIdle = (task: Task): boolean => task.status === 'waiting' && (task.waitingReason ?? 'idle') === 'idle';

/** Whether it and all its subagents have had no events for long: they may be gone. */
export const isSilent = ({ task, below }: Card): boolean =>
  task.status === 'running' &&
  task.stale &&
  below.every(({ task: child }) => child.status !== 'running' || child.stale);

const rank = (task: Task) => (isIdle(task) ? 2 : task.status === 'waiting' ? 0 : 1);

/** Returns the activity of a task after a row; an older row changes nothing. */
export function activityOf(before: TaskActivity | undefined, row: Row): TaskActivity | undefined {
  if (before && row.seq < before.seq) return before;
  if (row.lane === 'telemetry') return before;
  const running = row.state === 'running';
  // A call that ended while another one runs does not hide the one that runs.
  if (!running && before?.running && before.title !== row.title) return before;
  return {
    title: row.title,
    tool: row.toolName,
    since: Date.parse(running ? row.occurredAt : (row.endedAt ?? row.occurredAt)),
    running,
    seq: row.seq,
    before: !before || before.title === row.title ? (before?.before ?? []) : stepsAfter(before),
  };
}

const stepsAfter = ({ title, before }: TaskActivity) => [title, ...before].slice(0, STEPS_AT_MOST);

const WINDOWS: Record<string, string> = { five_hour: '5 hours', seven_day: '7 days' };

/** What people call the window of a limit. */
export const limitName = (window: string): string => WINDOWS[window] ?? window.replaceAll('_', ' ');

/** The limits of one account as they come; of a team's accounts those that are nearest to their end first. */
export function sortLimits(limits: readonly Limit[]): readonly Limit[] {
  if (new Set(limits.map(({ owner }) => owner)).size < 2) return limits;
  const fullAt = (limit: Limit) =>
    limit.forecast?.fullAt ? Date.parse(limit.forecast.fullAt) : Number.POSITIVE_INFINITY;
  return [...limits].sort(
    (a, b) => Number(fullAt(a) > fullAt(b)) - Number(fullAt(a) < fullAt(b)) || b.usedPct - a.usedPct,
  );
}

export interface Share {
  id: string;
  owner?: string;
  title: string;
  /** Between 0 and 1. */
  part: number;
}

/** The part of what an open window has cost that went to each session, greatest first. */
export function sharesOf(sessions: readonly UsageBucket[]): Share[] {
  const whole = sessions.reduce((sum, { usage }) => sum + (usage.costUsd ?? 0), 0);
  if (whole <= 0) return [];
  return sessions
    .map(({ key, label, owner, usage }) => ({
      id: key,
      owner,
      title: label ?? key,
      part: (usage.costUsd ?? 0) / whole,
    }))
    .filter(({ part }) => part > 0)
    .sort((a, b) => b.part - a.part || a.id.localeCompare(b.id));
}

/** Whether a row may have changed how much of a limit is used. */
export const updatesLimits = (row: Row): boolean =>
  row.kind === 'context.snapshot' && Object.keys(row.metadata).some((key) => key.startsWith('rateLimit'));
