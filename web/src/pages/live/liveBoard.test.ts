import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api } from '../../api/client';
import type { Attention, Row, Task } from '../../api/types';
import { LiveBoard } from './liveBoard.svelte';

const page = <T>(items: T[]) => Promise.resolve({ items });
const task = (id: string, more: Partial<Task> = {}) =>
  ({ id, title: `Task ${id}`, kind: 'primary', status: 'running', startedAt: '', lastEventAt: '', ...more }) as Task;
const failure = (id: string, more: Partial<Row> = {}) =>
  ({ id, taskId: 'a', seq: 1, state: 'failed', title: id, lane: 'exploration', metadata: {}, ...more }) as Row;
const settle = () => vi.advanceTimersByTimeAsync(0);

let running: Task[];
const tasks = vi.fn();

beforeEach(() => {
  vi.useFakeTimers();
  running = [task('a')];
  tasks.mockImplementation((query: Parameters<typeof api.tasks>[0]) =>
    page(query?.status?.includes('running') ? running : []),
  );
  vi.spyOn(api, 'tasks').mockImplementation(tasks);
  for (const name of ['attention', 'activity', 'limits', 'blocks', 'search'] as const)
    vi.spyOn(api, name).mockImplementation(() => page<never>([]));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  tasks.mockReset();
});

async function open(scope = {}): Promise<LiveBoard> {
  const board = new LiveBoard();
  board.show(scope);
  await settle();
  return board;
}

describe('the live board', () => {
  it('shows a failed call of the stream at once, once, with the title of its task', async () => {
    const board = await open();
    board.listener.rows!([failure('r1'), failure('r2', { state: 'denied' }), failure('r3', { state: 'succeeded' })]);
    board.listener.rows!([failure('r1')]);
    expect(board.failures.map(({ row, taskTitle }) => [row.id, taskTitle])).toEqual([
      ['r1', 'Task a'],
      ['r2', 'Task a'],
    ]);
    board.listener.removed!(new Set(['r1']));
    expect(board.failures.map(({ row }) => row.id)).toEqual(['r2']);
    board.close();
  });

  it('shows under a filter only failures of listed tasks of that owner', async () => {
    running = [task('a', { owner: 'ann' })];
    const board = await open({ owner: 'ann' });
    board.listener.rows!([
      failure('r1', { owner: 'ann' }),
      failure('r2', { owner: 'bob' }),
      failure('r3', { owner: 'ann', taskId: 'elsewhere' }),
    ]);
    expect(board.failures.map(({ row }) => row.id)).toEqual(['r1']);
    board.close();
  });

  it('loads finished tasks when a running one is no longer listed', async () => {
    const board = await open();
    const finishedLoads = () => tasks.mock.calls.filter(([query]) => query.status.includes('completed')).length;
    const before = finishedLoads();
    running = [];
    board.listener.rows!([failure('r1', { state: 'succeeded' })]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(finishedLoads()).toBe(before + 1);
    board.close();
  });

  it('asks for open requests only when a row may have changed them', async () => {
    const attention = vi.mocked(api.attention);
    const board = await open();
    board.listener.rows!([failure('r1')]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(attention).toHaveBeenCalledTimes(1);
    attention.mockImplementation(() => page([{ taskId: 'a', reason: 'permission' } as Attention]));
    board.listener.rows!([failure('r2', { kind: 'permission.request' })]);
    await vi.advanceTimersByTimeAsync(1000);
    expect([attention.mock.calls.length, board.requests.length]).toEqual([2, 1]);
    // While one is open, any row may be its answer.
    board.listener.rows!([failure('r3')]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(attention).toHaveBeenCalledTimes(3);
    board.close();
  });
});
