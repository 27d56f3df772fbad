/** What a lane shows, in words and numbers: pure. */
import { busyOf, certaintyOf } from '../layout/runs';
import { certaintyName } from '../text/format';
import type { Batch } from './flows';
import type { LaneRow } from './lanes';

export interface LaneSummary {
  count: number;
  failures: number;
  running: number;
  /** How long its calls ran, together. */
  busyMs: number;
  /** `12 measured, 1 estimated`: as the legend says. */
  sure: string;
  /** `4 and 2`: how many calls each bracket of this lane holds together. */
  batches: string;
  first: number;
  last: number;
}

const CERTAINTIES = ['measured', 'reported', 'inferred', 'guessed', 'mixed'];
/** More brackets than this are only counted. */
const BATCHES_AT_MOST = 12;

export function summarizeLane(row: LaneRow, batches: readonly Batch[]): LaneSummary {
  const out = {
    count: 0,
    failures: 0,
    running: 0,
    busyMs: 0,
    first: Number.POSITIVE_INFINITY,
    last: Number.NEGATIVE_INFINITY,
  };
  const sure = new Map<string, number>(CERTAINTIES.map((name) => [name, 0]));
  for (const track of row.tracks) {
    for (const bar of track) {
      out.count += bar.count;
      out.failures += bar.failures;
      out.running += bar.running ? 1 : 0;
      out.busyMs += busyOf(bar);
      out.first = Math.min(out.first, bar.start);
      out.last = Math.max(out.last, bar.end);
      const certainty = certaintyOf(bar) ?? bar.certainty;
      sure.set(certainty, (sure.get(certainty) ?? 0) + bar.count);
    }
  }
  const sizes =
    row.kind === 'agent'
      ? []
      : batches
          .filter((batch) => batch.taskId === row.task.id && batch.lanes.has(row.lane))
          .map((batch) => batch.count);
  return {
    ...out,
    sure: [...sure]
      .filter(([, n]) => n > 0)
      .map(([name, n]) => `${n} ${certaintyName(name)}`)
      .join(', '),
    batches: sizes.length > BATCHES_AT_MOST ? `${sizes.length} times` : sizes.join(' and '),
  };
}
