# SPDX-License-Identifier: Apache-2.0
"""What a disk may hold after the power went, at every moment of a traced program.

A program runs under strace.  Its calls on files below one folder are played on a model of a
disk: a file has the bytes that were written and those that are durable, a folder the names it
has and those that are durable.  fsync and fdatasync make a file's bytes durable (those that
were written when the call began), fsync of a folder its names; nothing else does.

states() gives, for each prefix of the trace, the contents that may be found afterwards: all
that was not made durable is gone; all of it is there (as after a kill); names without bytes and
bytes without names; the bytes that were not durable torn at several lengths, filled up with
zeros, and their pages written in another order; of what was written over in place, the size without
the bytes and the bytes without the size.
"""

import os
import re
import subprocess

PAGE, SECTOR = 4096, 512
CALLS = ("open,openat,openat2,creat,write,pwrite64,writev,pwritev,fsync,fdatasync,ftruncate,truncate,rename,renameat,"
         "renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,link,linkat,fallocate,sendfile,copy_file_range,sync_file_range")
LINE = re.compile(r"^(?P<pid>\d+) +(?P<call>\w+)\((?P<args>.*?)(?:\) += (?P<result>-?\d+)(?P<path><[^>]*>)?.*|"
                  r"(?P<unfinished> <unfinished \.\.\.>))$")
RESUMED = re.compile(r"^(?P<pid>\d+) +<\.\.\. (?P<call>\w+) resumed>(?P<args>.*?)\) += (?P<result>-?\d+)(?P<path><[^>]*>)?.*$")
TOKEN = re.compile(r'"((?:\\x[0-9a-f]{2})*)"(?:\.\.\.)?|(-?\d+|AT_FDCWD)<([^>]*)>|([^,\s]+)')


class Unknown(Exception):
    """A call that the model does not know: the trace cannot be played, and nothing is proved."""


def unhex(text):
    return bytes.fromhex(text.replace("\\x", ""))


class File:
    def __init__(self):
        self.bytes = b""
        self.durable = b""
        self.syncing = {}   # pid -> the bytes when its fsync began


class Folder:
    def __init__(self):
        self.names = {}
        self.durable = {}


class Disk:
    """Everything below one folder; the folder itself is durable."""

    def __init__(self, root):
        self.root = root
        self.top = Folder()
        self.load(root, self.top)

    def load(self, path, folder):
        for entry in os.scandir(path):
            if entry.is_dir(follow_symlinks=False):
                folder.names[entry.name] = Folder()
                self.load(entry.path, folder.names[entry.name])
            else:
                made = folder.names[entry.name] = File()
                with open(entry.path, "rb") as f:
                    made.bytes = made.durable = f.read()
        folder.durable = dict(folder.names)

    def inside(self, path):
        return path == self.root or path.startswith(self.root + "/")

    def find(self, path):
        """(folder, name, node) of a path below the root."""
        words = os.path.relpath(os.path.normpath(path), self.root).split("/")
        if words == ["."]:
            return None, None, self.top
        folder = self.top
        for word in words[:-1]:
            folder = folder.names[word]
        return folder, words[-1], folder.names.get(words[-1])

    # -- calls ----------------------------------------------------------------

    def play(self, call, args, result, began):
        """One call that ended well.  args: bytes of strings, (fd, path), words; began: its pid."""
        if call in ("open", "openat", "openat2", "creat"):
            path = self.path_of(args, 0) if call in ("open", "creat") else self.path_of(args, 0, True)
            if not path or not self.inside(path):
                return
            folder, name, node = self.find(path)
            if node is None:
                folder.names[name] = File()
            elif any(isinstance(a, str) and "O_TRUNC" in a for a in args):
                node.bytes = b""
        elif call in ("fsync", "fdatasync"):
            self.sync(args[0][1], began)
        elif call in ("write", "pwrite64"):
            self.write(args, result, None if call == "write" else int(args[3]))
        elif call in ("ftruncate",) and self.inside(args[0][1]):
            node, length = self.find(args[0][1])[2], int(args[1])
            node.bytes = node.bytes[:length].ljust(length, b"\0")
        elif call == "fallocate" and self.inside(args[0][1]):
            node = self.find(args[0][1])[2]
            if "KEEP_SIZE" not in str(args[1]):
                node.bytes = node.bytes.ljust(int(args[2]) + int(args[3]), b"\0")
        elif call in ("renameat", "renameat2", "rename"):
            at = call != "rename"
            old, new = self.path_of(args, 0, at), self.path_of(args, 2 if at else 1, at)
            if self.inside(old) or self.inside(new):
                folder, name, node = self.find(old)
                to, to_name, _ = self.find(new)
                to.names[to_name] = node
                del folder.names[name]
        elif call in ("mkdir", "mkdirat"):
            path = self.path_of(args, 0, call == "mkdirat")
            if self.inside(path):
                folder, name, _ = self.find(path)
                folder.names[name] = Folder()
        elif call in ("unlink", "unlinkat", "rmdir"):
            path = self.path_of(args, 0, call == "unlinkat")
            if self.inside(path):
                folder, name, _ = self.find(path)
                del folder.names[name]
        elif any(isinstance(a, tuple) and self.inside(a[1]) for a in args):
            raise Unknown(call)

    def path_of(self, args, at, with_folder=False):
        text = args[at + 1] if with_folder else args[at]
        path = os.fsdecode(text)
        if with_folder and not path.startswith("/"):
            return os.path.join(args[at][1], path)
        return path if path.startswith("/") else ""

    def write(self, args, result, offset):
        if not self.inside(args[0][1]):
            return
        node = self.find(args[0][1])[2]
        data = args[1][:result]
        if offset is None:
            node.bytes += data   # the record is only ever appended to, and small files are new
        else:
            node.bytes = node.bytes[:offset].ljust(offset, b"\0") + data + node.bytes[offset + len(data):]

    def begin_sync(self, path, pid):
        if self.inside(path):
            node = self.find(path)[2]
            if isinstance(node, File):
                node.syncing[pid] = node.bytes

    def sync(self, path, pid):
        if not self.inside(path):
            return
        node = self.find(path)[2]
        if isinstance(node, Folder):
            node.durable = dict(node.names)
        else:
            node.durable = node.syncing.pop(pid, node.bytes)

    # -- what may be found ------------------------------------------------------

    def picture(self, names, contents):
        """path -> bytes (None: a folder), with names and bytes as the functions choose."""
        found = {}

        def walk(folder, at):
            for name, node in names(folder).items():
                path = os.path.join(at, name)
                if isinstance(node, Folder):
                    found[path] = None
                    walk(node, path)
                else:
                    found[path] = contents(node)
        walk(self.top, "")
        return found

    def pending(self):
        """Files that have bytes behind those that are durable."""
        found = []

        def walk(folder):
            for node in folder.names.values():
                if isinstance(node, Folder):
                    walk(node)
                elif node.bytes != node.durable:
                    found.append(node)
        walk(self.top)
        return found

    def pictures(self):
        """(in words, picture) of everything that this moment may leave."""
        durable, cached = (lambda f: f.durable), (lambda f: f.names)
        yield "all that was not durable is gone", self.picture(durable, lambda f: f.durable)
        yield "all of it is there", self.picture(cached, lambda f: f.bytes)
        yield "names without bytes", self.picture(cached, lambda f: f.durable)
        yield "bytes without names", self.picture(durable, lambda f: f.bytes)
        for torn in self.pending():
            for words, data in tears(torn.durable, torn.bytes):
                yield words, self.picture(cached, lambda f, t=torn, d=data: d if f is t else f.bytes)


def tears(durable, written):
    """Ways in which bytes that were not durable may have reached the disk."""
    if not written.startswith(durable):
        # Written over in place, within a sector: that is old or new, and so is the size.
        if len(written) != len(durable):
            yield "new bytes with the old size", written[:len(durable)]
            yield "old bytes with the new size", durable.ljust(len(written), b"\0")[:len(written)]
        if max(len(written), len(durable)) > SECTOR:
            raise Unknown("a write in place that is longer than a sector")
        return
    tail = written[len(durable):]
    boundary = -len(durable) % PAGE
    cuts = {1, 8, 40, 73, 74, 75, len(tail) // 3, len(tail) // 2, len(tail) - 1, boundary, boundary + PAGE}
    for cut in sorted(c for c in cuts if 0 < c < len(tail)):
        yield f"torn after {cut} of {len(tail)} bytes", durable + tail[:cut]
        yield f"zeros after {cut} of {len(tail)} bytes", durable + tail[:cut] + bytes(len(tail) - cut)
    yield f"{len(tail)} zeros", durable + bytes(len(tail))
    if 0 < boundary < len(tail):
        yield f"{boundary} zeros before the later pages", durable + bytes(boundary) + tail[boundary:]


# -- the trace -----------------------------------------------------------------

def arguments(text):
    found = []
    for string, fd, path, word in TOKEN.findall(text):
        if fd:
            found.append((fd, os.fsdecode(unhex(path)) if path.startswith("\\x") else path))
        elif word:
            found.append(word)
        else:
            found.append(unhex(string))
    return found


def trace(command, log, **more):
    """Runs a command under strace; the finished process."""
    return subprocess.run(["strace", "-f", "-y", "-xx", "-s", "1048576", "-o", log, "-e", f"trace={CALLS}", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60, check=False, **more)


def steps(log):
    """(pid, call, args, result, began) of each call; began is True for a sync that has not ended yet."""
    waiting = {}
    with open(log) as f:
        for line in f:
            m = LINE.match(line.rstrip("\n"))
            if m and m["unfinished"]:
                waiting[m["pid"]] = m["args"]
                yield m["pid"], m["call"], arguments(m["args"]), 0, True
            elif m:
                yield m["pid"], m["call"], arguments(m["args"]), int(m["result"]), False
            else:
                m = RESUMED.match(line.rstrip("\n"))
                if m:
                    yield (m["pid"], m["call"], arguments(waiting.pop(m["pid"], "") + m["args"]), int(m["result"]),
                           False)


def states(disk, log, on_output):
    """(number of the call, call, words, picture) at each moment that changes something; what the program says on
    its standard output goes to on_output in its turn."""
    seen = set()
    for number, (pid, call, args, result, began) in enumerate(steps(log)):
        if began:
            if call in ("fsync", "fdatasync"):
                disk.begin_sync(args[0][1], pid)
            continue
        if result < 0:
            continue
        if call == "write" and args[0][0] == "1":
            on_output(args[1].decode())
        else:
            disk.play(call, args, result, pid)
        for words, picture in disk.pictures():
            key = hash(tuple(sorted(picture.items(), key=lambda kv: kv[0])))
            if key not in seen or call == "write" and args[0][0] == "1":
                seen.add(key)
                yield number, call, words, picture


def build(picture, root):
    """The picture as files below an empty folder."""
    for path in sorted(picture):
        full = os.path.join(root, path)
        if picture[path] is None:
            os.makedirs(full, mode=0o700, exist_ok=True)
        else:
            os.makedirs(os.path.dirname(full), mode=0o700, exist_ok=True)
            with open(full, "wb") as f:
                f.write(picture[path])
