"""What the check demands of a run with the product's hooks, compared with a run without any.  Every
function takes the loaded runs and a scenario's name and returns its complaints, as sentences."""
import collections, difflib, glob, json, os, re

import canary, normal, recording
from layout import HOME

# What tells one hook call of a client from another, as far as a tracer must keep it.
KEY = ["session_id", "hook_event_name", "agent_id", "agent_type", "tool_use_id", "tool_name", "turn_id", "prompt_id",
       "source", "reason", "trigger", "task_id", "notification_type", "load_reason", "status"]


# Headless, Claude Code ends without waiting for these: the recorder, which takes as long as Python does to start, may not
# have lived to write.  A slow tracer would miss them; one envelope more than the recorder saw is no fault.
NOT_WAITED_FOR = {"StopFailure"}


# Here the client notes the end of a stopped agent with one result or with the next, as it comes, with and without hooks: the
# requests are counted, and what they say is not compared.
NOTED_BY_CHANCE = {"many_kill", "stop"}


class Run:
    """The out folder of a driver, loaded."""

    def __init__(self, client, out, spool=None, said=None):
        """said: what the server answered when it was asked, see answers.py."""
        self.client, self.out, self.spool, self.said = client, out, spool, said
        self.results = load(os.path.join(out, "logs", "results.json"), {})
        self.rows = recording.rows(out)
        # Which session each subagent was started in: the client may go on with it under the name of another.
        self.started = {p["agent_id"]: p["session_id"] for p in (r["payload"] for r in self.rows) if p.get("hook_event_name") == "SubagentStart"}
        # Sessions that the client keeps no file of: what they spent is written nowhere.
        self.unkept = {p["session_id"] for p in (r["payload"] for r in self.rows) if "transcript_path" in p and not is_persisted(out, p["transcript_path"])}
        self.scenario_of = {r["payload"]["session_id"]: r["scenario"] for r in self.rows}
        self.requests = collections.defaultdict(list)
        for path in sorted(glob.glob(os.path.join(out, "logs", "requests", "*.json"))):
            record = load(path, None)
            self.requests[record["scenario"]].append(normal.request(record))

    def printed(self, name, kind):
        try:
            with open(os.path.join(self.out, "logs", "%s.%s" % (name, kind)), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return ""

    def recorded(self, name, channel):
        return [r["payload"] for r in self.rows if r["scenario"] == name and r["channel"] == channel]

    def envelopes(self, name, channel):
        """Those of the scenario's sessions; name None: those of sessions that the recorder never saw."""
        return [e for e in self.spool.envelopes
                if e.header["channel"] == channel and self.scenario_of.get((e.payload or {}).get("session_id")) == name]


def is_persisted(out, transcript):
    """Whether the client's file of a session is there."""
    return bool(transcript) and os.path.exists(os.path.join(out, "home", os.path.relpath(transcript, HOME)))


def load(path, default):
    try:
        with open(path) as f:
            return json.load(f)
    except FileNotFoundError:
        return default


def key(payload):
    return tuple(str(payload.get(k)) for k in KEY)


def describe(k):
    return ", ".join("%s %s" % pair for pair in zip(KEY, k) if pair[1] != "None")


def ended(run, name):
    r = run.results.get(name)
    if r is None:
        yield "it did not run"
    elif r["exit"] != r["expect"]:
        yield "exit code %d, not %d" % (r["exit"], r["expect"])
    elif r["unfinished"]:
        yield "script not played to its end: %s" % ", ".join(r["unfinished"])


def same_behaviour(hooked, bare, name):
    """The agent must not notice the hooks: same output, same requests to the model."""
    for kind in ("out", "err"):
        ours, theirs = (normal.output(run.printed(name, kind)) for run in (hooked, bare))
        if ours != theirs:
            yield "its %s differs: %s" % ({"out": "stdout", "err": "stderr"}[kind], first_difference(theirs, ours))
    ours, theirs = sorted(hooked.requests[name]), sorted(bare.requests[name])
    if len(ours) != len(theirs):
        yield "%d requests to the model, %d without hooks" % (len(ours), len(theirs))
    for mine, other in zip(ours, theirs) if name not in NOTED_BY_CHANCE else ():
        if mine != other:
            yield "a request to the model differs: %s" % first_difference(other.split("\n"), mine.split("\n"))
            break


def first_difference(before, after):
    """Where two lists of lines part: `without` and `with` hooks, from a little before the first differing character."""
    lines = [line for line in difflib.unified_diff(before, after, lineterm="", n=0) if not line.startswith(("---", "+++", "@@"))]
    gone = next((line[1:] for line in lines if line.startswith("-")), "")
    new = next((line[1:] for line in lines if line.startswith("+")), "")
    start = max(0, len(os.path.commonprefix([gone, new])) - 60)
    return "without `%s`, with `%s`" % (gone[start:start + 200], new[start:start + 200])


def every_hook_once(run, name):
    """What the recorder saw is in the spool, once each."""
    fired = collections.Counter(key(p) for p in run.recorded(name, "hook"))
    kept = collections.Counter(key(e.payload) for e in run.envelopes(name, "hook"))
    if not fired:
        yield "the client fired no hook"
    for k, count in (fired - kept).items():
        yield "%d of %d without an envelope: %s" % (count, fired[k], describe(k))
    for k, count in (kept - fired).items():
        if not (count == 1 and k[KEY.index("hook_event_name")] in NOT_WAITED_FOR):
            yield "%d envelopes too many: %s" % (count, describe(k))


def sound_headers(run, name):
    agent = {"claude-code": "claude_code", "codex": "codex"}[run.client]
    for e in run.envelopes(name, "hook"):
        what = "envelope %s (%s)" % (e.name, e.payload.get("hook_event_name"))
        if e.header["agent"] != agent:
            yield "%s is of agent %s" % (what, e.header["agent"])
        if "fault" in e.header:
            yield "%s has fault %s" % (what, e.header["fault"])
        if e.header.get("cwd") != e.payload.get("cwd"):
            yield "%s has cwd %s, the payload %s" % (what, e.header.get("cwd"), e.payload.get("cwd"))
        if "env.CLAUDE_PID" in e.header and e.header.get("pid") != e.header["env.CLAUDE_PID"]:
            yield "%s names process %s, the client is %s" % (what, e.header.get("pid"), e.header["env.CLAUDE_PID"])
        for line in e.header:
            if re.search("KEY|TOKEN|SECRET|PASS", line):
                yield "%s records `%s`" % (what, line)


def nothing_private(envelopes, tokens):
    """No result, no content, no key: neither in a body nor in a header."""
    secret = [(w, "a result text, `%s`" % w) for w in canary.WORDS]
    secret += [(canary.key(prefix), "the API key") for prefix in ("sk-ant-api03-", "sk-proj-")]
    secret += [(canary.SECRET, "a token from a command")] + [(t, "the messaging token") for t in tokens]
    for e in envelopes:
        for word, what in secret:
            if word.encode() in e.bytes:
                yield "envelope %s (%s) holds %s" % (e.name, (e.payload or {}).get("hook_event_name", "status line"), what)


def secret_was_masked(run, name):
    """The command stays readable, its token does not."""
    if name == "secret":
        commands = [e.payload["tool_input"].get("command") for e in run.envelopes(name, "hook") if e.payload.get("hook_event_name") == "PreToolUse"]
        if not commands or not all(isinstance(c, str) and "wc -c" in c and canary.SECRET not in c for c in commands):
            yield "the command should be there with its token masked, and is %r" % commands


def quiet_transcripts(run, name):
    """A silent hook leaves no trace in the client's own records."""
    sessions = [s for s, scenario in run.scenario_of.items() if scenario == name]
    for path in glob.glob(os.path.join(run.out, "home", ".claude", "projects", "**", "*.jsonl"), recursive=True):
        with open(path) as f:
            rows = [json.loads(line) for line in f if line.endswith("\n")]
        for row in rows:
            if row.get("sessionId") not in sessions:
                continue
            attachment = (row.get("attachment") or {}).get("type", "")
            if attachment.startswith("hook_"):
                yield "the transcript has a %s row: %s" % (attachment, json.dumps(row["attachment"])[:300])
            if row.get("subtype") == "stop_hook_summary" and (row["hookErrors"] or row["hasOutput"] or row["hookCount"] != 2):
                yield "the transcript's hook summary: %d hooks, errors %s, output %s" % (row["hookCount"], row["hookErrors"], row["hasOutput"])
    for path in glob.glob(os.path.join(run.out, "home", ".codex", "sessions", "**", "*.jsonl"), recursive=True):
        if any(s in path for s in sessions):
            with open(path) as f:
                if '"HookPrompt"' in f.read():
                    yield "the rollout holds a hook's text"


def worktrees_work(run, name):
    if "worktree" in name and not any(
            p["hook_event_name"] == "PostToolUse" and p["tool_name"] == "Bash" and "/.claude/worktrees/" in p["cwd"]
            for p in run.recorded(name, "hook")):
        yield "no command ran in the worktree"


NO_SCREEN = {"bg"}                             # the client draws these in its daemon, without a terminal


def status_line_shown(run, name):
    """Ours is on the screen, after the user's own, and each session's refreshes are in the spool."""
    shown = collections.Counter(p["session_id"] for p in run.recorded(name, "statusline"))
    if not shown:
        return
    kept = collections.Counter(e.payload["session_id"] for e in run.envelopes(name, "statusline"))
    for session, count in shown.items():
        if kept[session] < count:              # more are no fault: the client may end the chained one early
            yield "%d status lines of session %s, %d envelopes" % (count, session, kept[session])
    screens = run.printed(name, "screens")
    if name in NO_SCREEN:
        return
    if not re.search(r"recorded[^\n]*\s*\[monitor\]", screens):
        yield "no screen shows the user's status line and then ours"


def scenario(hooked, bare, name):
    tokens = {r["token"] for r in hooked.rows if r["token"]}
    envelopes = hooked.envelopes(name, "hook") + hooked.envelopes(name, "statusline")
    checks = [ended(hooked, name), ("without hooks: " + c for c in ended(bare, name)), same_behaviour(hooked, bare, name),
              every_hook_once(hooked, name), sound_headers(hooked, name), nothing_private(envelopes, tokens),
              secret_was_masked(hooked, name), quiet_transcripts(hooked, name), worktrees_work(hooked, name), status_line_shown(hooked, name)]
    return [complaint for check in checks for complaint in check]


def whole(run):
    """What belongs to no scenario: the spool itself, and envelopes of unknown sessions."""
    for fault in run.spool.faults:
        yield fault
    for channel in ("hook", "statusline"):
        for e in run.envelopes(None, channel):
            yield "envelope %s is of no session that the recorder saw, fault %s: %r" % (e.name, e.header.get("fault"), e.raw_body[:200])
