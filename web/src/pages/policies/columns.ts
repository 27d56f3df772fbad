/** The columns of the list of decisions. */
import type { Column } from '../../ui/columns';

export const DECISION_COLUMNS: readonly Column[] = [
  { key: 'at', label: 'When', width: '92px' },
  { key: 'decision', label: 'Outcome', width: '76px' },
  { key: 'rule', label: 'Rule', width: 'minmax(120px, 0.7fr)' },
  { key: 'what', label: 'Trigger', width: 'minmax(200px, 1.4fr)' },
  { key: 'agent', label: 'Agent', width: '110px' },
  { key: 'status', label: 'Mode', width: 'minmax(90px, 0.7fr)' },
  { key: 'took', label: 'Latency', width: '60px', align: 'right' },
];
