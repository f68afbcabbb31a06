# SPDX-License-Identifier: Apache-2.0
"""Inside the box: takes many answers at once, step by step, and notes all that can be seen of them.

    two_values.py JOB      JSON: {"batches": [[[kind, host, [id...]]...]...], "run"}; prints what was seen

After each step that the origin takes (over a connection of its own, CONTROL) the gate has done all
that it will do; so what came until then is the same in every run, but for what the values make of it.
Seen are the sizes of TLS records, and the bytes in them.
"""

import base64
import json
import os
import select
import socket
import ssl
import struct
import sys

CONTROL = ("ctl.open.test", 7100)
HOLDER = {"api.open.test": "TEST_GIT", "also.open.test": "TEST_RAW"}


class Seen:
    """One connection, record by record."""

    def __init__(self, host, h2, context):
        self.host, self.h2, self.open, self.stream = host, h2, True, -1
        self.into, self.out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.into, self.out, server_hostname=host)
        self.s = socket.create_connection((host, 443), 10)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.raw = b""
        while True:
            try:
                self.tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                self.flush()
                more = self.s.recv(1 << 16)
                if not more:
                    raise EOFError
                self.into.write(more)
        self.flush()
        if h2:
            self.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0")

    def flush(self):
        if data := self.out.read():
            self.s.sendall(data)

    def write(self, data):
        self.tls.write(data)
        self.flush()

    def look(self):
        """[[size of each record...], bytes, how it ended or ""]"""
        ended, data = "", b""
        while self.open and select.select([self.s], [], [], 0)[0]:
            try:
                more = self.s.recv(1 << 18)
            except OSError as e:
                more, ended = b"", type(e).__name__
            if not more:
                self.open, ended = False, ended or "closed"
            self.raw += more
            self.into.write(more)
        sizes = []
        while len(self.raw) >= 5 and len(self.raw) >= 5 + (size := int.from_bytes(self.raw[3:5], "big")):
            sizes.append(size)
            self.raw = self.raw[5 + size:]
        try:
            while more := self.tls.read(1 << 18):
                data += more
            ended = ended or "notified"
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLError as e:
            ended = ended or str(e.reason)
        if ended:
            self.open = False
        if self.h2:
            self.credit(data)
        return [sizes, base64.b64encode(data).decode(), ended]

    def credit(self, data):
        """Whatever was taken of the windows is given back."""
        if len(data) > 0 and self.open:
            for stream in (0, max(self.stream, 0)):
                self.write(b"\0\0\4\x08\0" + struct.pack(">II", stream, len(data)))

    def ask(self, path, fields):
        if not self.h2:
            self.write(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n".encode() +
                       b"".join(f"{n}: {v}\r\n".encode() for n, v in fields) + b"\r\n")
            return

        def text(value):
            raw = value.encode()
            return (bytes([len(raw)]) if len(raw) < 127 else b"\x7f" + bytes([len(raw) - 127])) + raw
        self.stream += 2
        fields = [(":method", "GET"), (":scheme", "https"), (":authority", self.host), (":path", path), *((n.lower(), v) for n, v in fields)]
        block = b"".join(b"\0" + text(n) + text(v) for n, v in fields)
        self.write(len(block).to_bytes(3, "big") + b"\1\5" + struct.pack(">I", self.stream) + block)


class Control:
    def __init__(self, run):
        self.run = run
        self.f = socket.create_connection(CONTROL, 10).makefile("rw")

    def say(self, what, ids=()):
        self.f.write(json.dumps([self.run, what, list(ids)]) + "\n")
        self.f.flush()
        return json.loads(self.f.readline())

    def settle(self):
        """Once round through the gate, and once more: it has looked at all that lay before it."""
        self.say("ping")
        self.say("ping")


def request(run, kind, host, n):
    fields = [("Authorization", "Bearer " + os.environ[HOLDER[host]]), ("X-Run", run)]
    if kind == "websocket":
        fields += [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                   ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")]
    return f"/s/{kind}/{n}", fields


def take(job):
    control, seen = Control(job["run"]), {}
    contexts = []
    for alpn in (["http/1.1"], ["h2"]):
        contexts.append(ssl.create_default_context())
        contexts[-1].set_alpn_protocols(alpn)
    for batch in job["batches"]:
        slots = [[None, *slot] for slot in batch]
        for turn in range(max(len(slot[3]) for slot in slots)):
            now = [(slot, slot[3][turn]) for slot in slots if turn < len(slot[3])]
            for slot, n in now:
                if not slot[0] or not slot[0].open:
                    slot[0] = Seen(slot[2], slot[1].startswith("h2"), contexts[slot[1].startswith("h2")])
                slot[0].ask(*request(job["run"], slot[1], slot[2], n))
                seen[n] = []
            ids = [n for _, n in now]
            control.say("arrived", ids)
            control.settle()
            for slot, _ in now:
                slot[0].look()
            left = True
            while left:
                left = control.say("step", ids)
                control.settle()
                for slot, n in now:
                    seen[n].append(slot[0].look())
        for slot in slots:
            if slot[0]:
                slot[0].s.close()
    return seen


def refusals():
    """What is refused by itself, and how."""
    sys.path.insert(0, ".")
    from inside_http import fetch
    g = os.environ["TEST_GIT"]
    b64 = base64.b64encode(f"x:{g}".encode()).decode()
    rows = [("api.open.test", f"/echo/{g}", ""), ("api.open.test", f"/echo?a={g}", ""), ("api.open.test", "/echo", f"X-Other: {g}\r\n"),
            ("also.open.test", "/echo", f"Authorization: Bearer {g}\r\n"), ("plain.open.test", "/echo", f"Authorization: Bearer {g}\r\n"),
            ("api.open.test", "/echo", f"Authorization: Bearer {g[:-1]}\r\n"), ("api.open.test", "/echo", f"Authorization: Bearer {g}x\r\n"),
            ("api.open.test", "/echo", f"Authorization: Basic {b64}\r\n"), ("api.open.test", "/echo", f"Cookie: a={g}\r\n"),
            ("also.open.test", "/echo", f"Cookie: a={b64}\r\n"), ("api.open.test", "/silence", f"Authorization: Bearer {g}\r\n"),
            ("api.open.test", "/malformed/folded", f"Authorization: Bearer {g}\r\n"), ("down.open.test", "/", "")]
    out = []
    for host, target, fields in rows:
        a = fetch(host, target, fields=fields)
        out.append([a["status"], a.get("error", ""), a.get("fields", {}), a["body"]])
    return out


if __name__ == "__main__":
    job = json.loads(open(sys.argv[1]).read())
    print(json.dumps({"seen": take(job), "refused": refusals(), "holders": {n: os.environ[n] for n in HOLDER.values()}}))
