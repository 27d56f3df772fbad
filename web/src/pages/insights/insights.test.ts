import { describe, expect, it } from 'vitest';

import type { UsageView } from '../../api/types';
import { formatAt } from '../../charts/series';
import { cost, foldersOf, money, residualCost, type Costed } from '../../text/format';
import { knownCost, sumWaiting, formatWaiting, type InsightsData } from './data';
import { calendarOf } from './calendar';
import { dayName, fillDays } from './range';
import { compareStat, costStat } from './statColumn';

const usage = (costUsd: number, unpriced = 0, responses = 4) =>
  ({ costUsd, provenance: { responses, unpriced } }) as UsageView;

describe('costs of which a part has no price', () => {
  const stat = costStat((row: Costed) => row, cost);

  it('are not compared with the range before', () => {
    expect(compareStat(stat, usage(4), usage(2))).toBe('+100 %');
    expect(compareStat(stat, usage(4, 1), usage(2))).toBe('');
    expect(compareStat(stat, usage(4), usage(2, 1))).toBe('');
    expect(compareStat(stat, usage(4), undefined)).toBe('new');
    expect(compareStat(undefined, usage(4), usage(2))).toBe('');
  });

  it('are no bar of nothing', () => {
    const at = (day: number) => new Date(2026, 2, day).getTime();
    const days = [
      { key: '2026-03-01', usage: usage(3) },
      { key: '2026-03-02', usage: usage(0, 4) },
      { key: '2026-03-04', usage: usage(2, 1) },
    ];
    const daily = fillDays({ since: at(1), until: at(5) }, days, (day) => knownCost(day.usage));
    expect(daily.values, 'priced, without a price, nothing spent, a part').toEqual([3, null, 0, 2]);
    expect(daily.days.map((day) => (day ? cost(day.usage) : money(0)))).toEqual([
      '$3.00',
      'no price',
      '$0.00',
      '≥ $2.00',
    ]);
  });

  it('are unknown where a chart is read out', () => {
    const line = { name: 'cost', token: 'accent', values: [3, null] };
    expect([formatAt(line, 0, money), formatAt(line, 1, money)]).toEqual(['$3.00', 'unknown']);
    expect(formatAt({ ...line, say: (i) => `place ${i}` }, 1, money)).toBe('place 1');
  });

  it('stay unknown in a residual', () => {
    expect(residualCost({ costUsd: 0, models: [{}] }, true)).toBe('no price');
    expect(residualCost({ costUsd: 0 }, true)).toBe('no price');
    expect(residualCost({ costUsd: 2, models: [{ costUsd: 2 }, {}] }, true)).toBe('≥ $2.00');
    expect(residualCost({ costUsd: 2, models: [{ costUsd: 2 }] }, true)).toBe('$2.00');
    expect(residualCost({ costUsd: 0 }, false)).toBe('$0.00');
  });
});

describe('waiting for people', () => {
  it('is not said to be nothing where nothing was recorded', () => {
    const numbers = (...waits: number[]) => ({ activity: waits.map((waitingMs) => ({ waitingMs })) }) as InsightsData;
    expect(formatWaiting(sumWaiting(numbers(0, 0)))).toBe('none recorded');
    expect(formatWaiting(sumWaiting(numbers(0, 1500)))).toBe('1.5 s');
  });
});

describe('names of folders', () => {
  it('keep equal names apart by their parent folders', () => {
    const names = foldersOf([
      '/home/ann/shop/web',
      '/home/ann/bank/web',
      '/home/ann/api',
      '/srv/bank/web',
      '/',
      '/home/ann/api',
    ]);
    expect([...names]).toEqual([
      ['/home/ann/shop/web', 'shop/web'],
      ['/home/ann/bank/web', 'ann/bank/web'],
      ['/home/ann/api', 'api'],
      ['/srv/bank/web', 'srv/bank/web'],
      ['/', '/'],
    ]);
    expect(new Set(foldersOf(['web', '/web', '/a/web', 'a/web']).keys()).size).toBe(4);
  });
});

describe('the calendar', () => {
  const now = new Date(2026, 10, 18, 15).getTime();

  it('ends today, begins on a Monday and holds every day once', () => {
    const { days, weeks, months } = calendarOf(new Map(), now);
    expect([days.at(-1)?.name, days[0]?.weekday, new Date(days[0]!.time).getDay()]).toEqual(['2026-11-18', 0, 1]);
    expect(new Set(days.map(({ name }) => name)).size).toBe(days.length);
    expect(days.length).toBe((weeks - 1) * 7 + 3);
    for (const day of days) expect(day.name).toBe(dayName(day.time));
    expect(months.map(({ name }) => name)).toContain('Nov');
    expect(months.length).toBeGreaterThanOrEqual(12);
  });

  it('has levels by quarters of the active days, so that one great day does not dim the rest', () => {
    const values = new Map([
      ['2026-11-10', 1],
      ['2026-11-11', 2],
      ['2026-11-12', 3],
      ['2026-11-13', 1_000_000],
    ]);
    const { days } = calendarOf(values, now);
    const level = (name: string) => days.find((day) => day.name === name)?.level;
    expect(['2026-11-09', ...values.keys()].map(level)).toEqual([0, 1, 2, 3, 4]);
    expect(calendarOf(new Map([['2026-11-10', 5]]), now).days.filter((day) => day.level > 0)).toHaveLength(1);
  });
});
