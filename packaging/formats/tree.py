"""The files of a Linux package, where the distributions want them."""
import gzip

from .release import PROGRAMS, ROOT


def files(release, target):
    """Returns path, content and mode of each file below `/usr`."""
    tree = [(f"bin/{name}", release.program(target, name).read_bytes(), 0o755) for name in PROGRAMS]
    unit = (ROOT / "packaging/systemd/agent-tracer.service").read_bytes()
    tree.append(("lib/systemd/user/agent-tracer.service", unit, 0o644))
    for name, content in release.manual().items():
        tree.append((f"share/man/man1/{name}.gz", gzip.compress(content, 9, mtime=release.epoch), 0o644))
    for name, content in release.completions().items():
        place = {
            "agent-tracer.bash": "share/bash-completion/completions/agent-tracer",
            "_agent-tracer": "share/zsh/vendor-completions/_agent-tracer",
            "agent-tracer.fish": "share/fish/vendor_completions.d/agent-tracer.fish",
        }[name]
        tree.append((place, content, 0o644))
    for name, content in release.documents().items():
        tree.append((f"share/doc/agent-tracer/{name}", content, 0o644))
    return tree


def lay_out(folder, tree):
    """Writes the files below FOLDER, with the modes that they are to have."""
    for path, content, mode in tree:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
        file.chmod(mode)
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir():
            path.chmod(0o755)
