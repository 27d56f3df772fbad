/**
 * The rows of the timeline from top to bottom, and what stands in each: pure, so that it can be tested.
 *
 * The human and the assistant of the task come first, then the main agent with its lanes, then each subagent below the
 * one that started it. A closed agent is one row that shows everything it does.
 */
import type { Task, TreeNode } from '../api/types';
import { packTracks } from '../layout/tracks';
import { laneName, LANES, type Bar, type Lanes } from './bars';

export interface LaneRow {
  key: string;
  kind: 'agent' | 'lane';
  task: Task;
  lane: string;
  label: string;
  depth: number;
  /** Whether it can be opened, and is. Lanes cannot. */
  open: boolean | undefined;
  /** Subagents hidden inside a closed row, at any depth. */
  inside: number;
  tracks: Bar[][];
  /** Items that found no track of their own. */
  overflow: number;
  /** Whether it was put to the top. */
  pinned: boolean;
  top: number;
  height: number;
  trackPx: number;
}

export const TRACK_PX = 16;
export const AGENT_PX = 24;
const THIN_PX = 9;
const PAD_PX = 6;
// As many as the server packs a lane into.
const MAX_TRACKS = 8;
const CLOSED_TRACKS = 3;

export interface RowOptions {
  /** Ids of agents that are closed. */
  closed: ReadonlySet<string>;
  /** Lanes that are not shown. */
  hidden: ReadonlySet<string>;
  /** How long a moment is drawn, so that equal moments do not hide each other. */
  momentMs: number;
  /** Rows that once had this many tracks keep them: a finer picture must not make the page jump. */
  tracksAtLeast?: ReadonlyMap<string, number>;
  /** Keys of rows that stand at the top, whatever is open or closed around them. */
  pinned?: ReadonlySet<string>;
}

export function buildRows(tree: readonly TreeNode[], lanes: Lanes, options: RowOptions): LaneRow[] {
  const out: LaneRow[] = [];
  const push = (row: Omit<LaneRow, 'top' | 'pinned'>) => {
    out.push({ ...row, top: 0, pinned: options.pinned?.has(row.key) ?? false });
  };
  const grown = tree.length > 1;
  const laneRow = (task: Task, lane: string, depth: number) => {
    let bars = lanes.get(task.id)?.get(lane);
    // The life of a subagent has a row of its own.
    if (grown && lane === 'background') bars = bars?.filter((bar) => !isLifespan(bar));
    if (!bars?.length || options.hidden.has(lane)) return;
    const thin = lane === 'telemetry';
    const { tracks, overflow } = packTracks(bars, thin ? 1 : MAX_TRACKS, thin ? 0 : options.momentMs);
    const trackPx = thin ? THIN_PX : TRACK_PX;
    keepTracks(tracks, options.tracksAtLeast?.get(`${task.id}/${lane}`));
    push({
      key: `${task.id}/${lane}`,
      kind: 'lane',
      task,
      lane,
      label: laneName(lane, depth > 1),
      depth,
      open: undefined,
      inside: 0,
      tracks,
      overflow: thin ? 0 : overflow,
      height: tracks.length * trackPx + PAD_PX,
      trackPx,
    });
  };

  const root = tree[0];
  if (!root) return out;
  const speaking = ['user', 'assistant'];
  for (const lane of speaking) laneRow(root.task, lane, 0);
  let skipBelow = Number.POSITIVE_INFINITY;
  for (const [i, { task, depth }] of tree.entries()) {
    if (depth > skipBelow) continue;
    skipBelow = Number.POSITIVE_INFINITY;
    const open = !options.closed.has(task.id);
    const own = [...(lanes.get(task.id)?.entries() ?? [])].filter(
      ([lane]) => !options.hidden.has(lane) && lane !== 'telemetry' && !(i === 0 && speaking.includes(lane)),
    );
    let tracks: Bar[][] = [];
    let overflow = 0;
    let inside = 0;
    if (!open) {
      skipBelow = depth;
      ({ tracks, overflow } = packTracks(
        own.flatMap(([, bars]) => bars),
        CLOSED_TRACKS,
        options.momentMs,
      ));
      keepTracks(tracks, options.tracksAtLeast?.get(task.id));
      for (let j = i + 1; j < tree.length && tree[j]!.depth > depth; j += 1) inside += 1;
    }
    const trackPx = open ? 0 : tracks.length > 1 ? THIN_PX : TRACK_PX;
    push({
      key: task.id,
      kind: 'agent',
      task,
      lane: 'agent',
      label: task.agentType === 'main' ? 'Main agent' : task.agentType,
      depth,
      open,
      inside,
      tracks,
      overflow,
      height: open ? AGENT_PX : Math.max(AGENT_PX, tracks.length * trackPx + PAD_PX + 2),
      trackPx,
    });
    if (open) for (const lane of LANES) if (!(i === 0 && speaking.includes(lane))) laneRow(task, lane, depth + 1);
  }
  return placeRows(out);
}

/** Pinned rows first, each below the one before. */
function placeRows(rows: LaneRow[]): LaneRow[] {
  const ordered = rows.some((row) => row.pinned)
    ? [...rows.filter((row) => row.pinned), ...rows.filter((row) => !row.pinned)]
    : rows;
  let top = 0;
  for (const row of ordered) {
    row.top = top;
    top += row.height;
  }
  return ordered;
}

/** Whether a bar is the row of the parent that spans the life of a subagent. */
const isLifespan = (bar: Bar): boolean =>
  bar.count === 1 && bar.kind === 'action.logged' && bar.label.startsWith('Subagent ');

function keepTracks(tracks: Bar[][], atLeast = 0): void {
  while (tracks.length < atLeast) tracks.push([]);
}

export const totalHeight = (rows: readonly LaneRow[]): number => {
  const last = rows.at(-1);
  return last ? last.top + last.height : 0;
};

/** The row at a height, if there is one. */
export function rowAt(rows: readonly LaneRow[], y: number): LaneRow | undefined {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle]!;
    if (row.top + row.height <= y) low = middle + 1;
    else high = middle;
  }
  const row = rows[low];
  return row && y >= row.top ? row : undefined;
}

/** Agents that are closed at first: with many of them, all but the main one. */
export function defaultClosed(tree: readonly TreeNode[]): Set<string> {
  return tree.length > 3 ? new Set(tree.slice(1).map((node) => node.task.id)) : new Set();
}

/** The keys of the rows between two heights; of a closed agent those inside it too. */
export function rowsBetween(
  rows: readonly LaneRow[],
  tree: readonly TreeNode[],
  a: number,
  b: number,
): ReadonlySet<string> {
  const [top, bottom] = [Math.min(a, b), Math.max(a, b)];
  const covered = rows.filter((row) => row.top < bottom && row.top + row.height > top);
  const lanes = covered.filter((row) => row.kind === 'lane' || !row.open);
  const keys = new Set((lanes.length > 0 ? lanes : covered).map((row) => row.key));
  for (const { task } of tree) if (task.parentTaskId && keys.has(task.parentTaskId)) keys.add(task.id);
  return keys;
}
