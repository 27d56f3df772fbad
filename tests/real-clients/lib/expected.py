"""What the API must say of scenarios in which people answered, or were not there to answer, or in which something was stopped.

Per scenario: the calls of all its tasks, as `tool state` in any order; its subagents, as `type status depth` in any order; the
turns of its sessions, in order; what was asked for, as `tool decision`; and the questions, by what became of them.  `waits` are the waits of permissions and questions, in
order: at least this many milliseconds, and none more than TOO_LONG."""
from recording import actor

LOOK_MS, TOO_LONG = 1500, 20000

EXPECTED = {
    "claude-code": {
        "again": {"calls": ["Bash succeeded"], "turns": ["interrupted", "succeeded"]},
        "clear_bg": {"calls": ["Agent succeeded", "Bash succeeded"], "turns": ["succeeded", "succeeded", "succeeded"]},
        "queue": {"calls": ["Bash succeeded"], "turns": ["succeeded"]},
        "fork_agent": {"calls": ["Agent succeeded", "Bash succeeded"], "turns": ["succeeded", "succeeded"]},
        "many_kill": {"calls": ["Agent succeeded", "Agent succeeded", "Bash interrupted"] + ["Bash succeeded"] * 3 + ["TaskStop succeeded"],
                      "turns": ["succeeded", "succeeded"]},
        "max_turns": {"calls": ["Bash succeeded"], "turns": ["interrupted"]},
        "stopped": {"calls": ["Bash failed"], "turns": ["abandoned"]},
        "kill_resume": {"calls": ["Bash interrupted"], "turns": ["interrupted", "succeeded"]},
        "ask_multi": {"calls": ["AskUserQuestion succeeded"], "turns": ["succeeded"], "questions": ["answered"], "waits": [LOOK_MS]},
        "elicit": {"calls": ["mcp__demo__ask succeeded"], "turns": ["succeeded"], "questions": ["cancelled"]},
        "interrupt": {"calls": ["Bash denied", "Bash interrupted"], "turns": ["interrupted", "interrupted", "interrupted", "succeeded"]},
        "api_error": {"calls": [], "turns": ["failed"]},
        "overload": {"calls": [], "turns": ["succeeded"]},
        "limit_retry": {"calls": ["Bash succeeded"], "turns": ["succeeded"]},
        "cut": {"calls": [], "turns": ["succeeded"]},
        "fallback": {"calls": [], "turns": ["succeeded"]},
        "max_tokens": {"calls": [], "turns": ["succeeded"]},
        "refusal": {"calls": [], "turns": ["succeeded"]},
        "timeout": {"calls": ["Bash succeeded"], "turns": ["succeeded", "succeeded"]},
        "send": {"calls": ["Agent succeeded", "Bash succeeded", "Bash succeeded", "Read succeeded", "SendMessage succeeded"],
                 "agents": ["general-purpose completed 1"], "turns": ["succeeded", "succeeded"]},
        "agent_message": {"calls": ["Agent succeeded", "Bash succeeded", "Bash succeeded", "SendMessage succeeded"],
                          "agents": ["general-purpose completed 1"], "turns": ["succeeded", "succeeded", "succeeded"]},
        "agent_deep": {"calls": ["Agent succeeded"] * 3 + ["Bash succeeded"], "agents": ["general-purpose completed %d" % n for n in (1, 2, 3)],
                       "turns": ["succeeded"]},
        "skill_fork": {"calls": ["Bash succeeded", "Read succeeded", "Skill succeeded"], "agents": ["general-purpose completed 1"], "turns": ["succeeded"]},
        "workflow": {"calls": ["Bash succeeded", "Bash succeeded", "Read succeeded", "Workflow succeeded"],
                     "agents": ["workflow-subagent completed 1"] * 2, "turns": ["succeeded", "succeeded"]},
        "mcp_huge": {"calls": ["mcp__demo__huge succeeded"], "turns": ["succeeded"]},
        "notebook": {"calls": ["NotebookEdit succeeded", "Read succeeded"], "turns": ["succeeded"]},
        "cron": {"calls": ["CronCreate succeeded", "CronDelete succeeded", "CronList succeeded"], "turns": ["succeeded"]},
        "monitor": {"calls": ["Monitor succeeded"], "turns": ["succeeded", "succeeded"]},
        "pair": {"calls": ["Agent succeeded", "Bash succeeded", "Bash succeeded", "Read succeeded"], "agents": ["general-purpose completed 1"],
                 "turns": ["succeeded", "succeeded"]},
        "unkept": {"calls": ["Bash succeeded"], "turns": ["succeeded"]},
        "continue": {"calls": ["Bash succeeded"], "turns": ["succeeded", "succeeded"]},
        "chain": {"calls": ["Bash succeeded", "Bash succeeded"], "turns": ["succeeded"] * 4},
        "plan": {"calls": ["ExitPlanMode succeeded", "Write succeeded"], "turns": ["succeeded"],
                 "permissions": ["ExitPlanMode allowed", "Write allowed"], "waits": [LOOK_MS, 0]},
        "stop": {"calls": ["Agent succeeded", "Bash interrupted", "Bash succeeded", "Bash succeeded", "TaskStop succeeded"], "turns": ["succeeded"]},
        "leave": {"calls": ["Agent succeeded", "Bash failed"], "turns": ["succeeded"]},
        "rewind": {"calls": ["Bash succeeded"] * 3, "turns": ["succeeded"] * 3},
        "stream": {"calls": ["Bash succeeded"], "turns": ["succeeded", "succeeded"]},
        "part_denied": {"calls": ["Bash denied", "Bash succeeded", "Read succeeded"], "turns": ["succeeded"], "permissions": ["Bash denied"]},
        "deny": {"calls": ["Bash denied"], "turns": ["succeeded"], "permissions": ["Bash denied"]},
        "deny_rule": {"calls": ["Bash denied"], "turns": ["succeeded"]},
    },
    "codex": {
        "api_retry": {"calls": ["Bash succeeded"], "turns": ["succeeded"]},
        "api_error": {"calls": [], "turns": ["failed"]},
        "limit": {"calls": [], "turns": ["failed"]},
        "cut": {"calls": [], "turns": ["succeeded"]},
        "plan": {"calls": ["Bash succeeded", "update_plan succeeded", "update_plan succeeded"], "turns": ["succeeded"]},
        "sandbox": {"calls": ["Bash failed", "Bash succeeded"], "turns": ["succeeded"]},
        "mcp_huge": {"calls": ["mcp__demo__huge succeeded"], "turns": ["succeeded"]},
        "image": {"calls": ["Bash succeeded", "view_image succeeded"], "turns": ["succeeded"]},
        "left": {"calls": ["Bash abandoned"], "turns": ["succeeded"]},
        "ephemeral": {"calls": ["Bash succeeded"], "turns": ["succeeded"]},
        "compact_agent": {"agents": ["explorer completed 1"], "turns": ["succeeded"]},
        "agent_again": {"agents": ["explorer completed 1"], "turns": ["succeeded"]},
        "agent_deep": {"agents": ["default completed 1", "default completed 2"], "turns": ["succeeded"]},
        "guarded": {"calls": ["Bash succeeded"], "turns": ["succeeded"], "permissions": ["Bash allowed"]},
        "guard_no": {"calls": ["Bash denied"], "turns": ["succeeded"], "permissions": ["Bash denied"]},
        "goal": {"calls": ["Bash succeeded", "create_goal succeeded", "update_goal succeeded"], "turns": ["succeeded"]},
        "steer": {"calls": ["Bash succeeded"], "turns": ["succeeded"]},
        "bang": {"calls": ["Bash succeeded"], "turns": ["succeeded", "succeeded"]},
        "revert": {"calls": ["Bash succeeded"], "turns": ["succeeded"] * 3},
        "review_tui": {"calls": ["Bash succeeded"], "agents": ["review completed 1"], "turns": ["succeeded"]},
        "review": {"calls": ["Bash succeeded"], "agents": ["review completed 1"], "turns": ["succeeded"]},
        "pair": {"agents": ["explorer completed 1"], "turns": ["succeeded", "succeeded"]},
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


def depth(run, task):
    """How many tasks stand above this one."""
    by_id, above = {t["id"]: t for t in run.said["tasks"]}, 0
    while task.get("parentTaskId") in by_id:
        task, above = by_id[task["parentTaskId"]], above + 1
    return above


def complaints(run, name):
    want = EXPECTED[run.client].get(name)
    if want is None:
        return
    actors = {who for p in run.recorded(name, "hook") for who in (actor(p), p["session_id"])}
    tasks = [t for t in run.said["tasks"] if (t.get("agentId") or t.get("runtimeSessionId")) in actors]
    sessions = [t for t in tasks if not t.get("agentId")]
    said = {"calls": sorted("%s %s" % (c["toolName"], c["state"]) for c in rows(tasks, "tool-calls")),
            "agents": sorted("%s %s %d" % (t.get("agentType"), t["status"], depth(run, t)) for t in tasks if t.get("agentId")),
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
