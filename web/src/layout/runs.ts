/**
 * Runs of equal calls: neighbours of one track that are too narrow are drawn as one bar that
 * holds their number. What is wide enough to be read stays alone at every zoom.
 */
export interface Groupable {
  start: number;
  end: number;
  count: number;
  failures: number;
  running: boolean;
  /** Of several rows in one: the milliseconds in which one of them ran. */
  busyMs?: number;
  tool?: string;
  kind?: string;
  certainty?: string;
}

/** How long a row, or any row of a bin, ran. */
export const busyOf = (bar: Groupable): number => bar.busyMs ?? bar.end - bar.start;

export interface Run<T> {
  first: T;
  last: T;
  x0: number;
  x1: number;
  /** Rows in it. */
  count: number;
  /** Failed rows in it. */
  failures: number;
  /** Milliseconds in which one of them ran. */
  busyMs: number;
  /** Bars in it. */
  bars: number;
  /** The place of the first of them in the track. */
  at: number;
  /** Whether all have the same tool. */
  uniform: boolean;
  /** How sure all of them are; `mixed` where some are inferred or guessed and the others need not be. */
  certainty: string | undefined;
}

export interface RunOptions {
  /** Bars at least this wide are never grouped. */
  readablePx: number;
  /** Neighbours further apart than this are not grouped. */
  joinPx: number;
  /** Where a bar without length ends at the earliest. */
  minPx: number;
}

export const RUN_OPTIONS: RunOptions = { readablePx: 26, joinPx: 2.5, minPx: 2 };

/** How sure rows are with a time that was measured, or reported by the agent. */
const SEEN = new Set(['measured', 'reported']);

/** Of two that differ: what was measured and what was reported are together reported, all else is mixed. */
const combineCertainty = (one: string | undefined, other: string | undefined) =>
  one === undefined || other === undefined ? undefined : SEEN.has(one) && SEEN.has(other) ? 'reported' : 'mixed';

/** How sure the rows of a bar are. A bin of several has only the word of its least sure row. */
export const certaintyOf = (bar: { count: number; certainty?: string }): string | undefined =>
  bar.count > 1 && bar.certainty !== undefined && !SEEN.has(bar.certainty) ? 'mixed' : bar.certainty;

/**
 * Returns the name that most rows of a run have; of equally many the one that came first. Counted only for runs that
 * are labelled, not for each run of a frame: it makes a map.
 */
export function usualName<T extends Groupable>(
  track: readonly T[],
  { at, bars }: Pick<Run<T>, 'at' | 'bars'>,
  nameOf: (bar: T) => string,
): string {
  if (bars <= 1) return track[at] ? nameOf(track[at]) : '';
  const counts = new Map<string, number>();
  for (let i = at; i < at + bars && i < track.length; i += 1) {
    const name = nameOf(track[i]!);
    counts.set(name, (counts.get(name) ?? 0) + track[i]!.count);
  }
  let usual = '';
  let most = 0;
  for (const [name, count] of counts)
    if (count > most) {
      usual = name;
      most = count;
    }
  return usual;
}

/**
 * Calls `emit` for each run of `track[from..]` until one begins after `limit` pixels. The run is reused between calls:
 * a drawing loop must not feed the garbage collector.
 */
export function eachRun<T extends Groupable>(
  track: readonly T[],
  from: number,
  limit: number,
  toX: (t: number) => number,
  options: RunOptions,
  emit: (run: Run<T>) => void,
): void {
  let run: Run<T> | undefined;
  for (let i = from; i < track.length; i += 1) {
    const bar = track[i]!;
    const x0 = toX(bar.start);
    if (x0 > limit) break;
    const x1 = Math.max(toX(bar.end), x0 + options.minPx);
    // What runs stays alone: its end moves with every frame, and its open end must be seen.
    const narrow = x1 - x0 < options.readablePx && !bar.running;
    if (run && run.bars > 0) {
      const same = run.first.tool === bar.tool && (bar.tool !== undefined || run.first.kind === bar.kind);
      const near = x0 - run.x1 <= options.joinPx;
      // Unequal neighbours are joined only where they would cover the same pixel.
      if (narrow && near && run.x1 - run.x0 < 4096 && (same || (x1 - x0 < 3 && x0 - run.x1 < 0.5))) {
        const lastNarrow = run.bars > 1 || run.x1 - run.x0 < options.readablePx;
        if (lastNarrow && !run.last.running) {
          run.last = bar;
          run.x1 = Math.max(run.x1, x1);
          run.count += bar.count;
          run.failures += bar.failures;
          run.busyMs += busyOf(bar);
          run.bars += 1;
          run.uniform = run.uniform && same;
          const certainty = certaintyOf(bar);
          if (run.certainty !== certainty) run.certainty = combineCertainty(run.certainty, certainty);
          continue;
        }
      }
      emit(run);
      run.bars = 0;
    }
    run ??= {
      first: bar,
      last: bar,
      x0,
      x1,
      count: 0,
      failures: 0,
      busyMs: 0,
      bars: 0,
      at: i,
      uniform: true,
      certainty: undefined,
    };
    run.first = bar;
    run.last = bar;
    run.x0 = x0;
    run.x1 = x1;
    run.count = bar.count;
    run.failures = bar.failures;
    run.busyMs = busyOf(bar);
    run.bars = 1;
    run.at = i;
    run.uniform = true;
    run.certainty = certaintyOf(bar);
  }
  if (run && run.bars > 0) emit(run);
}
