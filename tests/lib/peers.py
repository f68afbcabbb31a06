# SPDX-License-Identifier: Apache-2.0
"""Other boxes with the mounts, the environment and the folder of a plan (`bawn explain --json`)."""

import json
import os
import shutil
import subprocess

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "bawn-bench")


def npm_program(name):
    """A peer of npm, of the system or as `tests/bench/start --install` fetched it; None where there is none."""
    found = shutil.which(name) or os.path.join(CACHE, "node_modules/.bin", name)
    return found if os.access(found, os.X_OK) else None


def bwrap_command(plan, place, command):
    """bubblewrap with the same namespaces, mounts, environment and folder as the plan."""
    files, words = [], ["bwrap", "--unshare-all", "--cap-drop", "ALL", "--new-session", "--die-with-parent",
                        "--uid", str(plan["uid"]), "--gid", str(plan["gid"]), "--hostname", plan["hostname"], "--clearenv"]
    for m in plan["mounts"]:
        kind, target, source = m["kind"], m["target"], m["source"]
        if kind == "bind":
            words += ["--bind" if m["access"] == "write" else "--ro-bind", source, target]
        elif kind == "tmpfs":
            words += (["--size", str(m["size"])] if m["size"] else []) + ["--tmpfs", target]
        elif kind in ("proc", "dev", "dir"):
            words += ["--" + kind, target]
        elif kind == "link":
            words += ["--symlink", source, target]
        elif kind == "file":
            path = os.path.join(place, f"file{len(files)}")
            with open(path, "wb") as f:
                f.write(bytes.fromhex(m["data"]))
            files.append(f"{10 + len(files)}<{path}")
            words += ["--file", str(9 + len(files)), target]
        elif kind == "hide":
            words += ["--tmpfs", target] if os.path.isdir(target) else ["--ro-bind", "/dev/null", target]
    for e in plan["env"]:
        words += ["--setenv", e["name"], e["value"]]
    return files + words + ["--chdir", plan["cwd"], "--", *command]


def crun_command(plan, place, command):
    """crun, rootless, with the same binds; /dev and /proc as its own spec makes them."""
    bundle = os.path.join(place, "bundle")
    os.makedirs(os.path.join(bundle, "rootfs"))
    subprocess.run(["crun", "spec"] + ([] if os.geteuid() == 0 else ["--rootless"]), cwd=bundle, check=True)
    with open(os.path.join(bundle, "config.json")) as f:
        spec = json.load(f)
    spec["process"].update(terminal=False, args=command, cwd=plan["cwd"], noNewPrivileges=True,
                           env=[f"{e['name']}={e['value']}" for e in plan["env"]])
    spec["process"]["capabilities"] = {k: [] for k in ("bounding", "effective", "permitted", "inheritable", "ambient")}
    spec["root"]["readonly"] = False
    spec["mounts"] = [m for m in spec["mounts"] if m["destination"] in ("/proc", "/dev", "/dev/pts", "/dev/shm")]
    for m in plan["mounts"]:
        if m["kind"] == "bind":
            spec["mounts"].append({"destination": m["target"], "type": "bind", "source": m["source"],
                                   "options": ["rbind", "rw" if m["access"] == "write" else "ro", "nosuid"]})
        elif m["kind"] == "tmpfs":
            spec["mounts"].append({"destination": m["target"], "type": "tmpfs", "source": "tmpfs", "options": ["nosuid"]})
        elif m["kind"] == "link":
            target = os.path.join(bundle, "rootfs", m["target"].lstrip("/"))
            os.makedirs(os.path.dirname(target), exist_ok=True)
            os.symlink(m["source"], target)
    spec["linux"].pop("resources", None)
    kinds = ["pid", "network", "ipc", "uts", "mount", "cgroup"] + ([] if os.geteuid() == 0 else ["user"])
    spec["linux"]["namespaces"] = [{"type": t} for t in kinds]
    with open(os.path.join(bundle, "config.json"), "w") as f:
        json.dump(spec, f)
    return ["crun", "--root", os.path.join(place, "crun"), "--cgroup-manager", "disabled", "run", "--bundle", bundle, "bench"]
