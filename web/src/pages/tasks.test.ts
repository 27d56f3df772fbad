// @vitest-environment happy-dom
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api, Problem } from '../api/client';
import type { Task, TreeNode } from '../api/types';
import { keys } from '../app/keys.svelte';
import { router } from '../app/router.svelte';
import { team } from '../app/team.svelte';
import { button, click, press, removeRendered, render, type } from '../ui/renderForTest';
import Tasks from './Tasks.svelte';

const usage = { costUsd: 1, provenance: { unpriced: 0, responses: 1, copies: 0 } };
const task = (id: string, more: Partial<Task> = {}) =>
  ({
    id,
    title: `Task ${id}`,
    status: 'completed',
    agent: 'claude-code',
    agentType: 'main',
    project: '/home/ann/app',
    model: 'm',
    startedAt: '2026-01-01T00:00:00Z',
    lastEventAt: '2026-01-01T00:01:00Z',
    endedAt: '2026-01-01T00:01:00Z',
    turnCount: 1,
    toolCallCount: 2,
    treeToolCallCount: 2,
    treeFailureCount: 0,
    childCount: 0,
    usage,
    treeUsage: usage,
    ...more,
  }) as unknown as Task;
const parent = task('one', { childCount: 1 });

const handle = (event: KeyboardEvent) => void keys.handle(event);
beforeEach(() => {
  vi.spyOn(team, 'load').mockResolvedValue();
  vi.spyOn(api, 'tasks').mockResolvedValue({ items: [parent, task('two')] });
  vi.spyOn(api, 'usage').mockResolvedValue({ items: [] });
  vi.spyOn(api, 'tree').mockResolvedValue({
    items: [
      { depth: 0, task: parent },
      { depth: 1, task: task('child', { agentType: 'Explore' }) },
    ] as TreeNode[],
  });
  router.go('/tasks', 'replace');
  addEventListener('keydown', handle);
});
afterEach(async () => {
  removeEventListener('keydown', handle);
  await removeRendered();
  vi.restoreAllMocks();
});

const titles = (box: HTMLElement) => [...box.querySelectorAll('.title a')].map((link) => link.textContent);
async function show(): Promise<HTMLElement> {
  const box = render(Tasks, {});
  await vi.waitFor(() => expect(api.tasks).toHaveBeenCalled());
  await vi.waitFor(() => {
    flushSync();
    expect(box.querySelector('[role=status]')?.textContent).not.toBe('– tasks');
  });
  return box;
}
const lastQuestion = () => vi.mocked(api.tasks).mock.calls.at(-1)![0]!;

describe('the page of tasks', () => {
  it('lists tasks and says how many', async () => {
    const box = await show();
    expect([titles(box), box.querySelector('.total')?.textContent]).toEqual([['Task one', 'Task two'], '2 tasks']);
  });

  it('filters by a status that is clicked, and asks the server for it', async () => {
    const box = await show();
    const failed = [...box.querySelectorAll('.group button')].find((one) => one.textContent.endsWith('failed'));
    click(failed);
    await vi.waitFor(() => expect(lastQuestion().status).toEqual(['failed']));
    expect([router.get('status'), failed?.getAttribute('aria-pressed')]).toEqual(['failed', 'true']);
  });

  it('filters by what is typed, once the typing rests', async () => {
    const box = await show();
    type(box.querySelector('input')!, ' mend ');
    expect(router.get('q')).toBe('');
    await vi.waitFor(() => expect(lastQuestion().q).toBe('mend'));
  });

  it('does not change what is being typed when the address changes', async () => {
    const box = await show();
    const field = box.querySelector('input')!;
    field.focus();
    type(field, 'men');
    router.set({ q: 'other' });
    flushSync();
    expect(field.value).toBe('men');
    field.blur();
    router.set({ q: 'another' });
    flushSync();
    expect(field.value).toBe('another');
  });

  it('shows failures only, by a key, and everything again by another', async () => {
    const box = await show();
    press(document.body, 'f');
    await vi.waitFor(() => expect(lastQuestion().failedCalls).toBe(true));
    expect(button(box, 'with failures').getAttribute('aria-pressed')).toBe('true');
    press(document.body, 'x');
    await vi.waitFor(() => expect(lastQuestion().failedCalls).toBeUndefined());
  });

  it('shows the subagents of a task below it, and keeps that in the address', async () => {
    const box = await show();
    click(box.querySelector('.twist'));
    await vi.waitFor(() => {
      flushSync();
      expect(titles(box)).toEqual(['Task one', 'Task child', 'Task two']);
    });
    expect(router.get('open')).toBe('one');
    click(box.querySelector('.twist'));
    expect(titles(box)).toEqual(['Task one', 'Task two']);
  });

  it('expands the task of the cursor by a key', async () => {
    await show();
    press(document.body, 'j');
    press(document.body, 'o');
    expect(router.get('open')).toBe('one');
  });

  it('tells an empty filter from an empty store', async () => {
    vi.mocked(api.tasks).mockResolvedValue({ items: [] });
    expect((await show()).textContent).toContain('Nothing has been recorded yet');
    await removeRendered();
    router.go('/tasks?status=failed', 'replace');
    const box = await show();
    expect(box.textContent).toContain('No task matches these filters');
    click(button(box, 'Clear filters'));
    expect(router.get('status')).toBe('');
  });

  it('says why there is no list, and tries again', async () => {
    vi.mocked(api.tasks).mockRejectedValueOnce(new Problem(503, 'the store is busy', 'wait'));
    const box = render(Tasks, {});
    await vi.waitFor(() => {
      flushSync();
      expect(box.querySelector('[role=alert]')?.textContent).toContain('the store is busy');
    });
    click(box.querySelector('[role=alert] button') ?? box.querySelector('button'));
    await vi.waitFor(() => {
      flushSync();
      expect(titles(box)).toHaveLength(2);
    });
  });
});
