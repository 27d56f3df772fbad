/** The columns of the tables below the timeline. */
import type { Heading } from '../ui/columns';

/** Headings of the calls in the selected time. */
export const AREA_HEADINGS: readonly Heading[] = [
  { key: 'tool', label: 'Tool' },
  { key: 'calls', label: 'Calls', align: 'right' },
  { key: 'failed', label: 'Failed', align: 'right' },
  { key: 'p50', label: 'p50', align: 'right' },
  { key: 'p95', label: 'p95', align: 'right' },
  { key: 'max', label: 'Max', align: 'right' },
  { key: 'inside', label: 'In selection', align: 'right', hint: 'time within the selection' },
];

/** Headings of the timeline as screen readers have it. */
export const LANE_HEADINGS: readonly Heading[] = [
  { key: 'lane', label: 'Lane' },
  { key: 'events', label: 'Events' },
  { key: 'failed', label: 'Failed' },
  { key: 'running', label: 'Running' },
  { key: 'busy', label: 'Busy' },
  { key: 'certainty', label: 'Certainty' },
  { key: 'batches', label: 'Parallel batches' },
  { key: 'first', label: 'First' },
  { key: 'last', label: 'Last' },
];
