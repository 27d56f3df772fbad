import { afterEach, describe, expect, it, vi } from 'vitest';

import { answerKey, api, Problem } from './client';
import { change, endpoint, fetchAll, fetchPages, namedChange, type Fetch, type Send } from './endpoints';

/** A server with a list of so many numbers, two to a page; returns the requested addresses. */
function serve(total: number): string[] {
  const requests: string[] = [];
  vi.stubGlobal('fetch', (url: string) => {
    requests.push(url);
    const from = Number(new URLSearchParams(url.split('?')[1]).get('cursor') ?? 0);
    const items = [from, from + 1].filter((n) => n < total);
    return Promise.resolve(
      new Response(JSON.stringify({ items, ...(from + 2 < total ? { nextCursor: String(from + 2) } : {}) })),
    );
  });
  return requests;
}

const get: Fetch = async (path, query) => {
  const words = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return (await fetch(`/api/v1/${path}?${words.join('&')}`)).json();
};

const send: Send = () => Promise.resolve(new Response('{}'));

describe('requests', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('go through a list page by page, to its end and no further', async () => {
    const requests = serve(5);
    const found: number[][] = [];
    for await (const page of fetchPages<number>(get, 'numbers', { tree: true })) found.push(page.items);
    expect(found).toEqual([[0, 1], [2, 3], [4]]);
    expect(requests).toEqual([
      '/api/v1/numbers?limit=500&tree=true',
      '/api/v1/numbers?limit=500&tree=true&cursor=2',
      '/api/v1/numbers?limit=500&tree=true&cursor=4',
    ]);
  });

  it('stop when the next page is not needed', async () => {
    const requests = serve(1000);
    for await (const page of fetchPages<number>(get, 'numbers', {})) if (page.items.includes(3)) break;
    expect(requests).toHaveLength(2);
  });

  it('gather at most so many, and say whether that was everything', async () => {
    serve(7);
    expect(await fetchAll<number>(get, 'numbers', {}, undefined, 4)).toEqual({ items: [0, 1, 2, 3], complete: false });
    expect(await fetchAll<number>(get, 'numbers', {}, undefined, 7)).toEqual({
      items: [0, 1, 2, 3, 4, 5, 6],
      complete: true,
    });
  });

  it('of one task or event name its owner, and other requests name none', async () => {
    const requests = serve(1);
    const task = { id: 't', owner: 'ann b' };
    await api.task(task);
    await api.turns(task);
    await api.event({ id: 'e1', owner: 'ann b' });
    await api.tree({ id: 't' });
    await api.tools({ since: '-7d' });
    expect(requests).toEqual([
      '/api/v1/tasks/t?owner=ann+b',
      '/api/v1/tasks/t/turns?limit=500&owner=ann+b',
      '/api/v1/events/e1?owner=ann+b',
      '/api/v1/tasks/t/tree',
      '/api/v1/tools?since=-7d',
    ]);
    expect(answerKey('task', task), 'answers about two people are remembered apart').toBe('task t ann b');
  });

  it('of a path or a parameter that the server does not have are type errors', () => {
    const wrong: (() => unknown)[] = [
      // @ts-expect-error the parameter is `since`
      () => api.tools({ from: '-7d' }),
      // @ts-expect-error `limit` is a number
      () => api.tools({ limit: '5' }),
      // @ts-expect-error turns have no `tree`
      () => api.turns({ id: 't' }, { tree: true }),
      // @ts-expect-error the owner belongs to the reference
      () => api.task({ id: 't' }, { owner: 'ann' }),
      // @ts-expect-error the path is `/api/v1/tools`
      () => endpoint(get, '/api/v1/tool').page(),
      // @ts-expect-error a path of one task takes a reference
      () => endpoint(get, '/api/v1/tasks/{id}').one(),
      // @ts-expect-error `title` of an item is a string
      () => endpoint(get, '/api/v1/tasks').page<{ title: number }>(),
      // @ts-expect-error the path is `/api/v1/policies/backtest`
      () => change(send, '/api/v1/policies/backtests'),
      // @ts-expect-error the body holds a `policy`
      () => api.backtest({ rules: '' }),
      // @ts-expect-error the query of a backtest has no `from`
      () => api.backtest({ policy: '' }, { from: '-7d' }),
      // @ts-expect-error a path that only answers takes no change
      () => namedChange(send, '/api/v1/dead-letters'),
    ];
    expect(wrong).toHaveLength(11);
  });

  it('that change something are sent to the described path, with the cookie and their body', async () => {
    const sent: [string, RequestInit][] = [];
    vi.stubGlobal('fetch', (url: string, init: RequestInit) => {
      sent.push([url, init]);
      return Promise.resolve(url.includes('requeue') ? new Response(null, { status: 204 }) : new Response('{}'));
    });
    await api.backtest({ policy: 'version = 1' }, { since: '-7d' });
    await api.requeue('17316 812.env');
    expect(sent.map(([url, { method, credentials, body }]) => [url, method, credentials, body])).toEqual([
      ['/api/v1/policies/backtest?since=-7d', 'POST', 'same-origin', '{"policy":"version = 1"}'],
      ['/api/v1/dead-letters/17316%20812.env/requeue', 'POST', 'same-origin', undefined],
    ]);
  });

  it('report every wrong part of a request', async () => {
    const wrong = {
      title: 'the body is wrong',
      detail: 'one rule',
      errors: [{ at: 'policy:3:7', reason: 'unknown key' }, { reason: 5 }],
    };
    vi.stubGlobal('fetch', () => Promise.resolve(new Response(JSON.stringify(wrong), { status: 422 })));
    const problem = await api.backtest({ policy: 'version = 1' }, { since: '-7d' }).catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(Problem);
    expect((problem as Problem).errors).toEqual([
      { at: 'policy:3:7', reason: 'unknown key' },
      { at: '', reason: '5' },
    ]);
  });
});
