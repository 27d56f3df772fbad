"""Two runs compare equal when only ids and times differ, and not otherwise."""
import unittest

import normal

A, B = "0f0e0d0c-1111-4222-8333-444455556666", "aaaaaaaa-bbbb-4ccc-8ddd-eeeeeeeeeeee"

CALLS = ["toolu_%024x" % n for n in (1, 2)]    # of one message, at once


def result(call, words, **more):
    return {"type": "tool_result", "tool_use_id": CALLS[call], "content": words, **more}


def answered(*results):
    """The request that brings the results of the calls, as it is compared."""
    calls = [{"type": "tool_use", "id": i, "name": "Read"} for i in CALLS]
    messages = [{"role": "assistant", "content": calls}, {"role": "user", "content": list(results)}]
    return normal.request({"path": "/v1/messages", "body": {"messages": messages}})


class Texts(unittest.TestCase):
    def test_ids_of_two_runs_become_the_same(self):
        self.assertEqual(normal.text("%s toolu_%s" % (A, "0" * 24)), normal.text("%s toolu_%s" % (B, "1" * 24)))

    def test_a_different_reference_stays_different(self):
        self.assertNotEqual(normal.text(" ".join((A, B, A))), normal.text(" ".join((A, B, B))))

    def test_times_durations_and_counters_go(self):
        for one, two in (("2026-11-15T21:40:03.122Z", "2026-11-16T01:02:03Z"), ("Wall time: 0.1 seconds", "Wall time: 12.3 seconds"),
                         ("Wall time 0.1 seconds", "Wall time 0.2 seconds"), ('"duration_ms": 3', '"duration_ms": 14'),
                         ("Chunk ID: 46d2d9", "Chunk ID: 0000"), ("<total_tokens>15</total_tokens>", "<total_tokens>7</total_tokens>"),
                         ("background with ID: b1c2d3e4f", "background with ID: bzzzzzzzz"), ('{"nickname":"Plato"}', '{"nickname":"Zeno"}'),
                         ('{"id":"item_2"}', '{"id":"item_13"}'), ("(task b1c2d3e4f, ", "(task bzzzzzzzz, "),
                         ("Task ID: w1c2d3e4f in wf_d4a95a61-c29", "Task ID: wzzzzzzzz in wf_00000000-000"),
                         ("job 51186364, next run Nov 19 9:30am", "job 53340ead, next run Nov 20 9:02am"),
                         ("Resuming agent aee1a32", "Resuming agent a000000"), ("cc-socks/225.sock", "cc-socks/4.sock")):
            self.assertEqual(normal.text(one), normal.text(two))

    def test_words_and_plain_numbers_stay(self):
        for one, two in (("exit code 3", "exit code 4"), ("background", "foreground"), ("/home/dev/one", "/home/dev/two"),
                         ("Compacted", "Compacted\nPreCompact [x] completed successfully")):
            self.assertNotEqual(normal.text(one), normal.text(two))

    def test_lines_may_swap_but_not_go_missing(self):
        self.assertEqual(normal.output("a\nb"), normal.output("b\na"))
        self.assertNotEqual(normal.output("a\nb"), normal.output("a"))

    def test_a_hook_that_says_nothing_is_no_output(self):
        row = '{"type":"system","subtype":"hook_response","output":"%s","stdout":"","stderr":"","exit_code":0,"outcome":"success"}'
        self.assertEqual(normal.output("a\n" + row % ""), normal.output("a"))
        self.assertNotEqual(normal.output("a\n" + row % "b"), normal.output("a"))

    def test_codex_workspaces_may_be_there_or_not(self):
        body = lambda turn: {"path": "/v1/responses", "body": {"client_metadata": {"x-codex-turn-metadata": turn}}}
        self.assertEqual(normal.request(body('{"a": 1}')), normal.request(body('{"a": 1, "workspaces": {"/p": {}}}')))
        self.assertNotEqual(normal.request(body('{"a": 1}')), normal.request(body('{"a": 2}')))

    def test_results_of_parallel_calls_may_come_in_any_order_but_not_swap_owners(self):
        one = answered(result(0, "a"), result(1, "b"))
        self.assertEqual(one, answered(result(1, "b"), result(0, "a")))
        self.assertNotEqual(one, answered(result(0, "b"), result(1, "a")))

    def test_the_mark_of_the_cache_is_of_the_place_and_not_of_the_result(self):
        mark = {"cache_control": {"type": "ephemeral"}}
        one = answered(result(0, "a"), result(1, "b", **mark))
        self.assertEqual(one, answered(result(1, "b"), result(0, "a", **mark)))
        self.assertNotEqual(one, answered(result(0, "a", **mark), result(1, "b")))
        self.assertNotEqual(one, answered(result(0, "a"), result(1, "b")))
