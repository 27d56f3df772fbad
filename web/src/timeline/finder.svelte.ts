/**
 * The text that is searched for in a task and its matches: among the loaded rows if they are complete, else by the
 * server.
 */
import { api } from '../api/client';
import { parseSearch, toQuery } from '../api/chips';
import { findMatches, sortMatches, compileMatcher, type Match } from './find';
import type { TimelineSource } from './source.svelte';

// The search knows one task, not its tree; each agent is a request, and a browser sends six to one host at a time.
/** As many agents as are asked one by one. */
const AGENTS_AT_MOST = 12;
const HITS_AT_MOST = 500;

export class Finder {
  matches = $state.raw<readonly Match[]>([]);
  /** Whether there may be more than these. */
  isPartial = $state(false);
  readonly ids = $derived(new Set(this.matches.map(({ id }) => id)));
  active = $state(false);
  /** The text of the matches. */
  text = '';
  private asked: AbortController | undefined;
  private readonly source: TimelineSource;

  constructor(source: TimelineSource) {
    this.source = source;
  }

  /** Looks again; what is found stays until the new answer is there. */
  async search(text: string): Promise<void> {
    this.asked?.abort();
    const test = compileMatcher(text, new Map(this.source.tree.map(({ task }) => [task.id, task.agentType])));
    this.active = test !== undefined;
    if (!test) {
      this.matches = [];
      this.isPartial = false;
    } else if (this.source.complete) {
      this.matches = findMatches(this.source.bars(), test);
      this.isPartial = false;
    } else await this.ask(text);
    this.text = text;
  }

  private async ask(text: string): Promise<void> {
    const controller = new AbortController();
    this.asked = controller;
    const question = toQuery(parseSearch(text));
    const tasks = this.source.tree.slice(0, AGENTS_AT_MOST);
    try {
      const pages = await Promise.all(
        tasks.map(({ task }) =>
          api.search({ ...question, task: task.id, owner: task.owner, limit: HITS_AT_MOST }, controller.signal),
        ),
      );
      const hits = pages.flatMap((page) => page.items);
      this.matches = sortMatches(
        hits.map(({ row }): Match => {
          const start = Date.parse(row.occurredAt);
          return {
            id: row.id,
            taskId: row.taskId,
            lane: row.lane,
            start,
            end: row.endedAt ? Date.parse(row.endedAt) : start,
          };
        }),
      );
      this.isPartial = pages.some((page) => page.nextCursor !== undefined) || this.source.tree.length > tasks.length;
    } catch {
      // The next letter searches again; until then there are no matches.
      if (!controller.signal.aborted) this.matches = [];
    }
  }
}
