/**
 * Questions to the server, and the few things it does for who may change something; every failure becomes a `Problem`
 * that a page can show.
 */
import type {
  ActivityBucket,
  AgentStat,
  Attention,
  Backtest,
  CommandRun,
  CommandStat,
  Compaction,
  CompactionItem,
  ContextPoint,
  DeadLetter,
  EventDetail,
  Exploration,
  FailureStat,
  FileStat,
  FileUse,
  Health,
  Hit,
  LaneBins,
  Limit,
  Loop,
  McpStat,
  Page,
  Permission,
  Policies,
  Question,
  Row,
  RuleDecision,
  Settings,
  SkillStat,
  Task,
  TaskSummary,
  Todo,
  ToolCall,
  ToolStat,
  TreeNode,
  Turn,
  UsageBlock,
  UsageBucket,
  WebLookup,
} from './types';

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

/** Why there is no answer. */
export class Problem extends Error {
  readonly status: number;
  readonly detail: string;
  /** Every part of the request that is wrong: where, and why. */
  readonly errors: readonly { at: string; reason: string }[];

  constructor(status: number, title: string, detail: string, errors: readonly { at: string; reason: string }[] = []) {
    super(title);
    this.status = status;
    this.detail = detail;
    this.errors = errors;
  }

  /** Whether the server was not there at all. */
  get offline(): boolean {
    return this.status === 0;
  }
}

/** Puts a query together; what is undefined, false or empty is left out. */
export function search(query: Query): string {
  const out = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (Array.isArray(value)) {
      for (const one of value as readonly string[]) out.append(name, one);
    } else if (value !== undefined && value !== false && value !== '') out.set(name, String(value));
  }
  const text = out.toString();
  return text && `?${text}`;
}

async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as {
      title?: unknown;
      detail?: unknown;
      errors?: { at?: unknown; reason?: unknown }[];
    };
    const errors = (Array.isArray(body.errors) ? body.errors : []).map(({ at: where, reason }) => ({
      at: String(where ?? ''),
      reason: String(reason ?? ''),
    }));
    return new Problem(response.status, String(body.title ?? response.statusText), String(body.detail ?? ''), errors);
  } catch {
    return new Problem(
      response.status,
      response.statusText || `status ${response.status}`,
      'the answer is not readable',
    );
  }
}

/** An answer that was asked for before the program was read (see `public/first.js`); each is taken once. */
function askedFirst(url: string): Promise<Response> | undefined {
  const asked = (globalThis as { askedFirst?: Map<string, Promise<Response>> }).askedFirst;
  const answer = asked?.get(url);
  asked?.delete(url);
  return answer;
}

/** Asks for a path below `/api/v1/`. */
export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
  const url = `/api/v1/${path}${search(query)}`;
  let response: Response;
  try {
    response = await (askedFirst(url) ?? fetch(url, { signal, headers: { accept: 'application/json' } }));
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'the server does not answer', 'Start it with `agent-tracer serve`.');
  }
  if (!response.ok) throw await problemOf(response);
  return (await response.json()) as T;
}

/** Asks for something to be done. The browser's cookie says who asks; without it the server refuses. */
export async function post(path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
  const told =
    body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { accept: 'application/json', 'content-type': 'application/json' } };
  let response: Response;
  try {
    response = await fetch(`/api/v1/${path}`, { method: 'POST', credentials: 'same-origin', signal, ...told });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(0, 'the server does not answer', 'Start it with `agent-tracer serve`.');
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

/**
 * What is asked about one task or one row is asked of the person whom the address names: on a team's server two may
 * have the same session, and the server does not choose between them.
 */
const personAsked = (): string | undefined =>
  new URLSearchParams(globalThis.location?.search).get('owner') ?? undefined;
const ofPerson = (query: Query = {}): Query => ({ ...query, owner: query['owner'] ?? personAsked() });

/** The name under which an answer about one task or one row is remembered: of the same person as it is asked. */
export const keyOfAnswer = (what: string, id: string): string => `${what} ${id} ${personAsked() ?? ''}`;

const at = (id: string, what = '') => `tasks/${encodeURIComponent(id)}${what && `/${what}`}`;

/** The pages of a list, one after the other, until nobody wants more. */
export async function* pages<T>(path: string, query: Query, signal?: AbortSignal): AsyncGenerator<Page<T>> {
  let cursor: string | undefined;
  do {
    const page: Page<T> = await get(path, { limit: 500, ...query, cursor }, signal);
    yield page;
    cursor = page.nextCursor;
  } while (cursor);
}

/** All pages of a list, at most `most` items. */
export async function all<T>(
  path: string,
  query: Query,
  signal?: AbortSignal,
  most = 5000,
): Promise<{ items: T[]; complete: boolean }> {
  const items: T[] = [];
  for await (const page of pages<T>(path, query, signal)) {
    for (const item of page.items) items.push(item);
    if (page.nextCursor && items.length >= most) return { items, complete: false };
  }
  return { items, complete: true };
}

type Ask<T> = (query?: Query, signal?: AbortSignal) => Promise<T>;
const list =
  <T>(path: string): Ask<Page<T>> =>
  (query, signal) =>
    get(path, query, signal);
type AskTask<T> = (id: string, query?: Query, signal?: AbortSignal) => Promise<T>;
const ofTask =
  <T>(what: string): AskTask<T> =>
  (id, query, signal) =>
    get(at(id, what), ofPerson(query), signal);
const allOfTask =
  <T>(what: string): AskTask<{ items: T[]; complete: boolean }> =>
  (id, query, signal) =>
    all(at(id, what), ofPerson(query), signal);

export const api = {
  tasks: list<Task>('tasks'),
  task: ofTask<Task>(''),
  tree: ofTask<Page<TreeNode>>('tree'),
  summary: ofTask<TaskSummary>('summary'),
  taskUsage: ofTask<Page<UsageBucket>>('usage'),
  lanes: ofTask<LaneBins>('lanes'),
  timeline: allOfTask<Row>('timeline'),
  timelinePage: ofTask<Page<Row>>('timeline'),
  turns: allOfTask<Turn>('turns'),
  toolCalls: allOfTask<ToolCall>('tool-calls'),
  timelinePages: (id: string, query: Query, signal?: AbortSignal) =>
    pages<Row>(at(id, 'timeline'), ofPerson(query), signal),
  contextPage: ofTask<Page<ContextPoint>>('context'),
  compactions: ofTask<Page<Compaction>>('compactions'),
  compactionItems: ofTask<Page<CompactionItem>>('compaction-items'),
  files: allOfTask<FileUse>('files'),
  commands: allOfTask<CommandRun>('commands'),
  exploration: allOfTask<Exploration>('exploration'),
  web: allOfTask<WebLookup>('web'),
  permissions: allOfTask<Permission>('permissions'),
  todos: ofTask<Page<Todo>>('todos'),
  questions: allOfTask<Question>('questions'),
  event: (id: string, signal?: AbortSignal) => get<EventDetail>(`events/${encodeURIComponent(id)}`, ofPerson(), signal),
  search: list<Hit>('search'),
  attention: list<Attention>('attention'),
  health: list0<Health>('health'),
  settings: list0<Settings>('settings'),
  deadLetters: list<DeadLetter>('dead-letters'),
  policies: list0<Policies>('policies'),
  decisions: list<RuleDecision>('policies/decisions'),
  backtest: async (policy: string, query: Query, signal?: AbortSignal) =>
    (await (await post(`policies/backtest${search(query)}`, { policy }, signal)).json()) as Backtest,
  requeue: (name: string) => post(`dead-letters/${encodeURIComponent(name)}/requeue`),
  tools: list<ToolStat>('tools'),
  failures: list<FailureStat>('failures'),
  usage: list<UsageBucket>('usage'),
  allFiles: list<FileStat>('files'),
  skills: list<SkillStat>('skills'),
  mcp: list<McpStat>('mcp'),
  agents: list<AgentStat>('agents'),
  allCommands: list<CommandStat>('commands'),
  loops: list<Loop>('loops'),
  activity: list<ActivityBucket>('activity'),
  limits: list<Limit>('limits'),
  blocks: list<UsageBlock>('usage/blocks'),
};

function list0<T>(path: string): Ask<T> {
  return (query, signal) => get(path, query, signal);
}
