/**
 * The address of the page: it holds everything that a link has to restore.
 */
class Router {
  path = $state(location.pathname);
  query = $state.raw(new URLSearchParams(location.search));

  constructor() {
    addEventListener('popstate', () => this.read());
    document.addEventListener('click', (event) => this.click(event));
  }

  /** What opened the page: after a key a page leaves the keyboard free, so that the next key can go on from there. */
  openedBy: 'key' | 'pointer' = 'pointer';

  /** Goes to an address of ours. */
  go(url: string, how: 'push' | 'replace' = 'push', by: 'key' | 'pointer' = 'pointer'): void {
    this.openedBy = by;
    if (how === 'push') history.pushState(null, '', url);
    else history.replaceState(null, '', url);
    const before = this.path;
    this.read();
    if (before !== this.path) scrollTo(0, 0);
  }

  /** Changes parts of the query; an empty value takes its part away. */
  set(parts: Record<string, string | undefined>, how: 'push' | 'replace' = 'replace'): void {
    const next = new URLSearchParams(this.query);
    for (const [name, value] of Object.entries(parts)) {
      if (value) next.set(name, value);
      else next.delete(name);
    }
    if (next.toString() === this.query.toString()) return;
    const text = next.toString();
    this.go(`${this.path}${text && `?${text}`}`, how);
  }

  get(name: string): string {
    return this.query.get(name) ?? '';
  }

  private read(): void {
    this.path = location.pathname;
    this.query = new URLSearchParams(location.search);
  }

  private click(event: MouseEvent): void {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return;
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    const href = link?.getAttribute('href');
    if (!link || !href?.startsWith('/') || href.startsWith('//') || link.target || link.hasAttribute('download'))
      return;
    event.preventDefault();
    this.go(href);
  }
}

export const router = new Router();

export { taskUrl } from './taskUrl';
