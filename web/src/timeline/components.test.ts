// @vitest-environment happy-dom
import { flushSync } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Task, TreeNode } from '../api/types';
import { keys } from '../app/keys.svelte';
import { live } from '../app/live.svelte';
import { Axis } from '../layout/axis';
import { button, click, press, removeRendered, render, type } from '../ui/renderForTest';
import { fakeCanvas } from './fakeCanvas';
import type { Finder } from './finder.svelte';
import Overview from './Overview.svelte';
import type { TimelineSource } from './source.svelte';
import { sampleBar as bar } from './sampleBar';
import { Stage } from './stage.svelte';
import Timeline from './Timeline.svelte';

const WIDTH = 1000;
const TASK = { status: 'completed', model: 'm', startedAt: '1970-01-01T00:00:00.000Z', failureCount: 0 } as Task;
const node = (id: string, depth: number, parentTaskId?: string): TreeNode =>
  ({ depth, task: { ...TASK, id, title: id, agentType: depth === 0 ? 'main' : 'Explore', parentTaskId } }) as TreeNode;
const TREE = [node('main', 0), node('helper', 1, 'main')];
const BARS = [
  bar('Read the file', 0, 2000),
  bar('Search it', 4000, 6000),
  bar('Look around', 7000, 9000, { taskId: 'helper' }),
];

let texts: string[];
let stage: Stage;
beforeEach(() => {
  texts = fakeCanvas(WIDTH, 300);
  stage = new Stage();
  stage.take(Axis.plain(0, 10_000));
  addEventListener('keydown', handle);
});
afterEach(async () => {
  removeEventListener('keydown', handle);
  await removeRendered();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  live.state = 'connecting';
});
const handle = (event: KeyboardEvent) => void keys.handle(event);

/** Shows a task of ten seconds with a subagent. */
function show(more: { running?: boolean; selected?: string; tree?: TreeNode[] } = {}) {
  const calls = { onselect: vi.fn(), onpin: vi.fn(), onfind: vi.fn() };
  const source = { bars: () => BARS, version: 1, tree: more.tree ?? TREE, ready: true, start: 0, end: 10_000 };
  const finder = { matches: [], ids: new Set(), active: false, text: '', isPartial: false, search: vi.fn() };
  const box = render(Timeline, {
    source: source as unknown as TimelineSource,
    stage,
    gutter: 200,
    running: false,
    pinned: new Set<string>(),
    finder: finder as unknown as Finder,
    find: '',
    ...calls,
    ...more,
  });
  return { box, finder, ...calls };
}
const canvasOf = (box: HTMLElement) => box.querySelector('canvas')!;
const pointer = (target: Element, kind: string, x: number, y: number) => {
  const event = new MouseEvent(kind, { bubbles: true, button: 0 });
  Object.defineProperties(event, { offsetX: { value: x }, offsetY: { value: y } });
  target.dispatchEvent(event);
  flushSync();
};

describe('the timeline', () => {
  it('draws its calls by their titles', async () => {
    show();
    await vi.waitFor(() => expect(texts.some((text) => text.startsWith('Read the'))).toBe(true));
  });

  it('says the same in a table that a screen reader can read', () => {
    const { box } = show();
    const table = [...box.querySelectorAll('tbody tr')].map((row) => row.textContent);
    expect(table.some((line) => line.includes('Exploration') && line.includes('2'))).toBe(true);
  });

  it('zooms, moves and comes back to the whole by keys', () => {
    show();
    press(document.body, 'w');
    const [from, to] = [stage.from, stage.to];
    expect([stage.whole, from > 0, to < 10_000]).toEqual([false, true, true]);
    press(document.body, 'd');
    expect(stage.from).toBeGreaterThan(from);
    press(document.body, '0');
    expect(stage.whole).toBe(true);
  });

  it('leaves its keys alone while a text is typed', () => {
    const { box } = show();
    press(box.querySelector('input')!, 'w');
    expect(stage.whole).toBe(true);
  });

  it('steps through the events of a lane, and pins it', () => {
    const { onselect, onpin } = show({ selected: 'Read the file' });
    press(document.body, '.');
    press(document.body, 'p');
    expect([onselect.mock.calls, onpin.mock.calls]).toEqual([[['Search it']], [['main/exploration']]]);
  });

  it('hides and shows subagents by keys and by its button, which says which of both it does', () => {
    const { box } = show();
    const labels = () => [...box.querySelectorAll('tbody th')].map((cell) => cell.textContent);
    const all = labels().length;
    click(button(box, 'Collapse subagents'));
    expect(labels().length).toBeLessThan(all);
    press(document.body, ']');
    expect(labels()).toHaveLength(all);
    press(document.body, '[');
    expect(button(box, 'Expand subagents').disabled).toBe(false);
  });

  it('offers to follow only a task that runs', () => {
    const ended = show();
    expect(button(ended.box, 'Follow').disabled).toBe(true);
    press(document.body, 'l');
    expect(stage.following).toBe(false);
    const { box } = show({ running: true });
    click(button(box, 'Follow'));
    expect([stage.following, button(box, 'Follow').getAttribute('aria-pressed')]).toEqual([true, 'true']);
  });

  it('has a tooltip for what is under the pointer, and none after the pointer has left', () => {
    const { box } = show();
    for (let y = 30; y < 200 && !box.querySelector('.tip'); y += 4) pointer(canvasOf(box), 'pointermove', 100, y);
    expect(box.querySelector('.tip')?.textContent).toContain('Read the file');
    pointer(canvasOf(box), 'pointerleave', 100, 400);
    expect(box.querySelector('.tip')).toBeNull();
  });

  it('is searched once the typing rests', () => {
    vi.useFakeTimers();
    const { box, finder, onfind } = show();
    press(document.body, '/');
    expect(document.activeElement).toBe(box.querySelector('input'));
    type(box.querySelector('input')!, 'look');
    expect(onfind).toHaveBeenCalledWith('look');
    expect(finder.search).not.toHaveBeenCalled();
    vi.advanceTimersByTime(200);
    expect(finder.search).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });
});

describe('the overview', () => {
  const whole = () => [Math.round(stage.view.u0), Math.round(stage.view.u1)];
  function drag(box: HTMLElement, from: number, to: number): void {
    const canvas = canvasOf(box);
    canvas.setPointerCapture = vi.fn();
    pointer(canvas, 'pointerdown', from, 10);
    pointer(canvas, 'pointermove', to, 10);
    pointer(canvas, 'pointerup', to, 10);
  }

  it('names the task by its length', () => {
    const box = render(Overview, { stage, source: { bars: () => BARS, version: 1 } });
    expect(canvasOf(box).getAttribute('aria-label')).toContain('10.0 s');
  });

  it('shows a part that is drawn over it, and the whole again after a double click', () => {
    const box = render(Overview, { stage, source: { bars: () => BARS, version: 1 } });
    drag(box, 200, 400);
    expect([stage.whole, whole()[1]! - whole()[0]! < 3000]).toEqual([false, true]);
    pointer(canvasOf(box), 'dblclick', 300, 10);
    expect(stage.whole).toBe(true);
  });

  it('does nothing for the other buttons of a mouse', () => {
    const box = render(Overview, { stage, source: { bars: () => BARS, version: 1 } });
    const event = new MouseEvent('pointerdown', { bubbles: true, button: 2 });
    canvasOf(box).dispatchEvent(event);
    pointer(canvasOf(box), 'pointermove', 900, 10);
    expect(stage.whole).toBe(true);
  });
});
