/** The words of the Policies page. Pure. */
import type { QueryOf } from '../../api/endpoints';
import type { PolicyFile, RuleDecision, RuleReport, RuleStat } from '../../api/types';
import { humanize } from '../../text/format';

/** Outcomes of a rule, the strictest first. */
const OUTCOMES: readonly string[] = ['stop', 'deny', 'block_stop', 'ask', 'rewrite', 'warn', 'allow'];

type DecisionQuery = QueryOf<'/api/v1/policies/decisions'>;

/** Outcomes by which the server can filter decisions. */
export const FILTER_OUTCOMES: NonNullable<DecisionQuery['decision']> = [
  'deny',
  'block_stop',
  'ask',
  'rewrite',
  'warn',
  'allow',
];

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

/** The address of the decisions of a rule. */
export function decisionsUrl(parts: { rule?: string; mode?: string; decision?: string; range?: string }): string {
  const query = new URLSearchParams();
  const isFilter = (FILTER_OUTCOMES as readonly string[]).includes(parts.decision ?? '');
  for (const [name, value] of Object.entries({ ...parts, decision: isFilter ? parts.decision : undefined }))
    if (value) query.set(name, value);
  return `/policies?${query}#decisions`;
}

/** Lists the outcomes of a rule with their counts, the strictest first, without zeros. */
export function listOutcomes(stat: Pick<RuleStat, 'outcomes'>): [string, number][] {
  const rank = (name: string) => {
    const i = OUTCOMES.indexOf(name);
    return i < 0 ? OUTCOMES.length : i;
  };
  return Object.entries(stat.outcomes)
    .filter(([, n]) => n > 0)
    .sort(([a], [b]) => rank(a) - rank(b) || a.localeCompare(b));
}

/** Lists the outcomes of a back-test with their counts, the strictest first, without zeros. */
export function listVerdicts(decisions: RuleReport['decisions']): [string, number][] {
  return (['stopped', 'denied', 'asked', 'rewritten', 'warned', 'allowed'] as const)
    .map((name): [string, number] => [name, decisions[name]])
    .filter(([, n]) => n > 0);
}

const ORIGINS: Record<string, string> = {
  user: 'user file',
  project: 'project file',
  trusted_project: 'project file, trusted',
};

export const formatOrigin = (name: string): string => ORIGINS[name] ?? humanize(name);

/** The command that lets a project's file do more than deny, ask and warn. */
export const trustCommand = (file: Pick<PolicyFile, 'origin' | 'path'>): string | undefined =>
  file.origin === 'project' ? `agent-tracer policy trust ${quoted(file.path)}` : undefined;

/** A path as a shell reads it. */
const quoted = (path: string) => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

const STATUS: Record<string, string> = {
  enforced: 'enforced',
  dry_run: 'dry run',
  held_back: 'suppressed: project not trusted',
  let_go: 'not enforced: deferral limit reached',
};

/** The mode of a decision, and its author if that is not the server. */
export function describeStatus(decision: Pick<RuleDecision, 'status' | 'answeredBy'>): string {
  const by =
    decision.answeredBy === 'guard' ? ', by the guard' : decision.answeredBy === 'outage' ? ', server unreachable' : '';
  return `${STATUS[decision.status] ?? humanize(decision.status)}${by}`;
}

const MOMENTS: Record<string, string> = {
  PreToolUse: 'before',
  PermissionRequest: 'permission for',
  PostToolUse: 'after',
  PostToolUseFailure: 'after failed',
  UserPromptSubmit: 'prompt',
  Stop: 'end of turn',
  SubagentStop: 'end of subagent',
};

/** The trigger of a decision: its hook event, and the tool if there is one. */
export function describeSubject({ inputs }: { inputs: { event?: string; toolName?: string } }): string {
  const moment = inputs.event === undefined ? '' : (MOMENTS[inputs.event] ?? inputs.event);
  return [moment, inputs.toolName].filter(Boolean).join(' ') || 'not recorded';
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

/** `policy:12:3` of a problem as `line 12, column 3`. */
export function formatPlace(at: string): string {
  const [, line, column] = /^policy:(\d+):(\d+)$/.exec(at) ?? [];
  return line ? `line ${line}, column ${column}` : at;
}

/** The first draft of a back-test. */
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
reason = "a person reviews each push"
match.command = { program = "git", subcommand = "push" }
`;
