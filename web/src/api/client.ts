/**
 * The API of the server. A failed request becomes a `Problem` that a page can show.
 */
import { change, endpoint, itemEndpoint, namedChange, search } from './endpoints';
import type { Compaction, EventDetail, Health, Hit, LaneBins, Policies, Question, Row } from './types';

export { answerKey, search, type ItemRef } from './endpoints';

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

  /** Whether the server was not reachable. */
  get offline(): boolean {
    return this.status === 0;
  }
}

/** Makes a problem of an error that is not an answer of the server. */
export const toProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(-1, 'unexpected response', String(error));

async function problemOf(response: Response): Promise<Problem> {
  try {
    const body = (await response.json()) as { title?: unknown; detail?: unknown; errors?: unknown };
    const list = Array.isArray(body.errors) ? (body.errors as { at?: unknown; reason?: unknown }[]) : [];
    const errors = list.map(({ at, reason }) => ({ at: String(at ?? ''), reason: String(reason ?? '') }));
    return new Problem(response.status, String(body.title ?? response.statusText), String(body.detail ?? ''), errors);
  } catch {
    return new Problem(response.status, response.statusText || `status ${response.status}`, 'the response is not JSON');
  }
}

/** Takes an answer that was requested before the program was read (see `public/first.js`); each is taken once. */
function takeEarlyAnswer(url: string): Promise<Response> | undefined {
  const early = (globalThis as { earlyAnswers?: Map<string, Promise<Response>> }).earlyAnswers;
  const answer = early?.get(url);
  // Once: a response can be read once, and a later question wants a newer answer.
  early?.delete(url);
  return answer;
}

/** Awaits a response; throws a `Problem` for a failed one. */
async function settle(response: Promise<Response>, signal?: AbortSignal): Promise<Response> {
  let settled: Response;
  try {
    settled = await response;
  } catch (error) {
    // Its caller has asked something newer: that is no failure of the server.
    if (signal?.aborted) throw error;
    throw new Problem(0, 'the server is not reachable', 'Start it with `agent-tracer serve`.');
  }
  if (!settled.ok) throw await problemOf(settled);
  return settled;
}

async function get<T>(path: string, query: object, signal?: AbortSignal): Promise<T> {
  const url = `/api/v1/${path}${search(query)}`;
  const response = takeEarlyAnswer(url) ?? fetch(url, { signal, headers: { accept: 'application/json' } });
  return (await (await settle(response, signal)).json()) as T;
}

/** Requests a change. The cookie of the browser authorizes it; without one the server refuses. */
function post(path: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const content =
    body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { accept: 'application/json', 'content-type': 'application/json' } };
  return settle(fetch(`/api/v1/${path}`, { method: 'POST', credentials: 'same-origin', signal, ...content }), signal);
}

export const api = {
  tasks: endpoint(get, '/api/v1/tasks').page(),
  task: itemEndpoint(get, '/api/v1/tasks/{id}').one(),
  tree: itemEndpoint(get, '/api/v1/tasks/{id}/tree').page(),
  summary: itemEndpoint(get, '/api/v1/tasks/{id}/summary').one(),
  taskUsage: itemEndpoint(get, '/api/v1/tasks/{id}/usage').page(),
  lanes: itemEndpoint(get, '/api/v1/tasks/{id}/lanes').one<LaneBins>(),
  timeline: itemEndpoint(get, '/api/v1/tasks/{id}/timeline').all<Row>(),
  timelinePages: itemEndpoint(get, '/api/v1/tasks/{id}/timeline').pages<Row>(),
  turns: itemEndpoint(get, '/api/v1/tasks/{id}/turns').all(),
  toolCalls: itemEndpoint(get, '/api/v1/tasks/{id}/tool-calls').all(),
  contextPage: itemEndpoint(get, '/api/v1/tasks/{id}/context').page(),
  compactions: itemEndpoint(get, '/api/v1/tasks/{id}/compactions').page<Compaction>(),
  compactionItems: itemEndpoint(get, '/api/v1/tasks/{id}/compaction-items').page(),
  files: itemEndpoint(get, '/api/v1/tasks/{id}/files').all(),
  commands: itemEndpoint(get, '/api/v1/tasks/{id}/commands').all(),
  exploration: itemEndpoint(get, '/api/v1/tasks/{id}/exploration').all(),
  web: itemEndpoint(get, '/api/v1/tasks/{id}/web').all(),
  permissions: itemEndpoint(get, '/api/v1/tasks/{id}/permissions').all(),
  todos: itemEndpoint(get, '/api/v1/tasks/{id}/todos').page(),
  questions: itemEndpoint(get, '/api/v1/tasks/{id}/questions').all<Question>(),
  event: itemEndpoint(get, '/api/v1/events/{id}').one<EventDetail>(),
  search: endpoint(get, '/api/v1/search').page<Hit>(),
  attention: endpoint(get, '/api/v1/attention').page(),
  health: endpoint(get, '/api/v1/health').one<Health>(),
  settings: endpoint(get, '/api/v1/settings').one(),
  deadLetters: endpoint(get, '/api/v1/dead-letters').page(),
  supportedAgents: endpoint(get, '/api/v1/supported-agents').page(),
  policies: endpoint(get, '/api/v1/policies').one<Policies>(),
  decisions: endpoint(get, '/api/v1/policies/decisions').page(),
  tools: endpoint(get, '/api/v1/tools').page(),
  failures: endpoint(get, '/api/v1/failures').page(),
  usage: endpoint(get, '/api/v1/usage').page(),
  allFiles: endpoint(get, '/api/v1/files').page(),
  skills: endpoint(get, '/api/v1/skills').page(),
  mcp: endpoint(get, '/api/v1/mcp').page(),
  agents: endpoint(get, '/api/v1/agents').page(),
  allCommands: endpoint(get, '/api/v1/commands').page(),
  loops: endpoint(get, '/api/v1/loops').page(),
  activity: endpoint(get, '/api/v1/activity').page(),
  limits: endpoint(get, '/api/v1/limits').page(),
  blocks: endpoint(get, '/api/v1/usage/blocks').page(),
  backtest: change(post, '/api/v1/policies/backtest'),
  requeue: namedChange(post, '/api/v1/dead-letters/{name}/requeue'),
};
