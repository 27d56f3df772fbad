"""Where things are inside the namespace.  Every other file takes its paths from here."""
import os, sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HIDDEN = ["/home", "/root", "/tmp"]          # empty file systems inside the namespace
HOME, PROJECT = "/home/dev", "/home/dev/project"
CODE, CLI, LOGS = "/home/rig/code", "/home/rig/cli", "/home/rig/logs"
PORT = 8787
SCENARIO = "REAL_CLIENTS_SCENARIO"           # environment variable of the client, hence of its hooks


def fail(text):
    sys.exit("drive: " + text)


def visible_python():
    for p in ("/usr/bin/python3", os.path.realpath(sys.executable)):
        if os.path.exists(p) and not p.startswith(tuple(d + "/" for d in HIDDEN)):
            return p
    fail("needs a python3 outside of " + ", ".join(HIDDEN))


PYTHON = visible_python()


def write(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)
