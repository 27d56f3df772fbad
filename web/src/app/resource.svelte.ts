/**
 * An answer that a page shows: what is known stays visible while it is asked for again, a late answer to an old
 * question never replaces the answer to a new one, and the answer to an old question never stands for one that failed.
 */
import { Problem, toProblem } from '../api/client';

/** The last answers by the names of what was asked, for pages that are opened again while the server is away. */
const remembered = new Map<string, { data: unknown; at: number }>();
const MOST_REMEMBERED = 80;

function remember(key: string, data: unknown, at: number): void {
  // A map keeps the order of insertion: put at its end again, so that the first is the one longest unused.
  remembered.delete(key);
  remembered.set(key, { data, at });
  const oldest = remembered.keys().next();
  if (remembered.size > MOST_REMEMBERED && !oldest.done) remembered.delete(oldest.value);
}

export class Resource<T> {
  data = $state.raw<T>();
  /** When the answer that is shown was given. */
  at = $state<number>();
  problem = $state.raw<Problem>();
  loading = $state(false);
  private controller: AbortController | undefined;
  private asked: ((signal: AbortSignal) => Promise<T>) | undefined;
  private key: string | undefined;
  /** The request that the shown answer belongs to: its key or, without one, its function. */
  private shown = $state.raw<unknown>();

  /**
   * Asks; resolves when the answer is shown, when it failed, or when a newer question replaced it. With a `key` the
   * answer is remembered, and shown again where the same is asked while the server is away. Questions with the same key
   * are the same question; without a key each is one of its own.
   */
  async load(ask: (signal: AbortSignal) => Promise<T>, key?: string): Promise<void> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.asked = ask;
    this.key = key;
    this.loading = true;
    try {
      const data = await ask(controller.signal);
      if (this.controller !== controller) return;
      this.data = data;
      this.at = Date.now();
      this.shown = key ?? ask;
      this.problem = undefined;
      if (key !== undefined) remember(key, data, this.at);
    } catch (error) {
      if (this.controller !== controller || controller.signal.aborted) return;
      this.problem = toProblem(error);
      if (this.shown !== (key ?? ask)) {
        const before = key === undefined || !this.problem.offline ? undefined : remembered.get(key);
        this.data = before?.data as T | undefined;
        this.at = before?.at;
        this.shown = key ?? ask;
      }
    }
    this.loading = false;
  }

  /** When what is shown was known, while nothing newer can be asked for. */
  get staleAt(): number | undefined {
    return this.problem?.offline && this.data !== undefined ? this.at : undefined;
  }

  /** Whether it was answered, or at least refused: what stands below may be shown without moving soon after. */
  get settled(): boolean {
    return this.data !== undefined || this.problem !== undefined;
  }

  /** Whether what is shown answers the question with this key, and not the one before it. */
  answers(key: string): boolean {
    return this.data !== undefined && this.shown === key;
  }

  /** Asks the last question once more. */
  async again(): Promise<void> {
    if (this.asked) await this.load(this.asked, this.key);
  }

  cancel(): void {
    this.controller?.abort();
    this.controller = undefined;
    this.loading = false;
  }

  /** Forgets everything: another thing is shown now. */
  reset(): void {
    this.cancel();
    this.data = undefined;
    this.at = undefined;
    this.shown = undefined;
    this.problem = undefined;
  }
}
