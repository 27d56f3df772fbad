/** Which time is looked at, and which one before it is compared with. */
export interface TimeRange {
  since: number;
  until: number;
}

export const RANGES = [
  ['24h', '24 hours', 1],
  ['7d', '7 days', 7],
  ['30d', '30 days', 30],
  ['90d', '90 days', 90],
  ['365d', 'year', 365],
] as const;

const DAY = 86_400_000;

/** Reads `7d`, or two moments. The end is rounded up to the minute, so that equal questions stay equal. */
export function readRange(range: string, since: string, until: string, now: number): TimeRange {
  const minute = Math.ceil(now / 60_000) * 60_000;
  const [a, b] = [Date.parse(since), until ? Date.parse(until) : minute];
  if (!Number.isNaN(a) && !Number.isNaN(b) && b > a) return { since: a, until: b };
  const days = RANGES.find(([name]) => name === range)?.[2] ?? 7;
  return { since: minute - days * DAY, until: minute };
}

/** The range of the same length that ends where this one begins. */
export function previousRange({ since, until }: TimeRange): TimeRange {
  return { since: since - (until - since), until: since };
}

export const rangeQuery = ({ since, until }: TimeRange) => ({
  since: new Date(since).toISOString(),
  until: new Date(until).toISOString(),
});

const two = (n: number) => String(n).padStart(2, '0');

/** `2026-03-09`: a local day, as calendars and the server name it. */
export function dayName(time: number): string {
  const date = new Date(time);
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The local midnight with which a named day begins, `days` later; nothing if it is no day. */
export function midnight(day: string, days = 0): string | undefined {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day);
  if (!found) return undefined;
  const date = new Date(Number(found[1]), Number(found[2]) - 1, Number(found[3]) + days);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/**
 * Every local day of the range, those on which nothing was spent too: a chart without them would join far days. A day
 * of which nothing is known has no value.
 */
export function fillDays<T extends { key: string }>(
  { since, until }: TimeRange,
  spent: readonly T[],
  of: (day: T) => number | null,
): { times: number[]; values: (number | null)[]; days: (T | undefined)[] } {
  const byDay = new Map(spent.map((day) => [day.key, day]));
  const times: number[] = [];
  const values: (number | null)[] = [];
  const days: (T | undefined)[] = [];
  const day = new Date(since);
  day.setHours(12, 0, 0, 0);
  const last = new Date(until - 1);
  last.setHours(12, 0, 0, 0);
  while (day <= last) {
    times.push(day.getTime());
    const found = byDay.get(dayName(day.getTime()));
    days.push(found);
    values.push(found ? of(found) : 0);
    day.setDate(day.getDate() + 1);
  }
  return { times, values, days };
}

/** How long a range is, in words: what it is compared with has the same length. */
export function formatLength({ since, until }: TimeRange): string {
  const hours = Math.round((until - since) / 3_600_000);
  return hours <= 48 ? `${hours} hours` : `${Math.round(hours / 24)} days`;
}

/** As many stretches as can be read, of a length that people know. */
export function bucketCount({ since, until }: TimeRange): number {
  const hours = (until - since) / 3_600_000;
  return hours <= 48
    ? Math.max(Math.round(hours * 2), 12)
    : hours <= 24 * 14
      ? Math.round(hours / 3)
      : Math.min(Math.round(hours / 24), 365);
}
