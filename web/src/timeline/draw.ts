/**
 * The picture: rows, bars, folds, batches, flows, selection. Draws what is in sight and nothing else, grouped by
 * colour.
 */
import type { Axis } from '../layout/axis';
import { eachRun, RUN_OPTIONS, type Run } from '../layout/runs';
import { ticks } from '../layout/ticks';
import { firstEndingAfter } from '../layout/tracks';
import type { View } from '../layout/view';
import { duration, percent } from '../text/format';
import type { Bar } from './bars';
import type { Batch, Flow } from './flows';
import type { LaneRow } from './lanes';
import type { Palette } from './palette';
import type { Area } from './stage.svelte';

export const RULER_PX = 24;

export interface Scene {
  axis: Axis;
  view: View;
  width: number;
  height: number;
  scrollTop: number;
  rows: readonly LaneRow[];
  flows: readonly Flow[];
  batches: readonly Batch[];
  /** The moment up to which things have been seen to run. */
  now: number;
  /** Whether anything runs: then the live edge is drawn. */
  running: boolean;
  stale: boolean;
  offsetMs: number;
  selected?: string;
  hovered?: Bar;
  cursorT?: number;
  area?: Area;
  /** Ids of bars that answer what is looked for; others are dimmed. */
  matches?: ReadonlySet<string>;
  /** The agent whose causes are shown. */
  focusTask?: string;
}

export function scaleOf(scene: Pick<Scene, 'axis' | 'view' | 'width'>): (t: number) => number {
  const { axis, view, width } = scene;
  const perU = width / (view.u1 - view.u0);
  return (t) => (axis.toU(t) - view.u0) * perU;
}

/** Where the bars of a track stand, in canvas pixels. */
export function trackTop(row: LaneRow, track: number, scrollTop: number): number {
  return RULER_PX + row.top - scrollTop + 3 + track * row.trackPx;
}

const inSight = (row: LaneRow, { scrollTop, height }: Scene) =>
  row.top + row.height > scrollTop && row.top < scrollTop + height;

const barPx = (row: LaneRow) => Math.max(row.trackPx - 3, 4);

export function draw(pen: CanvasRenderingContext2D, scene: Scene, palette: Palette): void {
  const { width, height } = scene;
  const toX = scaleOf(scene);
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, width, height);
  pen.font = palette.font;
  pen.textBaseline = 'middle';
  const marks = ticks(scene.axis, scene.view, width, scene.offsetMs);

  drawGround(pen, scene, palette, toX, marks);
  for (const row of scene.rows)
    if (row.kind === 'agent' && inSight(row, scene)) drawAgentSpan(pen, scene, palette, row, toX);
  drawBars(pen, scene, palette, toX);
  drawBatches(pen, scene, palette, toX);
  drawFlows(pen, scene, palette, toX);
  drawLive(pen, scene, palette, toX);
  drawArea(pen, scene, palette, toX);
  drawRuler(pen, scene, palette, toX, marks);
}

function drawGround(
  pen: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  toX: (t: number) => number,
  marks: { t: number; major: boolean }[],
): void {
  const { height, scrollTop } = scene;
  for (const row of scene.rows) {
    const y = RULER_PX + row.top - scrollTop;
    if (y > height || y + row.height < RULER_PX) continue;
    if (row.kind === 'agent') {
      pen.fillStyle = palette.bg;
      pen.fillRect(0, y, scene.width, row.height);
    }
    pen.fillStyle = palette.line;
    pen.globalAlpha = row.kind === 'agent' ? 1 : 0.6;
    pen.fillRect(0, Math.round(y + row.height) - 1, scene.width, 1);
    pen.globalAlpha = 1;
  }
  pen.fillStyle = palette.line;
  for (const mark of marks) {
    pen.globalAlpha = mark.major ? 1 : 0.55;
    pen.fillRect(Math.round(toX(mark.t)), RULER_PX, 1, height);
  }
  pen.globalAlpha = 1;
  for (const fold of scene.axis.folds) {
    const x0 = toX(fold.start);
    const x1 = toX(fold.end);
    if (x1 < 0 || x0 > scene.width) continue;
    pen.fillStyle = palette.bg;
    pen.fillRect(x0, RULER_PX, x1 - x0, height);
    pen.strokeStyle = palette.strong;
    pen.setLineDash([2, 3]);
    pen.beginPath();
    for (const x of x1 - x0 > 6 ? [x0, x1] : [(x0 + x1) / 2]) {
      pen.moveTo(Math.round(x) + 0.5, RULER_PX);
      pen.lineTo(Math.round(x) + 0.5, height);
    }
    pen.stroke();
    pen.setLineDash([]);
  }
}

/** The life of an agent behind its row. */
function drawAgentSpan(
  pen: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  row: LaneRow,
  toX: (t: number) => number,
): void {
  const { task } = row;
  const running = task.status === 'running';
  const x0 = Math.max(toX(Date.parse(task.startedAt)), -2);
  const x1 = Math.min(toX(running ? scene.now : Date.parse(task.endedAt ?? task.lastEventAt)), scene.width + 2);
  if (x1 < 0 || x0 > scene.width) return;
  const y = RULER_PX + row.top - scene.scrollTop;
  const colour =
    task.status === 'failed'
      ? palette.bad
      : task.status === 'waiting' && (task.waitingReason ?? 'idle') !== 'idle'
        ? palette.warn
        : running
          ? palette.accent
          : palette.dim;
  pen.fillStyle = colour;
  pen.globalAlpha = 0.1;
  pen.fillRect(x0, y + 2, Math.max(x1 - x0, 2), row.height - 5);
  pen.globalAlpha = 0.75;
  if (row.open) pen.fillRect(x0, y + row.height - 5, Math.max(x1 - x0, 2), 2);
  pen.fillRect(x0, y + 2, 2, row.height - 5);
  pen.globalAlpha = 1;
  if (row.open && x1 - x0 > 90) {
    pen.fillStyle = palette.dim;
    const from = Math.max(x0, 0) + 8;
    pen.fillText(
      fitText(
        `${row.task.title} · ${duration((running ? scene.now : Date.parse(task.endedAt ?? task.lastEventAt)) - Date.parse(task.startedAt))}`,
        x1 - from - 4,
      ),
      from,
      y + row.height / 2 - 1,
    );
  }
}

interface Placed {
  x: number;
  y: number;
  w: number;
  h: number;
  run: Run<Bar>;
  /** The part of the time under it in which a call ran. */
  busy: number;
}

/** Below this share a label stands on the ground, not on the colour of the lane. */
const MOSTLY_BUSY = 0.6;
/** Where nothing ran within a bar it is only tinted: calls are there, somewhere. */
const IDLE_ALPHA = 0.22;
/** What was not seen happening is lighter, with an edge where it began. */
const REPORTED_ALPHA = 0.7;

/**
 * The share of the time under a run in which a call ran: a bar is at least some pixels wide, and several calls are
 * drawn as one, so that most bars of a long task cover more time than their calls took.
 */
export function busyShare(run: Pick<Run<Bar>, 'busyMs' | 'x0' | 'x1' | 'count' | 'last'>, msPerPx: number): number {
  // A moment takes no time and is drawn as a mark. What runs is busy to its end.
  if (run.count === 1 && (run.busyMs === 0 || run.last.running)) return 1;
  const shown = (run.x1 - run.x0) * msPerPx;
  return shown > 0 ? Math.min(run.busyMs / shown, 1) : 1;
}

/** The height of the part of a bar that is filled; what ran at all is seen. */
const filledPx = (h: number, busy: number): number => (busy >= 0.995 ? h : Math.min(Math.max(busy * h, 1.5), h - 1));

/** Plain bars of one colour: four numbers each, in a list that is kept from frame to frame. */
interface Heap {
  rects: number[];
  used: number;
}
const plainBars = new Map<string, Heap>();
/** The part of them that is striped, since only some of what they stand for was seen. */
const mixedBars = new Map<string, Heap>();
const dimBars = new Map<string, Heap>();
/** Bars that the agent's own file holds. */
const fileBars = new Map<string, Heap>();
/** The parts of bars in which nothing ran. */
const idleBars = new Map<string, Heap>();
const specialBars: Placed[] = [];

function put(heaps: Map<string, Heap>, colour: string, x: number, y: number, w: number, h: number): void {
  let heap = heaps.get(colour);
  if (!heap) heaps.set(colour, (heap = { rects: [], used: 0 }));
  heap.rects[heap.used] = x;
  heap.rects[heap.used + 1] = y;
  heap.rects[heap.used + 2] = w;
  heap.rects[heap.used + 3] = h;
  heap.used += 4;
}

function drawBars(pen: CanvasRenderingContext2D, scene: Scene, palette: Palette, toX: (t: number) => number): void {
  const t0 = scene.axis.toT(scene.view.u0);
  const msPerPx = (scene.view.u1 - scene.view.u0) / scene.width;
  specialBars.length = 0;
  for (const row of scene.rows) {
    if (!inSight(row, scene)) continue;
    const h = barPx(row);
    for (let n = 0; n < row.tracks.length; n += 1) {
      const track = row.tracks[n]!;
      const y = trackTop(row, n, scene.scrollTop);
      if (y > scene.height || y + h < RULER_PX) continue;
      eachRun(track, firstEndingAfter(track, t0), scene.width, toX, RUN_OPTIONS, (run) => {
        const bar = run.first;
        const x = Math.max(run.x0, -4);
        const end = run.last.running ? Math.max(toX(scene.now), run.x1) : run.x1;
        const w = Math.min(end, scene.width + 4) - x;
        if (w <= 0) return;
        const sure = run.certainty !== 'inferred' && run.certainty !== 'guessed';
        const isReported = run.certainty === 'reported';
        const plain =
          sure &&
          run.failures === 0 &&
          !run.last.running &&
          w < 24 &&
          bar.id !== scene.selected &&
          bar !== scene.hovered;
        const dimmed =
          scene.matches !== undefined &&
          bar.id !== scene.selected &&
          !(bar.id !== undefined && scene.matches.has(bar.id));
        const busy = busyShare(run, msPerPx);
        const colour = palette.lanes[bar.lane] ?? palette.dim;
        const filled = filledPx(h, busy);
        if (dimmed) put(dimBars, colour, x, y + h - filled, w, filled);
        else if (plain) {
          if (filled < h) put(idleBars, colour, x, y, w, h - filled);
          put(isReported ? fileBars : plainBars, colour, x, y + h - filled, w, filled);
          if (run.certainty === 'mixed') put(mixedBars, colour, x, y + h - filled, w, filled / 2);
        } else specialBars.push({ x, y, w, h, run: { ...run }, busy });
      });
    }
  }
  pen.globalAlpha = 0.22;
  fillAll(pen, dimBars);
  pen.globalAlpha = IDLE_ALPHA;
  fillAll(pen, idleBars);
  pen.globalAlpha = 1;
  fillAll(pen, plainBars);
  pen.globalAlpha = REPORTED_ALPHA;
  fillAll(pen, fileBars);
  pen.globalAlpha = 1;
  if (palette.hatch) for (const heap of mixedBars.values()) fill(pen, palette.hatch, heap);
  for (const placed of specialBars) drawSpecial(pen, scene, palette, placed, toX);
}

function fillAll(pen: CanvasRenderingContext2D, heaps: ReadonlyMap<string, Heap>): void {
  for (const [colour, heap] of heaps) fill(pen, colour, heap);
}

function fill(pen: CanvasRenderingContext2D, style: string | CanvasPattern, heap: Heap): void {
  pen.fillStyle = style;
  const { rects, used } = heap;
  for (let i = 0; i < used; i += 4)
    pen.fillRect(rects[i]!, rects[i + 1]!, Math.max(rects[i + 2]! - 0.5, 1.5), rects[i + 3]!);
  heap.used = 0;
}

/** A bar that says more than that it is there: failed, running, unsure, picked, or wide enough for words. */
function drawSpecial(
  pen: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  { x, y, w, h, run, busy }: Placed,
  toX: (t: number) => number,
): void {
  const bar = run.first;
  const colour = palette.lanes[bar.lane] ?? palette.dim;
  const width = Math.max(w - 0.5, 2);
  const guessed = run.certainty === 'guessed';
  const failed = run.failures > 0;
  if (guessed) {
    pen.strokeStyle = failed ? palette.bad : colour;
    pen.globalAlpha = 0.18;
    pen.fillStyle = colour;
    pen.fillRect(x, y, width, h);
    pen.globalAlpha = 1;
    pen.lineWidth = 1;
    pen.setLineDash([3, 2]);
    pen.strokeRect(x + 0.5, y + 0.5, Math.max(width - 1, 1), h - 1);
    pen.setLineDash([]);
  } else {
    const filled = filledPx(h, busy);
    const top = y + h - filled;
    pen.fillStyle = colour;
    if (filled < h) {
      pen.globalAlpha = IDLE_ALPHA;
      pen.fillRect(x, y, width, h - filled);
      pen.globalAlpha = 1;
    }
    if (run.certainty === 'reported') pen.globalAlpha = REPORTED_ALPHA;
    pen.fillRect(x, top, width, filled);
    pen.globalAlpha = 1;
    if (run.certainty === 'reported') pen.fillRect(x, top, Math.min(2, width), filled);
    if ((run.certainty === 'inferred' || run.certainty === 'mixed') && palette.hatch) {
      pen.fillStyle = palette.hatch;
      // Where only some are unsure, half of the bar stays as it is.
      pen.fillRect(x, top, width, run.certainty === 'mixed' ? filled / 2 : filled);
    }
  }
  if (bar.waitMs && run.bars === 1) {
    const wx = Math.min(toX(bar.start + bar.waitMs), x + width);
    // On the ground, not on the colour of the lane: waiting looks the same in each lane, as in the legend.
    pen.fillStyle = palette.panel;
    pen.fillRect(x, y, Math.max(wx - x, 1), h);
    pen.fillStyle = palette.warn;
    pen.globalAlpha = 0.55;
    pen.fillRect(x, y, Math.max(wx - x, 1), h);
    pen.globalAlpha = 1;
  }
  if (failed) {
    // A frame, a foot and a notch: failure must be seen without its colour too.
    pen.fillStyle = palette.bad;
    const part = run.bars > 1 || run.count > 1 ? Math.max(Math.min(run.failures / run.count, 1) * width, 2) : width;
    pen.fillRect(x, y + h - 3, part, 3);
    if (h >= 8) {
      pen.beginPath();
      pen.moveTo(x - 1, y - 1);
      pen.lineTo(x + 6, y - 1);
      pen.lineTo(x - 1, y + 6);
      pen.fill();
    }
  }
  if (run.last.running) drawOpenEnd(pen, scene, palette, x + width, y, h);
  const what =
    run.count > 1
      ? `${run.uniform && bar.tool ? bar.tool : run.uniform ? bar.label : 'calls'} ×${run.count}`
      : bar.label;
  const share = run.count > 1 ? ` · ${percent(busy * 100)} busy` : '';
  if (width >= 30 && h >= 10) {
    pen.fillStyle = guessed || busy < MOSTLY_BUSY ? palette.text : palette.ink;
    const from = Math.max(x, 0) + 5;
    const room = Math.min(x + width, scene.width) - from - 4;
    // A share that does not fit is left out: half a number is a wrong one.
    const label = textWidth(what + share) <= room ? what + share : what;
    if ((run.certainty === 'inferred' || run.certainty === 'mixed') && busy >= MOSTLY_BUSY) {
      pen.fillStyle = colour;
      const shown = fitText(label, room);
      if (shown) pen.fillRect(from - 3, y + 1, Math.min(textWidth(shown) + 6, room + 4), h - 2);
      pen.fillStyle = palette.ink;
    }
    pen.fillText(fitText(label, room), from, y + h / 2 + 0.5);
  }
  if (bar.id !== undefined && bar.id === scene.selected) outline(pen, palette.text, 2, x, y, width, h);
  else if (bar === scene.hovered) outline(pen, palette.text, 1, x, y, width, h);
}

function outline(
  pen: CanvasRenderingContext2D,
  colour: string,
  line: number,
  x: number,
  y: number,
  w: number,
  h: number,
): void {
  pen.strokeStyle = colour;
  pen.lineWidth = line;
  pen.strokeRect(x - 0.5, y - 0.5, w + 1, h + 1);
  pen.lineWidth = 1;
}

function drawOpenEnd(
  pen: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  x: number,
  y: number,
  h: number,
): void {
  pen.fillStyle = scene.stale ? palette.faint : palette.accent;
  pen.beginPath();
  pen.moveTo(x, y);
  pen.lineTo(x + h / 2, y + h / 2);
  pen.lineTo(x, y + h);
  pen.fill();
}

/** Text that fits; the widths of letters are guessed, which is a hundred times cheaper than measuring them. */
export function fitText(text: string, room: number): string {
  const most = Math.floor(room / 6.3);
  if (most < 3) return '';
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
const textWidth = (text: string) => text.length * 6.3;

// Rows are made anew when they change, so the way to find one by its name is as good as the rows themselves.
const rowsByKey = new WeakMap<readonly LaneRow[], Map<string, LaneRow>>();

function rowFor(rows: readonly LaneRow[], taskId: string, lane: string): LaneRow | undefined {
  let byKey = rowsByKey.get(rows);
  if (!byKey) rowsByKey.set(rows, (byKey = new Map(rows.map((row) => [row.key, row]))));
  return byKey.get(`${taskId}/${lane}`) ?? byKey.get(taskId);
}

const BATCHES_AT_MOST = 160;

function drawBatches(pen: CanvasRenderingContext2D, scene: Scene, palette: Palette, toX: (t: number) => number): void {
  const inView = scene.batches.filter((batch) => {
    const x0 = toX(batch.start);
    return x0 < scene.width && toX(batch.end) > 0 && toX(batch.end) - x0 > 10;
  });
  if (inView.length > BATCHES_AT_MOST) return;
  pen.strokeStyle = palette.dim;
  for (const batch of inView) {
    let top = Number.POSITIVE_INFINITY;
    let bottom = Number.NEGATIVE_INFINITY;
    for (const lane of batch.lanes) {
      const row = rowFor(scene.rows, batch.taskId, lane);
      if (!row || row.kind === 'agent') continue;
      top = Math.min(top, RULER_PX + row.top - scene.scrollTop + 2);
      bottom = Math.max(bottom, RULER_PX + row.top + row.height - scene.scrollTop - 3);
    }
    if (bottom <= top || bottom < RULER_PX || top > scene.height) continue;
    const x = Math.round(toX(batch.start)) - 2.5;
    pen.globalAlpha = 0.8;
    pen.beginPath();
    pen.moveTo(x + 3, top + 0.5);
    pen.lineTo(x, top + 0.5);
    pen.lineTo(x, bottom + 0.5);
    pen.lineTo(x + 3, bottom + 0.5);
    pen.stroke();
    const label = String(batch.count);
    pen.globalAlpha = 1;
    pen.fillStyle = palette.raised;
    pen.fillRect(x - 11, (top + bottom) / 2 - 6, 10, 13);
    pen.fillStyle = palette.dim;
    pen.fillText(label, x - 9, (top + bottom) / 2 + 0.5);
  }
  pen.globalAlpha = 1;
}

const FLOWS_AT_MOST = 60;

function drawFlows(pen: CanvasRenderingContext2D, scene: Scene, palette: Palette, toX: (t: number) => number): void {
  const chosen = (flow: Flow) =>
    (scene.selected !== undefined && (flow.from.id === scene.selected || flow.to.id === scene.selected)) ||
    (scene.hovered?.id !== undefined && (flow.from.id === scene.hovered.id || flow.to.id === scene.hovered.id)) ||
    (scene.focusTask !== undefined &&
      (flow.from.taskId === scene.focusTask || flow.to.taskId === scene.focusTask) &&
      flow.kind !== 'permission');
  const near = scene.flows.filter((flow) => {
    const a = toX(flow.from.t);
    const b = toX(flow.to.t);
    return Math.max(a, b) > -40 && Math.min(a, b) < scene.width + 40;
  });
  const calm = near.length <= FLOWS_AT_MOST;
  for (const flow of near) {
    const picked = chosen(flow);
    if (!picked && !calm) continue;
    const from = rowFor(scene.rows, flow.from.taskId, flow.from.lane);
    const to = rowFor(scene.rows, flow.to.taskId, flow.to.lane);
    if (!from || !to || from === to) continue;
    const x0 = toX(flow.from.t);
    const x1 = toX(flow.to.t);
    const y0 = RULER_PX + from.top - scene.scrollTop + Math.min(from.height / 2, 12);
    const y1 = RULER_PX + to.top - scene.scrollTop + Math.min(to.height / 2, 12);
    if ((y0 < RULER_PX && y1 < RULER_PX) || (y0 > scene.height && y1 > scene.height)) continue;
    pen.globalAlpha = picked ? 1 : 0.32;
    pen.strokeStyle = flow.kind === 'permission' ? palette.warn : flow.kind === 'spawn' ? palette.accent : palette.good;
    pen.lineWidth = picked ? 1.6 : 1;
    const bend = Math.min(Math.max(Math.abs(x1 - x0) / 2, 10), 46);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1 - 3, y1);
    pen.stroke();
    pen.fillStyle = pen.strokeStyle;
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x1 - 5, y1 - 3);
    pen.lineTo(x1 - 5, y1 + 3);
    pen.fill();
  }
  pen.globalAlpha = 1;
  pen.lineWidth = 1;
}

function drawLive(pen: CanvasRenderingContext2D, scene: Scene, palette: Palette, toX: (t: number) => number): void {
  if (scene.running) {
    const x = toX(scene.now);
    if (x > 0 && x < scene.width) {
      pen.fillStyle = scene.stale ? palette.faint : palette.accent;
      pen.globalAlpha = 0.8;
      pen.fillRect(Math.round(x), RULER_PX, 1, scene.height);
      pen.globalAlpha = 1;
    }
  }
  if (scene.cursorT !== undefined) {
    const x = toX(scene.cursorT);
    pen.fillStyle = palette.dim;
    pen.globalAlpha = 0.55;
    pen.fillRect(Math.round(x), RULER_PX, 1, scene.height);
    pen.globalAlpha = 1;
  }
}

function drawArea(pen: CanvasRenderingContext2D, scene: Scene, palette: Palette, toX: (t: number) => number): void {
  if (!scene.area) return;
  const x0 = toX(scene.area.from);
  const x1 = toX(scene.area.to);
  pen.fillStyle = palette.accent;
  pen.globalAlpha = 0.12;
  const { rows } = scene.area;
  if (!rows) pen.fillRect(x0, 0, x1 - x0, scene.height);
  else
    for (const row of scene.rows)
      if (rows.has(row.key)) pen.fillRect(x0, RULER_PX + row.top - scene.scrollTop, x1 - x0, row.height);
  pen.globalAlpha = 0.9;
  pen.fillRect(Math.round(x0), 0, 1, scene.height);
  pen.fillRect(Math.round(x1), 0, 1, scene.height);
  pen.globalAlpha = 1;
}

function drawRuler(
  pen: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  toX: (t: number) => number,
  marks: { t: number; label: string; major: boolean }[],
): void {
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, scene.width, RULER_PX - 1);
  pen.fillStyle = palette.line;
  pen.fillRect(0, RULER_PX - 1, scene.width, 1);
  const breaks = scene.axis.folds.map((fold) => (toX(fold.start) + toX(fold.end)) / 2);
  for (const mark of marks) {
    const x = Math.round(toX(mark.t));
    pen.fillStyle = palette.strong;
    pen.fillRect(x, RULER_PX - 6, 1, 5);
    // A label that a break would cover is not written: half a time is a wrong time.
    if (breaks.some((at) => at > x - 8 && at < x + textWidth(mark.label) + 12)) continue;
    if (x + 4 + textWidth(mark.label) > scene.width) continue;
    pen.fillStyle = mark.major ? palette.text : palette.faint;
    pen.fillText(mark.label, x + 4, 11);
  }
  for (const fold of scene.axis.folds) {
    const x0 = toX(fold.start);
    const x1 = toX(fold.end);
    if (x1 < 0 || x0 > scene.width) continue;
    const middle = (x0 + x1) / 2;
    const label = duration(fold.end - fold.start).replace(/ .*/, '');
    const half = x1 - x0 > 34 ? textWidth(label) / 2 + 5 : 5;
    pen.fillStyle = palette.raised;
    pen.fillRect(middle - half, 2, half * 2, RULER_PX - 5);
    pen.strokeStyle = palette.strong;
    pen.strokeRect(Math.round(middle - half) + 0.5, 2.5, Math.round(half * 2) - 1, RULER_PX - 6);
    pen.fillStyle = palette.dim;
    if (half > 5) pen.fillText(label, middle - half + 5, 11.5);
    else {
      for (const dy of [-3, 0, 3]) pen.fillRect(middle - 1, 11 + dy, 2, 1.5);
    }
  }
  if (scene.area) {
    const x0 = toX(scene.area.from);
    const x1 = toX(scene.area.to);
    pen.fillStyle = palette.accent;
    pen.fillRect(x0, RULER_PX - 3, x1 - x0, 3);
    const label = duration(scene.area.to - scene.area.from);
    if (x1 - x0 > textWidth(label) + 8) {
      pen.fillStyle = palette.raised;
      pen.fillRect((x0 + x1) / 2 - textWidth(label) / 2 - 4, 2, textWidth(label) + 8, 17);
      pen.fillStyle = palette.text;
      pen.fillText(label, (x0 + x1) / 2 - textWidth(label) / 2, 11);
    }
  }
}
