"""Settings that register the recorder (recorder.py) on a client's events, and the rows it wrote."""
import glob, json, os, re

COMMAND = "/home/dev/cap/record.py"

# Every event but WorktreeCreate (a silent hook there breaks worktrees) and MessageDisplay (it holds up the turn).
CLAUDE_EVENTS = """
    SessionStart SessionEnd Setup UserPromptSubmit UserPromptExpansion InstructionsLoaded PreToolUse PostToolUse
    PostToolUseFailure PostToolBatch PermissionRequest PermissionDenied Notification Stop StopFailure SubagentStart
    SubagentStop TaskCreated TaskCompleted TeammateIdle PreCompact PostCompact PreModelSwitch PostModelSwitch CwdChanged
    FileChanged DirectoryAdded ConfigChange WorktreeRemove Elicitation ElicitationResult""".split()
CODEX_EVENTS = """
    SessionStart SessionEnd UserPromptSubmit PreModelRequest PostModelRequest PreToolUse PermissionRequest PostToolUse
    PreCompact PostCompact SubagentStart SubagentStop Stop Interrupt""".split()


# A hook on a typed compaction is named, as having worked, on the screen and in the next request to the
# model, whatever it prints and even if it is asynchronous.  One on an automatic compaction is not.
SEEN_BY_THE_MODEL = {"PreCompact": "auto", "PostCompact": "auto"}


def claude_settings(unseen=False):
    """unseen: leave out what the model would notice."""
    hooks = {}
    for event in CLAUDE_EVENTS:
        handler = {"type": "command", "command": COMMAND, "args": ["hook"]}
        if event == "SessionEnd":
            handler["timeout"] = 10            # the default of 1.5 s is short on a busy machine
        group = {"hooks": [handler]}
        if event == "FileChanged":
            group["matcher"] = "CLAUDE.md|.env"
        if unseen and event in SEEN_BY_THE_MODEL:
            group["matcher"] = SEEN_BY_THE_MODEL[event]
        hooks[event] = [group]
    return {"hooks": hooks, "statusLine": {"type": "command", "command": COMMAND + " statusline"}}


def codex_hooks(unseen=False):
    """unseen: all of them are."""
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": COMMAND + " hook", "timeout": 3}]}] for event in CODEX_EVENTS}}


THREAD = re.compile(r"/rollout-[\dT-]{19}-([0-9a-f-]{36})")


def actor(payload):
    """Who a hook is about: a subagent, a thread of Codex that only the name of its file tells (a review), or the session."""
    thread = THREAD.search(payload.get("transcript_path") or "")
    return payload.get("agent_id") or (thread.group(1) if thread else payload["session_id"])


SETTINGS = {"claude-code": claude_settings, "codex": codex_hooks}


def rows(out):
    """What was recorded in a run, in order of arrival."""
    found = []
    for path in glob.glob(os.path.join(out, "home", "cap", "rows", "*.json")):
        with open(path) as f:
            found.append(json.load(f))
    return sorted(found, key=lambda r: r["t_ns"])
