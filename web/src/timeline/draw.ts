/**
 * The picture: rows, bars, folds, batches, flows, selection. Draws what is in sight and nothing else, grouped by
 * colour.
 */
import { ticks } from '../layout/ticks';
import { duration } from '../text/format';
import { drawBars } from './drawBars';
import { drawBatches, drawFlows } from './drawLinks';
import type { LaneRow } from './lanes';
import type { Palette } from './palette';
import { fitText, inSight, RULER_PX, scaleOf, textWidth, type Scene } from './scene';

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
    const end = running ? scene.now : Date.parse(task.endedAt ?? task.lastEventAt);
    pen.fillText(
      fitText(`${row.task.title} · ${duration(end - Date.parse(task.startedAt))}`, x1 - from - 4),
      from,
      y + row.height / 2 - 1,
    );
  }
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
  const selection = lengthLabel(scene, toX);
  for (const mark of marks) {
    const x = Math.round(toX(mark.t));
    pen.fillStyle = palette.strong;
    pen.fillRect(x, RULER_PX - 6, 1, 5);
    // A label that a break would cover is not written: half a time is a wrong time.
    if (breaks.some((at) => at > x - 8 && at < x + textWidth(mark.label) + 12)) continue;
    if (x + 4 + textWidth(mark.label) > scene.width) continue;
    if (selection && x + 4 < selection.x1 && x + 4 + textWidth(mark.label) > selection.x0) continue;
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
    if (selection) {
      pen.fillStyle = palette.raised;
      pen.fillRect(selection.x0, 2, selection.x1 - selection.x0, 17);
      pen.fillStyle = palette.text;
      pen.fillText(selection.text, selection.x0 + 4, 11);
    }
  }
}

/** The length of the selected area and its place on the ruler; none where the area is too narrow for it. */
function lengthLabel(
  { area }: Scene,
  toX: (t: number) => number,
): { text: string; x0: number; x1: number } | undefined {
  if (!area) return undefined;
  const [x0, x1] = [toX(area.from), toX(area.to)];
  const text = duration(area.to - area.from);
  const half = textWidth(text) / 2 + 4;
  return x1 - x0 > half * 2 ? { text, x0: (x0 + x1) / 2 - half, x1: (x0 + x1) / 2 + half } : undefined;
}
