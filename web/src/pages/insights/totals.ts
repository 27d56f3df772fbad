/** The totals at the top of Insights. */
import { cost, count, duration, percent, pointChange, sumCosts, unpricedNote, type Costed } from '../../text/format';
import { countTokens, failureRate, formatWaiting, sum, sumWaiting, WAITING_HINT, type InsightsData } from './data';
import type { InsightsLinks } from './links';
import { isPartial } from './statColumn';

export interface Total {
  name: string;
  value: (data: InsightsData) => number;
  /** Whether the number is complete, and may be compared. */
  isComplete?: (data: InsightsData) => boolean;
  show: (n: number, data: InsightsData) => string;
  href: string;
  hint?: (data: InsightsData) => string;
  /** Whether more is worse. */
  isBad?: boolean;
  change?: (now: number, before: number) => string;
}

/** The cost of all models together. */
export const totalCost = (data: InsightsData): Costed => sumCosts(data.models.map(({ usage }) => usage));

export const totals = (links: InsightsLinks): readonly Total[] => [
  {
    name: 'Cost',
    value: (data) => totalCost(data).costUsd,
    isComplete: (data) => !isPartial(totalCost(data)),
    show: (_, data) => cost(totalCost(data)),
    hint: (data) => unpricedNote(totalCost(data)),
    href: links.tasks(),
  },
  {
    name: 'Tokens',
    value: (data) => sum(data.models, (row) => countTokens(row.usage)),
    show: count,
    href: links.tasks(),
  },
  { name: 'Tool calls', value: (data) => sum(data.tools, (row) => row.count), show: count, href: links.search() },
  {
    name: 'Failed',
    value: (data) => failureRate(data.tools),
    show: percent,
    href: links.search('status:failed'),
    isBad: true,
    change: pointChange,
  },
  {
    name: 'Tool time',
    value: (data) => sum(data.activity, (row) => row.toolMs),
    show: duration,
    href: links.search(),
  },
  {
    name: 'Waiting time',
    value: sumWaiting,
    isComplete: (data) => sumWaiting(data) > 0,
    show: formatWaiting,
    hint: () => WAITING_HINT,
    href: links.search('kind:permission.request'),
    isBad: true,
  },
];
