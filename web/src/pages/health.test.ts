import { describe, expect, it } from 'vitest';

import type { Health } from '../api/types';
import { isConnected, headline } from './health';

const health = (of: Partial<Health>) => ({ status: 'ok', problems: [], ...of }) as Health;
const source = (observations: number) => ({ name: 'hook', observations }) as NonNullable<Health['sources']>[number];

describe('the headline', () => {
  it('never claims that all is well before a source has delivered an event', () => {
    expect(headline(health({ sources: [] }), false)).toBe('No source connected yet');
    expect(headline(health({ sources: [source(0)] }), false)).toBe('No source connected yet');
    expect(headline(health({ sources: [source(0), source(3)] }), false)).toBe('All systems OK');
    expect(headline(health({ sources: [source(3)], status: 'degraded' }), false)).toBe('Needs attention');
    expect(headline(health({ sources: [source(3)] }), true)).toBe('Status unknown');
  });

  it('does not take a store that cannot answer for one without sources', () => {
    expect(isConnected(health({}))).toBeUndefined();
    expect(headline(health({ status: 'degraded' }), false)).toBe('Needs attention');
    expect(headline(health({}), false)).not.toBe('No source connected yet');
  });
});
