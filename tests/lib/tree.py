# SPDX-License-Identifier: Apache-2.0
"""What a tree looks like, as lines that can be compared: each name with its kind, mode, number of
links, size, content and attributes, and its time where that is asked for.

    tree.py FOLDER [WHAT-TO-LEAVE-OUT [times]]

Also runs from its text alone (SOURCE), for a tree that is seen only from inside a box.  Paths of
any length: every name is asked for in the folder that holds it.
"""

import hashlib
import os
import re
import stat
import sys

if __name__ != "__main__":
    with open(__file__, encoding="utf-8") as source:
        SOURCE = source.read()


def digest(fd):
    h = hashlib.sha256()
    while block := os.read(fd, 1 << 20):
        h.update(block)
    return h.hexdigest()[:24]


def attributes(fd):
    own = [x for x in os.listxattr(fd) if x.startswith("user.") and not x.startswith("user.overlay.")]
    return [f"{x}={os.getxattr(fd, x)[:40].hex()}" for x in sorted(own)]


def one(folder, entry, name, times):
    """One line; a file that may not be read says so."""
    st = os.lstat(entry, dir_fd=folder)
    said = [repr(name)[1:], oct(st.st_mode)]
    if stat.S_ISLNK(st.st_mode):
        said.append("to " + repr(os.readlink(entry, dir_fd=folder))[1:])
    elif stat.S_ISREG(st.st_mode) or stat.S_ISDIR(st.st_mode):
        try:
            fd = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_NOATIME * (st.st_uid == os.geteuid()), dir_fd=folder)
        except PermissionError:
            return " ".join([*said, "cannot be read"])
        if stat.S_ISREG(st.st_mode):
            said += [f"links {st.st_nlink}", f"size {st.st_size}", digest(fd)]
        said += attributes(fd)
        os.close(fd)
    elif stat.S_ISCHR(st.st_mode) or stat.S_ISBLK(st.st_mode):
        said.append(f"device {os.major(st.st_rdev)}:{os.minor(st.st_rdev)}")
    if times:
        said.append(f"at {st.st_mtime_ns}")
    return " ".join(said)


def walk(folder, name, skip, times):
    for entry in sorted(os.listdir(folder)):
        entry = os.fsencode(entry)
        called = name + b"/" + entry
        if skip and skip.search(called):
            continue
        yield one(folder, entry, called, times)
        if stat.S_ISDIR(os.lstat(entry, dir_fd=folder).st_mode):
            try:
                fd = os.open(entry, os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY, dir_fd=folder)
            except PermissionError:
                continue
            yield from walk(fd, called, skip, times)
            os.close(fd)


def lines(path, leave_out="", times=False):
    skip = re.compile(leave_out.encode()) if leave_out else None
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    yield one(fd, b".", b".", times)
    yield from walk(fd, b".", skip, times)
    os.close(fd)


def look(path, leave_out="", times=False):
    return "".join(line + "\n" for line in lines(path, leave_out, times))


def differences(got, want, most=20):
    """Lines of one look that the other has not; empty when they are equal."""
    a, b = set(got.splitlines()), set(want.splitlines())
    return sorted([f"- {x}" for x in b - a] + [f"+ {x}" for x in a - b], key=lambda x: x[2:])[:most]


if __name__ == "__main__":
    sys.stdout.write(look(sys.argv[1], *sys.argv[2:3], len(sys.argv) > 3))
