import { afterEach, describe, expect, it, vi } from 'vitest';

import { api } from '../api/client';
import { Team } from './team.svelte';

const health = (kind: string) =>
  vi.spyOn(api, 'health').mockResolvedValue({ store: { kind } } as Awaited<ReturnType<typeof api.health>>);
const usage = () =>
  vi.spyOn(api, 'usage').mockImplementation((query) =>
    Promise.resolve({
      items: (query?.['by'] === 'owner' ? ['bob', 'ann'] : ['desk']).map((key) => ({ key })),
    } as Awaited<ReturnType<typeof api.usage>>),
  );

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe('the people of a team', () => {
  it('are asked for once, and named in order', async () => {
    const [asked, counted] = [health('clickhouse'), usage()];
    const team = new Team();
    await Promise.all([team.load(), team.load()]);
    expect([team.people, team.machines, team.isKnown]).toEqual([['ann', 'bob'], ['desk'], true]);
    expect([asked.mock.calls.length, counted.mock.calls.length]).toEqual([1, 2]);
  });

  it('are empty on one machine, and nothing is requested about them', async () => {
    health('sqlite');
    const counted = usage();
    const team = new Team();
    await team.load();
    expect([team.isKnown, counted.mock.calls.length]).toEqual([false, 0]);
  });

  it('are remembered, so that a page does not move when it opens again', async () => {
    const kept = new Map<string, string>();
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
      removeItem: (key: string) => kept.delete(key),
    });
    health('clickhouse');
    usage();
    await new Team().load();
    const team = new Team();
    expect([team.people, team.machines]).toEqual([['ann', 'bob'], ['desk']]);
    health('sqlite');
    await team.load();
    expect([team.isKnown, kept.size, new Team().isKnown]).toEqual([false, 0, false]);
    kept.set('agent-tracer-team', 'torn');
    expect(new Team().isKnown).toBe(false);
  });

  it('are asked for again when the server did not answer', async () => {
    const asked = vi.spyOn(api, 'health').mockRejectedValueOnce(new Error('gone'));
    usage();
    const team = new Team();
    await team.load();
    expect(team.isKnown).toBe(false);
    asked.mockResolvedValue({ store: { kind: 'clickhouse' } } as Awaited<ReturnType<typeof api.health>>);
    await team.load();
    expect(team.people).toEqual(['ann', 'bob']);
  });
});
