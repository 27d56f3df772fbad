import { beforeAll, describe, expect, it, vi } from 'vitest';

import type { ContextPoint, Row } from '../api/types';
import { Axis } from '../layout/axis';
import { drawContext } from './contextChart';
import { curveOf, scaleOf, usedAt, walk } from './contextCurve';
import { Finder } from './finder.svelte';
import type { Palette } from './palette';
import { LARGE_TASK, RUNNING_TASK, SampleServer } from './sampleServer';
import { TimelineSource } from './source.svelte';
import { Stage } from './stage.svelte';

const server = new SampleServer(Date.now());
const { requests } = server;

beforeAll(() => {
  vi.stubGlobal('fetch', server.fetch);
});

const rowsIn = (source: TimelineSource) => source.bars().reduce((sum, bar) => sum + bar.count, 0);

// Cutting a hundred thousand rows into columns takes seconds on a busy machine.
describe('the source of the timeline', { timeout: 60_000 }, () => {
  it('draws a hundred thousand rows from one answer', async () => {
    requests.length = 0;
    const source = new TimelineSource({ id: LARGE_TASK });
    await source.load();
    expect(requests.filter((path) => path.includes('/lanes'))).toHaveLength(1);
    expect(requests.some((path) => path.includes('/timeline'))).toBe(false);
    expect(rowsIn(source)).toBeGreaterThanOrEqual(100_000);
    expect(source.bars().length).toBeLessThan(60_000);
  });

  it('loads rows where few are in view, bins where many are, and nothing twice', async () => {
    const source = new TimelineSource({ id: LARGE_TASK });
    await source.load();
    const axis = Axis.folded(source.start, source.end, source.gaps);
    const whole = { u0: 0, u1: axis.length };
    requests.length = 0;
    await source.refine(axis, whole, 1000);
    expect(requests).toEqual([]);
    const tenth = { u0: axis.length * 0.1, u1: axis.length * 0.2 };
    await source.refine(axis, tenth, 1000);
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.every((path) => path.includes('/lanes'))).toBe(true);
    requests.length = 0;
    await source.refine(axis, { u0: axis.length * 0.12, u1: axis.length * 0.2 }, 900);
    expect(requests).toEqual([]);
    await source.refine(axis, { u0: axis.length * 0.15, u1: axis.length * 0.153 }, 1000);
    expect(requests.some((path) => path.includes('/timeline'))).toBe(true);
    expect(source.bars().some((bar) => bar.toolUseId !== undefined)).toBe(true);
  });

  it('shows in the overview what the stream brought since it was loaded', async () => {
    const source = new TimelineSource({ id: RUNNING_TASK });
    await source.load();
    const at = source.end + 1000;
    const row = (endedAt?: string) =>
      ({
        id: 'new',
        taskId: source.tree[0]!.task.id,
        owner: source.tree[0]!.task.owner,
        kind: 'terminal.command',
        lane: 'implementation',
        title: 'Build',
        state: endedAt ? 'succeeded' : 'running',
        toolName: 'Bash',
        certainty: 'measured',
        channels: ['hook'],
        occurredAt: new Date(at).toISOString(),
        endedAt,
        metadata: {},
        seq: 1e9,
      }) as unknown as Row;
    source.take([row()]);
    expect(source.bars().find((bar) => bar.id === 'new')?.running).toBe(true);
    source.take([row(new Date(at + 4000).toISOString())]);
    expect(source.bars().find((bar) => bar.id === 'new')).toMatchObject({ running: false, end: at + 4000 });
  });

  it('draws the overview on the axis of the timeline while the task grows', () => {
    const stage = new Stage();
    stage.take(Axis.plain(0, 10_000));
    stage.grow(14_000);
    expect(stage.wholeView).toEqual(stage.view);
    stage.show({ u0: 1000, u1: 2000 });
    stage.grow(15_000);
    expect(stage.wholeView.u1).toBeGreaterThanOrEqual(15_000);
  });

  it('draws the overview on another axis at once when gaps are folded', () => {
    const stage = new Stage();
    stage.take(Axis.plain(0, 100_000));
    stage.show({ u0: 1000, u1: 2000 });
    stage.grow(101_000);
    const folded = Axis.folded(0, 100_000, [[10_000, 90_000]]);
    stage.take(folded);
    stage.show({ u0: 100, u1: 200 });
    expect(folded.length).toBeLessThan(50_000);
    expect(stage.wholeView.u1).toBeLessThan(folded.length * 1.5);
  });

  it('takes no streamed row of the same session of another person', async () => {
    const source = new TimelineSource({ id: RUNNING_TASK });
    await source.load();
    source.tree = source.tree.map((node) => ({ ...node, task: { ...node.task, owner: 'ann' } }));
    const row = (owner?: string) =>
      ({
        id: `of ${owner}`,
        taskId: RUNNING_TASK,
        owner,
        kind: 'tool.used',
        lane: 'implementation',
        occurredAt: new Date(source.end).toISOString(),
        metadata: {},
      }) as unknown as Row;
    source.take([row('bob'), row()]);
    expect(source.streamedCount).toBe(0);
    source.take([row('ann')]);
    expect(source.streamedCount).toBe(1);
  });

  it('searches the session of its owner', async () => {
    const source = new TimelineSource({ id: LARGE_TASK });
    await source.load();
    source.tree = source.tree.map((node) => ({ ...node, task: { ...node.task, owner: 'ann' } }));
    requests.length = 0;
    await new Finder(source).search('cargo');
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.filter((path) => !/^search\?.*task=.*owner=ann/.test(path))).toEqual([]);
  });

  it('lets a streamed row replace the loaded one', async () => {
    const source = new TimelineSource({ id: RUNNING_TASK });
    await source.load();
    const before = source.bars().length;
    const open = source.bars().find((bar) => bar.running && bar.id !== undefined)!;
    const ended = {
      id: open.id,
      seq: 1e9,
      taskId: open.taskId,
      kind: open.kind,
      lane: open.lane,
      title: 'ended',
      occurredAt: new Date(open.start).toISOString(),
      endedAt: new Date(open.start + 5).toISOString(),
      state: 'failed',
      metadata: {},
      certainty: 'measured',
    } as Row;
    expect(source.take([ended])).toBe(false);
    expect(source.bars()).toHaveLength(before);
    expect(source.bars().find((bar) => bar.id === open.id)).toMatchObject({
      running: false,
      failures: 1,
      end: open.start + 5,
    });
    expect(source.take([{ ...ended, id: 'other', taskId: 'elsewhere', isSubagent: false }])).toBe(false);
    expect(source.bars()).toHaveLength(before);
    expect(source.take([{ ...ended, id: 'new', taskId: 'unknown child', isSubagent: true }])).toBe(true);
  });

  it('draws no row that the stream has removed', async () => {
    const source = new TimelineSource({ id: RUNNING_TASK });
    await source.load();
    const before = source.bars().length;
    const [loaded, streamed] = source.bars().filter((bar) => bar.id !== undefined);
    source.take([
      {
        id: streamed!.id,
        seq: 1e9,
        taskId: streamed!.taskId,
        kind: streamed!.kind,
        lane: streamed!.lane,
        title: 'streamed',
        occurredAt: new Date(streamed!.start).toISOString(),
        metadata: {},
        certainty: 'measured',
      } as Row,
    ]);
    expect(source.drop(new Set([loaded!.id!, streamed!.id!, 'never seen']))).toBe(true);
    expect(source.bars()).toHaveLength(before - 2);
    expect(source.bars().some((bar) => bar.id === loaded!.id || bar.id === streamed!.id)).toBe(false);
    expect(source.drop(new Set(['never seen']))).toBe(false);
  });
});

describe('the stage', () => {
  it('shows the whole while it grows, and stays where it is after a zoom', () => {
    const stage = new Stage();
    stage.take(Axis.plain(0, 1000));
    stage.take(Axis.plain(0, 2000));
    expect(stage.to).toBeGreaterThanOrEqual(2000);
    stage.zoom(0.5, 0.25);
    const [from, to] = [stage.from, stage.to];
    stage.take(Axis.plain(0, 4000));
    expect([stage.from, stage.to]).toEqual([from, to]);
  });

  it('keeps real time in view when gaps are folded', () => {
    const stage = new Stage();
    const hour = 3_600_000;
    stage.take(Axis.plain(0, 10 * hour));
    stage.frame(9.2 * hour, 9.4 * hour);
    const middle = (stage.from + stage.to) / 2;
    stage.take(Axis.folded(0, 10 * hour, [[hour, 9 * hour]]));
    expect(Math.abs((stage.from + stage.to) / 2 - middle)).toBeLessThan(1);
  });

  it('follows the live edge from the last minutes, not from the whole', () => {
    const stage = new Stage();
    stage.take(Axis.plain(0, 7_200_000));
    stage.follow(7_200_000);
    expect(stage.to - stage.from).toBeLessThan(400_000);
    expect(stage.to).toBeGreaterThan(7_200_000);
  });

  it('ignores an address without a window', () => {
    const stage = new Stage();
    stage.take(Axis.plain(0, 1000));
    stage.restore(Number.NaN, 5);
    stage.restore(500, 100);
    expect(stage.whole).toBe(true);
  });
});

describe('the context chart', () => {
  const at = (t: number) => new Date(t).toISOString();
  const points: ContextPoint[] = [
    { id: '1', kind: 'snapshot', at: at(10), usedPct: 5, model: 'a' },
    { id: '2', kind: 'snapshot', at: at(20), usedPct: 9, model: 'a' },
    { id: '3', kind: 'compaction', at: at(25) },
    { id: '4', kind: 'model_switch', at: at(30), model: 'b' },
    { id: '5', kind: 'snapshot', at: at(40), usedPct: 2, model: 'b' },
  ];

  it('has one band for each stay of a model, without holes', () => {
    expect(curveOf(points).bands).toEqual([
      { from: 10, to: 30, model: 'a' },
      { from: 30, to: Number.POSITIVE_INFINITY, model: 'b' },
    ]);
    expect(curveOf([]).bands).toEqual([]);
  });

  it('returns the last known use, never a later one, in any order of the points', () => {
    const curve = curveOf([...points].reverse());
    expect([usedAt(curve, 5), usedAt(curve, 29)?.usedPct, usedAt(curve, 99)?.usedPct]).toEqual([undefined, 9, 2]);
  });

  it('has the least round scale that holds every point, with labelled lines', () => {
    const top = (...used: number[]) =>
      scaleOf(curveOf(used.map((usedPct, i) => ({ id: String(i), kind: 'snapshot', at: at(i), usedPct })))).top;
    expect([top(), top(0.4), top(1), top(7, 3), top(10), top(11), top(26), top(51), top(100), top(140)]).toEqual([
      1, 1, 1, 10, 10, 25, 50, 100, 100, 100,
    ]);
    expect(scaleOf(curveOf(points)).rules).toEqual([
      { pct: 5, label: '5 %' },
      { pct: 10, label: '10 %' },
    ]);
  });

  it('draws a small use high, and no line at 80 % of a scale that ends below', () => {
    const tops: number[] = [];
    const texts: string[] = [];
    const fills: string[] = [];
    vi.stubGlobal(
      'Path2D',
      class {
        moveTo(_x: number, y: number): void {
          tops.push(y);
        }
        lineTo(_x: number, y: number): void {
          tops.push(y);
        }
      },
    );
    const pen = new Proxy({} as Record<string, unknown>, {
      get: (target, name: string) => {
        if (name === 'measureText') return () => ({ width: 20 });
        if (name === 'fillText') return (text: string) => texts.push(text);
        if (name === 'fillRect') return () => fills.push(String(target['fillStyle']));
        return target[name] ?? (() => undefined);
      },
      set: (target, name: string, value) => Reflect.set(target, name, value),
    }) as unknown as CanvasRenderingContext2D;
    const palette = { warn: 'warn', lanes: {}, line: 'line', panel: 'panel', faint: 'faint' } as unknown as Palette;
    const calm = points.filter(({ kind }) => kind === 'snapshot');
    drawContext(pen, 100, 63, curveOf(calm), { from: 0, to: 100 }, 100, (t) => t, palette, undefined);
    expect(Math.min(...tops)).toBeLessThan(63 * 0.3);
    expect(texts).toEqual(['5 %', '10 %']);
    expect(fills).not.toContain('warn');
  });

  const steps = (used: number[], from: number, until: number, pixelMs: number) => {
    const out: [number, number][] = [];
    walk(
      curveOf(used.map((usedPct, i) => ({ id: String(i), kind: 'snapshot', at: at(i * 10), usedPct }))),
      from,
      until,
      (t) => t / pixelMs,
      (x, y) => out.push([x, y]),
    );
    return out;
  };

  it('goes in steps from the last point before the window to the last one in it', () => {
    expect(steps([1, 2, 3, 4, 5], 15, 35, 1)).toEqual([
      [10, 2],
      [20, 2],
      [20, 3],
      [30, 3],
      [30, 4],
    ]);
    expect(steps([], 0, 99, 1)).toEqual([]);
    expect(steps([7], -50, -10, 1)).toEqual([]);
  });

  it('keeps the peak and the dip of a pixel, however many points share it', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => (i === 5000 ? 99 : i === 5001 ? 1 : 50));
    const found = steps(many, 0, 100_000, 10_000);
    expect(found.length).toBeLessThan(60);
    expect([Math.max(...found.map(([, y]) => y)), Math.min(...found.map(([, y]) => y))]).toEqual([99, 1]);
  });
});
