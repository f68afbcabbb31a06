# SPDX-License-Identifier: Apache-2.0
"""Requests and ClientHellos that two readers may take in two ways, made from a seed; and a client
that sends them byte for byte.  The same file is used inside a box and outside.

    requests(seed, count)        [{"id", "wire"}...]: HTTP/1, latin1
    requests_h2(seed, count)     [{"id", "fields", "end"}...]
    Hello(rng)                   changes a ClientHello, and cuts it into records
    send_all(...)                sends what was made, over several connections at a time
"""

import functools
import json
import random
import socket
import ssl
import struct
import sys
import threading

GOOD, EVIL = "same.open.test", "evil.open.test"

# -- requests ------------------------------------------------------------------

OVERRIDES = ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-Method", "x-http-method-override",
             "X_HTTP_METHOD_OVERRIDE", "X-Http_Method-Override", "X.HTTP.Method.Override", "X-HTTP~Method*Override",
             "X-Forwarded-Method"]
REWRITES = ["X-Original-URL", "X-Rewrite-URL", "X_Original_Url", "X-Original-URI", "X-Override-URL", "x-rewrite-url", "X.Rewrite.Url",
            "X-Forwarded-Uri", "X-Original-Path", "X-HTTP-Path-Override", "X-HTTP-DestinationURL", "X-WAWS-Unencoded-URL"]
PARAMETERS = ["_method", "%5fmethod", "%5Fmetho%64", ".method", "+_method", "%20_method", "_METHOD", "a=1&_method", "a=1;_method",
              "_method%00x", "X-HTTP-Method-Override", "_method%00" + "x" * 70, "_method[]", "a&&;_method"]
SEGMENTS = ["ok", "ok", "a", "no", "..", ".", "%2e%2e", "%2E", ".%2e", "%2e.", "", "a;b", "..;", "..;x=1", ";", "%3b..", "..\\no",
            "..%5cno", "%2f", "..%2fno", "%252e%252e", "..%252fno", "%c0%ae%c0%ae", "%e9", "\\", "a%20b", "%09", "%00", "a..", "...",
            "%2e%2e%2fno", "..;%2fno", "a#b", "%", "%zz", "%uff0e", "\xe9", "~", "*", "|", "[a]", "%7e", "+", "a:b", "OK", "."]


def a_path(r):
    parts = ["ok"] if r.random() < 0.9 else []
    parts += [r.choice(SEGMENTS) for _ in range(r.randrange(1, 5))]
    return r.choice(["/"] * 9 + ["//", "", "\\", "/./", "///"]) + "/".join(parts)


def a_host(r, port):
    """A word for a Host field, or for an authority."""
    other = r.choice([GOOD, GOOD, GOOD, EVIL])
    return r.choice([other] * 4 + [
        f"{other}:{port}", f"{other}:1", f"{other}:0{port}", f"{other}:", f"{other}:99999", f"{other}:+{port}", other.upper(),
        other.title(), other + ".", other + "..", f"{EVIL}@{GOOD}", f"{GOOD}@{EVIL}", f"{GOOD}:{port}@{EVIL}", f"{GOOD}, {EVIL}",
        f"{GOOD},{EVIL}", f"{GOOD}\t{EVIL}", f"{GOOD}/{EVIL}", f"{GOOD}#.{EVIL}", f"{GOOD}?.{EVIL}", f"{GOOD}\\.{EVIL}",
        f"{GOOD}%00.{EVIL}", f"{GOOD}%2e", f" {other}", f"{other} ", f"\t{other}", "", "[::1]", "203.0.113.40", "*", f".{GOOD}", f"{GOOD}\x0b"])


def a_target(r, port, odd):
    target = a_path(r) if "path" in odd else "/ok/a"
    if "query" in odd:
        target += f"?{r.choice(PARAMETERS)}={r.choice(['DELETE', 'delete', 'POST', '', '%44ELETE', 'PUT'])}"
    if "absolute" in odd:
        scheme = r.choice(["http://"] * 5 + ["https://", "HTTP://", "http:/", "http:", "//", "ftp://", "http:///", "ws://"])
        return scheme + a_host(r, port) + target
    return "*" if "method" in odd and r.random() < 0.1 else target


def an_override(r):
    if r.random() < 0.5:
        return f"{r.choice(OVERRIDES)}: {r.choice(['DELETE', 'delete', 'POST', 'GET', '', 'PUT, POST', ' PUT '])}"
    return f"{r.choice(REWRITES)}: {r.choice(['/no', '/ok/b', '/ok/../no', '', f'http://{EVIL}/ok', '//no', 'no', '/no?/ok/'])}"


def a_field(r, port):
    if r.random() < 0.6:
        return r.choice(["Host: {}", "Host: {}", "host:{}", "Host : {}", "HOST: {}", " Host: {}", "\tHost: {}", "X: y\r\n Host: {}",
                         "X: y\n Host: {}", "X: y\rHost: {}", "Host:\r\n {}", "Host:\r\n\t{}", "X: y\nHost: {}", "Host\t: {}", "Host\x00: {}",
                         "\x0bHost: {}", "_Host: {}", "Host:{}\r\n ", "X: y\r\n\r\nHost: {}"]).format(a_host(r, port))
    return r.choice([f"X-Forwarded-Host: {EVIL}", "Connection: Host", "Connection: close, X-Id", "Expect: 100-continue", "X: y", ": z", "Y",
                     "Content-Length: 0", "Transfer-Encoding: chunked", "Cookie: a=b"])


ASPECTS = ["method", "path", "path", "path", "query", "query", "absolute", "version", "host", "field", "field", "override", "override", "trailer"]


def one_request(r, n, port):
    """Good but for one thing, two or three."""
    odd = r.sample(ASPECTS, r.choice([1, 1, 1, 2, 2, 3]))
    method = r.choice(["get", "HEAD", "DELETE", "PUT", "OPTIONS", "CONNECT", "POST\t", "PO ST", "GET\xa0"] if "method" in odd else ["GET", "POST"])
    if "trailer" in odd:
        method = "POST"
    version = r.choice(["HTTP/1.0", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", "HTTP/1.1\x00"]) if "version" in odd else "HTTP/1.1"
    fields = [f"X-Id: {n}"]
    if "host" not in odd:
        fields.append(f"Host: {GOOD}")
    elif r.random() < 0.9:
        fields.append(f"Host: {a_host(r, port)}")
    for what in odd:
        if what in ("field", "override"):
            fields.insert(r.randrange(len(fields) + 1), a_field(r, port) if what == "field" else an_override(r))
    body = ""
    if "trailer" in odd:
        trailer = r.choice([an_override(r), f"Host: {EVIL}", "X-Sum: 1"])
        fields.append("Transfer-Encoding: chunked")
        body = f"3\r\nabc\r\n0\r\n{trailer}\r\n\r\n"
    elif method.strip() == "POST":
        fields.append("Content-Length: 3")
        body = "abc"
    if r.random() < 0.8:
        fields.append("Connection: close")
    return f"{method} {a_target(r, port, odd)} {version}\r\n" + "".join(f + "\r\n" for f in fields) + "\r\n" + body


def requests(seed, count, port):
    r = random.Random(seed)
    rows = [f"GET /ok/a HTTP/1.1\r\nHost: {GOOD}\r\nX-Id: 0\r\nConnection: close\r\n\r\n"]
    return rows + [one_request(r, n, port) for n in range(1, count)]


ASPECTS_H2 = ["method", "scheme", "path", "query", "absolute", "authority", "no authority", "host", "host", "twice", "order", "late", "override",
              "field"]


def requests_h2(seed, count, port):
    """Lists of fields, in their order."""
    r, rows = random.Random(seed), []
    for n in range(count):
        odd = r.sample(ASPECTS_H2, r.choice([1, 1, 1, 2, 2, 3])) if n else []
        fields = [[":method", r.choice(["DELETE", "get", "HEAD", "CONNECT"]) if "method" in odd else "GET"],
                  [":scheme", r.choice(["http", "HTTPS", ""]) if "scheme" in odd else "https"], [":path", a_target(r, port, odd)]]
        if "no authority" not in odd:
            fields.append([":authority", a_host(r, port) if "authority" in odd else GOOD])
        if "twice" in odd:
            fields.append(r.choice([[":authority", a_host(r, port)], [":path", a_path(r)], [":method", "DELETE"]]))
        if "order" in odd:
            r.shuffle(fields)
        for what in odd:
            if what == "host":
                fields.append(["host", a_host(r, port)])
            elif what in ("field", "override"):
                name, _, value = (a_field(r, port) if what == "field" else an_override(r)).partition(":")
                fields.append([name.lower() if r.random() < 0.95 else name, value.strip(" ") if r.random() < 0.9 else value])
        fields.append(["x-id", str(n)])
        if "late" in odd:
            fields.append([":authority", EVIL])
        rows.append(fields)
    return rows


# -- ClientHellos -----------------------------------------------------------------

def u16(n):
    return struct.pack(">H", n & 0xffff)


def vector(data, size=2, wrong=0):
    return ((len(data) + wrong) & ((1 << 8 * size) - 1)).to_bytes(size, "big") + data


class Hello:
    """One way to change a ClientHello: of its extensions, its lengths, its records."""

    def __init__(self, r):
        self.r = r
        odd = r.choice([["name"], ["name"], ["wrong"], ["records"], ["name", "records"], ["name", "wrong"], []])
        self.name = r.choice(["other", "none", "two", "two extensions", "kinds", "case", "dot", "nul", "space", "empty", "ech", "twice", "long",
                              "address", "other first", "another ALPN"]) if "name" in odd else "as it is"
        self.wrong = r.choice(["list", "name", "extension", "extensions", "message", "session", "ciphers", "trailing"]) if "wrong" in odd else None
        self.by = r.choice([-3, -2, -1, 1, 2, 3, 255])
        self.records = r.choice(["two", "many", "bytes", "empty", "version", "change first", "alert first", "data first", "behind", "same record",
                                 "change inside", "alert inside", "type", "SSL 2", "junk behind"]) if "records" in odd else "one"
        self.cut = r.choice([0, 0, 0, 1, 50])

    def __str__(self):
        return f"{self.name}, wrong {self.wrong} {self.by}, records {self.records}"

    @staticmethod
    def sni(*names, kind=0, list_wrong=0, name_wrong=0):
        return vector(b"".join(bytes([k if isinstance(k, int) else kind]) + vector(n, 2, name_wrong) for k, n in names), 2, list_wrong)

    def server_name(self):
        """The bodies of the extensions for it, in their order."""
        good, evil, a = GOOD.encode(), EVIL.encode(), self.by
        lw, nw = (a if self.wrong == "list" else 0), (a if self.wrong == "name" else 0)

        def sni(*names):
            return self.sni(*((n if isinstance(n, tuple) else (0, n)) for n in names), list_wrong=lw, name_wrong=nw)
        return {"other": [sni(evil)], "none": [], "two": [sni(good, evil)], "two extensions": [sni(good), sni(evil)],
                "other first": [sni(evil), sni(good)], "kinds": [sni((1, evil), good)], "case": [sni(good.upper())], "dot": [sni(good + b".")],
                "nul": [sni(good + b"\0." + evil)], "space": [sni(good + b" ")], "empty": [sni(b"")], "long": [sni(good + b"." + b"a" * 250)],
                "address": [sni(b"203.0.113.40")]}.get(self.name, [sni(good)])

    def change(self, message):
        """A handshake message -> another."""
        body, at = message[4:], 34
        sid = body[at + 1:at + 1 + body[at]]
        at += 1 + len(sid)
        ciphers = body[at + 2:at + 2 + int.from_bytes(body[at:at + 2], "big")]
        at += 2 + len(ciphers)
        compressions = body[at + 1:at + 1 + body[at]]
        at += 1 + len(compressions)
        rest, extensions = body[at + 2:], []
        while rest:
            size = int.from_bytes(rest[2:4], "big")
            extensions.append((int.from_bytes(rest[:2], "big"), rest[4:4 + size]))
            rest = rest[4 + size:]
        others = [e for e in extensions if e[0] != 0]
        place = next((i for i, e in enumerate(extensions) if e[0] == 0), 0) if self.r.random() < 0.5 else self.r.randrange(len(others))
        if any(k == 41 for k, _ in others):
            place = min(place, len(others) - 1)
        changed = others[:place] + [(0, s) for s in self.server_name()] + others[place:]
        if self.name == "ech":
            changed.insert(0, (0xfe0d, self.r.choice([b"\0\0\1\0\1\7\0\0\0\4junk", b"\1", b"\0", b""])))
        if self.name == "twice":
            changed.insert(self.r.randrange(len(changed)), self.r.choice(changed))
        if self.name == "another ALPN":
            changed.insert(0, (16, vector(vector(b"h2", 1) + vector(b"", 1))))
        def w(what):
            return self.by if self.wrong == what else 0
        off = self.r.randrange(len(changed))
        listed = b"".join(u16(k) + vector(v, 2, w("extension") if i == off else 0) for i, (k, v) in enumerate(changed))
        listed = vector(listed, 2, w("extensions"))
        body = body[:34] + vector(sid, 1, w("session")) + vector(ciphers, 2, w("ciphers")) + vector(compressions, 1) + listed
        if self.wrong == "trailing":
            body += b"\0\0\0\x14\0\x12\0\0\x0f" + EVIL.encode()[:15]
        return b"\1" + vector(body, 3, w("message"))

    def wire(self, message, original):
        """As records."""
        def record(data, kind=22, version=0x0301):
            return bytes([kind]) + u16(version) + vector(data)
        r, how = self.r, self.records
        middle = r.randrange(1, len(message))
        pair = record(message[:middle]), record(message[middle:])
        change, alert = record(b"\1", 20, 0x0303), record(b"\1\0", 21)
        if how == "many":
            cuts = [0, *sorted(r.sample(range(1, len(message)), 9)), len(message)]
            return b"".join(record(message[a:b]) for a, b in zip(cuts, cuts[1:]))
        if how == "SSL 2":
            return b"\x80" + bytes([len(message) & 0xff]) + message
        return {"two": pair[0] + pair[1], "bytes": b"".join(record(message[i:i + 1]) for i in range(len(message))),
                "empty": pair[0] + record(b"") + pair[1], "version": record(message, version=r.choice([0x0300, 0x0303, 0x0304, 0x0200, 0x03ff])),
                "change first": change + record(message), "alert first": alert + record(message), "change inside": pair[0] + change + pair[1],
                "alert inside": pair[0] + alert + pair[1], "data first": record(b"x", 23) + record(message),
                "behind": record(message) + record(original), "same record": record(message + original), "type": record(message, 24),
                "junk behind": record(message) + b"GET / HTTP/1.1\r\n\r\n"}.get(how, record(message))


RETRY = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")


def say_hello(port, first, second, seconds):
    """One connection: the hello, changed; a second one if that is asked for.  What became of it."""
    out = ssl.MemoryBIO()
    into = ssl.MemoryBIO()
    tls = context_of_hellos().wrap_bio(into, out, server_hostname=GOOD)

    def next_message():
        try:
            tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        wire, message = out.read(), b""
        while wire:
            size = int.from_bytes(wire[3:5], "big")
            message += wire[5:5 + size] if wire[0] == 22 else b""
            wire = wire[5 + size:]
        return message

    def pieces(data, size):
        return [data[i:i + size] for i in range(0, len(data), size)] if size else [data]
    message = next_message()
    with socket.create_connection((GOOD, port), 5) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for piece in pieces(first.wire(first.change(message), message), first.cut):
            s.sendall(piece)
        s.settimeout(seconds)
        answer = s.recv(1 << 16)
        if not answer:
            return "closed"
        if answer[0] != 22 or RETRY not in answer[:60]:
            return "alert" if answer[0] == 21 else "answered"
        into.write(answer)
        message = next_message()
        if not message:
            return "no second"
        for piece in pieces(second.wire(second.change(message), message), second.cut):
            s.sendall(piece)
        answer = s.recv(1 << 16)
        return "again: " + ("closed" if not answer else "alert" if answer[0] == 21 else "answered")


# -- sending ---------------------------------------------------------------------

@functools.lru_cache
def context(*alpn):
    """By the trust of the system; made once."""
    made = ssl.create_default_context()
    if alpn:
        made.set_alpn_protocols(alpn)
    return made


@functools.lru_cache
def context_of_hellos():
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    made.check_hostname, made.verify_mode = False, ssl.CERT_NONE
    return made


def say_request(port, wire, tls):
    s = socket.create_connection((GOOD, port), 5)
    try:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            s = context().wrap_socket(s, server_hostname=GOOD)
        s.settimeout(0.6)
        s.sendall(wire.encode("latin1"))
        # A second request may follow in what one of the two takes for the body of the first.
        answer = b""
        while more := s.recv(1 << 16):
            answer += more
            s.settimeout(0.05)
        return answer[:15].decode("latin1")
    finally:
        s.close()


def say_h2(port, fields):
    def text(value):
        raw = value.encode("latin1")
        return (bytes([len(raw)]) if len(raw) < 127 else b"\x7f" + bytes([len(raw) - 127])) + raw
    block = b"".join(b"\0" + text(n) + text(v) for n, v in fields)
    with socket.create_connection((GOOD, port), 5) as raw, context("h2").wrap_socket(raw, server_hostname=GOOD) as s:
        s.settimeout(1)
        s.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\0\0\0\4\0\0\0\0\0" +
                  len(block).to_bytes(3, "big") + b"\1\5" + struct.pack(">I", 1) + block)
        got = b""
        while True:
            got += s.recv(1 << 16)
            at = 0
            while len(got) - at >= 9 and len(got) - at >= 9 + int.from_bytes(got[at:at + 3], "big"):
                size, kind = int.from_bytes(got[at:at + 3], "big"), got[at + 3]
                if kind in (1, 3, 7):
                    return {1: "head", 3: "reset", 7: "goaway"}[kind] + (" %x" % got[at + 9] if kind == 1 else "")
                at += 9 + size
            if not got:
                return "closed"


def send_all(job):
    """{"seed", "requests": [[port, tls, count]...], "h2": [[port, count]...], "hello": [[port, count]...], "hosts"}
    -> what became of each, in that order."""
    work = []
    for port, tls, count in job["requests"]:
        work += [(say_request, (port, wire, tls)) for wire in requests(job["seed"] + port, count, port)]
    for port, count in job["h2"]:
        work += [(say_h2, (port, fields)) for fields in requests_h2(job["seed"] + port, count, port)]
    for port, count in job["hello"]:
        for n in range(count):
            r = random.Random(f"{job['seed']} {port} {n}")
            # A second one is asked for where the first can be read.
            first = Hello(r)
            while n % 2 and (first.name, first.wrong, first.records) != ("as it is", None, "one"):
                first = Hello(r)
            work.append((say_hello, (port, first, Hello(r), 0.4)))
    out, lock = [None] * len(work), threading.Lock()
    left = iter(range(len(work)))

    def worker():
        while True:
            with lock:
                n = next(left, None)
            if n is None:
                return
            call, words = work[n]
            try:
                out[n] = call(*words)
            except Exception as e:  # whatever it is, it is said
                out[n] = type(e).__name__
    threads = [threading.Thread(target=worker) for _ in range(job.get("threads", 24))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    return out


if __name__ == "__main__":
    print(json.dumps(send_all(json.loads(sys.argv[1]))))
