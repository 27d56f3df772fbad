/** The addresses behind the numbers of Insights. */
import { dayName, midnight, rangeQuery, type TimeRange } from './range';
import type { InsightsScope } from './data';

const CHIPS = { project: 'project', owner: 'owner', machine: 'machine', agent: 'client' } as const;

/** A value of a chip, in quotes where it has blanks. */
export const quote = (text: string): string => (/[\s"]/.test(text) ? `"${text.replaceAll('"', '')}"` : text);

const address = (path: string, parts: Record<string, string>) => `${path}?${new URLSearchParams(parts).toString()}`;

export class InsightsLinks {
  private readonly range: TimeRange;
  /** The filters that tasks and events have too: a task has no single type of agent. */
  private readonly filters: Record<string, string>;
  private readonly chips: readonly string[];

  constructor({ project, owner, machine, agent }: InsightsScope, range: TimeRange) {
    this.range = range;
    const entries = Object.entries({ project, owner, machine, agent }).filter(([, value]) => value);
    this.filters = Object.fromEntries(entries) as Record<string, string>;
    this.chips = Object.entries(this.filters).map(
      ([name, value]) => `${CHIPS[name as keyof typeof CHIPS]}:${quote(value)}`,
    );
  }

  /** Tasks of the range. */
  tasks(parts: Record<string, string> = {}): string {
    return address('/tasks', { ...this.filters, ...parts, ...rangeQuery(this.range) });
  }

  /** Tasks of the day of a time. */
  day(time: number): string {
    const day = dayName(time);
    return address('/tasks', { ...this.filters, since: midnight(day) ?? '', until: midnight(day, 1) ?? '' });
  }

  /** Events of the range that match some chips. */
  search(...chips: string[]): string {
    return this.events(chips, rangeQuery(this.range));
  }

  /** Events between two times. */
  between(since: string, until: string | undefined): string {
    return this.events([], { since, ...(until ? { until } : {}) });
  }

  private events(chips: readonly string[], range: Record<string, string>): string {
    const words = [...chips, ...this.chips].join(' ');
    return address('/search', { ...(words ? { q: words } : {}), ...range });
  }
}
