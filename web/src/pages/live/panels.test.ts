// @vitest-environment happy-dom
import { flushSync, mount, unmount, type Component } from 'svelte';
import { afterEach, describe, expect, it } from 'vitest';

import type { Limit, Task } from '../../api/types';
import { agents } from '../../app/agents.svelte';
import Limits from './Limits.svelte';
import SessionList from './SessionList.svelte';

let mounted: Record<string, unknown>[] = [];

function render<P extends Record<string, unknown>>(component: Component<P>, props: P): HTMLElement {
  const target = document.body.appendChild(document.createElement('div'));
  mounted.push(mount(component, { target, props }));
  flushSync();
  return target;
}

afterEach(async () => {
  await Promise.all(mounted.map((one) => unmount(one)));
  mounted = [];
  agents.rows = [];
  document.body.replaceChildren();
});

const texts = (box: HTMLElement, selector: string) =>
  [...box.querySelectorAll(selector)].map((element) => element.textContent.replace(/\s+/g, ' ').trim());

describe('rate limits', () => {
  const limit = (n: number): Limit => ({
    agent: 'codex',
    window: n % 2 ? 'five_hour' : 'seven_day',
    owner: `person ${n}`,
    usedPct: n,
    at: '2026-11-15T21:10:04.001Z',
  });

  it('are eight at first, those that are used most, and all when asked for', () => {
    const box = render(Limits, { limits: Array.from({ length: 11 }, (_, n) => limit(n)) });
    const button = box.querySelector<HTMLButtonElement>('button')!;
    expect([box.querySelectorAll('li').length, button.textContent]).toEqual([9, 'Show 3 more']);
    expect(texts(box, 'li')[0]).toContain('10 %');
    button.click();
    flushSync();
    expect([box.querySelectorAll('li').length, button.textContent, button.getAttribute('aria-expanded')]).toEqual([
      12,
      'Show fewer',
      'true',
    ]);
  });

  it('say where they come from while there are none', () => {
    const box = render(Limits, { limits: [] });
    expect(texts(box, 'li')).toEqual([
      'No rate-limit data yet. It comes from the status line or the session files of a connected agent.',
    ]);
  });
});

describe('a list of sessions', () => {
  const task = (n: number): Task =>
    ({
      id: `t${n}`,
      title: `Task ${n}`,
      agent: 'owl',
      status: 'completed',
      project: '/home/dev/orchard',
      childCount: 0,
      treeToolCallCount: 3,
      treeFailureCount: n === 0 ? 1 : 0,
      treeUsage: { costUsd: 1, provenance: { responses: 1, unpriced: 0 } },
      startedAt: '2026-11-15T21:10:04.001Z',
      lastEventAt: '2026-11-15T21:11:04.001Z',
    }) as unknown as Task;
  const props = { label: 'Done', since: (one: Task) => one.lastEventAt, none: 'None', all: '/tasks' };

  it('shows the mark of the agent, its failures and its duration', () => {
    const box = render(SessionList, { ...props, tasks: [task(0)] });
    expect(texts(box, '.second')[0]).toMatch(/^orchard · Owowl · 1 failed of 3 calls · 1m 00s/);
    expect(box.querySelector('.second .hidden')?.textContent).toBe('owl');
  });

  it('ends at fifty and links to the others', () => {
    const box = render(SessionList, { ...props, tasks: Array.from({ length: 53 }, (_, n) => task(n)) });
    expect(texts(box, 'a.more')).toEqual(['Show 3 more']);
  });

  it('without sessions shows why', () => {
    expect(render(SessionList, { ...props, tasks: [], why: 'because' }).textContent).toContain('None');
  });
});
