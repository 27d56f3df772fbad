"""Reads a spool as the specification of the envelope format says (crates/spool, `envelope`), with
code of its own: a fault of the product's writer is not repeated here."""
import json, os, re

MAGIC = b"agent-tracer-envelope 1\n"
TRAILER = re.compile(rb"\nxxh64: ([0-9a-f]{16})\n\Z")
MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


class Torn(Exception):
    """The file is no envelope."""


class Envelope:
    def __init__(self, name, header, body):
        self.name, self.header, self.raw_body = name, header, body
        self.payload = json.loads(body) if body else None

    @property
    def bytes(self):
        return self.raw_body + "\n".join("%s: %s" % item for item in self.header.items()).encode("utf-8", "surrogateescape")


def parse(name, data):
    if not data.startswith(MAGIC):
        raise Torn("no magic line")
    found = TRAILER.search(data)
    if not found:
        raise Torn("no trailer")
    if xxh64(data[:found.start()]) != int(found.group(1), 16):
        raise Torn("the checksum is wrong")
    head, blank, body = data[len(MAGIC):found.start()].partition(b"\n\n")
    if not blank:
        raise Torn("the header has no end")
    header = {}
    for line in head.split(b"\n"):
        key, colon, value = line.partition(b": ")
        if not colon or unescape(key) in header:
            raise Torn("header line %r" % line)
        header[unescape(key)] = unescape(value)
    if int(header.get("length", -1)) != len(body):
        raise Torn("length is %s, the body has %d bytes" % (header.get("length"), len(body)))
    for key in ("agent", "channel", "arrived"):
        if key not in header:
            raise Torn("`%s` is missing" % key)
    try:
        return Envelope(name, header, body)
    except ValueError as e:
        raise Torn("the body is not JSON: %s" % e)


def unescape(value):
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), value).decode("utf-8", "surrogateescape")


def xxh64(data):
    rotate = lambda x, n: (x << n | x >> (64 - n)) & MASK
    mix = lambda lane, word: rotate((lane + word * P2) & MASK, 31) * P1 & MASK
    word = lambda at, size: int.from_bytes(data[at:at + size], "little")
    at, total = 0, len(data)
    if total >= 32:
        lanes = [(P1 + P2) & MASK, P2, 0, -P1 & MASK]
        while total - at >= 32:
            lanes = [mix(lane, word(at + 8 * i, 8)) for i, lane in enumerate(lanes)]
            at += 32
        h = sum(rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ mix(0, lane)) * P1 + P4) & MASK
    else:
        h = P5
    h = (h + total) & MASK
    while total - at >= 8:
        h = (rotate(h ^ mix(0, word(at, 8)), 27) * P1 + P4) & MASK
        at += 8
    if total - at >= 4:
        h = (rotate(h ^ word(at, 4) * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    while at < total:
        h = rotate(h ^ data[at] * P5 & MASK, 11) * P1 & MASK
        at += 1
    h = (h ^ h >> 33) * P2 & MASK
    h = (h ^ h >> 29) * P3 & MASK
    return h ^ h >> 32


class Spool:
    """Everything in a spool folder: envelopes, and what went wrong."""

    def __init__(self, folder):
        self.envelopes, self.faults = [], []
        if not os.path.isdir(os.path.join(folder, "new")):
            self.faults.append("there is no spool at %s" % folder)
        for name in self.names(folder, "new"):
            with open(os.path.join(folder, "new", name), "rb") as f:
                data = f.read()
            try:
                self.envelopes.append(parse(name, data))
            except Torn as e:
                self.faults.append("envelope %s: %s" % (name, e))
        for kind in ("tmp", "quarantine"):
            left = self.names(folder, kind)
            if left:
                self.faults.append("%d files in %s/, first %s" % (len(left), kind, left[0]))
        for reason in self.names(folder, "lost"):
            with open(os.path.join(folder, "lost", reason), "rb") as f:
                count = f.read().count(b".")   # any other byte only makes the file own a block
            if count:
                self.faults.append("%d lost: %s" % (count, reason))

    @staticmethod
    def names(folder, kind):
        try:
            return sorted(os.listdir(os.path.join(folder, kind)))
        except FileNotFoundError:
            return []
