/**
 * Marks of the time axis: round moments of the asker's clock, never closer than the labels are wide.
 */
import type { Axis } from './axis';
import type { View } from './view';

export interface Tick {
  t: number;
  u: number;
  label: string;
  /** The first mark of a day or of a larger unit: drawn stronger. */
  major: boolean;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const STEPS = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  SECOND,
  2 * SECOND,
  5 * SECOND,
  10 * SECOND,
  15 * SECOND,
  30 * SECOND,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
  2 * DAY,
  7 * DAY,
  14 * DAY,
  28 * DAY,
];

/** The smallest round step that is at least `ms` long. */
export function roundStep(ms: number): number {
  return STEPS.find((step) => step >= ms) ?? Math.ceil(ms / (28 * DAY)) * 28 * DAY;
}

const two = (n: number) => String(n).padStart(2, '0');

/** What stands at a mark, given how fine the marks are. `offsetMs` is how far local time is ahead of UTC. */
export function tickLabel(t: number, step: number, offsetMs: number): string {
  const local = new Date(t + offsetMs);
  if (step >= DAY) return `${local.getUTCDate()} ${MONTHS[local.getUTCMonth()]}`;
  const clock = `${two(local.getUTCHours())}:${two(local.getUTCMinutes())}`;
  if (step >= MINUTE) return clock;
  const seconds = `${clock}:${two(local.getUTCSeconds())}`;
  if (step >= SECOND) return seconds;
  return `${seconds}.${String(local.getUTCMilliseconds()).padStart(3, '0')}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** The marks of a view that is `width` pixels wide, at least `apart` pixels from each other. */
export function ticks(axis: Axis, view: View, width: number, offsetMs: number, apart = 84): Tick[] {
  const span = view.u1 - view.u0;
  if (!(span > 0) || !(width > 0)) return [];
  const step = roundStep((span / width) * apart);
  const out: Tick[] = [];
  let lastU = Number.NEGATIVE_INFINITY;
  const minU = (span / width) * (apart * 0.8);
  const edge = { from: axis.toT(view.u0), to: axis.toT(view.u1) };
  for (const [from, to] of axis.segments(edge.from, edge.to)) {
    let t = Math.ceil((from + offsetMs) / step) * step - offsetMs;
    for (; t <= to; t += step) {
      const u = axis.toU(t);
      if (u - lastU < minU) continue;
      lastU = u;
      out.push({ t, u, label: tickLabel(t, step, offsetMs), major: (t + offsetMs) % DAY === 0 });
    }
  }
  return out;
}
