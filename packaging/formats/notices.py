"""The terms of what is linked into the programs and built into the dashboard, in one text.

Taken from the sources that cargo and npm have unpacked, so that it cannot differ from what was built. Equal texts stand
once, under the names of all that have them.
"""
import json, os, pathlib, re, shutil, subprocess

from .release import ROOT, Missing

ROOTS = ("agent-tracer-cli", "agent-tracer-hook")
IMPORTED = ("svelte", "uplot")
TERMS = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright)", re.I)
INTRODUCTION = """\
Agent Tracer contains the following works of others, under their terms. A work that
lets you choose between licences is used under any of them.
"""


def text(triples):
    works = crates(triples) | modules()
    by_terms = {}
    for (name, version), (licence, address, folder) in works.items():
        for terms in read(folder) or [f"{licence}: see {address or 'its registry'}"]:
            # Copies of one text differ in where its lines end.
            by_terms.setdefault(" ".join(terms.split()), (terms, set()))[1].add(f"{name} {version} ({licence})")
    parts = [INTRODUCTION]
    for terms, names in sorted(by_terms.values(), key=lambda entry: (sorted(entry[1]), entry[0])):
        parts.append("\n".join(["=" * 80, *sorted(names), "=" * 80, "", terms]))
    return "\n\n".join(parts).encode() + b"\n"


def crates(triples):
    """Returns the crates in the programs, without those that only build or test them."""
    cargo = shutil.which(os.environ.get("CARGO", "cargo"))
    if not cargo:
        raise Missing("the notices need cargo", "install Rust")
    works = {}
    for triple in triples:
        words = [cargo, "metadata", "--format-version", "1", "--locked", "--filter-platform", triple]
        answer = subprocess.run(words, cwd=ROOT, check=True, stdout=subprocess.PIPE)
        graph = json.loads(answer.stdout)
        packages = {package["id"]: package for package in graph["packages"]}
        links = {node["id"]: node["deps"] for node in graph["resolve"]["nodes"]}
        waiting = [package["id"] for package in graph["packages"] if package["name"] in ROOTS]
        seen = set()
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            linked = (link for link in links[one] if any(kind["kind"] is None for kind in link["dep_kinds"]))
            waiting.extend(link["pkg"] for link in linked)
        for package in (packages[one] for one in seen):
            if package["source"]:
                folder = pathlib.Path(package["manifest_path"]).parent
                works[package["name"], package["version"]] = (package["license"], package["repository"], folder)
    return works


def modules():
    """Returns the packages of npm whose code is in the dashboard: it imports them, or is compiled against their runtime."""
    lock = json.loads((ROOT / "web/package-lock.json").read_text())["packages"]
    works = {}
    for name in IMPORTED:
        entry, folder = lock[f"node_modules/{name}"], ROOT / "web/node_modules" / name
        if not folder.is_dir():
            raise Missing(f"the notices need `{folder.relative_to(ROOT)}`", "run `npm ci` in `web`")
        works[name, entry["version"]] = (entry["license"], "", folder)
    return works


def read(folder):
    """Returns the terms in a package's folder, in the order of their names."""
    if not folder.is_dir():
        return []
    files = sorted(path for path in folder.iterdir() if path.is_file() and TERMS.match(path.name) and path.suffix not in (".rs", ".js"))
    return [path.read_text(errors="replace").strip() for path in files]
