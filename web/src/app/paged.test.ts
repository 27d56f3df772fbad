import { describe, expect, it } from 'vitest';

import { Problem } from '../api/client';
import type { Page } from '../api/types';
import { Paged } from './paged.svelte';

/** Numbers from `from` on, two to a page, up to `end`. */
const numbers =
  (end: number, asked: (string | undefined)[] = []) =>
  (cursor?: string): Promise<Page<number>> => {
    asked.push(cursor);
    const from = Number(cursor ?? 0);
    return Promise.resolve({
      items: [from, from + 1].filter((n) => n < end),
      ...(from + 2 < end ? { nextCursor: String(from + 2) } : {}),
    });
  };

describe('a list that comes page by page', () => {
  it('grows when more is wanted and stops at its end', async () => {
    const asked: (string | undefined)[] = [];
    const list = new Paged<number>(String);
    await list.load(numbers(3, asked));
    expect([list.rows, list.cursor]).toEqual([[0, 1], '2']);
    await list.next();
    await list.next();
    expect([list.rows, list.cursor, asked]).toEqual([[0, 1, 2], undefined, [undefined, '2']]);
  });

  it('goes on from pages that are empty until something is found or the end is there', async () => {
    const asked: (string | undefined)[] = [];
    const list = new Paged<number>(String);
    const sparse =
      (found: number[]) =>
      (cursor?: string): Promise<Page<number>> => {
        asked.push(cursor);
        return Promise.resolve(
          cursor === 'b' ? { items: found } : { items: [], nextCursor: cursor === 'a' ? 'b' : 'a' },
        );
      };
    await list.load(sparse([7]));
    expect([list.rows, list.cursor, asked]).toEqual([[7], undefined, [undefined, 'a', 'b']]);
    await list.load(sparse([]));
    expect([list.rows, list.cursor]).toEqual([[], undefined]);
    await list.load((cursor) =>
      cursor ? Promise.reject(new Error('gone')) : Promise.resolve({ items: [], nextCursor: 'on' }),
    );
    expect([list.rows, list.cursor]).toEqual([[], 'on']);
  });

  it('shows a row that comes twice once', async () => {
    const list = new Paged<number>(String);
    await list.load((cursor) => Promise.resolve(cursor ? { items: [1, 2] } : { items: [0, 1], nextCursor: 'on' }));
    await list.next();
    expect(list.rows).toEqual([0, 1, 2]);
    await list.load(() => Promise.resolve({ items: [4, 4, 5] }));
    expect(list.rows).toEqual([4, 5]);
  });

  it('drops a page of an old question, and asks for one page at a time', async () => {
    const list = new Paged<number>(String);
    let answer: (page: Page<number>) => void = () => undefined;
    let late = 0;
    await list.load((cursor) =>
      cursor
        ? ((late += 1), new Promise((resolve) => (answer = resolve)))
        : Promise.resolve({ items: [0], nextCursor: 'on' }),
    );
    const waiting = list.next();
    await list.next();
    await list.load(numbers(2));
    answer({ items: [99] });
    await waiting;
    expect([list.rows, late]).toEqual([[0, 1], 1]);
  });

  it('keeps what is known and can go on after a page that failed', async () => {
    const list = new Paged<number>(String);
    let broken = true;
    await list.load((cursor) =>
      cursor
        ? broken
          ? Promise.reject(new Error('gone'))
          : Promise.resolve({ items: [1] })
        : Promise.resolve({ items: [0], nextCursor: 'on' }),
    );
    await list.next();
    expect(list.rows).toEqual([0]);
    broken = false;
    await list.next();
    expect(list.rows).toEqual([0, 1]);
  });

  it('shows no rows of another question when a question fails', async () => {
    const away = () => Promise.reject(new Problem(0, 'the server does not answer', ''));
    const list = new Paged<number>(String);
    await list.load(numbers(9), 'all');
    await list.next();
    await list.load(away, 'all');
    expect([list.rows, list.cursor], 'the same question keeps its rows').toEqual([[0, 1, 2, 3], '4']);
    await list.load(away, 'only failed');
    expect([list.rows, list.cursor]).toEqual([[], undefined]);
    await list.load(away, 'all');
    expect(list.rows, 'its first page is remembered').toEqual([0, 1]);
    await list.load(() => Promise.reject(new Problem(400, 'invalid', '')), 'wrong');
    expect([list.rows, list.cursor, list.first.data]).toEqual([[], undefined, undefined]);
  });

  it('asks its beginning again and keeps later pages, each row once and as it is now', async () => {
    type Row = { id: string; title: string };
    const row = (id: string, title = ''): Row => ({ id, title });
    const list = new Paged<Row>(({ id }) => id);
    let first = [row('a'), row('b')];
    await list.load((cursor) => Promise.resolve(cursor ? { items: [row('c')] } : { items: first, nextCursor: 'on' }));
    first = [row('n'), row('b', 'new')];
    await list.refresh();
    expect([list.rows, list.cursor], 'there was one page').toEqual([first, 'on']);
    await list.next();
    first = [row('m'), row('n')];
    await list.refresh();
    expect([list.rows, list.cursor]).toEqual([[row('m'), row('n'), row('b', 'new'), row('c')], undefined]);
  });

  it('keeps what is known when asking again fails', async () => {
    const list = new Paged<number>(String);
    let broken = false;
    await list.load(() => (broken ? Promise.reject(new Error('gone')) : Promise.resolve({ items: [0, 1] })));
    broken = true;
    await list.refresh();
    expect([list.rows, list.first.problem !== undefined]).toEqual([[0, 1], true]);
  });

  it('forgets everything when nothing is asked', async () => {
    const list = new Paged<number>(String);
    await list.load(numbers(5));
    list.reset();
    await list.next();
    expect([list.rows, list.cursor]).toEqual([[], undefined]);
  });
});
