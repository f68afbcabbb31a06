# SPDX-License-Identifier: Apache-2.0
"""Work for the benchmarks to do: trees of source files, a repository, something to compile, packages to
install.  All of it is made here, from nothing but a seed; real npm packages only where install() was asked for
and fetched them.
"""

import base64
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import tarfile

from bawntest import run, say

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, "../../src")
CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "bawn-bench")
NPM_PACKAGES = ["eslint", "webpack", "webpack-cli", "jest", "express", "typescript", "prettier"]
NPM = "npm ci --offline --cache ../npm-cache --no-audit --no-fund --ignore-scripts --no-update-notifier --loglevel=error"
LAYERS = ("base", "wire", "plan", "content", "ipc", "gate", "keys", "policy", "box", "keeper", "record", "recorder", "sys", "host", "profile")


def text_of(rng, size):
    words = ("static", "int", "return", "struct", "const", "error", "buffer", "length", "if", "while", "{", "}", ";", "\n")
    return " ".join(rng.choices(words, k=size // 6))[:size].encode()


def make_tree(path, files):
    """An archive of so many files of a source tree's sizes, in folders of a hundred."""
    rng = random.Random(1)
    texts = [text_of(rng, rng.randrange(200, 6000)) for _ in range(64)]
    with tarfile.open(path, "w") as tar:
        for i in range(files):
            if i % 100 == 0:
                folder = tarfile.TarInfo(f"tree/part-{i // 100}")
                folder.type, folder.mode, folder.mtime = tarfile.DIRTYPE, 0o755, 1700000000
                tar.addfile(folder)
            data = b"/* file %d */\n" % i + texts[i % 64]
            info = tarfile.TarInfo(f"tree/part-{i // 100}/source-{i}.c")
            info.size, info.mtime, info.mode = len(data), 1700000000, 0o644
            tar.addfile(info, io.BytesIO(data))


def make_repository(project, archive):
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    path = os.path.join(project, "repository")
    os.mkdir(path)
    subprocess.run(["tar", "-xf", archive, "-C", path], **quiet)
    git = ["git", "-c", "user.name=Bench", "-c", "user.email=bench@example.test", "-c", "gc.auto=0"]
    for words in (["init", "--quiet", path], ["-C", path, "add", "."], ["-C", path, "commit", "--quiet", "-m", "tree"]):
        subprocess.run([*git, *words], **quiet)


def make_source(project, every):
    """Our own sources and a makefile for every so-manieth of those that need nothing generated; False when
    they are not here."""
    path = os.path.join(project, "source")
    if not os.path.isdir(SOURCES):
        return False
    os.mkdir(path)
    shutil.copytree(SOURCES, os.path.join(path, "src"))
    files = sorted(os.path.join("src", layer, name) for layer in LAYERS for name in os.listdir(os.path.join(path, "src", layer))
                   if name.endswith(".c") and not name.endswith("_main.c") and not name.endswith("_gen.c"))
    includes = " ".join(f"-Isrc/{layer}" for layer in LAYERS)
    flags = f"-std=gnu17 -O2 -g -D_GNU_SOURCE -DBAWN_VERSION='\"0\"' {includes} -include src/base/banned.h"
    def compiles(name):
        return subprocess.run(["sh", "-c", f"gcc {flags} -fsyntax-only {name}"], cwd=path, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0
    files = [name for name in files[::every] if compiles(name)]
    objects = " ".join(f"objects/{name.replace('/', '-')[:-2]}.o" for name in files)
    with open(os.path.join(path, "Makefile"), "w") as f:
        f.write(f"all: {objects}\nobjects:\n\tmkdir objects\n")
        for name in files:
            f.write(f"objects/{name.replace('/', '-')[:-2]}.o: | objects\n\tgcc {flags} -c {name} -o $@\n")
    say(f"# compile: {len(files)} files")
    return len(files) > 5


def made_package(place, number, rng, texts):
    """A package of its own as npm packs one; its line in the lock."""
    name = f"made-{number}"
    path = os.path.join(place, f"{name}.tgz")
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        def add(at, data):
            info = tarfile.TarInfo("package/" + at)
            info.size, info.mode, info.mtime = len(data), 0o644, 499162500
            tar.addfile(info, io.BytesIO(data))
        add("package.json", json.dumps({"name": name, "version": "1.0.0", "main": "lib/0.js"}).encode())
        for i in range(59):
            add(f"lib/{i}.js", texts[rng.randrange(len(texts))])
    with open(path, "rb") as f:
        digest = "sha512-" + base64.b64encode(hashlib.sha512(f.read()).digest()).decode()
    return name, {"version": "1.0.0", "resolved": f"file:packages/{name}.tgz", "integrity": digest}


def make_npm(project, packages, may_be_real):
    """A project with its lock and a warm cache; False when npm does not do it."""
    path, cache = os.path.join(project, "npm"), os.path.join(project, "npm-cache")
    real = os.path.join(CACHE, "npm-ci")
    if not shutil.which("npm"):
        return False
    if may_be_real and os.path.exists(os.path.join(real, "npm/package-lock.json")):
        shutil.copytree(os.path.join(real, "npm"), path)
        shutil.copytree(os.path.join(real, "npm-cache"), cache)
    else:
        rng = random.Random(2)
        texts = [text_of(rng, rng.randrange(100, 4000)) for _ in range(64)]
        os.makedirs(os.path.join(path, "packages"))
        locked = dict(made_package(os.path.join(path, "packages"), i, rng, texts) for i in range(packages))
        wanted = {name: line["resolved"] for name, line in locked.items()}
        with open(os.path.join(path, "package.json"), "w") as f:
            json.dump({"name": "bench", "version": "1.0.0", "dependencies": wanted}, f)
        lock = {"name": "bench", "version": "1.0.0", "lockfileVersion": 3, "requires": True,
                "packages": {"": {"name": "bench", "version": "1.0.0", "dependencies": wanted},
                             **{f"node_modules/{name}": line for name, line in locked.items()}}}
        with open(os.path.join(path, "package-lock.json"), "w") as f:
            json.dump(lock, f)
    r = run("sh", "-c", f"cd npm && {NPM} && ls node_modules | wc -l && find node_modules -type f | wc -l", cwd=project, timeout=300)
    shutil.rmtree(os.path.join(path, "node_modules"), ignore_errors=True)
    if r.status == 0:
        say("# npm ci: {} packages, {} files".format(*r.out.split()[-2:]))
        return True
    say(f"# npm ci does not work here: {r}")
    return False


def install():
    """Real packages, by name, into the user's cache: the only part that needs a network."""
    place = os.path.join(CACHE, "npm-ci/npm")
    if os.path.exists(os.path.join(place, "package-lock.json")) or not shutil.which("npm"):
        return
    os.makedirs(place, exist_ok=True)
    with open(os.path.join(place, "package.json"), "w") as f:
        f.write('{"name": "bench", "version": "1.0.0"}\n')
    words = ["npm", "install", "--cache", "../npm-cache", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error"]
    subprocess.run([*words, *NPM_PACKAGES], cwd=place, check=False)
    shutil.rmtree(os.path.join(place, "node_modules"), ignore_errors=True)
