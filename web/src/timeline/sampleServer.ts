/**
 * A server for tests of the timeline: tasks of generated rows, answered as the real one answers, in columns as wide as
 * asked for or as pages of rows.
 */
import type { LaneBin, LaneBins, LaneStrip, Page, Row, TreeNode } from '../api/types';
import { packTracks } from '../layout/tracks';

/** A task of a hundred thousand calls that has ended. */
export const LARGE_TASK = 'task-large';
/** A task of a few dozen calls of which the last one runs. */
export const RUNNING_TASK = 'task-running';

const HOUR_MS = 3_600_000;
const PAGE_ROWS = 500;
const TOOLS: { tool: string; kind: Row['kind']; lane: Row['lane']; typicalMs: number }[] = [
  { tool: 'Read', kind: 'tool.used', lane: 'exploration', typicalMs: 12 },
  { tool: 'Edit', kind: 'tool.used', lane: 'implementation', typicalMs: 30 },
  { tool: 'Bash', kind: 'terminal.command', lane: 'implementation', typicalMs: 900 },
];

interface Span {
  start: number;
  end: number;
  row: Row;
}

/** Numbers from 0 to 1 that are the same in each run. */
function numbers(): () => number {
  let state = 42;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Rows between two times, in waves with idle time between them, so that there are gaps to fold. */
function generateSpans(taskId: string, count: number, from: number, to: number): Span[] {
  const next = numbers();
  const spans: Span[] = [];
  for (let i = 0; i < count; i += 1) {
    const wave = Math.floor(next() * 4) * 10 + Math.floor(next() * 9);
    const { tool, kind, lane, typicalMs } = TOOLS[Math.floor(next() * TOOLS.length)]!;
    const start = Math.floor(from + ((wave + next()) / 40) * (to - from));
    const end = start + Math.ceil(typicalMs * (0.2 + next() * 2));
    const row: Partial<Row> = {
      id: `${taskId}-${i}`,
      seq: i,
      taskId,
      kind,
      lane,
      title: `${tool} ${i}`,
      toolName: tool,
      toolUseId: `call-${i}`,
      state: next() < 0.02 ? 'failed' : 'succeeded',
      occurredAt: new Date(start).toISOString(),
      endedAt: new Date(end).toISOString(),
      metadata: {},
      channels: ['hook'],
      certainty: 'measured',
    };
    spans.push({ start, end, row: row as Row });
  }
  return spans.sort((a, b) => a.start - b.start);
}

/** Cuts the spans of one lane into columns, as `crates/server` does. */
function binsOf(spans: readonly Span[], begin: number, columnMs: number): LaneBin[] {
  const bins: LaneBin[] = [];
  for (const [track, members] of packTracks(spans, 8, columnMs).tracks.entries()) {
    let open: LaneBin | undefined;
    let openColumn = -1;
    for (const { start, end, row } of members) {
      const column = Math.floor((start - begin) / columnMs);
      const failures = row.state === 'failed' ? 1 : 0;
      if (open && column === openColumn && end - start < columnMs) {
        open.busyMs += Math.max(end - Math.max(start, open.end), 0);
        open.end = Math.max(open.end, end);
        open.count += 1;
        open.failures += failures;
        open.id = undefined;
        continue;
      }
      const { id, title, kind, toolName: tool, certainty } = row;
      const running = row.endedAt === undefined;
      open = { start, end, count: 1, failures, busyMs: end - start, running, track, id, title, kind, tool, certainty };
      openColumn = column;
      bins.push(open);
    }
  }
  return bins;
}

export class SampleServer {
  /** The paths below `/api/v1/` that were requested, with their queries. */
  readonly requests: string[] = [];
  private readonly tasks: Map<string, Span[]>;

  constructor(now: number) {
    const running = generateSpans(RUNNING_TASK, 40, now - HOUR_MS / 6, now);
    Object.assign(running.at(-1)!, { end: now });
    Object.assign(running.at(-1)!.row, { state: 'running', endedAt: undefined });
    this.tasks = new Map([
      [LARGE_TASK, generateSpans(LARGE_TASK, 100_000, now - 9 * HOUR_MS, now - HOUR_MS)],
      [RUNNING_TASK, running],
    ]);
  }

  /** Stands in for `fetch`. */
  readonly fetch = (path: string): Promise<Response> => {
    const url = new URL(path, 'http://localhost');
    const resource = url.pathname.slice('/api/v1/'.length);
    this.requests.push(`${resource}${url.search}`);
    return Promise.resolve(new Response(JSON.stringify(this.answer(resource, url.searchParams))));
  };

  private answer(resource: string, query: URLSearchParams): unknown {
    if (resource === 'search') return { items: [] };
    const [, id, view] = resource.split('/');
    const spans = this.tasks.get(id!)!;
    if (view === 'tree') return this.tree(id!);
    if (view === 'lanes') return this.lanes(id!, spans, query);
    return this.rows(spans, query);
  }

  private tree(id: string): Page<TreeNode> {
    return { items: [{ depth: 0, task: { id } } as TreeNode] };
  }

  private lanes(taskId: string, spans: readonly Span[], query: URLSearchParams): LaneBins {
    const from = Date.parse(query.get('from') ?? spans[0]!.row.occurredAt);
    const to = query.has('to') ? Date.parse(query.get('to')!) : Math.max(...spans.slice(-100).map(({ end }) => end));
    const width = Number(query.get('width'));
    const inside = spans.filter(({ start, end }) => end >= from && start <= to);
    const lanes = ['exploration', 'implementation'] as const;
    const strips: LaneStrip[] = lanes.map((lane) => {
      const ofLane = inside.filter(({ row }) => row.lane === lane);
      return { taskId, lane, bins: binsOf(ofLane, from, Math.max((to - from) / width, 0.001)) };
    });
    return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), width, strips, gaps: gapsOf(inside) };
  }

  private rows(spans: readonly Span[], query: URLSearchParams): Page<Row> {
    const since = Date.parse(query.get('since') ?? '1970-01-01');
    const until = Date.parse(query.get('until') ?? '9999-12-31');
    const rows = spans.filter(({ start, end }) => end >= since && start < until).map(({ row }) => row);
    const first = Number(query.get('cursor') ?? 0);
    const next = first + PAGE_ROWS;
    return { items: rows.slice(first, next), nextCursor: next < rows.length ? String(next) : undefined };
  }
}

/** Idle time of more than two minutes. */
function gapsOf(spans: readonly Span[]): [number, number][] {
  const gaps: [number, number][] = [];
  let busyUntil = Number.POSITIVE_INFINITY;
  for (const { start, end } of spans) {
    if (start - busyUntil > 120_000) gaps.push([busyUntil, start]);
    busyUntil = Math.max(busyUntil === Number.POSITIVE_INFINITY ? end : busyUntil, end);
  }
  return gaps;
}
