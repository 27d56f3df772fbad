/**
 * The visible part of an axis, in drawn time, and how it moves. Values in, values out.
 */
export interface View {
  u0: number;
  u1: number;
}

/** No zoom shows less than this many milliseconds. */
export const MIN_SPAN_MS = 20;

/** The whole, with a little air on both sides. */
export function fit(length: number, air = 0.015): View {
  const pad = Math.max(length * air, MIN_SPAN_MS / 2);
  return { u0: -pad, u1: length + pad };
}

/** Keeps the span within bounds and at least the middle of the view on the axis. */
export function clamp(view: View, length: number): View {
  const whole = fit(length);
  const span = Math.min(Math.max(view.u1 - view.u0, MIN_SPAN_MS), whole.u1 - whole.u0);
  const middle = Math.min(Math.max((view.u0 + view.u1) / 2, 0), length);
  const centred = { u0: middle - span / 2, u1: middle + span / 2 };
  if (centred.u0 < whole.u0) return { u0: whole.u0, u1: whole.u0 + span };
  if (centred.u1 > whole.u1) return { u0: whole.u1 - span, u1: whole.u1 };
  return centred;
}

/** Scales around a point that stays where it is; `anchor` is 0 at the left edge, 1 at the right. */
export function zoom(view: View, anchor: number, factor: number, length: number): View {
  const span = view.u1 - view.u0;
  const whole = fit(length);
  const next = Math.min(Math.max(span * factor, MIN_SPAN_MS), whole.u1 - whole.u0);
  const at = view.u0 + span * anchor;
  return clamp({ u0: at - next * anchor, u1: at + next * (1 - anchor) }, length);
}

/** Moves by a part of its own span. */
export function pan(view: View, part: number, length: number): View {
  const by = (view.u1 - view.u0) * part;
  return clamp({ u0: view.u0 + by, u1: view.u1 + by }, length);
}

/**
 * Shows a stretch with air around it. The air ends where drawn time is `folded`: a few pixels beyond it would be
 * minutes or hours that do not belong to the stretch.
 */
export function frame(
  from: number,
  to: number,
  length: number,
  folded: readonly { u0: number; u1: number }[] = [],
  air = 0.1,
): View {
  const span = Math.max(to - from, MIN_SPAN_MS);
  const before = folded.findLast(({ u1 }) => u1 <= from)?.u1 ?? Number.NEGATIVE_INFINITY;
  const after = folded.find(({ u0 }) => u0 >= to)?.u0 ?? Number.POSITIVE_INFINITY;
  return clamp({ u0: Math.max(from - span * air, before), u1: Math.min(to + span * air, after) }, length);
}

/** Same span, with its right edge a little beyond `edge`: follow mode. */
export function follow(view: View, edge: number, length: number): View {
  const span = view.u1 - view.u0;
  const u1 = edge + span * 0.04;
  return clamp({ u0: u1 - span, u1 }, Math.max(length, edge));
}

/** How far a wheel turn zooms, whatever unit the browser reports it in. */
export function wheelFactor(delta: number, mode: number): number {
  const pixels = mode === 1 ? delta * 16 : mode === 2 ? delta * 400 : delta;
  return Math.exp(Math.min(Math.max(pixels, -240), 240) * 0.0022);
}
