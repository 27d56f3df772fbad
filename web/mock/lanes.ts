/** The lanes of a tree in as many columns as asked for: what the server does with a hundred thousand rows. */
import type { LaneBin, LaneBins, LaneStrip, Row } from '../src/api/types.ts';
import { packTracks } from '../src/layout/tracks.ts';

const LANES = ['user', 'assistant', 'exploration', 'planning', 'implementation', 'rule', 'questions', 'todos', 'background', 'coordination', 'telemetry'];
const RANK = ['guessed', 'inferred', 'reported', 'measured'];
const GAP_MS = 120_000;

interface Placed {
  start: number;
  end: number;
  row: Row;
}

export function laneBins(tasks: readonly { id: string; rows: readonly Row[] }[], now: number, from?: number, to?: number, width = 1000): LaneBins {
  const placed = tasks.map(({ id, rows }) => ({ id, items: placedRows(rows, now) }));
  const all = placed.flatMap(({ items }) => items);
  const begin = from ?? all.reduce((min, { start }) => Math.min(min, start), Number.POSITIVE_INFINITY);
  const stop = to ?? all.reduce((max, { end }) => Math.max(max, end), begin + 1);
  const column = Math.max((stop - begin) / width, 0.001);
  const strips: LaneStrip[] = [];
  for (const { id, items } of placed) {
    const lanes = new Map<string, Placed[]>();
    for (const item of items) {
      const list = lanes.get(item.row.lane);
      if (list) list.push(item);
      else lanes.set(item.row.lane, [item]);
    }
    for (const lane of LANES) {
      const inside = (lanes.get(lane) ?? []).filter(({ start, end }) => end >= begin && start <= stop);
      if (inside.length > 0) strips.push({ taskId: id, lane, bins: bins(inside, begin, column) });
    }
  }
  return { from: new Date(begin).toISOString(), to: new Date(stop).toISOString(), width, strips, gaps: gaps(all, begin, stop) };
}

const cache = new WeakMap<readonly Row[], { length: number; items: Placed[] }>();

/** Reading a hundred thousand times is slow; a task that ended is read once. */
function placedRows(rows: readonly Row[], now: number): Placed[] {
  const known = cache.get(rows);
  if (known?.length === rows.length && !known.items.some(({ row }) => row.state === 'running' || row.endedAt === undefined)) return known.items;
  const items = rows.length > 20_000 && known?.length === rows.length ? known.items : rows.map((row) => place(row, now));
  cache.set(rows, { length: rows.length, items });
  return items;
}

export function place(row: Row, now: number): Placed {
  const start = Date.parse(row.occurredAt);
  const end = row.endedAt ? Date.parse(row.endedAt) : row.state === 'running' ? now : start;
  return { start, end, row };
}

function bins(items: readonly Placed[], begin: number, column: number): LaneBin[] {
  const out: LaneBin[] = [];
  for (const [track, members] of packTracks(items, 8, column).tracks.entries()) {
    let open: LaneBin | undefined;
    let openColumn = -1;
    for (const { start, end, row } of members) {
      const at = Math.floor((start - begin) / column);
      const failed = row.state === 'failed' || row.state === 'denied' ? 1 : 0;
      if (open && at === openColumn && end - start < column) {
        open.busyMs += Math.max(end - Math.max(start, open.end), 0);
        open.end = Math.max(open.end, end);
        open.count += 1;
        open.failures += failed;
        open.id = undefined;
        if (open.tool !== row.toolName) open.tool = undefined;
        if (open.kind !== row.kind) open.kind = undefined;
        if (RANK.indexOf(row.certainty) < RANK.indexOf(open.certainty)) open.certainty = row.certainty;
        continue;
      }
      open = { start, end, count: 1, failures: failed, busyMs: end - start, running: row.state === 'running', track, id: row.id, title: row.title, kind: row.kind, tool: row.toolName, certainty: row.certainty };
      openColumn = at;
      out.push(open);
    }
  }
  return out.sort((a, b) => a.start - b.start);
}

function gaps(items: readonly Placed[], begin: number, stop: number): [number, number][] {
  const sorted = [...items].sort((a, b) => a.start - b.start);
  const out: [number, number][] = [];
  let busy = begin;
  for (const { start, end } of sorted) {
    if (start > stop) break;
    if (start - busy > GAP_MS) out.push([busy, start]);
    busy = Math.max(busy, end);
  }
  return out;
}
