/** The pages that one can go to. `/health` belongs to the server, so ours stands elsewhere. */
export const PAGES = [
  { name: 'Live', path: '/', key: 'l' },
  { name: 'Tasks', path: '/tasks', key: 't' },
  { name: 'Insights', path: '/insights', key: 'i' },
  { name: 'Search', path: '/search', key: 's' },
  { name: 'Policies', path: '/policies', key: 'p' },
  { name: 'Health', path: '/tracer', key: 'h' },
  { name: 'Settings', path: '/settings', key: ',' },
] as const;
