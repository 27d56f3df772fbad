/** The panels below the timeline. */
export const TABS = [
  { name: 'waterfall', label: 'Waterfall', key: 'w' },
  { name: 'tree', label: 'Tree', key: 'a' },
  { name: 'turns', label: 'Turns', key: 't' },
  { name: 'exploration', label: 'Exploration', key: 'x' },
  { name: 'files', label: 'Files', key: 'f' },
  { name: 'commands', label: 'Commands', key: 'c' },
  { name: 'permissions', label: 'Permissions', key: 'p' },
  { name: 'todos', label: 'Todos', key: 'd' },
  { name: 'questions', label: 'Questions', key: 'q' },
  { name: 'errors', label: 'Errors', key: 'e' },
  { name: 'tokens', label: 'Tokens', key: 'o' },
] as const;

export type TabName = (typeof TABS)[number]['name'];
