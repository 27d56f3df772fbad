import { describe, expect, it } from 'vitest';

import type { Bar } from './bars';
import { findMatches, compileMatcher, nextMatch, type Match } from './find';

const bar = (id: string | undefined, start: number, more: Partial<Bar> = {}): Bar => ({
  id,
  taskId: 'a',
  lane: 'x',
  start,
  end: start + 10,
  running: false,
  count: 1,
  failures: 0,
  track: 0,
  label: 'Run tests: npm test',
  certainty: 'measured',
  ...more,
});
const types = new Map([
  ['a', 'main'],
  ['b', 'Explore'],
]);
const ids = (text: string, bars: Bar[]) => findMatches(bars, compileMatcher(text, types)!).map(({ id }) => id);

describe('finding in a task', () => {
  const bars = [
    bar('late', 90, { tool: 'Bash', failures: 1 }),
    bar('early', 1, { tool: 'Bash' }),
    bar('read', 5, { tool: 'Read', label: 'Read src/cart.ts' }),
    bar('long', 20, { end: 20_020, taskId: 'b', tool: 'Bash', running: true }),
    bar('many', 30, { count: 4 }),
    bar(undefined, 40),
  ];

  it('looks for every word in what is drawn, whatever its case, in order of time', () => {
    expect(ids('NPM test', bars)).toEqual(['early', 'long', 'late']);
    expect(ids('cart', bars)).toEqual(['read']);
    expect(ids('cart npm', bars)).toEqual([]);
  });

  it('finds the calls of a file by its path', () => {
    const edit = bar('edit', 7, { label: 'Edit cart.ts', files: ['/srv/shop/src/my cart.ts'] });
    expect(ids('"/srv/shop/src/my cart.ts"', [...bars, edit])).toEqual(['edit']);
  });

  it('understands the chips of the search page', () => {
    expect(ids('tool:bash status:failed', bars)).toEqual(['late']);
    expect(ids('agent:Explore', bars)).toEqual(['long']);
    expect(ids('>10s', bars)).toEqual(['long']);
    expect(ids('status:running', bars)).toEqual(['long']);
  });

  it('asks for nothing when nothing was typed', () => {
    expect(compileMatcher('  ', types)).toBeUndefined();
  });
});

describe('the next match', () => {
  const matches = [10, 20, 30].map((start): Match => ({ id: `m${start}`, taskId: 'a', lane: 'x', start, end: start }));

  it('goes round in both directions', () => {
    expect([
      nextMatch(matches, 'm30', 0, 1)?.id,
      nextMatch(matches, 'm10', 0, -1)?.id,
      nextMatch(matches, 'm10', 0, 1)?.id,
    ]).toEqual(['m10', 'm30', 'm20']);
  });

  it('begins where one looks', () => {
    expect([
      nextMatch(matches, undefined, 15, 1)?.id,
      nextMatch(matches, undefined, 15, -1)?.id,
      nextMatch(matches, 'other', 99, 1)?.id,
      nextMatch(matches, undefined, 5, -1)?.id,
    ]).toEqual(['m20', 'm10', 'm10', 'm30']);
  });

  it('is none among none', () => {
    expect(nextMatch([], 'm10', 0, 1)).toBeUndefined();
  });
});
