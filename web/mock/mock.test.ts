import { describe, expect, it } from 'vitest';

import type { LaneBins, Page, Row, TreeNode } from '../src/api/types.ts';
import { Mock } from './plugin.ts';
import { HERO, HOSTILE, HUGE } from './world.ts';

process.env['MOCK_STILL'] = '1';
const mock = new Mock(Date.UTC(2026, 10, 16, 12), 'full');
const ask = <T>(path: string, query = '') => mock.answer(path, new URLSearchParams(query)) as T;

describe('the made-up server', () => {
  it('has a running tree with nested subagents, failures and permissions', () => {
    const tree = ask<Page<TreeNode>>(`tasks/${HERO}/tree`).items;
    expect(tree[0]!.task.status).toBe('running');
    expect(Math.max(...tree.map((node) => node.depth))).toBeGreaterThanOrEqual(2);
    const rows = ask<Page<Row>>(`tasks/${HERO}/timeline`, 'tree=true&limit=500').items;
    expect(rows.some((row) => row.state === 'failed')).toBe(true);
    expect(ask<Page<unknown>>(`tasks/${HERO}/permissions`, 'tree=true').items.length).toBeGreaterThan(0);
  });

  it('tells a hundred thousand rows in one answer and loses none', () => {
    const bins = ask<LaneBins>(`tasks/${HUGE}/lanes`, 'width=1400');
    const sum = bins.strips.flatMap((strip) => (strip.taskId === HUGE ? strip.bins : [])).reduce((n, bin) => n + bin.count, 0);
    expect(sum).toBe(100_000);
    expect(JSON.stringify(bins).length).toBeLessThan(6_000_000);
  });

  it('holds hostile strings', () => {
    expect(JSON.stringify(ask(`tasks/${HOSTILE}`))).toContain('onerror');
  });

  it('tells the same story twice', () => {
    const again = new Mock(Date.UTC(2026, 10, 16, 12), 'full');
    const titles = (m: Mock) => (m.answer(`tasks/${HERO}/timeline`, new URLSearchParams('limit=500')) as Page<Row>).items.map((row) => row.title);
    expect(titles(again)).toEqual(titles(mock));
  });

  it('pages through lists without holes', () => {
    let cursor: string | undefined;
    let seen = 0;
    do {
      const part = ask<Page<unknown>>('tasks', `limit=500${cursor ? `&cursor=${cursor}` : ''}`);
      seen += part.items.length;
      cursor = part.nextCursor;
    } while (cursor);
    expect(seen).toBe(mock.world.tasks.length);
  });
});
