# SPDX-License-Identifier: Apache-2.0
"""A small Debian in QEMU with one of Debian's own kernels: an ext4 disk, an ordinary user, no network.

    root = Root()                       made once, and kept beside the packages
    root.boot("6.1", tree, command)     the lines of its console, as they come

The packages were fetched by scripts/setup-debian (BAWN_TEST_KERNELS).  The processor is emulated, so a
guest is about ten times as slow as the machine; nothing here needs /dev/kvm.  Only root can make the
disk; it is the same for everybody who boots it, and what a guest writes is forgotten.
"""

import glob
import hashlib
import inspect
import os
import shutil
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../lib"))
import debian  # noqa: E402
from debian import DEBS, sh  # noqa: E402

# The kernel's line, and how its package begins.
KERNELS = {"6.1": "linux-image-6.1.", "6.12": "linux-image-6.12."}
INCLUDE = "apparmor,attr,ca-certificates,curl,e2fsprogs,git,iproute2,jq,kmod,less,login,mount,openssh-client,openssl,passwd,perl,procps,python3,strace,tmux,vim-tiny,wget"
USER = "u"
MEMORY = 2048
# An emulated kernel hangs at its start now and then; then it is started again, once.
BEGINS, BEGINS_IN = "guest: begins", 120
# What is needed to reach the disk; the rest is found there.
MODULES = ["virtio_pci", "virtio_blk", "ext4"]

FIRST = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /new
/bin/busybox mount -t devtmpfs dev /dev
for m in $(/bin/busybox cat /modules); do /bin/busybox insmod /m/$m; done
/bin/busybox mount -t ext4 /dev/vda /new
exec /bin/busybox switch_root /new /guest
"""

# As a machine that has been started: filesystems, modules that an administrator has, a user who logs in.
GUEST = """#!/bin/bash
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -o remount,rw /
mount -t proc -o nosuid,nodev,noexec proc /proc
mount -t sysfs sys /sys
mount -t securityfs security /sys/kernel/security 2>/dev/null
mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
ln -sf /proc/self/fd /dev/fd
mount -t devpts -o mode=620,ptmxmode=666 devpts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t tmpfs -o mode=1777,size=256m tmp /tmp
mount -t tmpfs -o mode=755 run /run
ip link set lo up
hostname guest
modprobe overlay
for m in nf_tables nft_tproxy nft_reject_inet nfnetlink_log tun; do modprobe $m 2>/dev/null; done
echo "guest: begins"
tar -C / -xf /dev/vdb
bash /guest-command </dev/null 2>&1
echo "guest: status $?"
sync
echo o >/proc/sysrq-trigger
sleep 10
"""


class Missing(Exception):
    """Something that a guest needs is not here."""


class Root:
    def __init__(self):
        for tool in ("mmdebstrap", "qemu-system-x86_64", "cpio", "dpkg-deb", "dpkg-scanpackages"):
            if not shutil.which(tool):
                raise Missing(f"no {tool}")
        if not glob.glob(os.path.join(DEBS, "linux-image-*.deb")):
            raise Missing(f"no kernels in {DEBS}")
        debs = sorted(os.listdir(DEBS))
        how = [KERNELS, INCLUDE, USER, MODULES, FIRST, GUEST, *(inspect.getsource(f) for f in (Root.make, debian.make, Root.unpack, Root.kernel, Root.first))]
        key = hashlib.sha256(repr((how, [d for d in debs if d.endswith(".deb")])).encode()).hexdigest()[:12]
        self.at = os.path.join(DEBS, f"made-{key}")
        if not os.path.exists(os.path.join(self.at, "done")):
            if os.geteuid() != 0:
                raise Missing("only root can make the guest's disk")
            for old in glob.glob(os.path.join(DEBS, "made-*")):
                shutil.rmtree(old)
            self.make()

    def make(self):
        os.makedirs(self.at)
        with tempfile.TemporaryDirectory(prefix="bawn-guest-", dir="/var/tmp") as work:
            os.chmod(work, 0o755)
            root = os.path.join(work, "root")
            self.unpack(work, root)
            for line, begins in KERNELS.items():
                self.kernel(work, root, line, begins)
            disk = os.path.join(self.at, "disk")
            with open(disk, "wb") as f:
                f.truncate(3 << 30)
            sh("/usr/sbin/mke2fs", "-q", "-F", "-t", "ext4", "-d", root, disk)
        open(os.path.join(self.at, "done"), "w").close()

    def unpack(self, work, root):
        debian.make(work, root, INCLUDE)
        sh("chroot", root, "useradd", "--create-home", "--shell", "/bin/bash", USER)
        with open(os.path.join(root, "guest"), "w") as f:
            f.write(GUEST)
        os.chmod(os.path.join(root, "guest"), 0o755)
        for name in ("bawn", "tests"):
            os.makedirs(os.path.join(root, "opt", name))

    def kernel(self, work, root, line, begins):
        package = [p for p in sorted(glob.glob(os.path.join(DEBS, begins + "*.deb"))) if "unsigned" not in p]
        if not package:
            return
        out = os.path.join(work, "kernel-" + line)
        sh("dpkg-deb", "-x", package[-1], out)
        image = glob.glob(os.path.join(out, "boot/vmlinuz-*"))[0]
        release = os.path.basename(image)[len("vmlinuz-"):]
        shutil.copy(image, os.path.join(self.at, "vmlinuz-" + line))
        modules = os.path.join(root, "lib/modules", release)
        os.makedirs(os.path.dirname(modules), exist_ok=True)
        shutil.move(os.path.join(out, "lib/modules", release), modules)
        sh("chroot", root, "depmod", release)
        self.first(work, root, line, release)

    def first(self, work, root, line, release):
        """What the kernel starts: it loads what the disk needs, and goes there."""
        asked = sh("chroot", root, "modprobe", "--set-version", release, "--show-depends", "--all", *MODULES).stdout.decode()
        tree = os.path.join(work, "first-" + line)
        os.makedirs(os.path.join(tree, "m"))
        os.makedirs(os.path.join(tree, "bin"))
        busybox = glob.glob(os.path.join(DEBS, "busybox-static_*.deb"))
        sh("dpkg-deb", "-x", busybox[0], os.path.join(work, "busybox"))
        shutil.copy(os.path.join(work, "busybox/bin/busybox"), os.path.join(tree, "bin/busybox"))
        names = []
        for said in asked.splitlines():
            if not said.startswith("insmod "):
                continue
            path = root + said.split()[1]
            name = os.path.basename(path).removesuffix(".xz")
            if name in names:
                continue
            with open(os.path.join(tree, "m", name), "wb") as f:
                f.write(subprocess.run(["xz", "-dc", path], check=True, stdout=subprocess.PIPE).stdout if path.endswith(".xz")
                        else open(path, "rb").read())
            names.append(name)
        with open(os.path.join(tree, "modules"), "w") as f:
            f.write("\n".join(names) + "\n")
        with open(os.path.join(tree, "init"), "w") as f:
            f.write(FIRST)
        os.chmod(os.path.join(tree, "init"), 0o755)
        with open(os.path.join(self.at, "initrd-" + line), "wb") as f:
            subprocess.run("find . | cpio -o -H newc --quiet | gzip -1", shell=True, cwd=tree, stdout=f, check=True)

    def boot(self, line, files, command, append="", seconds=1400):
        """files: {folder here: folder there}.  Yields what the guest says; its last line is "guest: status N"."""
        for _ in range(2):
            begun = False
            for said in self.start(line, files, command, append, seconds):
                begun = begun or said.endswith(BEGINS)
                yield said
            if begun:
                return

    def start(self, line, files, command, append, seconds):
        if not os.path.exists(os.path.join(self.at, "vmlinuz-" + line)):
            raise Missing(f"no kernel {line}")
        with tempfile.TemporaryDirectory(prefix="bawn-guest-", dir="/var/tmp") as work:
            tar = os.path.join(work, "files.tar")
            with open(os.path.join(work, "guest-command"), "w") as f:
                f.write(command)
            sh("tar", "-cf", tar, "--owner=0", "--group=0", "-C", work, "guest-command")
            for here, there in files.items():
                sh("tar", "-rf", tar, "--owner=0", "--group=0", "--exclude=__pycache__", "--transform", f"s,^\\.,{there.lstrip('/')},", "-C", here, ".")
            # A guest that hangs ends with its time, and one whose test was killed with the test.
            qemu = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", "timeout", "-k", "5", str(seconds), "qemu-system-x86_64", "-M", "q35", "-accel", "tcg", "-cpu", "max",
                 "-m", str(MEMORY), "-smp", "1", "-nodefaults", "-no-user-config", "-nographic", "-serial", "stdio", "-no-reboot", "-nic", "none",
                 "-drive", f"file={self.at}/disk,format=raw,if=virtio,snapshot=on", "-drive", f"file={tar},format=raw,if=virtio,readonly=on",
                 "-device", "virtio-rng-pci",
                 "-kernel", f"{self.at}/vmlinuz-{line}", "-initrd", f"{self.at}/initrd-{line}",
                 "-append", f"console=ttyS0 quiet panic=-1 reboot=t rdinit=/init {append}"],
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "TMPDIR": work})
            late = threading.Timer(BEGINS_IN, qemu.terminate)
            late.start()
            try:
                for said in qemu.stdout:
                    said = said.decode(errors="replace").rstrip("\r\n")
                    if said.endswith(BEGINS):
                        late.cancel()
                    yield said
            finally:
                late.cancel()
                qemu.terminate()
                qemu.wait()
