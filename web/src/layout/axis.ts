/**
 * The time axis: real time on one side, drawn time on the other.
 *
 * Sessions hold hours of human silence. A gap is folded into a short break of constant drawn length, so everything
 * else keeps its true proportions. Drawn time counts milliseconds from the beginning of the task without what the
 * folds took away; both directions are piecewise linear, monotonic and exact inverses outside of folds.
 */
export type Gap = readonly [start: number, end: number];

export interface Fold {
  /** Real begin and end. */
  start: number;
  end: number;
  /** Drawn begin and end. */
  u0: number;
  u1: number;
}

export interface FoldOptions {
  /** Gaps shorter than this stay as they are. */
  minGapMs: number;
  /** How much of the drawn length one break may take, as a part of the time in which something happened. */
  share: number;
}

const DEFAULTS: FoldOptions = { minGapMs: 60_000, share: 0.012 };

export class Axis {
  readonly start: number;
  readonly end: number;
  readonly folds: readonly Fold[];
  /** The drawn length of the whole. */
  readonly length: number;

  private constructor(start: number, end: number, folds: readonly Fold[], length: number) {
    this.start = start;
    this.end = end;
    this.folds = folds;
    this.length = length;
  }

  /** Drawn time is real time. */
  static plain(start: number, end: number): Axis {
    return new Axis(start, Math.max(end, start + 1), [], Math.max(1, end - start));
  }

  /** Folds every gap that is long enough and would become shorter by it. */
  static folded(start: number, end: number, gaps: readonly Gap[], options: Partial<FoldOptions> = {}): Axis {
    const { minGapMs, share } = { ...DEFAULTS, ...options };
    const stop = Math.max(end, start + 1);
    const clean = disjoint(gaps, start, stop).filter(([a, b]) => b - a >= minGapMs);
    const idle = clean.reduce((sum, [a, b]) => sum + b - a, 0);
    // A power of two, so that a running task, which grows all the time, does not shift its past all the time.
    const breakMs = 2 ** Math.floor(Math.log2(Math.max(1, Math.min(minGapMs / 2, (stop - start - idle) * share))));
    const folds: Fold[] = [];
    let cut = 0;
    for (const [a, b] of clean) {
      const u0 = a - start - cut;
      folds.push({ start: a, end: b, u0, u1: u0 + breakMs });
      cut += b - a - breakMs;
    }
    return new Axis(start, stop, folds, Math.max(1, stop - start - cut));
  }

  /** Real to drawn. Extends straight beyond both ends. */
  toU(t: number): number {
    const fold = this.folds.length > 0 ? this.foldBefore(t, 'start') : undefined;
    if (!fold) return t - this.start;
    if (t >= fold.end) return fold.u1 + (t - fold.end);
    return fold.u0 + ((t - fold.start) / (fold.end - fold.start)) * (fold.u1 - fold.u0);
  }

  /** Drawn to real. */
  toT(u: number): number {
    const fold = this.folds.length > 0 ? this.foldBefore(u, 'u0') : undefined;
    if (!fold) return this.start + u;
    if (u >= fold.u1) return fold.end + (u - fold.u1);
    return fold.start + ((u - fold.u0) / (fold.u1 - fold.u0)) * (fold.end - fold.start);
  }

  /** The stretches between folds that touch a range of real time, cut to it. */
  segments(from: number, to: number): [number, number][] {
    const out: [number, number][] = [];
    let begin = from;
    for (const fold of this.folds) {
      if (fold.end <= from) continue;
      if (fold.start >= to) break;
      if (fold.start > begin) out.push([begin, fold.start]);
      begin = Math.max(begin, fold.end);
    }
    if (begin < to) out.push([begin, to]);
    return out;
  }

  /** The last fold that begins at or before a place. Asked for every bar of every frame: it makes nothing new. */
  private foldBefore(at: number, side: 'start' | 'u0'): Fold | undefined {
    let low = 0;
    let high = this.folds.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.folds[middle]![side] <= at) low = middle + 1;
      else high = middle;
    }
    return this.folds[low - 1];
  }
}

/** Sorts, cuts to the range, drops what is empty or upside down, joins what overlaps. */
function disjoint(gaps: readonly Gap[], start: number, end: number): [number, number][] {
  const out: [number, number][] = [];
  const sorted = gaps
    .map(([a, b]): [number, number] => [Math.max(a, start), Math.min(b, end)])
    .filter(([a, b]) => b > a)
    .sort((x, y) => x[0] - y[0]);
  for (const gap of sorted) {
    const last = out.at(-1);
    if (last && gap[0] <= last[1]) last[1] = Math.max(last[1], gap[1]);
    else out.push(gap);
  }
  return out;
}
