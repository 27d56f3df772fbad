import { describe, expect, it } from 'vitest';

import type { Row, Task, TreeNode } from '../api/types';
import { barOfRow, byLane, overlay, type Bar } from './bars';
import { buildBatches, buildFlows } from './flows';
import { defaultClosed, buildRows, rowAt, totalHeight } from './lanes';

const task = (id: string, more: Partial<Task> = {}) =>
  ({ id, agentType: 'main', startedAt: '2026-01-01T00:00:00.000Z', ...more }) as Task;
const node = (id: string, depth: number, more: Partial<Task> = {}): TreeNode => ({ depth, task: task(id, more) });
const bar = (taskId: string, lane: string, start: number, end: number, more: Partial<Bar> = {}): Bar => ({
  taskId,
  lane,
  start,
  end,
  running: false,
  count: 1,
  failures: 0,
  track: 0,
  label: '',
  certainty: 'measured',
  ...more,
});
const none = { closed: new Set<string>(), hidden: new Set<string>(), momentMs: 0 };

describe('rows of the timeline', () => {
  const tree = [
    node('a', 0),
    node('b', 1, { agentType: 'Explore' }),
    node('c', 2, { agentType: 'Plan' }),
    node('d', 1, { agentType: 'Explore' }),
  ];
  const lanes = byLane([
    bar('a', 'user', 0, 0),
    bar('a', 'exploration', 1, 5),
    bar('a', 'exploration', 2, 6),
    bar('b', 'exploration', 3, 4),
    bar('b', 'assistant', 4, 4),
    bar('c', 'planning', 3, 9),
    bar('d', 'todos', 1, 1),
  ]);

  it('begin with the human, then the main agent, then each subagent below its parent', () => {
    expect(buildRows(tree, lanes, none).map((row) => row.key)).toEqual([
      'a/user',
      'a',
      'a/exploration',
      'b',
      'b/assistant',
      'b/exploration',
      'c',
      'c/planning',
      'd',
      'd/todos',
    ]);
  });

  it('stack what runs at once and stand without holes', () => {
    const rows = buildRows(tree, lanes, none);
    expect(rows.find((row) => row.key === 'a/exploration')!.tracks).toHaveLength(2);
    for (const [i, row] of rows.entries()) expect(row.top).toBe(i === 0 ? 0 : rows[i - 1]!.top + rows[i - 1]!.height);
    expect(totalHeight(rows)).toBe(rows.at(-1)!.top + rows.at(-1)!.height);
  });

  it('hide everything below a closed agent and say how much that is', () => {
    const rows = buildRows(tree, lanes, { ...none, closed: new Set(['b']) });
    expect(rows.map((row) => row.key)).toEqual(['a/user', 'a', 'a/exploration', 'b', 'd', 'd/todos']);
    const closed = rows.find((row) => row.key === 'b')!;
    expect([closed.inside, closed.open, closed.tracks.flat().length]).toEqual([1, false, 2]);
  });

  it('leave out lanes that are not wanted', () => {
    expect(
      buildRows(tree, lanes, { ...none, hidden: new Set(['exploration']) }).some((row) => row.lane === 'exploration'),
    ).toBe(false);
  });

  it('do not draw the life of a subagent twice, unless it has no row of its own', () => {
    const life = byLane([
      bar('a', 'background', 0, 9, { kind: 'action.logged', label: 'Subagent Explore' }),
      bar('a', 'background', 1, 2, { kind: 'action.logged', label: 'Session ended' }),
    ]);
    expect(
      buildRows(tree, life, none)
        .find((row) => row.key === 'a/background')!
        .tracks.flat()
        .map(({ label }) => label),
    ).toEqual(['Session ended']);
    expect(
      buildRows(tree.slice(0, 1), life, none)
        .find((row) => row.key === 'a/background')!
        .tracks.flat(),
    ).toHaveLength(2);
  });

  it('keep their height when a finer picture needs less', () => {
    const rows = buildRows(tree, lanes, { ...none, tracksAtLeast: new Map([['b/exploration', 3]]) });
    expect(rows.find((row) => row.key === 'b/exploration')!.tracks).toHaveLength(3);
  });

  it('stand at the top when they are pinned, without holes and without being drawn twice', () => {
    const rows = buildRows(tree, lanes, { ...none, pinned: new Set(['c/planning', 'a/exploration', 'unknown']) });
    expect(rows.map((row) => row.key)).toEqual([
      'a/exploration',
      'c/planning',
      'a/user',
      'a',
      'b',
      'b/assistant',
      'b/exploration',
      'c',
      'd',
      'd/todos',
    ]);
    expect(rows.filter((row) => row.pinned)).toHaveLength(2);
    for (const [i, row] of rows.entries()) expect(row.top).toBe(i === 0 ? 0 : rows[i - 1]!.top + rows[i - 1]!.height);
  });

  it('are found by their height', () => {
    const rows = buildRows(tree, lanes, none);
    for (const row of rows) {
      expect(rowAt(rows, row.top)?.key).toBe(row.key);
      expect(rowAt(rows, row.top + row.height - 0.5)?.key).toBe(row.key);
    }
    expect(rowAt(rows, totalHeight(rows))).toBeUndefined();
    expect(rowAt(rows, -1)).toBeUndefined();
  });

  it('close subagents at first only when there are many', () => {
    expect([...defaultClosed(tree)]).toEqual(['b', 'c', 'd']);
    expect(defaultClosed(tree.slice(0, 3)).size).toBe(0);
  });

  it('are none without a task', () => {
    expect(buildRows([], lanes, none)).toEqual([]);
  });
});

describe('coarse and fine together', () => {
  it('let the fine picture win inside its part and lose nothing outside', () => {
    const coarse = [
      bar('a', 'x', 0, 5, { count: 9 }),
      bar('a', 'x', 8, 12, { count: 4 }),
      bar('a', 'x', 11, 19, { count: 7 }),
      bar('a', 'x', 30, 40, { count: 2 }),
    ];
    const fine = [bar('a', 'x', 11, 12, { id: 'r1' })];
    const spans = overlay(coarse, fine, 10, 20)
      .map(({ start, end, count }) => [start, end, count])
      .sort((p, q) => p[0]! - q[0]!);
    expect(spans).toEqual([
      [0, 5, 9],
      [8, 10, 4],
      [11, 12, 1],
      [30, 40, 2],
    ]);
  });

  it('does not draw a row twice that is known by its id', () => {
    const long = bar('a', 'x', 0, 100, { id: 'r1' });
    expect(overlay([long], [long], 10, 20)).toEqual([long]);
  });
});

describe('a bar', () => {
  const row = (more: Partial<Row>): Row => ({
    id: 'r',
    seq: 1,
    taskId: 'a',
    sessionId: 's',
    kind: 'tool.used',
    lane: 'exploration',
    title: 'Read\u001b x',
    occurredAt: '2026-01-01T00:00:01.000Z',
    agentType: 'main',
    isSubagent: false,
    runtimeSessionId: 'x',
    filePaths: [],
    metadata: {},
    channels: [],
    certainty: 'measured',
    ...more,
  });
  const at = Date.UTC(2026, 0, 1);

  it('runs until now while its call runs', () => {
    expect(barOfRow(row({ state: 'running' }), at + 9000)).toMatchObject({
      start: at + 1000,
      end: at + 9000,
      running: true,
    });
  });

  it('is a moment when nothing says how long it took', () => {
    expect(barOfRow(row({}), at + 9000)).toMatchObject({ start: at + 1000, end: at + 1000, running: false });
  });

  it('never ends before it began, and shows no control characters', () => {
    expect(barOfRow(row({ endedAt: '2025-01-01T00:00:00.000Z' }), at)).toMatchObject({
      start: at + 1000,
      end: at + 1000,
      label: 'Read␛ x',
    });
  });

  it('counts denials as failures', () => {
    expect(
      [row({ state: 'denied' }), row({ state: 'failed' }), row({ state: 'abandoned' })].map(
        (r) => barOfRow(r, at).failures,
      ),
    ).toEqual([1, 1, 0]);
  });
});

describe('causes', () => {
  it('lead from the call to the agent and back', () => {
    const tree = [
      node('a', 0),
      node('b', 1, {
        parentTaskId: 'a',
        parentToolUseId: 'u1',
        startedAt: new Date(2000).toISOString(),
        endedAt: new Date(5000).toISOString(),
      }),
    ];
    const found = buildFlows(tree, [bar('a', 'coordination', 1500, 5100, { toolUseId: 'u1', id: 'r1' })]);
    expect(found).toEqual([
      {
        kind: 'spawn',
        from: { taskId: 'a', lane: 'coordination', t: 1500, id: 'r1' },
        to: { taskId: 'b', lane: 'agent', t: 2000 },
      },
      {
        kind: 'result',
        from: { taskId: 'b', lane: 'agent', t: 5000 },
        to: { taskId: 'a', lane: 'coordination', t: 5100, id: 'r1' },
      },
    ]);
  });

  it('lead from a permission to the call that it held up', () => {
    const found = buildFlows(
      [node('a', 0)],
      [
        bar('a', 'coordination', 10, 20, { toolUseId: 'u', kind: 'permission.request', id: 'p' }),
        bar('a', 'exploration', 8, 40, { toolUseId: 'u', kind: 'terminal.command', id: 'c' }),
      ],
    );
    expect(found).toMatchObject([{ kind: 'permission', from: { t: 20, id: 'p' }, to: { t: 10, id: 'c' } }]);
  });

  it('put calls of one batch together, across lanes but not across agents', () => {
    const found = buildBatches([
      bar('a', 'x', 0, 5, { batch: 'b1' }),
      bar('a', 'y', 1, 9, { batch: 'b1' }),
      bar('b', 'x', 0, 1, { batch: 'b1' }),
      bar('a', 'x', 20, 21, { batch: 'b2' }),
    ]);
    expect(found).toEqual([{ id: 'b1', taskId: 'a', count: 2, start: 0, end: 9, lanes: new Set(['x', 'y']) }]);
  });
});
