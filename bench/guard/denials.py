#!/usr/bin/env python3
"""Counts denials that a hook misses while the machine or the server is busy.

A rule of the user denies recursive deletes. It needs no history, so every responder must deny: the server within its
deadline, or the program that the hook becomes after it. Each scenario runs the hook many times and counts what it said.
Anything but `deny` is a miss, and one miss fails the run.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

RULES = """version = 1
[[rule]]
name = "no-recursive-delete"
on = "PreToolUse"
decision = "deny"
reason = "delete files one by one"
match.command = { effect = "delete", recursive = true }
"""


def payload(command):
    return json.dumps({
        "session_id": "5a133364-48e1-40c2-b568-cfba1112cbce", "cwd": "/home/dev/project", "hook_event_name": "PreToolUse",
        "tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "toolu_1"}).encode()


def free_port():
    with socket.socket() as end:
        end.bind(("127.0.0.1", 0))
        return end.getsockname()[1]


class Bench:
    def __init__(self, programs, home):
        self.hook = os.path.join(programs, "agent-tracer-hook")
        self.program = os.path.join(programs, "agent-tracer")
        self.environment = {"PATH": os.environ["PATH"], "HOME": home, "AGENT_TRACER_HOME": os.path.join(home, "tracer")}
        os.makedirs(self.environment["AGENT_TRACER_HOME"], mode=0o700)
        with open(os.path.join(self.environment["AGENT_TRACER_HOME"], "policy.toml"), "w", encoding="utf-8") as file:
            file.write(RULES)
        subprocess.run([self.program, "policy", "apply"], env=self.environment, check=True, capture_output=True)
        self.server = None

    def start(self):
        self.server = subprocess.Popen(
            [self.program, "serve", "--listen", "127.0.0.1:%d" % free_port()], env=self.environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        answers = os.path.join(self.environment["AGENT_TRACER_HOME"], "answers.sock")
        for _ in range(600):
            if os.path.exists(answers):
                return
            time.sleep(0.1)
        sys.exit("denials: the server does not start")

    def stop(self):
        if self.server:
            self.server.send_signal(signal.SIGCONT)
            self.server.terminate()
            self.server.wait()
            self.server = None

    def once(self, body):
        began = time.monotonic()
        done = subprocess.run([self.hook, "claude"], input=body, env=self.environment, capture_output=True, timeout=60)
        took = time.monotonic() - began
        try:
            said = json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"]
        except (ValueError, KeyError):
            said = "silent"
        return said, took

    def run(self, name, count, parallel=1, loops=0, body=None):
        body = body or payload("rm -rf build")
        busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(loops)]
        try:
            with concurrent.futures.ThreadPoolExecutor(parallel) as pool:
                results = list(pool.map(lambda _: self.once(body), range(count)))
        finally:
            for loop in busy:
                loop.kill()
                loop.wait()
        said = collections.Counter(word for word, _ in results)
        times = sorted(took for _, took in results)
        missed = count - said["deny"]
        print("%-34s %6d runs  %4d missed  p50 %5.0f ms  p99 %5.0f ms  longest %5.0f ms  %s" % (
            name, count, missed, times[count // 2] * 1000, times[count * 99 // 100] * 1000, times[-1] * 1000, dict(said)),
            flush=True)
        return missed


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--programs", required=True, help="the folder of `agent-tracer` and `agent-tracer-hook`")
    options.add_argument("--count", type=int, default=10_000, help="runs under load")
    options.add_argument("--loops", type=int, default=12, help="busy loops beside the hooks")
    options.add_argument("--parallel", type=int, default=32, help="hooks at a time")
    asked = options.parse_args()
    few = max(20, asked.count // 50)
    with tempfile.TemporaryDirectory() as home:
        bench = Bench(os.path.abspath(asked.programs), home)
        missed = bench.run("no server", few)
        bench.start()
        try:
            missed += bench.run("server", few)
            missed += bench.run("%d busy loops, %d hooks at a time" % (asked.loops, asked.parallel), asked.count,
                                asked.parallel, asked.loops)
            missed += bench.run("command of 2 MB", few, body=payload("rm -rf build # " + "x" * (2 << 20)))
            missed += bench.run("command of 17 MB", 20, body=payload("rm -rf build # " + "x" * (17 << 20)))
            bench.server.send_signal(signal.SIGSTOP)
            missed += bench.run("server stopped", few)
            missed += bench.run("server stopped, %d at a time" % asked.parallel, few, asked.parallel)
        finally:
            bench.stop()
    sys.exit("denials: %d missed" % missed if missed else 0)


if __name__ == "__main__":
    main()
