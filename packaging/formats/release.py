"""What every format needs: the version, the time, the targets, and the files of each target."""
import contextlib, dataclasses, gzip, io, os, pathlib, re, shutil, subprocess, tarfile, tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAMS = ("agent-tracer", "agent-tracer-hook")
SUMMARY = "Records what your coding agents do, on your own machine"
DESCRIPTION = """\
A local, live trace of Claude Code and Codex: sessions, subagents, tool calls,
tokens and cost, in the browser and in the terminal. Nothing leaves the machine."""
LICENSE = "MIT OR Apache-2.0"
COMPLETIONS = {"bash": "agent-tracer.bash", "zsh": "_agent-tracer", "fish": "agent-tracer.fish"}


class Missing(Exception):
    """A package that cannot be made here, and the way to make it."""

    def __init__(self, message, hint):
        super().__init__(message)
        self.hint = hint


@dataclasses.dataclass(frozen=True)
class Target:
    """A system and an architecture, in the words of each kind of package."""

    triple: str
    npm_os: str
    npm_cpu: str
    debian: str
    rpm: str
    wheel: str

    @property
    def npm(self):
        return f"agent-tracer-{self.npm_os}-{self.npm_cpu}"


# The programs are static, so the oldest tag of both C libraries holds.
TARGETS = {
    target.triple: target
    for target in (
        Target("x86_64-unknown-linux-musl", "linux", "x64", "amd64", "x86_64",
               "manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64"),
        Target("aarch64-unknown-linux-musl", "linux", "arm64", "arm64", "aarch64",
               "manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64"),
        Target("x86_64-apple-darwin", "darwin", "x64", "", "", "macosx_10_12_x86_64"),
        Target("aarch64-apple-darwin", "darwin", "arm64", "", "", "macosx_11_0_arm64"),
    )
}


def version():
    text = (ROOT / "Cargo.toml").read_text()
    return re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', text, re.M).group(1)


class Release:
    """A release: where its programs are, and where its packages go."""

    def __init__(self, build, programs, folder, triples, url, number=None):
        self.version = number or version()
        self.epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
        self.build = build and pathlib.Path(build)
        self.programs = programs and pathlib.Path(programs).resolve()
        self.folder = pathlib.Path(folder)
        self.targets = [TARGETS[triple] for triple in triples]
        # The address below which `latest/download/FILE` and `download/vVERSION/FILE` are.
        self.url = url.rstrip("/")
        self.shared = {}
        # The terms of what is in the programs.
        self.notices = b""

    def program(self, target, name):
        if self.programs:
            return self.programs / name
        profile = "hook" if name == "agent-tracer-hook" else "dist"
        return self.build / target.triple / profile / name

    def name(self, target):
        return f"agent-tracer-{self.version}-{target.triple}"

    def documents(self):
        """Returns the files that every package carries, by name."""
        names = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"]
        return {name: (ROOT / name).read_bytes() for name in names} | {"THIRD-PARTY-NOTICES": self.notices}

    def prepare(self):
        """Has a program that runs on this machine write the manual and the completions: they are the same for all."""
        runner = self._runner()
        with tempfile.TemporaryDirectory() as folder:
            self._run(runner, "manual", folder)
            pages = {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}
        shells = {shell: self._run(runner, "completions", shell) for shell in COMPLETIONS}
        self.shared = {"manual": pages, "completions": shells}

    def _run(self, runner, *words):
        return subprocess.run([*runner, *words], check=True, stdout=subprocess.PIPE).stdout

    def _runner(self):
        for target in self.targets:
            program = str(self.program(target, "agent-tracer"))
            emulator = shutil.which(f"qemu-{target.rpm}-static") if target.rpm else None
            for words in ([program], [emulator, program]):
                if None in words:
                    continue
                with contextlib.suppress(OSError, subprocess.CalledProcessError):
                    said = subprocess.run([*words, "--version"], check=True, capture_output=True, text=True).stdout
                    if said.split()[1] != self.version:
                        raise Missing(f"`{program}` is version {said.split()[1]}, not {self.version}", "build it again")
                    return words
        raise Missing(
            "no program of these targets runs here, so the manual cannot be written",
            "build this machine's own target as well, or install an emulator (Debian: `apt-get install qemu-user-static`)",
        )

    def manual(self):
        return self.shared["manual"]

    def completions(self):
        return {COMPLETIONS[shell]: text for shell, text in self.shared["completions"].items()}

    def write(self, name, content):
        """Writes a file of the release. A reader sees the old one or the new one, never half of it."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_name(path.name + ".new")
        fresh.write_bytes(content)
        fresh.rename(path)
        return path

    def tar(self, name, files):
        """Writes a compressed archive of FILES, a list of path, content and mode: the same bytes for the same files."""
        plain = io.BytesIO()
        with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
            for path, content, mode in sorted(files):
                entry = tarfile.TarInfo(path)
                entry.size, entry.mode, entry.mtime = len(content), mode, self.epoch
                entry.uname = entry.gname = "root"
                archive.addfile(entry, io.BytesIO(content))
        return self.write(name, gzip.compress(plain.getvalue(), 9, mtime=self.epoch))


def fill(text, values):
    """Returns a template with each `@NAME@` replaced."""
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    left = re.search(r"@[A-Z_0-9]+@", text)
    if left:
        raise ValueError(f"nothing to put in place of `{left.group()}`")
    return text
