"""A home and a prefix of its own for each way to install, and what every installed copy has to do.

Nothing here knows another address than 127.0.0.1, and everything that is started is ended by its id."""
import contextlib, json, os, pathlib, re, shutil, signal, subprocess, tempfile, time, urllib.request

PATIENCE = 120
PAYLOAD = {
    "session_id": "0f1e2d3c-0000-4000-8000-000000000000", "transcript_path": "", "cwd": "/",
    "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "cargo test"}, "tool_use_id": "toolu_1",
}
# What may be on no path of these tests: the packages have to do without.
BUILDERS = re.compile(r"^(cargo|rustc|rustup|node|npm|npx|corepack|zig|agent-tracer)(-|$)")
SETTINGS = '{\n  "permissions": {"deny": ["Read(./.env)"]}\n}\n'


class Failed(Exception):
    pass


def expect(holds, text):
    if not holds:
        raise Failed(text)


def tools(folder, extra=()):
    """Makes FOLDER a path with every program of this machine but those that build ours, and with EXTRA."""
    folder.mkdir()
    for place in ("/usr/local/sbin", "/usr/sbin", "/sbin", "/usr/bin", "/bin"):
        for program in pathlib.Path(place).iterdir() if os.path.isdir(place) else ():
            link = folder / program.name
            if not BUILDERS.match(program.name) and not link.is_symlink():
                link.symlink_to(program)
    for name in extra:
        found = shutil.which(name)
        expect(found, f"`{name}` is not here")
        (folder / name).symlink_to(found)
    return folder


class World:
    """One throw-away machine, as far as a folder can be one."""

    # Tells programs that are given away, which name their source, from those of `make build`, which do not.
    has_commit = False

    def __init__(self, programs=(), runner=()):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="agent-tracer-install-"))
        self.home = self.folder / "home"
        self.data = self.folder / "data"
        self.runner = list(runner)
        for path in (self.home / ".claude", self.folder / "tmp"):
            path.mkdir(parents=True)
        (self.home / ".claude/settings.json").write_text(SETTINGS)
        self.path = [str(tools(self.folder / "tools", programs))]
        self.env = {
            "HOME": str(self.home), "TMPDIR": str(self.folder / "tmp"), "AGENT_TRACER_HOME": str(self.data), "LANG": "C.UTF-8",
            "NO_COLOR": "1", "PATH": self.path[0],
        }

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)

    def on_path(self, folder):
        """Puts a folder in front of the path, as the way's own instructions say."""
        self.path.insert(0, str(folder))
        self.env["PATH"] = ":".join(self.path)

    def run(self, *words, code=0, patience=PATIENCE * 2, **options):
        words = [str(word) for word in words]
        options.setdefault("env", self.env)
        ended = subprocess.run(
            words, cwd=self.home, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=patience,
            stdin=None if "input" in options else subprocess.DEVNULL, **options,
        )
        expect(ended.returncode == code, f"{' '.join(words)}: ended with {ended.returncode}\n{ended.stdout}{ended.stderr}")
        return ended.stdout + ended.stderr

    def files(self):
        """Returns every file of the home and of the prefix, but for what package managers keep for themselves."""
        names = set()
        for top in ("home", "prefix"):
            for path in (self.folder / top).rglob("*"):
                if path.is_file() or path.is_symlink():
                    names.add(str(path.relative_to(self.folder)))
        return names

    def program(self, name="agent-tracer"):
        found = shutil.which(name, path=self.env["PATH"])
        expect(found, f"`{name}` is on no folder of {':'.join(self.path[:-1])}")
        return [*self.runner, found]

    def version(self, expected, is_stub=True):
        """Holds what both programs say of themselves to the version, and the main one to its build: `(COMMIT DATE)`."""
        for name in ("agent-tracer", "agent-tracer-hook"):
            said = self.run(*self.program(name), "--version")
            expect(said.split()[:2] == [name, expected], f"`{name} --version` is {said!r}, not {expected}")
        if not is_stub:
            build = r" \([0-9a-f]{12}(-dirty)? 20\d\d-[01]\d-[0-3]\d\)" if self.has_commit else ""
            said = self.run(*self.program(), "--version")
            expect(re.fullmatch(rf"agent-tracer {re.escape(expected)}{build}\n", said), f"`--version` is {said!r}")

    def exercise(self, version, way, command=None, known=()):
        """Does what a new user does: the version, the demo, a connection, an event, the checks, which may find KNOWN."""
        self.version(version, is_stub=False)
        if way:
            said = self.run(*self.program(), "upgrade")
            expect(said.startswith(f"agent-tracer {version}, by {way}, in "), f"`upgrade` says {said!r}")
            expect(not command or f"\nupgrade: {command}\n" in said, f"`upgrade` says {said!r}, not `{command}`")
        said = self.run(*self.program(), "service", "install", "--dry-run")
        expect("agent-tracer serve --listen 127.0.0.1:4747" in said and "nothing was written" in said, said)
        self.demo()
        self.run(*self.program(), "install", "claude", "--no-verify")
        settings = json.loads((self.home / ".claude/settings.json").read_text())
        expect(settings["permissions"]["deny"] == ["Read(./.env)"], "`install` changed the user's rule")
        self.record(settings)
        report = json.loads(self.doctor())
        bad = [check for check in report["checks"] if check["group"] == "program" and check["state"] != "ok"
               and check["name"] not in known]
        expect(not bad, f"`doctor` finds: {bad}")

    def doctor(self):
        ended = subprocess.run([*self.program(), "doctor", "--json"], env=self.env, cwd=self.home, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=PATIENCE)
        return ended.stdout

    def record(self, settings):
        """Has the command that is in the settings record one event, as Claude Code calls it."""
        hook = settings["hooks"]["PreToolUse"][0]["hooks"][0]
        words = [*self.runner, hook["command"], *hook["args"]] if "args" in hook else ["sh", "-c", hook["command"]]
        before = self.envelopes()
        said = self.run(*words, input=json.dumps(PAYLOAD))
        expect(said == "", f"the hook printed {said!r}")
        expect(self.envelopes() == before + 1, f"{words} recorded nothing")

    def envelopes(self):
        return len(list(self.data.glob("spool/new/*")))

    @contextlib.contextmanager
    def started(self, *words, signal_at_end=signal.SIGINT):
        """Runs a server and gives the first address that it prints; ends it with a signal, and with 0."""
        child = subprocess.Popen([*self.program(), *words], env=self.env, cwd=self.home, text=True,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said = ""
        try:
            while "http://" not in said:
                line = child.stdout.readline()
                expect(line, f"{words} ended before it listened:\n{said}")
                said += line
            yield child, re.search(r"http://[^/\s]+", said).group()
            child.send_signal(signal_at_end)
            rest, _ = child.communicate(timeout=PATIENCE)
            expect(child.returncode == 0, f"{words} ended with {child.returncode}:\n{said}{rest}")
        finally:
            if child.poll() is None:
                child.kill()
                child.communicate()

    def up(self):
        """Starts the server by `up`; a second one gets a link of the first and ends."""
        with self.started("up", "--listen", "127.0.0.1:0") as (_, address):
            said = self.run(*self.program(), "up")
            expect("runs already" in said and f"{address}/login?code=" in said, said)
            self.ask_until(f"{address}/api/v1/health", lambda answer: answer["status"] == "ok")

    def demo(self):
        with self.started("demo", "--once", "--speed", "10000", "--days", "0") as (_, address):
            self.ask_until(f"{address}/api/v1/tasks", lambda answer: len(answer["items"]) >= 3)
        left = [path.name for path in (self.folder / "tmp").iterdir()]
        expect(not left, f"the demo left {left} behind")

    def ask_until(self, link, holds):
        end = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(OSError):
                with urllib.request.urlopen(link, timeout=PATIENCE) as answer:
                    answer = json.load(answer)
                if holds(answer):
                    return answer
            expect(time.monotonic() < end, f"{link} never became as expected")
            time.sleep(0.1)

    def disconnect(self):
        self.run(*self.program(), "uninstall", "claude")
        expect((self.home / ".claude/settings.json").read_text() == SETTINGS, "`uninstall` left the settings changed")
