/** What was spent today and in the last days. */
import type { UsageBucket } from '../../api/types';
import { sumCosts, type Costed } from '../../text/format';

/** Returns what was spent on the day with the name `today`, and on all days together. */
export function spendOf(days: readonly UsageBucket[], today: string): { today: Costed; all: Costed } {
  const costOf = (some: readonly UsageBucket[]) => sumCosts(some.map(({ usage }) => usage));
  return { today: costOf(days.filter(({ key }) => key === today)), all: costOf(days) };
}
