import { describe, expect, it } from 'vitest';

import type { Limit, UsageBucket, Row, Task } from '../../api/types';
import { groupTasks, activityOf, isSilent, limitName, sharesOf, sortLimits, updatesLimits } from './cards';
import { fillSlots } from './slots';
import { spendOf } from './spend';

const task = (id: string, more: Partial<Task> = {}) =>
  ({ id, status: 'running', startedAt: '2026-01-01T00:00:00.000Z', ...more }) as Task;
const row = (more: Partial<Row>) =>
  ({ title: 'x', seq: 1, lane: 'exploration', occurredAt: '2026-01-01T00:00:00.000Z', metadata: {}, ...more }) as Row;

describe('cards', () => {
  it('put subagents below their parents, whatever order they come in', () => {
    const found = groupTasks([task('c', { parentTaskId: 'b' }), task('a'), task('b', { parentTaskId: 'a' })]);
    expect(found.map((card) => [card.task.id, card.below.map(({ task: { id }, depth }) => [id, depth])])).toEqual([
      [
        'a',
        [
          ['b', 1],
          ['c', 2],
        ],
      ],
    ]);
  });

  it('keep the same session of two people apart', () => {
    const of = (owner: string) => [task('a', { owner }), task('b', { owner, parentTaskId: 'a' })];
    const found = groupTasks([...of('ann'), ...of('bob')]).map((card) => [
      card.task.owner,
      card.below.map(({ task: { owner, id } }) => [owner, id]),
    ]);
    expect(found).toEqual([
      ['ann', [['ann', 'b']]],
      ['bob', [['bob', 'b']]],
    ]);
  });

  it('stay in their slots while they run; a new one takes the first free slot', () => {
    const all = fillSlots([], ['a', 'b', 'c']);
    expect(all).toEqual(['a', 'b', 'c']);
    // A change of their order moves nothing.
    expect(fillSlots(all, ['c', 'b', 'a'])).toEqual(all);
    expect(fillSlots(all, ['c', 'a'])).toEqual(['a', undefined, 'c']);
    expect(fillSlots(['a', undefined, 'c'], ['new', 'a', 'c', 'newer'])).toEqual(['a', 'new', 'c', 'newer']);
    expect(fillSlots(all, ['a'])).toEqual(['a']);
    expect(fillSlots(all, [])).toEqual([]);
    expect(fillSlots(['a', 'b'], ['b', 'b', 'd'])).toEqual(['d', 'b']);
  });

  it('keep a subagent whose parent has ended', () => {
    expect(groupTasks([task('b', { parentTaskId: 'gone' })]).map((card) => card.task.id)).toEqual(['b']);
  });

  it('begin with those that wait for a person and end with the idle', () => {
    expect(
      groupTasks([
        task('idle', { status: 'waiting', waitingReason: 'idle' }),
        task('runs'),
        task('unsaid', { status: 'waiting' }),
        task('asks', { status: 'waiting', waitingReason: 'permission' }),
      ]).map((card) => card.task.id),
    ).toEqual(['asks', 'runs', 'idle', 'unsaid']);
  });

  it('are inactive only when no subagent has recent events either', () => {
    const stale = { stale: true };
    expect(groupTasks([task('a', stale)]).map(isSilent)).toEqual([true]);
    expect(groupTasks([task('a', stale), task('b', { parentTaskId: 'a' })]).map(isSilent)).toEqual([false]);
    expect(groupTasks([task('a', stale), task('b', { parentTaskId: 'a', stale: true })]).map(isSilent)).toEqual([true]);
    expect(
      groupTasks([task('a', { status: 'waiting', waitingReason: 'permission', stale: true })]).map(isSilent),
    ).toEqual([false]);
  });

  it('end for parents in a circle', () => {
    expect(groupTasks([task('a', { parentTaskId: 'b' }), task('b', { parentTaskId: 'a' })])).toEqual([]);
  });
});

describe('what a task does now', () => {
  it('is its newest running call', () => {
    const first = activityOf(undefined, row({ title: 'Read', state: 'running', seq: 5 }));
    expect(first).toMatchObject({ title: 'Read', running: true });
    expect(activityOf(first, row({ title: 'Grep', state: 'succeeded', seq: 6 }))).toBe(first);
    expect(
      activityOf(first, row({ title: 'Read', state: 'succeeded', seq: 7, endedAt: '2026-01-01T00:00:09.000Z' })),
    ).toMatchObject({ running: false, since: Date.UTC(2026, 0, 1, 0, 0, 9) });
  });

  it('keeps the last steps before it, newest first, each once', () => {
    let now = activityOf(undefined, row({ title: 'one', state: 'succeeded', seq: 1 }));
    for (const [at, title] of ['one', 'two', 'three', 'three', 'four', 'five'].entries())
      now = activityOf(now, row({ title, state: 'succeeded', seq: at + 2 }));
    expect([now?.title, now?.before]).toEqual(['five', ['four', 'three', 'two']]);
  });

  it('is not changed by older rows or by telemetry', () => {
    const first = activityOf(undefined, row({ title: 'Read', state: 'running', seq: 5 }));
    expect(activityOf(first, row({ title: 'Old', state: 'running', seq: 3 }))).toBe(first);
    expect(activityOf(first, row({ title: 'Tokens', lane: 'telemetry', seq: 9 }))).toBe(first);
  });
});

describe('limits', () => {
  it('are asked for again after a snapshot that reports them, and only then', () => {
    expect(updatesLimits(row({ kind: 'context.snapshot', metadata: { rateLimitFiveHourUsedPct: 41 } }))).toBe(true);
    expect(updatesLimits(row({ kind: 'context.snapshot', metadata: { contextWindowUsedPct: 41 } }))).toBe(false);
    expect(updatesLimits(row({ kind: 'tool.used', metadata: { rateLimitFiveHourUsedPct: 41 } }))).toBe(false);
  });

  it('have names that people use, also those of tomorrow', () => {
    expect([limitName('five_hour'), limitName('seven_day'), limitName('thirty_day')]).toEqual([
      '5 hours',
      '7 days',
      'thirty day',
    ]);
  });
});

describe('limits', () => {
  const limit = (window: string, usedPct: number, owner?: string, fullAt?: string) =>
    ({ window, usedPct, owner, ...(fullAt ? { forecast: { pctPerHour: 1, fullAt } } : {}) }) as Limit;

  it('of one account stand as they come', () => {
    const own = [limit('five_hour', 10), limit('seven_day', 90)];
    expect(sortLimits(own)).toBe(own);
    const narrowed = [limit('five_hour', 10, 'ann'), limit('seven_day', 90, 'ann')];
    expect(sortLimits(narrowed)).toBe(narrowed);
  });

  it('of a team begin with those that will be full first, then with those that are used most', () => {
    const at = (hour: number) => `2026-01-01T0${hour}:00:00.000Z`;
    const found = sortLimits([
      limit('a', 20, 'ann'),
      limit('b', 60, 'bob'),
      limit('c', 30, 'ann', at(5)),
      limit('d', 10, 'bob', at(2)),
      limit('e', 80, 'bob', at(5)),
    ]);
    expect(found.map(({ window }) => window)).toEqual(['d', 'e', 'c', 'b', 'a']);
  });
});

describe('money', () => {
  const part = (key: string, costUsd: number, unpriced = 0, label?: string) =>
    ({ key, label, usage: { costUsd, provenance: { responses: 2, unpriced } } }) as UsageBucket;

  it('of today is that of the day with its name, and unpriced responses stay counted', () => {
    const days = [part('2026-01-01', 1, 1), part('2026-01-02', 2)];
    expect(spendOf(days, '2026-01-02')).toEqual({
      today: { costUsd: 2, provenance: { responses: 2, unpriced: 0 } },
      all: { costUsd: 3, provenance: { responses: 4, unpriced: 1 } },
    });
    expect(spendOf(days, '2026-01-03').today.costUsd).toBe(0);
  });

  it('of a window is split over its sessions, greatest first', () => {
    expect(sharesOf([part('a', 1, 0, 'Mend'), part('b', 3), part('c', 0)])).toMatchObject([
      { id: 'b', title: 'b', part: 0.75 },
      { id: 'a', title: 'Mend', part: 0.25 },
    ]);
    expect(sharesOf([part('a', 0, 2)])).toEqual([]);
  });
});
