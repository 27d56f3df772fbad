/** The colours of the canvas, read from the same tokens as the rest of the page. */
import { LANES } from './bars';

export interface Palette {
  lanes: Record<string, string>;
  /** The lanes' colours with the text colour that can be read on them. */
  ink: string;
  bg: string;
  panel: string;
  raised: string;
  line: string;
  strong: string;
  text: string;
  dim: string;
  faint: string;
  accent: string;
  bad: string;
  warn: string;
  good: string;
  font: string;
  hatch: CanvasPattern | null;
}

export function readPalette(context: CanvasRenderingContext2D): Palette {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const lanes: Record<string, string> = {};
  for (const lane of LANES) lanes[lane] = token(`lane-${lane}`);
  const panel = token('panel');
  return {
    lanes,
    ink: document.documentElement.dataset['theme'] === 'light' ? '#ffffff' : '#0a0d12',
    bg: token('bg'),
    panel,
    raised: token('raised'),
    line: token('line'),
    strong: token('strong'),
    text: token('text'),
    dim: token('dim'),
    faint: token('faint'),
    accent: token('accent'),
    bad: token('bad'),
    warn: token('warn'),
    good: token('good'),
    font: `11px ${token('font')}`,
    hatch: hatch(context, panel),
  };
}

/** Diagonal stripes in the colour of the ground: laid over a bar that was inferred, not measured. */
function hatch(context: CanvasRenderingContext2D, ground: string): CanvasPattern | null {
  const tile = document.createElement('canvas');
  tile.width = 6;
  tile.height = 6;
  const pen = tile.getContext('2d');
  if (!pen) return null;
  pen.strokeStyle = ground;
  pen.globalAlpha = 0.75;
  pen.lineWidth = 1.6;
  for (const shift of [-6, 0, 6]) {
    pen.beginPath();
    pen.moveTo(shift, 6);
    pen.lineTo(shift + 6, 0);
    pen.stroke();
  }
  return context.createPattern(tile, 'repeat');
}
