/** What belongs together across rows: brackets around parallel calls, and arrows from a cause to its effect. */
import type { Flow } from './flows';
import type { LaneRow } from './lanes';
import type { Palette } from './palette';
import { RULER_PX, type Scene } from './scene';

// Rows are made anew when they change, so the way to find one by its name is as good as the rows themselves.
const rowsByKey = new WeakMap<readonly LaneRow[], Map<string, LaneRow>>();

function rowFor(rows: readonly LaneRow[], taskId: string, lane: string): LaneRow | undefined {
  let byKey = rowsByKey.get(rows);
  if (!byKey) rowsByKey.set(rows, (byKey = new Map(rows.map((row) => [row.key, row]))));
  return byKey.get(`${taskId}/${lane}`) ?? byKey.get(taskId);
}

const BATCHES_AT_MOST = 160;

export function drawBatches(
  pen: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  toX: (t: number) => number,
): void {
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

export function drawFlows(
  pen: CanvasRenderingContext2D,
  scene: Scene,
  palette: Palette,
  toX: (t: number) => number,
): void {
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
