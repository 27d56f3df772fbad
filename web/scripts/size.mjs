/** Holds the built script to its budget: all of it together, compressed as it is sent. */
import { readdirSync, readFileSync } from 'node:fs';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const BUDGET_BYTES = 250 * 1024;
const dir = new URL('../dist/assets/', import.meta.url);
let gzip = 0;
let brotli = 0;
for (const name of readdirSync(dir).filter((name) => name.endsWith('.js'))) {
  const bytes = readFileSync(new URL(name, dir));
  gzip += gzipSync(bytes, { level: 9 }).length;
  brotli += brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length;
}
const kb = (bytes) => `${(bytes / 1024).toFixed(1)} KB`;
console.log(`script: ${kb(gzip)} gzip, ${kb(brotli)} brotli, budget ${kb(BUDGET_BYTES)}`);
if (gzip > BUDGET_BYTES) {
  console.error('the script is over its budget\nhint: load pages lazily, or look for what a new dependency drags in');
  process.exit(1);
}
