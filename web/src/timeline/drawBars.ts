/** Bars: plain ones in heaps of one colour, and those that say more than that they are there one by one. */
import { eachRun, RUN_OPTIONS, usualName, type Run } from '../layout/runs';
import { firstEndingAfter } from '../layout/tracks';
import { percent } from '../text/format';
import { countedName, type Bar } from './bars';
import type { Palette } from './palette';
import { barPx, fitText, inSight, RULER_PX, textWidth, trackTop, type Scene } from './scene';

interface Placed {
  x: number;
  y: number;
  w: number;
  h: number;
  run: Run<Bar>;
  /** The part of the time under it in which a call ran. */
  busy: number;
  /** What most of its rows are; empty where there is no room for a label. */
  name: string;
}

/** Narrower bars have no label. */
const LABEL_PX = 30;

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

export function drawBars(
  pen: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  toX: (t: number) => number,
): void {
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
        } else {
          const name = w >= LABEL_PX ? usualName(track, run, countedName) : '';
          specialBars.push({ x, y, w, h, run: { ...run }, busy, name });
        }
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
  { x, y, w, h, run, busy, name }: Placed,
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
  const what = run.count > 1 ? `${name} ×${run.count}` : bar.label;
  const share = run.count > 1 ? ` · ${percent(busy * 100)} busy` : '';
  if (width >= LABEL_PX && h >= 10) {
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
