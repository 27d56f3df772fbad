/** The panels below the timeline, in groups of what a reader asks: the steps, the agents, the trouble, the budget. */
export const TABS = [
  { name: 'waterfall', label: 'Waterfall', key: 'w', group: 'steps' },
  { name: 'commands', label: 'Commands', key: 'c', group: 'steps' },
  { name: 'files', label: 'Files', key: 'f', group: 'steps' },
  { name: 'exploration', label: 'Exploration', key: 'x', group: 'steps' },
  { name: 'turns', label: 'Turns', key: 't', group: 'agents' },
  { name: 'tree', label: 'Tree', key: 'a', group: 'agents' },
  { name: 'todos', label: 'To-dos', key: 'd', group: 'agents' },
  { name: 'errors', label: 'Errors', key: 'e', group: 'trouble' },
  { name: 'permissions', label: 'Permissions', key: 'p', group: 'trouble' },
  { name: 'questions', label: 'Questions', key: 'q', group: 'trouble' },
  { name: 'tokens', label: 'Tokens', key: 'o', group: 'budget' },
  { name: 'compactions', label: 'Compactions', key: 'm', group: 'budget' },
] as const;

export type TabName = (typeof TABS)[number]['name'];

/** Returns true for the first panel of each group but the first: a line stands before it. */
export const opensGroup = (name: TabName): boolean => {
  const at = TABS.findIndex((tab) => tab.name === name);
  return at > 0 && TABS[at]!.group !== TABS[at - 1]!.group;
};

/** The value of `tab` in the address while all panels are closed. */
export const NO_TAB = 'none';

/** Below this height the timeline needs all of the page; above it the calls have room below it. */
const TALL_PX = 900;

/** The open panel: the one that the address names, else on a tall page the waterfall. */
export function chooseTab(named: string, pagePx: number): TabName | undefined {
  const found = TABS.find(({ name }) => name === named)?.name;
  return found ?? (named === '' && pagePx >= TALL_PX ? 'waterfall' : undefined);
}
