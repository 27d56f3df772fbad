/**
 * The use of the context as numbers: made once when the points come, so that a frame only walks over what is in sight.
 */
import type { ContextPoint } from '../api/types';

export interface Band {
  from: number;
  to: number;
  model: string;
}

export interface Mark {
  at: number;
  point: ContextPoint;
}

export interface Curve {
  /** Moments of the snapshots, growing, and how full the window was at each, in percent. */
  at: Float64Array;
  used: Float64Array;
  snapshots: readonly ContextPoint[];
  bands: readonly Band[];
  models: readonly string[];
  /** Compactions and changes of the model. */
  marks: readonly Mark[];
}

export function curveOf(points: readonly ContextPoint[]): Curve {
  const dated = points.map((point): Mark => ({ at: Date.parse(point.at), point })).sort((a, b) => a.at - b.at);
  const line = dated.filter(({ point }) => point.kind === 'snapshot' && point.usedPct !== undefined);
  const bands = modelBands(dated);
  return {
    at: Float64Array.from(line, ({ at }) => at),
    used: Float64Array.from(line, ({ point }) => point.usedPct!),
    snapshots: line.map(({ point }) => point),
    bands,
    models: [...new Set(bands.map(({ model }) => model))],
    marks: dated.filter(({ point }) => point.kind !== 'snapshot'),
  };
}

/** Stretches in which one model answered; the last one goes on. */
function modelBands(dated: readonly Mark[]): Band[] {
  const out: Band[] = [];
  for (const { at, point } of dated) {
    if (!point.model) continue;
    const last = out.at(-1);
    if (last) last.to = at;
    if (last?.model !== point.model) out.push({ from: at, to: Number.POSITIVE_INFINITY, model: point.model });
  }
  const last = out.at(-1);
  if (last) last.to = Number.POSITIVE_INFINITY;
  return out;
}

/** The place of the last snapshot at or before a moment; −1 before the first. */
export function placeAt({ at }: Pick<Curve, 'at'>, t: number): number {
  let low = 0;
  let high = at.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at[middle]! <= t) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The last known use at a moment. */
export const usedAt = (curve: Curve, t: number): ContextPoint | undefined => curve.snapshots[placeAt(curve, t)];

/**
 * Walks the curve through a window of time as steps, at most a few per pixel: `to` is called with places on the screen,
 * in order. Of the snapshots that share a pixel the lowest, the highest and the last are kept, so no peak is lost.
 */
export function walk(
  curve: Curve,
  from: number,
  until: number,
  toX: (t: number) => number,
  to: (x: number, used: number) => void,
): void {
  let i = Math.max(placeAt(curve, from), 0);
  if (i >= curve.at.length || curve.at[i]! > until) return;
  let x = toX(curve.at[i]!);
  let last = curve.used[i]!;
  to(x, last);
  for (i += 1; i < curve.at.length && curve.at[i]! <= until;) {
    x = toX(curve.at[i]!);
    const before = last;
    let low = curve.used[i]!;
    let high = low;
    for (last = low, i += 1; i < curve.at.length && curve.at[i]! <= until && toX(curve.at[i]!) - x < 1; i += 1) {
      last = curve.used[i]!;
      low = Math.min(low, last);
      high = Math.max(high, last);
    }
    to(x, before);
    if (high > Math.max(before, last)) to(x, high);
    if (low < Math.min(before, last)) to(x, low);
    to(x, last);
  }
}

/** Tops that the scale may have, in percent of the window. */
const TOPS = [1, 2, 5, 10, 25, 50, 100];

/** A line of the scale: its height in percent of the window, and its label. */
export interface Rule {
  pct: number;
  label: string;
}

/**
 * Returns the top of the scale and its lines. The top is the least round share above every point, because a session
 * that uses a tenth of a large window would be a flat line on a scale of the whole window. It covers the whole session,
 * so zooming does not change what a height means.
 */
export function scaleOf(curve: Curve): { top: number; rules: Rule[] } {
  let peak = 0;
  for (const used of curve.used) peak = Math.max(peak, used);
  const top = TOPS.find((one) => one >= Math.min(peak, 100)) ?? 100;
  return { top, rules: [top / 2, top].map((pct) => ({ pct, label: `${pct} %` })) };
}
