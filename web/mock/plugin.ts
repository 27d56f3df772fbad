/**
 * A server that answers like the real one, from a made-up world, inside Vite. `MOCK_WORLD=empty` shows what a new user
 * sees, `MOCK_TASKS=100000` a long history, `MOCK_STILL=1` a world in which nothing moves.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Plugin } from 'vite';

import type { Health, Row, Task } from '../src/api/types.ts';
import * as insights from './insights.ts';
import { laneBins } from './lanes.ts';
import { Random } from './random.ts';
import { lastSeq, nextSeq } from './story.ts';
import * as views from './views.ts';
import { World } from './world.ts';

export function mockServer(): Plugin {
  const middleware = (server: { middlewares: { use: (handle: Handle) => void } }) => void server.middlewares.use(new Mock().handle);
  return { name: 'made-up-server', configureServer: middleware, configurePreviewServer: middleware };
}

type Handle = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

class Missing extends Error {}

export class Mock {
  readonly world: World;
  private readonly clients = new Set<ServerResponse>();
  private readonly random = new Random(8);

  constructor(now = Date.now(), kind = process.env['MOCK_WORLD'] === 'empty' ? 'empty' as const : 'full' as const) {
    this.world = new World(now, kind, Number(process.env['MOCK_TASKS'] ?? 2000));
    if (kind === 'full' && !process.env['MOCK_STILL']) setInterval(() => this.live(), 350).unref();
  }

  handle: Handle = (request, response, next) => {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (!url.pathname.startsWith('/api/v1/')) return next();
    const path = url.pathname.slice('/api/v1/'.length);
    if (path === 'stream') return this.stream(response);
    const send = (status: number, body: unknown, type = 'application/json') => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-cache' });
      response.end(JSON.stringify(body));
    };
    try {
      send(200, this.answer(path, url.searchParams));
    } catch (error) {
      if (!(error instanceof Missing)) throw error;
      send(404, { type: 'about:blank', title: 'not found', status: 404, detail: `there is no \`${path}\``, errors: [] }, 'application/problem+json');
    }
  };

  /** The answer to a path below `/api/v1/`. */
  answer(path: string, query: URLSearchParams): unknown {
    const parts = path.split('/');
    const now = Date.now();
    const to = moment(query.get('until'), now) ?? now;
    const from = moment(query.get('since'), now) ?? to - 7 * 86_400_000;
    const days = this.world.tasks.length ? (to - from) / 86_400_000 : 0;
    const whole = (items: unknown[]) => ({ items: days ? items : [] });
    switch (parts[0]) {
      case 'tasks':
        return parts[1] ? this.task(decodeURIComponent(parts[1]), parts[2] ?? '', query) : page(this.tasks(query), query);
      case 'events': return this.event(decodeURIComponent(parts[1] ?? ''));
      case 'tools': return whole(insights.tools(days));
      case 'failures': return whole(insights.failures(days));
      case 'limits': return { items: days ? insights.limits(now) : [] };
      case 'usage': return parts[1] === 'blocks' ? { items: days ? insights.blocks(now) : [] } : whole(insights.usageBy(query.get('by') ?? 'day', from, to));
      case 'files': return whole(insights.files(days));
      case 'skills': return whole(insights.skills(days));
      case 'mcp': return whole(insights.mcp(days));
      case 'agents': return whole(insights.agents(days));
      case 'commands': return whole(insights.commands(days));
      case 'loops': return whole(insights.loops(now));
      case 'activity': return whole(insights.activity(from, to, Number(query.get('buckets') ?? 60)));
      case 'search': return page(this.search(query), query);
      case 'attention': return { items: this.attention() };
      case 'policies': return { items: [] };
      case 'health': return this.health(now);
      case 'settings': return { version: '0.1.0', address: '127.0.0.1:4747', timeZone: 'Europe/Berlin', privacyLevel: 'actions', excluded: 2, retentionDays: 90, ownPrices: 1, mayWrite: false };
      default: throw new Missing();
    }
  }

  private tasks(query: URLSearchParams): Task[] {
    const many = (name: string) => query.getAll(name).flatMap((value) => value.split(',')).filter(Boolean);
    const status = many('status');
    const q = query.get('q')?.toLowerCase();
    const since = moment(query.get('since'), Date.now());
    return this.world.tasks.filter((task) =>
      (status.length === 0 || status.includes(task.status)) &&
      (!query.get('agent') || task.agent === query.get('agent')) &&
      (!query.get('project') || task.project === query.get('project')) &&
      (!query.get('model') || task.model === query.get('model')) &&
      (!query.get('kind') || task.kind === query.get('kind')) &&
      (!query.get('parent') || task.parentTaskId === query.get('parent')) &&
      (query.get('failedCalls') !== 'true' || task.failureCount > 0) &&
      (!since || Date.parse(task.lastEventAt) >= since) &&
      (!q || task.title.toLowerCase().includes(q) || task.runtimeSessionId.startsWith(q)));
  }

  private task(id: string, what: string, query: URLSearchParams): unknown {
    const tree = this.world.tree(id);
    if (tree.length === 0) throw new Missing();
    const told = tree[0]!.told;
    const since = moment(query.get('since'), Date.now()) ?? Number.NEGATIVE_INFINITY;
    const until = moment(query.get('until'), Date.now()) ?? Number.POSITIVE_INFINITY;
    const wide = query.get('tree') === 'true' ? tree.flatMap((node) => node.told.rows) : told.rows;
    const rows = wide.filter((row) => Date.parse(row.endedAt ?? row.occurredAt) >= since && Date.parse(row.occurredAt) < until).sort((a, b) => a.occurredAt.localeCompare(b.occurredAt));
    const kinds = query.getAll('kind');
    const ofKind = rows.filter((row) => kinds.length === 0 || kinds.includes(row.kind));
    switch (what) {
      case '': return told.task;
      case 'tree': return { items: tree.map(({ depth, told: { task } }) => ({ depth, task })) };
      case 'timeline': return page(query.get('newestFirst') === 'true' ? ofKind.reverse() : ofKind, query);
      case 'turns': return page(views.turns(told), query);
      case 'tool-calls': return page(views.toolCalls(rows), query);
      case 'context': return page(views.context(told.rows), query);
      case 'files': return page(views.files(rows), query);
      case 'commands': return page(views.commands(rows), query);
      case 'exploration': return page(views.exploration(rows), query);
      case 'web': return page(views.web(rows), query);
      case 'permissions': return page(views.permissions(rows), query);
      case 'todos': return { items: views.todos(told.rows) };
      case 'questions': return page(views.questions(rows), query);
      case 'usage': return { items: [{ key: told.task.model ?? '', usage: told.task.treeUsage }] };
      case 'summary': return views.summary(tree.map((node) => node.told), Date.now());
      case 'lanes': return laneBins(tree.map(({ told: { task, rows } }) => ({ id: task.id, rows })), Date.now(), moment(query.get('from'), Date.now()), moment(query.get('to'), Date.now()), Number(query.get('width') ?? 1000));
      default: throw new Missing();
    }
  }

  private event(id: string): unknown {
    const row = this.world.rowById(id);
    if (!row) throw new Missing();
    const entry = (phase: string, at: string, channel: string, fields: object, n: number) => ({ seq: row.seq + n, entryId: `${row.id}-e${n}`, channel, phase, occurredAt: at, evidence: `${channel} ${row.hookEventName ?? row.kind}`, certainty: row.certainty, fields, machineId: 'm-1' });
    return {
      row, fieldChannels: Object.fromEntries(Object.keys(row.metadata).map((key, i) => [key, row.channels[i % row.channels.length]])),
      entries: [entry('open', row.occurredAt, row.channels[0]!, { toolInput: row.metadata['toolInput'] }, 0), ...(row.endedAt ? [entry('close', row.endedAt, row.channels.at(-1)!, { durationMs: row.metadata['durationMs'] }, 1)] : [])],
    };
  }

  private search(query: URLSearchParams): unknown[] {
    const q = (query.get('q') ?? '').trim().toLowerCase();
    const out = [];
    for (const row of this.world.openRows()) {
      if (q && !row.title.toLowerCase().includes(q)) continue;
      if (query.get('tool') && row.toolName !== query.get('tool')) continue;
      if (query.get('state') && row.state !== query.get('state')) continue;
      if (query.get('agentType') && row.agentType !== query.get('agentType')) continue;
      if (query.get('longerThanMs') && !(Number(row.metadata['durationMs']) >= Number(query.get('longerThanMs')))) continue;
      const at = row.title.toLowerCase().indexOf(q);
      const snippet = q ? `${row.title.slice(0, at)}⟦${row.title.slice(at, at + q.length)}⟧${row.title.slice(at + q.length)}` : row.title;
      out.push({ row, taskTitle: this.world.open(row.taskId)?.task.title ?? '', snippet });
      if (out.length >= 3000) break;
    }
    return out.sort((a, b) => b.row.occurredAt.localeCompare(a.row.occurredAt));
  }

  private attention(): unknown[] {
    return this.world.tasks.filter((task) => task.status === 'waiting').map((task) => ({
      taskId: task.id, title: task.title, agent: task.agent, agentType: task.agentType, project: task.project, reason: task.waitingReason, since: task.waitingSince, rowId: this.world.open(task.id)?.rows.at(-1)?.id, text: task.current,
    })).sort((a, b) => String(a.since).localeCompare(String(b.since)));
  }

  private health(now: number): Health {
    const full = this.world.tasks.length > 0;
    return {
      status: full ? 'degraded' : 'ok', version: '0.1.0', seq: lastSeq(), lagMs: full ? 12 : 0,
      store: { kind: 'sqlite', bytes: full ? 412_000_000 : 81_920, entries: full ? 512_331 : 0, events: full ? 231_872 : 0, tasks: this.world.tasks.length, searchLag: full ? 3 : 0, schema: 7 },
      spool: { waiting: full ? 2 : 0, quarantined: full ? 1 : 0, lost: full ? { disk_full: 3 } : {} },
      outcomes: full ? { received: 600_000, recorded: 512_331, duplicate: 87_001, unrecognised: 640, malformed: 21, refused: 7 } : { received: 0, recorded: 0, duplicate: 0, unrecognised: 0, malformed: 0, refused: 0 },
      sources: full ? [{ name: 'hook', lastAt: new Date(now - 800).toISOString(), observations: 401_222, files: 0, bytes: 0 }, { name: '~/.claude/projects', lastAt: new Date(now - 2100).toISOString(), observations: 180_301, files: 2210, bytes: 1.9e9 }, { name: '~/.codex/sessions', observations: 18_477, files: 210, bytes: 2.1e8, problem: 'cannot read `rollout-2026-11-02.jsonl`: permission denied' }, { name: 'otlp', observations: 0, files: 0, bytes: 0 }] : [],
      unrecognised: full ? [{ agent: 'claude_code', clientVersion: '2.1.325', what: 'field', name: 'tool_input.dry_run', count: 512 }, { agent: 'codex', clientVersion: '0.142.1', what: 'row', name: 'event_msg.preview', count: 128 }] : [],
      import: { running: full, files: 310, filesTotal: 2420, bytes: 4e8, bytesTotal: 2.1e9, rows: 61_000 }, retention: full ? { days: 90, lastAt: new Date(now - 3_600_000).toISOString(), tasks: 12, events: 8411 } : { tasks: 0, events: 0 },
      problems: full ? ['1 envelope could not be read and is in quarantine', '3 events were lost because the disk was full'] : [],
    };
  }

  private stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
    response.write(': hello\n\n');
    this.clients.add(response);
    response.on('close', () => this.clients.delete(response));
  }

  /** One running task does something. */
  private live(): void {
    const running = this.world.tasks.filter((task) => task.status === 'running');
    if (running.length === 0) return;
    const task = this.random.pick(running);
    const rows = this.world.open(task.id)?.rows;
    if (!rows) return;
    const now = new Date().toISOString();
    const open = rows.find((row) => row.state === 'running' && row.toolName !== 'Agent');
    let row: Row;
    if (open) {
      const ms = Date.parse(now) - Date.parse(open.occurredAt);
      if (ms < this.random.skewed(4000)) return;
      row = Object.assign(open, { state: this.random.chance(0.1) ? 'failed' : 'succeeded', endedAt: now, seq: nextSeq(), metadata: { ...open.metadata, durationMs: ms, errorClass: undefined } });
      if (row.state === 'failed') task.failureCount += 1;
    } else {
      const [tool, lane, title] = this.random.pick([['Read', 'exploration', 'Read src/store/append.rs'], ['Bash', 'implementation', 'cargo test -p ledger'], ['Edit', 'implementation', 'Change src/http/stream.rs'], ['Grep', 'exploration', 'Search “fn append”']] as const);
      row = {
        id: `${task.id}-l${nextSeq().toString(36)}`, seq: nextSeq(), taskId: task.id, sessionId: `${task.id}-s1`, turnId: rows.at(-1)?.turnId, kind: tool === 'Bash' ? 'terminal.command' : 'tool.used', lane, title, occurredAt: now, state: 'running', toolName: tool,
        toolUseId: `toolu_l${lastSeq()}`, agentId: task.agentId, agentType: task.agentType, isSubagent: task.kind === 'background', runtimeSessionId: task.runtimeSessionId, hookEventName: 'PreToolUse', filePaths: [], metadata: { toolInput: { command: title } }, channels: ['hook'], certainty: 'measured',
      };
      rows.push(row);
      task.toolCallCount += 1;
      task.eventCount += 1;
      task.current = title;
    }
    task.lastEventAt = now;
    for (const client of this.clients) client.write(`id: ${row.seq}\ndata: ${JSON.stringify(row)}\n\n`);
  }
}

function moment(text: string | null, now: number): number | undefined {
  if (!text) return undefined;
  const relative = /^-(\d+)([smhdw])$/.exec(text);
  if (relative) return now - Number(relative[1]) * { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }[relative[2] as 's']!;
  const value = /^\d+$/.test(text) ? Number(text) : Date.parse(text);
  return Number.isNaN(value) ? undefined : value;
}

function page(items: unknown[], query: URLSearchParams): unknown {
  const limit = Math.min(Number(query.get('limit') ?? 100), 500);
  const from = Number(query.get('cursor') ?? 0);
  const rest = from + limit < items.length;
  return { items: items.slice(from, from + limit), nextCursor: rest ? String(from + limit) : undefined };
}
