/** What was spent today and in the last days. */
import type { UsageBucket } from '../../api/types';
import type { Costed } from '../../text/format';

/** Adds up what days cost. Unpriced responses stay counted, so the sum is shown as a lower bound. */
export function addUp(days: readonly UsageBucket[]): Costed {
  const sum: Costed = { costUsd: 0, provenance: { responses: 0, unpriced: 0 } };
  for (const { usage } of days) {
    sum.costUsd += usage.costUsd;
    sum.provenance.responses += usage.provenance.responses;
    sum.provenance.unpriced += usage.provenance.unpriced;
  }
  return sum;
}

/** What was spent on the day with the name `today`, and on all days together. */
export function spendOf(days: readonly UsageBucket[], today: string): { today: Costed; all: Costed } {
  return { today: addUp(days.filter(({ key }) => key === today)), all: addUp(days) };
}
