// @vitest-environment happy-dom
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { api, Problem } from '../../api/client';
import type { EventDetail, Row, TreeNode } from '../../api/types';
import { toasts } from '../../app/toasts.svelte';
import { button, click, press, removeRendered, render } from '../../ui/renderForTest';
import EventDrawer from './EventDrawer.svelte';

const row = (more: Partial<Row> = {}) =>
  ({
    id: 'e1',
    taskId: 't',
    kind: 'terminal.command',
    lane: 'implementation',
    title: 'cargo test',
    toolName: 'Bash',
    toolUseId: 'call-1',
    agentType: 'main',
    state: 'failed',
    certainty: 'measured',
    channels: ['hook', 'transcript'],
    filePaths: ['src/lib.rs'],
    occurredAt: '2026-01-01T00:00:00.000Z',
    endedAt: '2026-01-01T00:00:04.000Z',
    metadata: {
      toolInput: { command: 'cargo test' },
      exitCode: 101,
      errorClass: 'non_zero_exit',
      permissionWaitMs: 1500,
      error: 'test failed',
      sandboxed: false,
    },
    ...more,
  }) as unknown as Row;
const detail = (shown: Row) =>
  ({
    row: shown,
    fieldChannels: {},
    entries: [
      { entryId: 'n', channel: 'hook', phase: 'end', occurredAt: shown.occurredAt, evidence: 'PostToolUse', seq: 7 },
    ],
  }) as unknown as EventDetail;
const child = { depth: 1, task: { id: 'sub', parentToolUseId: 'call-1', agentType: 'Explore', title: 'x' } };

beforeEach(() => void vi.spyOn(api, 'event').mockImplementation(async () => detail(row())));
afterEach(async () => {
  await removeRendered();
  vi.restoreAllMocks();
});

async function show(more: { tree?: TreeNode[]; pulse?: number } = {}) {
  const onclose = vi.fn();
  const props = $state({ id: 'e1', tree: [] as TreeNode[], pulse: 0, onclose, ...more });
  const box = render(EventDrawer, props);
  await vi.waitFor(() => {
    flushSync();
    expect(box.querySelector('.body')?.textContent).not.toContain('loading');
  });
  return { box, onclose, props };
}
const facts = (box: HTMLElement) =>
  Object.fromEntries(
    [...box.querySelectorAll('dl:not(.more) > div')].map((pair) => [
      pair.querySelector('dt')!.textContent,
      pair.querySelector('dd')!.textContent.trim(),
    ]),
  );

describe('the drawer of an event', () => {
  it('says how long a call took, how it ended and why', async () => {
    const { box } = await show();
    const shown = facts(box);
    expect([shown['Duration'], shown['Exit code'], shown['Permission wait']]).toEqual(['4.0 s', '101', '1.5 s']);
    expect(box.textContent).toContain('test failed');
  });

  it('lists every other field by its name, and none of the facts a second time', async () => {
    const { box } = await show();
    expect([...box.querySelectorAll('.more dt')].map((name) => name.textContent.trim())).toEqual(['sandboxed']);
  });

  it('names the sources of what it shows', async () => {
    const { box } = await show();
    expect(box.querySelector('.entry')?.textContent).toContain('PostToolUse');
    expect([...box.querySelectorAll('.chips .chip')].map((chip) => chip.textContent)).toEqual(
      expect.arrayContaining(['hook', 'transcript']),
    );
  });

  it('copies the command and the ids', async () => {
    const copy = vi.spyOn(toasts, 'copy').mockResolvedValue();
    const { box } = await show();
    click(button(box, 'copy'));
    click(button(box, 'call-1'));
    expect(copy.mock.calls.map(([text]) => text)).toEqual(['cargo test', 'call-1']);
  });

  it('links to the subagent that a call has started', async () => {
    const { box } = await show({ tree: [child as TreeNode] });
    expect(box.querySelector('a.link')?.getAttribute('href')).toContain('/tasks/sub');
  });

  it('shows text from outside as text', async () => {
    vi.mocked(api.event).mockResolvedValue(detail(row({ title: '<img src=x onerror=alert(1)>' })));
    const { box } = await show();
    expect([box.querySelector('img'), box.querySelector('h2')?.textContent]).toEqual([
      null,
      '<img src=x onerror=alert(1)>',
    ]);
  });

  it('loads a running event again with each change of the task, until it has ended', async () => {
    vi.mocked(api.event).mockImplementation(async () => detail(row({ state: 'running', endedAt: undefined })));
    const { box, props } = await show();
    expect(facts(box)['End']).toBe('running');
    vi.mocked(api.event).mockImplementation(async () => detail(row()));
    props.pulse += 1;
    await vi.waitFor(() => {
      flushSync();
      expect(facts(box)['End']).not.toBe('running');
    });
    props.pulse += 1;
    flushSync();
    expect(api.event).toHaveBeenCalledTimes(2);
  });

  it('asks once for a running event, not again for its own answer', async () => {
    vi.mocked(api.event).mockImplementation(async () => detail(row({ state: 'running', endedAt: undefined })));
    const { props } = await show();
    props.pulse += 1;
    for (let i = 0; i < 5; i += 1) {
      flushSync();
      await Promise.resolve();
      await new Promise((later) => setTimeout(later));
    }
    expect(api.event).toHaveBeenCalledTimes(2);
  });

  it('says that an event is gone', async () => {
    vi.mocked(api.event).mockRejectedValue(new Problem(404, 'not found', ''));
    expect((await show()).box.textContent).toContain('Event not found');
  });

  it('is closed by its button and by Escape inside it, but not by Escape elsewhere', async () => {
    const { box, onclose } = await show();
    press(document.body, 'Escape');
    expect(onclose).not.toHaveBeenCalled();
    const close = button(box, 'Close (Escape)');
    click(close);
    close.focus();
    press(close, 'Escape');
    expect(onclose).toHaveBeenCalledTimes(2);
  });
});
