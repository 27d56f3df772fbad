/** Makes a picture smaller without changing it: a browser packs quickly, not tightly. */
import { constants, crc32, deflateSync, inflateSync } from 'node:zlib';

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The same picture, its data packed as tightly as zlib can. */
export function smaller(png) {
  if (!png.subarray(0, 8).equals(signature)) throw new Error('not a PNG');
  const head = [];
  const data = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    const body = png.subarray(at + 8, at + 8 + length);
    if (type === 'IDAT') data.push(body);
    else if (type !== 'IEND' && data.length === 0) head.push(chunk(type, body));
    at += 12 + length;
  }
  const packed = deflateSync(inflateSync(Buffer.concat(data)), {
    level: 9,
    memLevel: 9,
    strategy: constants.Z_DEFAULT_STRATEGY,
  });
  const made = Buffer.concat([signature, ...head, chunk('IDAT', packed), chunk('IEND', Buffer.alloc(0))]);
  return made.length < png.length ? made : png;
}

function chunk(type, body) {
  const made = Buffer.alloc(12 + body.length);
  made.writeUInt32BE(body.length, 0);
  made.write(type, 4, 'latin1');
  body.copy(made, 8);
  made.writeUInt32BE(crc32(made.subarray(4, 8 + body.length)), 8 + body.length);
  return made;
}
