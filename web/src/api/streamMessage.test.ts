import { describe, expect, it } from 'vitest';

import { parseRemovedIds, parseRow } from './streamMessage';

const row = {
  id: 'r1',
  seq: 1,
  taskId: 't',
  kind: 'tool.used',
  lane: 'exploration',
  title: 'Read',
  occurredAt: '2026-01-01T00:00:00.000Z',
  certainty: 'measured',
  agentType: 'main',
  channels: ['hook'],
  filePaths: [],
  metadata: {},
};

describe('a message of the stream', () => {
  it('is a row with the fields that pages rely on, and may have more', () => {
    expect(parseRow(JSON.stringify({ ...row, newField: 1 }))).toEqual({ ...row, newField: 1 });
  });

  it.each(Object.keys(row))('is refused without `%s`', (name) => {
    expect(parseRow(JSON.stringify({ ...row, [name]: undefined }))).toBeUndefined();
  });

  it.each(['', 'null', '[]', '"text"', '{', '{"id":1}', JSON.stringify({ ...row, channels: [1] })])(
    'is refused as `%s`',
    (data) => {
      expect(parseRow(data)).toBeUndefined();
    },
  );

  it('names removed rows by their ids', () => {
    expect(parseRemovedIds('{"ids":["a","b"]}')).toEqual(new Set(['a', 'b']));
    expect(['{"ids":[1]}', '{"ids":"a"}', '{}', 'x'].map(parseRemovedIds)).toEqual(Array(4).fill(undefined));
  });
});
