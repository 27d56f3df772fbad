"""Runs the scenarios of a client inside the namespace, headless or in a terminal."""
import concurrent.futures, contextlib, glob, json, os, re, signal, subprocess, time

from layout import CLI, HOME, LOGS, PROJECT, SCENARIO
from model_api import serve
from namespace import no_names

STEP_TIMEOUT = 180                           # seconds for one run of a client
SCREEN_TIMEOUT = 60                          # seconds for one thing to show: long, because a busy machine is no failure


class Scenario:
    def __init__(self, text, action, expect=0, tmux=False, by_name=False, slow=False):
        """action(runner) -> exit code, which should be `expect`.  by_name: played only if it is named, because it needs rules.
        slow: played only if it is named, or with --all."""
        self.text, self.action, self.expect, self.tmux, self.by_name, self.slow = text, action, expect, tmux, by_name, slow


class Runner:
    """Runs the client for one scenario; its output goes to logs/NAME.out and logs/NAME.err."""

    def __init__(self, name, env, program, api):
        self.name, self.env, self.program, self.api, self.out = name, env, program, api, ""

    def run(self, *args, env=None, kill=None, feed=()):
        """One run of the client.  kill: signal to send a second after its tool began to sleep, to end it in the tool.
        feed: lines for its input, each once it has printed that it is done with the one before."""
        with open("%s/%s.out" % (LOGS, self.name), "a+") as out, open("%s/%s.err" % (LOGS, self.name), "a") as err:
            at, before = out.seek(0, 2), sleepers()
            p = subprocess.Popen([self.program] + list(args), env=dict(self.env, **(env or {})), cwd=PROJECT,
                                 stdin=subprocess.PIPE if feed else subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
            try:
                self.feed(p, feed, out.name, at)
                if kill:
                    end = time.monotonic() + STEP_TIMEOUT
                    while p.poll() is None and sleepers() <= before and time.monotonic() < end:
                        time.sleep(0.05)
                    time.sleep(1)              # what the client prints of the call is written by then
                    p.send_signal(kill)
                code = p.wait(STEP_TIMEOUT)
            except subprocess.TimeoutExpired:
                for s in (signal.SIGTERM, signal.SIGKILL):
                    with contextlib.suppress(ProcessLookupError):
                        os.killpg(p.pid, s)
                    time.sleep(1)
                p.wait()
                code = 124
            out.seek(at)
            self.out = out.read()
        return code if code >= 0 else 128 - code

    def feed(self, process, lines, out, start):
        for number, line in enumerate(lines):
            end = time.monotonic() + STEP_TIMEOUT
            while number and process.poll() is None and time.monotonic() < end:
                with open(out) as f:
                    f.seek(start)
                    if f.read().count('"type":"result"') >= number:
                        break
                time.sleep(0.1)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(line.encode() + b"\n")
                process.stdin.flush()
        if lines:
            process.stdin.close()

    def both(self, *runs):
        """Runs of the client at the same time: each the arguments of one.  -> the first exit code that is not 0"""
        with concurrent.futures.ThreadPoolExecutor(len(runs)) as pool:
            return next((code for code in pool.map(lambda args: self.run(*args), runs) if code), 0)

    def screen(self, *args):
        return Screen(self, args)


def sleepers():
    """Returns the processes that sleep: in the namespace of a run these are its tools, or what a killed client left."""
    found = set()
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        with contextlib.suppress(OSError), open(path, "rb") as f:
            if os.path.basename(f.read().split(b"\0")[0]) == b"sleep":
                found.add(path)
    return found


class ScreenError(Exception):
    pass


class Screen:
    """The client in a tmux of its own.  Leaving the `with` block ends it; `code` is then the client's exit code."""

    def __init__(self, runner, args):
        self.name, self.log = runner.name, "%s/%s" % (LOGS, runner.name)
        self.env, self.api, self.code = runner.env, runner.api, 124
        self.argv = [runner.program] + list(args)

    def tmux(self, *args):
        return subprocess.run(["tmux", "-L", self.name, "-f", "/dev/null"] + list(args), env=self.env, cwd=PROJECT,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def __enter__(self):
        self.tmux("new-session", "-d", "-s", "t", "-x", "150", "-y", "50", "bash", "-c",
                  '"$0" "$@"; echo $? > %s.code' % self.log, *self.argv)
        return self

    def text(self):
        return self.tmux("capture-pane", "-p", "-t", "t").stdout

    def shows(self, pattern, timeout):
        """Whether the screen matches in that time; such a screen goes to logs/NAME.screens."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            text = self.text()
            if re.search(pattern, text):
                with open(self.log + ".screens", "a") as f:
                    f.write(text + "\n\f\n")
                return True
            time.sleep(0.1)
        return False

    def wait(self, pattern, timeout=SCREEN_TIMEOUT):
        """Wait until the screen matches."""
        if not self.shows(pattern, timeout):
            with open(self.log + ".screen", "w") as f:
                f.write(self.text())
            raise ScreenError("screen never showed %r, see logs/%s.screen" % (pattern, os.path.basename(self.log)))

    def settle(self, still=2, timeout=SCREEN_TIMEOUT):
        """Wait until the screen has not changed for some seconds; it goes to logs/NAME.screens."""
        end, since, last = time.monotonic() + timeout, time.monotonic(), None
        while time.monotonic() < end and time.monotonic() - since < still:
            text = self.text()
            if text != last:
                since, last = time.monotonic(), text
            time.sleep(0.1)
        self.shows("", 1)

    def key(self, *keys):
        for k in keys:
            self.tmux("send-keys", "-t", "t", k)
            time.sleep(0.3)

    def answer(self, key, dialog):
        """Press the key until the dialog goes: a fresh dialog may ignore keys for a moment."""
        self.wait(dialog)
        for _ in range(10):
            time.sleep(0.5)
            self.key(key)
            for _ in range(7):
                if not re.search(dialog, self.text()):
                    return
                time.sleep(0.1)
        self.wait("(?!)", 0.2)

    def choose(self, label, dialog, confirm=None):
        """Press the number of an answer (which one it is depends on the question), and a key that confirms it."""
        self.wait(dialog)
        self.shows(r"\d\. %s" % label, 5)      # a dialog is drawn in steps
        number = re.search(r"(\d)\. %s" % label, self.text())
        key = number.group(1) if number else "Escape"
        for _ in range(10 if confirm else 0):  # a fresh dialog may ignore keys for a moment
            self.key(key)
            if self.shows(r"[›❯] *%s\. %s" % (key, label), 1):
                break
        self.answer(confirm or key, dialog)

    def played(self, script, timeout=SCREEN_TIMEOUT):
        """Wait until the model began to answer: the screen may not show it yet."""
        end = time.monotonic() + timeout
        while script not in self.api.played:
            if time.monotonic() > end:
                raise ScreenError("the client never asked for script %s" % script)
            time.sleep(0.1)
        time.sleep(1)

    def say(self, text):
        """Type, and press Enter once it is there to read: an Enter on the heels of text counts as a pasted line break."""
        self.tmux("send-keys", "-t", "t", "-l", text)
        self.shows(re.escape(text), 10)
        time.sleep(0.5)
        self.key("Enter")

    def ended(self, timeout=SCREEN_TIMEOUT):
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            if os.path.exists(self.log + ".code") and os.path.getsize(self.log + ".code"):
                with open(self.log + ".code") as f:
                    self.code = int(f.read())
                return
            time.sleep(0.1)
        raise ScreenError("the client did not leave")

    def __exit__(self, *exc):
        self.tmux("kill-server")


def run_all(client, spec):
    binary = spec["binary"]
    env = {"PATH": ":".join([os.path.dirname(binary), "/usr/local/bin", "/usr/bin", "/bin"] + spec["bin_dirs"]),
           "HOME": HOME, "USER": "dev", "LOGNAME": "dev", "SHELL": "/bin/bash", "LANG": "C.UTF-8", "TERM": "xterm-256color"}
    env.update(client.environment)
    env.update(e.split("=", 1) for e in spec["env"])
    no_names()
    api = client.api()
    serve(api)
    if spec["shell"]:
        return subprocess.run(["bash", "--norc", "-c", spec["shell"]], env=env, cwd=PROJECT).returncode & 0xFF
    bad, results = extra("before", spec, env), {}
    for name in spec["names"]:
        s, start = client.scenarios[name], time.monotonic()
        api.scenario = name
        runner = Runner(name, dict(env, **{SCENARIO: name}), os.path.basename(binary), api)
        try:
            code = s.action(runner)
        except ScreenError as e:
            code = 124
            print("  %s" % e, flush=True)
        note = "" if code == s.expect else "   <- expected %d, see logs/%s.*" % (s.expect, name)
        missing = api.unfinished()
        if missing:
            note += "   <- script not played to its end: " + ", ".join(missing)
        bad += bool(note)
        results[name] = {"exit": code, "expect": s.expect, "unfinished": missing, "seconds": round(time.monotonic() - start, 1)}
        print("scenario %s: exit %d, %.1f s%s" % (name, code, time.monotonic() - start, note), flush=True)
    bad += extra("after", spec, env)
    time.sleep(0.2)                            # let the last log lines be written
    with open(LOGS + "/results.json", "w") as f:
        json.dump(results, f, indent=1)
    return 1 if bad else 0


def extra(which, spec, env):
    """Run the caller's --before or --after; its output goes to logs/."""
    if not spec[which]:
        return 0
    with open("%s/%s.out" % (LOGS, which), "w") as log:
        code = subprocess.run(["bash", "-c", spec[which]], env=env, cwd=HOME, stdin=subprocess.DEVNULL, stdout=log, stderr=log).returncode
    print("%s: exit %d" % (which, code), flush=True)
    return int(code != 0)
