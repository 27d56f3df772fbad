"""Inside the namespace, after the scenarios: asks the server about every compaction, and restores every copy.

    compactions.py PROGRAM
"""
import json, subprocess, sys, time, urllib.error, urllib.request

ADDRESS, PATIENCE = "http://127.0.0.1:4747/api/v1/", 60


def get(path):
    with urllib.request.urlopen(ADDRESS + path, timeout=30) as answer:
        return json.load(answer)


def compactions(task):
    """Those of a task, each with its items; none where its file is gone."""
    try:
        found = get("tasks/%s/compactions" % task["id"])["items"]
    except urllib.error.HTTPError:
        return []
    for c in found:
        for side in ("before", "after"):
            c[side + "Items"] = get("tasks/%s/compaction-items?number=%d&side=%s" % (task["id"], c["number"], side))["items"]
        c["agentType"] = task["agentType"]
    return found


def main(program):
    end = time.monotonic() + PATIENCE
    while get("health")["spool"]["waiting"] and time.monotonic() < end:
        time.sleep(0.2)
    listed = lambda: json.loads(subprocess.run([program, "backup", "list", "--json"], check=True, capture_output=True, text=True).stdout)["backups"]
    found = [c for task in get("tasks?limit=100")["items"] for c in compactions(task)]
    # Copies are made behind the events.
    while len(listed()) < sum("seenBytes" in c for c in found) and time.monotonic() < end:
        time.sleep(0.2)
    copies = listed()
    for number, copy in enumerate(copies):
        copy["restored"] = "restored-%d.jsonl" % number
        subprocess.run([program, "backup", "restore", copy["name"], "--to", copy["restored"]], check=True)
    with open("compactions.json", "w") as f:
        json.dump({"compactions": found, "backups": copies}, f, indent=1)


main(*sys.argv[1:])
