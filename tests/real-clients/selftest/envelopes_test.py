"""The envelope reader refuses what is torn and reads what is whole."""
import os, tempfile, unittest

from envelopes import Spool, Torn, parse, unescape, xxh64
from samples import envelope


class Envelopes(unittest.TestCase):
    def test_the_checksum_agrees_with_published_values(self):
        known = {b"": 0xEF46DB3751D8E999, b"a": 0xD24EC4F1A98C6E5B, b"abc": 0x44BC2CF5AD770999,
                 b"Nobody inspects the spammish repetition": 0xFBCEA83C8A378BF1}
        self.assertEqual({data: xxh64(data) for data in known}, known)

    def test_a_whole_envelope_is_read(self):
        e = parse("n", envelope({"session_id": "s"}, cwd="/home/dev/caf%C3%A9%0A"))
        self.assertEqual((e.payload, e.header["cwd"]), ({"session_id": "s"}, "/home/dev/café\n"))

    def test_every_flipped_byte_is_noticed(self):
        data = envelope({"session_id": "s"})
        for at in range(len(data)):
            with self.assertRaises(Torn, msg="byte %d" % at):
                parse("n", data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])

    def test_every_truncation_is_noticed(self):
        data = envelope({"session_id": "s"})
        for at in range(len(data)):
            with self.assertRaises(Torn, msg="at %d" % at):
                parse("n", data[:at])

    def test_a_wrong_length_and_a_repeated_line_are_refused(self):
        for data in (envelope({}, length="7"), envelope({}, **{"cwd: /x\ncwd": "/y"})):
            with self.assertRaises(Torn):
                parse("n", data)

    def test_bytes_that_are_not_utf8_survive_unescaping(self):
        self.assertEqual(unescape(b"/caf%C3").encode("utf-8", "surrogateescape"), b"/caf\xc3")


class Spools(unittest.TestCase):
    def test_losses_quarantine_and_left_over_files_are_faults(self):
        with tempfile.TemporaryDirectory() as d:
            for path, data in (("new/1", envelope({})), ("new/2", b"torn"), ("tmp/3", b""), ("quarantine/4", b"x"), ("lost/full", b",.."), ("lost/io", b",")):
                os.makedirs(os.path.join(d, os.path.dirname(path)), exist_ok=True)
                with open(os.path.join(d, path), "wb") as f:
                    f.write(data)
            spool = Spool(d)
            self.assertEqual(len(spool.envelopes), 1)
            self.assertEqual(spool.faults, ["envelope 2: no magic line", "1 files in tmp/, first 3", "1 files in quarantine/, first 4", "2 lost: full"])

    def test_no_spool_is_a_fault(self):
        self.assertEqual(len(Spool("/nonexistent/spool").faults), 1)
