import { describe, expect, it } from 'vitest';

import { formatKeptShare, formatPieces } from './task/compaction';
import type { Task, TreeNode } from '../api/types';
import { parseSearch, toQuery, removeChip } from '../api/chips';
import { previousRange, bucketCount, dayName, fillDays, formatLength, midnight, readRange } from './insights/range';
import { readAnalysis } from './task/analysis';
import { nestTasks } from './taskLines';
import { formatScope, formatWebScope, formatWebSubject } from './task/exploration';
import { chooseTab, opensGroup, TABS } from './task/tabs';
import { askFor, isFiltered, readFilter } from './taskFilter';

describe('what is said of a look', () => {
  const look = { id: 'f', taskId: 't', what: 'grep_code', title: 'Search', filePaths: [], occurredAt: '' };

  it('names the lines that were read', () => {
    expect(formatScope({ ...look, offset: 10, limit: 5 })).toBe('lines 10–14');
    expect(formatScope({ ...look, offset: 10 })).toBe('lines 10–');
    expect(formatScope({ ...look, limit: 5 })).toBe('first 5 lines');
    expect(formatScope(look)).toBe('');
  });

  it('names what limited a search', () => {
    expect(
      formatScope({
        ...look,
        scope: 'src',
        glob: '*.rs',
        mode: 'files_with_matches',
        caseInsensitive: true,
        multiline: true,
      }),
    ).toBe('src · only *.rs · files with matches · any case · across lines');
    expect(formatScope({ ...look, caseInsensitive: false, multiline: false })).toBe('');
  });

  it('shows what was asked of a page, and the domains that were allowed and blocked', () => {
    expect(formatWebSubject({ query: 'https://x.y/z', prompt: 'Which version?', title: 't' })).toBe(
      'https://x.y/z · Which version?',
    );
    expect(formatWebSubject({ prompt: 'Which version?', title: 't' })).toBe('Which version?');
    expect(formatWebSubject({ title: 't' })).toBe('t');
    expect(formatWebScope({ domains: ['x.y'], allowedDomains: ['x.y', 'docs.rs'], blockedDomains: ['z.com'] })).toBe(
      'x.y · only x.y, docs.rs · without z.com',
    );
    expect(formatWebScope({ domains: [] })).toBe('');
  });
});

describe('the search box', () => {
  it('reads chips and leaves the rest as words', () => {
    const parsed = parseSearch('tool:Bash status:failed agent:Explore >10s cargo  test');
    expect(toQuery(parsed)).toEqual({
      q: 'cargo test',
      tool: 'Bash',
      state: 'failed',
      agentType: 'Explore',
      longerThanMs: 10000,
    });
  });

  it('knows every unit of time', () => {
    expect(['>250ms', '>1.5s', '>2m', '>2min', '>1h'].map((text) => toQuery(parseSearch(text)).longerThanMs)).toEqual([
      250, 1500, 120_000, 120_000, 3_600_000,
    ]);
  });

  it('takes quoted values and quoted words whole', () => {
    expect(toQuery(parseSearch('project:"/home/my dir" "two words"'))).toEqual({
      q: 'two words',
      project: '/home/my dir',
    });
  });

  it('searches for what looks like a chip but is none', () => {
    expect(toQuery(parseSearch('https://x.y http:80 std::fs >fast tool:'))).toEqual({
      q: 'https://x.y http:80 std::fs >fast tool:',
    });
  });

  it('is not confused by an open quote', () => {
    expect(toQuery(parseSearch('tool:"Ba'))).toEqual({ q: undefined, tool: 'Ba' });
  });

  it('takes one chip away and keeps the others', () => {
    const text = 'tool:Bash status:failed tool:Bash x';
    expect(removeChip(text, parseSearch(text).chips[0]!)).toBe('status:failed tool:Bash x');
  });
});

describe('ranges', () => {
  const now = Date.UTC(2026, 5, 10, 12, 0, 30);
  it('end with the minute and last as long as they say', () => {
    const span = readRange('24h', '', '', now);
    expect([span.until - span.since, span.until]).toEqual([86_400_000, Date.UTC(2026, 5, 10, 12, 1)]);
    expect(readRange('nonsense', '', '', now).until - readRange('nonsense', '', '', now).since).toBe(7 * 86_400_000);
  });

  it('can be given as moments, unless they are upside down', () => {
    expect(readRange('7d', '2026-01-01', '2026-01-03', now)).toEqual({
      since: Date.UTC(2026, 0, 1),
      until: Date.UTC(2026, 0, 3),
    });
    expect(readRange('7d', '2026-01-03', '2026-01-01', now).until).toBeGreaterThan(now);
  });

  it('are compared with as much time before', () => {
    expect(previousRange({ since: 100, until: 150 })).toEqual({ since: 50, until: 100 });
  });

  it('have every day, also those on which nothing was spent', () => {
    const span = { since: new Date(2026, 1, 27, 18).getTime(), until: new Date(2026, 2, 2, 9).getTime() };
    const { times, values } = fillDays(span, [{ key: '2026-03-01', cost: 3 }], (day) => day.cost);
    expect(times.map((t) => new Date(t).getDate())).toEqual([27, 28, 1, 2]);
    expect(values).toEqual([0, 0, 3, 0]);
  });

  it('are chosen by whole days of the reader, across months and in any order', () => {
    expect([midnight('2026-02-28', 1), midnight('2026-03-01')]).toEqual([
      new Date(2026, 2, 1).toISOString(),
      new Date(2026, 2, 1).toISOString(),
    ]);
    expect(dayName(new Date(2026, 0, 5, 23, 59).getTime())).toBe('2026-01-05');
    expect([midnight(''), midnight('yesterday')]).toEqual([undefined, undefined]);
  });

  it('say how long they are', () => {
    expect([formatLength({ since: 0, until: 86_400_000 }), formatLength({ since: 0, until: 7 * 86_400_000 })]).toEqual([
      '24 hours',
      '7 days',
    ]);
  });

  it('have as many stretches as can be read', () => {
    for (const days of [0.01, 1, 2, 7, 30, 365, 4000]) {
      const buckets = bucketCount({ since: 0, until: days * 86_400_000 });
      expect(buckets).toBeGreaterThanOrEqual(12);
      expect(buckets).toBeLessThanOrEqual(365);
    }
  });
});

describe('the task filter', () => {
  it('comes from the address and ignores unknown values', () => {
    const filter = readFilter(new URLSearchParams('status=running,nonsense,failed&q=x&failed=1'));
    expect([filter.status, filter.q, filter.failed, isFiltered(filter)]).toEqual([
      ['running', 'failed'],
      'x',
      true,
      true,
    ]);
    expect(isFiltered(readFilter(new URLSearchParams()))).toBe(false);
  });

  it('keeps both ends of a range', () => {
    const filter = readFilter(new URLSearchParams('since=2026-03-01T00:00:00Z&until=2026-03-02T00:00:00Z'));
    expect([askFor(filter)['since'], askFor(filter)['until'], isFiltered(filter)]).toEqual([
      '2026-03-01T00:00:00Z',
      '2026-03-02T00:00:00Z',
      true,
    ]);
  });

  it('asks for main agents unless subagents are wanted', () => {
    expect(askFor(readFilter(new URLSearchParams()))['kind']).toBe('primary');
    expect(askFor(readFilter(new URLSearchParams('subagents=1')))['kind']).toBeUndefined();
  });
});

describe('the panels of a task', () => {
  it('are the one that the address names, on a tall page the waterfall, and none where it is closed', () => {
    expect([
      chooseTab('errors', 700),
      chooseTab('', 700),
      chooseTab('', 1080),
      chooseTab('none', 1080),
      chooseTab('nonsense', 1080),
    ]).toEqual(['errors', undefined, 'waterfall', undefined, undefined]);
  });

  it('stand in groups, each group in one place', () => {
    const groups = TABS.map(({ group }) => group);
    const runs = groups.filter((group, at) => group !== groups[at - 1]);
    expect(runs).toEqual([...new Set(groups)]);
    expect(TABS.filter(({ name }) => opensGroup(name)).map(({ name }) => name)).toEqual(['turns', 'errors', 'tokens']);
  });
});

describe('what a command does', () => {
  it('is read from what the server found', () => {
    const found = readAnalysis({
      overallEffect: 'network',
      confidence: 'high',
      failureMasked: true,
      steps: [{ raw: 'curl x', operation: 'fetch', effect: 'network', targets: ['x', { value: 'y' }] }],
    });
    expect(found).toEqual({
      effect: 'network',
      confidence: 'high',
      failureMasked: true,
      steps: [{ raw: 'curl x', operation: 'fetch', effect: 'network', targets: ['x', 'y'] }],
    });
  });

  it('is unknown where it looks like nothing we know, and never fails', () => {
    expect([undefined, null, 'text', [], { steps: 'no' }].map(readAnalysis)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(readAnalysis({ steps: [null, 3, { targets: [null, 4, {}] }] })).toEqual({
      effect: '',
      confidence: '',
      failureMasked: false,
      steps: [{ raw: '', operation: '', effect: '', targets: [] }],
    });
  });
});

describe('subagents in the list of tasks', () => {
  const task = (id: string, childCount = 0) => ({ id, childCount }) as Task;
  const trees = new Map([
    [
      'a',
      [
        { depth: 0, task: task('a', 2) },
        { depth: 1, task: task('b', 1) },
        { depth: 2, task: task('c') },
      ] as TreeNode[],
    ],
  ]);

  it('keeps the same session of two people apart', () => {
    const task = (owner: string) => ({ id: 't', owner, childCount: 0 }) as Task;
    const keys = nestTasks([task('ann'), task('bob')], new Set(), new Map()).map((line) => line.key);
    expect(new Set(keys).size).toBe(2);
    const parent = (owner: string) => ({ ...task(owner), childCount: 1 });
    const tree = new Map([['bob t', [{ depth: 1, task: { ...task('bob'), id: 'c' } }] as TreeNode[]]]);
    expect(nestTasks([parent('ann'), parent('bob')], new Set(['t']), tree).map((line) => line.key)).toEqual([
      'ann t',
      'bob t',
      'bob t c',
    ]);
  });

  it('stand below the task that is open, as deep as they are', () => {
    expect(
      nestTasks([task('a', 2), task('z')], new Set(['a']), trees).map(({ key, depth, open }) => [key, depth, open]),
    ).toEqual([
      ['a', 0, true],
      ['a b', 1, undefined],
      ['a c', 2, undefined],
      ['z', 0, undefined],
    ]);
  });

  it('are hidden while it is closed, and no task has two places with one name', () => {
    expect(nestTasks([task('a', 2), task('b', 1)], new Set(), trees).map(({ key, open }) => [key, open])).toEqual([
      ['a', false],
      ['b', false],
    ]);
    const both = nestTasks([task('a', 2), task('b', 1)], new Set(['a', 'b']), trees).map(({ key }) => key);
    expect(new Set(both).size).toBe(both.length);
  });

  it('may not be loaded yet', () => {
    expect(nestTasks([task('q', 3)], new Set(['q']), trees)).toHaveLength(1);
  });
});

describe('a compaction in words', () => {
  it('says how much was kept, also when that is next to nothing or unknown', () => {
    expect([
      formatKeptShare(771_470, 3030),
      formatKeptShare(1000, 250),
      formatKeptShare(1000, 0),
      formatKeptShare(undefined, 5),
      formatKeptShare(0, 5),
      formatKeptShare(10, undefined),
    ]).toEqual(['less than 1 % kept', '25 % kept', '0 % kept', '', '', '']);
  });

  it('counts pieces, most first, one in the singular and unknown kinds by their own name', () => {
    expect(formatPieces({ prompt: 1, call: 1200, result: 1200, harness: 1, summary: 0, sketch: 2 })).toEqual([
      '1,200 calls',
      '1,200 results',
      '2 sketch',
      '1 harness message',
      '1 prompt',
    ]);
  });
});
