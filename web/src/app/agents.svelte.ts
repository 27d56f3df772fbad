/**
 * The agents that the server can record: their names, marks and colours. They come from the server's own table; those
 * of the last visit stand in until it has answered.
 */
import { api } from '../api/client';
import type { QueryOf } from '../api/endpoints';
import type { SupportedAgent } from '../api/types';

/** An agent in a query. */
export type AgentId = NonNullable<QueryOf<'/api/v1/tasks'>['agent']>;

const STORE = 'agent-tracer-agents';
const TEXTS = ['id', 'name', 'shortName', 'mark', 'darkColour', 'lightColour', 'word'] as const;
const NO_MODEL = '–';

const isAgent = (value: unknown): value is SupportedAgent =>
  typeof value === 'object' &&
  value !== null &&
  TEXTS.every((name) => typeof (value as Record<string, unknown>)[name] === 'string');

function readStored(): readonly SupportedAgent[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORE) ?? '[]');
    return Array.isArray(stored) && stored.every(isAgent) ? stored : [];
  } catch {
    // Storage may be forbidden or hold something else; then the names come with the answer.
    return [];
  }
}

export class AgentTable {
  rows = $state.raw<readonly SupportedAgent[]>(readStored());

  /** Asks the server. If it does not answer, what is known stays. */
  async load(): Promise<void> {
    try {
      this.rows = (await api.supportedAgents()).items;
    } catch {
      return;
    }
    try {
      localStorage.setItem(STORE, JSON.stringify(this.rows));
    } catch {
      // Storage may be forbidden; then every visit begins without names.
    }
  }

  find(id: string): SupportedAgent | undefined {
    return this.rows.find((row) => row.id === id);
  }

  /** Returns the name; an unknown agent keeps its id. */
  name(id: string): string {
    return this.find(id)?.name ?? id;
  }

  /** Returns the name for narrow columns; an unknown agent keeps its id. */
  shortName(id: string): string {
    return this.find(id)?.shortName ?? id;
  }

  /** Returns two letters; those of an unknown agent are the first of its id. */
  mark(id: string): string {
    return this.find(id)?.mark ?? id.slice(0, 1).toUpperCase() + id.slice(1, 2);
  }

  /** Reads an agent from an address. An unknown one is ignored, unless the table itself is not known yet. */
  parse(text: string | null): AgentId | undefined {
    if (!text || (this.rows.length > 0 && !this.find(text))) return undefined;
    return text as AgentId;
  }

  /** Returns the commands that connect the agents, one each. */
  get installCommands(): readonly string[] {
    return this.rows.map(({ word }) => `agent-tracer install ${word}`);
  }

  /** Shortens the name of a model: its date and the name of its agent say little at a glance. */
  modelName(model: string | undefined): string {
    if (!model) return NO_MODEL;
    const undated = model.replace(/-20\d{6}$/, '');
    const prefix = this.rows.map(({ modelPrefix }) => modelPrefix).find((one) => one && undated.startsWith(one));
    return undated.slice(prefix?.length ?? 0);
  }
}

export const agents = new AgentTable();
