/** A canvas for tests of components: the browser of the tests cannot draw, so texts are recorded instead. */
import { vi } from 'vitest';

/** Lets canvases be so large, and returns the texts that have been drawn so far. */
export function fakeCanvas(width: number, height: number): string[] {
  const texts: string[] = [];
  const known: Record<string, unknown> = {
    fillText: (text: string) => void texts.push(text),
    measureText: (text: string) => ({ width: text.length * 6 }),
    createPattern: () => null,
  };
  const pen = new Proxy(known, { get: (own, name) => own[String(name)] ?? (() => undefined) });
  vi.spyOn(HTMLCanvasElement.prototype, 'getContext').mockImplementation((() => pen) as never);
  vi.stubGlobal(
    'ResizeObserver',
    class {
      private readonly onresize: (entries: unknown[]) => void;
      constructor(onresize: (entries: unknown[]) => void) {
        this.onresize = onresize;
      }
      observe(): void {
        this.onresize([{ contentRect: { width, height } }]);
      }
      unobserve(): void {}
      disconnect(): void {}
    },
  );
  return texts;
}
