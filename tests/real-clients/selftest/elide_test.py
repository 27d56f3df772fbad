"""Fixtures lose the clients' long texts and nothing else."""
import json, unittest

import elide

LONG = "x" * 500


def line(row):
    return json.dumps(row)


class Claude(unittest.TestCase):
    def test_rows_of_people_models_and_tools_stay_byte_for_byte(self):
        for kind in ("user", "assistant", "system", "queue-operation", "cost-state", "last-prompt"):
            text = line({"type": kind, "message": {"content": LONG}})
            self.assertEqual(elide.claude_line(text), text)

    def test_long_texts_of_attachments_and_request_logs_go(self):
        row = json.loads(elide.claude_line(line({"type": "attachment", "attachment": {"content": [LONG, "y" * 160]}})))
        self.assertEqual(row["attachment"]["content"], ["<elided: 500 chars>", "y" * 160])
        row = json.loads(elide.claude_line(line({"type": "api-request", "shapeHash": "a" * 64, "tail": ["b" * 64, "c" * 60]})))
        self.assertEqual(row, {"type": "api-request", "shapeHash": "a" * 64, "tail": ["<elided: 64 chars>", "c" * 60]})


class Codex(unittest.TestCase):
    def test_harness_texts_go_and_their_tag_stays(self):
        parts = [{"type": "input_text", "text": "<skills_instructions>" + LONG}, {"type": "input_text", "text": "Fix it"}]
        row = json.loads(elide.codex_line(line({"type": "response_item", "payload": {"type": "message", "role": "user", "content": parts}})))
        self.assertEqual([p["text"] for p in row["payload"]["content"]], ["<skills_instructions<omitted: harness text, 521 chars>", "Fix it"])

    def test_what_the_model_and_the_agents_say_stays(self):
        for role, text in (("assistant", LONG), ("user", "<subagent_notification>" + LONG)):
            row = line({"type": "response_item", "payload": {"type": "message", "role": role, "content": [{"text": text}]}})
            self.assertEqual(elide.codex_line(row), row)

    def test_instructions_tools_and_world_state_are_reduced(self):
        row = json.loads(elide.codex_line(line({"type": "session_meta", "payload": {"id": "t", "base_instructions": {"text": "hi", "provenance": 1}}})))
        self.assertEqual(row["payload"], {"id": "t", "base_instructions": {"text": "<omitted: harness text, 2 chars>", "provenance": 1}})
        tools = [{"type": "namespace", "name": "n", "description": LONG, "tools": [{"type": "function", "name": "f", "parameters": {}}]}]
        row = json.loads(elide.codex_line(line({"type": "response_item", "payload": {"type": "additional_tools", "tools": tools}})))
        self.assertEqual(row["payload"]["tools"], [{"type": "namespace", "name": "n", "tools": [{"type": "function", "name": "f"}]}])
        row = json.loads(elide.codex_line(line({"type": "world_state", "payload": {"full": True, "state": {"model": "m", "host_skills": {"body": LONG}}}})))
        self.assertEqual(row["payload"]["state"], {"model": "m", "host_skills": "<omitted>"})
