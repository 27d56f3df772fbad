"""The loopback-only namespace: mounts, network, names, and its end."""
import contextlib, ctypes, fcntl, os, signal, socket, struct, subprocess, threading

from layout import HIDDEN, write


def mount(source, target, kind=None, flags=0):
    libc = ctypes.CDLL(None, use_errno=True)
    enc = lambda s: s.encode() if s else None
    if libc.mount(enc(source), enc(target), enc(kind), ctypes.c_ulong(flags), None):
        raise OSError(ctypes.get_errno(), "mount %s on %s: %s" % (source, target, os.strerror(ctypes.get_errno())))


def bind_all(binds):
    """binds: [(source, target, read_only)].  Sources are held open first, since HIDDEN covers them."""
    RDONLY, REMOUNT, BIND, REC = 1, 32, 4096, 16384
    held = [(os.open(s, os.O_PATH), t, ro) for s, t, ro in binds]
    for d in HIDDEN + [d for d in ("/etc/claude-code", "/etc/codex") if os.path.isdir(d)]:
        mount("none", d, "tmpfs")
    os.chmod("/tmp", 0o1777)
    for fd, target, ro in held:
        os.makedirs(target, exist_ok=True)
        mount("/proc/self/fd/%d" % fd, target, None, BIND | REC)
        if ro:
            mount("none", target, None, BIND | REMOUNT | RDONLY)
        os.close(fd)


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))       # SIOCSIFFLAGS: IFF_UP | IFF_RUNNING


def no_names():
    """A name server that knows no name: without it every look-up waits for a timeout."""
    resolv = os.path.realpath("/etc/resolv.conf")
    if not os.path.exists(resolv):
        return
    write("/tmp", "resolv.conf", "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
    mount("/tmp/resolv.conf", resolv, None, 4096)
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 53))

    def answer():
        while True:
            query, peer = server.recvfrom(2048)
            server.sendto(query[:2] + b"\x81\x83" + query[4:6] + bytes(6) + query[12:], peer)    # same question, NXDOMAIN
    threading.Thread(target=answer, daemon=True).start()


def stop(proc):
    """End the namespace's first process; the kernel then ends every other one in it, and the mounts go."""
    if proc.poll() is not None:
        return
    try:
        with open("/proc/%d/task/%d/children" % (proc.pid, proc.pid)) as f:
            pids = [int(p) for p in f.read().split()]
    except OSError:
        pids = []
    for sig in (signal.SIGTERM, signal.SIGKILL):
        for pid in pids or [proc.pid]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, sig)
        with contextlib.suppress(subprocess.TimeoutExpired):
            proc.wait(2)
            return
    proc.wait()
