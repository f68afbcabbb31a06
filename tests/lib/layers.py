# SPDX-License-Identifier: Apache-2.0
"""Sessions and their layers, made by hand: for tests of what reads and lands them, without a box.

    s = Store(state, workspace)         the folder that bawn has for a workspace
    layer = s.session("calm-otter")     a stopped session with one empty layer; the path of its up/
    inside(layer, workspace, script)    a shell in a real overlayfs of both, as a box would have it
"""

import os
import stat
import time

from bawntest import run


def fnv(text):
    value = 0xcbf29ce484222325
    for byte in text:
        value = (value ^ byte) * 0x100000001b3 & (1 << 64) - 1
    return value


def whiteout(path):
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(0, 0))


def opaque(path):
    os.mkdir(path)
    os.setxattr(path, "user.overlay.opaque", b"y")


class Store:
    """STATE/workspaces/NAME-HASH, as src/workspace/layers.h has it."""

    def __init__(self, state, workspace):
        name = os.path.basename(workspace)
        name = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)[:48]
        self.workspace = workspace
        self.path = os.path.join(state, "bawn", "workspaces", f"{name}-{fnv(os.fsencode(workspace)):016x}")
        os.makedirs(self.path, mode=0o700, exist_ok=True)
        os.chmod(os.path.join(state, "bawn"), 0o700)
        with open(os.path.join(self.path, "path"), "w", encoding="utf-8") as f:
            f.write(workspace)
        self.next = 1

    def layer(self):
        """A new layer: its id and the path of its upper directory."""
        name = f"{self.next:016x}"
        self.next += 1
        for part in ("up", "work"):
            os.makedirs(os.path.join(self.path, "layers", name, part), mode=0o700)
        return name, os.path.join(self.path, "layers", name, "up")

    def up(self, name):
        return os.path.join(self.path, "layers", name, "up")

    def session(self, name, layers=None, began=None, ended=None, mode="review"):
        """A session upon these layers, or upon a new one; the path of its top layer."""
        layers = layers or [self.layer()[0]]
        st = os.stat(self.workspace)
        now = time.time_ns()
        folder = os.path.join(self.path, "sessions", name)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.path.join(folder, "session"), "w", encoding="utf-8") as f:
            f.write(f"bawn-session-1\nname {name}\nmode {mode}\ndevice {st.st_dev}\ninode {st.st_ino}\n"
                    f"began {began or now}\nended {now if ended is None else ended}\n"
                    f"project {' '.join(layers)}\nhome\nfrom \nsystem \nroot\nkeep no\nbranch \n")
        return self.up(layers[-1])


def inside(up, lower, script, more_lowers=(), timeout=60, shell="sh"):
    """Runs a script in a real overlayfs upon `lower` with the upper directory `up`."""
    work = os.path.join(os.path.dirname(up), "work")
    merged = os.path.join(os.path.dirname(up), "merged")
    os.makedirs(merged, exist_ok=True)
    lowers = ":".join([*more_lowers, lower])
    return run("unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
               'mount -t overlay -o "userxattr,lowerdir=$1,upperdir=$2,workdir=$3" none "$4" && cd "$4" && '
               'exec "$5" -c "$6"', "sh", lowers, up, work, merged, shell, script, timeout=timeout)
