// @vitest-environment happy-dom
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api } from '../api/client';
import type { Task, TreeNode } from '../api/types';
import { router } from '../app/router.svelte';
import { spentMs, TaskBoard } from './taskBoard.svelte';

const task = (id: string, more: Partial<Task> = {}) =>
  ({ id, childCount: 0, project: '/home/ann/app', ...more }) as Task;
const node = (id: string, depth: number) => ({ depth, task: task(id) }) as TreeNode;

let board: TaskBoard;
beforeEach(() => {
  router.go('/tasks', 'replace');
  board = new TaskBoard();
  vi.spyOn(api, 'tasks').mockResolvedValue({ items: [task('one', { childCount: 1 }), task('two')] });
});
afterEach(() => {
  board.close();
  vi.restoreAllMocks();
});

describe('the board of tasks', () => {
  it('asks what the address says', async () => {
    router.go('/tasks?status=failed&subagents=1', 'replace');
    await board.load();
    expect(vi.mocked(api.tasks).mock.calls[0]![0]).toMatchObject({ status: ['failed'], kind: undefined, limit: 200 });
  });

  it('has another question for another filter, but not for another opened task', () => {
    const before = board.question;
    board.flipOpen('one');
    expect([router.get('open'), board.question]).toEqual(['one', before]);
    board.flipFailed();
    expect(board.question).not.toBe(before);
  });

  it('loads the subagents of an opened task once, and shows them below it', async () => {
    const tree = vi.spyOn(api, 'tree').mockResolvedValue({ items: [node('one', 0), node('child', 1)] });
    await board.load();
    const loadMissing = () => board.loadMissingTrees((key) => board.knowsTree(key));
    loadMissing();
    expect(tree).not.toHaveBeenCalled();
    board.flipOpen('one');
    loadMissing();
    await vi.waitFor(() => expect(board.lines.map(({ task: { id } }) => id)).toEqual(['one', 'child', 'two']));
    loadMissing();
    expect(tree).toHaveBeenCalledTimes(1);
  });

  it('keeps known subagents when the server does not answer', async () => {
    const tree = vi.spyOn(api, 'tree').mockResolvedValue({ items: [node('one', 0), node('child', 1)] });
    await board.load();
    board.flipOpen('one');
    board.loadMissingTrees(() => false);
    await vi.waitFor(() => expect(board.lines).toHaveLength(3));
    tree.mockRejectedValue(new Error('gone'));
    board.loadMissingTrees(() => false);
    await vi.waitFor(() => expect(tree).toHaveBeenCalledTimes(2));
    await Promise.resolve();
    expect(board.lines).toHaveLength(3);
  });

  it('switches a status on and off in the address', () => {
    board.flipStatus('failed');
    board.flipStatus('running');
    expect(board.filter.status).toEqual(['running', 'failed']);
    board.flipStatus('failed');
    board.flipStatus('running');
    expect(router.get('status')).toBe('');
  });

  it('works without the choices of its filters', async () => {
    vi.spyOn(api, 'usage').mockRejectedValue(new Error('gone'));
    await board.loadChoices();
    expect([board.choices.projects, board.projectName('/home/ann/app')]).toEqual([[], 'app']);
  });
});

describe('the time that a task took', () => {
  const times = { startedAt: '2026-01-01T00:00:00Z', lastEventAt: '2026-01-01T00:00:05Z' };

  it('ends with the task, with now while it runs, and else with its last event', () => {
    const now = Date.parse('2026-01-01T00:01:00Z');
    expect([
      spentMs(task('a', { ...times, status: 'completed', endedAt: '2026-01-01T00:00:09Z' }), now),
      spentMs(task('a', { ...times, status: 'running' }), now),
      spentMs(task('a', { ...times, status: 'waiting' }), now),
    ]).toEqual([9000, 60_000, 5000]);
  });
});
