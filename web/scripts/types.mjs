/** Writes the types of the API from the server's own description. `--check` only compares. */
import { readFileSync, writeFileSync } from 'node:fs';
import openapi, { astToString } from 'openapi-typescript';

const source = new URL('../../crates/server/openapi.json', import.meta.url);
const target = new URL('../src/api/generated/schema.ts', import.meta.url);

/** Drops descriptions: `docs/api.md` holds them, and a new sentence on the server needs no new types here. */
function withoutProse(value) {
  if (Array.isArray(value)) return value.map(withoutProse);
  if (typeof value !== 'object' || value === null) return value;
  const isProse = ([key, one]) => typeof one === 'string' && (key === 'description' || key === 'summary');
  return Object.fromEntries(
    Object.entries(value)
      .filter((entry) => !isProse(entry))
      .map(([key, one]) => [key, withoutProse(one)]),
  );
}

const types = astToString(await openapi(withoutProse(JSON.parse(readFileSync(source, 'utf8')))));
const text = `/** Generated from \`crates/server/openapi.json\` by \`npm run types\`. */\n${types}`;
if (!process.argv.includes('--check')) writeFileSync(target, text);
else if (readFileSync(target, 'utf8') !== text) {
  console.error(
    '`src/api/generated/schema.ts` does not match `crates/server/openapi.json`\nhint: run `npm run types` in `web`',
  );
  process.exit(1);
}
