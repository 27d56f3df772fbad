import { percentChange, type Costed } from '../../text/format';

/** A column of numbers: what it sorts by and what it shows. */
export interface StatColumn<T> {
  name: string;
  hint?: string;
  value: (row: T) => number | undefined;
  show: (row: T) => string;
  /** Whether the number of a line is only a part of the truth: then it is not compared with another. */
  partial?: (row: T) => boolean;
  tone?: (row: T) => string;
  /** The rows behind this number, where they are others than those behind the line. */
  href?: (row: T) => string;
}

/**
 * Whether some responses have no price: the cost is then a lower bound and is not compared.
 */
export const isPartial = (usage: Costed): boolean => usage.provenance.unpriced > 0;

/** A column of costs. */
export const costStat = <T>(usage: (row: T) => Costed, show: (usage: Costed) => string): StatColumn<T> => ({
  name: 'Cost',
  value: (row) => usage(row).costUsd,
  show: (row) => show(usage(row)),
  partial: (row) => isPartial(usage(row)),
});

/** How a number stands against the same of the range before; empty where that cannot be known. */
export function compareStat<T>(stat: StatColumn<T> | undefined, row: T, old: T | undefined): string {
  const now = stat?.value(row);
  if (!stat || now === undefined) return '';
  if (old === undefined) return 'new';
  return stat.partial?.(row) || stat.partial?.(old) ? '' : percentChange(now, stat.value(old) ?? 0);
}
