"""Made-up runs for the tests: what a driver's out folder and a spool look like when all is well."""
import json, os

from envelopes import MAGIC, xxh64

SESSION = "0f0e0d0c-1111-4222-8333-444455556666"


def envelope(payload, channel="hook", **header):
    body = json.dumps(payload).encode()
    lines = dict({"agent": "claude_code", "channel": channel, "arrived": "1", "length": str(len(body)), "cwd": "/home/dev/project"}, **header)
    data = MAGIC + "".join("%s: %s\n" % item for item in lines.items()).encode() + b"\n" + body
    return data + b"\nxxh64: %016x\n" % xxh64(data)


def hook(event, **more):
    return dict({"session_id": SESSION, "hook_event_name": event, "cwd": "/home/dev/project"}, **more)


class Out:
    """An out folder with one scenario in it."""

    def __init__(self, folder, scenario="ok"):
        self.folder, self.scenario, self.count = str(folder), scenario, 0
        self.spool = os.path.join(self.folder, "spool")
        os.makedirs(os.path.join(self.spool, "new"))
        self.result(0)

    def write(self, path, text, mode="w"):
        path = os.path.join(self.folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, mode) as f:
            f.write(text)

    def result(self, code, unfinished=()):
        self.write("logs/results.json", json.dumps({self.scenario: {"exit": code, "expect": 0, "unfinished": list(unfinished)}}))

    def request(self, body):
        self.count += 1
        self.write("logs/requests/%04d.json" % self.count, json.dumps({"scenario": self.scenario, "path": "/v1/messages", "body": body}))

    def record(self, payload, channel="hook", token=None):
        self.count += 1
        row = {"t_ns": self.count, "channel": channel, "scenario": self.scenario, "token": token, "payload": payload}
        self.write("home/cap/rows/%d.json" % self.count, json.dumps(row))

    def keep(self, data):
        self.count += 1
        self.write("spool/new/%020d-1-0" % self.count, data, "wb")

    def transcript(self, row):
        self.write("home/.claude/projects/p/s.jsonl", json.dumps(dict(row, sessionId=SESSION)) + "\n", "a")

    def fire(self, payload, channel="hook"):
        """A hook that was recorded and kept, as it should be."""
        self.record(payload, channel)
        self.keep(envelope(payload, channel))
