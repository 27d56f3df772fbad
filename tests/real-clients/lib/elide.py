"""Shortens the clients' own long texts (prompts, tool descriptions, instructions) in transcripts and
rollouts.  Every key, id, type and number stays, and so does all that the scripts said or the tools
printed.  A line that needs no shortening is left as the client wrote it, byte for byte."""
import json, re

API_LOG, ATTACHMENT, CODEX = 60, 160, 160    # longest text that stays, in characters
HASHES = ("hash", "shapeHash")


def claude_line(line):
    row = json.loads(line)
    kind = row.get("type", "")
    limit = API_LOG if kind.startswith("api-request") else ATTACHMENT if kind == "attachment" else None
    if limit is None:
        return line

    def shorten(value, key):
        if len(value) <= limit or key in HASHES:
            return value
        return "<elided: %d chars>" % len(value)
    return changed(line, row, strings(row, shorten))


def codex_line(line):
    row = json.loads(line)
    kind, payload = row.get("type"), row.get("payload") or {}
    if kind == "session_meta" and payload.get("base_instructions"):
        instructions = payload["base_instructions"]
        instructions["text"] = omitted(instructions["text"])
    elif kind == "response_item" and payload.get("type") == "message":
        message(payload)
    elif kind == "response_item" and payload.get("type") == "additional_tools":
        payload["tools"] = [tool(t) for t in payload["tools"]]
    elif kind == "compacted":
        payload["message"] = harness(payload.get("message"))
        for item in payload.get("replacement_history") or []:
            message(item)
    elif kind == "world_state":
        for key in ("environments", "host_skills", "top_level_tools"):
            if payload.get("state", {}).get(key):
                payload["state"][key] = "<omitted>"
    for holder in (payload, payload.get("thread_settings")):
        settings = ((holder or {}).get("collaboration_mode") or {}).get("settings") or {}
        if settings.get("developer_instructions"):
            settings["developer_instructions"] = "<omitted>"
    return changed(line, json.loads(line), row)


def message(item):
    """A message of the harness speaks as developer or as user; what the scripts' users say is short."""
    if item.get("role") in ("developer", "user"):
        for part in item.get("content") or []:
            if isinstance(part.get("text"), str):
                part["text"] = harness(part["text"])


def harness(text):
    if not isinstance(text, str) or len(text) <= CODEX or text.startswith("<subagent_notification"):
        return text
    return omitted(text)


def omitted(text):
    tag = re.match(r"<[a-z_]+", text)
    return "%s<omitted: harness text, %d chars>" % (tag.group() if tag else "", len(text))


def tool(spec):
    """Only the name of a tool stays, and the tree it is in."""
    kept = {k: spec[k] for k in ("type", "name") if k in spec}
    if "tools" in spec:
        kept["tools"] = [tool(t) for t in spec["tools"]]
    return kept


def strings(value, change, key=None):
    if isinstance(value, dict):
        return {k: strings(v, change, k) for k, v in value.items()}
    if isinstance(value, list):
        return [strings(v, change, key) for v in value]
    return change(value, key) if isinstance(value, str) else value


def changed(line, before, after):
    return line if before == after else json.dumps(after, ensure_ascii=False, separators=(",", ":"))


LINE = {"claude-code": claude_line, "codex": codex_line}
