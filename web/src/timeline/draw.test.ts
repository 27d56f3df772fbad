import { beforeEach, describe, expect, it } from 'vitest';

import type { Task, TreeNode } from '../api/types';
import { Axis } from '../layout/axis';
import { byLane, countedName, type Bar } from './bars';
import { draw } from './draw';
import type { Scene } from './scene';
import { buildBatches, buildFlows } from './flows';
import { buildRows } from './lanes';
import type { Palette } from './palette';
import { summarizeLane } from './laneSummary';

const task = {
  id: 'a',
  agentType: 'main',
  title: 'Mend it',
  status: 'completed',
  startedAt: '1970-01-01T00:00:00.000Z',
  lastEventAt: '1970-01-01T00:00:01.000Z',
  failureCount: 0,
} as unknown as Task;
const tree: TreeNode[] = [{ depth: 0, task }];
const bar = (start: number, end: number, more: Partial<Bar> = {}): Bar => ({
  taskId: 'a',
  lane: 'exploration',
  start,
  end,
  running: false,
  count: 1,
  failures: 0,
  track: 0,
  label: 'Read it',
  certainty: 'measured',
  id: `e${start}`,
  tool: 'Read',
  ...more,
});

const HATCH = { hatch: true } as unknown as CanvasPattern;
const lanes = Object.fromEntries(
  [
    'user',
    'assistant',
    'exploration',
    'implementation',
    'planning',
    'coordination',
    'questions',
    'todos',
    'rule',
    'background',
    'telemetry',
  ].map((name) => [name, `lane ${name}`]),
);
const palette = {
  lanes,
  ink: 'ink',
  bg: 'bg',
  panel: 'panel',
  raised: 'raised',
  line: 'line',
  strong: 'strong',
  text: 'text',
  dim: 'dim',
  faint: 'faint',
  accent: 'accent',
  bad: 'bad',
  warn: 'warn',
  good: 'good',
  font: '11px x',
  hatch: HATCH,
} as Palette;

interface Stroke {
  what: string;
  style: unknown;
  dash: readonly number[];
  alpha: number;
  at: readonly unknown[];
}

/** A pen that remembers what it drew, and how. */
class Pen {
  strokes: Stroke[] = [];
  fillStyle: unknown = '';
  strokeStyle: unknown = '';
  lineWidth = 1;
  globalAlpha = 1;
  font = '';
  textBaseline = '';
  private dash: number[] = [];
  setLineDash = (dash: number[]): void => void (this.dash = dash);
  fillRect = (...at: number[]): void => this.note('fill', this.fillStyle, at);
  strokeRect = (...at: number[]): void => this.note('frame', this.strokeStyle, at);
  fillText = (...at: unknown[]): void => this.note('text', this.fillStyle, at);
  beginPath(): void {}
  moveTo(): void {}
  lineTo = (...at: number[]): void => this.note('line', this.strokeStyle, at);
  bezierCurveTo = (...at: number[]): void => this.note('curve', this.strokeStyle, at);
  fill(): void {}
  stroke(): void {}

  private note(what: string, style: unknown, at: readonly unknown[]): void {
    this.strokes.push({ what, style, dash: this.dash, alpha: this.globalAlpha, at });
  }
}

describe('the picture', () => {
  let pen: Pen;
  const paint = (bars: readonly Bar[], more: Partial<Scene> = {}) => {
    const rows = buildRows(tree, byLane([...bars]), { closed: new Set(), hidden: new Set(), momentMs: 0 });
    const scene: Scene = {
      axis: Axis.plain(0, 1000),
      view: { u0: 0, u1: 1000 },
      width: 1000,
      height: 400,
      scrollTop: 0,
      rows,
      flows: buildFlows(tree, bars),
      batches: buildBatches(bars),
      now: 1000,
      running: false,
      stale: false,
      offsetMs: 0,
      ...more,
    };
    draw(pen as unknown as CanvasRenderingContext2D, scene, palette);
    return rows;
  };
  /** What was drawn in the columns of one bar, in the colour of its lane or over it. */
  const over = (x: number, what: string, style: unknown) =>
    pen.strokes.filter(
      (stroke) => stroke.what === what && stroke.style === style && Math.abs(Number(stroke.at[0]) - x) < 2,
    );
  beforeEach(() => {
    pen = new Pen();
  });

  it('fills what was measured, lays stripes over what was inferred and only outlines what was guessed', () => {
    paint([bar(100, 200), bar(300, 400, { certainty: 'inferred' }), bar(500, 600, { certainty: 'guessed' })]);
    expect(over(100, 'fill', 'lane exploration')).toHaveLength(1);
    expect(over(100, 'fill', HATCH)).toHaveLength(0);
    expect(over(300, 'fill', HATCH)).toHaveLength(1);
    const [outline] = over(500, 'frame', 'lane exploration');
    expect(outline?.dash.length).toBeGreaterThan(0);
    expect(over(500, 'fill', HATCH)).toHaveLength(0);
    expect(over(100, 'frame', 'lane exploration')).toHaveLength(0);
  });

  it('lays stripes over a bin of which only some were inferred or guessed', () => {
    paint([
      bar(100, 200, { count: 7, certainty: 'guessed' }),
      bar(300, 310, { count: 7, certainty: 'inferred' }),
      bar(500, 600, { count: 7 }),
    ]);
    for (const x of [100, 300]) {
      expect(over(x, 'fill', HATCH)).toHaveLength(1);
      const [whole, part] = [over(x, 'fill', 'lane exploration')[0], over(x, 'fill', HATCH)[0]];
      expect(Number(part!.at[3])).toBeLessThan(Number(whole!.at[3]));
    }
    expect(over(500, 'fill', HATCH)).toHaveLength(0);
  });

  it('marks what failed with more than a colour', () => {
    paint([bar(100, 200), bar(300, 400, { failures: 1 })]);
    expect(over(300, 'fill', 'bad')).toHaveLength(1);
    expect(over(100, 'fill', 'bad')).toHaveLength(0);
  });

  it('holds the calls of one batch together with a bracket and their number', () => {
    paint([
      bar(100, 200, { batch: 'b' }),
      bar(110, 220, { batch: 'b' }),
      bar(120, 230, { batch: 'b', lane: 'implementation' }),
      bar(600, 700, { batch: 'alone' }),
    ]);
    const numbers = pen.strokes.filter(({ what, at }) => what === 'text' && /^\d+$/.test(String(at[0])));
    expect(numbers.map(({ at }) => at[0])).toEqual(['3']);
    // From the top of its first lane to the foot of its last, left of the first call.
    const bracket = pen.strokes.filter(
      ({ what, style, at }) => what === 'line' && style === 'dim' && Number(at[0]) < 101 && Number(at[0]) > 95,
    );
    const ys = bracket.map(({ at }) => Number(at[1]));
    expect(Math.max(...ys) - Math.min(...ys)).toBeGreaterThan(30);
  });

  it('draws bars that are too narrow as one bar with their number and busy share', () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => bar(100 + i * 2, 101 + i * 2));
    const words = () =>
      pen.strokes.filter(({ what, at }) => what === 'text' && String(at[0]).startsWith('Read')).map(({ at }) => at[0]);
    paint(many(80));
    expect(words()).toEqual(['Read ×80 · 50 % busy']);
    pen = new Pen();
    paint(many(40));
    expect(words()).toEqual(['Read ×40']);
  });

  it('names a bar of several tools by the most frequent one', () => {
    const unlike = Array.from({ length: 400 }, (_, i) =>
      bar(100 + i * 0.3, 100 + i * 0.3, { tool: i % 4 === 0 ? 'Grep' : 'Edit', label: `call ${i}` }),
    );
    const words = (text: string) =>
      pen.strokes.filter(({ what, at }) => what === 'text' && String(at[0]).includes(text));
    paint(unlike);
    expect(words('×').map(({ at }) => String(at[0]).split(' ·')[0])).toEqual(['Edit ×400']);
    pen = new Pen();
    paint([bar(100, 200, { count: 48, tool: undefined, kind: undefined, id: undefined, label: 'Edit', busyMs: 100 })]);
    expect(words('Edit ×48'), 'a bin has the title of its most frequent tool').toHaveLength(1);
  });

  it('counts rows without a tool by their kind, not by the words of the first', () => {
    expect([
      countedName({ count: 1, label: 'Fix the test', kind: 'user.message' }),
      countedName({ count: 9, label: 'context.snapshot', kind: 'context.snapshot' }),
      countedName({ count: 9, label: 'Edit', kind: 'tool.used' }),
    ]).toEqual(['user message', 'context snapshot', 'Edit']);
  });

  /** How much of the lane's height is painted solid, over some columns. */
  const solid = (from: number, to: number) => {
    let area = 0;
    for (const { what, style, at, alpha } of pen.strokes) {
      const [x, , w, h] = at.map(Number) as [number, number, number, number];
      if (what === 'fill' && style === 'lane exploration' && alpha > 0.5)
        area += Math.max(Math.min(x + w, to) - Math.max(x, from), 0) * h;
    }
    return area / ((to - from) * 13);
  };

  it('never paints a lane fuller than it was, however far one zooms out', () => {
    // 500 calls of 20 ms, one each second: busy for two hundredths of the time.
    const calls = Array.from({ length: 500 }, (_, i) =>
      bar(i * 1000, i * 1000 + 20, { tool: i % 2 ? 'Read' : 'Grep' }),
    );
    const bins = Array.from({ length: 250 }, (_, i) =>
      bar(i * 2000, i * 2000 + 1020, { count: 2, busyMs: 40, id: undefined }),
    );
    for (const bars of [calls, bins]) {
      for (const width of [250, 500, 1000, 2000]) {
        pen = new Pen();
        paint(bars, { axis: Axis.plain(0, 500_000), view: { u0: 0, u1: 500_000 }, width });
        // The least that can be seen of a call is a foot of one and a half pixels.
        expect(solid(0, width)).toBeLessThan(0.02 + 1.5 / 13 + 0.02);
      }
    }
  });

  it('fills a bin to the part of its time in which a call ran, and tints the rest', () => {
    paint([bar(100, 200, { count: 9, busyMs: 25, id: undefined })]);
    const parts = over(100, 'fill', 'lane exploration');
    expect(parts.map(({ at, alpha }) => [Math.round(Number(at[3]) * 100) / 100, alpha < 0.5])).toEqual([
      [9.75, true],
      [3.25, false],
    ]);
  });

  it('draws what the agent wrote down lighter than what was measured', () => {
    paint([bar(100, 200), bar(300, 400, { certainty: 'reported' })]);
    expect(over(100, 'fill', 'lane exploration').map(({ alpha }) => alpha)).toEqual([1]);
    expect(Math.min(...over(300, 'fill', 'lane exploration').map(({ alpha }) => alpha))).toBeLessThan(1);
  });

  it('marks a selected area only over its rows', () => {
    paint([bar(100, 200), bar(100, 200, { lane: 'implementation' })], {
      area: { from: 100, to: 300, rows: new Set(['a/implementation']) },
    });
    const tinted = pen.strokes.filter(({ what, style, alpha }) => what === 'fill' && style === 'accent' && alpha < 0.2);
    expect(tinted).toHaveLength(1);
    expect(Number(tinted[0]!.at[3])).toBeLessThan(40);
  });

  it('writes no mark of the ruler below the length of a selected area', () => {
    paint([], { area: { from: 105, to: 305 } });
    const onRuler = pen.strokes.filter(({ what, at }) => what === 'text' && Number(at[2]) === 11);
    const spans = onRuler.map(({ at }) => [Number(at[1]), Number(at[1]) + String(at[0]).length * 6.3] as const);
    expect(onRuler.some(({ at }) => at[0] === '200 ms')).toBe(true);
    const sorted = [...spans].sort((one, other) => one[0] - other[0]);
    for (let n = 1; n < sorted.length; n += 1) expect(sorted[n]![0]).toBeGreaterThanOrEqual(sorted[n - 1]![1]);
  });

  it('draws nothing that is out of sight', () => {
    paint([bar(100, 200), bar(300, 400)], { view: { u0: 250, u1: 500 } });
    expect(
      pen.strokes.filter(({ what, style, at }) => what === 'fill' && style === 'lane exploration' && Number(at[0]) < 0),
    ).toHaveLength(0);
    expect(over(200, 'fill', 'lane exploration')).toHaveLength(1);
  });

  it('says the same in words: how many, how sure, and what was asked for at once', () => {
    const bars = [
      bar(100, 200, { batch: 'b' }),
      bar(110, 220, { batch: 'b', certainty: 'inferred' }),
      bar(300, 400, { certainty: 'guessed', failures: 1 }),
      bar(500, 600, { count: 7 }),
    ];
    const rows = paint(bars);
    const lane = rows.find(({ key }) => key === 'a/exploration')!;
    expect(summarizeLane(lane, buildBatches(bars))).toEqual({
      count: 10,
      failures: 1,
      running: 0,
      busyMs: 410,
      sure: '8 measured, 1 inferred, 1 estimated',
      batches: '2',
      first: 100,
      last: 600,
    });
  });
});
