# SPDX-License-Identifier: Apache-2.0
"""Origins for connections that the gate opens: HTTP/1.1 of every kind, and bad certificates.

    with Origins() as w:     a World (world.py) with these besides

What reaches them is kept byte for byte, as everywhere in the little internet.
"""

import asyncio
import base64
import hashlib
import os
import socket
import ssl
import struct
import subprocess
import zlib

import world

API, BAD = "203.0.113.20", ["203.0.113.%d" % n for n in range(21, 29)]
world.OWN += [API, *BAD]
BUNDLE = "/etc/ssl/certs/ca-certificates.crt"

# name -> how its certificate is made
BAD_CERTIFICATES = {
    "expired.bad.test": "-days -1",
    "wrong-name.bad.test": "",
    "self-signed.bad.test": "",
    "unknown-ca.bad.test": "",
    "client-only.bad.test": "",
    "not-a-ca.bad.test": "",
    "old-tls.bad.test": "",
    "no-tls.bad.test": "",
}
NAMES = {"api.open.test": [API], "also.open.test": [API], "read.open.test": [API],
         "pass.open.test": [API], "plain.open.test": [API], "ws.open.test": [API],
         "down.open.test": [world.NOBODY],
         **{name: [address] for name, address in zip(BAD_CERTIFICATES, BAD)}}


class Origins(world.World):
    def __init__(self):
        super().__init__()
        self.names = dict(NAMES)
        self.rules = {}

    def certificates(self):
        super().certificates()
        script = f"""
            set -e; cd {self.dir}
            leaf() {{ # name, CA, days, extensions
                openssl req -newkey rsa:2048 -nodes -keyout $1.key -out $1.csr -subj "/CN=$1"
                printf "$4" >$1.ext
                openssl x509 -req -in $1.csr -CA $2.pem -CAkey $2.key -CAcreateserial $3 -extfile $1.ext -out $1.pem
            }}
            common='basicConstraints=critical,CA:FALSE\\nauthorityKeyIdentifier=keyid\\n'
            server="${{common}}extendedKeyUsage=serverAuth\\n"
            leaf good ca '-days 2' "${{server}}subjectAltName=DNS:*.open.test"
            leaf expired ca '-days -1' "${{server}}subjectAltName=DNS:expired.bad.test"
            leaf wrong-name ca '-days 2' "${{server}}subjectAltName=DNS:another.bad.test"
            leaf client-only ca '-days 2' "${{common}}extendedKeyUsage=clientAuth\\nsubjectAltName=DNS:client-only.bad.test"
            leaf old-tls ca '-days 2' "${{server}}subjectAltName=DNS:old-tls.bad.test"
            openssl req -x509 -newkey rsa:2048 -nodes -keyout other.key -out other.pem -days 2 -subj '/CN=another CA' \\
                -addext keyUsage=keyCertSign
            leaf unknown-ca other '-days 2' "${{server}}subjectAltName=DNS:unknown-ca.bad.test"
            leaf not-a-ca good '-days 2' "${{server}}subjectAltName=DNS:not-a-ca.bad.test"
            cat good.pem >>not-a-ca.pem
            openssl req -x509 -newkey rsa:2048 -nodes -keyout self-signed.key -out self-signed.pem -days 2 \\
                -subj '/CN=self-signed.bad.test' -addext subjectAltName=DNS:self-signed.bad.test
            """
        subprocess.run(["bash", "-c", script], check=True, timeout=90 * world.SLOW, stdout=subprocess.DEVNULL,
                       stderr=subprocess.PIPE)
        # The user of this machine trusts its CA, as he would a company's.
        with open(BUNDLE) as f, open(self.ca) as ca:
            self.cover(BUNDLE, f.read() + ca.read())

    def context(self, name, alpn=("http/1.1",)):
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        c.load_cert_chain(os.path.join(self.dir, name + ".pem"), os.path.join(self.dir, name + ".key"))
        if alpn:
            c.set_alpn_protocols(list(alpn))
        return c

    async def listen(self, handler, host, port, **more):
        await asyncio.start_server(self.keeping(handler, port), host, port, backlog=4096,
                                   limit=1 << 20, **more)

    async def open_all(self):
        await super().open_all()
        await self.listen(self.api, API, 443, ssl=self.context("good"))
        await self.listen(self.api, API, 80)
        for name, address in zip(BAD_CERTIFICATES, BAD):
            short = name.split(".")[0]
            if short == "no-tls":
                await self.listen(self.no_tls, address, 443)
                continue
            c = self.context(short)
            if short == "old-tls":
                c.minimum_version = ssl.TLSVersion.TLSv1
                c.maximum_version = ssl.TLSVersion.TLSv1_1
                c.set_ciphers("ALL:@SECLEVEL=0")
            await self.listen(self.api, address, 443, ssl=c)

    async def no_tls(self, reader, writer, c):
        c.note(await reader.read(1 << 16))
        self.answer(writer, "what?\n", "400 Bad Request")
        await writer.drain()

    # -- HTTP/1.1 -----------------------------------------------------------------

    async def api(self, reader, writer, c):
        while head := await self.read_head(reader, c):
            line, *fields = head.decode("latin1").rstrip("\r\n").split("\r\n")
            method, target, _ = line.split(" ", 2)
            header = {k.strip().lower(): v.strip() for k, _, v in (f.partition(":") for f in fields)}
            handler = getattr(self, "on_" + target.split("?")[0].split("/")[1].replace("-", "_"), self.on_echo)
            if not await handler(reader, writer, c, method, target, header, head):
                return
            await writer.drain()

    async def whole_body(self, reader, c, header):
        """(length, checksum, trailers); nothing is kept of what is long."""
        length = crc = 0
        trailers = b""
        if header.get("transfer-encoding") == "chunked":
            while size := int((line := await reader.readline()).split(b";")[0], 16):
                c.note(line)
                data = await reader.readexactly(size)
                length, crc = length + size, zlib.crc32(data, crc)
                c.note(data + await reader.readline())
            c.note(line)
            while (line := await reader.readline()) != b"\r\n":
                trailers += line
            c.note(trailers + b"\r\n")
        else:
            left = int(header.get("content-length", 0))
            while left > 0:
                data = await reader.read(min(left, 1 << 20))
                if not data:
                    raise ConnectionResetError
                length, crc, left = length + len(data), zlib.crc32(data, crc), left - len(data)
                c.note(data)
        return length, crc, trailers

    @staticmethod
    def answer(writer, body, status="200 OK", more=""):
        if isinstance(body, str):
            body = body.encode()
        writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{more}\r\n".encode() + body)
        return True

    async def on_echo(self, reader, writer, c, method, target, header, head):
        length, crc, trailers = await self.whole_body(reader, c, header)
        body = head + f"{length} {crc}\n".encode() + trailers
        if method == "HEAD":
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode())
            return True
        return self.answer(writer, body)

    async def on_sse(self, reader, writer, c, *_):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        for n in range(5):
            event = f"data: {n}\n\n".encode()
            writer.write(b"%x\r\n%s\r\n" % (len(event), event))
            await writer.drain()
            await asyncio.sleep(0.2)
        writer.write(b"0\r\n\r\n")
        return True

    async def on_poll(self, reader, writer, c, *_):
        await asyncio.sleep(2)
        return self.answer(writer, "at last\n")

    async def on_continue(self, reader, writer, c, method, target, header, head):
        if header.get("expect") == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            await writer.drain()
        length, crc, _ = await self.whole_body(reader, c, header)
        return self.answer(writer, f"{length} {crc}\n")

    async def on_no_thanks(self, reader, writer, c, *_):
        """Answers before the body, and ends."""
        self.answer(writer, "too much\n", "413 Content Too Large", "Connection: close\r\n")
        await writer.drain()
        return False

    async def on_hints(self, reader, writer, c, *_):
        writer.write(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(0.1)
        return self.answer(writer, "hinted\n")

    async def on_chunked(self, reader, writer, c, *_):
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
                     b"5\r\nhello\r\n7;ext=1\r\n, world\r\n0\r\nX-Sum: 12\r\n\r\n")
        return True

    async def on_until_close(self, reader, writer, c, *_):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nto the end")
        await writer.drain()
        return False

    async def on_cut(self, reader, writer, c, *_):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        await writer.drain()
        await asyncio.sleep(0.05)
        writer.transport.abort()
        return False

    async def on_cut_until_close(self, reader, writer, c, *_):
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nhalf")
        await writer.drain()
        await asyncio.sleep(0.05)
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()
        return False

    async def on_silence(self, reader, writer, c, *_):
        writer.transport.abort()
        return False

    async def on_close_after(self, reader, writer, c, *_):
        """Kept alive, it says, and closes."""
        self.answer(writer, "kept?\n")
        await writer.drain()
        return False

    async def on_big(self, reader, writer, c, method, target, *_):
        await self.send_big(writer, int(target.rsplit("/", 1)[1]))
        return True

    async def on_empty(self, reader, writer, c, *_):
        writer.write(b"HTTP/1.1 204 No Content\r\nX-Kind: empty\r\n\r\n")
        return True

    async def on_not_modified(self, reader, writer, c, *_):
        writer.write(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n")
        return True

    async def on_ws(self, reader, writer, c, method, target, header, head):
        if header.get("upgrade", "").lower() != "websocket":
            return self.answer(writer, "no upgrade\n", "426 Upgrade Required")
        accept = base64.b64encode(hashlib.sha1((header["sec-websocket-key"] +
                                                "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest())
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                     b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        await self.echo(reader, writer, c)
        return False

    MALFORMED = {
        "two-lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        "both": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "bare-lf": b"HTTP/1.1 200 OK\nContent-Length: 2\n\nab",
        "folded": b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
        "not-http": b"220 mail.test ESMTP\r\n",
        "nul": b"HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n",
        "switch": b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        "huge": b"HTTP/1.1 200 OK\r\nX: " + b"a" * 70000 + b"\r\nContent-Length: 0\r\n\r\n",
        "coding": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    }

    async def on_malformed(self, reader, writer, c, method, target, *_):
        writer.write(self.MALFORMED[target.rsplit("/", 1)[1]])
        await writer.drain()
        await asyncio.sleep(0.2)
        return False
