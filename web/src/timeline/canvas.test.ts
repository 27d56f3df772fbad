import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { Surface } from './canvas';

/** A browser that draws a frame on demand: a request during a frame waits for the next one. */
class Frames {
  private waiting = new Map<number, () => void>();
  private last = 0;

  request = (run: () => void): number => {
    this.waiting.set((this.last += 1), run);
    return this.last;
  };

  cancel = (id: number): void => void this.waiting.delete(id);

  next(): void {
    const now = [...this.waiting];
    this.waiting = new Map();
    for (const [, run] of now) run();
  }

  get idle(): boolean {
    return this.waiting.size === 0;
  }
}

describe('a surface', () => {
  let frames: Frames;
  let resize: (size: { width: number; height: number }) => void;
  let painted: number;
  let surface: Surface;

  beforeEach(() => {
    frames = new Frames();
    painted = 0;
    vi.stubGlobal('requestAnimationFrame', frames.request);
    vi.stubGlobal('cancelAnimationFrame', frames.cancel);
    vi.stubGlobal('devicePixelRatio', 2);
    vi.stubGlobal(
      'ResizeObserver',
      class {
        constructor(onresize: (entries: { contentRect: { width: number; height: number } }[]) => void) {
          resize = (contentRect) => onresize([{ contentRect }]);
        }
        observe(): void {}
        disconnect(): void {}
      },
    );
    const canvas = {
      width: 0,
      height: 0,
      getContext: () => ({ setTransform: () => undefined }),
    } as unknown as HTMLCanvasElement;
    surface = new Surface(
      canvas,
      () => (painted += 1),
      () => undefined,
    );
    resize({ width: 100, height: 50 });
    painted = 0;
  });
  afterEach(() => vi.unstubAllGlobals());

  it('is as sharp as the screen', () => {
    expect([surface.width, surface.height, surface.canvas.width, surface.canvas.height]).toEqual([100, 50, 200, 100]);
  });

  it('draws once per frame, however often it is asked', () => {
    for (let i = 0; i < 5; i += 1) surface.requestPaint();
    expect(painted).toBe(0);
    frames.next();
    expect(painted).toBe(1);
  });

  it('draws in every frame for a caller that requests from its own frame callback', () => {
    const mover = () => {
      frames.request(mover);
      surface.requestPaint();
    };
    frames.request(mover);
    frames.next();
    for (let i = 1; i <= 10; i += 1) {
      frames.next();
      expect(painted).toBe(i);
    }
  });

  it('lets the browser rest without requests', () => {
    surface.requestPaint();
    frames.next();
    frames.next();
    expect([painted, frames.idle]).toEqual([1, true]);
  });

  it('draws at once when its size changes, and not a second time for what was asked before', () => {
    surface.requestPaint();
    resize({ width: 200, height: 50 });
    frames.next();
    expect(painted).toBe(1);
  });

  it('draws nothing after it was closed', () => {
    surface.requestPaint();
    surface.close();
    frames.next();
    expect([painted, frames.idle]).toEqual([0, true]);
  });
});
