import { describe, expect, it } from 'vitest';

import type { UsageBucket } from '../../api/types';
import type { InsightsData } from './data';
import { findInsights } from './findings';
import { InsightsLinks } from './links';

const links = new InsightsLinks({}, { since: 0, until: 1_000_000 });
const spent = (key: string, costUsd: number, more: Partial<UsageBucket['usage']> = {}, label?: string) =>
  ({
    key,
    label,
    usage: {
      costUsd,
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 0,
      cacheCreationTokens: 0,
      provenance: { responses: 4, unpriced: 0, copies: 0 },
      ...more,
    },
  }) as UsageBucket;
const period = (parts: Partial<InsightsData>) =>
  ({ tools: [], failures: [], models: [], sessions: [], loops: [], ...parts }) as unknown as InsightsData;
const tool = (name: string, count: number, failures = 0, p95Ms = 100) =>
  ({ tool: name, count, failures, p95Ms, totalMs: count * p95Ms }) as InsightsData['tools'][number];
const sentences = (now: Partial<InsightsData>, before?: Partial<InsightsData>) =>
  findInsights(period(now), before && period(before), links).map(({ text, subject }) =>
    subject === undefined ? text : `${text} ${subject}`,
  );

describe('findings', () => {
  it('are none where nothing stands out, and none of an empty period', () => {
    expect(sentences({})).toEqual([]);
    const even = {
      models: [spent('m', 10)],
      sessions: ['a', 'b', 'c', 'd', 'e'].map((id) => spent(id, 2)),
      tools: [tool('Read', 100, 1)],
    };
    expect(sentences(even, even)).toEqual([]);
  });

  it('name the session that holds much of the cost, and call it priced cost where a part has no price', () => {
    const sessions = [spent('a', 7.2, {}, 'Mend the fence'), spent('b', 2.8)];
    expect(sentences({ models: [spent('m', 10)], sessions })).toEqual([
      '72 % of the cost ($7.20) came from one session: Mend the fence',
    ]);
    const models = [spent('m', 10), spent('other', 0, { provenance: { responses: 6, unpriced: 6, copies: 0 } })];
    expect(sentences({ models, sessions })).toEqual([
      '6 of 10 responses have no price, so costs are lower bounds; most are from other',
      '72 % of the priced cost ($7.20) came from one session: Mend the fence',
    ]);
  });

  it('say what a change of the cost is made of, and compare no partial costs', () => {
    const now = { models: [spent('big', 9), spent('small', 3)] };
    expect(sentences(now, { models: [spent('big', 1), spent('small', 1)] })).toEqual([
      'Cost rose from $2.00 to $12.00; 80 % of the rise comes from big.',
    ]);
    expect(sentences({ models: [spent('big', 1)] }, now)).toEqual(['Cost fell from $12.00 to $1.00.']);
    const partial = { models: [spent('big', 1, { provenance: { responses: 4, unpriced: 1, copies: 0 } })] };
    expect(sentences(now, partial).filter((text) => text.startsWith('Cost'))).toEqual([]);
  });

  it('name a tool that fails often with its usual error, but not one that was called a few times', () => {
    expect(
      sentences({
        tools: [tool('Bash', 100, 6), tool('apply_patch', 10, 5), tool('Rare', 4, 4)],
        failures: [
          { tool: 'apply_patch', errorClass: 'invalid_input', count: 3, calls: 10 },
          { tool: 'apply_patch', errorClass: 'timeout', count: 2, calls: 10 },
        ] as InsightsData['failures'],
      }),
    ).toEqual(['5 of 10 calls failed, most often with “invalid input”: apply_patch']);
  });

  it('compare failures and percentiles only over enough calls', () => {
    expect(sentences({ tools: [tool('Read', 100, 15, 300)] }, { tools: [tool('Read', 100, 5, 100)] })).toEqual([
      'The p95 duration rose from 100 ms to 300 ms: Read',
      'The share of failed calls rose from 5 % to 15 %.',
    ]);
    expect(sentences({ tools: [tool('Read', 10, 3, 300)] }, { tools: [tool('Read', 10, 0, 100)] })).toEqual([]);
  });

  it('name the longest loop and open its last call', () => {
    const loops = [
      { taskId: 't', title: 'cargo check', count: 8, failures: 8, lastId: 'e', tool: 'Bash' },
      { taskId: 't', title: 'ls', count: 3, failures: 0, lastId: 'f', tool: 'Bash' },
    ] as InsightsData['loops'];
    const [found] = findInsights(period({ loops }), undefined, links);
    expect([found?.text, found?.subject]).toEqual([
      'The same call was repeated 8 times, 8 of them failed:',
      'cargo check',
    ]);
    expect(found?.href).toContain('event=e');
  });

  it('are at most five, the weightiest first', () => {
    const found = findInsights(
      period({
        models: [spent('m', 12, { inputTokens: 2_000_000, provenance: { responses: 4, unpriced: 0, copies: 0 } })],
        sessions: [spent('a', 12)],
        tools: [tool('Read', 100, 50, 900)],
        loops: [
          { taskId: 't', title: 'x', count: 30, failures: 0, lastId: 'e', tool: 'Bash' },
        ] as InsightsData['loops'],
      }),
      period({ models: [spent('m', 1)], tools: [tool('Read', 100, 0, 100)] }),
      links,
    );
    expect(found).toHaveLength(5);
    const weights = found.map(({ weight }) => weight);
    expect(weights).toEqual([...weights].sort((a, b) => b - a));
    for (const weight of weights) expect(weight).toBeGreaterThan(0);
    for (const weight of weights) expect(weight).toBeLessThanOrEqual(1);
  });
});
