// @vitest-environment happy-dom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api } from '../api/client';
import type { Hit } from '../api/types';
import { keys } from '../app/keys.svelte';
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

/** Opens the page anew. */
async function open(url: string, by?: 'key'): Promise<void> {
  await unmount(page);
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
  router.go(url, 'replace', by);
  page = mount(Search, { target: document.body });
  flushSync();
}

const field = () => document.querySelector<HTMLInputElement>('input[type=search]')!;
const press = (key: string) => {
  document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  flushSync();
};

describe('the search field', () => {
  it('has the focus on a page that was clicked, so that one can type', async () => {
    await open('/search');
    expect(document.activeElement).toBe(field());
  });

  it('leaves the keys alone on a page that a key has opened, until it is asked for', async () => {
    await open('/search', 'key');
    const go = vi.fn();
    const drop = keys.add([{ keys: 'g l', label: 'Go to Live', group: 'Everywhere', run: go }]);
    const handle = (event: KeyboardEvent) => void keys.handle(event);
    addEventListener('keydown', handle);
    press('g');
    press('l');
    expect([go.mock.calls.length, field().value]).toEqual([1, '']);
    press('/');
    field().focus();
    press('g');
    press('l');
    expect(go, 'what is typed goes nowhere').toHaveBeenCalledTimes(1);
    removeEventListener('keydown', handle);
    drop();
  });

  it('leaves them to the results of a link', async () => {
    await open('/search?q=cargo');
    expect(document.activeElement).not.toBe(field());
  });

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
