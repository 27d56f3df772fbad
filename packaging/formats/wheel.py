"""Wheels with both programs in `scripts`, so that `pip`, `pipx` and `uv` put them beside each other, as they are."""
import base64, hashlib, io, time, zipfile

from .release import LICENSE, PROGRAMS, SUMMARY, Missing, ROOT


def make(release):
    for target in release.targets:
        version = release.version.replace("-alpha.", "a").replace("-beta.", "b").replace("-rc.", "rc")
        if "-" in version:
            raise Missing(f"`{release.version}` is no version for Python", "use `-alpha.1`, `-beta.1` or `-rc.1`")
        info = f"agent_tracer-{version}.dist-info"
        scripts = f"agent_tracer-{version}.data/scripts"
        tags = [f"py3-none-{platform}" for platform in target.wheel.split(".")]
        documents = release.documents()
        terms = [name for name in documents if name.startswith(("LICENSE", "THIRD"))]
        metadata = [
            "Metadata-Version: 2.4", "Name: agent-tracer", f"Version: {version}", f"Summary: {SUMMARY}",
            f"License-Expression: {LICENSE}", *(f"License-File: {name}" for name in terms),
            "Requires-Python: >=3.8", "Description-Content-Type: text/markdown", "",
            (ROOT / "packaging/pypi.md").read_text(),
        ]
        wheel = ["Wheel-Version: 1.0", "Generator: agent-tracer", "Root-Is-Purelib: false", *(f"Tag: {tag}" for tag in tags), ""]
        files = [(f"{scripts}/{name}", release.program(target, name).read_bytes(), 0o755) for name in PROGRAMS]
        files += [(f"{info}/licenses/{name}", documents[name], 0o644) for name in terms]
        files += [(f"{info}/METADATA", "\n".join(metadata).encode(), 0o644), (f"{info}/WHEEL", "\n".join(wheel).encode(), 0o644)]
        record = "".join(f"{path},sha256={digest(content)},{len(content)}\n" for path, content, _ in files)
        files.append((f"{info}/RECORD", f"{record}{info}/RECORD,,\n".encode(), 0o644))
        release.write(f"agent_tracer-{version}-py3-none-{target.wheel}.whl", pack(release, files))


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def pack(release, files):
    # The format knows no time before 1980.
    moment = time.gmtime(max(release.epoch, 315_532_800))[:6]
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as wheel:
        for path, content, mode in files:
            entry = zipfile.ZipInfo(path, moment)
            entry.external_attr, entry.compress_type = (0o100000 | mode) << 16, zipfile.ZIP_DEFLATED
            wheel.writestr(entry, content)
    return archive.getvalue()
