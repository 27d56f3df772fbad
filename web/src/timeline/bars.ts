/**
 * The bars of the timeline: one per row, or one per bin where the server has put several rows together.
 */
import type { LaneBin, LaneBins, Row } from '../api/types';
import { escapeLine } from '../text/escape';
import { humanize } from '../text/format';

export interface Bar {
  start: number;
  /** For running bars the moment up to which they were seen to run; drawing extends them to now. */
  end: number;
  running: boolean;
  count: number;
  failures: number;
  /** Of a bin: the milliseconds of it in which a call ran. A single row is busy from its start to its end. */
  busyMs?: number;
  taskId: string;
  lane: string;
  track: number;
  label: string;
  certainty: string;
  id?: string;
  tool?: string;
  kind?: string;
  state?: string;
  toolUseId?: string;
  batch?: string;
  /** The files of its call. Only rows know them. */
  files?: readonly string[];
  /** The part at its beginning in which it waited for a permission. */
  waitMs?: number;
}

/**
 * The name by which the rows of a bar are counted: their tool. A bin of several tools has none, but the server titles
 * it by the most frequent one. Rows without a tool are counted by their kind: the words of each are its own.
 */
export const countedName = ({ tool, count, label, kind }: Pick<Bar, 'tool' | 'count' | 'label' | 'kind'>): string =>
  tool ?? (count > 1 && label !== kind ? label : kind === undefined ? label : humanize(kind));

/** The lanes from top to bottom. */
export const LANES = [
  'user',
  'assistant',
  'planning',
  'exploration',
  'implementation',
  'coordination',
  'questions',
  'todos',
  'rule',
  'background',
  'telemetry',
] as const;

export const LANE_NAMES: Record<string, string> = {
  user: 'Human',
  assistant: 'Assistant',
  planning: 'Planning & system',
  exploration: 'Exploration',
  implementation: 'Edits & commands',
  coordination: 'Coordination',
  questions: 'Questions',
  todos: 'To-dos',
  rule: 'Rules',
  background: 'Background',
  telemetry: 'Telemetry',
};

/** The prompts of a subagent come from the agent that started it. */
const SUBAGENT_USER_LANE = 'Parent agent';

/** The label of a lane of a main agent or of a subagent. */
export const laneName = (lane: string, isSubagent: boolean): string =>
  isSubagent && lane === 'user' ? SUBAGENT_USER_LANE : (LANE_NAMES[lane] ?? lane);

const FAILED = new Set(['failed', 'denied']);
const text = (value: unknown) => (typeof value === 'string' ? value : undefined);

export function barOfRow(row: Row, now: number): Bar {
  const start = Date.parse(row.occurredAt);
  const running =
    row.state === 'running' ||
    (row.kind === 'permission.request' && !row.endedAt && row.metadata.decision === undefined);
  const ended = row.endedAt ? Date.parse(row.endedAt) : running ? now : start;
  const wait = row.metadata.permissionWaitMs;
  return {
    start,
    end: Math.max(ended, start),
    running,
    count: 1,
    failures: row.state && FAILED.has(row.state) ? 1 : 0,
    taskId: row.taskId,
    lane: row.lane,
    track: 0,
    label: escapeLine(row.title, 120),
    certainty: row.certainty,
    id: row.id,
    tool: row.toolName,
    kind: row.kind,
    state: row.state,
    toolUseId: row.toolUseId ?? text(row.metadata.toolUseId),
    batch: text(row.metadata.batchId),
    files: row.filePaths?.length ? row.filePaths : undefined,
    waitMs: typeof wait === 'number' ? wait : undefined,
  };
}

export function barOfBin(bin: LaneBin, taskId: string, lane: string): Bar {
  return {
    start: bin.start,
    end: Math.max(bin.end, bin.start),
    running: bin.running,
    count: bin.count,
    failures: bin.failures,
    taskId,
    lane,
    track: bin.track,
    label: escapeLine(bin.title, 120),
    certainty: bin.certainty,
    id: bin.id,
    tool: bin.tool,
    kind: bin.kind,
    busyMs: bin.count > 1 ? bin.busyMs : undefined,
  };
}

export function barsOfBins(bins: LaneBins): Bar[] {
  return bins.strips.flatMap((strip) => strip.bins.map((bin) => barOfBin(bin, strip.taskId, strip.lane)));
}

/** Bars of one lane of one task. */
export type Lanes = Map<string, Map<string, Bar[]>>;

export function byLane(bars: Iterable<Bar>): Lanes {
  const out: Lanes = new Map();
  for (const bar of bars) {
    let lanes = out.get(bar.taskId);
    if (!lanes) out.set(bar.taskId, (lanes = new Map()));
    const list = lanes.get(bar.lane);
    if (list) list.push(bar);
    else lanes.set(bar.lane, [bar]);
  }
  return out;
}

/** A part of a bin, as busy as the whole: where in it the calls ran is not known. */
function cut(bar: Bar, start: number, end: number): Bar {
  const share = (end - start) / Math.max(bar.end - bar.start, 1);
  return { ...bar, start, end, busyMs: bar.busyMs === undefined ? undefined : bar.busyMs * share };
}

/**
 * Puts a coarse picture of the whole and a fine one of a part together: inside the part only the fine one counts. A
 * coarse bar that reaches into the part from outside stays, cut at its edge, unless it is known there by its id.
 */
export function overlay(coarse: readonly Bar[], fine: readonly Bar[], from: number, to: number): Bar[] {
  const known = new Set(fine.map((bar) => bar.id).filter((id) => id !== undefined));
  const out: Bar[] = [...fine];
  for (const bar of coarse) {
    if (bar.id !== undefined && known.has(bar.id)) continue;
    if (bar.end < from || bar.start > to) out.push(bar);
    else if (bar.start < from && bar.count > 1) out.push(cut(bar, bar.start, from));
    else if (bar.end > to && bar.count > 1) out.push(cut(bar, to, bar.end));
  }
  return out;
}
