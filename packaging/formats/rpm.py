"""`agent-tracer-VERSION-1.ARCH.rpm`, by `rpmbuild`."""
import os, pathlib, shutil, subprocess, tempfile

from . import tree
from .release import DESCRIPTION, LICENSE, ROOT, SUMMARY, Missing, fill


def make(release):
    if not shutil.which("rpmbuild"):
        raise Missing("`rpmbuild` is missing", "install it (Debian: `apt-get install rpm`)")
    for target in release.targets:
        if not target.rpm:
            continue
        version = release.version.replace("-", "~")
        files = [
            (path.replace("share/zsh/vendor-completions", "share/zsh/site-functions"), content, mode)
            for path, content, mode in tree.files(release, target)
        ]
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            tree.lay_out(folder / "tree/usr", files)
            spec = fill((ROOT / "packaging/rpm/agent-tracer.spec.in").read_text(), {
                "VERSION": version,
                "SUMMARY": SUMMARY,
                "LICENSE": LICENSE,
                "DESCRIPTION": DESCRIPTION,
                "TREE": str(folder / "tree"),
                "FILES": "\n".join(f"/usr/{path}" for path, _, _ in sorted(files)),
            })
            (folder / "agent-tracer.spec").write_text(spec)
            subprocess.run(
                ["rpmbuild", "-bb", "--quiet", "--target", f"{target.rpm}-linux", "--define", f"_topdir {folder}/top",
                 str(folder / "agent-tracer.spec")],
                check=True, stderr=subprocess.PIPE, env=dict(os.environ, SOURCE_DATE_EPOCH=str(release.epoch)),
            )
            for package in (folder / "top/RPMS").rglob("*.rpm"):
                release.write(package.name, package.read_bytes())
