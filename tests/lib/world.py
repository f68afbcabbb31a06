# SPDX-License-Identifier: Apache-2.0
"""A little internet on the loopback of a network namespace: names, servers, logs.

    enter()              starts the test over inside namespaces of its own
    with World() as w:   addresses, DNS and origins; w.dns, w.origin(...) tell what reached them

The test and all that it starts live in a network that has no way out, so nothing can leave
the machine, whatever breaks.  bawn runs in it as the same user as the test, without
capabilities; its resolver asks the name server here, because resolv.conf and
nsswitch.conf are ours in this mount namespace.

All servers are tasks of one thread.  What reaches them is kept byte for byte (the first
LOG_MAX of each connection).
"""

import asyncio
import ctypes
import hashlib
import os
import resource
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

LOG_MAX = 1 << 20
PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL = 47, 4
DNS_ADDRESS = "192.0.2.53"
WEB, WEB6, RAW, TLS_LOG = "203.0.113.10", "2001:db8::10", "203.0.113.11", "203.0.113.12"
PLAIN = "198.51.100.11"
NOBODY = "203.0.113.99"          # on loopback, nobody listens
VERIFIED = "192.0.2.1"            # an address that `bawn verify` tries
OWN = [DNS_ADDRESS, VERIFIED, WEB, RAW, TLS_LOG, NOBODY, "198.51.100.10", PLAIN]
# Where no name may lead.  On this loopback all of them answer, and tell.
TRAPS = ["10.0.0.5", "172.16.0.5", "192.168.0.5", "169.254.169.254", "100.64.0.5", "192.0.0.5",
         "198.18.0.77", "240.0.0.5", "fd00::5", "fd00:ec2::254", "64:ff9b::a9fe:a9fe",
         "64:ff9b::7f00:1", "2002:a00:5::1", "2002:7f00:1::1", "fec0::5"]
ECHO, RESET, REFUSED, SILENT, LATE, COUNT = 7000, 7001, 7002, 7003, 7004, 7005
RETRY = 8443                     # of TLS_LOG: asks for a second ClientHello; of WEB: a real server that does
MARK = "BAWN_TEST_WORLD"
SLOW = int(os.environ.get("BAWN_TEST_SLOW", "1"))          # an emulated processor


def enter(seconds=900):
    """Starts this program over in a network and mounts of its own, once."""
    if os.environ.get(MARK):
        return
    os.environ[MARK] = "1"
    command = ["unshare", "--net", "--mount"]
    if os.geteuid() != 0:
        command += ["--user", "--map-current-user", "--keep-caps"]
    os.execvp("timeout", ["timeout", "-k", "5", str(seconds * SLOW), *command, sys.executable, *sys.argv])


def give_up_authority():
    """For a child before its exec: what enter() gave is not for bawn."""
    ctypes.CDLL(None).prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)


class Connection:
    """What one client sent to an origin."""

    def __init__(self, port, peer):
        self.port, self.peer, self.data, self.closed = port, peer, b"", False
        self.length = 0           # of COUNT's, which keeps no bytes

    def note(self, data):
        if len(self.data) < LOG_MAX:
            self.data += data[:LOG_MAX - len(self.data)]


class World:
    def __init__(self):
        self.names = {}           # name -> [address...], or a list of such lists, one a question
        self.questions = []       # (name, type)
        self.connections = []     # of every origin
        self.files = {}           # path -> bytes, of the web server
        self.lock = threading.Lock()
        self.dir = tempfile.mkdtemp(prefix="bawn-world-", dir=os.environ.get("TMPDIR", "/var/tmp"))
        os.chmod(self.dir, 0o755)
        self.loop = asyncio.new_event_loop()

    # -- making it ---------------------------------------------------------------

    def __enter__(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        self.ip("link", "set", "lo", "up")
        with open("/proc/sys/net/ipv6/ip_nonlocal_bind", "w") as f:
            f.write("1")
        for address in OWN + TRAPS + [WEB6]:
            self.host(address)
        self.cover("/etc/resolv.conf", f"nameserver {DNS_ADDRESS}\noptions timeout:{min(30, 2 * SLOW)} attempts:1\n")
        self.cover("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n")
        self.certificates()
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.ready = threading.Event()
        self.thread.start()
        if not self.ready.wait(10 * SLOW):
            raise RuntimeError("the little internet did not start")
        return self

    def __exit__(self, *_):
        def end():
            for task in asyncio.all_tasks(self.loop):
                task.cancel()
            self.loop.call_soon(self.loop.stop)
        self.loop.call_soon_threadsafe(end)
        self.thread.join(5)
        shutil.rmtree(self.dir, ignore_errors=True)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, timeout=10 * SLOW)

    @classmethod
    def host(cls, address):
        """A host of its own, as far as bawn can see: it answers here, and is no address of an interface."""
        cls.ip("route", "add", "local", address + ("/128" if ":" in address else "/32"), "dev", "lo", "table", "local")

    def cover(self, path, text):
        mine = os.path.join(self.dir, os.path.basename(path))
        with open(mine, "w") as f:
            f.write(text)
        os.chmod(mine, 0o644)
        # The file itself: resolv.conf is a link on many machines.
        subprocess.run(["mount", "--bind", mine, os.path.realpath(path)], check=True, timeout=10 * SLOW)

    def certificates(self):
        """A CA and a leaf for every name that ends in .test, by openssl."""
        self.ca = os.path.join(self.dir, "ca.pem")
        leaf, key = os.path.join(self.dir, "leaf.pem"), os.path.join(self.dir, "leaf.key")
        script = f"""
            set -e; cd {self.dir}
            openssl req -x509 -newkey rsa:2048 -nodes -keyout ca.key -out ca.pem -days 2 \
                -subj '/CN=a little internet' -addext keyUsage=keyCertSign
            openssl req -newkey rsa:2048 -nodes -keyout leaf.key -out leaf.csr -subj /CN=web.test
            printf 'subjectAltName=DNS:web.test,DNS:six.test,DNS:both.test,DNS:*.wild.test,DNS:github.com,DNS:example.org' >ext
            openssl x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 \
                -extfile ext -out leaf.pem
            chmod 644 ca.pem"""
        subprocess.run(["sh", "-c", script], check=True, timeout=60 * SLOW, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls.load_cert_chain(leaf, key)
        self.tls_p256 = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.tls_p256.load_cert_chain(leaf, key)
        self.tls_p256.set_ecdh_curve("prime256v1")

    def serve(self):
        asyncio.set_event_loop(self.loop)
        self.loop.run_until_complete(self.open_all())
        self.ready.set()
        self.loop.run_forever()

    async def open_all(self):
        self.never = asyncio.Event()
        await self.loop.create_datagram_endpoint(lambda: Names(self), local_addr=(DNS_ADDRESS, 53))

        async def listen(handler, host, port, **more):
            await asyncio.start_server(self.keeping(handler, port), host, port, backlog=4096, **more)
        for address in (WEB, WEB6, "198.51.100.10"):
            await listen(self.web, address, 80)
            await listen(self.web, address, 443, ssl=self.tls)
            await listen(self.web, address, 8080)
        await listen(self.web, PLAIN, 443)       # HTTP, no TLS
        await listen(self.swallow, TLS_LOG, 443)
        await listen(self.swallow, TLS_LOG, 80)
        await listen(self.retry, TLS_LOG, RETRY)
        await listen(self.web, WEB, RETRY, ssl=self.tls_p256)
        await listen(self.swallow, VERIFIED, 443)
        for port, handler in ((ECHO, self.echo), (RESET, self.reset), (SILENT, self.silent),
                              (LATE, self.late), (COUNT, self.count)):
            await listen(handler, RAW, port)
        for port in (80, 443, 8080, ECHO):
            for address in TRAPS + ["127.0.0.1", "::1"]:
                await listen(self.trap, address, port)

    def listen(self, handler, host, port):
        """One more server."""
        async def open_one():
            await asyncio.start_server(self.keeping(handler, port), host, port)
        asyncio.run_coroutine_threadsafe(open_one(), self.loop).result(10 * SLOW)

    # -- what reached us -----------------------------------------------------------

    def keeping(self, handler, port):
        async def kept(reader, writer):
            name = writer.get_extra_info("sockname")
            c = Connection(port, name[0])
            with self.lock:
                self.connections.append(c)
            try:
                await handler(reader, writer, c)
            except (ConnectionError, asyncio.IncompleteReadError, ssl.SSLError, TimeoutError):
                pass
            finally:
                c.closed = True
                writer.close()
        return kept

    def forget(self):
        with self.lock:
            self.connections, self.questions = [], []

    def reached(self, address=None, port=None):
        with self.lock:
            return [c for c in self.connections if (address is None or c.peer == address) and
                    (port is None or c.port == port)]

    def bytes_at(self, address, port=None):
        return b"".join(c.data for c in self.reached(address, port))

    def asked(self):
        with self.lock:
            return sorted({name for name, _ in self.questions})

    def trapped(self):
        return [(c.peer, c.port) for c in self.reached() if c.peer in TRAPS + ["127.0.0.1", "::1"]]

    # -- the origins ---------------------------------------------------------------

    async def echo(self, reader, writer, c):
        while data := await reader.read(1 << 16):
            c.note(data)
            writer.write(data)
            await writer.drain()

    async def reset(self, reader, writer, c):
        c.note(await reader.read(1 << 16))
        sock = writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    async def silent(self, reader, writer, c):
        """Neither reads nor writes nor closes."""
        await self.never.wait()

    async def late(self, reader, writer, c):
        """Says nothing until the client has said all; then all of it, backwards."""
        data = await reader.read(-1)
        c.note(data)
        writer.write(data[::-1])
        await writer.drain()

    async def count(self, reader, writer, c):
        """Tells the length and the checksum of all that was sent."""
        length = crc = 0
        while data := await reader.read(1 << 20):
            length, crc = length + len(data), zlib.crc32(data, crc)
            c.length = length
        writer.write(f"{length} {crc}".encode())
        await writer.drain()

    async def swallow(self, reader, writer, c):
        while data := await reader.read(1 << 16):
            c.note(data)

    async def retry(self, reader, writer, c):
        """Answers the first bytes with a HelloRetryRequest for another group; keeps the rest."""
        random = hashlib.sha256(b"HelloRetryRequest").digest()
        extensions = b"\0\x2b\0\2\3\4" + b"\0\x33\0\2\0\x17"
        body = b"\3\3" + random + b"\0" + b"\x13\1" + b"\0" + struct.pack(">H", len(extensions)) + extensions
        c.note(await reader.read(1 << 16))
        writer.write(b"\x16\3\3" + struct.pack(">HI", len(body) + 4, 2 << 24 | len(body)) + body)
        await self.swallow(reader, writer, c)

    async def trap(self, reader, writer, c):
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\ntrapped\n")
        await self.swallow(reader, writer, c)

    async def web(self, reader, writer, c):
        """HTTP/1.1, kept alive.  GET tells what was asked for; /big/N gives N bytes."""
        while head := await self.read_head(reader, c):
            line, *fields = head.decode("latin1").split("\r\n")
            method, target, _ = line.split(" ", 2)
            header = {k.strip().lower(): v.strip() for k, _, v in (f.partition(":") for f in fields)}
            body = await self.read_body(reader, c, header)
            if target == "/websocket":
                writer.write(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
                await self.echo(reader, writer, c)
                return
            if target.startswith("/big/"):
                await self.send_big(writer, int(target.rsplit("/", 1)[1]))
                continue
            path = target.split("?")[0]
            status = "200 OK"
            if method == "POST":
                answer = f"{len(body)} {zlib.crc32(body)}\n".encode()
            elif path in self.files:
                answer = self.files[path]
            elif path.startswith(("/repo.git/", "/debian/")):
                status, answer = "404 Not Found", b""
            else:
                answer = f"{header.get('host')} {target}\n".encode()
            kind = "text/html" if path.endswith("/") else "application/octet-stream"
            writer.write(f"HTTP/1.1 {status}\r\nContent-Length: {len(answer)}\r\n"
                         f"Content-Type: {kind}\r\n\r\n".encode() +
                         (b"" if method == "HEAD" else answer))
            await writer.drain()

    @staticmethod
    async def read_head(reader, c):
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError as e:
            c.note(e.partial)
            return b""
        c.note(head)
        return head

    @staticmethod
    async def read_body(reader, c, header):
        body = b""
        if header.get("transfer-encoding") == "chunked":
            while size := int((await reader.readline()).split(b";")[0], 16):
                body += await reader.readexactly(size)
                await reader.readline()
            await reader.readline()
        elif "content-length" in header:
            body = await reader.readexactly(int(header["content-length"]))
        c.note(body)
        return body

    @staticmethod
    async def send_big(writer, size):
        block = big_block()
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode())
        while size > 0:
            writer.write(block[:size])
            await writer.drain()
            size -= len(block)


def big_block():
    """The piece that /big/ repeats: not the same at two places."""
    return b"".join(struct.pack(">I", n * 2654435761 & 0xffffffff) for n in range(1 << 16))


class Names(asyncio.DatagramProtocol):
    """The authoritative server: tells who was asked for, answers from a table."""

    def __init__(self, world):
        self.world = world

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, peer):
        labels, i = [], 12
        while data[i]:
            labels.append(data[i + 1:i + 1 + data[i]].decode("latin1"))
            i += data[i] + 1
        kind = struct.unpack(">H", data[i + 1:i + 3])[0]
        name = ".".join(labels).lower()
        w = self.world
        with w.lock:
            before = sum(q == (name, kind) for q in w.questions)
            w.questions.append((name, kind))
        found = w.names.get(name)
        if found is None and name.endswith(".example.org"):
            found = [WEB]
        if found and isinstance(found[0], list):   # another answer each time it is asked
            found = found[min(before, len(found) - 1)]
        answers = [a for a in found or [] if (":" in a) == (kind == 28) and kind in (1, 28)]
        records = b""
        for a in answers:
            raw = socket.inet_pton(socket.AF_INET6 if kind == 28 else socket.AF_INET, a)
            records += b"\xc0\x0c" + struct.pack(">HHIH", kind, 1, 0, len(raw)) + raw
        flags = 0x8580 if found is not None else 0x8583
        self.transport.sendto(data[:2] + struct.pack(">HHHHH", flags, 1, len(answers), 0, 0) +
                              data[12:i + 5] + records, peer)
