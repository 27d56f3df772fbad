"""Makes what two runs of a client said comparable: ids, times, durations and counters are replaced,
everything else stays.  An id becomes a number by its first appearance, so that who refers to whom
is still compared."""
import json, re

UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
IDS = re.compile("|".join([
    r"(?P<item>\b(?:toolu|call|msg|rs|fc|fco|ctc|ctco|ws|resp|req|at|tso|tsc|retained|exec)_?-?(?:fake)?(?:%s|[0-9a-f]{12,40}))" % UUID,
    r"(?P<uuid>%s)" % UUID,
    r"(?P<agent>\ba[0-9a-f]{16}\b)",
    r"(?P<task>(?:(?<=task-id>)|(?<=ID: )|(?<=/tasks/)|(?<=\(task ))[bw][0-9a-z]{8}\b)",
    r"(?P<workflow>\bwf_[0-9a-f]{8}-[0-9a-f]{3}\b)",
    r"(?P<job>(?:(?<=job )|(?<=/jobs/)|(?<=\"id\": \")|(?<=\"content\": \"))[0-9a-f]{8}\b)",
    r"(?P<digest>\b[0-9a-f]{32,64}\b)",
]))
TIMES = [(re.compile(p), r) for p, r in (
    (r"\d{4}-\d\d-\d\dT\d\d[:-]\d\d[:-]\d\d(?:\.\d+)?Z?", "<time>"),
    (r"\b1[0-9]{9}(?:\.\d+|\d{3})?\b", "<time>"),
    (r"Chunk ID: [0-9a-f]+", "Chunk ID: <id>"),
    (r"(\\*\"chunk_id\\*\": ?\\*\")[0-9a-f]+", r"\1<id>"),
    (r"(?i)(wall[ _]time(?:_seconds)?\\*\"?:? ?)[0-9.]+(?:e-\d+)?", r"\1<n>"),
    (r"(\\*\"[a-zA-Z_]*(?:duration|elapsed|latency|_ms|Ms|token|Token|cost|Cost)[a-zA-Z_]*\\*\": ?)[0-9.]+", r"\1<n>"),
    (r"(<(?:duration_ms|total_tokens|subagent_tokens)>)\d+", r"\1<n>"),
    (r"((?:duration_ms|total_tokens|subagent_tokens): )\d+", r"\1<n>"),
    (r"(Resuming agent )a[0-9a-f]{6}\b", r"\1<agent>"),
    (r"(\\*\"ref\\*\": ?\\*\")[0-9a-f]{6}\b", r"\1<ref>"),
    (r"(?i)(next run:? )[A-Z][a-z]{2} \d+ [\d:]+[ap]m", r"\1<time>"),
    (r"(/plans/)[a-z-]+\.md", r"\1<name>.md"),
    (r"(Duration: )[0-9.]+ seconds", r"\1<n> seconds"),
    (r"(timeUsedSeconds\\*\": ?)\d+", r"\1<n>"),
    (r"cc-socks/\d+", "cc-socks/<n>"),
    (r"\d+ tokens left", "<n> tokens left"),
    (r"aborted by user after [0-9.]+s", "aborted by user after <n>s"),
    (r"(\\*\"nickname\\*\": ?\\*\")[^\"\\]+", r"\1<name>"),
    (r"\"item_\d+\"", "\"item_<n>\""),
    (r"session ID \d+", "session ID <n>"),
    (r"(\\*\"session_id\\*\": ?)\d+", r"\1<n>"),
)]


def text(value):
    names = {}

    def name(match):
        kind = match.lastgroup
        return names.setdefault(match.group(), "<%s %d>" % (kind, 1 + sum(v.startswith("<" + kind) for v in names.values())))
    out = IDS.sub(name, value)
    for pattern, replacement in TIMES:
        out = pattern.sub(replacement, out)
    return out


def request(record):
    """One request to the model as comparable text: its path and its body."""
    body = dict(record["body"])
    metadata = body.get("client_metadata") or {}
    if "x-codex-turn-metadata" in metadata:
        turn = json.loads(metadata["x-codex-turn-metadata"])
        turn.pop("workspaces", None)           # there or not: Codex does not wait for its own look at git
        body["client_metadata"] = dict(metadata, **{"x-codex-turn-metadata": turn})
    if "messages" in body:
        body["messages"] = in_order_of_calls(body["messages"])
    if isinstance(body.get("input"), list):
        body["input"] = [sorted_output(item) for item in body["input"]]
    return text(record["path"] + "\n" + json.dumps(body, indent=1, sort_keys=True, ensure_ascii=False))


def sorted_output(item):
    """Codex gives the answers to several questions in any order."""
    if isinstance(item, dict) and str(item.get("output")).startswith('{"answers":'):
        return dict(item, output=json.dumps(json.loads(item["output"]), sort_keys=True))
    return item


MARK = "cache_control"


def in_order_of_calls(messages):
    """Claude Code sends results of parallel calls as they came in: who was first is chance.  Where the cache ends it marks
    the last of them, whichever that is: the mark stays at its place."""
    order = {}
    for message in messages:
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block.get("type") == "tool_use":
                order[block["id"]] = len(order)
    out = []
    for message in messages:
        content = message["content"]
        if isinstance(content, list):
            results = sorted((b for b in content if b.get("type") == "tool_result"), key=lambda b: order.get(b["tool_use_id"], -1))
            content = [marked_as(b, results.pop(0)) if b.get("type") == "tool_result" else b for b in content]
        out.append(dict(message, content=content))
    return out


def marked_as(place, result):
    """The result, with the mark of the cache that stands at its new place."""
    return {**{k: v for k, v in result.items() if k != MARK}, **{k: v for k, v in place.items() if k == MARK}}


# Complaints of Codex about itself when a signal meets it while it writes.
RACES = re.compile(r"ERROR codex_core::session: failed to record rollout items")
# Claude Code tells a program that embeds it of every hook at the start of a session, also of one that says nothing.
SILENT_HOOK = re.compile(r'"subtype":"hook_started"|"subtype":"hook_response".*"output":"","stdout":"","stderr":"","exit_code":0,')


def output(value):
    """What a client printed: lines of agents at work together may swap."""
    return sorted(text(line) for line in value.splitlines() if not RACES.search(line) and not SILENT_HOOK.search(line))
