# SPDX-License-Identifier: Apache-2.0
"""A collector of OpenTelemetry's logs that does what a test tells it.

    with Collector(address, port, tls=None) as c:
        c.script = [c.busy(1), c.ok]      one answer each; the last goes on for good
        ...
        c.events("20261115-084532-calm-otter")   {seq: how often it was taken}

An answer is a function of the request that returns (status, headers, body), and whether its log
records count as taken is said by the status: 200 alone.
"""

import gzip
import http.server
import json
import socketserver
import threading
import time


class Request:
    def __init__(self, path, headers, raw):
        self.path, self.headers = path, headers
        self.raw = raw
        self.body = json.loads(gzip.decompress(raw) if headers.get("content-encoding") == "gzip" else raw)
        self.records = [(attributes(r["resource"]), log) for r in self.body["resourceLogs"]
                        for s in r["scopeLogs"] for log in s["logRecords"]]
        self.status = None
        self.at = time.monotonic()


def attributes(thing):
    return {a["key"]: next(iter(a["value"].values())) for a in thing["attributes"]}


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        pass                      # clients go away; that is part of it


class Collector:
    def __init__(self, address, port, tls=None):
        self.address, self.port, self.tls = address, port, tls
        self.script, self.requests, self.server = [], [], None
        self.connections = 0
        self.lock = threading.Lock()

    # -- answers -----------------------------------------------------------------

    @staticmethod
    def ok(_):
        return 200, {}, b"{}"

    @staticmethod
    def busy(seconds, status=503):
        return lambda _: (status, {"Retry-After": str(seconds)}, b'{"code":14,"message":"come back later"}')

    @staticmethod
    def status(status, body=b""):
        return lambda _: (status, {}, body)

    @staticmethod
    def partial(count, why):
        body = json.dumps({"partialSuccess": {"rejectedLogRecords": str(count), "errorMessage": why}}).encode()
        return lambda _: (200, {}, body)

    @staticmethod
    def at_most(count):
        """413 for more log records than that."""
        return lambda r: (413, {}, b"") if len(r.records) > count else (200, {}, b"{}")

    @staticmethod
    def slow(seconds):
        def answer(_):
            time.sleep(seconds)
            return 200, {}, b"{}"
        return answer

    @staticmethod
    def closing(_):
        """Takes it, and closes the connection without a word of that."""
        return 200, {"X-Close": "1"}, b"{}"

    @staticmethod
    def vanish(_):
        """Takes the request and says nothing."""
        return None

    # -- what came ---------------------------------------------------------------

    def taken(self):
        with self.lock:
            return [(resource, log) for r in self.requests if r.status == 200 for resource, log in r.records]

    def sessions(self):
        return sorted({resource["session.id"] for resource, _ in self.taken()})

    def events(self, session):
        found = {}
        for resource, log in self.taken():
            if resource["session.id"] == session:
                seq = int(attributes(log)["sandbox.seq"])
                found[seq] = found.get(seq, 0) + 1
        return found

    def forget(self):
        with self.lock:
            self.requests, self.connections, self.script = [], 0, []

    # -- serving -----------------------------------------------------------------

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        collector = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self):
                super().setup()
                with collector.lock:
                    collector.connections += 1

            def do_POST(self):
                raw = self.rfile.read(int(self.headers["content-length"]))
                r = Request(self.path, {k.lower(): v for k, v in self.headers.items()}, raw)
                with collector.lock:
                    collector.requests.append(r)
                    script = collector.script
                    answer = script.pop(0) if len(script) > 1 else script[0] if script else collector.ok
                said = answer(r)
                if said is None:
                    self.close_connection = True
                    return
                status, headers, body = said
                # Taken is what was answered: not what was only read.
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
                r.status = status
                self.close_connection = self.close_connection or "X-Close" in headers

            def log_message(self, *_):
                pass

        self.server = Server((self.address, self.port), Handler)
        if self.tls:
            self.server.socket = self.tls.wrap_socket(self.server.socket, server_side=True,
                                                      do_handshake_on_connect=False)
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self):
        if self.server:
            self.server.shutdown()
            self.server.server_close()
            self.server = None
