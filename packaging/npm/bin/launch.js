"use strict";
// Starts a program of the platform's package in the place of this script: same terminal, same signals, same exit code.
const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const path = require("node:path");

const platform = `${process.platform}-${process.arch}`;

function find(name) {
  const own = `agent-tracer-${platform}`;
  try {
    return path.join(path.dirname(require.resolve(`${own}/package.json`)), "bin", name);
  } catch {
    const known = Object.keys(require("../package.json").optionalDependencies ?? {});
    if (known.includes(own)) {
      console.error(`the package \`${own}\` is missing`);
      console.error("hint: install again without `--omit=optional` or `--no-optional`");
    } else {
      console.error(`there is no build for ${platform}`);
      console.error(`hint: there are builds for ${known.map((it) => it.slice("agent-tracer-".length)).join(", ")}`);
    }
    return process.exit(1);
  }
}

module.exports = function launch(name) {
  const program = find(name);
  const words = process.argv.slice(2);
  // What npx fetched is removed again some day, and an agent would call a program that is gone.
  if (name === "agent-tracer" && words[0] === "install" && program.split(path.sep).includes("_npx")) {
    console.error("cannot connect an agent to a program in the cache of npx");
    console.error("hint: run `npm install --global agent-tracer`, then `agent-tracer " + words.join(" ") + "`");
    process.exit(1);
  }
  const child = spawn(program, words, { stdio: "inherit" });
  // A terminal sends its signals to both; what another process sends to this script alone is passed on.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"]) {
    process.on(signal, () => {
      if (!(process.stdin.isTTY && (signal === "SIGINT" || signal === "SIGQUIT"))) child.kill(signal);
    });
  }
  child.on("error", (cause) => {
    console.error(`cannot start \`${program}\`: ${cause.message}`);
    process.exit(1);
  });
  child.on("exit", (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
  });
};
