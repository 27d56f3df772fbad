/** What the page of rules says about them: pure. */
import type { PolicyFile, RuleDecision, RuleFound, RuleStat } from '../../api/types';
import { humanize } from '../../text/format';

/** What can come of a rule, the strictest first. */
export const OUTCOMES = ['stop', 'deny', 'block_stop', 'ask', 'rewrite', 'warn', 'allow'] as const;

const TONES: Record<string, string> = {
  stop: 'bad',
  deny: 'bad',
  block_stop: 'bad',
  stopped: 'bad',
  denied: 'bad',
  ask: 'warn',
  asked: 'warn',
  warn: 'warn',
  warned: 'warn',
  allow: 'good',
  allowed: 'good',
  rewrite: 'accent',
  rewritten: 'accent',
};

export const toneOf = (decision: string): string => TONES[decision] ?? 'dim';

/** Where the decisions of a rule, or some of them, are listed. */
export function decisionsUrl(parts: { rule?: string; mode?: string; decision?: string; range?: string }): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) if (value) query.set(name, value);
  return `/policies?${query}#decisions`;
}

/** How often a rule came to what, the strictest first, without what never was. */
export function listOutcomes(stat: Pick<RuleStat, 'outcomes'>): [string, number][] {
  const rank = (name: string) => {
    const i = (OUTCOMES as readonly string[]).indexOf(name);
    return i < 0 ? OUTCOMES.length : i;
  };
  return Object.entries(stat.outcomes)
    .filter(([, n]) => n > 0)
    .sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
}

/** What a try would have done to somebody, the strictest first, without what never was. */
export function listVerdicts(decisions: RuleFound['decisions']): [string, number][] {
  return (['stopped', 'denied', 'asked', 'rewritten', 'warned', 'allowed'] as const)
    .map((name): [string, number] => [name, decisions[name]])
    .filter(([, n]) => n > 0);
}

const ORIGINS: Record<string, string> = {
  user: 'yours',
  project: 'of a project',
  trusted_project: 'of a project, trusted',
};

export const formatOrigin = (name: string): string => ORIGINS[name] ?? humanize(name);

/** The command that lets a project's file do more than deny, ask and warn. */
export const trustCommand = (file: Pick<PolicyFile, 'origin' | 'path'>): string | undefined =>
  file.origin === 'project' ? `agent-tracer policy trust ${quoted(file.path)}` : undefined;

/** A path as a shell reads it. */
const quoted = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

const STATUS: Record<string, string> = {
  enforced: 'in force',
  dry_run: 'rehearsed',
  held_back: 'held back: the project is not trusted',
  let_go: 'let go: put off as often as it may be',
};

/** How a decision counted, in words, with who made it if it was not the server. */
export function describeStatus(decision: Pick<RuleDecision, 'status' | 'answeredBy'>): string {
  const by =
    decision.answeredBy === 'guard'
      ? ', by the guard'
      : decision.answeredBy === 'outage'
        ? ', because nobody answered'
        : '';
  return `${STATUS[decision.status] ?? humanize(decision.status)}${by}`;
}

const MOMENTS: Record<string, string> = {
  PreToolUse: 'before',
  PermissionRequest: 'permission for',
  PostToolUse: 'after',
  PostToolUseFailure: 'after the failure of',
  UserPromptSubmit: 'a prompt',
  Stop: 'the end of a turn',
  SubagentStop: 'the end of a subagent',
};

/** What a decision was about: the moment, and the tool if there is one. */
export function describeSubject({ inputs }: { inputs: { event?: string; toolName?: string } }): string {
  const moment = inputs.event === undefined ? '' : (MOMENTS[inputs.event] ?? inputs.event);
  return [moment, inputs.toolName].filter(Boolean).join(' ') || 'something that was not told';
}

/** Microseconds as people read them. */
export const formatMicros = (us: number | undefined): string =>
  us === undefined
    ? '–'
    : us < 1000
      ? `${us} µs`
      : us < 10_000
        ? `${(us / 1000).toFixed(1)} ms`
        : `${Math.round(us / 1000)} ms`;

/** `policy:12:3` of a problem as a place that a person finds. */
export function formatPlace(at: string): string {
  const [, line, column] = /^policy:(\d+):(\d+)$/.exec(at) ?? [];
  return line ? `line ${line}, column ${column}` : at;
}

/** A draft to begin with: it does nothing but tell what it would have done. */
export const DRAFT = `version = 1

[[rule]]
name = "no-recursive-delete"
on = "PreToolUse"
decision = "deny"
reason = "delete files one by one, by name"
match.command = { effect = "delete", recursive = true }

[[rule]]
name = "ask-before-push"
on = "PreToolUse"
decision = "ask"
reason = "a person looks before anything leaves this machine"
match.command = { program = "git", subcommand = "push" }
`;
