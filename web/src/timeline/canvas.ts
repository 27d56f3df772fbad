/** A canvas that is as sharp as the screen and draws once per frame, however often it is asked to. */
export class Surface {
  width = 0;
  height = 0;
  readonly pen: CanvasRenderingContext2D;
  readonly canvas: HTMLCanvasElement;
  private readonly paint: () => void;
  private readonly observer: ResizeObserver;
  private frame = 0;
  private isRequested = false;

  constructor(canvas: HTMLCanvasElement, paint: () => void, onsize: (width: number, height: number) => void) {
    this.canvas = canvas;
    this.paint = paint;
    const pen = canvas.getContext('2d', { alpha: false });
    if (!pen) throw new Error('this browser does not support canvas');
    this.pen = pen;
    this.observer = new ResizeObserver(([entry]) => {
      if (!entry) return;
      this.size(entry.contentRect.width, entry.contentRect.height);
      onsize(this.width, this.height);
      // At once: a resized canvas is blank until it is drawn.
      this.paintNow();
    });
    this.observer.observe(canvas);
  }

  requestPaint(): void {
    this.isRequested = true;
    this.frame ||= requestAnimationFrame(() => this.tick());
  }

  close(): void {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
  }

  /**
   * Stays awake for one frame after each that it drew. A caller that moves the picture from its own frame callback
   * (following, a replayed drag) requests after this callback has run: sleeping at once would draw only every second
   * frame.
   */
  private tick(): void {
    this.frame = 0;
    if (!this.isRequested) return;
    this.frame = requestAnimationFrame(() => this.tick());
    this.paintNow();
  }

  private paintNow(): void {
    this.isRequested = false;
    if (this.width > 0 && this.height > 0) this.paint();
  }

  private size(width: number, height: number): void {
    const scale = devicePixelRatio || 1;
    this.width = width;
    this.height = height;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    this.pen.setTransform(scale, 0, 0, scale, 0, 0);
  }
}
