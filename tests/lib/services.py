# SPDX-License-Identifier: Apache-2.0
"""Real servers for the little internet (tests/lib/world.py): sshd, postgres, redis, a Debian archive.

    server = Sshd(w)            w: the World; each server stands at WEB, at its protocol's own port
    server.start()              returns when it listens; raises RuntimeError with its log when it does not
    server.connections()        how many it has taken so far, by its own log
    server.stop()

Each runs as the user of the test, from Debian's own program, with keys, certificates and
passwords made for this run and all its files in the world's folder.  Postgres refuses to be
root's; there it is nobody's.
"""

import getpass
import glob
import gzip
import hashlib
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import time

from bawntest import read, run
from world import WEB

NOBODY_ID = 65534
START_SECONDS = 30


def program(name):
    """Where a program is, also when it is not in the path of an ordinary user; None without it."""
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    below = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{name}"))
    return found or (below[-1] if below else None)


def must(*argv, **more):
    """Runs a command that has to succeed."""
    r = run(*argv, **{"timeout": 60, **more})
    if r.status != 0:
        raise RuntimeError(f"{' '.join(map(str, argv))}: {r}")
    return r.out


class Server:
    """One program, its folder, its log."""

    port = 0
    accepted = ""        # the line of the log that tells of a connection

    def __init__(self, world):
        self.world, self.child = world, None
        self.dir = os.path.join(world.dir, type(self).__name__.lower())
        os.mkdir(self.dir)
        self.log = os.path.join(self.dir, "log")

    def prepare(self):
        """Makes what it needs; returns its command line."""
        raise NotImplementedError

    def start(self):
        argv = self.prepare()
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.dir,
                                          start_new_session=True)
        end = time.monotonic() + START_SECONDS
        while self.child.poll() is None and time.monotonic() < end:
            try:
                socket.create_connection((WEB, self.port), 1).close()
                return
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f"{argv[0]} does not start:\n{read(self.log)}")

    def connections(self):
        return len(re.findall(self.accepted, read(self.log)))

    def stop(self):
        if self.child:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(5)
            except subprocess.TimeoutExpired:
                self.child.kill()
                self.child.wait()


class Sshd(Server):
    """OpenSSH's server, for this very user, by a key alone; with a bare repository to work on."""

    port, accepted = 22, r"Connection from "
    tools = ("sshd", "ssh", "ssh-keygen", "git")

    def prepare(self):
        self.user = getpass.getuser()
        self.key, host = os.path.join(self.dir, "key"), os.path.join(self.dir, "host")
        for path in (self.key, host):
            must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", path)
        self.repository = os.path.join(self.dir, "over.git")
        must("sh", "-c", f"""
            set -e; export GIT_CONFIG_GLOBAL=/dev/null
            git init -q -b main work; cd work; echo 'from over there' >file; git add file
            git -c user.name=Test -c user.email=test@example.test commit -q -m first; cd ..
            git clone -q --bare work over.git""", cwd=self.dir)
        config = os.path.join(self.dir, "config")
        with open(config, "w") as f:
            f.write(f"ListenAddress {WEB}:{self.port}\nHostKey {host}\nAuthorizedKeysFile {self.key}.pub\n"
                    "PidFile none\nUsePAM no\nStrictModes no\nLogLevel VERBOSE\nPasswordAuthentication no\n"
                    "KbdInteractiveAuthentication no\nPermitRootLogin prohibit-password\nUseDNS no\n")
        # Its empty room, which the service would make.
        self.made = os.geteuid() == 0 and not os.path.isdir("/run/sshd")
        if self.made:
            os.mkdir("/run/sshd", 0o755)
        return [program("sshd"), "-D", "-e", "-f", config]

    def known_hosts(self, name):
        return f"{name} {read(os.path.join(self.dir, 'host.pub'))}"

    def stop(self):
        super().stop()
        if self.child and self.made:
            os.rmdir("/run/sshd")


class Postgres(Server):
    """With a password by SCRAM, and TLS by the world's own certificate."""

    port, accepted = 5432, r"connection received: "
    tools = ("initdb", "postgres", "psql")

    def prepare(self):
        self.password = secrets.token_hex(8)
        as_user = []
        if os.geteuid() == 0:
            as_user = ["setpriv", "--reuid", str(NOBODY_ID), "--regid", str(NOBODY_ID), "--clear-groups"]
        secret, key, data = (os.path.join(self.dir, n) for n in ("password", "key", "data"))
        with open(secret, "w") as f:
            f.write(self.password)
        shutil.copy(os.path.join(self.world.dir, "leaf.key"), key)
        os.chmod(key, 0o600)
        if as_user:
            for path in (self.dir, secret, key):
                os.chown(path, NOBODY_ID, NOBODY_ID)
        must(*as_user, program("initdb"), "--no-sync", "-U", "test", "--auth=scram-sha-256", f"--pwfile={secret}",
             "-E", "UTF8", "--locale=C", "-D", data, cwd=self.dir)
        with open(os.path.join(data, "pg_hba.conf"), "a") as f:
            f.write("hostssl all test all scram-sha-256\n")
        settings = {"listen_addresses": WEB, "port": self.port, "unix_socket_directories": self.dir, "fsync": "off",
                    "log_connections": "on", "ssl": "on", "ssl_key_file": key,
                    "ssl_cert_file": os.path.join(self.world.dir, "leaf.pem")}
        return [*as_user, program("postgres"), "-D", data, *(w for k, v in settings.items() for w in ("-c", f"{k}={v}"))]


class Redis(Server):
    port, accepted = 6379, r"Accepted "
    tools = ("redis-server", "redis-cli")

    def prepare(self):
        return [program("redis-server"), "--bind", WEB, "--port", str(self.port), "--protected-mode", "no", "--save", "",
                "--loglevel", "verbose", "--dir", self.dir]


class Archive:
    """A Debian archive of one package, signed; the world's web server has it below /debian/."""

    tools = ("apt-get", "dpkg", "dpkg-deb", "gpg", "gpgv")

    def __init__(self, world):
        self.world = world
        self.dir = os.path.join(world.dir, "archive")
        os.mkdir(self.dir)
        self.key = os.path.join(self.dir, "archive.gpg")

    def start(self):
        files = self.world.files
        name = "tiny_1.0_all.deb"
        tree = os.path.join(self.dir, "tree")
        os.makedirs(os.path.join(tree, "DEBIAN"))
        os.makedirs(os.path.join(tree, "usr/share/tiny"))
        control = ("Package: tiny\nVersion: 1.0\nArchitecture: all\nMaintainer: Test <test@example.test>\n"
                   "Description: a package of one file\n")
        with open(os.path.join(tree, "DEBIAN/control"), "w") as f:
            f.write(control)
        with open(os.path.join(tree, "usr/share/tiny/file"), "w") as f:
            f.write("from the archive\n")
        must("dpkg-deb", "--root-owner-group", "--build", tree, os.path.join(self.dir, name))
        with open(os.path.join(self.dir, name), "rb") as f:
            package = f.read()
        listed = (f"{control}Filename: {name}\nSize: {len(package)}\n"
                  f"SHA256: {hashlib.sha256(package).hexdigest()}\n\n").encode()
        parts = {"Packages": listed, "Packages.gz": gzip.compress(listed)}
        release = time.strftime("Origin: Test\nSuite: test\nArchitectures: all\nDate: %a, %d %b %Y %H:%M:%S UTC\nSHA256:\n",
                                time.gmtime())
        for part, data in parts.items():
            release += f" {hashlib.sha256(data).hexdigest()} {len(data)} {part}\n"
        parts["InRelease"] = self.sign(release)
        parts[name] = package
        for part, data in parts.items():
            files[f"/debian/{part}"] = files[f"/debian/./{part}"] = data

    def sign(self, text):
        """By a key made for it; gpg's own programs are gone afterwards."""
        home = os.path.join(self.dir, "gpg")
        os.mkdir(home, 0o700)
        env = dict(os.environ, GNUPGHOME=home)
        try:
            must("gpg", "--batch", "--quiet", "--passphrase", "", "--quick-generate-key", "archive@example.test", "ed25519",
                 "sign", "1d", env=env)
            must("gpg", "--batch", "--quiet", "--output", self.key, "--export", env=env)
            return must("gpg", "--batch", "--quiet", "--clearsign", input=text, env=env).encode()
        finally:
            run("gpgconf", "--kill", "all", env=env)

    def stop(self):
        pass
