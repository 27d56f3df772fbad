// @vitest-environment happy-dom
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api } from '../api/client';
import type { Task } from '../api/types';
import { keys } from '../app/keys.svelte';
import { router } from '../app/router.svelte';
import { click, press, removeRendered, render, type } from '../ui/renderForTest';
import Palette from './Palette.svelte';

const task = (id: string) => ({ id, title: `Mend ${id}`, status: 'running', project: '/home/ann/app' }) as Task;
const run = { zoom: vi.fn(), live: vi.fn() };
let drop: () => void;

beforeEach(() => {
  vi.spyOn(api, 'tasks').mockResolvedValue({ items: [task('one'), task('two')] });
  drop = keys.add([
    { keys: 'g l', label: 'Live', group: 'Pages', run: run.live },
    { keys: 'w', label: 'Zoom in', group: 'Timeline', run: run.zoom },
    { keys: '+', label: 'Zoom in', group: 'Timeline', run: run.zoom },
  ]);
});
afterEach(async () => {
  drop();
  await removeRendered();
  vi.restoreAllMocks();
  for (const action of Object.values(run)) action.mockReset();
});

async function show() {
  const onclose = vi.fn();
  const box = render(Palette, { onclose });
  await vi.waitFor(() => {
    flushSync();
    expect(lines()).toContain('Mend one');
  });
  return { field: document.querySelector<HTMLInputElement>('[role=combobox]')!, onclose, box };
}
const options = () => [...document.querySelectorAll('[role=option]')];
const lines = () =>
  options()
    .map((one) => one.textContent)
    .join('\n');
const chosen = () => document.querySelector('[role=option][aria-selected=true]')?.textContent;

describe('the command palette', () => {
  it('offers tasks and each action of the page once, the newest group first', async () => {
    await show();
    const found = options().map((one) => one.textContent.replaceAll(/\s+/g, ' '));
    expect(found.filter((line) => line.includes('Zoom in'))).toHaveLength(1);
    const at = (word: string) => found.findIndex((line) => line.includes(word));
    expect([at('Mend one') < at('Zoom in'), at('Zoom in') < at('Live')]).toEqual([true, true]);
  });

  it('goes round with the arrows and runs what it chose after it has closed', async () => {
    const { field, onclose } = await show();
    type(field, 'zoom');
    const order: string[] = [];
    onclose.mockImplementation(() => order.push('closed'));
    run.zoom.mockImplementation(() => order.push('zoomed'));
    expect(chosen()).toContain('Zoom in');
    press(field, 'ArrowUp');
    expect(chosen()).toContain('Search all events');
    press(field, 'ArrowDown');
    press(field, 'Enter');
    expect(order).toEqual(['closed', 'zoomed']);
  });

  it('begins at the first line again after each letter', async () => {
    const { field } = await show();
    press(field, 'ArrowDown');
    expect(document.querySelector('[aria-selected=true]')?.id).toBe('choice-1');
    type(field, 'zoo');
    expect(document.querySelector('[aria-selected=true]')?.id).toBe('choice-0');
  });

  it('matches words in any order', async () => {
    const { field } = await show();
    type(field, 'in zoom');
    expect(lines()).toContain('Zoom in');
  });

  it('opens a task that is clicked', async () => {
    const { onclose } = await show();
    click(options().find((one) => one.textContent.includes('Mend two')));
    expect([router.path, onclose.mock.calls.length]).toEqual(['/tasks/two', 1]);
  });

  it('searches all events for what it does not know', async () => {
    const { field } = await show();
    vi.mocked(api.tasks).mockResolvedValue({ items: [] });
    type(field, 'no such & thing');
    await vi.waitFor(() => {
      flushSync();
      expect(options()).toHaveLength(1);
    });
    press(field, 'Enter');
    expect([router.path, router.get('q')]).toEqual(['/search', 'no such & thing']);
  });
});
