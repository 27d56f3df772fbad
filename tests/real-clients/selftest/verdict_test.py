"""The verdict has no complaint about a sound run, and one about each thing that can go wrong."""
import os, shutil, tempfile, unittest

import canary, verdict
from envelopes import Spool
from samples import SESSION, Out, envelope, hook


class Verdicts(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.work)
        self.start("ok")

    def start(self, scenario):
        for name in ("hooked", "bare"):
            shutil.rmtree(os.path.join(self.work, name), ignore_errors=True)
        self.hooked, self.bare = (Out(os.path.join(self.work, name), scenario) for name in ("hooked", "bare"))
        for out in (self.hooked, self.bare):
            out.request({"messages": [{"role": "user", "content": "Hi"}]})
            out.write("logs/%s.out" % scenario, "Hello\n")
        self.hooked.fire(hook("SessionStart", source="startup"))
        self.hooked.fire(hook("PostToolUse", tool_name="Bash", tool_use_id="toolu_1", tool_response={"outputBytes": 3}))

    def complaints(self):
        hooked = verdict.Run("claude-code", self.hooked.folder, Spool(self.hooked.spool))
        bare = verdict.Run("claude-code", self.bare.folder)
        return verdict.scenario(hooked, bare, self.hooked.scenario) + list(verdict.whole(hooked))

    def assert_complaint(self, words):
        found = self.complaints()
        self.assertEqual(len(found), 1, found)
        self.assertIn(words, found[0])

    def test_a_sound_run_is_not_complained_about(self):
        self.assertEqual(self.complaints(), [])

    def test_a_hook_without_an_envelope(self):
        self.hooked.record(hook("Stop"))
        self.assert_complaint("1 of 1 without an envelope: session_id %s, hook_event_name Stop" % SESSION)

    def test_one_of_two_equal_hooks_without_an_envelope(self):
        self.hooked.fire(hook("InstructionsLoaded"))
        self.hooked.record(hook("InstructionsLoaded"))
        self.assert_complaint("1 of 2 without an envelope")

    def test_an_envelope_too_many(self):
        self.hooked.keep(envelope(hook("SessionStart", source="startup")))
        self.assert_complaint("1 envelopes too many")

    def test_a_recorder_that_was_killed_without_a_waiting_client(self):
        self.hooked.keep(envelope(hook("StopFailure")))
        self.assertEqual(self.complaints(), [])
        self.hooked.keep(envelope(hook("StopFailure")))
        self.assert_complaint("2 envelopes too many")

    def test_an_envelope_without_a_session(self):
        self.hooked.keep(envelope({}, fault="not an object@0"))
        self.assert_complaint("is of no session that the recorder saw, fault not an object@0")

    def test_a_client_that_fired_nothing(self):
        self.start("ok")
        shutil.rmtree(os.path.join(self.hooked.folder, "home"))
        shutil.rmtree(os.path.join(self.hooked.spool, "new"))
        os.makedirs(os.path.join(self.hooked.spool, "new"))
        self.assert_complaint("fired no hook")

    def test_a_result_text_in_a_body(self):
        self.hooked.fire(hook("PostToolUse", tool_use_id="toolu_2", tool_response={"stdout": canary.OUTPUT}))
        self.assert_complaint("a result text, `%s`" % canary.OUTPUT)

    def test_a_key_in_a_header(self):
        self.hooked.record(hook("Stop"))
        self.hooked.keep(envelope(hook("Stop"), **{"env.AI_AGENT": canary.key("sk-ant-api03-")}))
        self.assert_complaint("the API key")

    def test_the_messaging_token_anywhere(self):
        self.hooked.record(hook("Stop", reason="t-123"), token="t-123")
        self.hooked.keep(envelope(hook("Stop", reason="t-123")))
        self.assert_complaint("the messaging token")

    def test_an_environment_variable_that_is_a_secret_by_name(self):
        self.hooked.record(hook("Stop"))
        self.hooked.keep(envelope(hook("Stop"), **{"env.CLAUDE_CODE_MESSAGING_TOKEN": "x"}))
        self.assert_complaint("records `env.CLAUDE_CODE_MESSAGING_TOKEN`")

    def test_a_fault_a_wrong_agent_a_wrong_folder_and_a_wrong_process(self):
        for header, words in ((("fault", "x@1"), "has fault x@1"), (("agent", "codex"), "is of agent codex"), (("cwd", "/elsewhere"), "has cwd /elsewhere")):
            self.start("ok")
            self.hooked.record(hook("Stop"))
            self.hooked.keep(envelope(hook("Stop"), **dict([header])))
            self.assert_complaint(words)
        self.start("ok")
        self.hooked.record(hook("Stop"))
        self.hooked.keep(envelope(hook("Stop"), **{"pid": "5", "env.CLAUDE_PID": "6"}))
        self.assert_complaint("names process 5, the client is 6")

    def test_a_changed_request_one_more_request_and_changed_output(self):
        self.hooked.request({"messages": [{"role": "user", "content": "Hi, and a hook says hello"}]})
        self.bare.request({"messages": [{"role": "user", "content": "Hi"}]})
        self.assert_complaint("a request to the model differs")
        self.start("ok")
        self.hooked.request({"messages": []})
        self.assertIn("2 requests to the model, 1 without hooks", self.complaints())
        self.start("ok")
        self.hooked.write("logs/ok.out", "Hello\nhook failed\n")
        self.assert_complaint("its stdout differs: without ``, with `hook failed`")

    def test_a_difference_late_in_a_long_line_is_shown(self):
        self.assertEqual(verdict.first_difference(["x" * 500 + "a"], ["x" * 500 + "b"]), "without `%sa`, with `%sb`" % ("x" * 60, "x" * 60))

    def test_a_wrong_end_with_or_without_hooks(self):
        self.hooked.result(1)
        self.assert_complaint("exit code 1, not 0")
        self.start("ok")
        self.bare.result(0, ["ok 1/2"])
        self.assert_complaint("without hooks: script not played to its end: ok 1/2")

    def test_a_trace_in_the_transcript(self):
        self.hooked.transcript({"type": "attachment", "attachment": {"type": "hook_non_blocking_error", "stderr": "no such file"}})
        self.assert_complaint("a hook_non_blocking_error row")
        self.start("ok")
        self.hooked.transcript({"type": "system", "subtype": "stop_hook_summary", "hookErrors": ["bad"], "hasOutput": False, "hookCount": 2})
        self.assert_complaint("errors ['bad']")
        self.start("ok")
        self.hooked.transcript({"type": "system", "subtype": "stop_hook_summary", "hookErrors": [], "hasOutput": False, "hookCount": 2})
        self.assertEqual(self.complaints(), [])

    def test_a_worktree_in_which_nothing_ran(self):
        self.start("agent_worktree")
        self.assert_complaint("no command ran in the worktree")
        self.start("agent_worktree")
        payload = hook("PostToolUse", tool_name="Bash", tool_use_id="toolu_3", cwd="/home/dev/project/.claude/worktrees/agent-1")
        self.hooked.record(payload)
        self.hooked.keep(envelope(payload, cwd=payload["cwd"]))
        self.assertEqual(self.complaints(), [])

    def test_a_token_that_was_not_masked_or_took_its_command_along(self):
        kept = {"%s | wc -c" % canary.SECRET: 2, "[masked]": 1, "[masked] | wc -c": 0}
        for command, count in kept.items():
            self.start("secret")
            self.hooked.fire(hook("PreToolUse", tool_name="Bash", tool_use_id="toolu_4", tool_input={"command": command}))
            self.assertEqual(len(self.complaints()), count, command)

    def test_a_status_line_that_is_not_shown_or_not_kept(self):
        status = {"session_id": SESSION, "model": {"id": "m"}}
        self.start("tui")
        self.hooked.fire(status, "statusline")
        self.assert_complaint("no screen shows")
        self.hooked.write("logs/tui.screens", "  recorded\n  [monitor] ctx 1%\n")
        self.assertEqual(self.complaints(), [])
        self.hooked.record(status, "statusline")
        self.assert_complaint("2 status lines of session %s, 1 envelopes" % SESSION)
