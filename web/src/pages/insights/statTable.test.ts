// @vitest-environment happy-dom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, describe, expect, it } from 'vitest';

import { agents } from '../../app/agents.svelte';
import StatTable from './StatTable.svelte';
import type { StatTableSpec } from './tables';

interface Line {
  key: string;
  calls: number;
  failed: number;
}

let mounted: Record<string, unknown>[] = [];

function render(more: Partial<StatTableSpec<Line>> & { rows: readonly Line[] }): HTMLElement {
  const target = document.body.appendChild(document.createElement('div'));
  const props: StatTableSpec<Line> = {
    title: 'Tools',
    name: 'Tool',
    key: (row) => row.key,
    label: (row) => row.key,
    none: 'No calls',
    stats: [
      { name: 'Calls', value: (row) => row.calls, show: (row) => String(row.calls) },
      { name: 'Failed', value: (row) => row.failed, show: (row) => String(row.failed) },
    ],
    ...more,
  };
  mounted.push(mount(StatTable<Line>, { target, props }));
  flushSync();
  return target;
}

afterEach(async () => {
  await Promise.all(mounted.map((one) => unmount(one)));
  mounted = [];
  agents.rows = [];
  document.body.replaceChildren();
});

const lines = (count: number): Line[] =>
  Array.from({ length: count }, (_, n) => ({ key: `tool ${n}`, calls: n, failed: count - n }));
const names = (box: HTMLElement) =>
  [...box.querySelectorAll('tbody th')].map((cell) => cell.textContent.replace(/\s+/g, ' ').trim());

describe('a table of numbers', () => {
  it('is sorted by its first column until another is chosen', () => {
    const box = render({ rows: lines(3) });
    expect(names(box)).toEqual(['tool 2', 'tool 1', 'tool 0']);
    [...box.querySelectorAll('button')].find((button) => button.textContent.startsWith('Failed'))!.click();
    flushSync();
    expect(names(box)).toEqual(['tool 0', 'tool 1', 'tool 2']);
    expect(box.querySelector('[aria-sort]')?.textContent).toContain('Failed');
  });

  it('shows eight rows, and all of them on request', () => {
    const box = render({ rows: lines(10) });
    expect(names(box)).toHaveLength(8);
    box.querySelector<HTMLButtonElement>('button.more')!.click();
    flushSync();
    expect([names(box).length, box.querySelector('button.more')?.textContent]).toEqual([10, 'Show fewer']);
  });

  it('compares the chosen column with the same row of the previous range', () => {
    const box = render({ rows: lines(2), past: [{ key: 'tool 1', calls: 2, failed: 0 }] });
    const changes = [...box.querySelectorAll('tbody tr')].map((row) => row.lastElementChild!.textContent);
    expect(changes).toEqual(['−50 %', 'new']);
  });

  it('marks rows that are about an agent', () => {
    const box = render({ rows: [{ key: 'grey_wolf', calls: 1, failed: 0 }], agent: (row) => row.key });
    expect(box.querySelector('tbody th i[aria-hidden]')?.textContent).toBe('Gr');
  });

  it('without rows says so', () => {
    const box = render({ rows: [] });
    expect([box.querySelector('table'), box.textContent.includes('No calls')]).toEqual([null, true]);
  });
});
