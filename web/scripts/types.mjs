/** Writes the types of the API from the server's own description. `--check` only says whether they are up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import openapi, { astToString } from 'openapi-typescript';

const source = new URL('../../crates/server/openapi.json', import.meta.url);
const target = new URL('../src/api/generated/schema.ts', import.meta.url);
// Only the values: paths and parameters are written out in `client.ts`, where they are used.
const document = { ...JSON.parse(readFileSync(source, 'utf8')), paths: {} };
const text = `/** Generated from \`crates/server/openapi.json\` by \`npm run types\`. */\n${astToString(await openapi(document))}`;
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error(
    '`src/api/generated/schema.ts` is not what `crates/server/openapi.json` says\nhint: run `npm run types`',
  );
  process.exit(1);
}
