// @vitest-environment happy-dom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api } from '../api/client';
import type { Hit } from '../api/types';
import { router } from '../app/router.svelte';
import { team } from '../app/team.svelte';
import Search from './Search.svelte';

const hit = (id: string): Hit =>
  ({
    snippet: id,
    taskTitle: 'Task',
    row: { id, taskId: 't', kind: 'tool.used', title: id, occurredAt: '2026-01-01T00:00:00Z', metadata: {} },
  }) as unknown as Hit;

let page: Record<string, unknown>;

beforeEach(async () => {
  vi.spyOn(team, 'load').mockResolvedValue();
  vi.spyOn(api, 'search').mockResolvedValue({ items: [hit('first'), hit('second')] });
  router.go('/search?q=cargo', 'replace');
  page = mount(Search, { target: document.body });
  flushSync();
  await vi.waitFor(() => expect(document.querySelectorAll('[role=row][aria-rowindex]')).toHaveLength(2));
});
afterEach(async () => {
  await unmount(page);
  vi.restoreAllMocks();
});

const field = () => document.querySelector<HTMLInputElement>('input[type=search]')!;
const press = (key: string) => {
  document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  flushSync();
};

describe('the search field', () => {
  it.each(['ArrowDown', 'Enter'])('is left for the first result by %s', (key) => {
    field().focus();
    press(key);
    expect(document.activeElement?.getAttribute('role')).toBe('grid');
    expect(document.querySelector('[aria-selected=true]')?.textContent).toContain('first');
  });

  it('is left by Escape once it is empty', () => {
    field().focus();
    press('Escape');
    expect(document.activeElement, 'the browser clears it first').toBe(field());
    field().value = '';
    field().dispatchEvent(new Event('input', { bubbles: true }));
    flushSync();
    press('Escape');
    expect(document.activeElement).not.toBe(field());
  });
});
