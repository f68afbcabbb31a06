# SPDX-License-Identifier: Apache-2.0
"""A disk whose power can go: an ext4 filesystem in a file, for root.

    image = Image(path); image.make(); image.mount(); ... image.point ...; image.cut(commit)

A copy of that file, taken while it is mounted, is what a disk has after the power went: what was not
synced is only in the kernel's memory.  With `commit` the filesystem's journal is written first,
as another program's fsync or the next five seconds would have it: then names are on the disk
whose bytes are not.
"""

import os
import subprocess


def can_mount():
    return os.geteuid() == 0 and os.path.exists("/dev/loop-control")


class Image:
    def __init__(self, path, point=None):
        self.path, self.point = path, point or path + ".mnt"
        os.makedirs(self.point, exist_ok=True)

    def make(self, megabytes=16):
        with open(self.path, "wb") as f:
            f.truncate(megabytes << 20)
        subprocess.run(["/usr/sbin/mkfs.ext4", "-q", "-F", "-I", "256", self.path], check=True)

    def mount(self):
        subprocess.run(["mount", "-o", "loop,commit=600", self.path, self.point], check=True)

    def sync(self):
        subprocess.run(["sync", "-f", self.point], check=True)

    def unmount(self):
        subprocess.run(["umount", self.point], check=True)

    def copy(self, name):
        other = os.path.join(os.path.dirname(self.path), name)
        subprocess.run(["cp", "--sparse=always", self.path, other], check=True)
        return type(self)(other)

    def commit(self):
        with open(os.path.join(self.point, "another"), "w") as f:
            f.write("another program\n")
            f.flush()
            os.fsync(f.fileno())

    def cut(self, name, commit):
        """What the disk has when the power goes now; this one is unmounted."""
        if commit:
            self.commit()
        after = self.copy(name)
        self.unmount()
        return after


class Drive(Image):
    """The same for who minds where it is: one device and one folder for whatever the disk has."""

    def __init__(self, path, point, megabytes=16):
        super().__init__(path, point)
        self.make(megabytes)
        self.device = subprocess.run(["/usr/sbin/losetup", "-f", "--show", path], check=True, capture_output=True, text=True).stdout.strip()

    def mount(self):
        subprocess.run(["mount", "-o", "commit=600", self.device, self.point], check=True)

    def keep(self, name):
        """What is on the disk now, as a file."""
        other = os.path.join(os.path.dirname(self.path), name)
        subprocess.run(["cp", "--sparse=always", self.path, other], check=True)
        return other

    def put(self, path):
        """Not mounted: that is on the disk from now on."""
        subprocess.run(["dd", f"if={path}", f"of={self.device}", "bs=1M", "conv=fsync,notrunc", "status=none"], check=True)

    def lose_power(self, commit):
        """It is mounted again, with what it had in that moment."""
        if commit:
            self.commit()
        left = self.keep("left")
        self.unmount()
        self.put(left)
        self.mount()

    def close(self):
        subprocess.run(["/usr/sbin/losetup", "-d", self.device], check=True)
