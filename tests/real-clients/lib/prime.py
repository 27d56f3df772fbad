"""Inside the namespace, before the scenarios: gives the product a past in this project, as if an agent had worked here
before, and lets it tell of it to agents that begin.

    prime.py DIST AGENT
"""
import json, os, signal, subprocess, sys, time, urllib.request

from layout import PROJECT

ADDRESS, PATIENCE, CALLS = "127.0.0.1:4747", 120, 5


def main(dist, agent):
    program, hook = os.path.join(dist, "agent-tracer"), os.path.join(dist, "agent-tracer-hook")
    subprocess.run([program, "install", agent], check=True)
    for number in range(CALLS):
        call = {"session_id": "0f1e2d3c-0000-4000-8000-000000000000", "cwd": PROJECT, "tool_name": "Bash",
                "transcript_path": PROJECT + "/none.jsonl", "tool_input": {"command": "cargo test"}, "tool_use_id": "toolu_%d" % number}
        for more in ({"hook_event_name": "PreToolUse"}, {"hook_event_name": "PostToolUseFailure", "error": "Exit code 1"}):
            subprocess.run([hook, "claude"], input=json.dumps(dict(call, **more)), text=True, cwd=PROJECT, check=True)
    server = subprocess.Popen([program, "serve", "--listen", ADDRESS], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
    end = time.monotonic() + PATIENCE
    while failures() < CALLS:
        if server.poll() is not None or time.monotonic() > end:
            sys.exit("the server did not read what the hooks left")
        time.sleep(0.2)
    server.send_signal(signal.SIGTERM)
    server.wait(30)
    subprocess.run([program, "context", "on", "--export-task"], check=True)


def failures():
    try:
        with urllib.request.urlopen("http://%s/api/v1/tools" % ADDRESS, timeout=10) as answer:
            return sum(tool["failures"] for tool in json.load(answer)["items"])
    except OSError:
        return 0


main(*sys.argv[1:])
