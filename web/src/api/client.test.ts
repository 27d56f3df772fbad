import { afterEach, describe, expect, it, vi } from 'vitest';

import { all, api, keyOfAnswer, pages, Problem } from './client';

/** A server with a list of so many numbers, two to a page. */
function serve(total: number): string[] {
  const asked: string[] = [];
  vi.stubGlobal('fetch', (url: string) => {
    asked.push(url);
    const from = Number(new URLSearchParams(url.split('?')[1]).get('cursor') ?? 0);
    const items = [from, from + 1].filter((n) => n < total);
    return Promise.resolve(
      new Response(JSON.stringify({ items, ...(from + 2 < total ? { nextCursor: String(from + 2) } : {}) })),
    );
  });
  return asked;
}

describe('questions to the server', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('go through a list page by page, to its end and no further', async () => {
    const asked = serve(5);
    const found: number[][] = [];
    for await (const page of pages<number>('numbers', { tree: true })) found.push(page.items);
    expect(found).toEqual([[0, 1], [2, 3], [4]]);
    expect(asked).toEqual([
      '/api/v1/numbers?limit=500&tree=true',
      '/api/v1/numbers?limit=500&tree=true&cursor=2',
      '/api/v1/numbers?limit=500&tree=true&cursor=4',
    ]);
  });

  it('stop when the next page is not needed', async () => {
    const asked = serve(1000);
    for await (const page of pages<number>('numbers', {})) if (page.items.includes(3)) break;
    expect(asked).toHaveLength(2);
  });

  it('gather at most so many, and say whether that was everything', async () => {
    serve(7);
    expect(await all<number>('numbers', {}, undefined, 4)).toEqual({ items: [0, 1, 2, 3], complete: false });
    expect(await all<number>('numbers', {}, undefined, 7)).toEqual({ items: [0, 1, 2, 3, 4, 5, 6], complete: true });
  });

  it('are about the person whom the address names, where they are about one task, and about whoever is named', async () => {
    const asked = serve(1);
    vi.stubGlobal('location', { search: '?event=e&owner=ann%20b' });
    await api.task('t');
    await api.turns('t', { tree: true });
    await api.event('e1');
    await api.tree('t', { owner: 'bob' });
    await api.tools({ since: '-7d' });
    expect(keyOfAnswer('task', 't'), 'answers about two people are remembered apart').toBe('task t ann b');
    expect(asked).toEqual([
      '/api/v1/tasks/t?owner=ann+b',
      '/api/v1/tasks/t/turns?limit=500&tree=true&owner=ann+b',
      '/api/v1/events/e1?owner=ann+b',
      '/api/v1/tasks/t/tree?owner=bob',
      '/api/v1/tools?since=-7d',
    ]);
  });

  it('tell every part that was wrong, wherever it stands', async () => {
    const wrong = {
      title: 'the body is wrong',
      detail: 'one rule',
      errors: [{ at: 'policy:3:7', reason: 'unknown key' }, { reason: 5 }],
    };
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(wrong), { status: 422 })));
    const problem = await api.backtest('version = 1', { since: '-7d' }).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(Problem);
    expect((problem as Problem).errors).toEqual([
      { at: 'policy:3:7', reason: 'unknown key' },
      { at: '', reason: '5' },
    ]);
  });
});
