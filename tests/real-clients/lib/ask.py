"""Inside the namespace, after the scenarios: lets the server read all that the client left, asks it everything,
and writes its answers to a file.  It works on a copy of the product's data: the spool is looked at afterwards.

    ask.py PROGRAM DATA ANSWERS
"""
import json, os, shutil, signal, subprocess, sys, time, urllib.error, urllib.parse, urllib.request

ADDRESS, PATIENCE = "127.0.0.1:4747", 120     # PATIENCE: seconds, for everything to be read
OF_A_TASK = ["timeline", "tool-calls", "turns", "permissions", "questions"]


def get(path, **query):
    url = "http://%s/api/v1/%s" % (ADDRESS, path) + ("?" + urllib.parse.urlencode(query) if query else "")
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def pages(path, **query):
    rows, cursor = [], {}
    while True:
        page = get(path, **query, **cursor)
        rows += page["items"]
        if not page.get("nextCursor"):
            return rows
        cursor = {"cursor": page["nextCursor"]}


def read_everything(server, log):
    """Wait until the history, the spool and what follows from them are in the store."""
    end, before = time.monotonic() + PATIENCE, None
    while time.monotonic() < end:
        if server.poll() is not None:
            sys.exit("the server ended with %d" % server.returncode)
        time.sleep(0.3)
        try:
            health = get("health")
        except (urllib.error.URLError, ConnectionError):
            continue
        with open(log) as f:
            is_read = "history: done" in f.read() and not health["spool"]["waiting"] and not health["store"]["searchLag"]
        if is_read and health["seq"] == before:
            return health
        before = health["seq"] if is_read else None
    sys.exit("the server did not read everything in %d s" % PATIENCE)


def main(program, data, answers):
    copy = data.rstrip("/") + ".asked"
    shutil.copytree(data, copy)
    log = copy + ".log"
    with open(log, "w") as out:
        server = subprocess.Popen([program, "serve", "--listen", ADDRESS], env=dict(os.environ, AGENT_TRACER_HOME=copy),
                                  stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        health = read_everything(server, log)
        tasks = pages("tasks", limit=100)
        said = {"health": health, "tasks": [dict(t, **{part: pages("tasks/%s/%s" % (t["id"], part), limit=100) for part in OF_A_TASK}) for t in tasks]}
    finally:
        server.send_signal(signal.SIGTERM)
        code = server.wait(30)
    if code:
        sys.exit("the server ended with %d" % code)
    for source, more in (("stored", []), ("files", ["--files"])):
        result = subprocess.run([program, "usage", "session", "--json", *more], env=dict(os.environ, AGENT_TRACER_HOME=copy),
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if result.returncode:
            sys.exit("`usage session` ended with %d: %s" % (result.returncode, result.stderr.strip()))
        said[source] = json.loads(result.stdout)
    with open(answers, "w") as f:
        json.dump(said, f, indent=1)


main(*sys.argv[1:])
