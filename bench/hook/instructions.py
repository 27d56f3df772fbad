#!/usr/bin/env python3
"""Counts the instructions of the hook with callgrind, at 2 KB, and holds them to a bar.

Instructions do not depend on how busy the machine is, so this is the one number about speed that a test
may judge. The environment is fixed, because its size is part of the count.
"""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

LIMIT = 150_000
SESSION = "5a133364-48e1-40c2-b568-cfba1112cbce"
LINE = 'drwxr-xr-x  5 dev dev  4096 Nov 15 21:14 "crates" and some more words of output\n'
TEXT = (LINE * 64)[:2048]


def payload(event, **own):
    base = {
        "session_id": SESSION,
        "transcript_path": "/home/dev/.claude/projects/-home-dev-project/%s.jsonl" % SESSION,
        "cwd": "/home/dev/project",
        "prompt_id": "6de0354e-e5da-44ac-9bff-ba6869b0008e",
        "permission_mode": "acceptEdits",
        "effort": {"level": "medium"},
        "hook_event_name": event,
    }
    return (json.dumps(dict(base, **own), separators=(",", ":")) + "\n").encode()


PAYLOADS = {
    "a result of 2 KB": payload(
        "PostToolUse", tool_name="Bash", tool_input={"command": "ls -la && git status", "description": "List files"},
        tool_response={"stdout": TEXT, "stderr": "", "interrupted": False, "isImage": False},
        tool_use_id="toolu_40897adff8f74b43bf5153ec", duration_ms=26),
    "a Write of 2 KB": payload(
        "PreToolUse", tool_name="Write", tool_input={"file_path": "/home/dev/project/src/lib.rs", "content": TEXT},
        tool_use_id="toolu_40897adff8f74b43bf5153ec"),
    "a prompt of 2 KB": payload("UserPromptSubmit", prompt=TEXT),
}


def count(hook, home, body):
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": "/home/dev", "AGENT_TRACER_HOME": home, "CLAUDE_PROJECT_DIR": "/home/dev/project",
        "CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDE_PID": str(os.getpid()), "CLAUDE_CODE_ENTRYPOINT": "cli",
    }
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", hook, "claude"],
        input=body, env=environment, capture_output=True, timeout=120)
    found = re.search(rb"Collected : (\d+)", run.stderr)
    if run.returncode or not found:
        sys.exit("instructions: callgrind failed: %s" % run.stderr.decode(errors="replace")[-2000:])
    return int(found.group(1))


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--hook", default="dist/agent-tracer-hook")
    hook = os.path.abspath(options.parse_args().hook)
    failed = 0
    with tempfile.TemporaryDirectory() as home:
        count(hook, home, PAYLOADS["a prompt of 2 KB"])          # the first start makes the folders
        for name, body in PAYLOADS.items():
            made = count(hook, home, body)
            accepted = len(os.listdir(os.path.join(home, "spool", "new")))
            good = made <= LIMIT and accepted > 0
            failed += not good
            print("%-18s %7d instructions (bar %d)  %s" % (name, made, LIMIT, "holds" if good else "MISSED"))
    print("%d passed, %d failed" % (len(PAYLOADS) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
