/**
 * The live stream: one connection for the whole page, rows handed out once per frame.
 *
 * `live` is only ever said while the connection stands. When it breaks we say so at once, try again with growing
 * pauses, resume after the last event that we saw, and make listeners load again when the server says that rows were
 * missed or that it counts anew. Nothing here touches the page: the source of events and the clock come from outside.
 */
import type { paths } from '../api/generated/schema';
import { parseRemovedIds, parseRow } from '../api/streamMessage';
import type { Row } from '../api/types';

export type Connection = 'connecting' | 'live' | 'lost';

export interface Source {
  onopen: (() => void) | null;
  onerror: (() => void) | null;
  onmessage: ((event: { data: string; lastEventId: string }) => void) | null;
  addEventListener(name: string, listener: (event: { data: string; lastEventId?: string }) => void): void;
  close(): void;
}

export interface Surroundings {
  open: (url: string) => Source;
  after: (ms: number, run: () => void) => () => void;
  /** Runs before the next frame is drawn. */
  frame: (run: () => void) => void;
  now: () => number;
}

export interface Listener {
  rows?: (rows: Row[]) => void;
  /** Rows of these ids are no more. */
  removed?: (ids: ReadonlySet<string>) => void;
  /**
   * The connection stands for the first time: what was asked for before it did may lack rows that it will not bring.
   */
  opened?: () => void;
  /** Rows may have been missed: load again. */
  reload?: () => void;
}

const PATH = '/api/v1/stream' satisfies keyof paths;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 15_000;

export class Stream {
  state: Connection = 'connecting';
  /** When the connection was lost. */
  lostAt: number | undefined;
  /** The id of the last event: a place in the server's order, and the epoch in which that means anything. */
  lastId: string | undefined;
  onstate: (() => void) | undefined;
  private readonly around: Surroundings;
  private source: Source | undefined;
  private cancel: (() => void) | undefined;
  private pause = FIRST_PAUSE_MS;
  private readonly listeners = new Set<Listener>();
  private batch: Row[] = [];

  constructor(around: Surroundings) {
    this.around = around;
  }

  listen(listener: Listener): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  connect(): void {
    this.cancel?.();
    this.source?.close();
    const source = this.around.open(`${PATH}${this.lastId ? `?after=${this.lastId}` : ''}`);
    this.source = source;
    source.onopen = () => {
      const again = this.lostAt !== undefined;
      this.pause = FIRST_PAUSE_MS;
      this.become('live');
      // The stream brings the rows of the break; the lists and sums that could not be asked in it are asked again.
      if (again) this.reload();
      else for (const listener of this.listeners) listener.opened?.();
    };
    source.onerror = () => {
      // A browser would try again by itself as well, after a pause of its own.
      source.close();
      this.become('lost');
      const pause = this.pause;
      this.pause = Math.min(this.pause * 2, LONGEST_PAUSE_MS);
      this.cancel = this.around.after(pause, () => this.connect());
    };
    source.onmessage = ({ data, lastEventId }) => {
      const row = parseRow(data);
      if (!row) {
        // A row that cannot be read has changed something all the same: the lists know what.
        this.reload();
        return;
      }
      if (lastEventId) this.lastId = lastEventId;
      // Two hundred rows a second would be as many updates; a reader sees one per frame.
      if (this.batch.push(row) === 1) this.around.frame(() => this.flush());
    };
    // Also said to a client that comes back with a place of another epoch: what it knows may not be there any more.
    source.addEventListener('missed', ({ lastEventId }) => {
      if (lastEventId) this.lastId = lastEventId;
      this.reload();
    });
    source.addEventListener('removed', ({ data }) => {
      const ids = parseRemovedIds(data);
      if (!ids) {
        this.reload();
        return;
      }
      // What waits for the next frame must not come back after it was dropped.
      this.batch = this.batch.filter((row) => !ids.has(row.id));
      for (const listener of this.listeners) listener.removed?.(ids);
    });
  }

  close(): void {
    this.cancel?.();
    this.source?.close();
  }

  private become(state: Connection): void {
    if (state === 'lost') this.lostAt ??= this.around.now();
    if (state === 'live') this.lostAt = undefined;
    this.state = state;
    this.onstate?.();
  }

  private flush(): void {
    const rows = this.batch;
    this.batch = [];
    if (rows.length === 0) return;
    for (const listener of this.listeners) listener.rows?.(rows);
  }

  private reload(): void {
    for (const listener of this.listeners) listener.reload?.();
  }
}
