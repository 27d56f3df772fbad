/** The pages of the dashboard. `/health` belongs to the server, so the page has another path. */
export const PAGES = [
  { name: 'Live', path: '/', key: 'l' },
  { name: 'Tasks', path: '/tasks', key: 't' },
  { name: 'Insights', path: '/insights', key: 'i' },
  { name: 'Search', path: '/search', key: 's' },
  { name: 'Policies', path: '/policies', key: 'p' },
  { name: 'Health', path: '/tracer', key: 'h' },
  { name: 'Settings', path: '/settings', key: ',' },
] as const;
