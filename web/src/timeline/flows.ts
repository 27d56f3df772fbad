/**
 * What caused what: a call that started an agent, an agent that gave its result back, a permission that held up a call.
 */
import type { TreeNode } from '../api/types';
import type { Bar } from './bars';

export interface Flow {
  kind: 'spawn' | 'result' | 'permission';
  from: { taskId: string; lane: string; t: number; id?: string };
  to: { taskId: string; lane: string; t: number; id?: string };
}

export interface Batch {
  id: string;
  taskId: string;
  count: number;
  start: number;
  end: number;
  lanes: Set<string>;
}

export function buildFlows(tree: readonly TreeNode[], bars: readonly Bar[]): Flow[] {
  const out: Flow[] = [];
  const byUse = new Map<string, Bar[]>();
  for (const bar of bars) {
    if (!bar.toolUseId) continue;
    const list = byUse.get(bar.toolUseId);
    if (list) list.push(bar);
    else byUse.set(bar.toolUseId, [bar]);
  }
  for (const { task } of tree) {
    if (!task.parentTaskId) continue;
    const call = task.parentToolUseId
      ? byUse.get(task.parentToolUseId)?.find((bar) => bar.taskId === task.parentTaskId)
      : undefined;
    const start = Date.parse(task.startedAt);
    const parent = { taskId: task.parentTaskId, lane: call?.lane ?? 'coordination', id: call?.id };
    out.push({
      kind: 'spawn',
      from: { ...parent, t: call ? Math.min(call.start, start) : start },
      to: { taskId: task.id, lane: 'agent', t: start },
    });
    if (task.endedAt) {
      const end = Date.parse(task.endedAt);
      out.push({
        kind: 'result',
        from: { taskId: task.id, lane: 'agent', t: end },
        to: { ...parent, t: call && !call.running ? Math.max(call.end, end) : end },
      });
    }
  }
  for (const list of byUse.values()) {
    const ask = list.find((bar) => bar.kind === 'permission.request');
    const call = list.find((bar) => bar.kind !== 'permission.request');
    if (ask && call && ask.taskId === call.taskId) {
      out.push({
        kind: 'permission',
        from: { taskId: ask.taskId, lane: ask.lane, t: ask.end, id: ask.id },
        to: { taskId: call.taskId, lane: call.lane, t: Math.max(call.start, ask.start), id: call.id },
      });
    }
  }
  return out;
}

/** Calls that the model asked for at once. A batch of one is none. */
export function buildBatches(bars: readonly Bar[]): Batch[] {
  const out = new Map<string, Batch>();
  for (const bar of bars) {
    if (!bar.batch) continue;
    const key = `${bar.taskId} ${bar.batch}`;
    const batch = out.get(key);
    if (!batch)
      out.set(key, {
        id: bar.batch,
        taskId: bar.taskId,
        count: 1,
        start: bar.start,
        end: bar.end,
        lanes: new Set([bar.lane]),
      });
    else {
      batch.count += 1;
      batch.start = Math.min(batch.start, bar.start);
      batch.end = Math.max(batch.end, bar.end);
      batch.lanes.add(bar.lane);
    }
  }
  return [...out.values()].filter((batch) => batch.count > 1);
}
