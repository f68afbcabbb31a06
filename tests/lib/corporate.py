# SPDX-License-Identifier: Apache-2.0
"""A company's network: a proxy with a login, names that only the proxy knows, a private authority, mirrors with tokens.

    with Corporate() as w:     a World (world.py) with these besides

w.hidden has the names that the proxy knows and the name server does not.  w.connects is what the proxy was asked for:
(how, host:port, login, what became of it).  w.requests is what the mirrors were asked for: (host, method, path, login).
"""

import asyncio
import base64
import os
import socket
import ssl
import struct
import subprocess

import world

PROXY, INSIDE, NEAR = "203.0.113.40", "203.0.113.41", "203.0.113.42"
CONNECT, SOCKS, SILENT, FULL = 3128, 1080, 3129, 3130
USER, PASSWORD = "ada", "proxy-pass-Vb7Nm4Xk"
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"
world.OWN += [PROXY, INSIDE, NEAR]


class Corporate(world.World):
    def __init__(self):
        super().__init__()
        self.hidden = {}          # name -> address
        self.forbidden = set()    # names that the proxy does not let through
        self.connects, self.requests = [], []
        self.logins = {}          # host -> the field Authorization that it wants
        self.served = {}          # (host, path) -> bytes

    def certificates(self):
        super().certificates()
        script = f"""
            set -e; cd {self.dir}
            openssl req -x509 -newkey rsa:2048 -nodes -keyout corp.key -out corp.pem -days 2 \
                -subj '/CN=the private authority of a company' -addext keyUsage=keyCertSign
            openssl req -newkey rsa:2048 -nodes -keyout in.key -out in.csr -subj /CN=in.corp.test
            printf 'subjectAltName=DNS:*.corp.test' >in.ext
            openssl x509 -req -in in.csr -CA corp.pem -CAkey corp.key -CAcreateserial -days 2 -extfile in.ext -out in.pem"""
        subprocess.run(["sh", "-c", script], check=True, timeout=60 * world.SLOW, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        with open(os.path.join(self.dir, "corp.pem")) as f, open(self.ca) as g:
            authorities = f.read() + g.read()
        self.cover(BUNDLE, authorities)
        self.tls_inside = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls_inside.load_cert_chain(os.path.join(self.dir, "in.pem"), os.path.join(self.dir, "in.key"))

    async def open_all(self):
        await super().open_all()

        async def listen(handler, host, port, **more):
            await asyncio.start_server(self.keeping(handler, port), host, port, **more)
        await listen(self.connect_proxy, PROXY, CONNECT)
        await listen(self.socks_proxy, PROXY, SOCKS)
        await listen(self.silent, PROXY, SILENT)
        for address in INSIDE, NEAR:
            await listen(self.mirror, address, 80)
            await listen(self.mirror, address, 443, ssl=self.tls_inside)
            await listen(self.greeter, address, 22)

    def fill(self, address, port):
        """Nobody takes connections there any more: each further one is neither refused nor made."""
        full = socket.socket()
        full.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        full.bind((address, port))
        full.listen(0)
        waiting = []
        for _ in range(4):
            s = socket.socket()
            s.setblocking(False)
            s.connect_ex((address, port))
            waiting.append(s)
        return [full, *waiting]

    # -- the proxies -----------------------------------------------------------------

    async def through(self, how, target, login, reader, writer, yes, no):
        """Tells of it, and passes bytes on, or says no.  `yes` and the origin's first words go in one piece."""
        host, _, port = target.rpartition(":")
        address = self.hidden.get(host) or (self.names.get(host) or [None])[0]
        said = ("login" if login != f"{USER}:{PASSWORD}" else "forbidden" if host in self.forbidden else
                "unknown" if not address else "yes")
        with self.lock:
            self.connects.append((how, target, login, said))
        if said != "yes":
            writer.write(no(said))
            await writer.drain()
            return
        try:
            there, back = await asyncio.open_connection(address, int(port))
        except OSError:
            writer.write(no("unknown"))
            return
        first = b""
        if port == "22":                          # it speaks first
            first = await there.read(1 << 16)
        writer.write(yes + first)

        async def pass_on(source, into):
            try:
                while data := await source.read(1 << 16):
                    into.write(data)
                    await into.drain()
                into.write_eof()
            except (ConnectionError, OSError, RuntimeError):
                into.close()
        await asyncio.gather(pass_on(reader, back), pass_on(there, writer))
        back.close()

    async def connect_proxy(self, reader, writer, c):
        head = (await self.read_head(reader, c)).decode("latin1")
        if not head:
            return
        line, *fields = head.split("\r\n")
        method, target, _ = line.split(" ", 2)
        login = next((base64.b64decode(f.split()[-1]).decode() for f in fields
                      if f.lower().startswith("proxy-authorization:")), "")
        answers = {"login": "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"corp\"",
                   "forbidden": "403 Forbidden", "unknown": "502 Bad Gateway"}
        if method != "CONNECT":
            writer.write(b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n")
            return
        await self.through("CONNECT", target, login, reader, writer, b"HTTP/1.1 200 Connection established\r\nVia: 1.1 corp\r\n\r\n",
                           lambda said: f"HTTP/1.1 {answers[said]}\r\nContent-Length: 3\r\n\r\nno\n".encode())

    async def socks_proxy(self, reader, writer, c):
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        if 2 not in methods:
            writer.write(b"\5\xff")
            return
        writer.write(b"\5\2")
        user = await reader.readexactly((await reader.readexactly(2))[1])
        password = await reader.readexactly((await reader.readexactly(1))[0])
        login = f"{user.decode()}:{password.decode()}"
        writer.write(b"\1\0" if login == f"{USER}:{PASSWORD}" else b"\1\1")
        _, _, _, kind = await reader.readexactly(4)
        if kind == 3:
            host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
        else:
            host = socket.inet_ntop(socket.AF_INET, await reader.readexactly(4))
        port = struct.unpack(">H", await reader.readexactly(2))[0]
        await self.through("SOCKS5", f"{host}:{port}", login, reader, writer, b"\5\0\0\1\0\0\0\0\0\0",
                           lambda said: b"\5" + (b"\2" if said == "forbidden" else b"\4") + b"\0\1\0\0\0\0\0\0")

    # -- what is inside --------------------------------------------------------------

    async def greeter(self, reader, writer, c):
        """Speaks first, then says back what it is told."""
        writer.write(b"a greeting\n")
        await self.echo(reader, writer, c)

    async def mirror(self, reader, writer, c):
        while head := await self.read_head(reader, c):
            line, *fields = head.decode("latin1").split("\r\n")
            method, target, _ = line.split(" ", 2)
            header = {k.strip().lower(): v.strip() for k, _, v in (f.partition(":") for f in fields)}
            await self.read_body(reader, c, header)
            host, path = header.get("host", ""), target.split("?")[0]
            login = header.get("authorization", "")
            with self.lock:
                self.requests.append((host, method, path, login))
            status, answer = "200 OK", self.served.get((host, path))
            if self.logins.get(host, "") != login and self.logins.get(host):
                status, answer = "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"mirror\"", b"no\n"
            elif answer is None and (host, "/*") in self.served:
                answer = f"{host} {target}\n".encode()
            elif answer is None:
                status, answer = "404 Not Found", b"nothing\n"
            kind = "text/html" if path.endswith("/") else "application/json" if answer[:1] == b"{" else "application/octet-stream"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(answer)}\r\nContent-Type: {kind}\r\n\r\n".encode() +
                         (b"" if method == "HEAD" else answer))
            await writer.drain()

    def forget(self):
        super().forget()
        with self.lock:
            self.connects, self.requests = [], []
