"""The HTTP side of the fake model APIs: requests and answers are logged; the clients' own modules
decide what to answer."""
import http.server, json, os, re, select, sys, threading

from layout import LOGS, PORT

MARKER = re.compile(r"\[\[([a-z0-9_]+)\]\]")  # [[name]] in a prompt picks a script
PAUSE = "pause"                               # not sent: the answer stalls here
CUT = "cut"                                   # not sent: the connection breaks here


class Api:
    """Base of the fake APIs.  A subclass has answer(path, headers, body) -> Reply."""

    def __init__(self):
        self.lock, self.count, self.scenario = threading.Lock(), 0, None
        self.played = {}                       # script -> furthest step answered, within the present scenario
        os.makedirs(LOGS + "/requests", exist_ok=True)

    def next(self):
        with self.lock:
            self.count += 1
            return self.count

    def log(self, record):
        with self.lock, open(LOGS + "/api.jsonl", "a") as f:
            f.write(json.dumps(record) + "\n")

    def play(self, script, step, length):
        with self.lock:
            done, _ = self.played.get(script, (0, 0))
            self.played[script] = (max(done, step + 1), length)

    def unfinished(self):
        with self.lock:
            out = ["%s %d/%d" % (s, done, length) for s, (done, length) in self.played.items() if done < length]
            self.played = {}
        return out


class Reply:
    def __init__(self, record, status=200, headers=(), body=None, events=None):
        """body: JSON object; events: list of (name, object) sent as server-sent events instead; (PAUSE, seconds) waits, (CUT, None) hangs up."""
        self.record, self.status, self.headers, self.body, self.events = record, status, dict(headers), body, events


def serve(api):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args):
            pass

        def plain(self, status, obj, headers=()):
            data = json.dumps(obj).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            for k, v in dict(headers).items():
                self.send_header(k, v)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def stall(self, seconds):
            """Wait, but no longer than the client does."""
            if select.select([self.connection], [], [], seconds)[0]:
                raise BrokenPipeError("the client hung up")

        def do_HEAD(self):
            self.plain(200, {})

        def do_GET(self):
            self.plain(404, {"error": {"type": "not_found_error", "message": "not here"}})

        def do_POST(self):
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            try:
                body = json.loads(raw or b"{}")
            except ValueError:
                return self.plain(400, {"error": {"type": "invalid_request_error", "message": "not JSON"}})
            headers = {k.lower(): v for k, v in self.headers.items()}
            for k in ("authorization", "x-api-key", "cookie"):
                headers.pop(k, None)
            reply = api.answer(self.path, headers, body)
            if reply is None:
                return self.plain(404, {"error": {"type": "not_found_error", "message": "not here"}})
            rec = dict(reply.record, scenario=api.scenario, status=reply.status, complete=False)
            with open("%s/requests/%04d.json" % (LOGS, rec["seq"]), "w") as f:
                json.dump({"scenario": api.scenario, "path": self.path, "headers": headers, "body": body}, f)
            try:
                if reply.events is None:
                    self.plain(reply.status, reply.body, reply.headers)
                else:
                    self.close_connection = True
                    self.send_response(reply.status)
                    for k, v in dict(reply.headers, **{"content-type": "text/event-stream", "connection": "close"}).items():
                        self.send_header(k, v)
                    self.end_headers()
                    for name, obj in reply.events:
                        if name == PAUSE:
                            self.stall(obj)
                            continue
                        if name == CUT:
                            raise BrokenPipeError("the script breaks the connection")
                        self.wfile.write(("event: %s\ndata: %s\n\n" % (name, json.dumps(dict(obj, type=name)))).encode())
                        self.wfile.flush()
                rec["complete"] = True
            except OSError:
                pass                           # the client hung up
            api.log(rec)

    class Server(http.server.ThreadingHTTPServer):
        daemon_threads, request_queue_size = True, 64

        def handle_error(self, request, address):
            if not isinstance(sys.exc_info()[1], OSError):
                super().handle_error(request, address)

    server = Server(("127.0.0.1", PORT), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
