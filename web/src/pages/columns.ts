/** The columns of the pages Tasks, Search and Health. */
import type { Column, Heading } from '../ui/columns';

/** Below this width a page is laid out for a phone. */
export const PHONE_PX = 700;

const PERSON: Column = { key: 'owner', label: 'Person', width: 'minmax(60px, 96px)' };

/** Columns of the list of tasks. A team's server has owners; on a phone the state is only its sign. */
export const taskColumns = (isTeam: boolean, isPhone: boolean): readonly Column[] => [
  isPhone ? { key: 'status', label: '', width: '14px' } : { key: 'status', label: 'Status', width: '96px' },
  { key: 'title', label: 'Task', width: 'minmax(220px, 1fr)' },
  ...(isTeam ? [PERSON] : []),
  { key: 'project', label: 'Project', width: 'minmax(70px, 112px)' },
  { key: 'agent', label: 'Agent', width: '78px' },
  { key: 'model', label: 'Last model', width: '98px', hint: 'model of the last response; the task page lists all' },
  { key: 'turns', label: 'Turns', width: '38px', align: 'right' },
  { key: 'calls', label: 'Calls', width: '42px', align: 'right', hint: 'incl. subagents' },
  { key: 'failures', label: 'Failed', width: '44px', align: 'right', hint: 'incl. subagents' },
  { key: 'context', label: 'Context', width: '76px' },
  { key: 'cost', label: 'Cost', width: '72px', align: 'right', hint: 'incl. subagents, from the price table' },
  { key: 'duration', label: 'Duration', width: '64px', align: 'right' },
  { key: 'last', label: 'Last event', width: '92px', align: 'right' },
];

/** Columns of search results. On a phone the text comes first; it names the tool anyway. */
export const searchColumns = (isPhone: boolean): readonly Column[] => [
  { key: 'state', label: '', width: '14px' },
  { key: 'at', label: 'When', width: '92px' },
  { key: 'tool', label: isPhone ? '' : 'Tool or kind', width: isPhone ? '0px' : '130px' },
  { key: 'text', label: 'Event', width: isPhone ? 'minmax(210px, 1.6fr)' : 'minmax(260px, 1.6fr)' },
  { key: 'task', label: 'Task', width: 'minmax(140px, 0.8fr)' },
  { key: 'agent', label: 'Agent', width: '100px' },
  { key: 'duration', label: 'Duration', width: '66px', align: 'right' },
];

/** Headings of what delivers events. */
export const SOURCE_HEADINGS: readonly Heading[] = [
  { key: 'source', label: 'Source' },
  { key: 'observations', label: 'Observations', align: 'right' },
  { key: 'files', label: 'Files', align: 'right' },
  { key: 'bytes', label: 'Bytes read', align: 'right' },
  { key: 'last', label: 'Last event', align: 'right' },
  { key: 'problem', label: 'Problem' },
];

/** Headings of the input that no reader knows. */
export const UNRECOGNISED_HEADINGS: readonly Heading[] = [
  { key: 'name', label: 'Name' },
  { key: 'type', label: 'Type' },
  { key: 'agent', label: 'Agent' },
  { key: 'version', label: 'Version' },
  { key: 'count', label: 'Count', align: 'right' },
];

/** Headings of the envelopes that could not be read. */
export const DEAD_LETTER_HEADINGS: readonly Heading[] = [
  { key: 'file', label: 'File' },
  { key: 'arrived', label: 'Arrived', align: 'right' },
  { key: 'size', label: 'Size', align: 'right' },
  { key: 'reason', label: 'Reason' },
  { key: 'requeue', label: 'Requeue', isHidden: true },
];
