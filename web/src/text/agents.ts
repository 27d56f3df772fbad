/** The agents that the pages can name. The only table of them in the dashboard. */
import type { QueryOf } from '../api/endpoints';

/** An agent in a query. */
export type AgentId = NonNullable<QueryOf<'/api/v1/tasks'>['agent']>;

interface AgentLabel {
  name: string;
  /** For narrow columns. */
  short: string;
}

const AGENTS: Record<AgentId, AgentLabel> = {
  claude_code: { name: 'Claude Code', short: 'Claude' },
  codex: { name: 'Codex', short: 'Codex' },
};

/** Every agent with its name, for a list of choices. */
export const AGENT_CHOICES: readonly { id: AgentId; name: string }[] = Object.entries(AGENTS).map(([id, { name }]) => ({
  id: id as AgentId,
  name,
}));

const labelOf = (agent: string): AgentLabel | undefined => (AGENTS as Record<string, AgentLabel>)[agent];

/** `Claude Code`; an unknown agent keeps its id. */
export const agentName = (agent: string): string => labelOf(agent)?.name ?? agent;

/** `Claude`; an unknown agent keeps its id. */
export const agentShortName = (agent: string): string => labelOf(agent)?.short ?? agent;

/** Reads an agent from an address; an unknown one is ignored. */
export const parseAgent = (text: string | null): AgentId | undefined => AGENT_CHOICES.find(({ id }) => id === text)?.id;
