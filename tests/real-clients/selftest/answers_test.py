"""The server's answers are not complained about if they are what the client did, and are for each thing that is not."""
import copy, glob, json, os, shutil, tempfile, unittest

import answers, canary, expected, verdict
from samples import SESSION, Out, hook

CALL = {"tool_name": "Bash", "tool_use_id": "toolu_1"}
USED = {"input_tokens": 4, "output_tokens": 93, "cache_read_input_tokens": 10101, "cache_creation_input_tokens": 207}
TASK = {"id": "t1", "runtimeSessionId": SESSION, "status": "completed", "permissions": [], "questions": [],
        "turns": [{"number": 1, "state": "succeeded", "startedAt": "2026-01-01T00:00:00Z", "endedAt": "2026-01-01T00:00:01Z"}],
        "usage": {"inputTokens": 8, "outputTokens": 186, "cacheReadTokens": 20202, "cacheCreationTokens": 414},
        "tool-calls": [{"toolUseId": "toolu_1", "state": "succeeded"}], "timeline": [{"kind": "user.message"}]}
CHILD = {"id": "t2", "runtimeSessionId": "sub--a1", "agentId": "a1", "parentTaskId": "t1", "status": "completed", "permissions": [], "questions": [],
         "turns": [], "usage": {}, "tool-calls": [], "timeline": []}


class Answers(unittest.TestCase):
    def setUp(self):
        work = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, work)
        self.out = Out(os.path.join(work, "out"))
        for payload in (hook("UserPromptSubmit"), hook("PreToolUse", **CALL), hook("PostToolUse", **CALL),
                        hook("SubagentStart", agent_id="a1"), hook("SubagentStop", agent_id="c1", agent_type=""), hook("SessionEnd")):
            self.out.record(payload)
        self.answered(kind="turn", usage=USED)
        self.answered(kind="side", usage=USED)
        self.said = {"health": {"outcomes": {"unrecognised": 0, "malformed": 0, "refused": 0}, "unrecognised": []},
                     "tasks": [copy.deepcopy(TASK), copy.deepcopy(CHILD)]}
        self.task, self.child = self.said["tasks"]
        for source in ("stored", "files"):
            self.said[source] = {"items": [{"key": SESSION, "usage": dict(TASK["usage"]), "agents": []}]}

    def answered(self, **more):
        record = dict({"scenario": "ok", "session_id": SESSION, "agent_id": None, "status": 200, "complete": True}, **more)
        self.out.write("logs/api.jsonl", json.dumps(record) + "\n", "a")

    def complaints(self):
        run = verdict.Run("claude-code", self.out.folder, said=self.said)
        return answers.scenario(run, "ok") + list(answers.whole(run))

    def assert_complaint(self, words):
        found = self.complaints()
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_true_answers_are_not_complained_about(self):
        self.assertEqual(self.complaints(), [])

    def test_a_session_that_is_two_tasks(self):
        self.said["tasks"].append(dict(TASK, id="t3", **{"tool-calls": [], "timeline": [], "usage": {}}))
        self.assert_complaint("%s is 2 tasks" % SESSION)

    def test_a_subagent_without_its_parent(self):
        del self.child["parentTaskId"]
        self.assert_complaint("does not hang below session")

    def test_a_call_that_is_missing(self):
        self.task["tool-calls"] = []
        self.assert_complaint("call toolu_1 (Bash) is 0 calls")

    def test_a_call_of_another_task(self):
        self.child["tool-calls"], self.task["tool-calls"] = self.task["tool-calls"], []
        self.assert_complaint("stands with a1")

    def test_a_call_that_ended_otherwise(self):
        self.task["tool-calls"][0]["state"] = "interrupted"
        self.assert_complaint("is interrupted after PostToolUse")

    def test_a_prompt_reported_twice(self):
        self.task["timeline"] *= 2
        self.assert_complaint("1 prompts in %s, and 2 messages" % SESSION)

    def test_a_session_that_still_runs_after_its_end(self):
        self.task["status"] = "running"
        self.assert_complaint("its task is running")

    def test_a_turn_that_still_runs_after_the_end(self):
        self.task["turns"][0].update(state="running", endedAt=None)
        self.assert_complaint("turn 1 of %s is running" % SESSION)

    def test_a_turn_that_is_missing(self):
        self.task["turns"] = []
        self.assert_complaint("1 turns began in %s, and there are 0" % SESSION)

    def test_an_answer_that_was_cut_short_counts_with_what_had_been_sent(self):
        self.answered(kind="turn", usage=dict(USED, output_tokens=40), complete=False)
        for usage in (self.task["usage"], *(self.said[source]["items"][0]["usage"] for source in ("stored", "files"))):
            for ours, theirs in answers.CLAUDE_USAGE.items():
                usage[ours] += 6 if theirs == "output_tokens" else USED[theirs]
        self.assertEqual(self.complaints(), [])
        self.task["usage"]["outputTokens"] += 35
        self.assert_complaint("its task says")
        self.task["usage"]["outputTokens"] -= 41
        self.assert_complaint("its task says")

    def test_an_agent_that_outlives_clear_belongs_to_the_session_that_started_it(self):
        self.out.record(dict(hook("PreToolUse", agent_id="a1", tool_name="Bash", tool_use_id="toolu_2"), session_id="another"))
        self.out.record(dict(hook("SessionStart"), session_id="another"))
        self.said["tasks"].append(dict(copy.deepcopy(TASK), id="t3", runtimeSessionId="another", turns=[], timeline=[], usage={}, **{"tool-calls": []}))
        self.child["tool-calls"] = [{"toolUseId": "toolu_2", "state": "succeeded"}]
        self.assertEqual(self.complaints(), [])
        self.child["parentTaskId"] = "t3"
        self.assert_complaint("does not hang below session %s" % SESSION)

    def test_a_subagent_at_another_depth(self):
        child = dict(copy.deepcopy(CHILD), agentType="general-purpose")
        deeper = [dict(child, id="t%d" % (n + 1), agentId="a%d" % n, parentTaskId="t%d" % n) for n in (1, 2, 3)]
        calls = [{"toolName": name, "state": "succeeded", "startedAt": "1"} for name in ("Agent", "Agent", "Agent", "Bash")]
        run = verdict.Run("claude-code", self.out.folder, said={"tasks": [dict(TASK, **{"tool-calls": calls}), *deeper]})
        run.recorded = lambda name, channel: [hook("SubagentStart", agent_id="a%d" % n) for n in (1, 2, 3)]
        self.assertEqual(list(expected.complaints(run, "agent_deep")), [])
        deeper[2]["parentTaskId"] = "t2"
        self.assertIn("agents are ['general-purpose completed 1', 'general-purpose completed 2', 'general-purpose completed 2']",
                      "".join(expected.complaints(run, "agent_deep")))

    def test_what_people_answered_is_compared_with_what_was_played(self):
        asked = {"occurredAt": "2026-01-01T00:00:01Z"}
        calls = [{"toolName": "request_user_input", "toolUseId": n, "state": state, "startedAt": n} for n, state in (("1", "succeeded"), ("2", "interrupted"))]
        turns = [{"number": n, "state": state, "startedAt": str(n)} for n, state in ((1, "succeeded"), (2, "interrupted"), (3, "succeeded"))]
        task = dict(TASK, turns=turns, questions=[dict(asked, phase="answered", waitMs=1600), dict(asked, phase="cancelled", waitMs=3)], **{"tool-calls": calls})
        run = verdict.Run("codex", self.out.folder, said={"tasks": [task]})
        run.recorded = lambda name, channel: [hook("SessionStart")]
        self.assertEqual(list(expected.complaints(run, "questions")), [])
        task["questions"][0]["waitMs"] = 7
        self.assertIn("people were waited for [7, 3] ms", "".join(expected.complaints(run, "questions")))
        task["questions"][1]["phase"] = "asked"
        self.assertIn("questions are ['answered', 'asked']", "".join(expected.complaints(run, "questions")))

    def test_a_token_too_many(self):
        self.task["usage"]["outputTokens"] += 1
        self.assert_complaint("its task says")

    def test_a_side_request_of_a_session_without_an_end_is_not_asked_for(self):
        path = next(p for p in sorted(glob.glob(self.out.folder + "/home/cap/rows/*.json")) if "SessionEnd" in open(p).read())
        os.remove(path)
        self.task["usage"] = {"inputTokens": 4, "outputTokens": 93, "cacheReadTokens": 10101, "cacheCreationTokens": 207}
        for source in ("stored", "files"):
            self.said[source]["items"][0]["usage"] = self.task["usage"]
        self.assertEqual(self.complaints(), [])
        run = verdict.Run("claude-code", self.out.folder, said=self.said)
        self.assertEqual(answers.unobservable(run, "ok"), ["side of %s: 10405 tokens that nothing tells of" % SESSION])

    def test_a_session_that_leaves_no_file_is_not_asked_for_its_tokens(self):
        self.out.record(hook("Stop", transcript_path="/home/dev/.claude/projects/p/none.jsonl"))
        self.task["usage"] = {}
        for source in ("stored", "files"):
            self.said[source]["items"] = []
        self.assertEqual(self.complaints(), [])

    def test_a_hook_of_a_thread_that_only_its_file_names(self):
        thread = "01a1ef59-b040-7981-b860-f1792b95e40e"
        rollout = "/home/dev/.codex/sessions/2026/11/18/rollout-2026-11-18T15-49-54-%s.jsonl" % thread
        self.assertEqual(answers.actor(hook("Stop", transcript_path=rollout)), thread)
        self.assertEqual(answers.actor(hook("Stop", transcript_path=rollout, agent_id="a1")), "a1")
        self.assertEqual(answers.actor(hook("Stop", transcript_path=None)), SESSION)

    def test_a_token_too_many_in_the_account_of_the_ledger(self):
        self.said["stored"]["items"][0]["usage"]["inputTokens"] += 1
        self.assert_complaint("and `usage session` says")

    def test_a_session_that_the_files_do_not_tell_of(self):
        self.said["files"]["items"] = []
        self.assert_complaint("and `usage session --files` says")

    def test_a_subagent_that_an_account_leaves_out(self):
        self.answered(kind="turn", usage=USED, agent_id="a1")
        self.child["usage"] = {"inputTokens": 4, "outputTokens": 93, "cacheReadTokens": 10101, "cacheCreationTokens": 207}
        for source, key in (("stored", "sub--a1"), ("files", "a1")):
            item = self.said[source]["items"][0]
            item["usage"] = {k: item["usage"][k] + n for k, n in self.child["usage"].items()}
            item["agents"] = [{"key": key, "usage": self.child["usage"]}]
        self.assertEqual(self.complaints(), [])
        self.said["files"]["items"][0]["agents"] = []
        self.assert_complaint("subagent a1 used")

    def test_an_account_that_was_not_asked_for(self):
        del self.said["files"]
        self.assert_complaint("`usage session --files` was not asked")

    def test_something_that_was_not_understood(self):
        self.said["health"]["outcomes"]["unrecognised"] = 2
        self.assert_complaint("counts 2 unrecognised")

    def test_a_result_that_was_kept(self):
        self.task["timeline"][0]["body"] = "so %s it is" % canary.WORDS[0]
        self.assert_complaint("must not have been kept")

    def test_a_server_that_was_not_asked(self):
        self.said = None
        self.assert_complaint("was not asked")

    def test_cached_tokens_of_codex_are_not_input_too(self):
        counted = answers.usage("codex", {"input_tokens": 100, "cached_input_tokens": 70, "cache_write_input_tokens": 10, "output_tokens": 5})
        self.assertEqual(counted, {"inputTokens": 20, "outputTokens": 5, "cacheReadTokens": 70, "cacheCreationTokens": 10})


if __name__ == "__main__":
    unittest.main()
