# SPDX-License-Identifier: Apache-2.0
"""Images as skopeo keeps them in a folder (OCI layout), and Debian packages: made by hand, so that they can
be as an honest tool would never make them.
"""

import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile

DIR, FILE, LINK, HARD = tarfile.DIRTYPE, tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE
CHAR, FIFO = tarfile.CHRTYPE, tarfile.FIFOTYPE
KIND = "application/vnd.oci.image."


def entry(name, kind=FILE, data=b"", link="", mode=None, **more):
    """One entry of a layer, and what is in it."""
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    info.mode = mode if mode is not None else 0o755 if kind == DIR else 0o644
    info.size = len(data) if kind == FILE else 0
    for key, value in more.items():
        setattr(info, key, value)
    return info, data


def add_tree(tar, folder, at="", owner=None):
    """All of a folder; owner(path) says whose an entry is, None: it is left out."""
    def shown(info):
        whose = owner(info.name) if owner else (0, 0)
        if not whose or info.type not in (DIR, FILE, LINK, HARD):
            return None
        info.uid, info.gid = whose
        info.uname = info.gname = ""
        return info
    for name in sorted(os.listdir(folder)):
        tar.add(os.path.join(folder, name), arcname=os.path.join(at, name), filter=shown)


def layer(path, entries=(), fill=None):
    """A layer as a file; fill(tar) adds more."""
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        for info, data in entries:
            tar.addfile(info, io.BytesIO(data))
        if fill:
            fill(tar)
    return path


def blob(at, data):
    digest = hashlib.sha256(data).hexdigest()
    with open(os.path.join(at, "blobs/sha256", digest), "wb") as f:
        f.write(data)
    return {"digest": f"sha256:{digest}", "size": len(data)}


def blob_file(at, path):
    """The same of a file, which goes there."""
    with open(path, "rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()
        size = f.tell()
    os.rename(path, os.path.join(at, "blobs/sha256", digest))
    return {"digest": f"sha256:{digest}", "size": size}


def image(at, layers, tag="latest"):
    """An image of layers, each a file that goes there, or a list of entries; how `bawn system` names it."""
    os.makedirs(os.path.join(at, "blobs/sha256"))
    made = [blob_file(at, path if isinstance(path, str) else layer(os.path.join(at, f"layer-{i}"), path))
            for i, path in enumerate(layers)]
    config = {"architecture": "amd64", "os": "linux", "created": "2020-01-01T00:00:00Z", "config": {}, "history": [],
              "rootfs": {"type": "layers", "diff_ids": [m["digest"] for m in made]}}
    manifest = {"schemaVersion": 2, "mediaType": f"{KIND}manifest.v1+json",
                "config": {"mediaType": f"{KIND}config.v1+json", **blob(at, json.dumps(config).encode())},
                "layers": [{"mediaType": f"{KIND}layer.v1.tar", **m} for m in made]}
    index = {"schemaVersion": 2, "manifests": [{
        "mediaType": f"{KIND}manifest.v1+json", **blob(at, json.dumps(manifest).encode()),
        "annotations": {"org.opencontainers.image.ref.name": tag}}]}
    for name, value in (("index.json", index), ("oci-layout", {"imageLayoutVersion": "1.0.0"})):
        with open(os.path.join(at, name), "w") as f:
            json.dump(value, f)
    return f"oci:{at}:{tag}"


def package(folder, name, files, scripts, **control):
    """A Debian package in a folder: files is {path: (mode, text)}, scripts {postinst: text}."""
    tree = os.path.join(folder, f".{name}")
    fields = {"Package": name, "Version": "1.0", "Architecture": "all", "Maintainer": "nobody <nobody@web.test>",
              "Description": "for a test", **{k.replace("_", "-"): v for k, v in control.items()}}
    every = {f"DEBIAN/{k}": (0o755, f"#!/bin/sh\nset -e\n{v}") for k, v in scripts.items()}
    every["DEBIAN/control"] = (0o644, "".join(f"{k}: {v}\n" for k, v in fields.items()))
    for path, (mode, text) in {**every, **files}.items():
        at = os.path.join(tree, path)
        os.makedirs(os.path.dirname(at), mode=0o755, exist_ok=True)
        with open(at, "w") as f:
            f.write(text)
        os.chmod(at, mode)
    subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "--build", tree, os.path.join(folder, f"{name}_1.0_all.deb")],
                   check=True, stdout=subprocess.DEVNULL, timeout=60)
    shutil.rmtree(tree)
