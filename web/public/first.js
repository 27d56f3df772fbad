/**
 * Runs before the page is painted and before its program is read: the colours that the reader chose, the names of the
 * agents, and on the page of a task the two answers that its picture waits for. They travel while the program is still
 * being read.
 */
(() => {
  let theme;
  try {
    theme = JSON.parse(localStorage.getItem('agent-tracer') ?? '{}').theme;
  } catch {
    // Storage may be forbidden or hold something else; then the system decides.
  }
  if (theme !== 'dark' && theme !== 'light')
    theme = matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark';
  document.documentElement.dataset.theme = theme;

  const task = /^\/tasks\/([^/]+)$/.exec(location.pathname)?.[1];
  // In the words of `api/client.ts`, which takes the answers up by their addresses.
  const owner = new URLSearchParams(location.search).get('owner');
  const urls = ['/api/v1/supported-agents'];
  for (const [what, query] of task
    ? [
        ['tree', {}],
        ['lanes', { width: '800' }],
      ]
    : []) {
    const words = new URLSearchParams({ ...query, ...(owner ? { owner } : {}) }).toString();
    urls.push(`/api/v1/tasks/${task}/${what}${words && `?${words}`}`);
  }
  const answers = new Map();
  for (const url of urls) {
    const answer = fetch(url, { headers: { accept: 'application/json' } });
    // The page that takes the answer handles a failure; without one there is nothing to handle.
    answer.catch(() => undefined);
    answers.set(url, answer);
  }
  globalThis.earlyAnswers = answers;
})();
