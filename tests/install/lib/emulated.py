"""The programs for arm64 on a machine that is none: qemu runs them one by one."""
import json, re, shutil, tarfile

from releases import ROOT
from world import PAYLOAD, World, expect

EMULATOR = "qemu-aarch64-static"
# What two calls of one hook write differently: the moment, the process, and the sum of the file that holds both.
OWN_LINES = re.compile(rb"^(arrived|hook-pid|xxh64): .*\n", re.M)


def record(world, *words):
    """Has a hook record one event; returns the envelope without what only this call has."""
    expect(world.run(*words, "claude", input=json.dumps(PAYLOAD)) == "", "the hook printed something")
    expect(world.envelopes() == 1, "the hook recorded nothing")
    envelope, = world.data.glob("spool/new/*")
    return OWN_LINES.sub(b"", envelope.read_bytes())


def hook(program, native):
    """The hook for arm64 writes the file that the hook for this machine writes."""
    with World() as world, World() as other:
        expect(world.run(EMULATOR, program, "--version").startswith("agent-tracer-hook "), "no version")
        ours = unpacked(other, native.folder, native.version, native.target) / "agent-tracer-hook"
        # The working folder is in the envelope.
        other.home = world.home
        emulated, expected = record(world, EMULATOR, program), record(other, ours)
        expect(emulated == expected, f"the envelopes differ:\n{emulated}\n{expected}")


def unpacked(world, folder, version, target):
    """Unpacks a tarball into a folder of the world's own, and returns that."""
    with tarfile.open(folder / f"agent-tracer-{version}-{target}.tar.gz") as archive:
        archive.extractall(world.folder / "prefix")
    return world.folder / f"prefix/agent-tracer-{version}-{target}"


def everything(folder, native):
    """The hook records, history is imported, `usage` says what the native program says, and the server knows the tasks."""
    with World(runner=[EMULATOR]) as world:
        emulated = unpacked(world, folder, native.version, "aarch64-unknown-linux-musl")
        ours = unpacked(world, native.folder, native.version, native.target)
        world.on_path(emulated)
        world.version(native.version)
        record(world, EMULATOR, emulated / "agent-tracer-hook")
        history = world.home / ".claude/projects/-home-dev-project"
        history.mkdir(parents=True)
        for transcript in sorted((ROOT / "fixtures/claude-code").glob("*/*/*.jsonl")):
            if transcript.name != "hooks.jsonl":
                shutil.copy(transcript, history)
        world.run(*world.program(), "import", "--json")
        said = world.run(*world.program(), "usage", "daily")
        other = dict(world.env, AGENT_TRACER_HOME=str(world.folder / "native"))
        for words in (["import", "--json"], ["usage", "daily"]):
            expected = world.run(ours / "agent-tracer", *words, env=other)
        expect(said == expected, f"`usage daily` differs:\n{said}\n{expected}")
        with world.started("serve", "--listen", "127.0.0.1:0") as (_, address):
            world.ask_until(f"{address}/api/v1/health", lambda answer: answer["status"] == "ok")
            # A question that reads the store: the health page alone says only that something listens.
            answer = world.ask_until(f"{address}/api/v1/tasks", lambda answer: answer["items"])
        world.runner = []
        world.path.insert(0, str(ours))
        world.env.update(other, PATH=":".join(world.path))
        with world.started("serve", "--listen", "127.0.0.1:0") as (_, address):
            expected = world.ask_until(f"{address}/api/v1/tasks", lambda answer: answer["items"])
        named = [sorted(task["id"] for task in tasks["items"]) for tasks in (answer, expected)]
        expect(named[0] == named[1], f"the tasks differ:\n{named[0]}\n{named[1]}")
