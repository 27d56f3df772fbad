// @vitest-environment happy-dom
import { flushSync } from 'svelte';
import { afterEach, describe, expect, it, vi } from 'vitest';

import { api } from '../../api/client';
import type { TaskSummary, ToolCall } from '../../api/types';
import type { Bar } from '../../timeline/bars';
import { Stage } from '../../timeline/stage.svelte';
import { click, press, removeRendered, render } from '../../ui/renderForTest';
import { CallLanes } from './callLanes';
import Tabs from './Tabs.svelte';
import { TABS, type TabName } from './tabs';

afterEach(async () => {
  await removeRendered();
  vi.restoreAllMocks();
});

function show(tab: TabName | undefined, summary?: Partial<TaskSummary>, bars: Bar[] = []) {
  const onpick = vi.fn();
  const box = render(Tabs, {
    ref: { id: 't' },
    tab,
    onpick,
    stage: new Stage(),
    bars,
    pulse: 0,
    tree: [],
    task: undefined,
    summary: summary as TaskSummary | undefined,
    models: undefined,
    selected: undefined,
    onselect: vi.fn(),
  });
  const tabs = [...box.querySelectorAll<HTMLButtonElement>('[role=tab]')];
  return { box, onpick, tabs, named: (name: TabName) => tabs.find(({ id }) => id === `tab-${name}`)! };
}

describe('the strip of panels', () => {
  it('offers every panel with its key, also while all are closed', () => {
    const { box, tabs } = show(undefined);
    expect(tabs.map((tab) => [tab.id, tab.title])).toEqual(TABS.map(({ name, key }) => [`tab-${name}`, `t ${key}`]));
    expect([box.querySelector('[role=tabpanel]'), box.querySelector('[role=separator]')]).toEqual([null, null]);
  });

  it('picks the panel that is clicked', () => {
    const { named, onpick } = show(undefined);
    click(named('files'));
    expect(onpick).toHaveBeenCalledWith('files');
  });

  it('names the open panel for screen readers', () => {
    const { box, named } = show('tree');
    const panel = box.querySelector('[role=tabpanel]')!;
    expect([panel.getAttribute('aria-labelledby'), named('tree').getAttribute('aria-controls')]).toEqual([
      'tab-tree',
      panel.id,
    ]);
    expect(named('files').getAttribute('aria-selected')).toBe('false');
  });

  it('says how much is in a panel, but claims nothing where prompts are not recorded', () => {
    const { named } = show(undefined, { toolCalls: 12, failures: 0, permissions: 0, permissionsRecorded: false });
    expect([named('waterfall').textContent, named('errors').textContent, named('permissions').textContent]).toEqual([
      'Waterfall12',
      'Errors',
      'Permissions',
    ]);
    expect([named('errors').classList.contains('none'), named('permissions').classList.contains('none')]).toEqual([
      true,
      false,
    ]);
  });

  it('moves between tabs with the arrows, and keeps them from moving the timeline', () => {
    const { tabs } = show(undefined);
    const outside = vi.fn();
    addEventListener('keydown', outside);
    tabs[0]!.focus();
    press(tabs[0]!, 'ArrowRight');
    expect(document.activeElement).toBe(tabs[1]);
    press(tabs[1]!, 'ArrowLeft');
    press(tabs[0]!, 'ArrowLeft');
    expect([document.activeElement, outside.mock.calls.length]).toEqual([tabs[0], 0]);
    removeEventListener('keydown', outside);
  });

  it('is made taller and smaller by keys, never so tall that the timeline is gone', () => {
    const { box } = show('tree');
    const edge = box.querySelector('[role=separator]')!;
    const height = () => Number.parseInt(box.querySelector<HTMLElement>('[role=tabpanel]')!.style.height, 10);
    const before = height();
    press(edge, 'ArrowUp');
    expect(height()).toBe(before + 24);
    for (let i = 0; i < 100; i += 1) press(edge, 'ArrowUp');
    expect(height()).toBe(innerHeight - 320);
    for (let i = 0; i < 100; i += 1) press(edge, 'ArrowDown');
    expect(height()).toBe(120);
  });
});

describe('the waterfall', () => {
  const call = (id: string, more: Partial<ToolCall> = {}) =>
    ({
      id,
      taskId: 't',
      toolName: 'Edit',
      title: 'Edit it',
      state: 'succeeded',
      startedAt: '1970-01-01T00:00:00.100Z',
      durationMs: 50,
      ...more,
    }) as ToolCall;

  it('draws each call in the colour of its lane, also a failed one', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    vi.spyOn(api, 'toolCalls').mockResolvedValue({
      items: [call('e1'), call('e2', { toolName: 'Read', state: 'failed' }), call('e3', { toolName: 'New' })],
      complete: true,
    });
    const { box } = show('waterfall', undefined, [
      { id: 'e1', tool: 'Edit', lane: 'implementation' },
      { tool: 'Read', lane: 'exploration' },
    ] as Bar[]);
    await vi.waitFor(() => {
      vi.advanceTimersByTime(300);
      flushSync();
      expect(box.querySelectorAll('.track i')).toHaveLength(3);
    });
    vi.useRealTimers();
    const bars = [...box.querySelectorAll<HTMLElement>('.track i')];
    expect(bars.map((bar) => bar.style.background)).toEqual([
      'var(--lane-implementation)',
      'var(--lane-exploration)',
      'var(--dim)',
    ]);
    expect(bars.map((bar) => bar.classList.contains('bad'))).toEqual([false, true, false]);
  });

  it('takes the lane of the call itself before the usual one of its tool', () => {
    const lanes = new CallLanes([
      { id: 'a', tool: 'Bash', lane: 'implementation' },
      { id: 'b', tool: 'Bash', lane: 'exploration' },
    ]);
    expect([lanes.of(call('b', { toolName: 'Bash' })), lanes.of(call('c', { toolName: 'Bash' }))]).toEqual([
      'exploration',
      'implementation',
    ]);
  });
});
