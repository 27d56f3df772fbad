/**
 * Numbers as people read them at a glance. Pure; the clock is an argument.
 */
const NONE = '–';

/** `340 ms`, `4.2 s`, `3m 07s`, `2h 05m`, `3d 4h`: at most two units, never a jumpy third digit. */
export function duration(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return NONE;
  const value = Math.max(ms, 0);
  if (value < 1) return '0 ms';
  if (value < 999.5) return `${Math.round(value)} ms`;
  if (value < 59_950) return `${(value / 1000).toFixed(1)} s`;
  const seconds = Math.round(value / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${String(seconds % 60).padStart(2, '0')}s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`;
  const hours = Math.round(minutes / 60);
  return `${Math.floor(hours / 24)}d ${hours % 24}h`;
}

/** `0`, `950`, `12.4k`, `3.1M`. */
export function count(n: number | undefined): string {
  if (n === undefined || !Number.isFinite(n)) return NONE;
  const size = Math.abs(n);
  if (size < 1000) return String(Math.round(n));
  if (size < 9_950) return `${(n / 1000).toFixed(1)}k`;
  if (size < 999_500) return `${Math.round(n / 1000)}k`;
  if (size < 9_950_000) return `${(n / 1e6).toFixed(1)}M`;
  if (size < 999_500_000) return `${Math.round(n / 1e6)}M`;
  return `${(n / 1e9).toFixed(1)}G`;
}

/** All digits, grouped. */
export function exact(n: number | undefined): string {
  return n === undefined ? NONE : n.toLocaleString('en-US');
}

/** `$0.00`, `$0.42`, `$13.70`, `$1,204`; what is not nothing never looks like nothing. */
export function money(usd: number | undefined): string {
  if (usd === undefined || !Number.isFinite(usd)) return NONE;
  if (usd > 0 && usd < 0.005) return '<$0.01';
  if (usd >= 1000) return `$${Math.round(usd).toLocaleString('en-US')}`;
  return `$${usd.toFixed(2)}`;
}

export interface Costed {
  costUsd: number;
  provenance: { responses: number; unpriced: number };
}

/**
 * `$2.12`, `≥ $2.12` where some responses have no price, `no price` where none has one: never a cost that is not known.
 */
export function cost(usage: Costed | undefined): string {
  if (!usage) return NONE;
  if (usage.provenance.unpriced === 0) return money(usage.costUsd);
  if (!(usage.costUsd > 0)) return 'no price';
  return usage.costUsd < 0.005 ? '> $0.00' : `≥ ${money(usage.costUsd)}`;
}

/** `27 of 80 responses have no price`; empty where all have one. */
export function unpricedNote(usage: Costed | undefined): string {
  if (!usage || usage.provenance.unpriced === 0) return '';
  const { responses, unpriced } = usage.provenance;
  const total = Math.max(responses, unpriced);
  const noun = total === 1 ? 'response' : 'responses';
  return `${exact(unpriced)} of ${exact(total)} ${noun} ${unpriced === 1 ? 'has' : 'have'} no price`;
}

/** What a residual cost: it is of several models, each with a price or without. */
export function residualCost(
  residual: { costUsd: number; models?: readonly { costUsd?: number }[] },
  isPartial: boolean,
): string {
  const models = residual.models ?? [];
  const lacking = models.filter(({ costUsd }) => costUsd === undefined).length;
  // Without models it is unknown which part of a sum has no price.
  const unpriced = models.length > 0 ? lacking : isPartial && !(residual.costUsd > 0) ? 1 : 0;
  return cost({ costUsd: residual.costUsd, provenance: { responses: Math.max(models.length, unpriced), unpriced } });
}

/** What several came to together. */
export function sumCosts(usages: readonly Costed[]): Costed {
  const sum = { costUsd: 0, provenance: { responses: 0, unpriced: 0 } };
  for (const usage of usages) {
    sum.costUsd += usage.costUsd;
    sum.provenance.responses += usage.provenance.responses;
    sum.provenance.unpriced += usage.provenance.unpriced;
  }
  return sum;
}

const CERTAINTIES: Record<string, string> = {
  measured: 'measured',
  reported: 'reported',
  inferred: 'inferred',
  guessed: 'estimated',
  mixed: 'mixed',
};

/** How sure something is, in the words of the legend. */
export const certaintyName = (certainty: string): string => CERTAINTIES[certainty] ?? certainty;

/** `0 B`, `14 KB`, `3.2 MB`. */
export function bytes(n: number | undefined): string {
  if (n === undefined || !Number.isFinite(n)) return NONE;
  if (n < 1024) return `${n} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let value = n / 1024;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

/** `3 %`, `0.4 %`. */
export function percent(part: number | undefined): string {
  if (part === undefined || !Number.isFinite(part)) return NONE;
  if (part > 0 && part < 1) return `${part.toFixed(1)} %`;
  return `${Math.round(part)} %`;
}

const two = (n: number) => String(n).padStart(2, '0');

/** `14:03:07`, in the reader's zone. */
export function clock(time: string | number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime())
    ? NONE
    : `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** `14:03:07.250`. */
export function clockMs(time: string | number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? NONE : `${clock(time)}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Today `14:03`, this year `12 Mar 14:03`, else `12 Mar 2025`. */
export function moment(time: string | number, now: number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return NONE;
  const today = new Date(now);
  const hm = `${two(date.getHours())}:${two(date.getMinutes())}`;
  if (date.toDateString() === today.toDateString()) return hm;
  const day = `${date.getDate()} ${MONTHS[date.getMonth()]}`;
  return date.getFullYear() === today.getFullYear() ? `${day} ${hm}` : `${day} ${date.getFullYear()}`;
}

/** Day and clock, in full: for titles of elements. */
export function fullTime(time: string | number): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return NONE;
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${clockMs(time)}`;
}

/** `just now`, `4 min`, `3 h`, `12 d`: how long ago. */
export function ago(time: string | number, now: number): string {
  const ms = now - new Date(time).getTime();
  if (!Number.isFinite(ms)) return NONE;
  if (ms < 10_000) return 'just now';
  if (ms < 60_000) return `${Math.floor(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h`;
  return `${Math.floor(ms / 86_400_000)} d`;
}

/** `4 min`, `2h 05m`, `3 d`: how long until then; never less than nothing. */
export function until(time: string | number, now: number): string {
  const ms = Math.max(new Date(time).getTime() - now, 0);
  if (!Number.isFinite(ms)) return NONE;
  if (ms < 3_600_000) return `${Math.ceil(ms / 60_000)} min`;
  return ms < 86_400_000 ? duration(ms) : `${Math.round(ms / 86_400_000)} d`;
}

/** `15 min`, `3 h`, `1 d`: the length of a step that is always the same. */
export function step(ms: number): string {
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return ms < 86_400_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`;
}

/** The last folder of a path: what people call a project. */
export function folder(path: string): string {
  const parts = path.split(/[\\/]+/).filter(Boolean);
  return parts.at(-1) ?? path;
}

/** A name for each of some folders: its last part, and as many before it as make it unique. */
export function foldersOf(paths: readonly string[]): Map<string, string> {
  const all = [...new Set(paths)];
  const name = (path: string, parts: number) =>
    path
      .split(/[\\/]+/)
      .filter(Boolean)
      .slice(-parts)
      .join('/') || path;
  return new Map(
    all.map((path) => {
      const most = path.split(/[\\/]+/).filter(Boolean).length;
      let parts = 1;
      while (parts < most && all.some((other) => other !== path && name(other, parts) === name(path, parts)))
        parts += 1;
      return [path, name(path, parts)];
    }),
  );
}

/** A path relative to its root: the end of a path identifies the file. */
export function shortPath(path: string, root = ''): string {
  if (root && path.startsWith(root)) {
    const rest = path.slice(root.length).replace(/^[\\/]+/, '');
    if (rest) return rest;
  }
  return path;
}

/** `+12 %` against the range before, `×40` when it is many times that; empty when there is nothing to compare with. */
export function percentChange(now: number, before: number): string {
  if (!(before > 0)) return '';
  const part = ((now - before) / before) * 100;
  if (Math.abs(part) < 0.5) return '±0 %';
  if (part >= 1000) return `×${count(Math.round(now / before))}`;
  return `${part > 0 ? '+' : '−'}${Math.round(Math.abs(part))} %`;
}

/** `+1.7 points`: the difference of two percentages; a percentage of a percentage cannot be read. */
export function pointChange(now: number, before: number): string {
  const by = now - before;
  if (Math.abs(by) < 0.05) return '±0 points';
  return `${by > 0 ? '+' : '−'}${Math.abs(by).toFixed(1)} points`;
}

/** `0`, `500 ms`, `30 s`, `2 min`, `1.5 h`: for the marks of an axis. */
export function axisDuration(ms: number): string {
  const round = (n: number) => String(Math.round(n * 10) / 10);
  if (ms <= 0) return '0';
  if (ms < 1000) return `${round(ms)} ms`;
  if (ms < 60_000) return `${round(ms / 1000)} s`;
  return ms < 3_600_000 ? `${round(ms / 60_000)} min` : `${round(ms / 3_600_000)} h`;
}

/** A task without a title is known by its session. */
export function taskTitle(task: { title: string; runtimeSessionId: string }): string {
  return task.title.trim() || `Session ${task.runtimeSessionId.slice(0, 8)}`;
}

/** `tool_batch_completed` → `tool batch completed`. */
export function humanize(name: string): string {
  return name.replace(/[_.]+/g, ' ');
}

const ERROR_NAMES: Record<string, string> = { non_zero_exit: 'nonzero exit code' };

/** `Exit code 101` where the code is known, else the type of the error in words. */
export function errorName(errorClass: string, exitCode?: number): string {
  if (errorClass === 'non_zero_exit' && exitCode !== undefined) return `exit code ${exitCode}`;
  return ERROR_NAMES[errorClass] ?? humanize(errorClass);
}

const EFFECT_NAMES: Record<string, string> = { execute_check: 'test or build', neutral: 'no effect' };

/** The effect of a command in words. */
export const effectName = (effect: string): string => EFFECT_NAMES[effect] ?? humanize(effect);

/** A mark of a time axis: the day where the marks are days or one begins, else the time of day. */
export function timeMark(time: number, stepMs: number): string {
  const date = new Date(time);
  const midnight = date.getHours() === 0 && date.getMinutes() === 0;
  return stepMs >= 86_400_000 || midnight
    ? `${date.getDate()} ${date.toLocaleString('en', { month: 'short' })}`
    : clock(time).slice(0, 5);
}

/** The key of a task in a list: on a team's server two people may have shipped the same session. */
export const taskKey = (task: { id: string; owner?: string }): string =>
  task.owner ? `${task.owner} ${task.id}` : task.id;
