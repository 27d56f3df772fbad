/**
 * What all panes of a task share: the axis, the part of it in view, the cursor, the selected area, the mode.
 */
import { Axis } from '../layout/axis';
import { clamp, fit, follow, frame, pan, zoom, type View } from '../layout/view';

export interface Area {
  from: number;
  to: number;
  /** The rows that it covers: agents by their id, lanes by `agent/lane`. All of them without. */
  rows?: ReadonlySet<string>;
}

/** Whether something of a lane is in an area. */
export const isInRows = (rows: ReadonlySet<string> | undefined, taskId: string, lane: string): boolean =>
  !rows || rows.has(taskId) || rows.has(`${taskId}/${lane}`);

export class Stage {
  axis = $state.raw(Axis.plain(0, 1));
  view = $state.raw<View>(fit(1));
  /** Where the pointer is, in real time. */
  cursor = $state<number>();
  area = $state.raw<Area>();
  following = $state(false);
  /** Whether the view is the whole: then it stays the whole while the task grows. */
  whole = $state(true);
  width = $state(1);
  private placed = false;
  /** The live edge, which is beyond the axis between two events. In real time: another axis draws it elsewhere. */
  private reached = $state(0);

  /** Takes a new axis; what is in view stays in view. */
  take(axis: Axis): void {
    const before = this.axis;
    if (before.length === axis.length && before.start === axis.start && before.folds.length === axis.folds.length)
      return;
    const [t0, t1] = [before.toT(this.view.u0), before.toT(this.view.u1)];
    this.axis = axis;
    if (!this.placed || this.whole) this.view = fit(axis.length);
    else this.view = clamp({ u0: axis.toU(t0), u1: axis.toU(t1) }, axis.length);
    this.placed = true;
  }

  /** Shows what an address says. */
  restore(from: number, to: number): void {
    if (!(to > from)) return;
    this.show({ u0: this.axis.toU(from), u1: this.axis.toU(to) });
  }

  show(view: View): void {
    this.view = clamp(view, this.axis.length);
    const all = fit(this.axis.length);
    this.whole = this.view.u1 - this.view.u0 >= (all.u1 - all.u0) * 0.999;
  }

  zoom(anchor: number, factor: number): void {
    this.show(zoom(this.view, anchor, factor, this.axis.length));
  }

  pan(part: number): void {
    this.following = false;
    this.show(pan(this.view, part, this.axis.length));
  }

  all(): void {
    this.following = false;
    this.show(fit(this.axis.length));
  }

  frame(from: number, to: number): void {
    this.following = false;
    this.show(frame(this.axis.toU(from), this.axis.toU(to), this.axis.length, this.axis.folds));
  }

  /** Keeps the live edge in sight. */
  follow(now: number): void {
    const edge = this.axis.toU(now);
    this.reached = now;
    let view = this.view;
    // Following from the whole would show nothing: begin with the last five minutes.
    if (this.whole) view = { u0: edge - Math.min(300_000, this.axis.length), u1: edge };
    this.view = follow(view, edge, this.axis.length);
    this.whole = false;
  }

  /** Keeps the whole in sight while it grows between two events. */
  grow(now: number): void {
    const edge = this.axis.toU(now);
    this.reached = now;
    if (this.whole && edge > this.axis.length) this.view = fit(edge);
  }

  /** The view of the whole, as the timeline draws it when it shows everything. */
  get wholeView(): View {
    return this.whole
      ? this.view
      : fit(Math.max(this.axis.length, Math.min(this.axis.toU(this.reached), this.axis.length * 2)));
  }

  get from(): number {
    return this.axis.toT(this.view.u0);
  }

  get to(): number {
    return this.axis.toT(this.view.u1);
  }
}
