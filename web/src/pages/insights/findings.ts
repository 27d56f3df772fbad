/**
 * What is worth a sentence in a period: at most five findings, the weightiest first. Pure. Each is computed from
 * numbers that the page shows too, and opens the rows behind it.
 */
import { agents } from '../../app/agents.svelte';
import { taskUrl } from '../../app/taskUrl';
import type { ToolStat, UsageBucket } from '../../api/types';
import { cost, count, duration, errorName, money, percent } from '../../text/format';
import { countTokens, failureRate, sum, type InsightsData } from './data';
import { quote, type InsightsLinks } from './links';
import { isPartial } from './statColumn';
import { totalCost } from './totals';

export interface Finding {
  /** Foreign text such as a title stands apart from our words. */
  text: string;
  subject?: string;
  href: string;
  /** How much of the whole it concerns, between 0 and 1. */
  weight: number;
}

const MOST = 5;
/** A part of the cost that one session has only if it stands out. */
const LARGE_SHARE = 0.25;
/** Fewer calls say nothing about a share or a percentile. */
const CALLS_AT_LEAST = 20;
const FAILURES_AT_LEAST = 5;
const HIGH_FAILURE_RATE = 0.2;
/** A change below this is everyday. */
const CHANGE_AT_LEAST = 0.5;
const COST_AT_LEAST_USD = 1;
const REPEATS_AT_LEAST = 5;
const TOKENS_AT_LEAST = 1_000_000;
const LOW_CACHE_SHARE = 0.5;

/** Returns the findings of a period; `past` is the period before, where there is one to compare with. */
export function findInsights(data: InsightsData, past: InsightsData | undefined, links: InsightsLinks): Finding[] {
  const found = [
    ...costliestSession(data),
    ...costChange(data, past, links),
    ...failingTool(data, links),
    ...failureChange(data, past, links),
    ...slowerTool(data, past, links),
    ...repeatedCall(data),
    ...unpriced(data, links),
    ...uncachedInput(data, links),
  ];
  return found.sort((a, b) => b.weight - a.weight).slice(0, MOST);
}

/** The item with the greatest number, if there is one above zero. */
function greatest<T>(items: readonly T[], of: (item: T) => number): T | undefined {
  let best: T | undefined;
  for (const item of items) if (of(item) > (best === undefined ? 0 : of(best))) best = item;
  return best;
}

function costliestSession(data: InsightsData): Finding[] {
  const whole = totalCost(data);
  const top = greatest(data.sessions, ({ usage }) => usage.costUsd);
  const part = top ? top.usage.costUsd / whole.costUsd : 0;
  if (!top || whole.costUsd < COST_AT_LEAST_USD || part < LARGE_SHARE || part > 1) return [];
  // Responses without a price may have cost anything: then it is a part of what is known.
  const what = isPartial(whole) ? 'priced cost' : 'cost';
  return [
    {
      text: `${percent(part * 100)} of the ${what} (${money(top.usage.costUsd)}) came from one session:`,
      subject: top.label ?? top.key,
      href: taskUrl(top.key, { owner: top.owner, tab: 'tokens' }),
      weight: part,
    },
  ];
}

function costChange(data: InsightsData, past: InsightsData | undefined, links: InsightsLinks): Finding[] {
  if (!past) return [];
  const [now, before] = [totalCost(data), totalCost(past)];
  if (isPartial(now) || isPartial(before) || before.costUsd <= 0 || now.costUsd < COST_AT_LEAST_USD) return [];
  const change = now.costUsd / before.costUsd - 1;
  if (Math.abs(change) < CHANGE_AT_LEAST) return [];
  const cause = change > 0 ? growth(data.models, past.models) : undefined;
  const by = cause && `; ${percent(cause.part * 100)} of the rise comes from ${agents.modelName(cause.key)}`;
  return [
    {
      text: `Cost ${change > 0 ? 'rose' : 'fell'} from ${cost(before)} to ${cost(now)}${by ?? ''}.`,
      href: links.tasks(),
      weight: Math.min(Math.abs(change), 1),
    },
  ];
}

/** The model whose cost grew most, and its part of everything that grew. */
function growth(
  now: readonly UsageBucket[],
  before: readonly UsageBucket[],
): { key: string; part: number } | undefined {
  const old = new Map(before.map(({ key, usage }) => [key, usage.costUsd]));
  const grown = now.map(({ key, usage }) => ({ key, by: Math.max(usage.costUsd - (old.get(key) ?? 0), 0) }));
  const top = greatest(grown, ({ by }) => by);
  return top && { key: top.key, part: top.by / sum(grown, ({ by }) => by) };
}

function failingTool(data: InsightsData, links: InsightsLinks): Finding[] {
  const worst = greatest(
    data.tools.filter(
      ({ failures, count: calls }) => failures >= FAILURES_AT_LEAST && failures / calls >= HIGH_FAILURE_RATE,
    ),
    ({ failures }) => failures,
  );
  if (!worst) return [];
  const cause = greatest(
    data.failures.filter(({ tool }) => tool === worst.tool),
    (failure) => failure.count,
  );
  const why = cause ? `, most often with “${errorName(cause.errorClass)}”` : '';
  return [
    {
      text: `${count(worst.failures)} of ${count(worst.count)} calls failed${why}:`,
      subject: worst.tool,
      href: links.search(`tool:${quote(worst.tool)}`, 'status:failed'),
      weight: worst.failures / worst.count,
    },
  ];
}

function failureChange(data: InsightsData, past: InsightsData | undefined, links: InsightsLinks): Finding[] {
  if (!past || sum(data.tools, callsOf) < CALLS_AT_LEAST || sum(past.tools, callsOf) < CALLS_AT_LEAST) return [];
  const [now, before] = [failureRate(data.tools), failureRate(past.tools)];
  if (Math.abs(now - before) < 5) return [];
  return [
    {
      text: `The share of failed calls ${now > before ? 'rose' : 'fell'} from ${percent(before)} to ${percent(now)}.`,
      href: links.search('status:failed'),
      weight: Math.min(Math.abs(now - before) / 25, 1),
    },
  ];
}
const callsOf = ({ count: calls }: ToolStat) => calls;

function slowerTool(data: InsightsData, past: InsightsData | undefined, links: InsightsLinks): Finding[] {
  const old = new Map((past?.tools ?? []).map((row) => [row.tool, row]));
  const slower = data.tools.flatMap((row) => {
    const before = old.get(row.tool);
    if (!before || Math.min(row.count, before.count) < CALLS_AT_LEAST || !row.p95Ms || !before.p95Ms) return [];
    const change = row.p95Ms / before.p95Ms - 1;
    return change >= CHANGE_AT_LEAST ? [{ row, before, change }] : [];
  });
  const worst = greatest(slower, ({ row }) => row.totalMs);
  if (!worst) return [];
  return [
    {
      text: `The p95 duration rose from ${duration(worst.before.p95Ms)} to ${duration(worst.row.p95Ms)}:`,
      subject: worst.row.tool,
      href: links.search(`tool:${quote(worst.row.tool)}`, `>${Math.floor((worst.before.p95Ms ?? 0) / 1000)}s`),
      weight:
        Math.min(worst.change / 2, 1) *
        Math.min(
          worst.row.totalMs /
            Math.max(
              sum(data.tools, (row) => row.totalMs),
              1,
            ) +
            0.3,
          1,
        ),
    },
  ];
}

function repeatedCall(data: InsightsData): Finding[] {
  const worst = greatest(data.loops, (loop) => loop.count);
  if (!worst || worst.count < REPEATS_AT_LEAST) return [];
  const failed = worst.failures > 0 ? `, ${count(worst.failures)} of them failed` : '';
  return [
    {
      text: `The same call was repeated ${count(worst.count)} times${failed}:`,
      subject: worst.title,
      href: taskUrl(worst.taskId, { owner: worst.owner, event: worst.lastId }),
      weight: Math.min(worst.count / 20, 1),
    },
  ];
}

function unpriced(data: InsightsData, links: InsightsLinks): Finding[] {
  const { provenance } = totalCost(data);
  if (provenance.unpriced === 0) return [];
  const total = Math.max(provenance.responses, provenance.unpriced);
  const model = greatest(
    data.models.filter(({ usage }) => usage.provenance.unpriced > 0),
    ({ usage }) => usage.provenance.unpriced,
  );
  const end = model ? '; most are from' : '.';
  return [
    {
      text: `${count(provenance.unpriced)} of ${count(total)} responses have no price, so costs are lower bounds${end}`,
      ...(model ? { subject: agents.modelName(model.key) } : {}),
      href: model ? links.tasks({ model: model.key }) : links.tasks(),
      weight: Math.min(provenance.unpriced / total + 0.2, 1),
    },
  ];
}

function uncachedInput(data: InsightsData, links: InsightsLinks): Finding[] {
  const read = sum(data.models, ({ usage }) => usage.cacheReadTokens);
  const input = read + sum(data.models, ({ usage }) => usage.inputTokens + usage.cacheCreationTokens);
  if (sum(data.models, ({ usage }) => countTokens(usage)) < TOKENS_AT_LEAST || input === 0) return [];
  const part = read / input;
  if (part >= LOW_CACHE_SHARE) return [];
  return [
    {
      text: `Only ${percent(part * 100)} of the input tokens were read from the cache.`,
      href: links.tasks(),
      weight: LOW_CACHE_SHARE - part + 0.2,
    },
  ];
}
