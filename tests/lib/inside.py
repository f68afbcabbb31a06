# SPDX-License-Identifier: Apache-2.0
"""What the network scenario runs inside the box: clients that say exactly what they are told.

Every function returns plain data; the scenario prints it as JSON and judges outside.
"""

import errno
import resource
import socket
import struct
import time

SLOW = 1                          # an emulated processor: how many times as long everything may take
SERVICE, CONNECT_PORT, SOCKS_PORT = "10.255.255.53", 3128, 1080


def word(e):
    """An error as a word: ECONNREFUSED, timeout, or what getaddrinfo said."""
    if isinstance(e, socket.gaierror):
        return f"gai {e.errno}"
    if isinstance(e, TimeoutError):
        return "timeout"
    return errno.errorcode.get(getattr(e, "errno", None), type(e).__name__)


def raise_limit():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def talk(host, port, data=b"", shut=False, seconds=5, pieces=None, want=None):
    """Connects, sends, reads to the end (or until `want`): {"error", "at", "got", "ms"}."""
    began, at, got = time.monotonic(), "connect", b""
    error = None
    try:
        s = socket.create_connection((host, port), seconds * SLOW)
        with s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            at = "send"
            for piece in pieces or ([data] if data else []):
                s.sendall(piece)
            if shut:
                s.shutdown(socket.SHUT_WR)
            at = "read"
            while want is None or want not in got:
                more = s.recv(65536)
                if not more:
                    break
                got += more
    except OSError as e:
        error = word(e)
    return {"error": error, "at": at, "got": got.decode("latin1"),
            "ms": (time.monotonic() - began) * 1000}


def connect_error(host, port, seconds=3):
    """(the word of the error of connect alone, its time in ms)"""
    began = time.monotonic()
    try:
        socket.create_connection((host, port), seconds * SLOW).close()
        return "connected", (time.monotonic() - began) * 1000
    except OSError as e:
        return word(e), (time.monotonic() - began) * 1000


def lookup(name):
    began = time.monotonic()
    try:
        found = sorted({a[4][0] for a in socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)})
    except (OSError, UnicodeError) as e:
        found = word(e)
    return found, (time.monotonic() - began) * 1000


def exactly(s, count):
    data = b""
    while len(data) < count:
        more = s.recv(count - len(data))
        if not more:
            return None
        data += more
    return data


def socks(host, port, kind=3, seconds=5):
    """The reply code of SOCKS5, or a word.  host: bytes, as they go on the wire."""
    try:
        with socket.create_connection((SERVICE, SOCKS_PORT), seconds * SLOW) as s:
            s.sendall(b"\5\1\0")
            if exactly(s, 2) != b"\5\0":
                return "no method"
            name = bytes([len(host)]) + host if kind == 3 else host
            s.sendall(b"\5\1\0" + bytes([kind]) + name + struct.pack(">H", port))
            reply = exactly(s, 4)
            return reply[1] if reply else "closed"
    except OSError as e:
        return word(e)


def connect(authority, seconds=5):
    """The status of CONNECT, or a word.  authority: bytes."""
    try:
        with socket.create_connection((SERVICE, CONNECT_PORT), seconds * SLOW) as s:
            s.sendall(b"CONNECT " + authority + b" HTTP/1.1\r\nHost: " + authority + b"\r\n\r\n")
            data = s.recv(65536)
            return int(data[9:12]) if data[:5] == b"HTTP/" else "closed"
    except OSError as e:
        return word(e)


def request(name, host, path="/", port=80, seconds=5):
    """The status of a plain GET to `name` with this Host (bytes), or a word."""
    r = talk(name, port, b"GET " + path.encode() + b" HTTP/1.1\r\nHost: " + host +
             b"\r\nConnection: close\r\n\r\n", want=b"\r\n\r\n", seconds=seconds)
    return int(r["got"][9:12]) if r["got"].startswith("HTTP/") else r["error"] or "closed"


def hello(sni, extra=b"", second_sni=None):
    """A ClientHello of TLS 1.3 with this server name (bytes; None: without)."""
    def extension(kind, body):
        return struct.pack(">HH", kind, len(body)) + body

    def name(n):
        entry = b"\0" + struct.pack(">H", len(n)) + n
        return extension(0, struct.pack(">H", len(entry)) + entry)
    extensions = b"" if sni is None else name(sni)
    if second_sni is not None:
        extensions += name(second_sni)
    extensions += extension(43, b"\2\3\4") + extension(10, b"\0\2\0\x1d") + extra
    body = (b"\3\3" + bytes(32) + b"\0" + b"\0\2\x13\1" + b"\1\0" +
            struct.pack(">H", len(extensions)) + extensions)
    shake = b"\1" + struct.pack(">I", len(body))[1:] + body
    return b"\x16\3\1" + struct.pack(">H", len(shake)) + shake


def handshake(name, data, port=443, pieces=None, seconds=1.0):
    """What comes back for a ClientHello: "alert N", "reset", "closed", or "quiet"."""
    try:
        with socket.create_connection((name, port), 5 * SLOW) as s:
            s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for piece in pieces or [data]:
                s.sendall(piece)
            s.settimeout(seconds * SLOW)
            answer = s.recv(100)
    except TimeoutError:
        return "quiet"
    except OSError as e:
        return word(e)
    if not answer:
        return "closed"
    return f"alert {answer[6]}" if answer[0] == 0x15 else "answer"


def dns(name, kind=1, server="192.0.2.1", tcp=False, seconds=2):
    """(rcode, count of answers) from any server; name: list of labels (bytes)."""
    q = (b"\x12\x34\1\0\0\1\0\0\0\0\0\0" + b"".join(bytes([len(n)]) + n for n in name) + b"\0" +
         struct.pack(">HH", kind, 1))
    try:
        if tcp:
            with socket.create_connection((server, 53), seconds * SLOW) as s:
                s.sendall(struct.pack(">H", len(q)) + q)
                a = exactly(s, struct.unpack(">H", exactly(s, 2))[0])
        else:
            with socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET,
                               socket.SOCK_DGRAM) as s:
                s.settimeout(seconds * SLOW)
                s.connect((server, 53))
                s.send(q)
                a = s.recv(4096)
        return [a[3] & 15, struct.unpack(">H", a[6:8])[0]]
    except OSError as e:
        return word(e)
