"""The ways to get Agent Tracer. Each installs an older version, upgrades it, uses it, and removes it."""
import os, pathlib, pwd, re, shutil, signal, subprocess, sys, tarfile, time, tomllib, urllib.request

from releases import NEWER, OLDER, ROOT, download, registry, stub
from world import World, expect


def life(world, version, install, upgrade, remove, settled=(), way=None, command=None):
    """Runs the life of an installed copy, which knows its WAY and names the COMMAND that upgraded it. Nothing but
    recordings and SETTLED, what the way itself keeps, may stay."""
    before = world.files()
    install()
    world.version(OLDER)
    upgrade()
    world.exercise(version, way, command)
    world.disconnect()
    remove()
    left = {name for name in world.files() - before if not any(re.search(pattern, name) for pattern in settled)}
    expect(not left, f"left behind: {sorted(left)[:10]}")


def script(release, older, **_):
    """`install.sh` from a release server: upgrade under a running server, refusals, removal"""
    with World() as world, download(release.folder, {OLDER: older, release.version: release.folder}) as link:
        env = dict(world.env, AGENT_TRACER_RELEASES=link)
        copy = release.folder / "install.sh"
        bin = world.home / ".local/bin"

        def remove():
            world.run("sh", copy, "--uninstall")

        def upgrade():
            said = world.run("sh", copy, env=env)
            expect(f"replaced agent-tracer {OLDER} by agent-tracer {release.version}" in said, said)

        def install():
            said = world.run("sh", "-c", f"curl -fsSL {link}/latest/download/install.sh | sh -s -- --version {OLDER}", env=env)
            expect("next: " in said and "is not on your PATH" in said, said)
            world.on_path(bin)

        life(world, release.version, install, upgrade, remove, way="install.sh")

        world.run("sh", copy, env=env)
        world.up()
        upgrade_by_itself(world, release, older, link)
        world.run("sh", copy, env=env)
        with world.started("serve", "--listen", "127.0.0.1:0", signal_at_end=signal.SIGTERM) as (server, address):
            said = world.run("sh", copy, env=env)
            expect("restart it" in said, said)
            expect(server.poll() is None, "the upgrade ended the server")
            world.ask_until(f"{address}/api/v1/health", lambda answer: answer["status"] == "ok")

        held = {name: (bin / name).read_bytes() for name in ("agent-tracer", "agent-tracer-hook")}

        def refused(says, *words, env=env, copy=copy):
            said = world.run("sh", copy, *words, code=1, env=env)
            expect(says in said, f"{words}: {said}")
            expect({name: (bin / name).read_bytes() for name in held} == held, f"{words} changed the programs")
            expect(sorted(path.name for path in bin.iterdir()) == sorted(held), f"{words} left {list(bin.iterdir())}")

        world.run(bin / "agent-tracer", "install", "claude", "--no-verify")
        refused("still calls", "--uninstall")
        world.disconnect()
        for account in (world.home / ".claude-work", world.folder / "accounts/two"):
            account.mkdir(parents=True)
            moved = dict(world.env, CLAUDE_CONFIG_DIR=str(account))
            world.run(bin / "agent-tracer", "install", "claude", "--no-verify", env=moved)
            refused(f"`{account}/settings.json` still calls", "--uninstall")
            refused(f"run `CLAUDE_CONFIG_DIR='{account}' {bin}/agent-tracer uninstall claude` first", "--uninstall")
            world.run(bin / "agent-tracer", "uninstall", "claude", env=moved)
        project = world.folder / "a project"
        project.mkdir()
        scope = ("claude", "--scope", "project")
        world.run("sh", "-c", f"cd '{project}' && '{bin}/agent-tracer' install {' '.join(scope)} --no-verify")
        refused(f"run `cd '{project}' && {bin}/agent-tracer uninstall {' '.join(scope)}` first", "--uninstall")
        world.run("sh", "-c", f"cd '{project}' && '{bin}/agent-tracer' uninstall {' '.join(scope)}")
        unit = world.home / ".config/systemd/user/agent-tracer.service"
        unit.parent.mkdir(parents=True)
        unit.write_text(f"[Service]\nExecStart={bin}/agent-tracer serve\n")
        refused(f"run `{bin}/agent-tracer service remove` first", "--uninstall")
        unit.unlink()
        refused("has no build", "--version", "9.9.9", env=dict(env, AGENT_TRACER_DIST=str(release.folder)))
        refused("cannot download", "--version", "9.9.9")
        refused("cannot download", env=dict(env, AGENT_TRACER_RELEASES="http://127.0.0.1:1"))
        refused("does not know where releases are", env={**env, "AGENT_TRACER_RELEASES": ""}, copy=ROOT / "install.sh")
        with download(release.folder, {}, share=lambda name: 0.5 if name.endswith(".tar.gz") else 1) as torn:
            refused("cannot download", env=dict(env, AGENT_TRACER_RELEASES=torn))
        bad = world.folder / "bad"
        for damage, says in ((damage_sum, "wrong sum"), (foreign_program, "does not run on this machine")):
            shutil.rmtree(bad, ignore_errors=True)
            bad.mkdir()
            damage(world, release, bad)
            refused(says, "--from", bad)
        for system, machine, says in (("Linux", "riscv64", "processor"), ("FreeBSD", "x86_64", "`FreeBSD`")):
            fake = world.folder / f"{system}-{machine}"
            fake.mkdir()
            (fake / "uname").write_text(f'#!/bin/sh\n[ "$1" = -s ] && echo {system} || echo {machine}\n')
            (fake / "uname").chmod(0o755)
            refused(says, env=dict(env, PATH=f"{fake}:{env['PATH']}"))
        remove()


def upgrade_by_itself(world, release, older, link):
    """`agent-tracer upgrade`: from a folder, a tarball and an address, never to an older version"""
    program = world.home / ".local/bin/agent-tracer"
    newer = stub(world.folder / "newer", [release.target], NEWER, ["tarball"])
    said = world.run(program, "upgrade", "--check", "--url", link)
    expect(f"{release.version} is the version of both" in said, said)
    said = world.run(program, "upgrade", "--from", older, code=1)
    expect(f"{OLDER} is older than this {release.version}" in said, said)
    world.version(release.version)
    said = world.run(program, "upgrade", "--from", newer / f"agent-tracer-{NEWER}-{release.target}.tar.gz")
    expect(f"replaced agent-tracer {release.version}" in said and f"by agent-tracer {NEWER}" in said, said)
    world.version(NEWER)


def damage_sum(world, release, bad):
    for name in ("SHA256SUMS", tarball(release)):
        shutil.copy(release.folder / name, bad)
    with open(bad / tarball(release), "r+b") as archive:
        archive.seek(1000)
        byte = archive.read(1)
        archive.seek(1000)
        archive.write(bytes([byte[0] ^ 1]))


def foreign_program(world, release, bad):
    """Makes a release whose sums are right and whose program is for another processor."""
    top = tarball(release).removesuffix(".tar.gz")
    (bad / top).mkdir()
    for name in ("agent-tracer", "agent-tracer-hook"):
        # The header of a program for s390x.
        (bad / top / name).write_bytes(b"\x7fELF\x02\x02\x01" + bytes(9) + b"\x00\x02\x00\x16" + bytes(44))
        (bad / top / name).chmod(0o755)
    world.run("tar", "-czf", bad / tarball(release), "-C", bad, top)
    (bad / "SHA256SUMS").write_text(world.run("sh", "-c", f"cd '{bad}' && sha256sum {tarball(release)}"))


def tarball(release):
    return f"agent-tracer-{release.version}-{release.target}.tar.gz"


def folder(release, older, **_):
    """`install.sh --from FOLDER --prefix DIR`, without a network"""
    with World() as world:
        prefix = world.folder / "prefix"
        world.on_path(prefix / "bin")

        def run(*words):
            return world.run("unshare", "--net", "sh", ROOT / "install.sh", "--prefix", prefix, *words) if os.getuid() == 0 \
                else world.run("sh", ROOT / "install.sh", "--prefix", prefix, *words)

        life(world, release.version, lambda: run("--from", older), lambda: run("--from", release.folder), lambda: run("--uninstall"),
             way="install.sh")


def unpack(release, older, **_):
    """The tarball, unpacked by hand: layout, manual, completions, sums"""
    with World() as world:
        prefix = world.folder / "prefix"
        prefix.mkdir()
        world.on_path(prefix)
        world.run("sh", "-c", f"cd '{release.folder}' && sha256sum --check --quiet SHA256SUMS")

        def put(folder, version):
            world.run("tar", "-xzf", folder / f"agent-tracer-{version}-{release.target}.tar.gz", "-C", prefix, "--strip-components=1")

        life(world, release.version, lambda: put(older, OLDER), lambda: put(release.folder, release.version), lambda: shutil.rmtree(prefix),
             way="a tarball")
        prefix.mkdir()
        put(release.folder, release.version)
        for name in ("LICENSE-MIT", "LICENSE-APACHE", "THIRD-PARTY-NOTICES", "README.md", "man/agent-tracer.1", "man/agent-tracer-install.1",
                     "completions/agent-tracer.bash", "completions/_agent-tracer", "completions/agent-tracer.fish"):
            expect((prefix / name).stat().st_size > 0, f"`{name}` is empty")
        for name in release.static:
            said = world.run("sh", "-c", f"ldd '{prefix / name}' 2>&1 || true")
            expect("not a dynamic" in said or "statically" in said or "not a valid" in said, f"`{name}` is not static: {said}")


def npm(release, older, **_):
    """`npm install --global` from a registry, and `npx`: no script runs, the hook is called without Node"""
    with World(programs=("node", "npm", "npx")) as world, registry(older, release.folder) as link:
        prefix = world.folder / "prefix"
        world.on_path(prefix / "bin")
        world.env.update(npm_config_prefix=str(prefix), npm_config_cache=str(world.folder / "cache"), npm_config_registry=link,
                         npm_config_update_notifier="false", npm_config_fund="false", npm_config_audit="false")
        settled = (r"home/\.npm/", r"prefix/lib/node_modules/\.package-lock")

        def install(version):
            world.run("npm", "install", "--global", f"agent-tracer@{version}")

        def remove():
            world.run("npm", "uninstall", "--global", "agent-tracer")

        def upgrade():
            world.run("npm", "install", "--global", "agent-tracer@latest")
            # Exit codes pass through the launcher, and signals: the demo is ended by one.
            world.run(*world.program(), "frobnicate", code=2)

        life(world, release.version, lambda: install(OLDER), upgrade, remove, settled, way="npm",
             command="npm install --global agent-tracer@latest")
        said = world.run("npx", "--yes", "agent-tracer", "--version")
        expect(f"agent-tracer {release.version}" in said, said)
        said = world.run("npx", "--yes", "agent-tracer", "install", "claude", code=1)
        expect("npm install --global" in said, said)


def pip(release, older, tools, **_):
    """`pip install` into a clean environment"""
    with World() as world:
        environment = world.folder / "environment"
        world.run(sys.executable, "-m", "venv", environment)
        world.on_path(environment / "bin")

        def install(*words):
            world.run(environment / "bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check",
                      "--find-links", older, "--find-links", release.folder, *words)

        def remove():
            world.run(environment / "bin/pip", "uninstall", "--quiet", "--yes", "agent-tracer")
            expect(not list((environment / "bin").glob("agent-tracer*")), "`pip uninstall` left a program")

        life(world, release.version, lambda: install(f"agent-tracer=={OLDER}"), lambda: install("--upgrade", "agent-tracer"), remove, way="pip")


def pipx(release, older, tools, **_):
    """`pipx install`"""
    with World() as world:
        prefix = world.folder / "prefix"
        world.env.update(PIPX_HOME=str(world.folder / "pipx"), PIPX_BIN_DIR=str(prefix), PIPX_MAN_DIR=str(world.folder / "man"),
                         PIP_NO_INDEX="1", PIP_FIND_LINKS=f"{older} {release.folder}", PIPX_DEFAULT_PYTHON=sys.executable,
                         UV_NO_INDEX="1", UV_FIND_LINKS=f"{older},{release.folder}", UV_OFFLINE="1", UV_CACHE_DIR=str(world.folder / "cache"))
        world.on_path(prefix)
        run = lambda *words: world.run(tools / "bin/pipx", *words)
        # A version that was named is what pipx keeps to: the older one comes as the newest that there was then.
        world.env.update(PIP_FIND_LINKS=str(older), UV_FIND_LINKS=str(older))

        def upgrade():
            world.env.update(PIP_FIND_LINKS=f"{older} {release.folder}", UV_FIND_LINKS=f"{older},{release.folder}")
            run("upgrade", "agent-tracer")

        life(world, release.version, lambda: run("install", "agent-tracer"), upgrade, lambda: run("uninstall", "agent-tracer"),
             (r"home/\.(local|cache)/", ), way="pipx", command="pipx upgrade agent-tracer")


def uv(release, older, tools, **_):
    """`uv tool install`, and `uvx`"""
    with World() as world:
        prefix = world.folder / "prefix"
        world.env.update(UV_TOOL_DIR=str(world.folder / "uv"), UV_TOOL_BIN_DIR=str(prefix), UV_CACHE_DIR=str(world.folder / "cache"),
                         UV_NO_INDEX="1", UV_FIND_LINKS=f"{older},{release.folder}", UV_PYTHON=sys.executable, UV_OFFLINE="1")
        world.on_path(prefix)
        run = lambda *words: world.run(tools / "bin/uv", *words)
        # A version that was named is what uv keeps to: the older one comes as the newest that there was then.
        world.env.update(UV_FIND_LINKS=str(older))

        def upgrade():
            world.env.update(UV_FIND_LINKS=f"{older},{release.folder}")
            run("tool", "upgrade", "agent-tracer")

        life(world, release.version, lambda: run("tool", "install", "agent-tracer"), upgrade,
             lambda: run("tool", "uninstall", "agent-tracer"), way="uv", command="uv tool upgrade agent-tracer")
        said = world.run(tools / "bin/uvx", "agent-tracer", "--version")
        expect(f"agent-tracer {release.version}" in said, said)


def deb(release, older, **_):
    """`apt-get install ./x.deb` into a root of its own"""
    need("apt-get", "dpkg-deb")
    with World() as world:
        prefix = world.folder / "prefix"
        state = world.folder / "state"
        for name in ("dpkg/info", "dpkg/updates", "apt/lists/partial", "cache/archives/partial", "log", "etc"):
            (state / name).mkdir(parents=True)
        (state / "dpkg/status").touch()
        prefix.mkdir()
        world.on_path(prefix / "usr/bin")
        options = [f"Dir::State={state}/apt", f"Dir::State::status={state}/dpkg/status", f"Dir::Cache={state}/cache", f"Dir::Log={state}/log",
                   f"Dir::Etc={state}/etc", f"APT::Sandbox::User={user()}", "Debug::NoLocking=1", f"DPkg::Options::=--root={prefix}",
                   f"DPkg::Options::=--admindir={state}/dpkg", f"DPkg::Options::=--log={state}/log/dpkg.log",
                   "DPkg::Options::=--force-not-root,bad-path"]
        apt = ["apt-get", "--quiet", "--yes", *(word for option in options for word in ("-o", option))]
        package = lambda folder, version: folder / f"agent-tracer_{version}_{DEBIAN[release.target]}.deb"

        def upgrade():
            world.run(*apt, "install", package(release.folder, release.version))
            unit = prefix / "usr/lib/systemd/user/agent-tracer.service"
            expect("ExecStart=/usr/bin/agent-tracer serve" in unit.read_text(), "no unit")

        def remove():
            in_place(world, release, "a .deb", "sudo apt-get install ./", (state / "dpkg", "/var/lib/dpkg"))
            world.run(*apt, "purge", "agent-tracer")

        life(world, release.version, lambda: world.run(*apt, "install", package(older, OLDER)), upgrade, remove)


def in_place(world, release, way, command, database):
    """Asks `upgrade` of programs that stand where the package puts them, with the DATABASE that says so, in a view of the
    file system that only this process has."""
    if os.getuid() != 0:
        print("        this is not root: the way that `upgrade` names is not judged", flush=True)
        return
    mounts = [database, (world.folder / "prefix/usr/bin", "/usr/bin")]
    steps = [f"mount --bind '{folder}' {place}" for folder, place in mounts]
    said = world.run("unshare", "--mount", "sh", "-c", " && ".join([*steps, "exec /usr/bin/agent-tracer upgrade"]))
    expect(said.startswith(f"agent-tracer {release.version}, by {way}, in /usr/bin\nupgrade: {command}"), f"`upgrade` says {said!r}")


def rpm(release, older, **_):
    """`rpm --upgrade` into a root of its own"""
    need("rpm")
    with World() as world:
        prefix = world.folder / "prefix"
        prefix.mkdir()
        world.on_path(prefix / "usr/bin")
        run = lambda *words: world.run("rpm", "--root", prefix, "--dbpath", "/var/lib/rpm", *words)
        package = lambda folder, version: folder / f"agent-tracer-{version}-1.{release.target.split('-')[0]}.rpm"

        def remove():
            in_place(world, release, "an .rpm", "sudo rpm --upgrade ", (prefix / "var", "/var"))
            run("--erase", "agent-tracer")

        life(world, release.version, lambda: run("--install", package(older, OLDER)),
             lambda: run("--upgrade", package(release.folder, release.version)), remove, (r"prefix/var/lib/rpm/",))
        expect(not list(prefix.rglob("agent-tracer*")), f"left behind: {list(prefix.rglob('agent-tracer*'))}")


def source(release, cargo_target, **_):
    """The source package: without Node, the dashboard that it brings is what the built program serves"""
    need("rustc")
    with World(programs=("rustc", "cargo")) as world:
        # Always at one place, or each run would leave all crates of ours in that folder once more.
        place = (cargo_target or world.folder) / "test-source"
        shutil.rmtree(place, ignore_errors=True)
        with tarfile.open(release.folder / f"agent-tracer-{release.version}-source.tar.gz") as archive:
            for file in archive:
                # All files of a package have one old time, by which cargo would take what an earlier run compiled.
                file.mtime = time.time()
                archive.extract(file, place)
        top = place / f"agent-tracer-{release.version}"
        expect(not shutil.which("node", path=world.env["PATH"]), "Node is on the path")
        expect(not (top / "web/node_modules").exists(), "the package brings what npm installs")
        index = (top / "web/dist/index.html").read_bytes()
        world.env.update({name: os.environ.get(name, str(pathlib.Path.home() / folder))
                          for name, folder in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"))})
        # What the build does with the dashboard, in a second: it neither calls npm nor leaves a file out.
        out = world.folder / "out"
        out.mkdir()
        world.run("sh", "-c", f"cd '{top}' && rustc --edition 2024 -o '{out}/build' crates/cli/build.rs",
                  env=dict(world.env, CARGO_MANIFEST_DIR=str(top / "crates/cli")))
        world.run(out / "build", env=dict(world.env, CARGO_MANIFEST_DIR=str(top / "crates/cli"), OUT_DIR=str(out)))
        table = (out / "dashboard.rs").read_text()
        for file in (top / "web/dist").rglob("*"):
            expect(file.is_dir() or str(file.relative_to(top / "web/dist")) in table, f"the program would not hold `{file.name}`")
        if not cargo_target:
            return
        prefix = world.folder / "prefix"
        world.on_path(prefix / "bin")
        for crate in ("cli", "hook"):
            world.run("sh", "-c", f"cd '{top}' && cargo install --quiet --path crates/{crate} --debug --offline --locked --root '{prefix}'",
                      env=dict(world.env, CARGO_TARGET_DIR=str(cargo_target)), patience=1800)
        # No option of a manifest links statically; `doctor` says what that costs.
        world.exercise(release.version, "cargo", known=("hook_static",))
        with world.started("serve", "--listen", "127.0.0.1:0") as (_, address):
            with urllib.request.urlopen(f"{address}/", timeout=60) as answer:
                expect(answer.read() == index, "another dashboard is served than the package brings")
        world.disconnect()
        shutil.rmtree(place)


def binstall(release, **_):
    """What `cargo binstall` makes of the source package's manifests: the address and the paths of what was released"""
    formula = release.folder / "agent-tracer.rb"
    with tarfile.open(release.folder / f"agent-tracer-{release.version}-source.tar.gz") as archive, \
            tarfile.open(release.folder / tarball(release)) as programs:
        for crate, bin in (("cli", "agent-tracer"), ("hook", "agent-tracer-hook")):
            manifest = archive.extractfile(f"agent-tracer-{release.version}/crates/{crate}/Cargo.toml").read().decode()
            templates = tomllib.loads(manifest)["package"]["metadata"]["binstall"]
            values = {"version": release.version, "target": release.target, "bin": bin}
            if not formula.exists():
                # The address of the releases was not known when this was packed.
                values["repo"] = "https://example.invalid"

            def expand(template):
                return re.sub(r"\{ (\w+) \}", lambda name: values[name.group(1)], template)

            address = expand(templates["pkg-url"])
            expect(address.endswith(f"/download/v{release.version}/{tarball(release)}"), f"{crate}: {address}")
            expect(not formula.exists() or f'"{address}"' in formula.read_text(), f"{crate}: the formula has another address than {address}")
            expect(expand(templates["bin-dir"]) in programs.getnames(), f"{crate}: the archive has no `{expand(templates['bin-dir'])}`")
            expect(templates["pkg-fmt"] == "tgz", f"{crate}: {templates['pkg-fmt']}")


def image(release, **_):
    """The image from the tarball, `FROM scratch`: built without a registry, and what is in it"""
    need("buildah")
    if os.getuid() != 0:
        raise Absent("building an image as another user than root depends on the machine's namespaces")
    with World() as world:
        context = world.folder / "context"
        (context / "dist/release").mkdir(parents=True)
        shutil.copy(release.folder / tarball(release), context / "dist/release")
        shutil.copytree(ROOT / "deploy", context / "deploy")
        shutil.copy(ROOT / ".dockerignore", context)
        buildah = ["buildah", "--storage-driver", "vfs", "--root", world.folder / "storage", "--runroot", world.folder / "run"]
        world.run(*buildah, "build", "--isolation", "chroot", "--target", "release", "--build-arg", f"MACHINE={release.target.split('-')[0]}",
                  "--file", context / "deploy/Containerfile", "--tag", "agent-tracer", context)
        container = world.run(*buildah, "from", "--pull-never", "agent-tracer").strip()
        root = pathlib.Path(world.run(*buildah, "mount", container).strip())
        files = sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())
        expect(files == ["usr/local/bin/agent-tracer", "usr/share/doc/agent-tracer/LICENSE-APACHE", "usr/share/doc/agent-tracer/LICENSE-MIT",
                         "usr/share/doc/agent-tracer/THIRD-PARTY-NOTICES", "var/lib/agent-tracer/README"], f"it holds {files}")
        if "agent-tracer" in release.static:
            said = world.run(*buildah, "run", "--isolation", "chroot", container, "--", "/usr/local/bin/agent-tracer", "--version")
            expect(release.version in said, said)


def formula(release, **_):
    """The formula for Homebrew names the tarballs with their sums"""
    text = (release.folder / "agent-tracer.rb").read_text()
    sums = dict(reversed(line.split("  ")) for line in (release.folder / "SHA256SUMS").read_text().splitlines())
    named = re.findall(r'url "[^"]*/([^"/]+)"\n\s+sha256 "([0-9a-f]{64})"', text)
    expect(named, "it names no tarball")
    for name, digest in named:
        expect(sums[name] == digest, f"`{name}` has another sum")
    if shutil.which("ruby"):
        subprocess.run(["ruby", "-wc", str(release.folder / "agent-tracer.rb")], check=True, stdout=subprocess.DEVNULL)
    else:
        print("        ruby is not here: the syntax of the formula is not judged")


DEBIAN = {"x86_64-unknown-linux-musl": "amd64", "aarch64-unknown-linux-musl": "arm64"}


class Absent(Exception):
    """A tool of this machine that a way needs."""


def need(*names):
    for name in names:
        if not shutil.which(name):
            raise Absent(f"`{name}` is not here")


def user():
    return pwd.getpwuid(os.getuid()).pw_name


WAYS = {way.__name__: way for way in (script, folder, unpack, npm, pip, pipx, uv, deb, rpm, source, binstall, image, formula)}
