"""A release server and an npm registry on loopback, and an older release to upgrade from."""
import base64, contextlib, hashlib, http.server, json, os, pathlib, stat, subprocess, tarfile, threading

ROOT = pathlib.Path(__file__).resolve().parents[3]
OLDER = "0.0.1"
NEWER = "99.0.0"
# Another release is one by its version alone: what upgrades a package looks at nothing else.
PROGRAM = """#!/bin/sh
case $1 in
  --version) echo "%s @VERSION@" ;;
  manual) echo '.TH agent-tracer 1' >"$2/agent-tracer.1" ;;
  completions) echo '#' ;;
  *) exit 0 ;;
esac
"""
PACKAGES = ("tarball", "debian", "rpm", "npm", "wheel")


def stub(folder, targets, version=OLDER, packages=PACKAGES):
    """Makes the packages of another release of TARGETS in FOLDER/release."""
    for target in targets:
        for profile, name in (("dist", "agent-tracer"), ("hook", "agent-tracer-hook")):
            program = folder / "build" / target / profile / name
            program.parent.mkdir(parents=True)
            program.write_text(PROGRAM.replace("@VERSION@", version) % name)
            program.chmod(0o755)
    subprocess.run(
        [ROOT / "packaging/assemble", "--build", folder / "build", "--release", folder / "release", "--version", version,
         "--targets", *targets, "--packages", *packages],
        check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, SOURCE_DATE_EPOCH="1700000000"),
    )
    return folder / "release"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"

    def log_message(self, *_):
        pass

    def do_GET(self):
        found = self.server.find(self.path)
        if found is None:
            self.send_error(404)
            return
        content, sent = found
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[:sent])


@contextlib.contextmanager
def serving(find):
    """Serves what FIND returns for a path: the content and how much of it is sent, or None."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.find = find
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextlib.contextmanager
def download(latest, versions, share=lambda name: 1.0):
    """Serves releases: LATEST is a folder, VERSIONS a folder for each version. SHARE says how much of a file is sent."""
    def find(path):
        parts = path.strip("/").split("/")
        folder = latest if parts[:2] == ["latest", "download"] else versions.get(parts[1].removeprefix("v")) if len(parts) == 3 else None
        file = folder and folder / parts[-1]
        if not file or not file.is_file():
            return None
        content = file.read_bytes()
        return content, int(len(content) * share(parts[-1]))

    with serving(find) as address:
        yield address


@contextlib.contextmanager
def registry(*folders):
    """Serves the npm packages of FOLDERS, older ones first, as npm's registry does."""
    packages, archives = {}, {}
    for folder in folders:
        for file in sorted(folder.glob("*-npm-*.tgz")):
            with tarfile.open(file) as archive:
                manifest = json.load(archive.extractfile("package/package.json"))
                modes = {entry.name: stat.S_IMODE(entry.mode) for entry in archive}
            assert all(mode == 0o755 for name, mode in modes.items() if name.startswith("package/bin/agent-tracer")), modes
            content = file.read_bytes()
            archives[f"/{file.name}"] = content
            integrity = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
            packages.setdefault(manifest["name"], []).append((manifest, file.name, integrity))

    def find(path):
        if path in archives:
            content = archives[path]
        elif path.strip("/") in packages:
            listed = packages[path.strip("/")]
            versions = {
                manifest["version"]: {**manifest, "dist": {"tarball": f"{address[0]}/{name}", "integrity": integrity}}
                for manifest, name, integrity in listed
            }
            content = json.dumps({
                "name": path.strip("/"), "dist-tags": {"latest": listed[-1][0]["version"]}, "versions": versions,
            }).encode()
        else:
            return None
        return content, len(content)

    address = []
    with serving(find) as link:
        address.append(link)
        yield link
