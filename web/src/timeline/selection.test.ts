import { describe, expect, it } from 'vitest';

import type { Row, TreeNode } from '../api/types';
import { selectCalls, describeCoverage, earliestStart } from './selection';
import type { Bar } from './bars';
import { rowsBetween, type LaneRow } from './lanes';

const MINUTE = 60_000;
const row = (start: number, end: number | undefined, more: Partial<Row> = {}) =>
  ({
    taskId: 'a',
    lane: 'implementation',
    toolName: 'Bash',
    state: end === undefined ? 'running' : 'succeeded',
    occurredAt: new Date(start).toISOString(),
    endedAt: end === undefined ? undefined : new Date(end).toISOString(),
    metadata: {},
    ...more,
  }) as Row;
const bar = (start: number, end: number, more: Partial<Bar> = {}) =>
  ({ start, end, running: false, taskId: 'a', lane: 'implementation', ...more }) as Bar;

describe('the calls of a selected area', () => {
  const area = { from: 100 * MINUTE, to: 101 * MINUTE };

  it('are those that lie in it in part, each with the time within', () => {
    const rows = [
      row(0, 200 * MINUTE),
      row(100.5 * MINUTE, 100.75 * MINUTE),
      row(0, 100 * MINUTE),
      row(101 * MINUTE, 102 * MINUTE),
      row(99 * MINUTE, undefined),
    ];
    expect(selectCalls(rows, area, 300 * MINUTE).map(({ insideMs }) => insideMs)).toEqual([
      MINUTE,
      0.25 * MINUTE,
      MINUTE,
    ]);
  });

  it('are those of its rows alone', () => {
    const rows = [
      row(100 * MINUTE, 101 * MINUTE),
      row(100 * MINUTE, 101 * MINUTE, { lane: 'exploration' }),
      row(100 * MINUTE, 101 * MINUTE, { taskId: 'b', lane: 'exploration' }),
      row(100 * MINUTE, 101 * MINUTE, { toolName: undefined }),
    ];
    expect(selectCalls(rows, { ...area, rows: new Set(['a/exploration', 'b']) }, 0)).toHaveLength(2);
  });

  it('may have begun any time before it', () => {
    const long = [bar(5 * MINUTE, 200 * MINUTE), bar(0, 99 * MINUTE), bar(102 * MINUTE, 103 * MINUTE)];
    expect(earliestStart(long, area)).toBe(5 * MINUTE);
    expect(
      earliestStart([bar(3 * MINUTE, 4 * MINUTE, { running: true })], area),
      'what runs reaches into every area',
    ).toBe(3 * MINUTE);
    expect(earliestStart(long, { ...area, rows: new Set(['b']) }), 'nothing of these rows').toBe(area.from);
    expect(earliestStart([], area)).toBe(area.from);
  });

  it('are said to be of lanes and of agents', () => {
    expect(describeCoverage(undefined)).toBe('all lanes');
    expect(describeCoverage(new Set(['a/exploration', 'a/implementation']))).toBe('2 lanes');
    expect(describeCoverage(new Set(['a']))).toBe('1 agent');
    expect(describeCoverage(new Set(['a', 'b', 'c/user']))).toBe('2 agents, 1 lane');
  });
});

describe('the rows between two heights', () => {
  const lane = (key: string, top: number, more: Partial<LaneRow> = {}) =>
    ({ key, top, height: 20, kind: 'lane', ...more }) as LaneRow;
  const rows = [
    lane('a', 0, { kind: 'agent', open: true }),
    lane('a/user', 20),
    lane('a/exploration', 40),
    lane('b', 60, { kind: 'agent', open: false }),
  ];
  const tree = [
    { task: { id: 'a' } },
    { task: { id: 'b', parentTaskId: 'a' } },
    { task: { id: 'c', parentTaskId: 'b' } },
  ] as TreeNode[];

  it('are the lanes, in whichever direction one draws', () => {
    expect([...rowsBetween(rows, tree, 25, 45)]).toEqual(['a/user', 'a/exploration']);
    expect([...rowsBetween(rows, tree, 45, 25)]).toEqual(['a/user', 'a/exploration']);
    expect([...rowsBetween(rows, tree, 10, 30)], 'the head of an open agent is no lane').toEqual(['a/user']);
  });

  it('take what is inside a closed agent with it', () => {
    expect([...rowsBetween(rows, tree, 62, 70)]).toEqual(['b', 'c']);
    expect([...rowsBetween(rows, tree, 2, 10)], 'an open agent by its head alone').toEqual(['a', 'b', 'c']);
  });
});
