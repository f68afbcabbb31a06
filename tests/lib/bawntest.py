# SPDX-License-Identifier: Apache-2.0
"""What the system tests share: results as TAP lines, commands with a deadline,
a terminal, and a look at what a test left behind.

The environment says what is tested:

    BAWN            the program (default: bawn from PATH)
    BAWN_TEST_BIN   the folder of our own test programs (hide); default: those of the checkout's build
    BAWN_TEST_SLOW  how many times as long everything may take (an emulated processor); default: 1
    BAWN_TEST_PATIENCE
                    what is waited for is waited for at least so many seconds, whatever the test says: a busy machine is
                    no fault of bawn's, and who is quick ends the wait at once; default: 30

Every process that a test starts stays a descendant of the test (subreaper), so
"nothing is left" is a statement about a process tree, not about names.
"""

import ctypes
import errno
import fcntl
import os
import pty
import re
import resource
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

BAWN = os.environ.get("BAWN") or shutil.which("bawn") or "bawn"
TEST_BIN = os.environ.get("BAWN_TEST_BIN") or os.path.dirname(BAWN)
SLOW = int(os.environ.get("BAWN_TEST_SLOW", "1"))
PATIENCE = int(os.environ.get("BAWN_TEST_PATIENCE", "30"))


def test_program(name):
    built = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../build/tests")
    places = [TEST_BIN] if "BAWN_TEST_BIN" in os.environ else [TEST_BIN, *(f"{built}/{d}" for d in ("lib", "bench", "fault"))]
    return next((p for p in (os.path.join(d, name) for d in places) if os.access(p, os.F_OK)), os.path.join(TEST_BIN, name))


HIDE = test_program("hide")
PR_SET_CHILD_SUBREAPER = 36


# -- results ---------------------------------------------------------------

class Premise(SystemExit):
    """Raised by Tap.must; where no Tap.part takes it, the program ends."""


class Tap:
    """Counts results and prints each as one TAP line."""

    def __init__(self, title):
        self.count = self.failed = self.skipped = 0
        self.title = title
        who = "root" if os.geteuid() == 0 else "an ordinary user"
        say(f"# {title}, as {who}")

    def ok(self, holds, name, detail=""):
        self.count += 1
        print(f"{'ok' if holds else 'not ok'} {self.count} - {self.title}: {name}", flush=True)
        if not holds:
            self.failed += 1
            for line in str(detail).splitlines()[:40]:
                say(f"#   {line}")
        return bool(holds)

    def equal(self, got, want, name, detail=""):
        return self.ok(got == want, name, f"got  {got!r}\nwant {want!r}\n{detail}")

    def outside(self, holds, name, detail=""):
        """What holds without bawn: a fixture, the same without a box, a tool of the host.  tests/nothing knows these."""
        return self.ok(holds, f"outside: {name}", detail)

    def must(self, holds, name, detail=""):
        """What all that follows stands on: this part of the program ends here when it does not hold."""
        if not self.ok(holds, name, detail):
            raise Premise(1)
        return True

    @staticmethod
    def part(function, *arguments):
        """Runs a part; where its premise does not hold, the next one is what follows."""
        try:
            function(*arguments)
        except Premise:
            pass

    def matches(self, text, pattern, name):
        return self.ok(re.search(pattern, text, re.S), name, f"no {pattern!r} in:\n{text}")

    def skip(self, name, why):
        self.count += 1
        self.skipped += 1
        print(f"ok {self.count} - {self.title}: {name} # SKIP {why}", flush=True)

    def done(self):
        print(f"1..{self.count}", flush=True)
        sys.exit(1 if self.failed else 0)


def say(line):
    print(line, flush=True)


# -- commands --------------------------------------------------------------

class Result:
    def __init__(self, status, out, err, seconds, timed_out):
        self.status = status          # as a shell sees it: 0..255, 128+n for a signal
        self.raw = None
        self.out, self.err = out, err
        self.seconds = seconds
        self.timed_out = timed_out

    def __str__(self):
        return (f"status {self.status}{' (timed out)' if self.timed_out else ''}, "
                f"{self.seconds:.2f} s\nstdout: {self.out!r}\nstderr: {self.err!r}")


def deadline(seconds):
    """When to stop waiting for what should happen.  Not for what should not: that is looked at after a time of the test's own."""
    return time.monotonic() + max(seconds, PATIENCE) * SLOW


def run(*argv, input=None, timeout=20, env=None, cwd=None, binary=False, **more):
    """Runs a command to its end; kills its whole group at the deadline."""
    started = time.monotonic()
    more.setdefault("stdin", subprocess.PIPE if input is not None else subprocess.DEVNULL)
    more.setdefault("stdout", subprocess.PIPE)
    more.setdefault("stderr", subprocess.PIPE)
    child = subprocess.Popen([str(a) for a in argv], env=env, cwd=cwd, start_new_session=True, **more)
    if isinstance(input, str):
        input = input.encode()
    timed_out = False
    try:
        out, err = child.communicate(input, timeout=max(timeout, PATIENCE) * SLOW)
    except subprocess.TimeoutExpired:
        timed_out = True
        kill_tree(child.pid)
        out, err = child.communicate()
    out, err = out or b"", err or b""
    if not binary:
        out, err = out.decode(errors="replace"), err.decode(errors="replace")
    code = child.returncode
    r = Result(code if code >= 0 else 128 - code, out, err, time.monotonic() - started, timed_out)
    r.raw = code                      # subprocess' own: negative for a signal
    return r


def bawn(*args, **more):
    return run(BAWN, *args, **more)


def computing(*args, **more):
    """A command of bawn's, and the seconds that it computed: a busy machine does not make them many more."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    r = bawn(*args, **more)
    return r, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def box_starts(tap, **more):
    """The premise of a program that would take long to fail piece by piece."""
    r = bawn("run", "--quiet", "--", "echo", "in", **more)
    tap.must((r.status, r.out) == (0, "in\n"), "a box starts", r)


def environment(**changes):
    """This environment with changes; a value of None takes the name away."""
    env = dict(os.environ)
    for name, value in changes.items():
        if value is None:
            env.pop(name, None)
        else:
            env[name] = str(value)
    return env


def remove_tree(path):
    """Also what overlayfs has left in a layer: folders that nobody may read."""
    def again(function, name, _):
        try:
            # The folder above is everybody's.
            for each in (os.path.dirname(name), name):
                if each == path or each.startswith(os.path.join(path, "")):
                    os.chmod(each, 0o700)
            (os.rmdir if function in (os.open, os.scandir, os.listdir, os.rmdir) else os.unlink)(name)
        except OSError:
            pass
    shutil.rmtree(path, onerror=again)
    if os.path.isdir(path):            # what had to be opened first is empty now
        shutil.rmtree(path, ignore_errors=True)


def forget_layers(path):
    """What sessions in this folder, or in one below it, have left in the state directory."""
    top = os.path.join(state_dir(), "workspaces")
    for name in os.listdir(top) if os.path.isdir(top) else []:
        try:
            with open(os.path.join(top, name, "path"), "rb") as f:
                belongs = os.fsdecode(f.read().rstrip(b"\n\0"))
        except OSError:
            continue
        if belongs == path or belongs.startswith(path + "/"):
            remove_tree(os.path.join(top, name))


class Workspace:
    """An empty folder to work in, outside /tmp (which the box hides) and gone at the end."""

    def __init__(self):
        base = os.path.join(os.environ.get("HOME", "/var/tmp"), "bawn-test")
        os.makedirs(base, exist_ok=True)
        self.path = os.path.realpath(tempfile.mkdtemp(dir=base))

    def __enter__(self):
        os.chdir(self.path)
        return self.path

    def __exit__(self, *_):
        os.chdir("/")
        forget_layers(self.path)
        remove_tree(self.path)
        try:
            os.rmdir(os.path.dirname(self.path))
        except OSError:
            pass


# -- processes -------------------------------------------------------------

def adopt_orphans():
    """From here on every process below us stays below us, whatever dies between, and has the signals that a login
    gives: what a shell makes ignored for its background jobs stays so in all that is started."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def proc_stat(pid):
    """(comm, state, ppid) or None."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            text = f.read().decode(errors="replace")
    except OSError:
        return None
    comm, rest = text[text.index("(") + 1:].rsplit(")", 1)
    fields = rest.split()
    return comm, fields[0], int(fields[1])


def processes():
    table = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            stat = proc_stat(name)
            if stat:
                table[int(name)] = stat
    return table


def filtered(pid):
    """What the kernel says of a process: (has it a system call filter, can it gain rights)."""
    with open(f"/proc/{pid}/status") as f:
        said = dict(line.split(":", 1) for line in f)
    return said["Seccomp"].strip() == "2", said["NoNewPrivs"].strip() != "1"


def filtered_at_work(argv, **more):
    """The same of a program that has written more than anybody reads: (program, filtered's answer)."""
    reads, writes = os.pipe()
    fcntl.fcntl(writes, 1031, 4096)    # F_SETPIPE_SZ
    child = subprocess.Popen([str(a) for a in argv], stdout=writes, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **more)
    os.close(writes)
    try:
        os.read(reads, 1)
        time.sleep(0.2)
        with open(f"/proc/{child.pid}/comm") as f:
            return f.read().strip(), filtered(child.pid)
    except OSError as e:
        return "ended", e
    finally:
        child.kill()
        child.wait()
        os.close(reads)


def descendants(of=None, table=None):
    """pid -> (comm, state, ppid) of everything below, zombies too."""
    table = table or processes()
    children = {}
    for pid, (_, _, ppid) in table.items():
        children.setdefault(ppid, []).append(pid)
    found, queue = {}, list(children.get(of or os.getpid(), []))
    while queue:
        pid = queue.pop()
        found[pid] = table[pid]
        queue += children.get(pid, [])
    return found


def kill_tree(pid):
    for p in [pid, *descendants(pid)]:
        try:
            os.kill(p, signal.SIGKILL)
        except ProcessLookupError:
            pass


def reap():
    """Takes the dead that were handed to us; never waits."""
    while True:
        try:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                return
        except ChildProcessError:
            return


def left_processes(seconds=6.0):
    """What still runs below us after at most this long."""
    end = deadline(seconds) if seconds else 0
    while True:
        reap()
        left = descendants()
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.01)


def wait_for(condition, seconds=5.0, step=0.01):
    end = deadline(seconds)
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(step)
    return condition()


# -- what a start may leave behind -------------------------------------------

def listing(path, depth=6):
    """Every name below path, as a set; nothing when it is not there."""
    found = set()
    base = path.rstrip("/").count("/")
    for top, dirs, files in os.walk(path):
        for name in dirs + files:
            found.add(os.path.join(top, name))
        if top.count("/") - base >= depth:
            dirs.clear()
    return found


def state_dir():
    return os.path.join(os.environ.get("XDG_STATE_HOME") or
                        os.path.join(os.environ["HOME"], ".local/state"), "bawn")


def is_mine(path):
    try:
        return os.lstat(path).st_uid == os.geteuid()
    except OSError:
        return False


def read(path):
    try:
        with open(path, errors="replace") as f:
            return f.read()
    except OSError:
        return ""


class Leftovers:
    """A picture of the machine before, to be compared with after.

    Looks at processes, mounts, namespaces that a process of this user or a mount
    holds, named sockets, files in /tmp, the run-time and state folders, and our
    own descriptors.  The private home of a workspace is meant to stay, and so is the
    user's key from which placeholders are made.
    """

    def __init__(self):
        self.before = self.look()

    @staticmethod
    def look():
        runtime = os.environ.get("XDG_RUNTIME_DIR", f"/run/user/{os.geteuid()}")
        # What is known of folders, a private home, the records, and the room that is kept for a full disk, are there to stay.
        stays = tuple(os.path.join(state_dir(), name) for name in ("folders", "home", "placeholder.key", "record", "reserve", "workspaces"))
        # Others mount and unmount as they like: what is in our own folders, or speaks of bawn, is ours.
        ours = tuple(os.path.realpath(p) for p in (os.environ.get("HOME", "/var/tmp"), state_dir(), runtime, "/tmp/", "/dev/shm/"))
        namespaces = set()
        for pid in [os.getpid(), *descendants()]:
            for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
                try:
                    namespaces.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
                except OSError:
                    pass
        sockets = {line.split(None, 7)[7] for line in read("/proc/net/unix").splitlines()[1:] if line.count(" ") > 6
                   and len(line.split(None, 7)) > 7}
        # A name without a file (@...) goes with its last process, and those are looked at by themselves.
        sockets = {s for s in sockets if is_mine(s)}
        return {
            "mounts": {line for line in read("/proc/self/mountinfo").splitlines()
                       if line.split(" ", 5)[4].startswith(ours) or "bawn" in line},
            "namespaces": namespaces,
            "sockets": sockets,
            "files in /tmp": {p for p in listing("/tmp", 1) if is_mine(p)},
            "files in /dev/shm": {p for p in listing("/dev/shm", 1) if is_mine(p)},
            "run-time files": listing(runtime),
            "state files": {p for p in listing(state_dir(), 3) if not p.startswith(stays)},
            "descriptors": set(os.listdir("/proc/self/fd")),
        }

    def check(self, seconds=2.0):
        """Sentences about what is left; empty when nothing is."""
        found = [f"process {pid} {stat}" for pid, stat in left_processes(seconds).items()]
        # The folder of a session that was killed is removed by whichever command comes next.
        r = bawn("sessions")
        if r.status != 0 or not (r.out + r.err).strip():
            found.append(f"bawn sessions: {r}")
        after = self.look()
        for what, now in after.items():
            extra = now - self.before[what]
            if what == "descriptors" and len(now) <= len(self.before[what]):
                continue
            if what == "state files":   # the folders themselves may be made once
                extra = {p for p in extra if not os.path.isdir(p)}
            found += [f"{what}: {e}" for e in sorted(extra)[:10]]
            if what == "mounts":
                found += [f"mount gone: {e}" for e in sorted(self.before[what] - now)[:10]]
        return found


# -- a terminal ------------------------------------------------------------

class Terminal:
    """A command with a terminal of its own, driven from the other side."""

    def __init__(self, *argv, rows=24, columns=80, env=None):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            try:
                os.execvpe(argv[0], list(argv), env or environment(TERM="xterm", PS1="$ "))
            finally:
                os._exit(127)
        self.resize(rows, columns)
        self.status = None

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def modes(self):
        return termios.tcgetattr(self.fd)

    def send(self, data):
        os.write(self.fd, data if isinstance(data, bytes) else data.encode())

    def pump(self, seconds):
        """Reads what comes within this time; False at the end of the terminal."""
        ready, _, _ = select.select([self.fd], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self.fd, 65536)
        except OSError as e:
            if e.errno != errno.EIO:
                raise
            return False
        self.seen += data
        return bool(data)

    def expect(self, pattern, seconds=10):
        """The text up to and with the pattern, which is then taken away; None at the deadline."""
        compiled = re.compile(pattern.encode() if isinstance(pattern, str) else pattern, re.S)
        end = deadline(seconds)
        while True:
            m = compiled.search(self.seen)
            if m:
                text = self.seen[:m.end()]
                self.seen = self.seen[m.end():]
                return text.decode(errors="replace")
            left = end - time.monotonic()
            if left <= 0 or not self.pump(min(left, 0.2)):
                return None

    def wait(self, seconds=10):
        """The status as a shell sees it, or None when it still runs."""
        end = deadline(seconds)
        while self.status is None and time.monotonic() < end:
            self.pump(0.02)
            pid, raw = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                code = os.waitstatus_to_exitcode(raw)
                self.status = code if code >= 0 else 128 - code
                self.drain()
        return self.status

    def drain(self):
        """Reads what the dead have left in the terminal."""
        while select.select([self.fd], [], [], 0.05)[0] and self.pump(0):
            pass

    def close(self):
        if self.status is None:
            kill_tree(self.pid)
            self.wait(2)
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
