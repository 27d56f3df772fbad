/** Drawing of the context chart: how full the window was, by which model, where it was compacted, and its scale. */
import { scaleOf, usedAt, walk, type Curve } from './contextCurve';
import type { Palette } from './palette';

/** Clients compact a little above this share of the window. */
const NEARLY_FULL_PCT = 80;

const BANDS = ['exploration', 'planning', 'implementation', 'coordination', 'questions'];

export function drawContext(
  pen: CanvasRenderingContext2D,
  width: number,
  height: number,
  curve: Curve,
  seen: { from: number; to: number },
  end: number,
  toX: (t: number) => number,
  palette: Palette,
  cursor: number | undefined,
): void {
  pen.fillStyle = palette.panel;
  pen.fillRect(0, 0, width, height);
  pen.font = palette.font;
  pen.textBaseline = 'middle';
  const bandPx = 5;
  const { top, rules } = scaleOf(curve);
  const toY = (pct: number) => bandPx + 3 + (1 - Math.min(Math.max(pct, 0), top) / top) * (height - bandPx - 5);
  pen.fillStyle = palette.line;
  for (const pct of [0, ...rules.map((rule) => rule.pct)]) pen.fillRect(0, Math.round(toY(pct)), width, 1);
  if (top >= NEARLY_FULL_PCT) {
    pen.fillStyle = palette.warn;
    pen.globalAlpha = 0.35;
    pen.fillRect(0, Math.round(toY(NEARLY_FULL_PCT)), width, 1);
    pen.globalAlpha = 1;
  }
  for (const band of curve.bands) {
    const x0 = toX(band.from);
    const x1 = toX(Math.min(band.to, end));
    if (x1 < 0 || x0 > width) continue;
    pen.fillStyle = palette.lanes[BANDS[curve.models.indexOf(band.model) % BANDS.length]!]!;
    pen.fillRect(x0, 0, Math.max(x1 - x0, 2), bandPx);
  }
  if (curve.at.length > 0) drawCurve();
  for (const { at, point } of curve.marks) {
    const x = Math.round(toX(at));
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
  if (curve.at.length > 0) labelRules();
  if (cursor !== undefined) {
    pen.fillStyle = palette.dim;
    pen.fillRect(Math.round(toX(cursor)), 0, 1, height);
    const found = usedAt(curve, cursor);
    if (found?.usedPct !== undefined) {
      pen.fillStyle = palette.text;
      pen.beginPath();
      pen.arc(toX(cursor), toY(found.usedPct), 3, 0, Math.PI * 2);
      pen.fill();
    }
  }

  /** Writes the scale on the left edge, over the curve, each label on a patch of the background. */
  function labelRules(): void {
    for (const { pct, label } of rules) {
      const y = Math.max(Math.round(toY(pct)), bandPx + 8);
      const wide = pen.measureText(label).width;
      pen.fillStyle = palette.panel;
      pen.fillRect(3, y - 6, wide + 4, 12);
      pen.fillStyle = palette.faint;
      pen.fillText(label, 5, y + 0.5);
    }
  }
  function drawCurve(): void {
    const path = new Path2D();
    let begin = Number.NaN;
    let y = 0;
    walk(curve, seen.from, seen.to, toX, (x, used) => {
      y = toY(used);
      if (Number.isNaN(begin)) path.moveTo((begin = Math.max(x, -4)), y);
      else path.lineTo(x, y);
    });
    if (Number.isNaN(begin)) return;
    const x = Math.min(toX(end), width + 4);
    path.lineTo(x, y);
    const area = new Path2D(path);
    area.lineTo(x, height);
    area.lineTo(begin, height);
    pen.fillStyle = palette.accent;
    pen.globalAlpha = 0.14;
    pen.fill(area);
    pen.globalAlpha = 1;
    pen.strokeStyle = palette.accent;
    pen.lineWidth = 1.4;
    pen.stroke(path);
    pen.lineWidth = 1;
  }
}
