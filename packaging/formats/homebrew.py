"""`agent-tracer.rb`, a formula with the address and the sum of each tarball. It goes into a tap."""
import hashlib

from .release import LICENSE, ROOT, SUMMARY, Missing, fill

SYSTEMS = {"darwin": "on_macos", "linux": "on_linux"}
PROCESSORS = {"arm64": "on_arm", "x64": "on_intel"}


def make(release):
    if not release.url:
        raise Missing("the address of the release is not known", "set `DIST_URL`")
    blocks = []
    for system, on_system in SYSTEMS.items():
        inner = []
        for target in sorted(release.targets, key=lambda it: it.npm_cpu):
            if target.npm_os != system:
                continue
            name = f"{release.name(target)}.tar.gz"
            digest = hashlib.sha256((release.folder / name).read_bytes()).hexdigest()
            inner.append(
                f"    {PROCESSORS[target.npm_cpu]} do\n"
                f'      url "{release.url}/download/v{release.version}/{name}"\n'
                f'      sha256 "{digest}"\n'
                "    end"
            )
        if inner:
            blocks.append(f"  {on_system} do\n" + "\n".join(inner) + "\n  end")
    home = release.url.removesuffix("/releases")
    text = fill((ROOT / "packaging/homebrew/agent-tracer.rb.in").read_text(), {
        "SUMMARY": SUMMARY,
        "HOME": home,
        "VERSION": release.version,
        "LICENSES": ", ".join(f'"{name}"' for name in LICENSE.split(" OR ")),
        "BLOCKS": "\n\n".join(blocks),
    })
    release.write("agent-tracer.rb", text.encode())
