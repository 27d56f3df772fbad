"""A hook (and status line) that only writes down what it was given: one file per call in rows/
beside it, {t_ns, channel, scenario, payload}.  Written aside and renamed: a killed recorder leaves
no half row.  Prints nothing as a hook; as a status line, one word to look for on the screen."""
import json, os, sys, time

stamp = time.time_ns()
channel = sys.argv[1] if len(sys.argv) > 1 else "hook"
text = sys.stdin.buffer.read().decode("utf-8", "replace")
try:
    payload = json.loads(text)
except ValueError:
    payload = text
row = {"t_ns": stamp, "channel": channel, "scenario": os.environ.get("REAL_CLIENTS_SCENARIO"),
       "token": os.environ.get("CLAUDE_CODE_MESSAGING_TOKEN"), "payload": payload}
here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rows")
name = "%d-%d" % (stamp, os.getpid())
with open(os.path.join(here, "." + name), "w") as f:
    f.write(json.dumps(row, ensure_ascii=False, separators=(",", ":")))
os.rename(os.path.join(here, "." + name), os.path.join(here, name + ".json"))
if channel == "statusline":
    print("recorded")
