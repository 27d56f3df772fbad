// @vitest-environment happy-dom
import { afterEach, describe, expect, it, vi } from 'vitest';

import { api } from '../api/client';
import type { Page, Row } from '../api/types';
import { AreaCount, linesAsCsv, toolChip } from './areaCount.svelte';

const call = (toolName: string, start: number, end: number, state = 'succeeded') =>
  ({
    toolName,
    state,
    occurredAt: new Date(start).toISOString(),
    endedAt: new Date(end).toISOString(),
    metadata: {},
  }) as Row;

/** Answers with pages, and fails after them if asked to. */
function serve(pages: Page<Row>[], failure?: Error) {
  return vi.spyOn(api, 'timelinePages').mockImplementation(async function* () {
    yield* pages;
    if (failure) throw failure;
  });
}
afterEach(() => vi.restoreAllMocks());
const area = { from: 1000, to: 5000 };
const going = () => new AbortController().signal;

describe('the count of a selected time', () => {
  it('adds up pages, and says when that was all', async () => {
    serve([{ items: [call('Read', 1000, 2000)], nextCursor: 'more' }, { items: [call('Read', 3000, 4000, 'failed')] }]);
    const count = new AreaCount();
    await count.load({ id: 't' }, [], area, going());
    expect(count.lines.map(({ tool, count: calls, failures, totalMs }) => [tool, calls, failures, totalMs])).toEqual([
      ['Read', 2, 1, 2000],
    ]);
    expect([count.counted?.complete, count.counted?.calls]).toEqual([true, 2]);
  });

  it('keeps what it has counted when the server fails, and says so', async () => {
    serve([{ items: [call('Read', 1000, 2000)], nextCursor: 'more' }], new Error('gone'));
    const count = new AreaCount();
    await count.load({ id: 't' }, [], area, going());
    expect([count.counted?.calls, count.counted?.complete, count.problem?.detail]).toEqual([1, false, 'Error: gone']);
  });

  it('ignores an answer about an area that is no longer selected', async () => {
    serve([{ items: [call('Read', 1000, 2000)] }]);
    const count = new AreaCount();
    await count.load({ id: 't' }, [], area, AbortSignal.abort());
    expect(count.counted).toBeUndefined();
  });

  it('is copied as CSV, with quotes doubled as spreadsheets read them', () => {
    const line = { tool: 'mcp, "x"', count: 2, failures: 0, timed: 1, p50Ms: 5, totalMs: 9 };
    expect(linesAsCsv([line]).split('\n')[1]).toBe('"mcp, ""x""",2,0,5,,,9');
  });

  it('searches for a tool by a chip that is read back whole', () => {
    expect([toolChip('Bash'), toolChip('my "tool"')]).toEqual(['tool:Bash', 'tool:"my tool"']);
  });
});
