"""The programs for arm64 on a machine that is none: qemu runs them one by one."""
import json, pathlib, shutil, subprocess, tarfile

from releases import ROOT
from world import PAYLOAD, World, expect

EMULATOR = "qemu-aarch64-static"


def record(world, program):
    words = [EMULATOR, str(program), "claude"]
    expect(world.run(*words, input=json.dumps(PAYLOAD)) == "", "the hook printed something")
    expect(world.envelopes() == 1, "the hook recorded nothing")


def hook(program):
    with World() as world:
        expect(world.run(EMULATOR, program, "--version").startswith("agent-tracer-hook "), "no version")
        record(world, program)


def everything(folder, native):
    """The hook records, history is imported, `usage` says what the native program says, and the server answers."""
    target = "aarch64-unknown-linux-musl"
    with World(runner=[EMULATOR]) as world:
        prefix = world.folder / "prefix"
        for triple in (target, native.target):
            source = folder if triple == target else native.folder
            with tarfile.open(source / f"agent-tracer-{native.version}-{triple}.tar.gz") as archive:
                archive.extractall(prefix)
        emulated, ours = (prefix / f"agent-tracer-{native.version}-{triple}" for triple in (target, native.target))
        world.on_path(emulated)
        world.version(native.version)
        record(world, emulated / "agent-tracer-hook")
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
