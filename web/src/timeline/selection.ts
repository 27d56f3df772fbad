/** Which calls a selected area holds, and how far back they may have begun. Pure; the clock is an argument. */
import type { Row } from '../api/types';
import { overlapMs, type Timed } from '../layout/percentiles';
import { exact } from '../text/format';
import type { Bar } from './bars';
import { isInRows, type Area } from './stage.svelte';

/** The calls among some rows that lie in the area, at least in part. What runs has run until `now`. */
export function selectCalls(rows: readonly Row[], area: Area, now: number): Timed[] {
  return rows.flatMap((row) => {
    if (!row.toolName || !row.state || !isInRows(area.rows, row.taskId, row.lane)) return [];
    const start = Date.parse(row.occurredAt);
    const end = row.endedAt ? Date.parse(row.endedAt) : row.state === 'running' ? Math.max(now, start) : start;
    if (start >= area.to || (end <= area.from && start < area.from)) return [];
    const took = row.metadata.durationMs;
    return [
      {
        toolName: row.toolName,
        state: row.state,
        durationMs: typeof took === 'number' ? took : row.endedAt ? end - start : undefined,
        insideMs: overlapMs(start, end, area.from, area.to),
      },
    ];
  });
}

/**
 * From when on rows are asked for: the earliest beginning of what still ran when the area begins, however long it took.
 */
export function earliestStart(bars: readonly Bar[], area: Area): number {
  let earliest = area.from;
  for (const bar of bars) {
    if (bar.start < earliest && (bar.running || bar.end > area.from) && isInRows(area.rows, bar.taskId, bar.lane))
      earliest = bar.start;
  }
  return earliest;
}

const plural = (n: number, thing: string) => `${exact(n)} ${thing}${n === 1 ? '' : 's'}`;

/** What an area covers: a closed agent is one row with all its lanes. */
export function describeCoverage(rows: ReadonlySet<string> | undefined): string {
  if (!rows) return 'all lanes';
  const lanes = [...rows].filter((key) => key.includes('/')).length;
  const agents = rows.size - lanes;
  return [
    ...(agents > 0 ? [plural(agents, 'agent')] : []),
    ...(lanes > 0 || agents === 0 ? [plural(lanes, 'lane')] : []),
  ].join(', ');
}
