/**
 * The overview strip: how much happened per pixel, so that a hundred thousand rows are a few hundred numbers.
 */
export interface Weighted {
  start: number;
  end: number;
  count: number;
  failures: number;
}

export interface Density {
  /** Rows per column. */
  counts: Float32Array;
  failures: Float32Array;
  /** The largest count. */
  peak: number;
}

/** Spreads each bar's rows evenly over the columns that it covers. `toX` gives columns, fractions included. */
export function density(bars: Iterable<Weighted>, columns: number, toX: (t: number) => number): Density {
  const counts = new Float32Array(Math.max(columns, 0));
  const failures = new Float32Array(counts.length);
  for (const bar of bars) {
    const first = Math.floor(toX(bar.start));
    const last = Math.max(first, Math.ceil(toX(bar.end)) - 1);
    const share = 1 / (last - first + 1);
    for (let x = Math.max(first, 0); x <= Math.min(last, counts.length - 1); x += 1) {
      counts[x]! += bar.count * share;
      failures[x]! += bar.failures * share;
    }
  }
  let peak = 0;
  for (const count of counts) peak = Math.max(peak, count);
  return { counts, failures, peak };
}
