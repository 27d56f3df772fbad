/** Drawing of the context chart: how full the window was, by which model, and where it was emptied. */
import type { ContextPoint } from '../api/types';
import type { Palette } from './palette';

export interface Band {
  from: number;
  to: number;
  model: string;
}

/** Stretches in which one model answered. */
export function modelBands(points: readonly ContextPoint[], end: number): Band[] {
  const out: Band[] = [];
  for (const point of points) {
    const at = Date.parse(point.at);
    if (!point.model) continue;
    const last = out.at(-1);
    if (last?.model === point.model) last.to = at;
    else {
      if (last) last.to = at;
      out.push({ from: at, to: at, model: point.model });
    }
  }
  const last = out.at(-1);
  if (last) last.to = Math.max(last.to, end);
  return out;
}

/** The last known use at a moment. */
export function usedAt(points: readonly ContextPoint[], t: number): ContextPoint | undefined {
  let found: ContextPoint | undefined;
  for (const point of points) {
    if (Date.parse(point.at) > t) break;
    if (point.kind === 'snapshot') found = point;
  }
  return found;
}

const BANDS = ['exploration', 'planning', 'implementation', 'coordination', 'questions'];

export function drawContext(pen: CanvasRenderingContext2D, width: number, height: number, points: readonly ContextPoint[], end: number, toX: (t: number) => number, palette: Palette, cursor: number | undefined): void {
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, width, height);
  pen.font = palette.font;
  pen.textBaseline = 'middle';
  const bandPx = 5;
  const toY = (pct: number) => bandPx + 3 + (1 - Math.min(Math.max(pct, 0), 100) / 100) * (height - bandPx - 5);
  pen.fillStyle = palette.line;
  for (const pct of [0, 50, 100]) pen.fillRect(0, Math.round(toY(pct)), width, 1);
  pen.fillStyle = palette.warn;
  pen.globalAlpha = 0.35;
  pen.fillRect(0, Math.round(toY(80)), width, 1);
  pen.globalAlpha = 1;
  const models = [...new Set(points.map((point) => point.model).filter((model) => model !== undefined))];
  for (const band of modelBands(points, end)) {
    pen.fillStyle = palette.lanes[BANDS[models.indexOf(band.model) % BANDS.length]!]!;
    const x0 = toX(band.from);
    pen.fillRect(x0, 0, Math.max(toX(band.to) - x0, 2), bandPx);
  }
  const line = points.filter((point) => point.kind === 'snapshot' && point.usedPct !== undefined);
  if (line.length > 0) {
    const path = new Path2D();
    const first = line[0]!;
    let y = toY(first.usedPct!);
    path.moveTo(toX(Date.parse(first.at)), y);
    for (const point of line.slice(1)) {
      const x = toX(Date.parse(point.at));
      path.lineTo(x, y);
      y = toY(point.usedPct!);
      path.lineTo(x, y);
    }
    const x = Math.min(toX(end), width + 4);
    path.lineTo(x, y);
    const area = new Path2D(path);
    area.lineTo(x, height);
    area.lineTo(toX(Date.parse(first.at)), height);
    pen.fillStyle = palette.accent;
    pen.globalAlpha = 0.14;
    pen.fill(area);
    pen.globalAlpha = 1;
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 1.4;
    pen.stroke(path);
    pen.lineWidth = 1;
  }
  for (const point of points) {
    if (point.kind === 'snapshot') continue;
    const x = Math.round(toX(Date.parse(point.at)));
    if (x < -10 || x > width + 10) continue;
    pen.fillStyle = point.kind === 'compaction' ? palette.warn : palette.lanes['planning']!;
    pen.fillRect(x, bandPx, 1, height);
    pen.beginPath();
    if (point.kind === 'compaction') {
      pen.moveTo(x - 4, bandPx + 2);
      pen.lineTo(x + 5, bandPx + 2);
      pen.lineTo(x + 0.5, bandPx + 9);
    } else {
      pen.moveTo(x + 0.5, bandPx + 1);
      pen.lineTo(x + 5, bandPx + 5.5);
      pen.lineTo(x + 0.5, bandPx + 10);
      pen.lineTo(x - 4, bandPx + 5.5);
    }
    pen.fill();
  }
  pen.fillStyle = palette.faint;
  if (cursor !== undefined) {
    pen.fillStyle = palette.dim;
    pen.fillRect(Math.round(toX(cursor)), 0, 1, height);
    const found = usedAt(points, cursor);
    if (found?.usedPct !== undefined) {
      pen.fillStyle = palette.text;
      pen.beginPath();
      pen.arc(toX(cursor), toY(found.usedPct), 3, 0, Math.PI * 2);
      pen.fill();
    }
  }
}
