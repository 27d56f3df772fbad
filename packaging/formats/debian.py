"""`agent-tracer_VERSION_ARCH.deb`, by Debian's own `dpkg-deb`."""
import gzip, os, pathlib, shutil, subprocess, tempfile

from . import tree
from .release import DESCRIPTION, LICENSE, ROOT, SUMMARY, Missing, fill


def make(release):
    if not shutil.which("dpkg-deb"):
        raise Missing("`dpkg-deb` is missing", "install it (Debian: `apt-get install dpkg`)")
    for target in release.targets:
        if not target.debian:
            continue
        # A tilde sorts before the release itself, as a version with a dash does elsewhere.
        version = release.version.replace("-", "~")
        files = tree.files(release, target)
        documents = release.documents()
        terms = "\n\n".join(documents[name].decode() for name in sorted(documents) if name.startswith("LICENSE-"))
        files.append(("share/doc/agent-tracer/copyright", f"License: {LICENSE}\n\n{terms}".encode(), 0o644))
        changes = gzip.compress(documents["CHANGELOG.md"], 9, mtime=release.epoch)
        files.append(("share/doc/agent-tracer/changelog.gz", changes, 0o644))
        size = sum(len(content) for _, content, _ in files)
        control = fill((ROOT / "packaging/debian/control.in").read_text(), {
            "VERSION": version,
            "ARCHITECTURE": target.debian,
            "SIZE": str(size // 1024 + 1),
            "SUMMARY": SUMMARY,
            "DESCRIPTION": DESCRIPTION.replace("\n", "\n "),
        })
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            tree.lay_out(folder / "usr", files)
            tree.lay_out(folder, [("DEBIAN/control", control.encode(), 0o644)])
            package = release.folder / f"agent-tracer_{version}_{target.debian}.deb"
            fresh = package.with_name(package.name + ".new")
            subprocess.run(
                ["dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(folder), str(fresh)],
                check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, SOURCE_DATE_EPOCH=str(release.epoch)),
            )
            fresh.rename(package)
