import { describe, expect, it } from 'vitest';

import { Axis } from '../layout/axis';
import { LANES, type Bar } from './bars';
import { OverviewBrush } from './overviewBrush';
import { drawStrip, GROUPS, type Strip } from './overviewStrip';
import type { Palette } from './palette';
import { Stage } from './stage.svelte';

const bar = (start: number, end: number, more: Partial<Bar> = {}) =>
  ({ lane: 'exploration', start, end, count: 1, failures: 0, ...more }) as Bar;
const palette = {
  panel: 'panel',
  bg: 'bg',
  bad: 'bad',
  text: 'text',
  lanes: Object.fromEntries(LANES.map((lane) => [lane, lane])),
} as unknown as Palette;

interface Rect {
  colour: string;
  alpha: number;
  x: number;
  y: number;
  w: number;
  h: number;
}
/** Draws a strip of a hundred pixels and a hundred seconds, and returns what was painted in a colour. */
function paint(strip: Partial<Strip>): (colour: string) => Rect[] {
  const rects: Rect[] = [];
  const pen = {
    fillStyle: '',
    globalAlpha: 1,
    fillRect(x: number, y: number, w: number, h: number) {
      rects.push({ colour: this.fillStyle, alpha: this.globalAlpha, x, y, w, h });
    },
  };
  const whole = { u0: 0, u1: 100_000 };
  const axis = Axis.plain(0, 100_000);
  drawStrip(pen, { axis, whole, width: 100, height: 46, bars: [], matches: [], ...strip }, palette);
  return (colour) => rects.filter((rect) => rect.colour === colour);
}

describe('the strip', () => {
  it('shows a single call beside a burst of a hundred', () => {
    const of = paint({ bars: [bar(10_000, 11_000), bar(50_000, 51_000, { count: 100 })] });
    const [one, burst] = of('exploration');
    expect([one!.x, burst!.x, one!.h >= 2, burst!.h > one!.h]).toEqual([10, 50, true, true]);
  });

  it('has failures along the bottom, stronger where there are more', () => {
    const failed = paint({ bars: [bar(0, 1000, { failures: 1 }), bar(60_000, 61_000, { failures: 4 })] })('bad');
    expect(failed.map(({ x, y, h }) => [x, y + h])).toEqual([
      [0, 46],
      [60, 46],
    ]);
    expect(failed[0]!.alpha).toBeLessThan(failed[1]!.alpha);
  });

  it('marks matches at their time', () => {
    const marks = paint({ matches: [{ id: 'a', taskId: 't', lane: 'user', start: 30_000, end: 30_000 }] })('text');
    expect(marks.map(({ x, y }) => [x, y])).toEqual([[29, 0]]);
  });

  it('has a row for every lane but the words of the assistant and telemetry', () => {
    const shown = new Set(GROUPS.flatMap(({ lanes }) => lanes));
    expect(LANES.filter((lane) => !shown.has(lane))).toEqual(['assistant', 'telemetry']);
  });
});

describe('the brush', () => {
  const whole = { u0: 0, u1: 10_000 };
  const perU = 0.1;
  function begin(view?: { u0: number; u1: number }) {
    const stage = new Stage();
    stage.take(Axis.plain(0, 10_000));
    if (view) stage.show(view);
    stage.following = true;
    const brush = new OverviewBrush(stage);
    const drag = (from: number, to: number) => {
      brush.begin(from, whole, perU);
      brush.move(to, whole, perU);
      brush.end(to, whole, perU);
      return [Math.round(stage.view.u0), Math.round(stage.view.u1)];
    };
    return { stage, drag };
  }

  it('draws a window in either direction', () => {
    expect(begin().drag(200, 600)).toEqual([2000, 6000]);
    expect(begin().drag(600, 200)).toEqual([2000, 6000]);
  });

  it('moves the window that is taken inside, and stops following', () => {
    const { stage, drag } = begin({ u0: 2000, u1: 4000 });
    expect([drag(300, 500), stage.following]).toEqual([[4000, 6000], false]);
  });

  it('pulls an edge, never over the other one', () => {
    expect(begin({ u0: 2000, u1: 4000 }).drag(400, 700)).toEqual([2000, 7000]);
    const [u0, u1] = begin({ u0: 2000, u1: 4000 }).drag(200, 900);
    expect([u0! < u1!, u1]).toEqual([true, 4000]);
  });

  it('brings the window to a click beside it, as wide as it was', () => {
    expect(begin({ u0: 2000, u1: 4000 }).drag(800, 800)).toEqual([7000, 9000]);
  });

  it('leaves the whole alone when it is only clicked', () => {
    const { stage, drag } = begin();
    drag(500, 501);
    expect(stage.whole).toBe(true);
  });
});
