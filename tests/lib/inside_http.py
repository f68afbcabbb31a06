# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 inside the box, byte for byte: what the gate opens is talked to as no library would."""

import base64
import os
import socket
import ssl
import struct
import time


class Talk:
    """One connection; TLS as any program of the box does it, by the system's own trust."""

    def __init__(self, host, port=443, tls=True, sni=None, alpn=None, seconds=10, version=None):
        self.s = socket.create_connection((host, port), seconds)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls:
            context = ssl.create_default_context()
            if alpn:
                context.set_alpn_protocols(alpn)
            if version:
                context.minimum_version = context.maximum_version = version
            self.s = context.wrap_socket(self.s, server_hostname=sni or host)
        self.data = b""
        self.host = host

    def send(self, data):
        self.s.sendall(data if isinstance(data, bytes) else data.encode("latin1"))

    def ask(self, target, method="GET", more="", body=b"", host=None):
        self.send(f"{method} {target} HTTP/1.1\r\nHost: {host or self.host}\r\n{more}\r\n".encode("latin1") + body)

    def fill(self):
        more = self.s.recv(1 << 16)
        if not more:
            raise EOFError
        self.data += more

    def until(self, mark):
        while mark not in self.data:
            self.fill()
        line, _, self.data = self.data.partition(mark)
        return line

    def exactly(self, count):
        while len(self.data) < count:
            self.fill()
        data, self.data = self.data[:count], self.data[count:]
        return data

    def answer(self, method="GET"):
        """{"status", "fields", "body", "trailers", "whole", "first"}"""
        began = time.monotonic()
        line, *lines = self.until(b"\r\n\r\n").decode("latin1").split("\r\n")
        fields = {k.strip().lower(): v.strip() for k, _, v in (f.partition(":") for f in lines)}
        status = int(line.split(" ")[1])
        out = {"status": status, "fields": fields, "body": "", "trailers": "", "whole": True,
               "ms": (time.monotonic() - began) * 1000}
        if method == "HEAD" or status < 200 or status in (204, 304):
            return out
        body = b""
        try:
            if fields.get("transfer-encoding") == "chunked":
                while size := int(self.until(b"\r\n"), 16):
                    body += self.exactly(size)
                    self.exactly(2)
                while line := self.until(b"\r\n"):
                    out["trailers"] += line.decode("latin1") + "\n"
            elif "content-length" in fields:
                want = int(fields["content-length"])
                while len(self.data) < want:
                    self.fill()
                body = self.exactly(want)
            else:
                while True:
                    self.fill()
        except (EOFError, OSError) as e:
            body += self.data
            self.data = b""
            out["whole"] = isinstance(e, EOFError) and not ("content-length" in fields or
                                                            "transfer-encoding" in fields)
            out["error"] = type(e).__name__
        out["body"] = body.decode("latin1")
        return out

    def get(self, target, method="GET", **more):
        self.ask(target, method, **more)
        return self.answer(method)

    def over(self, seconds=3):
        """Whether the other end closes now, without another byte."""
        self.s.settimeout(seconds)
        try:
            return self.data == b"" and self.s.recv(1) == b""
        except TimeoutError:
            return False
        except OSError:
            return True


def fetch(host, target="/echo", **more):
    """One request on a connection of its own; an error is a word."""
    ask = {k: more.pop(k) for k in ("method", "body", "host_field", "fields") if k in more}
    try:
        t = Talk(host, **more)
        method = ask.get("method", "GET")
        t.ask(target, method, ask.get("fields", ""), ask.get("body", b""), ask.get("host_field"))
        return t.answer(method)
    except ssl.SSLError as e:
        return {"status": 0, "error": "ssl " + str(e.reason), "body": ""}
    except (OSError, EOFError) as e:
        return {"status": 0, "error": type(e).__name__, "body": ""}


def frame(text, opcode=1):
    """A masked frame of WebSocket, as a client sends it."""
    mask = os.urandom(4)
    data = text if isinstance(text, bytes) else text.encode()
    size = bytes([0x80 | len(data)]) if len(data) < 126 else b"\xfe" + struct.pack(">H", len(data))
    return bytes([0x80 | opcode]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data))


def websocket(t, target="/ws", more=""):
    key = base64.b64encode(os.urandom(16)).decode()
    t.ask(target, more=f"Connection: keep-alive, Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
          f"Sec-WebSocket-Key: {key}\r\n{more}")
    return t.answer()
