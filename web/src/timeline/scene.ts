/** What the picture is made of: the rows in sight, the axis, and where each of them stands on the canvas. */
import type { Axis } from '../layout/axis';
import type { View } from '../layout/view';
import type { Bar } from './bars';
import type { Batch, Flow } from './flows';
import type { LaneRow } from './lanes';
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

export const inSight = (row: LaneRow, { scrollTop, height }: Scene) =>
  row.top + row.height > scrollTop && row.top < scrollTop + height;

/** The height of a bar in its track. */
export const barPx = (row: LaneRow) => Math.max(row.trackPx - 3, 4);

/** Text that fits; the widths of letters are guessed, which is a hundred times cheaper than measuring them. */
export function fitText(text: string, room: number): string {
  const most = Math.floor(room / 6.3);
  if (most < 3) return '';
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}
/** The width of text, guessed like that. */
export const textWidth = (text: string) => text.length * 6.3;
