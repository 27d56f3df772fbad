/** The panels below the timeline. */
export const TABS = [
  { name: 'waterfall', label: 'Waterfall', key: 'w' },
  { name: 'tree', label: 'Tree', key: 'a' },
  { name: 'turns', label: 'Turns', key: 't' },
  { name: 'exploration', label: 'Exploration', key: 'x' },
  { name: 'files', label: 'Files', key: 'f' },
  { name: 'commands', label: 'Commands', key: 'c' },
  { name: 'permissions', label: 'Permissions', key: 'p' },
  { name: 'todos', label: 'To-dos', key: 'd' },
  { name: 'questions', label: 'Questions', key: 'q' },
  { name: 'errors', label: 'Errors', key: 'e' },
  { name: 'tokens', label: 'Tokens', key: 'o' },
  { name: 'compactions', label: 'Compactions', key: 'm' },
] as const;

export type TabName = (typeof TABS)[number]['name'];

/** The value of `tab` in the address while all panels are closed. */
export const NO_TAB = 'none';

/** Below this height the timeline needs all of the page; above it the calls have room below it. */
const TALL_PX = 900;

/** The open panel: the one that the address names, else on a tall page the waterfall. */
export function chooseTab(named: string, pagePx: number): TabName | undefined {
  const found = TABS.find(({ name }) => name === named)?.name;
  return found ?? (named === '' && pagePx >= TALL_PX ? 'waterfall' : undefined);
}
