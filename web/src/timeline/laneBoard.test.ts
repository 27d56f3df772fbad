// @vitest-environment happy-dom
import { describe, expect, it, vi } from 'vitest';

import type { Task, TreeNode } from '../api/types';
import { Keys } from '../app/keys.svelte';
import { Axis } from '../layout/axis';
import type { Bar } from './bars';
import type { Finder } from './finder.svelte';
import { Gestures } from './gestures';
import { LaneBoard, type TimelineProps } from './laneBoard.svelte';
import { RULER_PX, trackTop } from './scene';
import { sampleBar as bar } from './sampleBar';
import { Stage } from './stage.svelte';
import { timelineKeys, zoomAnchor } from './timelineKeys';

const WIDTH = 1000;
const node = (id: string, depth: number, parentTaskId?: string): TreeNode =>
  ({ depth, task: { id, agentType: depth === 0 ? 'main' : 'Explore', parentTaskId } as Task }) as TreeNode;
const TREE = [node('main', 0), node('a', 1, 'main'), node('b', 2, 'a'), node('c', 1, 'main')];
const BARS = [
  bar('read', 0, 1000),
  bar('grep', 2000, 3000),
  bar('edit', 4000, 5000, { lane: 'implementation' }),
  bar('deep', 8000, 9000, { taskId: 'b' }),
];

/** A timeline of ten seconds on a thousand pixels, with four agents of which the subagents are closed. */
function sample({ bars = BARS, ...more }: Partial<TimelineProps> & { bars?: Bar[] } = {}) {
  const stage = new Stage();
  stage.take(Axis.plain(0, 10_000));
  stage.width = WIDTH;
  const finder = { matches: [], ids: new Set<string>(), active: false, text: '', search: vi.fn() } as unknown as Finder;
  const props: TimelineProps = {
    source: { bars: () => bars, version: 1, tree: TREE, ready: true, start: 0, end: 10_000 },
    stage,
    onselect: vi.fn(),
    running: false,
    pinned: new Set<string>(),
    onpin: vi.fn(),
    finder,
    find: '',
    ...more,
  };
  const board = new LaneBoard(props);
  board.height = 400;
  return { board, props, stage, gestures: new Gestures(board, props) };
}
const keysOf = (board: LaneBoard) => board.rows.map(({ key }) => key);
/** The place of a bar on the canvas. */
function placeOf(board: LaneBoard, stage: Stage, key: string, t: number): { offsetX: number; offsetY: number } {
  const row = board.rows.find((one) => one.key === key)!;
  const { u0, u1 } = stage.view;
  return {
    offsetX: ((stage.axis.toU(t) - u0) / (u1 - u0)) * WIDTH,
    offsetY: trackTop(row, 0, board.scrollTop) + 4,
  };
}

describe('the rows of the board', () => {
  it('begin with closed subagents where there are many, and each can be opened alone', () => {
    const { board } = sample();
    expect(keysOf(board)).toEqual(['main', 'main/exploration', 'main/implementation', 'a', 'c']);
    board.flip('a');
    expect(keysOf(board)).toContain('b');
    board.flip('a');
    expect(keysOf(board)).not.toContain('b');
  });

  it('all open at once and all close at once', () => {
    const { board } = sample();
    board.flipAll();
    expect(keysOf(board)).toContain('b/exploration');
    board.flipAll();
    expect([...board.collapsed]).toEqual(['a', 'b', 'c']);
  });

  it('keep the tracks that they once had, so that a finer picture does not move the rows below', () => {
    const bars = [bar('one', 0, 500), bar('two', 0, 500)];
    const { board } = sample({ bars });
    const height = () => board.rows.find(({ key }) => key === 'main/exploration')!.height;
    const before = height();
    bars.pop();
    board.showsTelemetry = true;
    expect(height()).toBe(before);
  });

  it('scroll to their end and no further', () => {
    const { board } = sample();
    board.height = 30;
    board.scrollTo(10_000);
    expect(board.scrollTop).toBe(board.tall - 30);
    board.scrollTo(-5);
    expect(board.scrollTop).toBe(0);
  });
});

describe('a selected event', () => {
  it('has neighbours in its own lane only', () => {
    const { board, props } = sample({ selected: 'grep' });
    board.selectNeighbour(-1);
    expect(props.onselect).toHaveBeenLastCalledWith('read');
    vi.mocked(props.onselect).mockClear();
    board.selectNeighbour(1);
    expect(props.onselect, 'the edit is in another lane').not.toHaveBeenCalled();
  });

  it('is at first the first one in view', () => {
    const { board, props, stage } = sample();
    stage.show({ u0: 1500, u1: 6000 });
    board.selectNeighbour(1);
    expect(props.onselect).toHaveBeenCalledWith('grep');
  });

  it('is brought into sight, with the agents around it opened', () => {
    const { board, stage } = sample();
    stage.show({ u0: 0, u1: 2000 });
    stage.following = true;
    board.reveal({ taskId: 'b', lane: 'exploration', start: 8000 });
    expect(keysOf(board)).toContain('b/exploration');
    expect([stage.from <= 8000 && stage.to >= 8000, stage.following]).toEqual([true, false]);
  });

  it('is what the view is fitted to, unless a time is selected', () => {
    const { board, stage } = sample({ selected: 'grep' });
    board.frameSelection();
    expect([stage.from <= 2000, stage.to >= 3000, stage.whole]).toEqual([true, true, false]);
    stage.area = { from: 6000, to: 7000 };
    board.frameSelection();
    expect(stage.from).toBeGreaterThan(5000);
  });

  it('has its lane pinned; without one it is the lane under the pointer', () => {
    const selected = sample({ selected: 'edit' });
    selected.board.pinSelection();
    expect(selected.props.onpin).toHaveBeenCalledWith('main/implementation');
    const { board, props, stage } = sample();
    const { offsetX, offsetY } = placeOf(board, stage, 'main/exploration', 500);
    board.hover(offsetX, offsetY);
    board.pinSelection();
    expect(props.onpin).toHaveBeenCalledWith('main/exploration');
  });

  it('steps through matches, and searches first where the typing has not rested', async () => {
    const { board, props } = sample({ find: 'gr' });
    vi.mocked(props.finder.search).mockImplementation(async () => {
      Object.assign(props.finder, { matches: [BARS[1]], text: 'gr' });
    });
    await board.selectMatch(1);
    await board.selectMatch(1);
    expect([vi.mocked(props.finder.search).mock.calls.length, vi.mocked(props.onselect).mock.calls[0]]).toEqual([
      1,
      ['grep'],
    ]);
  });
});

describe('what the task does now', () => {
  const running = bar('build', 9000, 9000, { running: true, lane: 'implementation' });

  it('is its newest running call, not what it reports about itself', () => {
    const telemetry = bar('api', 9500, 9500, { running: true, lane: 'telemetry' });
    expect(sample({ bars: [running, telemetry], running: true }).board.current).toBe('build');
    expect(sample({ running: true }).board.current).toBe('thinking');
    expect(sample({ bars: [running] }).board.current, 'a task that has ended does nothing').toBe('');
  });

  it('is followed only while it runs', () => {
    const ended = sample();
    ended.board.follow();
    expect(ended.stage.following).toBe(false);
    const { board, stage } = sample({ running: true });
    board.follow();
    expect(stage.following).toBe(true);
    board.follow();
    expect(stage.following).toBe(false);
  });
});

describe('the pointer', () => {
  const pointer = (at: { offsetX: number; offsetY: number }, more: Partial<PointerEvent> = {}) =>
    ({ button: 0, shiftKey: false, ...at, ...more }) as PointerEvent;

  it('selects what it clicks, and nothing where nothing is', () => {
    const { board, stage, props, gestures } = sample();
    const at = pointer(placeOf(board, stage, 'main/exploration', 500));
    gestures.down(at);
    gestures.up(at);
    expect(props.onselect).toHaveBeenLastCalledWith('read');
    const beside = pointer(placeOf(board, stage, 'main/exploration', 6500));
    gestures.down(beside);
    gestures.up(beside);
    expect(props.onselect).toHaveBeenLastCalledWith(undefined);
  });

  it('zooms to a run of calls instead: it has no event of its own', () => {
    const { board, stage, props, gestures } = sample({ bars: [bar('bin', 2000, 3000, { id: undefined, count: 9 })] });
    const at = pointer(placeOf(board, stage, 'main/exploration', 2500));
    gestures.down(at);
    gestures.up(at);
    expect([vi.mocked(props.onselect).mock.calls, stage.whole]).toEqual([[], false]);
  });

  it('pans and scrolls when it drags, and selects nothing then', () => {
    const { board, stage, props, gestures } = sample();
    board.height = 30;
    stage.show({ u0: 4000, u1: 6000 });
    stage.following = true;
    gestures.down(pointer({ offsetX: 500, offsetY: 100 }));
    gestures.move(pointer({ offsetX: 600, offsetY: 90 }));
    gestures.up(pointer({ offsetX: 600, offsetY: 90 }));
    expect([Math.round(stage.view.u0), board.scrollTop, stage.following]).toEqual([3800, 10, false]);
    expect(props.onselect).not.toHaveBeenCalled();
  });

  it('selects a time on the ruler, and with Shift a time of the rows that it covers', () => {
    const { board, stage, gestures } = sample();
    gestures.down(pointer({ offsetX: 700, offsetY: RULER_PX - 4 }));
    gestures.move(pointer({ offsetX: 100, offsetY: 200 }));
    expect([stage.area!.from < stage.area!.to, stage.area!.rows]).toEqual([true, undefined]);
    gestures.up(pointer({ offsetX: 100, offsetY: 200 }));
    const { offsetY } = placeOf(board, stage, 'main/implementation', 0);
    gestures.down(pointer({ offsetX: 100, offsetY }, { shiftKey: true }));
    gestures.move(pointer({ offsetX: 300, offsetY }));
    expect([...stage.area!.rows!]).toEqual(['main/implementation']);
  });

  it('forgets what it was over when it leaves', () => {
    const { board, stage, gestures } = sample();
    gestures.move(pointer(placeOf(board, stage, 'main/exploration', 500)));
    expect(board.hovered?.bar.id).toBe('read');
    gestures.leave();
    expect([board.hovered, stage.cursor]).toEqual([undefined, undefined]);
  });
});

describe('the wheel', () => {
  const wheel = (parts: Partial<WheelEvent>) =>
    ({ deltaX: 0, deltaY: 0, deltaMode: 0, offsetX: 500, preventDefault: vi.fn(), ...parts }) as unknown as WheelEvent;
  const width = ({ view }: Stage) => view.u1 - view.u0;

  it('zooms or scrolls as the reader prefers, and zooms with Ctrl in any case', () => {
    const zooming = sample();
    zooming.gestures.wheel(wheel({ deltaY: -100 }), 'zoom');
    expect(zooming.stage.whole).toBe(false);
    const { board, stage, gestures } = sample();
    board.height = 30;
    gestures.wheel(wheel({ deltaY: 20 }), 'scroll');
    expect([board.scrollTop, stage.whole]).toEqual([20, true]);
    gestures.wheel(wheel({ deltaY: -100, ctrlKey: true }), 'scroll');
    expect(stage.whole).toBe(false);
  });

  it('pans sideways, and never moves the page behind', () => {
    const { stage, gestures } = sample();
    stage.show({ u0: 4000, u1: 6000 });
    const before = stage.view.u0;
    const events = [wheel({ deltaX: 100 }), wheel({ deltaY: 5 }), wheel({ deltaY: 5, shiftKey: true })];
    gestures.wheel(events[0]!, 'zoom');
    expect(stage.view.u0).toBeGreaterThan(before);
    for (const event of events.slice(1)) gestures.wheel(event, 'zoom');
    for (const event of events) expect(event.preventDefault).toHaveBeenCalledOnce();
  });

  it('weighs a pinch more than a step of the wheel', () => {
    const [pinched, turned] = [sample(), sample()];
    pinched.gestures.wheel(wheel({ deltaY: -10, ctrlKey: true }), 'zoom');
    turned.gestures.wheel(wheel({ deltaY: -10 }), 'zoom');
    expect(width(pinched.stage)).toBeLessThan(width(turned.stage));
  });
});

describe('the keys of the timeline', () => {
  it('zoom where the pointer is, else in the middle', () => {
    const { stage } = sample();
    expect(zoomAnchor(stage)).toBe(0.5);
    stage.show({ u0: 0, u1: 8000 });
    stage.cursor = 2000;
    expect(zoomAnchor(stage)).toBe(0.25);
    stage.cursor = 9999;
    expect(zoomAnchor(stage)).toBe(1);
  });

  it('select the visible range, but nothing before or after the task', () => {
    const { board, stage } = sample();
    const keys = new Keys();
    keys.add(timelineKeys(board, stage));
    keys.handle(new KeyboardEvent('keydown', { key: 'm' }));
    expect(stage.area).toEqual({ from: 0, to: 10_000 });
  });
});
