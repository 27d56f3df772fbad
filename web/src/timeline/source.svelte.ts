/**
 * The source of the bars: one coarse picture of the whole, a finer one of the part in view, and the rows of the
 * stream since. Up to a few thousand rows are loaded as rows, because only rows know batches, waits and calls by id;
 * beyond that the server bins them to the pixels that we have.
 */
import { api, type ItemRef } from '../api/client';
import type { LaneBins, Row, TreeNode } from '../api/types';
import { Axis } from '../layout/axis';
import type { View } from '../layout/view';
import { taskKey } from '../text/format';
import { barOfRow, barsOfBins, overlay, type Bar } from './bars';

/** As many rows as we load one by one. */
const ROWS_AT_MOST = 2000;
/**
 * Fewer than most screens have pixels: it has to come soon, and what is in sight is refined at once. `first.js` asks
 * for as many.
 */
const BASE_COLUMNS = 800;
const SEGMENTS_AT_MOST = 8;

interface Part {
  from: number;
  to: number;
  /** Milliseconds per column; zero when every row is known. */
  columnMs: number;
  bars: Bar[];
  /** The whole picture is newer: load it again. */
  isStale?: boolean;
}

export class TimelineSource {
  readonly ref: ItemRef;
  tree = $state.raw<TreeNode[]>([]);
  /** Counts up whenever bars changed. */
  version = $state(0);
  loading = $state(false);
  problem = $state.raw<unknown>();
  ready = $state(false);
  start = 0;
  end = 1;
  gaps: [number, number][] = [];
  private base: Bar[] = [];
  private baseColumnMs = 0;
  private part: Part | undefined;
  private readonly streamed = new Map<string, { row: Row; at: number }>();
  private merged: { version: number; bars: Bar[] } | undefined;
  private detail: AbortController | undefined;

  constructor(ref: ItemRef) {
    this.ref = ref;
  }

  /** The whole picture. Keeps what is shown until the new one is there. */
  async load(): Promise<void> {
    const asked = Date.now();
    this.loading = true;
    try {
      const [tree, bins] = await Promise.all([api.tree(this.ref), api.lanes(this.ref, { width: BASE_COLUMNS })]);
      this.tree = tree.items;
      const few = this.takeBase(bins);
      if (!this.part) this.settle(asked);
      this.problem = undefined;
      this.ready = true;
      this.version += 1;
      // The picture stands before the last of its details is there.
      if (few) {
        await this.loadRows(this.start, this.end + 1, true);
        this.settle(asked);
        this.version += 1;
      }
    } catch (error) {
      this.problem = error;
    }
    this.loading = false;
  }

  /** Takes the whole picture and says whether its rows are few enough to be loaded one by one. */
  private takeBase(bins: LaneBins): boolean {
    const rows = bins.strips.reduce((sum, strip) => sum + strip.bins.reduce((n, bin) => n + bin.count, 0), 0);
    this.start = Date.parse(bins.from);
    this.end = Math.max(Date.parse(bins.to), this.start + 1);
    this.gaps = bins.gaps;
    this.baseColumnMs = (this.end - this.start) / Math.max(bins.width, 1);
    this.base = barsOfBins(bins);
    // What is known in detail stays in sight until it is loaded again.
    if (this.part) this.part.isStale = true;
    return rows <= ROWS_AT_MOST;
  }

  private async loadRows(from: number, to: number, whole: boolean, signal?: AbortSignal): Promise<void> {
    const query = whole
      ? { tree: true }
      : { tree: true, since: new Date(from).toISOString(), until: new Date(to).toISOString() };
    const { items, complete } = await api.timeline(this.ref, query, signal);
    // Some rows of a part would look like all of them: then the bins stay, which count every row.
    if (!complete) return;
    const now = Date.now();
    this.part = {
      from: whole ? Number.NEGATIVE_INFINITY : from,
      to: whole ? Number.POSITIVE_INFINITY : to,
      columnMs: 0,
      bars: items.map((row) => barOfRow(row, now)),
    };
  }

  /** Loads what is missing for a view that is `width` pixels wide. */
  async refine(axis: Axis, view: View, width: number): Promise<void> {
    if (!this.ready || width <= 0) return;
    const pixelMs = (view.u1 - view.u0) / width;
    const seen = { from: axis.toT(view.u0), to: axis.toT(view.u1) };
    const part = this.part;
    if (
      part &&
      !part.isStale &&
      part.from <= Math.max(seen.from, this.start) &&
      part.to >= Math.min(seen.to, this.end) &&
      part.columnMs <= pixelMs * 1.5
    )
      return;
    if (this.baseColumnMs <= pixelMs * 1.5 && !part) return;
    const margin = (view.u1 - view.u0) * 0.5;
    const from = Math.max(axis.toT(view.u0 - margin), this.start);
    const to = Math.min(axis.toT(view.u1 + margin), this.end + 1);
    if (to <= from) return;
    this.detail?.abort();
    const controller = new AbortController();
    this.detail = controller;
    this.loading = true;
    const asked = Date.now();
    try {
      if (this.countBetween(from, to) <= ROWS_AT_MOST) await this.loadRows(from, to, false, controller.signal);
      else await this.loadBins(axis, from, to, pixelMs, controller.signal);
      if (this.detail === controller) {
        this.settle(asked);
        this.version += 1;
      }
    } catch (error) {
      if (!controller.signal.aborted) this.problem = error;
    }
    if (this.detail === controller) this.loading = false;
  }

  /** One question for each stretch between folds: the server's columns are even in real time, ours are not. */
  private async loadBins(axis: Axis, from: number, to: number, pixelMs: number, signal: AbortSignal): Promise<void> {
    let segments = axis.segments(from, to);
    if (segments.length > SEGMENTS_AT_MOST) segments = [[from, to]];
    const answers = await Promise.all(
      segments.map(([a, b]) =>
        api.lanes(
          this.ref,
          {
            from: new Date(Math.floor(a)).toISOString(),
            to: new Date(Math.ceil(b)).toISOString(),
            width: Math.min(Math.max(Math.ceil((b - a) / pixelMs), 16), 4000),
          },
          signal,
        ),
      ),
    );
    if (signal.aborted) return;
    // A row that lies across a fold comes with both of its neighbours.
    const bars = new Map<string, Bar>();
    for (const [i, answer] of answers.entries()) {
      for (const bar of barsOfBins(answer))
        bars.set(bar.id ?? `${i} ${bar.taskId} ${bar.lane} ${bar.track} ${bar.start}`, bar);
    }
    this.part = { from, to, columnMs: pixelMs, bars: [...bars.values()] };
  }

  /** Drops streamed rows that are older than the request: its answer holds them. */
  private settle(asked: number): void {
    for (const [id, { at }] of this.streamed) if (at < asked) this.streamed.delete(id);
  }

  private countBetween(from: number, to: number): number {
    let sum = 0;
    for (const bar of this.base) {
      if (bar.end < from || bar.start > to) continue;
      const inside = (Math.min(bar.end, to) - Math.max(bar.start, from) + 1) / (bar.end - bar.start + 1);
      sum += bar.count * Math.min(inside, 1);
    }
    return sum;
  }

  /** Takes rows of the stream. Returns whether an unknown agent may have joined. */
  take(rows: readonly Row[]): boolean {
    let unknownAgent = false;
    let changed = false;
    const now = Date.now();
    const known = new Set(this.tree.map((node) => taskKey(node.task)));
    const owner = this.tree[0]?.task.owner;
    for (const row of rows) {
      if (row.owner !== owner) continue;
      if (known.has(taskKey({ id: row.taskId, owner }))) {
        this.streamed.set(row.id, { row, at: now });
        this.end = Math.max(this.end, Date.parse(row.endedAt ?? row.occurredAt));
        changed = true;
        if (row.kind === 'action.logged' || row.kind === 'session.ended') unknownAgent = true;
      } else if (row.isSubagent) unknownAgent = true;
    }
    if (changed) this.version += 1;
    return unknownAgent;
  }

  /**
   * Rows that are no more. Returns whether any of them was drawn by itself; bins are only right after the next load.
   */
  drop(ids: ReadonlySet<string>): boolean {
    const isGone = ({ id }: Bar) => id !== undefined && ids.has(id);
    let changed = false;
    for (const id of ids) changed = this.streamed.delete(id) || changed;
    if (this.part?.bars.some(isGone)) {
      this.part.bars = this.part.bars.filter((bar) => !isGone(bar));
      changed = true;
    }
    if (this.base.some(isGone)) {
      this.base = this.base.filter((bar) => !isGone(bar));
      changed = true;
    }
    if (changed) this.version += 1;
    return changed;
  }

  /** Every bar there is to draw. */
  bars(): Bar[] {
    if (this.merged?.version === this.version) return this.merged.bars;
    let bars = this.part ? overlay(this.base, this.part.bars, this.part.from, this.part.to) : this.base;
    if (this.part && this.part.from === Number.NEGATIVE_INFINITY) bars = this.part.bars;
    if (this.streamed.size > 0) {
      const now = Date.now();
      bars = [
        ...bars.filter((bar) => bar.id === undefined || !this.streamed.has(bar.id)),
        ...[...this.streamed.values()].map(({ row }) => barOfRow(row, now)),
      ];
    }
    this.merged = { version: this.version, bars };
    return bars;
  }

  /** Whether every row is here by itself. */
  get complete(): boolean {
    return this.part?.from === Number.NEGATIVE_INFINITY;
  }

  /** The number of streamed rows since the last full load. */
  get streamedCount(): number {
    return this.streamed.size;
  }

  close(): void {
    this.detail?.abort();
  }
}
