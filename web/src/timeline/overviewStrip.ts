/** The picture of the overview: how much happened when, by kind of work, and failures along the bottom. */
import type { Axis } from '../layout/axis';
import { density } from '../layout/density';
import type { View } from '../layout/view';
import type { Bar } from './bars';
import type { Match } from './find';
import type { Palette } from './palette';

export interface Strip {
  axis: Axis;
  /** The whole task, in the units of the axis. */
  whole: View;
  width: number;
  height: number;
  bars: readonly Bar[];
  matches: readonly Match[];
}

/** The rows of the strip from top to bottom: eleven lanes would be three pixels each. */
export const GROUPS: readonly { lanes: readonly string[]; colour: string }[] = [
  { lanes: ['exploration'], colour: 'exploration' },
  { lanes: ['implementation', 'background'], colour: 'implementation' },
  { lanes: ['coordination', 'planning', 'questions', 'todos', 'rule'], colour: 'coordination' },
  { lanes: ['user'], colour: 'user' },
];

const COLUMN_PX = 2;
const FAILURES_PX = 4;
const MATCH_PX = 6;

type Pen = Pick<CanvasRenderingContext2D, 'fillRect' | 'fillStyle' | 'globalAlpha'>;

export function drawStrip(pen: Pen, { axis, whole, width, height, bars, matches }: Strip, colours: Palette): void {
  const perU = width / (whole.u1 - whole.u0);
  const toX = (t: number) => (axis.toU(t) - whole.u0) * perU;
  pen.globalAlpha = 1;
  pen.fillStyle = colours.panel;
  pen.fillRect(0, 0, width, height);
  pen.fillStyle = colours.bg;
  for (const fold of axis.folds)
    pen.fillRect((fold.u0 - whole.u0) * perU, 0, Math.max((fold.u1 - fold.u0) * perU, 1), height);

  const rowPx = (height - 6) / GROUPS.length;
  const columns = (wanted: readonly Bar[]) => density(wanted, Math.ceil(width / COLUMN_PX), (t) => toX(t) / COLUMN_PX);
  pen.globalAlpha = 0.85;
  for (const [i, group] of GROUPS.entries()) {
    const found = columns(bars.filter((bar) => group.lanes.includes(bar.lane)));
    const y = i * rowPx + rowPx;
    pen.fillStyle = colours.lanes[group.colour]!;
    for (const [x, n] of found.counts.entries()) {
      if (n <= 0) continue;
      // The root, and two pixels at least: beside a burst of a hundred calls a single one would be invisible.
      const tall = Math.max(2, Math.sqrt(n / found.peak) * (rowPx - 2));
      pen.fillRect(x * COLUMN_PX, y - tall, COLUMN_PX, tall);
    }
  }

  const failed = columns(bars.filter((bar) => bar.failures > 0));
  const most = failed.failures.reduce((peak, n) => Math.max(peak, n), 0);
  pen.fillStyle = colours.bad;
  for (const [x, n] of failed.failures.entries()) {
    if (n <= 0) continue;
    pen.globalAlpha = 0.25 + 0.75 * (n / most);
    pen.fillRect(x * COLUMN_PX, height - FAILURES_PX, COLUMN_PX, FAILURES_PX);
  }
  pen.globalAlpha = 1;
  pen.fillStyle = colours.text;
  for (const match of matches) pen.fillRect(Math.round(toX(match.start)) - 1, 0, 2, MATCH_PX);
}
