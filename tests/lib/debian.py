# SPDX-License-Identifier: Apache-2.0
"""A small Debian in a folder, of the packages that scripts/setup-debian fetched; for root, without a network."""

import hashlib
import os
import shutil
import subprocess

DEBS = os.environ.get("BAWN_TEST_KERNELS", "/var/cache/bawn/kernels")


def sh(*argv, **more):
    more.setdefault("env", {**os.environ, "PATH": "/usr/sbin:/sbin:/usr/bin:/bin"})
    done = subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{argv[0]} ended with {done.returncode}: {done.stdout.decode(errors='replace')[-2000:]}")
    return done


def make(work, root, include):
    """In `root`, with an archive of the packages in `work`."""
    repo = os.path.join(work, "repo")
    os.mkdir(repo)
    for name in os.listdir(DEBS):
        if name.endswith(".deb") and not name.startswith("linux-image"):
            os.link(os.path.join(DEBS, name), os.path.join(repo, name)) if os.stat(DEBS).st_dev == os.stat(repo).st_dev \
                else shutil.copy(os.path.join(DEBS, name), repo)
    with open(os.path.join(repo, "Packages"), "wb") as f:
        f.write(subprocess.run(["dpkg-scanpackages", "--multiversion", "."], cwd=repo, check=True, stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL).stdout)
    # Which of them are essential is asked of a suite of this name; its index has to be named with its hash.
    with open(os.path.join(repo, "Packages"), "rb") as f:
        index = f.read()
    with open(os.path.join(repo, "Release"), "w") as f:
        f.write(f"Suite: bookworm\nCodename: bookworm\nDate: Thu, 01 Jan 2026 00:00:00 UTC\nSHA256:\n {hashlib.sha256(index).hexdigest()} {len(index)} Packages\n")
    sh("mmdebstrap", "--mode=root", "--variant=essential", f"--include={include}",
       "bookworm", root, f"deb [trusted=yes] copy:{repo} ./", env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"})
