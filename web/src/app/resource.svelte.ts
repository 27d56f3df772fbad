/**
 * An answer that a page shows: what is known stays visible while it is asked for again, and a late answer to an old
 * question never replaces the answer to a new one.
 */
import { Problem } from '../api/client';

export class Resource<T> {
  data = $state.raw<T>();
  problem = $state.raw<Problem>();
  loading = $state(false);
  private controller: AbortController | undefined;
  private asked: ((signal: AbortSignal) => Promise<T>) | undefined;

  /** Asks; resolves when the answer is shown, when it failed, or when a newer question replaced it. */
  async load(ask: (signal: AbortSignal) => Promise<T>): Promise<void> {
    this.controller?.abort();
    const controller = new AbortController();
    this.controller = controller;
    this.asked = ask;
    this.loading = true;
    try {
      const data = await ask(controller.signal);
      if (this.controller !== controller) return;
      this.data = data;
      this.problem = undefined;
    } catch (error) {
      if (this.controller !== controller || controller.signal.aborted) return;
      this.problem = error instanceof Problem ? error : new Problem(-1, 'the page could not use the answer', String(error));
    }
    this.loading = false;
  }

  /** Whether it was answered, or at least refused: what stands below may be shown without moving soon after. */
  get settled(): boolean {
    return this.data !== undefined || this.problem !== undefined;
  }

  /** Asks the last question once more. */
  async again(): Promise<void> {
    if (this.asked) await this.load(this.asked);
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
    this.problem = undefined;
  }
}
