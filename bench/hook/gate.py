#!/usr/bin/env python3
"""Holds the built hook to what it promises: static, one process, no thread, no network, few instructions.

Instructions (callgrind, at 2 KB) do not depend on how busy the machine is, so this is the one number about
speed that a test may judge. The environment is fixed, because its size is part of the count.
"""
import argparse
import json
import os
import re
import struct
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

# What people paste: full of the signs around which secrets are spelled, and without any.
PASTED = {
    "Rust": """    fn telling(&mut self, key: &Text<'_>, known: Option<Key>) -> Telling {
        let own = match known { Some(_) => Telling::NOTHING, None => Telling::of(key.raw) };
        let Some(frame) = self.frames.last_mut() else { return own };
        frame.names = key.len() == 5 && is_value(key);
        self.count += u64::from(frame.names); // one more
    }
""",
    "TypeScript": """export const handler = async (event: Event, context: Context): Promise<Result> => {
  const { userId, items = [] } = JSON.parse(event.body ?? "{}");
  logger.info("order", { userId, key: `orders/${userId}`, at: new Date().toISOString() });
  return { statusCode: items.length === 0 ? 400 : 200, body: JSON.stringify({ userId }) };
};
""",
    "TOML": """[dependencies]
serde = { version = "1.0", default-features = false, features = ["derive"] }
key-value = { path = "../key-value" }
[profile.release]
lto = "thin"
codegen-units = 1
""",
    "a shell script": """set -euo pipefail
for f in $(git ls-files -- '*.rs' | grep -v -- target); do n=$(wc -l < "$f"); done
docker run --rm -it -p 8080:80 -v "$PWD":/src app:latest
curl -sSf -X POST -H "Content-Type: application/json" -d '{"a":1}' "http://localhost:$PORT/api"
""",
    "JSON": """{
  "name": "app", "version": "1.2.3", "private": true,
  "scripts": { "build": "tsc -p .", "test": "vitest run --coverage" },
  "dependencies": { "left": "^1.2.3", "right": "~4.5.6" }, "keywords": ["x", "y"]
},
""",
    "a log": """2026-11-15T21:14:05.123Z INFO [worker-3] request_id=9e3779b1 method=GET path=/api/v1/items/42 status=200 ms=17
""",
    "a log in JSON": """{"ts":"2026-11-15T21:14:05.123Z","level":"info","msg":"done","status":200,"ms":17,"token_count":42}
""",
    "a diff": """diff --git a/src/lib.rs b/src/lib.rs
index 3f2a9c1..8b7d6e5 100644
--- a/src/lib.rs
+++ b/src/lib.rs
@@ -12,7 +12,7 @@ impl Reader {
-    let token = self.tokens.next();
+    let token = self.tokens.peek().copied();
     match token { None => return Ok(()), Some(kind) => self.read(kind)? }
""",
    "a lock file": """[[package]]
name = "serde_json"
version = "1.0.145"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "402a6f66d8c709116cf22f558eab210f5a50187f702eb4d7e5ef38d9a7f1c79c"
dependencies = [
 "itoa",
]

""",
    "an ini file": """option_12 = value 12 ; comment
key12: "some text"
""",
    "markup": """<form action="/login"><input type="text" name="user" value=""><input type="password" name="pw" value=""></form>
""",
}
for name, text in PASTED.items():
    PAYLOADS["2 KB of %s in a prompt" % name] = payload("UserPromptSubmit", prompt=(text * 64)[:2048])


def run(hook, home, body, *tool):
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": "/home/dev", "AGENT_TRACER_HOME": home, "CLAUDE_PROJECT_DIR": "/home/dev/project",
        "CLAUDE_CODE_SESSION_ID": SESSION, "CLAUDE_PID": str(os.getpid()), "CLAUDE_CODE_ENTRYPOINT": "cli",
    }
    done = subprocess.run(["valgrind", *tool, hook, "claude"], input=body, env=environment, capture_output=True, timeout=120)
    if done.returncode or done.stdout:
        sys.exit("gate: the hook failed or spoke: %s" % done.stderr.decode(errors="replace")[-2000:])
    return done.stderr.decode(errors="replace")


def instructions(hook, home, body):
    found = re.search(r"Collected : (\d+)", run(hook, home, body, "--tool=callgrind", "--callgrind-out-file=/dev/null"))
    return int(found.group(1)) if found else sys.exit("gate: callgrind printed no number")


def is_static(path):
    """No interpreter among the program headers of the ELF file."""
    with open(path, "rb") as file:
        head = file.read(64)
        offset, = struct.unpack_from("<Q", head, 32)
        size, count = struct.unpack_from("<HH", head, 54)
        file.seek(offset)
        table = file.read(size * count)
    return all(struct.unpack_from("<I", table, i * size)[0] != 3 for i in range(count))


def system_calls(hook, home, body):
    """Names of the calls that start processes or threads, and families of the sockets that were opened."""
    trace = run(hook, home, body, "--tool=none", "--trace-syscalls=yes")
    calls = re.findall(r"SYSCALL\[\d+,\d+\]\(\d+\) (\w+)", trace)
    sockets = re.findall(r"sys_socket \( (\d+)", trace)
    if "sys_rename" not in calls:
        sys.exit("gate: the trace does not show the hook at work")
    return [call for call in calls if re.fullmatch(r"(sys_)?(clone3?|v?fork|execve(at)?)", call)], sockets


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--hook", default="dist/agent-tracer-hook")
    hook = os.path.abspath(options.parse_args().hook)
    checks = []
    with tempfile.TemporaryDirectory() as home:
        instructions(hook, home, PAYLOADS["a prompt of 2 KB"])   # the first start makes the folders
        for name, body in PAYLOADS.items():
            before = len(os.listdir(os.path.join(home, "spool", "new")))
            made = instructions(hook, home, body)
            accepted = len(os.listdir(os.path.join(home, "spool", "new"))) - before
            checks.append(("%s: %d instructions (bar %d)" % (name, made, LIMIT), made <= LIMIT and accepted == 1))
        started, sockets = system_calls(hook, home, PAYLOADS["a result of 2 KB"])
    checks.append(("statically linked", is_static(hook)))
    checks.append(("one process, no thread %s" % (started or ""), not started))
    checks.append(("no socket but a local one", all(family == "1" for family in sockets)))
    for text, good in checks:
        print("%-7s %s" % ("holds" if good else "MISSED", text))
    failed = sum(not good for _, good in checks)
    print("%d passed, %d failed" % (len(checks) - failed, failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
