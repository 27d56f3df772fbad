import { describe, expect, it } from 'vitest';

import { Axis } from './axis';
import { density } from './density';
import { byTool, overlapMs, percentile, ToolTally } from './percentiles';
import { RUN_OPTIONS, eachRun, type Groupable } from './runs';
import { roundStep, tickLabel, ticks } from './ticks';
import { firstEndingAfter, packTracks } from './tracks';
import { clamp, fit, follow, frame, MIN_SPAN_MS, pan, wheelFactor, zoom } from './view';
import { listWindow, reveal } from './window';

/** Repeatable numbers in [0, 1). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const HOUR = 3_600_000;

describe('the axis', () => {
  it('is real time when nothing is folded', () => {
    const axis = Axis.plain(1000, 5000);
    expect([axis.toU(1000), axis.toU(5000), axis.toT(2500), axis.length]).toEqual([0, 4000, 3500, 4000]);
  });

  it('shortens long gaps and leaves short ones', () => {
    const axis = Axis.folded(0, 10 * HOUR, [
      [HOUR, 9 * HOUR],
      [9.5 * HOUR, 9.5 * HOUR + 1000],
    ]);
    expect(axis.folds).toHaveLength(1);
    expect(axis.length).toBeLessThan(2.1 * HOUR);
    expect(axis.length).toBeGreaterThan(2 * HOUR);
    expect(axis.toU(9 * HOUR) - axis.toU(HOUR)).toBeCloseTo(axis.folds[0]!.u1 - axis.folds[0]!.u0);
  });

  it('maps there and back for any gaps, and never backwards', () => {
    const next = numbers(7);
    for (let round = 0; round < 200; round += 1) {
      const gaps = Array.from({ length: 6 }, (): [number, number] => [next() * 20 * HOUR - HOUR, next() * 20 * HOUR]);
      const axis = Axis.folded(0, 18 * HOUR, gaps);
      let before = Number.NEGATIVE_INFINITY;
      for (let t = -HOUR; t <= 20 * HOUR; t += HOUR / 3) {
        const u = axis.toU(t);
        expect(u).toBeGreaterThan(before);
        expect(axis.toT(u)).toBeCloseTo(t, 2);
        before = u;
      }
    }
  });

  it('does not move the past of a task that grows', () => {
    const early = Axis.folded(0, 10 * HOUR, [[HOUR, 9 * HOUR]]);
    const later = Axis.folded(0, 10 * HOUR + 60_000, [[HOUR, 9 * HOUR]]);
    expect(later.toU(9.5 * HOUR)).toBe(early.toU(9.5 * HOUR));
  });

  it('names the stretches between folds', () => {
    const axis = Axis.folded(0, 10 * HOUR, [
      [HOUR, 2 * HOUR],
      [5 * HOUR, 9 * HOUR],
    ]);
    expect(axis.segments(1.5 * HOUR, 9.5 * HOUR)).toEqual([
      [2 * HOUR, 5 * HOUR],
      [9 * HOUR, 9.5 * HOUR],
    ]);
    expect(axis.segments(6 * HOUR, 7 * HOUR)).toEqual([]);
  });

  it('has a length even when begin and end are one moment', () => {
    expect(Axis.plain(5, 5).length).toBe(1);
    expect(Axis.folded(5, 5, []).toT(0)).toBe(5);
  });
});

describe('the view', () => {
  const length = 100_000;

  it('keeps what is under the cursor under the cursor', () => {
    const view = { u0: 20_000, u1: 60_000 };
    for (const anchor of [0, 0.25, 0.7, 1]) {
      const at = view.u0 + anchor * (view.u1 - view.u0);
      const next = zoom(view, anchor, 0.5, length);
      expect(next.u0 + anchor * (next.u1 - next.u0)).toBeCloseTo(at);
      expect(next.u1 - next.u0).toBeCloseTo(20_000);
    }
  });

  it('shows neither more than the whole nor less than the least', () => {
    const whole = fit(length);
    expect(zoom({ u0: 0, u1: length }, 0.3, 50, length)).toEqual(whole);
    const near = zoom({ u0: 100, u1: 130 }, 0.5, 1e-6, length);
    expect(near.u1 - near.u0).toBeCloseTo(MIN_SPAN_MS);
  });

  it('does not leave the axis when panned', () => {
    const far = pan({ u0: 0, u1: 10_000 }, 100, length);
    expect(far.u1).toBeCloseTo(fit(length).u1);
    expect(far.u1 - far.u0).toBeCloseTo(10_000);
    expect(pan({ u0: 0, u1: 10_000 }, -100, length).u0).toBeCloseTo(fit(length).u0);
  });

  it('frames a stretch with air, and a moment too', () => {
    const framed = frame(40_000, 50_000, length);
    expect(framed).toEqual({ u0: 39_000, u1: 51_000 });
    expect(frame(40_000, 40_000, length).u1).toBeGreaterThan(40_000);
  });

  it('frames no time beyond the nearest folds', () => {
    const folds = [
      { u0: 20_000, u1: 21_000 },
      { u0: 39_000, u1: 39_900 },
      { u0: 50_200, u1: 51_000 },
      { u0: 70_000, u1: 71_000 },
    ];
    expect(frame(40_000, 50_000, length, folds)).toEqual({ u0: 39_900, u1: 50_200 });
    expect(frame(60_000, 61_000, length, folds)).toEqual({ u0: 59_900, u1: 61_100 });
    // A stretch that holds a fold shows it whole.
    expect(frame(38_000, 45_000, length, folds)).toEqual({ u0: 37_300, u1: 45_700 });
  });

  it('follows the live edge without changing its span', () => {
    const next = follow({ u0: 0, u1: 10_000 }, 100_000, length);
    expect(next.u1 - next.u0).toBeCloseTo(10_000);
    expect(next.u1).toBeGreaterThan(100_000);
  });

  it('stays put when it is already within bounds', () => {
    expect(clamp({ u0: 10, u1: 5000 }, length)).toEqual({ u0: 10, u1: 5000 });
  });

  it('treats lines, pages and pixels of a wheel alike', () => {
    expect(wheelFactor(3, 1)).toBeCloseTo(wheelFactor(48, 0));
    expect(wheelFactor(-100, 0) * wheelFactor(100, 0)).toBeCloseTo(1);
    expect(wheelFactor(1e9, 0)).toBeLessThan(2);
  });
});

describe('ticks', () => {
  it('are round and far enough apart', () => {
    const axis = Axis.plain(Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 2));
    const marks = ticks(axis, { u0: 0, u1: 24 * HOUR }, 1000, 0);
    expect(marks.map((mark) => mark.label)).toContain('06:00');
    for (let i = 1; i < marks.length; i += 1) expect(marks[i]!.u - marks[i - 1]!.u).toBeGreaterThan(HOUR);
  });

  it('follow the local clock', () => {
    expect(tickLabel(Date.UTC(2026, 0, 1, 23, 30), 60_000, 2 * HOUR)).toBe('01:30');
    expect(tickLabel(Date.UTC(2026, 0, 1, 23, 30), 24 * HOUR, 2 * HOUR)).toBe('2 Jan');
    expect(tickLabel(1234, 5, 0)).toBe('00:00:01.234');
  });

  it('do not stand inside folds', () => {
    const axis = Axis.folded(0, 10 * HOUR, [[HOUR, 9 * HOUR]]);
    const marks = ticks(axis, { u0: 0, u1: axis.length }, 1400, 0);
    expect(marks.length).toBeGreaterThan(5);
    expect(marks.filter((mark) => mark.t > HOUR && mark.t < 9 * HOUR)).toEqual([]);
  });

  it('end for views without a size', () => {
    expect(ticks(Axis.plain(0, 10), { u0: 0, u1: 0 }, 100, 0)).toEqual([]);
    expect(ticks(Axis.plain(0, 10), { u0: 0, u1: 10 }, 0, 0)).toEqual([]);
  });

  it('have a step for any span', () => {
    expect(roundStep(0.2)).toBe(1);
    expect(roundStep(70_000)).toBe(120_000);
    expect(roundStep(90 * 24 * HOUR)).toBeGreaterThanOrEqual(90 * 24 * HOUR);
  });
});

describe('tracks', () => {
  it('let no two of one track overlap, with as few tracks as run at once', () => {
    const next = numbers(3);
    for (let round = 0; round < 50; round += 1) {
      const items = Array.from({ length: 60 }, () => {
        const start = Math.floor(next() * 1000);
        return { start, end: start + Math.floor(next() * 80) };
      });
      const { tracks, overflow } = packTracks(items, 1000);
      expect(overflow).toBe(0);
      expect(tracks.flat()).toHaveLength(60);
      for (const track of tracks) {
        for (let i = 1; i < track.length; i += 1) expect(track[i]!.start).toBeGreaterThanOrEqual(track[i - 1]!.end);
      }
      const most = Math.max(...items.map((a) => items.filter((b) => b.start <= a.start && b.end > a.start).length));
      expect(tracks.length).toBeLessThanOrEqual(most + 1);
    }
  });

  it('count what does not fit below the cap', () => {
    const same = Array.from({ length: 5 }, () => ({ start: 0, end: 10 }));
    const { tracks, overflow } = packTracks(same, 3);
    expect(tracks.map((track) => track.length)).toEqual([1, 1, 3]);
    expect(overflow).toBe(2);
  });

  it('put nothing behind what still runs', () => {
    expect(
      packTracks(
        [
          { start: 0, end: 5, running: true },
          { start: 9, end: 10 },
        ],
        9,
      ).tracks,
    ).toHaveLength(2);
  });

  it('keep moments without length apart', () => {
    expect(
      packTracks(
        [
          { start: 1, end: 1 },
          { start: 1, end: 1 },
        ],
        9,
        5,
      ).tracks,
    ).toHaveLength(2);
  });

  it('find the first bar in sight', () => {
    const track = [
      { start: 0, end: 5 },
      { start: 6, end: 8 },
      { start: 9, end: 9 },
    ];
    expect([0, 5, 6, 8.5, 10].map((t) => firstEndingAfter(track, t))).toEqual([0, 0, 1, 2, 3]);
  });
});

describe('runs', () => {
  const bar = (start: number, end: number, tool: string, more: Partial<Groupable> = {}): Groupable => ({
    start,
    end,
    tool,
    count: 1,
    failures: 0,
    running: false,
    ...more,
  });
  const runsOf = (bars: Groupable[], scale = 1) => {
    const out: { x0: number; x1: number; count: number; failures: number; uniform: boolean }[] = [];
    eachRun(
      bars,
      0,
      1e9,
      (t) => t * scale,
      RUN_OPTIONS,
      ({ x0, x1, count, failures, uniform }) => out.push({ x0, x1, count, failures, uniform }),
    );
    return out;
  };

  it('join narrow neighbours of one tool and add them up', () => {
    expect(runsOf([bar(0, 5, 'Read'), bar(6, 10, 'Read', { failures: 1 }), bar(11, 15, 'Read', { count: 3 })])).toEqual(
      [{ x0: 0, x1: 15, count: 5, failures: 1, uniform: true }],
    );
  });

  it('open again when there is room', () => {
    expect(runsOf([bar(0, 5, 'Read'), bar(6, 10, 'Read')], 10)).toHaveLength(2);
  });

  it('do not join other tools, far neighbours or running calls', () => {
    expect(runsOf([bar(0, 5, 'Read'), bar(6, 10, 'Grep')])).toHaveLength(2);
    expect(runsOf([bar(0, 5, 'Read'), bar(20, 25, 'Read')])).toHaveLength(2);
    expect(runsOf([bar(0, 5, 'Read'), bar(6, 10, 'Read', { running: true })])).toHaveLength(2);
  });

  it('join unlike calls only within a pixel, and say so', () => {
    const [run] = runsOf([bar(0, 0.1, 'Read'), bar(2, 2.1, 'Grep')]);
    expect(run).toMatchObject({ count: 2, uniform: false });
  });

  it('look sure only when all of them are', () => {
    const seen: (string | undefined)[] = [];
    const look = (...bars: Groupable[]) =>
      eachRun(
        bars,
        0,
        1e9,
        (t) => t,
        RUN_OPTIONS,
        (run) => seen.push(run.certainty),
      );
    look(bar(0, 5, 'a', { certainty: 'inferred' }), bar(6, 9, 'a', { certainty: 'inferred' }));
    look(bar(0, 5, 'a', { certainty: 'inferred' }), bar(6, 9, 'a', { certainty: 'measured' }));
    look(bar(0, 5, 'a', { certainty: 'guessed', count: 7 }));
    look(bar(0, 5, 'a', { certainty: 'reported', count: 7 }), bar(6, 9, 'a', { certainty: 'measured' }));
    expect(seen).toEqual(['inferred', 'mixed', 'mixed', 'reported']);
    seen.length = 0;
    look(bar(0, 5, 'a', { certainty: 'inferred' }), bar(6, 9, 'a', { certainty: 'guessed' }));
    look(bar(0, 5, 'a', { certainty: 'measured', count: 7 }));
    look(
      bar(0, 5, 'a', { certainty: 'measured' }),
      bar(6, 9, 'a', { certainty: 'inferred', count: 3 }),
      bar(10, 12, 'a', { certainty: 'measured' }),
    );
    expect(seen).toEqual(['mixed', 'measured', 'mixed']);
  });

  it('add up how long their calls ran, not how long they look', () => {
    const seen: number[] = [];
    eachRun(
      [bar(0, 5, 'a'), bar(7, 9, 'a'), bar(10, 20, 'a', { count: 4, busyMs: 3 })],
      0,
      1e9,
      (t) => t,
      RUN_OPTIONS,
      (run) => seen.push(run.busyMs),
    );
    expect(seen).toEqual([10]);
  });

  it('lose no row at any zoom', () => {
    const next = numbers(11);
    const bars: Groupable[] = [];
    for (let t = 0; bars.length < 500; t += next() * 30)
      bars.push(bar(t, (t += next() * 10), next() > 0.5 ? 'Read' : 'Grep'));
    for (const scale of [0.001, 0.1, 1, 5]) {
      expect(runsOf(bars, scale).reduce((sum, run) => sum + run.count, 0)).toBe(500);
    }
  });

  it('stop at the right edge', () => {
    const seen: number[] = [];
    eachRun(
      [bar(0, 1, 'a'), bar(50, 60, 'a'), bar(200, 210, 'a')],
      0,
      100,
      (t) => t,
      RUN_OPTIONS,
      (run) => seen.push(run.x0),
    );
    expect(seen).toEqual([0, 50]);
  });
});

describe('the table of a selection', () => {
  it('counts only the part of a call that lies in it', () => {
    expect(overlapMs(0, 48_000, 100, 250)).toBe(150);
    expect(overlapMs(200, 300, 100, 250)).toBe(50);
    expect(overlapMs(300, 400, 100, 250)).toBe(0);
    const [line] = byTool([
      { toolName: 'Bash', state: 'succeeded', durationMs: 48_000, insideMs: 150 },
      { toolName: 'Bash', state: 'failed', durationMs: 10, insideMs: 10 },
    ]);
    expect(line).toMatchObject({ count: 2, failures: 1, maxMs: 48_000, totalMs: 160 });
  });

  it('uses the nearest rank', () => {
    const sorted = Array.from({ length: 100 }, (_, i) => i + 1);
    expect([percentile(sorted, 0.5), percentile(sorted, 0.95), percentile([7], 0.95), percentile([], 0.5)]).toEqual([
      50,
      95,
      7,
      undefined,
    ]);
  });

  it('comes out the same however many parts the calls came in', () => {
    const calls = Array.from({ length: 3000 }, (_, i) => ({
      toolName: ['Read', 'Bash', 'Edit'][i % 3]!,
      state: i % 7 === 0 ? 'failed' : 'completed',
      ...(i % 5 === 0 ? {} : { durationMs: (i * 37) % 1000 }),
    }));
    const tally = new ToolTally();
    for (let i = 0; i < calls.length; i += 500) {
      tally.add(calls.slice(i, i + 500));
      tally.lines();
    }
    expect([tally.count, tally.lines()]).toEqual([3000, byTool(calls)]);
  });

  it('counts every call, and times only those whose duration is known', () => {
    const lines = byTool([
      { toolName: 'Bash', durationMs: 100, state: 'succeeded' },
      { toolName: 'Bash', durationMs: 300, state: 'failed' },
      { toolName: 'Bash', state: 'running' },
      { toolName: 'Read', durationMs: 5, state: 'denied' },
    ]);
    expect(lines).toEqual([
      { tool: 'Bash', count: 3, failures: 1, timed: 2, p50Ms: 100, p95Ms: 300, maxMs: 300, totalMs: 400 },
      { tool: 'Read', count: 1, failures: 1, timed: 1, p50Ms: 5, p95Ms: 5, maxMs: 5, totalMs: 5 },
    ]);
  });
});

describe('density', () => {
  it('keeps the number of rows, spread over their columns', () => {
    const { counts, failures, peak } = density(
      [
        { start: 0, end: 4, count: 8, failures: 4 },
        { start: 3, end: 3, count: 1, failures: 0 },
      ],
      10,
      (t) => t,
    );
    expect([...counts]).toEqual([2, 2, 2, 3, 0, 0, 0, 0, 0, 0]);
    expect(failures.reduce((a, b) => a + b)).toBe(4);
    expect(peak).toBe(3);
  });

  it('ignores what is outside', () => {
    expect([
      ...density(
        [
          { start: -5, end: -4, count: 1, failures: 0 },
          { start: 90, end: 99, count: 1, failures: 0 },
        ],
        3,
        (t) => t,
      ).counts,
    ]).toEqual([0, 0, 0]);
  });
});

describe('the list window', () => {
  it('holds what is visible and a few more', () => {
    expect(listWindow(100_000, 30, 30_000, 600, 5)).toEqual({ first: 995, end: 1025, offset: 29_850 });
    expect(listWindow(3, 30, 0, 600)).toEqual({ first: 0, end: 3, offset: 0 });
    expect(listWindow(0, 30, 0, 600)).toEqual({ first: 0, end: 0, offset: 0 });
    expect(listWindow(10, 30, 90_000, 600).end).toBe(10);
  });

  it('moves as little as possible to show a row', () => {
    expect([reveal(0, 30, 100, 300), reveal(5, 30, 100, 300), reveal(20, 30, 100, 300)]).toEqual([0, 100, 330]);
  });
});
