/**
 * Makes a picture of the dashboard small: at most 256 colours, each pixel one byte, packed as tightly as zlib can. A
 * browser packs quickly, not tightly, and spends four bytes on a pixel although a page has few colours.
 */
import { constants, crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST_COLOURS = 256;
/** So many of the most frequent colours stay exactly as they are: grounds, lines and lanes must not change. */
const EXACT_COLOURS = 96;

/** Returns the same picture with at most 256 colours. */
export function smaller(png) {
  const { width, height, pixels } = decode(png);
  const counts = new Map();
  for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  const palette = choosePalette(counts);
  const places = new Map(palette.map((colour, i) => [colour, i]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1)
    for (let x = 0; x < width; x += 1) {
      const pixel = pixels[y * width + x];
      let place = places.get(pixel);
      if (place === undefined) places.set(pixel, (place = nearest(palette, pixel)));
      rows[y * (width + 1) + 1 + x] = place;
    }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = 8;
  header[9] = 3;
  const colours = Buffer.from(palette.flatMap((colour) => channels(colour)));
  const packed = deflateSync(rows, { level: 9, memLevel: 9, strategy: constants.Z_DEFAULT_STRATEGY });
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', packed),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const channels = (colour) => [(colour >> 16) & 255, (colour >> 8) & 255, colour & 255];

/** The most frequent colours as they are, and the rest by median cut: boxes of colours, halved where most differ. */
function choosePalette(counts) {
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  if (sorted.length <= MOST_COLOURS) return sorted.map(([colour]) => colour);
  const exact = sorted.slice(0, EXACT_COLOURS).map(([colour]) => colour);
  const boxes = [boxOf(sorted.slice(EXACT_COLOURS))];
  while (boxes.length < MOST_COLOURS - EXACT_COLOURS) {
    const widest = boxes.reduce((best, box) => (box.spread > best.spread ? box : best));
    if (widest.spread === 0) break;
    boxes.splice(boxes.indexOf(widest), 1, ...halve(widest));
  }
  return [...new Set([...exact, ...boxes.map(meanOf)])];
}

function boxOf(colours) {
  const pixels = colours.reduce((sum, [, count]) => sum + count, 0);
  const ranges = [0, 1, 2].map((channel) => {
    const values = colours.map(([colour]) => channels(colour)[channel]);
    return values.reduce((a, b) => Math.max(a, b)) - values.reduce((a, b) => Math.min(a, b));
  });
  const channel = ranges.indexOf(Math.max(...ranges));
  // By the root of the pixels: otherwise the edges of letters would take all boxes from small coloured signs.
  return { colours, pixels, channel, spread: ranges[channel] * Math.sqrt(pixels) };
}

function halve({ colours, pixels, channel }) {
  const sorted = colours.toSorted(([a], [b]) => channels(a)[channel] - channels(b)[channel]);
  let at = 0;
  for (let sum = 0; at < sorted.length - 1 && sum + sorted[at][1] <= pixels / 2; at += 1) sum += sorted[at][1];
  at = Math.max(at, 1);
  return [boxOf(sorted.slice(0, at)), boxOf(sorted.slice(at))];
}

function meanOf({ colours, pixels }) {
  const sums = [0, 0, 0];
  for (const [colour, count] of colours) for (const [i, value] of channels(colour).entries()) sums[i] += value * count;
  const [r, g, b] = sums.map((sum) => Math.round(sum / pixels));
  return (r << 16) | (g << 8) | b;
}

function nearest(palette, pixel) {
  const [r, g, b] = channels(pixel);
  let found = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [i, colour] of palette.entries()) {
    const [pr, pg, pb] = channels(colour);
    const away = (r - pr) ** 2 + (g - pg) ** 2 + (b - pb) ** 2;
    if (away < least) [found, least] = [i, away];
  }
  return found;
}

/** Reads what a browser writes: eight bits a channel, without interlacing. What shines through is not read. */
function decode(png) {
  if (!png.subarray(0, 8).equals(signature)) throw new Error('not a PNG');
  const data = [];
  let [width, height, bytes] = [0, 0, 0];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') {
      [width, height] = [body.readUInt32BE(0), body.readUInt32BE(4)];
      bytes = { 2: 3, 6: 4 }[body[9]];
      if (body[8] !== 8 || !bytes || body[12] !== 0) throw new Error('not a picture of a browser');
    } else if (type === 'IDAT') data.push(body);
    at += 12 + length;
  }
  const raw = inflateSync(Buffer.concat(data));
  const line = width * bytes;
  const pixels = new Int32Array(width * height);
  let above = Buffer.alloc(line);
  for (let y = 0; y < height; y += 1) {
    const row = raw.subarray(y * (line + 1) + 1, (y + 1) * (line + 1));
    unfilter(raw[y * (line + 1)], row, above, bytes);
    for (let x = 0; x < width; x += 1)
      pixels[y * width + x] = (row[x * bytes] << 16) | (row[x * bytes + 1] << 8) | row[x * bytes + 2];
    above = row;
  }
  return { width, height, pixels };
}

/** Undoes the filter of a row, in place. */
function unfilter(filter, row, above, bytes) {
  for (let i = 0; i < row.length; i += 1) {
    const left = i < bytes ? 0 : row[i - bytes];
    const up = above[i];
    const corner = i < bytes ? 0 : above[i - bytes];
    const guess = [0, left, up, (left + up) >> 1, filter === 4 ? paeth(left, up, corner) : 0][filter];
    row[i] = (row[i] + guess) & 255;
  }
}

function paeth(left, up, corner) {
  const guess = left + up - corner;
  const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
  return a <= b && a <= c ? left : b <= c ? up : corner;
}

function chunk(type, body) {
  const made = Buffer.alloc(12 + body.length);
  made.writeUInt32BE(body.length, 0);
  made.write(type, 4, 'latin1');
  body.copy(made, 8);
  made.writeUInt32BE(crc32(made.subarray(4, 8 + body.length)), 8 + body.length);
  return made;
}
