/**
 * The points of the context chart. A long task has tens of thousands of them: they come page by page, each drawn as
 * soon as it is there, and asking again asks only for the last page and what came after it.
 */
import { api, Problem, type ItemRef } from '../api/client';
import type { ContextPoint } from '../api/types';

const PAGES_AT_MOST = 60;
const PAGE = 500;

export class ContextFeed {
  points = $state.raw<readonly ContextPoint[]>([]);
  private readonly ref: ItemRef;
  /** What was known before the last page, and how to ask for that page again. */
  private settled: readonly ContextPoint[] = [];
  private pages = 0;
  private cursor: string | undefined;
  private asked: AbortController | undefined;

  constructor(ref: ItemRef) {
    this.ref = ref;
  }

  async load(): Promise<void> {
    // A request is on its way; newer points come with the next one.
    if (this.asked) return;
    const controller = new AbortController();
    this.asked = controller;
    try {
      for (;;) {
        const page = await api.contextPage(this.ref, { limit: PAGE, cursor: this.cursor }, controller.signal);
        const all = [...this.settled, ...page.items];
        this.points = all;
        if (page.nextCursor === undefined || this.pages >= PAGES_AT_MOST) break;
        this.settled = all;
        this.cursor = page.nextCursor;
        this.pages += 1;
      }
    } catch (error) {
      // Without an answer the chart stays as it is; the page reports the error.
      if (!controller.signal.aborted && !(error instanceof Problem)) throw error;
    } finally {
      this.asked = undefined;
    }
  }

  /** Rows may have changed in the middle: from the beginning. */
  async reload(): Promise<void> {
    this.close();
    this.settled = [];
    this.pages = 0;
    this.cursor = undefined;
    await this.load();
  }

  close(): void {
    this.asked?.abort();
    this.asked = undefined;
  }
}
