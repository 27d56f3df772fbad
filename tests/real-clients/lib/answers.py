"""What the check demands of the server's answers (ask.py): they are what the client did, as the recorder and the
model API saw it.  Each function takes a loaded run and a scenario's name and returns its complaints, as sentences."""
import collections, json, os

import canary, expected
from recording import actor

# Our words, as kept per task <- the provider's.  Codex counts cached tokens as part of the input, we do not.
CLAUDE_USAGE = {"inputTokens": "input_tokens", "outputTokens": "output_tokens", "cacheReadTokens": "cache_read_input_tokens",
                "cacheCreationTokens": "cache_creation_input_tokens"}
OPEN = {"running", "waiting"}
# Claude Code from 2.1.326 counts an answer that was cut short, in the account that it writes at the end of a session.
COUNTS_CUT_SHORT = {"claude-code"}
ENDS = {"PostToolUse": {"succeeded", "failed"}, "PostToolUseFailure": {"failed", "interrupted", "denied"}}
# What a client writes down of the requests it makes: in a row of their own, or in its account, which Claude Code
# writes at the end of a session.
SEEN_KINDS = {"claude-code": {"turn"}, "codex": {"turn", "compaction", "guardian"}}
TOKENS_BY_HOOKS = {"codex"}                     # whose hooks carry tokens, also of a session that leaves no file
SEEN_AT_THE_END = {"claude-code": {"compaction", "side"}, "codex": set()}


def load(out):
    try:
        with open(os.path.join(out, "home", "answers.json")) as f:
            return json.load(f)
    except FileNotFoundError:
        return None


def api_log(out):
    with open(os.path.join(out, "logs", "api.jsonl")) as f:
        return [json.loads(line) for line in f]


def by_actor(run):
    """The tasks by what the client calls them: a subagent by its own id, a session by its."""
    found = collections.defaultdict(list)
    for task in run.said["tasks"]:
        found[task.get("agentId") or task.get("runtimeSessionId")].append(task)
    return found


def is_compaction(payload):
    """Claude Code tells of a compaction as of a subagent without a type that only ever stops: it is no task."""
    return payload["hook_event_name"] == "SubagentStop" and payload.get("agent_type") == ""


def one_task_each(run, name):
    """Every session and every subagent is one task; a subagent hangs below the session that started it."""
    tasks, by_id = by_actor(run), {t["id"]: t for t in run.said["tasks"]}
    for who, session in {(actor(p), run.started.get(actor(p)) or p["session_id"]) for p in run.recorded(name, "hook") if not is_compaction(p)}:
        if len(tasks[who]) != 1:
            yield "%s is %d tasks, not one" % (who, len(tasks[who]))
            continue
        task = tasks[who][0]
        while task.get("parentTaskId") in by_id:
            task = by_id[task["parentTaskId"]]
        if who != session and task.get("runtimeSessionId") != session:
            yield "subagent %s does not hang below session %s" % (who, session)


def calls_as_they_were(run, name):
    """Every call that the hooks reported is one call of the right task, and ended as the client said."""
    found = collections.defaultdict(list)
    for task in run.said["tasks"]:
        for call in task["tool-calls"]:
            found[call.get("toolUseId")].append((task, call))
    hooks = collections.defaultdict(dict)
    for p in run.recorded(name, "hook"):
        if p.get("tool_use_id") and p["hook_event_name"] in ("PreToolUse", *ENDS):
            hooks[p["tool_use_id"]][p["hook_event_name"]] = p
    for call_id, events in hooks.items():
        what = "call %s (%s)" % (call_id, next(iter(events.values()))["tool_name"])
        if len(found[call_id]) != 1:
            yield "%s is %d calls, not one" % (what, len(found[call_id]))
            continue
        task, call = found[call_id][0]
        who = actor(next(iter(events.values())))
        if who not in (task.get("agentId"), task.get("runtimeSessionId")):
            yield "%s is of %s, and stands with %s" % (what, who, task.get("agentId") or task.get("runtimeSessionId"))
        for event, states in ENDS.items():
            if event in events and call["state"] not in states:
                yield "%s is %s after %s" % (what, call["state"], event)


def prompts_once(run, name):
    """A prompt that the client announced is one message of the user."""
    reported = collections.Counter(actor(p) for p in run.recorded(name, "hook") if p["hook_event_name"] == "UserPromptSubmit")
    tasks = by_actor(run)
    for who, count in reported.items():
        kept = sum(e["kind"] == "user.message" for t in tasks[who] for e in t["timeline"])
        if kept != count:
            yield "%d prompts in %s, and %d messages of the user" % (count, who, kept)


def ended_sessions_are_closed(run, name):
    last = {}
    for p in run.recorded(name, "hook"):
        if "agent_id" not in p:
            last[p["session_id"]] = p["hook_event_name"]
    tasks = by_actor(run)
    for session, event in last.items():
        for task in tasks[session]:
            if event == "SessionEnd" and task["status"] in OPEN:
                yield "session %s ended, and its task is %s" % (session, task["status"])
            for call in task["tool-calls"]:
                if event == "SessionEnd" and call["state"] == "running":
                    yield "session %s ended, and call %s still runs" % (session, call.get("toolUseId"))


def turns_as_they_were(run, name):
    """Each turn that a prompt began is one turn, and in a session that ended each has ended."""
    ended = {p["session_id"] for p in run.recorded(name, "hook") if p["hook_event_name"] == "SessionEnd"}
    began, sessions = collections.defaultdict(set), {}
    for p in run.recorded(name, "hook"):
        sessions[actor(p)] = p["session_id"]
        if p["hook_event_name"] == "UserPromptSubmit":
            began[actor(p)].add(p.get("turn_id") or p.get("prompt_id"))
    tasks = by_actor(run)
    for who, session in sessions.items():
        turns = [turn for task in tasks[who] for turn in task["turns"]]
        if len(turns) < len(began[who]):
            yield "%d turns began in %s, and there are %d" % (len(began[who]), who, len(turns))
        for turn in turns:
            if session in ended and (turn.get("state") in OPEN | {None} or not turn.get("endedAt")):
                yield "session %s ended, and turn %d of %s is %s" % (session, turn["number"], who, turn.get("state"))


def answered(run, name):
    """What the model API answered, each with whether anything that the client leaves behind tells of it.  Of an answer that
    was cut short only what had been sent by then counts, where the client counts it."""
    ended = {p["session_id"] for p in run.recorded(name, "hook") if p["hook_event_name"] == "SessionEnd"}
    for r in api_log(run.out):
        at_end = r["session_id"] in ended
        seen = SEEN_KINDS[run.client] | (SEEN_AT_THE_END[run.client] if at_end else set())
        if r["scenario"] == name and r["kind"] != "count" and r["status"] == 200:
            if r["session_id"] in run.unkept and run.client not in TOKENS_BY_HOOKS:
                yield r, False
            elif r["complete"]:
                yield r, r["kind"] in seen
            elif run.client in COUNTS_CUT_SHORT and at_end and r["kind"] == "turn":
                yield r, True


class Spent:
    """A sum of answers, and by how much the client's may be more: of an answer that was cut short it guesses the output from
    the text that arrived."""

    def __init__(self):
        self.sums, self.guess = collections.Counter(), 0

    def add(self, client, record):
        counted = usage(client, record["usage"])
        if not record["complete"]:
            self.guess += counted.pop("outputTokens")
        self.sums.update(counted)

    def differs(self, said):
        over = {k: said.get(k, 0) - self.sums[k] for k in CLAUDE_USAGE}
        guessed = over.pop("outputTokens")
        return any(over.values()) or not (1 if self.guess else 0) <= guessed <= self.guess


def asker(record):
    return record.get("agent_id") or record.get("thread_id") or record["session_id"]


def owner(run, record):
    """The session that an answer belongs to: an agent that outlives /clear goes on under the name of the next one, and
    belongs to the one that started it."""
    started = run.started.get(asker(record))
    return started or record["session_id"]


def tokens_to_the_last(run, name):
    """Per session or subagent, the sum of what the model API answered."""
    true, tasks = collections.defaultdict(Spent), by_actor(run)
    for r, is_seen in answered(run, name):
        if is_seen:
            true[asker(r)].add(run.client, r)
    for who, spent in true.items():
        kept = collections.Counter()
        for task in tasks[who]:
            kept.update({k: task["usage"].get(k, 0) for k in CLAUDE_USAGE})
        if spent.differs(kept):
            yield "%s used %s, and its task says %s" % (who, dict(spent.sums), {k: kept[k] for k in CLAUDE_USAGE})


def both_accounts(run, name):
    """`usage session`, from the ledger and straight from the client's files: each session with its subagents, and each
    of these, is what the model API answered."""
    for source, command in (("stored", "`usage session`"), ("files", "`usage session --files`")):
        if source not in run.said:
            yield "%s was not asked" % command
            continue
        lines = {item["key"]: item for item in run.said[source]["items"]}
        sessions, agents = (collections.defaultdict(Spent) for _ in range(2))
        for r, is_seen in answered(run, name):
            if is_seen and not (source == "files" and r["session_id"] in run.unkept):
                # Straight from the files, an answer counts in the session in whose folder it stands.
                session = owner(run, r) if source == "stored" else r["session_id"]
                sessions[session].add(run.client, r)
                if asker(r) != r["session_id"]:
                    agents[session, asker(r)].add(run.client, r)
        for session, spent in sessions.items():
            said = lines.get(session, {}).get("usage", {})
            if spent.differs(said):
                yield "session %s used %s, and %s says %s" % (session, dict(spent.sums), command, {k: said.get(k, 0) for k in CLAUDE_USAGE})
        for (session, agent), spent in agents.items():
            parts = {part["key"].removeprefix("sub--"): part["usage"] for part in lines.get(session, {}).get("agents", [])}
            said = parts.get(agent, {})
            if spent.differs(said):
                yield "subagent %s used %s, and %s says %s" % (agent, dict(spent.sums), command, {k: said.get(k, 0) for k in CLAUDE_USAGE})


def unobservable(run, name):
    """What the client spent and leaves no trace of, by name: it cannot be counted."""
    if run.said is None:
        return []
    hidden = collections.Counter()
    for r, is_seen in answered(run, name):
        if not is_seen:
            hidden[r["kind"], asker(r)] += sum(usage(run.client, r["usage"]).values())
    return ["%s of %s: %d tokens that nothing tells of" % (kind, who, tokens) for (kind, who), tokens in hidden.items()]


def usage(client, u):
    if client == "claude-code":
        return {ours: u.get(theirs, 0) for ours, theirs in CLAUDE_USAGE.items()}
    cached = u.get("cached_input_tokens", 0)
    written = u.get("cache_write_input_tokens", 0)
    return {"inputTokens": u.get("input_tokens", 0) - cached - written, "outputTokens": u.get("output_tokens", 0),
            "cacheReadTokens": cached, "cacheCreationTokens": written}


def scenario(run, name):
    if run.said is None:
        return []                              # `whole` complains, once
    checks = (one_task_each, calls_as_they_were, prompts_once, turns_as_they_were, ended_sessions_are_closed, tokens_to_the_last,
              both_accounts, expected.complaints)
    return ["the API: " + complaint for check in checks for complaint in check(run, name)]


def whole(run):
    if run.said is None:
        yield "the server was not asked"
        return
    health = run.said["health"]
    for key in ("unrecognised", "malformed", "refused"):
        if health["outcomes"][key]:
            yield "the server counts %d %s: %s" % (health["outcomes"][key], key, health["unrecognised"])
    text = json.dumps(run.said, ensure_ascii=False)
    tokens = {r["token"] for r in run.rows if r["token"]}
    for word in [*canary.WORDS, canary.key("sk-ant-api03-"), canary.key("sk-proj-"), canary.SECRET, *tokens]:
        if word in text:
            yield "the API tells `%s`, which must not have been kept" % word
