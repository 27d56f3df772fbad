#!/usr/bin/env python3
"""Inner part of ../run: records sessions by `agent-tracer run`, in the home of the client and in a second one.

    run_inside.py PROGRAM CLIENT RESULT"""
import hashlib, json, os, subprocess, sys, time

PROGRAM, CLIENT, RESULT = sys.argv[1:4]
HOME = os.environ["HOME"]
MINE = "echo mine >> %s/mine.log" % HOME       # a hook of the user's
SECOND = HOME + "/accounts/two"                # a home that no setting of ours names
CLIENTS = {
    "claude-code": {
        "word": "claude", "variable": "CLAUDE_CONFIG_DIR", "home": HOME + "/.claude", "files": ["settings.json"],
        "session": ["-p", "--dangerously-skip-permissions", "List [[ok]]"],
        "fails": ["-p", "--no-such-option"],
    },
    "codex": {
        "word": "codex", "variable": "CODEX_HOME", "home": HOME + "/.codex", "files": ["hooks.json", "config.toml"],
        "session": ["exec", "--json", "[[shell_ok]]"],
        "fails": ["exec", "--no-such-option"],
    },
}


def hook_hash(command):
    """The hash by which Codex trusts a hook on Stop."""
    hook = {"event_name": "stop", "hooks": [{"async": False, "command": command, "timeout": 600, "type": "command"}]}
    return "sha256:" + hashlib.sha256(json.dumps(hook, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def prepare(client, folder):
    """A home with a hook of the user's, which the user has reviewed."""
    os.makedirs(folder, exist_ok=True)
    table = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": MINE}]}]}}
    with open("%s/%s" % (folder, client["files"][0]), "w") as f:
        json.dump(table, f)
    if len(client["files"]) > 1:
        with open("%s/%s" % (client["home"], client["files"][1])) as f:
            text = f.read().split("\n[hooks.state.")[0]
        with open("%s/%s" % (folder, client["files"][1]), "w") as f:
            f.write(text + "\n[hooks.state.\"%s/hooks.json:stop:0:0\"]\ntrusted_hash = \"%s\"\n" % (folder, hook_hash(MINE)))


def contents(client, folder):
    found = {}
    for name in client["files"]:
        with open("%s/%s" % (folder, name), "rb") as f:
            found[name] = hashlib.sha256(f.read()).hexdigest()
    return found


def run(client, words, folder=None):
    """One run.  -> its exit code, the receipt, and how often the user's own hook ran"""
    env = dict(os.environ, **({client["variable"]: folder} if folder else {}))
    receipt, log = HOME + "/receipt.json", HOME + "/mine.log"
    for path in (receipt, log):
        if os.path.exists(path):
            os.remove(path)
    code = subprocess.run([PROGRAM, "run", "--receipt", receipt, client["word"]] + words, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=False).returncode
    mine = 0
    if os.path.exists(log):
        with open(log) as f:
            mine = len(f.read().split())
    with open(receipt) as f:
        return {"exit": code, "receipt": json.load(f), "mine": mine, "mode": oct(os.stat(receipt).st_mode & 0o777)}


def main():
    client = CLIENTS[CLIENT]
    result = {}
    for folder in (client["home"], SECOND):
        prepare(client, folder)
    result["before"] = [contents(client, folder) for folder in (client["home"], SECOND)]
    result["alone"] = run(client, client["session"])
    result["fails"] = run(client, client["fails"])
    server = subprocess.Popen([PROGRAM, "serve", "--listen", "127.0.0.1:4799"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(200):
            if subprocess.run([PROGRAM, "doctor", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False).stdout.find(b"4799") > 0:
                break
            time.sleep(0.1)
        result["second"] = run(client, client["session"], SECOND)
        result["after"] = [contents(client, folder) for folder in (client["home"], SECOND)]
        subprocess.run([PROGRAM, "install", client["word"], "--no-verify"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        result["installed"] = run(client, client["session"])
    finally:
        server.terminate()
        server.wait()
    with open(RESULT, "w") as f:
        json.dump(result, f)


main()
