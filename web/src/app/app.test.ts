import { describe, expect, it } from 'vitest';

import { Problem, search } from '../api/client';
import type { Row } from '../api/types';
import { chord, Keys } from './keys.svelte';
import { Resource } from './resource.svelte';
import { Stream, type Source, type Surroundings } from './stream';

const rowNumber = (seq: number) => ({
  id: `r${seq}`,
  seq,
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
});

class FakeSource implements Source {
  onopen: Source['onopen'] = null;
  onerror: Source['onerror'] = null;
  onmessage: Source['onmessage'] = null;
  closed = false;
  named = new Map<string, (event: { data: string; lastEventId?: string }) => void>();
  readonly url: string;
  constructor(url: string) {
    this.url = url;
  }
  addEventListener(name: string, listener: (event: { data: string }) => void) {
    this.named.set(name, listener);
  }
  close() {
    this.closed = true;
  }
  row(seq: number) {
    this.onmessage?.({ data: JSON.stringify(rowNumber(seq)), lastEventId: String(seq) });
  }
}

function surroundings() {
  const sources: FakeSource[] = [];
  const timers: { ms: number; run: () => void }[] = [];
  const frames: (() => void)[] = [];
  const around: Surroundings = {
    open: (url) => {
      sources.push(new FakeSource(url));
      return sources.at(-1)!;
    },
    after: (ms, run) => {
      timers.push({ ms, run });
      return () => undefined;
    },
    frame: (run) => void frames.push(run),
    now: () => 77,
  };
  return { around, sources, timers, frames };
}

describe('an answer', () => {
  const away = () => Promise.reject(new Problem(0, 'the server does not answer', ''));

  it('is shown again with its time while the server is away', async () => {
    const first = new Resource<string>();
    await first.load(async () => 'eight', 'failures');
    expect([first.data, first.staleAt]).toEqual(['eight', undefined]);
    const later = new Resource<string>();
    await later.load(away, 'failures');
    expect([later.data, later.staleAt]).toEqual(['eight', first.at]);
    await later.load(async () => 'nine', 'failures');
    expect([later.data, later.staleAt]).toEqual(['nine', undefined]);
  });

  it('is unknown where it was never given, and where the server refuses it', async () => {
    const never = new Resource<string>();
    await never.load(away, 'never asked');
    expect([never.data, never.staleAt, never.settled]).toEqual([undefined, undefined, true]);
    const refused = new Resource<string>();
    await new Resource<string>().load(async () => 'known', 'refused');
    await refused.load(() => Promise.reject(new Problem(404, 'not found', '')), 'refused');
    expect(refused.data).toBeUndefined();
  });

  it('never stands for the answer to another question that failed', async () => {
    const range = new Resource<string>();
    await range.load(async () => 'thirty', '30 days');
    await range.load(async () => 'seven', '7 days');
    await range.load(away, '7 days');
    expect([range.data, range.answers('7 days')], 'the same question keeps its answer').toEqual(['seven', true]);
    await range.load(away, '30 days');
    expect([range.data, range.staleAt !== undefined], 'the last answer to the question that is asked').toEqual([
      'thirty',
      true,
    ]);
    await range.load(away, '90 days');
    expect([range.data, range.staleAt, range.answers('90 days')], 'unknown').toEqual([undefined, undefined, false]);
    await range.load(async () => 'seven', '7 days');
    await range.load(() => Promise.reject(new Problem(500, 'broken', '')), '30 days');
    expect(range.data, 'a refusal is no answer').toBeUndefined();
  });

  it('without a key belongs to the one who asked it', async () => {
    const one = new Resource<string>();
    await one.load(async () => 'known');
    await one.load(away);
    expect(one.data).toBeUndefined();
    let up = true;
    await one.load(() => (up ? Promise.resolve('mine') : away()));
    up = false;
    await one.again();
    expect(one.data).toBe('mine');
  });

  it('is not remembered for ever', async () => {
    for (let n = 0; n < 100; n += 1) await new Resource<number>().load(async () => n, `one of many ${n}`);
    const gone = new Resource<number>();
    await gone.load(away, 'one of many 0');
    expect(gone.data).toBeUndefined();
  });
});

describe('the stream', () => {
  it('hands out the rows of a frame together, in order', () => {
    const { around, sources, frames } = surroundings();
    const stream = new Stream(around);
    const seen: number[][] = [];
    stream.listen({ rows: (rows: Row[]) => seen.push(rows.map((row) => row.seq)) });
    stream.connect();
    sources[0]!.onopen?.();
    sources[0]!.row(1);
    sources[0]!.row(2);
    expect(frames).toHaveLength(1);
    frames[0]!();
    sources[0]!.row(3);
    frames[1]!();
    expect(seen).toEqual([[1, 2], [3]]);
  });

  it('says that it is lost, waits longer each time and resumes after the last row', () => {
    const { around, sources, timers } = surroundings();
    const stream = new Stream(around);
    stream.connect();
    sources[0]!.onopen?.();
    sources[0]!.row(41);
    sources[0]!.onerror?.();
    expect([stream.state, stream.lostAt, sources[0]!.closed]).toEqual(['lost', 77, true]);
    timers[0]!.run();
    sources[1]!.onerror?.();
    timers[1]!.run();
    expect(timers.map(({ ms }) => ms)).toEqual([500, 1000]);
    expect(sources[2]!.url).toBe('/api/v1/stream?after=41');
    sources[2]!.onopen?.();
    expect([stream.state, stream.lostAt]).toEqual(['live', undefined]);
    sources[2]!.onerror?.();
    expect(timers[2]!.ms).toBe(500);
  });

  it('drops rows that are no more, also those that still wait for their frame', () => {
    const { around, sources, frames } = surroundings();
    const stream = new Stream(around);
    const seen: unknown[] = [];
    stream.listen({
      rows: (rows) => seen.push(rows.map((row) => row.id)),
      removed: (ids) => seen.push([...ids]),
      reload: () => seen.push('reload'),
    });
    stream.connect();
    const source = sources[0]!;
    source.row(1);
    source.row(2);
    source.named.get('removed')!({ data: '{"ids":["r1","other"]}' });
    frames[0]!();
    source.row(3);
    source.named.get('removed')!({ data: '{"ids":["r3"]}' });
    frames[1]!();
    source.named.get('removed')!({ data: '{half' });
    expect(seen).toEqual([['r1', 'other'], ['r2'], ['r3'], 'reload']);
  });

  it('loads again and goes on from the new place when the server counts anew', () => {
    const { around, sources, timers } = surroundings();
    const stream = new Stream(around);
    let reloads = 0;
    stream.listen({ reload: () => (reloads += 1) });
    stream.connect();
    sources[0]!.row(41);
    sources[0]!.named.get('missed')!({ data: '{"from":0,"to":41}', lastEventId: '17947770040010000000000000041' });
    expect(reloads).toBe(1);
    sources[0]!.onerror?.();
    timers[0]!.run();
    expect(sources[1]!.url).toBe('/api/v1/stream?after=17947770040010000000000000041');
  });

  it('says when it stands for the first time, and not as a reload', () => {
    const { around, sources, timers } = surroundings();
    const stream = new Stream(around);
    const seen: string[] = [];
    stream.listen({ opened: () => seen.push('opened'), reload: () => seen.push('reload') });
    stream.connect();
    expect(seen).toEqual([]);
    sources[0]!.onopen?.();
    sources[0]!.onerror?.();
    timers[0]!.run();
    sources[1]!.onopen?.();
    expect(seen).toEqual(['opened', 'reload']);
  });

  it('asks for a reload after a break, when rows were missed and when one cannot be read', () => {
    const { around, sources, timers } = surroundings();
    const stream = new Stream(around);
    let reloads = 0;
    stream.listen({ reload: () => (reloads += 1) });
    stream.connect();
    sources[0]!.onopen?.();
    sources[0]!.onerror?.();
    timers[0]!.run();
    sources[1]!.onopen?.();
    expect(reloads).toBe(1);
    sources[1]!.named.get('missed')!({ data: '' });
    sources[1]!.onmessage?.({ data: '{half', lastEventId: '9' });
    expect(reloads).toBe(3);
  });
});

const press = (key: string, more: Partial<KeyboardEvent> = {}) =>
  ({
    key,
    ctrlKey: false,
    metaKey: false,
    shiftKey: false,
    altKey: false,
    target: null,
    timeStamp: 0,
    preventDefault: () => undefined,
    ...more,
  }) as KeyboardEvent;

describe('the keyboard', () => {
  it('writes keys the way bindings do', () => {
    expect([
      chord(press('k', { metaKey: true })),
      chord(press('?', { shiftKey: true })),
      chord(press('ArrowLeft', { shiftKey: true })),
      chord(press(' ')),
    ]).toEqual(['Mod+k', '?', 'Shift+ArrowLeft', 'Space']);
  });

  it('understands two keys in a row, if they come soon', () => {
    const keys = new Keys();
    let went = 0;
    keys.add([{ keys: 'g t', label: 'Tasks', group: 'Go', run: () => (went += 1) }]);
    keys.handle(press('g', { timeStamp: 100 }));
    keys.handle(press('t', { timeStamp: 300 }));
    keys.handle(press('g', { timeStamp: 1000 }));
    keys.handle(press('t', { timeStamp: 9000 }));
    expect(went).toBe(1);
  });

  it('keeps the page behind a dialog still, but for what works everywhere', () => {
    const keys = new Keys();
    const ran: string[] = [];
    keys.add([
      { keys: 'Escape', label: '', group: '', run: () => ran.push('page') },
      { keys: 'Mod+k', label: '', group: '', everywhere: true, run: () => ran.push('palette') },
    ]);
    const leave = keys.enter();
    keys.handle(press('Escape'));
    keys.handle(press('k', { ctrlKey: true }));
    leave();
    keys.handle(press('Escape'));
    expect(ran).toEqual(['palette', 'page']);
  });

  it('lets the newest binding win and gives the key back', () => {
    const keys = new Keys();
    const ran: string[] = [];
    keys.add([{ keys: 'j', label: '', group: '', run: () => ran.push('list') }]);
    const drop = keys.add([{ keys: 'j', label: '', group: '', run: () => ran.push('drawer') }]);
    keys.handle(press('j'));
    drop();
    keys.handle(press('j'));
    expect(ran).toEqual(['drawer', 'list']);
  });
});

describe('queries', () => {
  it('leave out what is not asked', () => {
    expect(search({ a: undefined, b: '', c: false, d: [], e: 0, f: true, g: ['x', 'y'] })).toBe('?e=0&f=true&g=x&g=y');
    expect(search({})).toBe('');
  });
});
