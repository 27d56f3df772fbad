"""`agent-tracer-VERSION-source.tar.gz`: the source with the dashboard built, so that `cargo install` needs no Node.

Its manifests name the address of the release, where that is known, so that `cargo binstall` finds the tarballs. The clone
names none: it cannot know where it is published.
"""
import os, subprocess

from .release import ROOT, Missing

MANIFESTS = ("crates/cli/Cargo.toml", "crates/hook/Cargo.toml")
# Where `cargo binstall` looks as long as no address is known: below the `repository` of the manifest.
REPOSITORY = b"{ repo }/releases"


def make(release):
    if not (ROOT / ".git").exists():
        raise Missing("this is no repository, so the files of the source are not known", "build from a clone")
    if not (ROOT / "web/dist/index.html").exists():
        raise Missing("the dashboard is not built", "run `make web/dist/index.html`")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout
    names = {name for name in listed.decode().split("\0") if name}
    names |= {str(path.relative_to(ROOT)) for path in (ROOT / "web/dist").rglob("*") if path.is_file()}
    top = f"agent-tracer-{release.version}"
    files = []
    for name in sorted(names):
        path = ROOT / name
        if path.is_file() and not path.is_symlink():
            content = path.read_bytes()
            if release.url and name in MANIFESTS:
                content = content.replace(REPOSITORY, release.url.encode())
            files.append((f"{top}/{name}", content, 0o755 if os.access(path, os.X_OK) else 0o644))
    release.tar(f"{top}-source.tar.gz", files)
