"""Plays the scenarios `pol_…` under the rules of `policies.toml`: with a server that answers, without any, and with one that
never answers; and looks at what the client really did."""
import glob, json, os, subprocess

from layout import HOME, PYTHON

OUT = "out"                                  # below HOME: where the scripts touch files, outside of the project
WAIT = "for i in $(seq 600); do test -S '%s/answers.sock' && break; sleep 0.1; done; test -S '%s/answers.sock'"
SERVERS = {                                  # what runs beside the client
    "server": "'{program}' serve --listen 127.0.0.1:4747 > serve.log 2>&1 & {wait}",
    "guard": "'{program}' policy apply",
    "verify": "'{program}' policy apply; '{program}' serve --listen 127.0.0.1:4747 > serve.log 2>&1 & {wait}",
    "late": "'{program}' serve --listen 127.0.0.1:4747 > serve.log 2>&1 & pid=$!; {wait} && kill -STOP $pid",
}
PLAYED = {
    "claude-code": {
        "server": ["pol_write", "pol_rewrite", "pol_tests", "pol_loop", "pol_ask", "pol_permit", "pol_warn", "pol_stop",
                   "pol_prompt", "pol_outage", "pol_silent"],
        "guard": ["pol_write", "pol_outage", "pol_silent"],
        "late": ["pol_outage"],
        "verify": ["pol_verify"],
    },
    "codex": {
        "server": ["pol_deny", "pol_write", "pol_rewrite", "pol_tests", "pol_loop", "pol_ask", "pol_warn", "pol_prompt", "pol_outage", "pol_silent"],
        "guard": ["pol_deny", "pol_outage", "pol_silent"],
        "late": ["pol_outage"],
    },
}
# Past the deadline the hook decides without the past: a rule about a call that needs the past holds as its `on_outage` says,
# and a call that no rule is about passes.  Each setting is played with its own rule alone.


def rules(kind):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "policies.toml")) as f:
        text = f.read()
    if kind == "verify":
        rule = '[[rule]]\nname = "docs-%s"\non = "Stop"\ndecision = "deny"\nverify = "%s"\ncondition = "the docs follow what was changed"\n'
        return "version = 1\n" + "".join(rule % (by, by) for by in ("prompt", "agent"))
    late, _, setting = kind.partition(" ")
    if not setting:
        return text
    own = [block for block in text.split("[[rule]]") if 'name = "outage-%s"' % setting in block]
    return "version = 1\ndeadline_ms = 1000\n[[rule]]" + own[0]
ASK = """import json, urllib.request as u
a = "http://127.0.0.1:4747/api/v1/"
get = lambda p: json.load(u.urlopen(a + p, timeout=30))
import time
for _ in range(300):
    if not get("health")["spool"]["waiting"]: break
    time.sleep(0.1)
for _ in range(%d):
    if len(get("policies/decisions?limit=500")["items"]) >= 4: break
    time.sleep(0.1)
json.dump({"policies": get("policies"), "decisions": get("policies/decisions?limit=500")["items"], "failures": get("failures")["items"], "behind": get("tasks?kind=background&limit=100")["items"]}, open("policies.json", "w"))
"""


class Run:
    """What a client left."""

    def __init__(self, client, out):
        self.client, self.out = client, out
        self.results = self.load("logs/results.json") or {}
        self.report = self.load("home/policies.json") or {}
        self.requests = {}
        for path in sorted(glob.glob(out + "/logs/requests/*.json")):
            with open(path) as f:
                request = json.load(f)
            self.requests.setdefault(request["scenario"], []).append(json.dumps(request["body"], ensure_ascii=False))

    def load(self, path):
        try:
            with open(os.path.join(self.out, path)) as f:
                return json.load(f)
        except (OSError, ValueError):
            return None

    def has(self, name):
        return os.path.exists(os.path.join(self.out, "home", name))

    def made(self, name):
        return self.has("%s/%s.txt" % (OUT, name))

    def said(self, scenario, words):
        """Returns whether some request of the scenario tells the model so."""
        return any(words in request for request in self.requests.get(scenario, []))

    def output(self, scenario):
        try:
            with open("%s/logs/%s.out" % (self.out, scenario), errors="replace") as f:
                return f.read()
        except OSError:
            return ""

    def decisions(self, rule):
        return [d for d in self.report.get("decisions", []) if d["rule"] == rule]


def played(client, work, dist, kind):
    """One run. -> Run, or what went wrong"""
    out = os.path.join(work, "%s-%s" % (client.name, kind.replace(" ", "-")))
    folder, mode = out + "-rules", kind.split()[0]
    os.makedirs(folder, exist_ok=True)
    with open(folder + "/policy.toml", "w") as f:
        f.write(rules(kind))
    settings = out + ".settings.json"
    with open(settings, "w") as f:
        f.write("{}")
    program = os.path.join(dist, "agent-tracer")
    config = (client.home or HOME + "/.config/agent-tracer") + "/policy.toml"
    wait = WAIT % (client.data, client.data)
    before = "set -e; mkdir -p %s '%s'; cp '%s/policy.toml' '%s'; '%s' install %s; %s" % (
        OUT, os.path.dirname(config), folder, config, program, client.agent, SERVERS[mode].format(program=program, wait=wait))
    command = [client.drive, "--out", out, client.config_option, settings, "--scenarios", ",".join(PLAYED[client.name][mode]),
               "--bin-dir", dist, "--bin-dir", folder, "--before", before]
    if client.home:
        command += ["--env", "AGENT_TRACER_HOME=" + client.home]
    if kind in ("server", "verify"):
        # What the client wrote down of verdicts is read behind the hooks.
        command += ["--after", "%s -c '%s'" % (PYTHON, ASK % (600 if kind == "verify" else 1))]
    with open(out + ".log", "w") as log:
        subprocess.run(command, stdout=log, stderr=log, check=False)
    with open(out + ".log") as f:
        text = f.read()
    for step in ("before", "after"):
        if "%s: exit " % step in text and "%s: exit 0\n" % step not in text:
            return None, "the step `%s` failed: %s" % (step, text[-400:])
    return Run(client.name, out), None


RULE = "[policy rule `%s`"


def server(run):
    """What must be so with a server."""
    codex = run.client == "codex"
    rule = lambda name: RULE % name
    yield "pol_write", run.made("by-main"), "the main agent could not write"
    yield "pol_write", not run.made("by-subagent"), "the subagent wrote what a rule denies"
    yield "pol_write", run.said("pol_write", rule("no-write-by-subagents")), "the model did not get the rule that denied"
    yield "pol_write", run.said("pol_write", "only the main agent writes here"), "the model did not get the reason"
    denied = run.decisions("no-write-by-subagents")
    yield "pol_write", [d["outcome"] for d in denied] == ["deny"] and denied[0]["inputs"]["isSubagent"], "the decision is not recorded: %s" % denied
    yield "pol_write", any(f["errorClass"] == "policy_denied" for f in run.report.get("failures", [])), "no call failed as denied by a rule"
    yield "pol_rewrite", not run.made("never-made"), "the rewrite did not reach the tool"
    yield "pol_rewrite", [d["outcome"] for d in run.decisions("touch-nothing")] == ["rewrite"], "the rewrite is not recorded"
    yield "pol_tests", run.said("pol_tests", "no tests ran after the last change"), "the end was not deferred, or the model did not get the reason"
    yield "pol_tests", not run.said("pol_tests", "not put off any longer"), "the end was let go and not reached"
    ends = [(d["outcome"], d["status"]) for d in reversed(run.decisions("tests-before-the-end"))]
    yield "pol_tests", ends[:1] == [("block_stop", "enforced")], "the end that was put off is not recorded: %s" % ends
    yield "pol_loop", ends[1:] == [("block_stop", "enforced")] * 2 + [("warn", "let_go")], "an end was not put off twice and then let go: %s" % ends
    yield "pol_ask", not run.made("asked-about"), "a call ran that a person should have decided"
    yield "pol_warn", run.made("warned-about"), "a warning stopped the call"
    warnings = max((request.count("mind the step") for request in run.requests.get("pol_warn", [])), default=0)
    yield "pol_warn", warnings == 2, "of two warnings, before and after the call, %d reached the model" % warnings
    rehearsed = [d["status"] for d in run.decisions("rehearsal")]
    yield "pol_warn", rehearsed == ["dry_run"], "the rehearsal is not recorded: %s" % rehearsed
    yield "pol_prompt", not run.requests.get("pol_prompt"), "a prompt was sent that a rule blocks"
    for name in ("allow", "ask", "deny"):
        yield "pol_outage", run.made("outage-" + name), "with a server that answers there is no outage: `outage-%s`" % name
    if codex:
        yield "pol_deny", not run.made("denied") and not run.has("project/secret/a.txt"), "a call ran that a rule denies"
        yield "pol_deny", run.said("pol_deny", rule("no-secrets")), "the model did not get the rule that denied"
        return
    yield "pol_permit", run.made("permitted"), "a permission that a rule gives was not given"
    yield "pol_permit", not run.made("refused"), "a permission that a rule refuses was given"
    yield "pol_permit", run.said("pol_permit", "not this one"), "the model did not get the reason of the refusal"
    yield "pol_stop", not run.made("stopped-at"), "a call ran at which the agent was stopped"
    yield "pol_stop", len(run.requests.get("pol_stop", [])) == 1, "the agent went on where a rule stops it"


def outage(run):
    """Asserts the outcomes without history."""
    yield "pol_outage", run.made("outage-allow"), "`on_outage = allow` did not let the call pass"
    yield "pol_outage", not run.made("outage-ask"), "`on_outage = ask` let the call pass, without a person to ask"
    yield "pol_outage", not run.made("outage-deny"), "`on_outage = deny` let the call pass"
    yield "pol_outage", run.said("pol_outage", "what happened before could not be looked up"), "the model did not learn of the outage"


def late(setting):
    """What must be so where the server never answers, under one rule."""
    def check(run):
        names = ("allow", "ask", "deny")
        made = [name for name in names if run.made("outage-" + name)]
        passing = [name for name in names if name != setting or setting == "allow"]
        yield "pol_outage", made == passing, "`on_outage = %s`: the calls ran: %s" % (setting, made)
        if setting != "allow":
            yield "pol_outage", run.said("pol_outage", RULE % ("outage-" + setting)), "the model did not get the rule"
    return check


def guard(run):
    """What must be so without a server."""
    yield from outage(run)
    if run.client == "codex":
        yield "pol_deny", not run.made("denied"), "a call ran that a rule denies"
        return
    yield "pol_write", run.made("by-main") and not run.made("by-subagent"), "the rule about subagents did not hold without a server"


def verified(run):
    """What must be so where the client's own hooks verify: no at first, then yes."""
    yield "pol_verify", run.said("pol_verify", "the docs were not touched"), "the model did not learn what is missing"
    for by in ("prompt", "agent"):
        verdicts = [(d["outcome"], d["answeredBy"]) for d in reversed(run.decisions("docs-" + by))]
        wanted = [("block_stop", "claude_" + by), ("allow", "claude_" + by)]
        yield "pol_verify", verdicts == wanted, "the verdicts of the %s are not recorded: %s" % (by, verdicts)
    behind = [(t["agentType"], t["status"], t.get("parentTaskId")) for t in run.report.get("behind", [])]
    tasks = [("verifier", "completed", d["taskId"]) for d in run.decisions("docs-agent")]
    yield "pol_verify", behind == tasks, "the agents that verified are not tasks behind the session: %s" % behind


def hook_rows(run, scenario):
    """Rows of hooks in the transcripts of a scenario that nothing is about."""
    for path in glob.glob(run.out + "/home/.claude/projects/**/*.jsonl", recursive=True):
        with open(path) as f:
            text = f.read()
        if "[[%s]]" % scenario in text and ('"hook_' in text or "policy rule" in text):
            yield os.path.basename(path)


def silent(run):
    yield "pol_silent", not list(hook_rows(run, "pol_silent")), "a hook said something where no rule has anything to say"
    yield "pol_silent", not run.said("pol_silent", "policy rule"), "the model saw a rule although none applies"


CHECKS = {"server": [server, silent], "guard": [guard, silent],
          "verify": [verified], "late allow": [late("allow")], "late ask": [late("ask")], "late deny": [late("deny")]}


def prove(client, work, dist, report):
    for kind, checks in CHECKS.items():
        if kind.split()[0] not in PLAYED[client.name]:
            continue
        run, wrong = played(client, work, dist, kind)
        complaints = {name: [] for name in PLAYED[client.name][kind.split()[0]]}
        for check in checks if run else ():
            for name, is_so, complaint in check(run):
                if not is_so:
                    complaints[name].append(complaint)
        for name, wrongs in complaints.items():
            result = (run.results if run else {}).get(name)
            if wrong or not result:
                wrongs.insert(0, wrong or "it was not played")
            elif result["exit"] != result["expect"] or result["unfinished"]:
                wrongs.insert(0, "it ended otherwise than it should: %s" % result)
            report(client.name, "%s %s" % (kind, name), wrongs, "%d requests" % len(run.requests.get(name, [])) if run else "")
