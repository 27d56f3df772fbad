/**
 * The table behind an area selection: what happened in it, by tool.
 */
export interface Timed {
  toolName: string;
  durationMs?: number;
  /** The part of it that lies in the selected time; all of it if that is not said. */
  insideMs?: number;
  state: string;
}

/** The part of a stretch that lies in another, in milliseconds. */
export const overlapMs = (start: number, end: number, from: number, to: number): number =>
  Math.max(Math.min(end, to) - Math.max(start, from), 0);

export interface ToolLine {
  tool: string;
  count: number;
  failures: number;
  /** Calls whose duration is known: what the percentiles rest on. */
  timed: number;
  p50Ms?: number;
  p95Ms?: number;
  maxMs?: number;
  /** Time in the selection. */
  totalMs: number;
}

/** The nearest-rank percentile of sorted numbers. */
export function percentile(sorted: readonly number[], part: number): number | undefined {
  if (sorted.length === 0) return undefined;
  const rank = Math.ceil(part * sorted.length);
  return sorted[Math.min(Math.max(rank, 1), sorted.length) - 1];
}

const FAILED = new Set(['failed', 'denied', 'interrupted']);

/** What is counted by tool, part by part: an area may hold more calls than one answer does. */
export class ToolTally {
  count = 0;
  private readonly groups = new Map<
    string,
    { durations: number[]; count: number; failures: number; totalMs: number }
  >();

  add(calls: readonly Timed[]): void {
    this.count += calls.length;
    for (const call of calls) {
      let group = this.groups.get(call.toolName);
      if (!group) this.groups.set(call.toolName, (group = { durations: [], count: 0, failures: 0, totalMs: 0 }));
      group.count += 1;
      if (FAILED.has(call.state)) group.failures += 1;
      if (call.durationMs !== undefined) group.durations.push(call.durationMs);
      group.totalMs += call.insideMs ?? call.durationMs ?? 0;
    }
  }

  /** One line per tool, most time first. */
  lines(): ToolLine[] {
    return [...this.groups]
      .map(([tool, { durations, count, failures, totalMs }]) => {
        durations.sort((a, b) => a - b);
        return {
          tool,
          count,
          failures,
          timed: durations.length,
          p50Ms: percentile(durations, 0.5),
          p95Ms: percentile(durations, 0.95),
          maxMs: durations.at(-1),
          totalMs,
        };
      })
      .sort((a, b) => b.totalMs - a.totalMs || b.count - a.count || a.tool.localeCompare(b.tool));
  }
}

export function byTool(calls: readonly Timed[]): ToolLine[] {
  const tally = new ToolTally();
  tally.add(calls);
  return tally.lines();
}
