"""The real server on loopback, with every captured session in it.

Transcripts and rollouts are where the clients would have put them and are imported; the hooks of the same
sessions are posted as http hooks. Nothing here knows another address than 127.0.0.1."""
import http.client, json, os, pathlib, re, shutil, subprocess, tempfile, threading, urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
FIXTURES = ROOT / "fixtures"
PATIENCE = 60


class World:
    def __init__(self, tracer):
        self.tracer = os.path.abspath(tracer)
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="agent-tracer-real-server-"))
        self.env = dict(
            os.environ,
            HOME=str(self.folder),
            AGENT_TRACER_HOME=str(self.folder / "tracer"),
            CLAUDE_CONFIG_DIR=str(self.folder / "claude"),
            CODEX_HOME=str(self.folder / "codex"),
        )
        self.server = None

    def __enter__(self):
        try:
            self._copy_claude()
            self._copy_codex()
            subprocess.run([self.tracer, "import", "--json"], env=self.env, check=True, capture_output=True)
            self._serve()
            self._post_hooks()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.server:
            self.server.terminate()
            self.server.wait(PATIENCE)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _copy_claude(self):
        project = self.folder / "claude/projects/-home-dev-project"
        for hooks in sorted(FIXTURES.glob("claude-code/*/*/hooks.jsonl")):
            shutil.copytree(
                hooks.parent, project, dirs_exist_ok=True, ignore=shutil.ignore_patterns("hooks.jsonl", "truth.json")
            )

    def _copy_codex(self):
        for rollout in sorted(FIXTURES.glob("codex/*/rollouts/*.jsonl")):
            with open(rollout) as lines:
                meta = json.loads(next(lines))["payload"]
            moment = re.sub(r"[:.]", "-", meta["timestamp"])[:19]
            folder = self.folder / "codex/sessions" / moment[:10].replace("-", "/")
            folder.mkdir(parents=True, exist_ok=True)
            shutil.copy(rollout, folder / f"rollout-{moment}-{meta['id']}.jsonl")

    def _serve(self):
        self.server = subprocess.Popen(
            [self.tracer, "serve", "--listen", "127.0.0.1:0"],
            env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )
        self.said = []
        for line in self.server.stderr:
            self.said.append(line)
            found = re.search(r"http://(127\.0\.0\.1:\d+)", line)
            if found:
                self.address = found.group(1)
                break
        else:
            raise SystemExit("the server did not start:\n" + "".join(self.said))
        # Its pipe must not fill up.
        threading.Thread(target=lambda: self.said.extend(self.server.stderr), daemon=True).start()
        self.token = (self.folder / "tracer/token").read_text().strip()

    def _post_hooks(self):
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE)
        headers = {"authorization": "Bearer " + self.token, "content-type": "application/json"}
        claude = [("claude", path) for path in sorted(FIXTURES.glob("claude-code/2.1.325/*/hooks.jsonl"))]
        codex = [("codex", path) for path in sorted(FIXTURES.glob("codex/*/hooks/*.hooks.jsonl"))]
        for agent, path in claude + codex:
            for line in path.read_text().splitlines():
                row = json.loads(line)
                if row.get("channel", "hook") != "hook":
                    continue
                connection.request("POST", "/hooks/" + agent, json.dumps(row["payload"]), headers)
                answer = connection.getresponse()
                text = answer.read()
                if answer.status != 200:
                    raise SystemExit(f"{path}: {answer.status} {text!r}")

    def get(self, path, **query):
        """An answer of our own API."""
        path = "/api/v1/" + path + "?" + urllib.parse.urlencode(query)
        return json.loads(fetch(self.address, path))

    def every(self, path, **query):
        """All items of one of its lists."""
        items, cursor = [], {}
        while True:
            page = self.get(path, limit=500, **query, **cursor)
            items += page["items"]
            if not page.get("nextCursor"):
                return items
            cursor = {"cursor": page["nextCursor"]}


class Refused(Exception):
    """An answer that is none."""


def fetch(address, path):
    connection = http.client.HTTPConnection(address, timeout=PATIENCE)
    connection.request("GET", path)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise Refused(f"{path}: {answer.status} {text[:500]!r}")
    return text
