"""The captured truths agree with what the clients wrote down: every complete answer of the model is
in a transcript or rollout with its numbers, but for the kinds that the clients leave out."""
import glob, json, os, unittest

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), "fixtures")


def answers(path, actors, id_key):
    """-> {id: (actor, kind, usage)}, and the ids of answers that were cut short"""
    with open(path) as f:
        truth = json.load(f)
    found, cut = {}, set()
    for session in truth["sessions"]:
        for actor in session[actors]:
            for r in actor["by_request"]:
                if r["usage"] and r["complete"]:
                    found[r[id_key]] = (actor[actors[:-1] + "_id"], r["kind"], r["usage"])
                elif r["usage"]:
                    cut.add(r[id_key])
    return found, cut


def rows(pattern):
    for path in sorted(glob.glob(pattern, recursive=True)):
        with open(path) as f:
            for line in f:
                yield json.loads(line)


class Truths(unittest.TestCase):
    def test_claude_code_transcripts_have_every_turn_and_agree_with_it(self):
        truths = glob.glob(os.path.join(FIXTURES, "claude-code", "*", "*", "truth.json"))
        self.assertGreater(len(truths), 10)
        for path in truths:
            with self.subTest(os.path.basename(os.path.dirname(path))):
                want, cut = answers(path, "agents", "message_id")
                seen = {}
                for row in rows(os.path.join(os.path.dirname(path), "**", "*.jsonl")):
                    message = row.get("message") or {}
                    if row.get("type") == "assistant" and message["model"] != "<synthetic>" and message["id"] not in cut:
                        usage = {k: message["usage"][k] for k in want[message["id"]][2]}
                        # A forked agent's file begins with a copy of its parent's answer, which comes first.
                        seen.setdefault(message["id"], (row.get("agentId"), "turn", usage))
                self.assertEqual(seen, {k: v for k, v in want.items() if v[1] == "turn"})

    def test_codex_rollouts_have_every_turn_and_compaction_and_agree_with_them(self):
        truths = glob.glob(os.path.join(FIXTURES, "codex", "*", "truth", "*.truth.json"))
        self.assertGreater(len(truths), 10)
        for path in truths:
            name = os.path.basename(path)[:-len(".truth.json")]
            with self.subTest(name):
                want, _ = answers(path, "threads", "response_id")
                rollouts = os.path.join(os.path.dirname(os.path.dirname(path)), "rollouts", name)
                seen = {}
                for suffix in (".jsonl", ".*.jsonl"):
                    for row in rows(rollouts + suffix):
                        record = row["payload"]
                        if row["type"] == "token_usage_record":
                            usage = {k: record["usage"][k] for k in want[record["response_id"]][2]}
                            seen[record["response_id"]] = (record["thread_id"], usage)
                self.assertEqual(seen, {k: (v[0], v[2]) for k, v in want.items() if v[1] != "title"})
