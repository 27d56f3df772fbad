// @vitest-environment happy-dom
import { flushSync, mount, unmount } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api } from '../api/client';
import type { SupportedAgent } from '../api/types';
import AgentName from '../ui/AgentName.svelte';
import { agents, AgentTable } from './agents.svelte';

const OWL: SupportedAgent = {
  id: 'night_owl',
  name: 'Night Owl',
  shortName: 'Owl',
  mark: 'Ow',
  darkColour: '#c0ffee',
  lightColour: '#00413a',
  word: 'owl',
  modelPrefix: 'owl-',
};
const FOX: SupportedAgent = { ...OWL, id: 'fox', name: 'Fox', shortName: 'Fox', mark: 'Fx', word: 'fox' };
delete FOX.modelPrefix;

const answer = (items: SupportedAgent[]) => vi.spyOn(api, 'supportedAgents').mockResolvedValue({ items });

beforeEach(() => localStorage.clear());
afterEach(() => {
  vi.restoreAllMocks();
  agents.rows = [];
});

describe('the table of agents', () => {
  it('names, marks and filters by every row of the server', async () => {
    answer([OWL, FOX]);
    const table = new AgentTable();
    await table.load();
    expect(['night_owl', 'fox'].map((id) => [table.name(id), table.shortName(id), table.mark(id)])).toEqual([
      ['Night Owl', 'Owl', 'Ow'],
      ['Fox', 'Fox', 'Fx'],
    ]);
    expect([table.parse('fox'), table.parse('wolf'), table.parse('')]).toEqual(['fox', undefined, undefined]);
    expect(table.installCommands).toEqual(['agent-tracer install owl', 'agent-tracer install fox']);
  });

  it('keeps the id of an unknown agent', async () => {
    answer([OWL]);
    const table = new AgentTable();
    await table.load();
    expect([table.name('grey_wolf'), table.shortName('grey_wolf'), table.mark('grey_wolf')]).toEqual([
      'grey_wolf',
      'grey_wolf',
      'Gr',
    ]);
  });

  it('accepts any filter until it is known: an address is read before the answer is there', () => {
    expect(new AgentTable().parse('wolf')).toBe('wolf');
  });

  it('is remembered, and what is no table is not', async () => {
    answer([OWL]);
    await new AgentTable().load();
    expect(new AgentTable().name('night_owl')).toBe('Night Owl');
    for (const stored of ['torn', '{}', '[{"id":"night_owl"}]', 'null']) {
      localStorage.setItem('agent-tracer-agents', stored);
      expect(new AgentTable().rows).toEqual([]);
    }
  });

  it('stays as it was when the server does not answer', async () => {
    answer([OWL]);
    const table = new AgentTable();
    await table.load();
    vi.spyOn(api, 'supportedAgents').mockRejectedValue(new Error('gone'));
    await table.load();
    expect(table.name('night_owl')).toBe('Night Owl');
  });

  it('shortens models by their date and by the prefix of their agent', () => {
    const table = new AgentTable();
    table.rows = [FOX, OWL];
    expect(
      ['owl-hoot-4-8-20260401', 'fox-5.2', 'other-owl-1', undefined].map((model) => table.modelName(model)),
    ).toEqual(['hoot-4-8', 'fox-5.2', 'other-owl-1', '–']);
  });
});

describe('the name of an agent', () => {
  const render = (props: { agent: string; short?: boolean }) => {
    const target = document.body.appendChild(document.createElement('div'));
    const component = mount(AgentName, { target, props });
    flushSync();
    const mark = target.querySelector<HTMLElement>('i')!;
    const seen = {
      text: target.textContent.trim(),
      mark: mark.textContent,
      colours: ['--on-dark', '--on-light'].map((name) => mark.style.getPropertyValue(name)),
    };
    void unmount(component);
    return seen;
  };

  it('stands behind its mark, which has the colours of the table', () => {
    agents.rows = [OWL];
    expect(render({ agent: 'night_owl', short: true })).toEqual({
      text: 'OwOwl',
      mark: 'Ow',
      colours: ['#c0ffee', '#00413a'],
    });
    expect(render({ agent: 'night_owl' }).text).toBe('OwNight Owl');
  });

  it('is the id where the agent is unknown, and has no colour', () => {
    expect(render({ agent: 'grey_wolf' })).toEqual({ text: 'Grgrey_wolf', mark: 'Gr', colours: ['', ''] });
  });
});
