#!/usr/bin/env python3
"""Tokens side by side with `ccusage`: both answers against the truth, and what both cost.

The histories are the captured scenarios that come with the truth about their tokens (forks, resumes, subagents,
compactions, both agents), and a generated one in which a tenth of the sessions are forks. Both programs read the same
files, in turn, without network. The generated one is also imported into an empty store, searched words included, and
once more when nothing has changed. Prints a table on standard output and, with `--json FILE`, the same as JSON. Ends with 1
if one of our own answers is not the truth or an import costs too much.
"""
import argparse
import json
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FIXTURES = ROOT / "fixtures"
PACKAGE = "@ccusage/ccusage-linux-x64"
VERSION = "20"


def install(cache):
    """The native program of the npm package; None if it cannot be had."""
    program = cache / "ccusage" / "node_modules" / PACKAGE / "bin" / "ccusage"
    if not program.exists():
        (cache / "ccusage").mkdir(parents=True, exist_ok=True)
        words = ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--silent", "--prefix", cache / "ccusage"]
        try:
            done = subprocess.run([*words, f"{PACKAGE}@{VERSION}"], capture_output=True)
        except OSError as error:
            print(f"ccusage is left out: {error}", file=sys.stderr)
            return None
        if done.returncode or not program.exists():
            print("ccusage is left out: npm cannot install it", file=sys.stderr)
            return None
    program.chmod(0o755)
    return program.resolve()


def lay(scenario, client, home):
    """Puts the files of a scenario where its client would have them."""
    if client == "claude-code":
        for path in sorted((FIXTURES / "claude-code" / "2.1.325" / scenario).rglob("*")):
            if path.is_file() and path.name not in ("hooks.jsonl", "truth.json"):
                below = path.relative_to(FIXTURES / "claude-code" / "2.1.325" / scenario)
                to = home / "projects" / "-home-dev-project" / below
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, to)
        return
    folder = home / "sessions" / "2026" / "11" / "15"
    folder.mkdir(parents=True)
    for path in sorted((FIXTURES / "codex" / "0.166.0" / "rollouts").glob("*.jsonl")):
        if path.name.split(".")[0] == scenario:
            with path.open() as rows:
                thread = json.loads(rows.readline())["payload"]["id"]
            shutil.copy(path, folder / f"rollout-2026-11-15T19-33-11-{thread}.jsonl")


def truth_of(path):
    """What the API answered: input without caches, output, read from caches, written to caches; and what is hidden."""
    truth = json.loads(path.read_text())
    total, hidden = [0] * 4, [0] * 4
    for session in truth["sessions"]:
        for agent in session.get("agents") or session.get("threads"):
            for kind, sums in agent["by_kind"].items():
                usage = sums["usage"]
                cached = usage.get("cached_input_tokens", 0)
                numbers = [
                    usage.get("input_tokens", 0) - cached,
                    usage.get("output_tokens", 0),
                    cached + usage.get("cache_read_input_tokens", 0),
                    usage.get("cache_creation_input_tokens", 0),
                ]
                # A thread that names another one leaves no file at all, so it cannot be read there.
                into = hidden if kind == "title" else total
                for place, number in enumerate(numbers):
                    into[place] += number
    return total, sum(hidden)


def timed(words, env):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.monotonic()
    done = subprocess.run([str(word) for word in words], env=env, capture_output=True)
    wall = time.monotonic() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"`{words[0]}` ended with {done.returncode}: {done.stderr.decode()[-300:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return json.loads(done.stdout), wall, cpu


KEYS = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheCreationTokens")


def ours(program, home, empty):
    env = {"HOME": str(empty), "PATH": os.environ["PATH"], "NO_COLOR": "1"}
    said, wall, cpu = timed([program, "usage", "daily", "--files", home, "--tz", "UTC", "--json"], env)
    return [said["total"][key] for key in KEYS], wall, cpu


def theirs(program, client, home, empty):
    env = {"HOME": str(empty), "PATH": os.environ["PATH"], "NO_COLOR": "1"}
    env["CLAUDE_CONFIG_DIR" if client == "claude-code" else "CODEX_HOME"] = str(home)
    word = "claude" if client == "claude-code" else "codex"
    said, wall, cpu = timed([program, word, "daily", "--json", "--offline", "--timezone", "UTC"], env)
    totals = said.get("totals") or {}
    return [totals.get(key, 0) for key in KEYS], wall, cpu


def error(answer, truth):
    """All differences, as a share of all tokens."""
    whole = sum(truth)
    off = sum(abs(one - two) for one, two in zip(answer, truth))
    return off / whole if whole else float(off)


def captured(program, peer):
    rows = []
    paths = sorted((FIXTURES / "claude-code" / "2.1.325").glob("*/truth.json"))
    names = [(path.parent.name, "claude-code", path) for path in paths]
    paths = sorted((FIXTURES / "codex" / "0.166.0" / "truth").glob("*.truth.json"))
    names += [(path.name.split(".")[0], "codex", path) for path in paths]
    for scenario, client, path in names:
        truth, hidden = truth_of(path)
        with tempfile.TemporaryDirectory() as folder:
            home, empty = pathlib.Path(folder) / "home", pathlib.Path(folder) / "empty"
            home.mkdir(), empty.mkdir()
            lay(scenario, client, home)
            row = {"history": f"{client}/{scenario}", "truth": sum(truth), "hidden": hidden}
            row["ours"], row["oursError"] = (lambda said: (sum(said), error(said, truth)))(ours(program, home, empty)[0])
            if peer:
                said = theirs(peer, client, home, empty)[0]
                row["ccusage"], row["ccusageError"] = sum(said), error(said, truth)
        rows.append(row)
    return rows


def generated(program, peer, corpus, rounds):
    facts = json.loads((corpus / "corpus.json").read_text())
    truth = facts["tokens"]
    row = {"history": f"generated, {facts['bytes'] / 1e6:.0f} MB", "truth": sum(truth), "hidden": 0}
    runs = {"ours": [], "ccusage": []}
    with tempfile.TemporaryDirectory() as empty:
        # The first round fills the page cache and is not counted.
        for turn in range(rounds + 1):
            for name in runs:
                if name == "ccusage" and not peer:
                    continue
                if name == "ours":
                    said, wall, cpu = ours(program, corpus, empty)
                else:
                    said, wall, cpu = theirs(peer, "claude-code", corpus, empty)
                row[name], row[f"{name}Error"] = sum(said), error(said, truth)
                if turn:
                    runs[name].append((wall, cpu))
    for name, times in runs.items():
        if times:
            row[f"{name}WallS"] = statistics.median(wall for wall, _ in times)
            row[f"{name}CpuS"] = statistics.median(cpu for _, cpu in times)
    return row


# A store with full text (agentsview 0.46.1) took 16.1 times the processor time of ccusage for its first look at a
# gigabyte, measured side by side on one machine. Ours may take a third of that.
IMPORT_TO_CCUSAGE = 16.1 / 3


def imported(program, corpus):
    """What reading everything into the store costs, and reading it again when nothing has changed."""
    with tempfile.TemporaryDirectory(dir=corpus.parent) as home:
        env = {"HOME": home, "PATH": os.environ["PATH"], "NO_COLOR": "1"}
        words = [program, "import", "claude", "--home", f"{home}/tracer", "--path", corpus, "--json"]
        first, wall, cpu = timed(words, env)
        again, again_wall, again_cpu = timed(words, env)
        if again["rows"]:
            raise SystemExit(f"a second import read {again['rows']} rows anew")
        size = (pathlib.Path(home) / "tracer" / "ledger.db").stat().st_size
    return {
        "importRows": first["rows"], "importWallS": wall, "importCpuS": cpu, "importStoreBytes": size,
        "againWallS": again_wall, "againCpuS": again_cpu,
    }


def show(rows):
    print(f"{'history':38} {'truth':>14} {'ours':>14} {'error':>8} {'ccusage':>14} {'error':>8}")
    for row in rows:
        peer = f"{row['ccusage']:>14,} {row['ccusageError']:>8.2%}" if "ccusage" in row else f"{'-':>14} {'-':>8}"
        note = f"  ({row['hidden']:,} more in no file)" if row["hidden"] else ""
        print(f"{row['history']:38} {row['truth']:>14,} {row['ours']:>14,} {row['oursError']:>8.2%} {peer}{note}")
    for row in rows:
        if "oursWallS" in row:
            line = f"\n{row['history']}: ours {row['oursWallS']:.2f} s, {row['oursCpuS']:.2f} s of CPU"
            if "ccusageWallS" in row:
                line += f"; ccusage {row['ccusageWallS']:.2f} s, {row['ccusageCpuS']:.2f} s of CPU"
                line += f" ({row['ccusageWallS'] / row['oursWallS']:.1f}× the time)"
            print(line)
        if "importCpuS" in row:
            line = f"import: {row['importRows']:,} rows in {row['importWallS']:.1f} s, {row['importCpuS']:.1f} s of CPU"
            if "ccusageCpuS" in row:
                line += f" ({row['importCpuS'] / row['ccusageCpuS']:.1f}× ccusage's, at most {IMPORT_TO_CCUSAGE:.1f})"
            print(f"{line}; {row['importStoreBytes'] / 1e6:.0f} MB")
            print(f"again: {row['againWallS']:.3f} s, {row['againCpuS']:.3f} s of CPU, nothing read")


def main():
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--program", type=pathlib.Path, default=ROOT / "target" / "release" / "agent-tracer")
    words.add_argument("--corpus", type=pathlib.Path, help="a corpus that `bench-scan --corpus` wrote")
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--cache", type=pathlib.Path, default=ROOT / "target" / "bench-scan")
    words.add_argument("--no-ccusage", action="store_true")
    words.add_argument("--json", type=pathlib.Path)
    asked = words.parse_args()
    peer = None if asked.no_ccusage else install(asked.cache.absolute())
    program = asked.program.absolute()
    rows = captured(program, peer)
    if asked.corpus:
        corpus = asked.corpus.absolute()
        rows.append(generated(program, peer, corpus, asked.rounds) | imported(program, corpus))
    show(rows)
    if asked.json:
        asked.json.write_text(json.dumps({"rows": rows}, indent=1) + "\n")
    wrong = [row["history"] for row in rows if row["oursError"]]
    if wrong:
        print(f"\nnot the truth: {', '.join(wrong)}", file=sys.stderr)
    dear = [
        row["history"] for row in rows
        if "importCpuS" in row and row["importCpuS"] > IMPORT_TO_CCUSAGE * row.get("ccusageCpuS", float("inf"))
    ]
    if dear:
        print(f"\nimport costs too much: {', '.join(dear)}", file=sys.stderr)
    return 1 if wrong or dear else 0


if __name__ == "__main__":
    sys.exit(main())
