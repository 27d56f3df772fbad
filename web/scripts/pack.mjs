/** Writes each built file a second and a third time, compressed: the program sends them as they are. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const WORTH_BYTES = 512;
const dist = fileURLToPath(new URL('../dist/', import.meta.url));

function pack(folder) {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) {
      pack(path);
    } else if (!/\.(br|gz|png|woff2)$/.test(name)) {
      const bytes = readFileSync(path);
      if (bytes.length < WORTH_BYTES) continue;
      writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
      writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
    }
  }
}

pack(dist);
