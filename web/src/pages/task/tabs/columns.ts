/** The columns of the panels of a task. */
import type { Column } from '../../../ui/columns';

export const COMMANDS_COLUMNS: readonly Column[] = [
  { key: 'state', label: '', width: '14px' },
  { key: 'at', label: 'When', width: '66px' },
  { key: 'command', label: 'Command', width: 'minmax(260px, 1fr)' },
  { key: 'effect', label: 'Effect', width: '120px' },
  { key: 'exit', label: 'Exit', width: '52px', align: 'right' },
  { key: 'class', label: 'Error', width: '110px' },
  { key: 'duration', label: 'Duration', width: '66px', align: 'right' },
];

export const ERRORS_COLUMNS: readonly Column[] = [
  { key: 'state', label: 'State', width: '90px' },
  { key: 'at', label: 'When', width: '66px' },
  { key: 'class', label: 'Error type', width: '120px' },
  { key: 'tool', label: 'Tool', width: '120px' },
  { key: 'title', label: 'Call', width: 'minmax(240px, 1fr)' },
  { key: 'exit', label: 'Exit', width: '44px', align: 'right' },
  { key: 'duration', label: 'Duration', width: '66px', align: 'right' },
];

export const EXPLORATION_COLUMNS: readonly Column[] = [
  { key: 'state', label: '', width: '14px' },
  { key: 'at', label: 'When', width: '66px' },
  { key: 'what', label: 'Type', width: '88px' },
  { key: 'subject', label: 'Target', width: 'minmax(220px, 1.4fr)' },
  { key: 'where', label: 'Scope', width: 'minmax(140px, 0.8fr)' },
  { key: 'duration', label: 'Duration', width: '66px', align: 'right' },
];

export const FILES_COLUMNS: readonly Column[] = [
  { key: 'path', label: 'File', width: 'minmax(260px, 1.6fr)' },
  { key: 'reads', label: 'Reads', width: '48px', align: 'right' },
  { key: 'changes', label: 'Changes', width: '60px', align: 'right' },
  { key: 'failures', label: 'Failed', width: '48px', align: 'right' },
  { key: 'by', label: 'Agents', width: 'minmax(140px, 1fr)' },
  { key: 'first', label: 'First', width: '66px' },
  { key: 'last', label: 'Last', width: '66px' },
];

export const PERMISSIONS_COLUMNS: readonly Column[] = [
  { key: 'decision', label: 'Decision', width: '100px' },
  { key: 'at', label: 'Requested', width: '66px' },
  { key: 'tool', label: 'Tool', width: '110px' },
  { key: 'title', label: 'Request', width: 'minmax(240px, 1fr)' },
  { key: 'wait', label: 'Wait', width: '96px', align: 'right' },
];

export const QUESTIONS_COLUMNS: readonly Column[] = [
  { key: 'phase', label: 'Status', width: '100px' },
  { key: 'at', label: 'Asked', width: '66px' },
  { key: 'title', label: 'Question', width: 'minmax(240px, 1fr)' },
  { key: 'answers', label: 'Answers', width: '60px', align: 'right' },
  { key: 'wait', label: 'Wait', width: '96px', align: 'right' },
];

export const TODOS_COLUMNS: readonly Column[] = [
  { key: 'state', label: 'State', width: '100px' },
  { key: 'subject', label: 'To do', width: 'minmax(240px, 1fr)' },
  { key: 'history', label: 'History', width: 'minmax(240px, 1fr)' },
];

export const TOKENS_COLUMNS: readonly Column[] = [
  { key: 'agent', label: 'Model or agent', width: 'minmax(220px, 1fr)', hint: 'agents exclude their subagents' },
  { key: 'responses', label: 'Responses', width: '72px', align: 'right' },
  { key: 'input', label: 'Input', width: '64px', align: 'right', hint: 'excludes cache reads and writes' },
  { key: 'read', label: 'Cache read', width: '74px', align: 'right' },
  { key: 'written', label: 'Cache written', width: '88px', align: 'right' },
  { key: 'output', label: 'Output', width: '64px', align: 'right', hint: 'includes reasoning' },
  { key: 'reasoning', label: 'Reasoning', width: '70px', align: 'right' },
  { key: 'cost', label: 'Cost', width: '78px', align: 'right', hint: 'from the price table' },
  {
    key: 'client',
    label: 'Client cost',
    width: '74px',
    align: 'right',
    hint: 'cost reported by the client',
  },
];

export const TREE_COLUMNS: readonly Column[] = [
  { key: 'agent', label: 'Agent', width: 'minmax(240px, 1fr)' },
  { key: 'status', label: 'Status', width: '100px' },
  { key: 'life', label: 'Timeline', width: 'minmax(120px, 0.6fr)' },
  { key: 'length', label: 'Duration', width: '64px', align: 'right' },
  { key: 'model', label: 'Last model', width: '100px' },
  { key: 'calls', label: 'Calls', width: '44px', align: 'right' },
  { key: 'failed', label: 'Failed', width: '44px', align: 'right' },
  { key: 'context', label: 'Context', width: '54px', align: 'right' },
  { key: 'own', label: 'Self', width: '72px', align: 'right' },
  { key: 'all', label: 'Incl. subagents', width: '92px', align: 'right' },
];

export const TURNS_COLUMNS: readonly Column[] = [
  { key: 'n', label: '#', width: '30px', align: 'right' },
  { key: 'state', label: 'State', width: '96px' },
  { key: 'at', label: 'Start', width: '66px' },
  { key: 'prompt', label: 'Prompt', width: 'minmax(200px, 1.2fr)' },
  { key: 'answer', label: 'Final answer', width: 'minmax(120px, 1fr)' },
  { key: 'duration', label: 'Duration', width: '66px', align: 'right' },
  { key: 'calls', label: 'Calls', width: '44px', align: 'right' },
  { key: 'failed', label: 'Failed', width: '44px', align: 'right' },
  { key: 'out', label: 'Output', width: '52px', align: 'right', hint: 'output tokens' },
  { key: 'cost', label: 'Cost', width: '58px', align: 'right' },
];

export const WATERFALL_COLUMNS: readonly Column[] = [
  { key: 'state', label: '', width: '14px' },
  { key: 'at', label: 'Start', width: '92px' },
  { key: 'agent', label: 'Agent', width: '110px' },
  { key: 'title', label: 'Call', width: 'minmax(160px, 0.8fr)' },
  { key: 'bar', label: 'Timeline', width: 'minmax(200px, 1.4fr)' },
  { key: 'duration', label: 'Duration', width: '66px', align: 'right' },
];
