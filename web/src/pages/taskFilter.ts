/** The filters of the task list: how the address holds them, and the query that they make. */
import type { QueryOf } from '../api/endpoints';
import { agents, type AgentId } from '../app/agents.svelte';

type TaskQuery = QueryOf<'/api/v1/tasks'>;
export type TaskStatus = NonNullable<TaskQuery['status']>[number];

export const STATUSES: readonly TaskStatus[] = ['running', 'waiting', 'failed', 'completed', 'abandoned'];
export const SINCE = [
  ['', 'any time'],
  ['-1h', 'last hour'],
  ['-24h', 'last 24 hours'],
  ['-7d', 'last 7 days'],
  ['-30d', 'last 30 days'],
] as const;

export interface TaskFilter {
  q: string;
  status: TaskStatus[];
  agent: AgentId | undefined;
  project: string;
  owner: string;
  machine: string;
  model: string;
  since: string;
  until: string;
  failed: boolean;
  subagents: boolean;
}

/** Reads the filter from the address; unknown values are ignored. */
export function readFilter(query: URLSearchParams): TaskFilter {
  const named = (query.get('status') ?? '').split(',');
  return {
    q: query.get('q') ?? '',
    status: STATUSES.filter((status) => named.includes(status)),
    agent: agents.parse(query.get('agent')),
    project: query.get('project') ?? '',
    owner: query.get('owner') ?? '',
    machine: query.get('machine') ?? '',
    model: query.get('model') ?? '',
    since: query.get('since') ?? '',
    until: query.get('until') ?? '',
    failed: query.get('failed') === '1',
    subagents: query.get('subagents') === '1',
  };
}

/** Builds the query. */
export function askFor(filter: TaskFilter): TaskQuery {
  return {
    q: filter.q || undefined,
    status: filter.status,
    agent: filter.agent,
    project: filter.project || undefined,
    owner: filter.owner || undefined,
    machine: filter.machine || undefined,
    model: filter.model || undefined,
    since: filter.since || undefined,
    until: filter.until || undefined,
    failedCalls: filter.failed || undefined,
    kind: filter.subagents ? undefined : 'primary',
  };
}

export const isFiltered = (filter: TaskFilter): boolean =>
  Boolean(
    filter.q ||
    filter.status.length ||
    filter.agent ||
    filter.project ||
    filter.owner ||
    filter.machine ||
    filter.model ||
    filter.since ||
    filter.until ||
    filter.failed,
  );
