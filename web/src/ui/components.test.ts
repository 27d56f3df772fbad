// @vitest-environment happy-dom
import { createRawSnippet, flushSync, mount, unmount, type Component } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { Problem } from '../api/client';
import { live } from '../app/live.svelte';
import Grid from './Grid.svelte';
import LoadError from './LoadError.svelte';
import SafeText from './SafeText.svelte';
import Status from './Status.svelte';

let mounted: Record<string, unknown>[] = [];

function render<P extends Record<string, unknown>>(component: Component<P>, props: P): HTMLElement {
  const target = document.body.appendChild(document.createElement('div'));
  mounted.push(mount(component, { target, props }));
  flushSync();
  return target;
}

afterEach(async () => {
  await Promise.all(mounted.map((one) => unmount(one)));
  mounted = [];
  document.body.replaceChildren();
  live.state = 'connecting';
});

const press = (target: Element, key: string) => {
  target.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
  flushSync();
};

describe('a failed request', () => {
  const offline = new Problem(0, 'the server is not reachable', 'Start it.');

  it('shows its cause and can be retried', () => {
    const retry = vi.fn();
    const box = render(LoadError, { problem: new Problem(503, 'the store is busy', 'wait'), retry });
    expect(box.querySelector('[role=alert]')?.textContent).toContain('the store is busy');
    box.querySelector('button')!.click();
    expect(retry).toHaveBeenCalledOnce();
  });

  it('shows only the age of the data while the connection is lost', () => {
    live.state = 'lost';
    const old = render(LoadError, { problem: offline, staleAt: Date.now() - 60_000 });
    expect([old.querySelector('[role=alert]'), /As of/.test(old.textContent)]).toEqual([null, true]);
    expect(render(LoadError, { problem: offline }).textContent).toContain('Unavailable until the server is back');
    expect(render(LoadError, { problem: offline, known: true }).textContent.trim()).toBe('');
  });
});

describe('a state', () => {
  it('has a word beside its colour', () => {
    const word = (props: { status: string; reason?: string; stale?: boolean }) =>
      render(Status, props).textContent.trim();
    expect([
      word({ status: 'completed' }),
      word({ status: 'running', stale: true }),
      word({ status: 'waiting', reason: 'plan_approval' }),
      word({ status: 'asked' }),
    ]).toEqual(['completed', 'inactive', 'plan approval', 'pending']);
  });
});

describe('untrusted text', () => {
  it('stays text', () => {
    const box = render(SafeText, { text: '<img src=x onerror=alert(1)>\u202e' });
    expect([box.querySelector('img'), box.textContent]).toEqual([null, '<img src=x onerror=alert(1)>⟨RLO⟩']);
  });
});

describe('a grid', () => {
  const rows = ['a', 'b', 'c'];
  const props = {
    label: 'Letters',
    columns: [{ key: 'letter', label: 'Letter', width: '1fr' }],
    rows,
    id: (row: string) => row,
    cells: createRawSnippet((row: () => string) => ({ render: () => `<div role="gridcell">${row()}</div>` })),
  };

  it('moves by arrow keys and opens the row of its cursor', () => {
    const [onopen, onmove] = [vi.fn(), vi.fn()];
    const grid = render(Grid<string>, { ...props, onopen, onmove }).querySelector('[role=grid]')!;
    press(grid, 'ArrowDown');
    press(grid, 'ArrowDown');
    press(grid, 'Enter');
    expect([onmove.mock.calls.map(([row]) => row), onopen.mock.calls[0]?.[0]]).toEqual([['a', 'b'], 'b']);
    press(grid, 'End');
    press(grid, 'ArrowDown');
    expect(grid.querySelector('[aria-selected=true]')?.textContent).toBe('c');
  });

  it('opens a clicked row, but not for a click on a button inside it', () => {
    const onopen = vi.fn();
    const cells = createRawSnippet((row: () => string) => ({
      render: () => `<div role="gridcell"><button>copy ${row()}</button></div>`,
    }));
    const grid = render(Grid<string>, { ...props, cells, onopen });
    grid.querySelector('button')!.click();
    expect(onopen).not.toHaveBeenCalled();
    grid.querySelectorAll<HTMLElement>('[role=row][aria-rowindex]')[1]!.click();
    expect(onopen.mock.calls[0]?.[0]).toBe('b');
  });

  it('without rows is no grid, only its reason', () => {
    const empty = createRawSnippet(() => ({ render: () => '<p>No letters</p>' }));
    const box = render(Grid<string>, { ...props, rows: [], empty });
    expect([box.querySelector('[role=grid]'), box.textContent.includes('No letters')]).toEqual([null, true]);
  });
});
