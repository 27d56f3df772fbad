/**
 * A list that comes page by page, as far as it is scrolled. What is known stays until a new question is answered or
 * has failed; a page that belongs to an old question is dropped, and a row that comes twice is shown once.
 */
import type { Page } from '../api/types';
import { Resource } from './resource.svelte';

type Ask<T> = (cursor: string | undefined, signal?: AbortSignal) => Promise<Page<T>>;

export class Paged<T> {
  rows = $state.raw<T[]>([]);
  /** Where the next page begins; absent at the end. */
  cursor = $state<string>();
  readonly first = new Resource<Page<T>>();
  private readonly id: (row: T) => string;
  private ask: Ask<T> | undefined;
  private key: string | undefined;
  private asking = false;
  /** The question that the rows answer, as in `Resource`. */
  private shown: unknown;
  /** Whether there is more than the first page. */
  private grown = false;

  constructor(id: (row: T) => string) {
    this.id = id;
  }

  /** Asks a question from its beginning. With a `key` the first page is remembered for when the server is away. */
  async load(ask: Ask<T>, key?: string): Promise<void> {
    this.ask = ask;
    this.key = key;
    const page = await this.beginning(ask);
    if (!page) {
      if (this.ask === ask && this.shown !== (key ?? ask)) this.take(this.first.data ?? { items: [] });
      return;
    }
    this.take(page);
    // A page may be empty and not the last: for one page a store looks at so many rows and no more.
    while (this.ask === ask && this.rows.length === 0 && this.cursor) {
      const from = this.cursor;
      await this.next();
      if (this.cursor === from) return;
    }
  }

  /** Asks for the beginning of the same question again: what is there now stands first, and later pages stay. */
  async refresh(): Promise<void> {
    const { ask } = this;
    const page = ask && (await this.beginning(ask));
    if (!page) return;
    if (!this.grown) return this.take(page);
    const fresh = new Set(page.items.map(this.id));
    this.rows = [...page.items, ...this.rows.filter((row) => !fresh.has(this.id(row)))];
  }

  /** The first page of a question, unless it failed or another one was asked meanwhile. */
  private async beginning(ask: Ask<T>): Promise<Page<T> | undefined> {
    await this.first.load((signal) => ask(undefined, signal), this.key);
    return this.ask === ask && !this.first.problem ? this.first.data : undefined;
  }

  private take(page: Page<T>): void {
    this.rows = [...new Map(page.items.map((row) => [this.id(row), row])).values()];
    this.cursor = page.nextCursor;
    this.grown = false;
    this.shown = this.key ?? this.ask;
  }

  /** Asks for the next page, unless it is on its way or there is none. */
  async next(): Promise<void> {
    const { ask, cursor } = this;
    if (!ask || !cursor || this.asking || this.first.loading) return;
    this.asking = true;
    try {
      const page = await ask(cursor);
      if (this.ask === ask && this.cursor === cursor) {
        const known = new Set(this.rows.map(this.id));
        this.rows = [...this.rows, ...page.items.filter((row) => !known.has(this.id(row)))];
        this.cursor = page.nextCursor;
        this.grown = true;
      }
    } catch {
      // Scrolling asks again.
    } finally {
      this.asking = false;
    }
  }

  /** Forgets everything: nothing is asked any more. */
  reset(): void {
    this.ask = undefined;
    this.shown = undefined;
    this.first.reset();
    this.rows = [];
    this.cursor = undefined;
  }

  cancel(): void {
    this.first.cancel();
  }
}
