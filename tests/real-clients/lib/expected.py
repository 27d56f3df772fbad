"""What the API must say of scenarios in which people answered, or were not there to answer, or in which something was stopped.

Per scenario: the calls of all its tasks, as `tool state` in any order; the turns of its sessions, in order; what was asked for,
as `tool decision`; and the questions, by what became of them.  `waits` are the waits of permissions and questions, in
order: at least this many milliseconds, and none more than TOO_LONG."""

LOOK_MS, TOO_LONG = 1500, 20000

EXPECTED = {
    "claude-code": {
        "clear_bg": {"calls": ["Agent succeeded", "Bash succeeded"], "turns": ["succeeded", "succeeded", "succeeded"]},
        "queue": {"calls": ["Bash succeeded"], "turns": ["succeeded"]},
        "fork_agent": {"calls": ["Agent succeeded", "Bash succeeded"], "turns": ["succeeded", "succeeded"]},
        "many_kill": {"calls": ["Agent succeeded", "Agent succeeded", "Bash interrupted"] + ["Bash succeeded"] * 3 + ["TaskStop succeeded"]},
        "max_turns": {"calls": ["Bash succeeded"], "turns": ["interrupted"]},
        "stopped": {"calls": ["Bash failed"], "turns": ["abandoned"]},
        "kill_resume": {"calls": ["Bash interrupted"], "turns": ["interrupted", "succeeded"]},
        "ask_multi": {"calls": ["AskUserQuestion succeeded"], "questions": ["answered"], "waits": [LOOK_MS]},
        "elicit": {"calls": ["mcp__demo__ask succeeded"], "questions": ["cancelled"]},
        "interrupt": {"calls": ["Bash denied", "Bash interrupted"], "turns": ["interrupted", "interrupted", "interrupted", "succeeded"]},
    },
    "codex": {
        "refuse": {"calls": ["Bash denied", "apply_patch denied", "mcp__demo__write denied"],
                   "turns": ["interrupted", "interrupted", "succeeded", "succeeded"],
                   "permissions": ["Bash denied", "apply_patch denied", "mcp__demo__write denied"], "waits": [LOOK_MS] * 3},
        "approve": {"calls": ["Bash interrupted", "Bash succeeded", "Bash succeeded"],
                    "turns": ["succeeded", "succeeded", "interrupted", "succeeded"], "permissions": ["Bash allowed", "Bash allowed"], "waits": [0, 0]},
        "questions": {"calls": ["request_user_input interrupted", "request_user_input succeeded"],
                      "turns": ["succeeded", "interrupted", "succeeded"], "questions": ["answered", "cancelled"], "waits": [LOOK_MS, 0]},
        "esc": {"calls": ["Bash interrupted"], "turns": ["interrupted", "interrupted", "succeeded"]},
        "patch_bad": {"calls": ["apply_patch failed", "apply_patch succeeded"], "turns": ["succeeded"]},
        "interrupt": {"calls": ["Bash interrupted"], "turns": ["interrupted"]},
        "fork_chain": {"turns": ["succeeded", "succeeded", "succeeded"]},
    },
}


def rows(tasks, part):
    found = [row for task in tasks for row in task[part]]
    return sorted(found, key=lambda row: row.get("startedAt") or row["occurredAt"])


def complaints(run, name):
    want = EXPECTED[run.client].get(name)
    if want is None:
        return
    actors = {p.get("agent_id") or p["session_id"] for p in run.recorded(name, "hook")}
    tasks = [t for t in run.said["tasks"] if (t.get("agentId") or t.get("runtimeSessionId")) in actors]
    sessions = [t for t in tasks if not t.get("agentId")]
    said = {"calls": sorted("%s %s" % (c["toolName"], c["state"]) for c in rows(tasks, "tool-calls")),
            "turns": [turn["state"] for turn in rows(sessions, "turns")],
            "permissions": ["%s %s" % (p["toolName"], p.get("decision")) for p in rows(tasks, "permissions")],
            "questions": [q["phase"] for q in rows(tasks, "questions")]}
    for part, value in said.items():
        if part in want and value != want[part]:
            yield "%s are %s, not %s" % (part, value, want[part])
    if "waits" in want:
        waits = [row.get("waitMs") for part in ("permissions", "questions") for row in rows(tasks, part) if part in want]
        if len(waits) != len(want["waits"]) or any(w is None or not least <= w <= TOO_LONG for w, least in zip(waits, want["waits"])):
            yield "people were waited for %s ms, not at least %s" % (waits, want["waits"])
