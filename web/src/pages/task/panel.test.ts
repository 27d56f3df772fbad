// @vitest-environment happy-dom
import { createRawSnippet, flushSync, mount, unmount } from 'svelte';
import { afterEach, describe, expect, it } from 'vitest';

import { Resource } from '../../app/resource.svelte';
import { FOUND, type Found } from './found';
import type { ListResult } from './list.svelte';
import Panel from './Panel.svelte';

interface Call {
  id: string;
  call?: string;
}

let mounted: Record<string, unknown>[] = [];
afterEach(async () => {
  await Promise.all(mounted.map((one) => unmount(one)));
  mounted = [];
  document.body.replaceChildren();
});

async function show(found?: Partial<Found>): Promise<HTMLElement> {
  const list = new Resource<ListResult<Call>>();
  await list.load(async () => ({ items: [{ id: 'a' }, { id: 'b', call: 'x' }, { id: 'c' }], complete: true }), 'calls');
  const target = document.body.appendChild(document.createElement('div'));
  mounted.push(
    mount(Panel<Call>, {
      target,
      context: new Map(found ? [[FOUND, { active: true, ids: new Set(), isPartial: false, ...found }]] : []),
      props: {
        label: 'Calls',
        list,
        columns: [{ key: 'id', label: 'Call', width: '1fr' }],
        id: (row: Call) => row.id,
        events: (row: Call) => [row.id, row.call],
        none: 'No calls',
        cells: createRawSnippet((row: () => Call) => ({
          render: () => `<div role="gridcell">${row().id}</div>`,
        })),
      },
    }),
  );
  flushSync();
  return target;
}
const rowsOf = (panel: HTMLElement) => [...panel.querySelectorAll('[role=gridcell]')].map((cell) => cell.textContent);

describe('a panel of a task', () => {
  it('holds every row without a search', async () => {
    expect(rowsOf(await show())).toEqual(['a', 'b', 'c']);
    expect(rowsOf(await show({ active: false }))).toEqual(['a', 'b', 'c']);
  });

  it('holds only rows that the search found, and says of how many', async () => {
    const panel = await show({ ids: new Set(['a', 'x', 'elsewhere']) });
    expect(rowsOf(panel)).toEqual(['a', 'b']);
    expect(panel.querySelector('[role=status]')?.textContent).toContain('2 of 3 rows match the search');
    const one = await show({ ids: new Set(['c']), isPartial: true });
    expect(one.querySelector('[role=status]')?.textContent).toContain(
      '1 of 3 rows matches the search; there may be more',
    );
  });

  it('tells an empty answer of the search from an empty list', async () => {
    const panel = await show({ ids: new Set(['elsewhere']) });
    expect(panel.textContent).toContain('No matches in calls');
    expect(panel.textContent).not.toContain('No calls');
  });
});
