"""Packages for npm: one for each platform with both programs, and `agent-tracer`, which chooses among them.

Nothing runs at installation: npm skips the optional dependencies of other systems by their `os` and `cpu`.
"""
import json

from .release import PROGRAMS, ROOT, SUMMARY, LICENSE


def make(release):
    shared = {"version": release.version, "description": SUMMARY, "license": LICENSE}
    for target in release.targets:
        manifest = {
            "name": target.npm,
            **shared,
            "os": [target.npm_os],
            "cpu": [target.npm_cpu],
            "files": ["bin"],
            "preferUnplugged": True,
        }
        files = [(f"package/bin/{name}", release.program(target, name).read_bytes(), 0o755) for name in PROGRAMS]
        pack(release, manifest, files)
    source = ROOT / "packaging/npm"
    manifest = {
        **json.loads((source / "package.json").read_text()),
        **shared,
        "optionalDependencies": {target.npm: release.version for target in release.targets},
    }
    launchers = [(f"package/bin/{path.name}", path.read_bytes(), 0o755) for path in (source / "bin").iterdir()]
    pack(release, manifest, launchers + [("package/README.md", (source / "README.md").read_bytes(), 0o644)])


def pack(release, manifest, files):
    documents = release.documents()
    terms = [(f"package/{name}", documents[name], 0o644) for name in documents if name.startswith(("LICENSE", "THIRD"))]
    text = json.dumps(manifest, indent=2) + "\n"
    name = f"{manifest['name']}-npm-{release.version}.tgz"
    release.tar(name, files + terms + [("package/package.json", text.encode(), 0o644)])
