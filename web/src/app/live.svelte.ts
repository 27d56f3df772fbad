/**
 * The page's one live stream and its one clock.
 */
import { Stream, type Listener, type Source } from './stream';

const stream = new Stream({
  open: (url) => new EventSource(url) as unknown as Source,
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  // A hidden tab draws no frames; its rows wait in small batches instead.
  frame: (run) => void (document.hidden ? setTimeout(run, 250) : requestAnimationFrame(run)),
  now: () => Date.now(),
});

class Live {
  state = $state(stream.state);
  lostAt = $state<number>();
  /** Whole seconds. When the stream is lost it still goes on, but nothing that depends on it is called live. */
  now = $state(Date.now());

  start(): void {
    stream.onstate = () => {
      this.state = stream.state;
      this.lostAt = stream.lostAt;
    };
    stream.connect();
    setInterval(() => {
      if (!document.hidden) this.now = Date.now();
    }, 1000);
    document.addEventListener('visibilitychange', () => (this.now = Date.now()));
  }

  listen(listener: Listener): () => void {
    return stream.listen(listener);
  }

  /** The moment up to which running things have been seen to run. */
  get edge(): number {
    return this.state === 'lost' ? (this.lostAt ?? this.now) : this.now;
  }
}

export const live = new Live();
