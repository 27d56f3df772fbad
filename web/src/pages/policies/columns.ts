/** The columns of the rules and of their decisions. */
import type { Column, Heading } from '../../ui/columns';

export const RULE_HEADINGS: readonly Heading[] = [
  { key: 'rule', label: 'Rule' },
  { key: 'trigger', label: 'Trigger' },
  { key: 'decision', label: 'Decision' },
  { key: 'mode', label: 'Mode' },
  { key: 'outage', label: 'If unreachable' },
  { key: 'matched', label: 'Matched', align: 'right' },
  { key: 'outcomes', label: 'Outcomes' },
  { key: 'dryRuns', label: 'Dry runs', align: 'right' },
  { key: 'suppressed', label: 'Suppressed', align: 'right' },
  { key: 'mean', label: 'Mean time', align: 'right' },
  { key: 'last', label: 'Last match', align: 'right' },
];

export const DECISION_COLUMNS: readonly Column[] = [
  { key: 'at', label: 'When', width: '92px' },
  { key: 'decision', label: 'Outcome', width: '76px' },
  { key: 'rule', label: 'Rule', width: 'minmax(120px, 0.7fr)' },
  { key: 'what', label: 'Trigger', width: 'minmax(200px, 1.4fr)' },
  { key: 'agent', label: 'Agent', width: '110px' },
  { key: 'status', label: 'Mode', width: 'minmax(90px, 0.7fr)' },
  { key: 'took', label: 'Latency', width: '60px', align: 'right' },
];
