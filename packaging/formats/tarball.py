"""`agent-tracer-VERSION-TARGET.tar.gz`: one folder of the same name, the programs at its top."""
from .release import PROGRAMS, ROOT


def make(release):
    for target in release.targets:
        top = release.name(target)
        files = [(f"{top}/{name}", release.program(target, name).read_bytes(), 0o755) for name in PROGRAMS]
        files += [(f"{top}/{name}", content, 0o644) for name, content in release.documents().items()]
        files += [(f"{top}/man/{name}", content, 0o644) for name, content in release.manual().items()]
        files += [(f"{top}/completions/{name}", content, 0o644) for name, content in release.completions().items()]
        if target.npm_os == "linux":
            unit = (ROOT / "packaging/systemd/agent-tracer.service").read_bytes()
            files.append((f"{top}/systemd/agent-tracer.service", unit, 0o644))
        release.tar(f"{top}.tar.gz", files)
