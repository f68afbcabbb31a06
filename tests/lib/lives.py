# SPDX-License-Identifier: Apache-2.0
"""The scripted life of a session, and what must hold after one of its processes was killed.

    Origin(folder)          listens where the client in the box may connect, and where it may not; notes when what came
    life = Life(...)        a session that nobody sees, which writes, serves and connects without a pause
    life.live()             everything that people do to a session, step by step, until it ends or somebody was killed
    life.judge()            what is not as it should be afterwards, each with the promise that it breaks

Who kills is a thread beside the steps (Killer), or fault/nth at a system call (Traced).  Whoever it is looks then, until the
processes of the box are gone: what counts is when the last of them was last seen.
"""

import json
import os
import re
import selectors
import signal
import socket
import subprocess
import threading
import time

from bawntest import BAWN, SLOW, Terminal, bawn, environment, left_processes, proc_stat, read, run, state_dir, test_program

OPEN, CLOSED = ("203.0.113.10", 8081), ("203.0.113.11", 8082)     # world.WEB and world.RAW
NAMES = {"web.test": [OPEN[0]], "denied.test": [CLOSED[0]]}
POLICY = f"""
network:
  - allow: web.test
    ports: [{OPEN[1]}]
    scheme: tcp
  - allow: six.test
    methods: [GET]
"""
SERVED = 4000
SECOND = 1.0 * SLOW
HANG = 20 * SLOW
LIMITS = []                     # options for a cgroup of the box's own, where there can be one

# In the box: what is allowed, by a new connection each time and by one that is kept; and what is not, by name and by number.
CLIENT = r"""
import socket, sys, threading, time
token = sys.argv[1].encode()
def serve():
    s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(("127.0.0.1", %d)); s.listen(8)
    while True:
        c, _ = s.accept()
        try: c.sendall(c.recv(100))
        except OSError: pass
        c.close()
threading.Thread(target=serve, daemon=True).start()
def reach(host, port):
    try:
        s = socket.create_connection((host, port), 2)
        s.sendall(token)
        return s
    except OSError:
        return None
kept = None
while True:
    for s in (reach("web.test", %d), reach("denied.test", %d), reach("%s", %d)):
        if s: s.close()
    kept = kept or reach("web.test", %d)
    try:
        if kept: kept.sendall(token)
    except OSError:
        kept = None
    time.sleep(0.02)
""" % (SERVED, OPEN[1], CLOSED[1], CLOSED[0], CLOSED[1], OPEN[1])

# A file first, then the client, and one that hears nothing; then a line is answered, until "end".
COMMAND = r"""
echo kept > kept-$1; /usr/bin/python3 -ISc "$3" "$2" & setsid sh -c 'trap "" HUP TERM; while :; do sleep 0.1; done' &
echo ready; while read -r x; do echo "$x" >> said-$1; echo "got:$x"; [ "$x" = end ] && exit 7; done
"""


class Origin(threading.Thread):
    """Notes each token that arrives, with the time, in a file of the token's name; what arrives at the closed one in `closed`."""

    LENGTH = 16

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.look = folder, selectors.DefaultSelector()
        for place in (OPEN, CLOSED):
            s = socket.socket()
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            s.bind(place)
            s.listen(1024)
            self.look.register(s, selectors.EVENT_READ, ("listens", place))

    def note(self, name, now, words=""):
        with open(os.path.join(self.folder, name), "a") as f:
            f.write(f"{now:.6f}{words}\n")

    def run(self):
        while True:
            for key, _ in self.look.select():
                now, (kind, place) = time.monotonic(), key.data
                try:
                    if kind == "listens":
                        c = key.fileobj.accept()[0]
                        c.setblocking(False)
                        self.look.register(c, selectors.EVENT_READ, ("reads", place))
                        if place == CLOSED:
                            self.note("closed", now, " connected")
                        continue
                    data = key.fileobj.recv(self.LENGTH)
                except OSError:
                    data = b""
                if not data:
                    self.look.unregister(key.fileobj)
                    key.fileobj.close()
                elif place == CLOSED:
                    self.note("closed", now, f" {data!r}")
                elif len(data) == self.LENGTH:
                    self.note(data.decode(), now)


def arrivals(folder, token):
    return [float(line) for line in read(os.path.join(folder, token)).split("\n") if line]


# -- who is there ------------------------------------------------------------------

def children(pid):
    """Of all its threads, quickly: a look through all of /proc takes as long as a start."""
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            found += [int(p) for p in read(f"/proc/{pid}/task/{thread}/children").split()]
    except OSError:
        pass
    return found


def numbers(pid):
    """The numbers that a process has, outside and in its box; nothing when it is gone."""
    found = re.search(r"(?m)^NSpid:\s+(.*)$", read(f"/proc/{pid}/status"))
    return [int(n) for n in found.group(1).split()] if found else []


def label(comm, inside, above, command=None):
    """Which part of a session a process is: by its name, its number in the box, its parent's name and its first word."""
    if inside and comm in ("bawn", "bawn-review"):
        return f"{comm} apart"              # is no process of the box: tries what this kernel has (src/host/feature.c)
    if comm == "bawn":
        return "bawn" if command is None or command == "run" else "viewer"
    if comm == "bawn-box":
        return "bawn-box outside" if not inside else "bawn-box" if inside == 1 else "bawn-box inside"
    if comm == above == "bawn-recorder":
        return "bawn-recorder's child"
    return comm if not inside else f"{comm} inside"


def present():
    """pid -> label of everything below us that lives."""
    found, queue = {}, children(os.getpid())
    while queue:
        pid = queue.pop()
        queue += children(pid)
        stat = proc_stat(pid)
        if not stat or stat[1] in "ZX":
            continue
        words = read(f"/proc/{pid}/cmdline").split("\0")
        if stat[0] == "nth" or not words[0]:
            continue
        mine = numbers(pid)
        above = proc_stat(stat[2])
        found[pid] = label(stat[0], mine[1] if len(mine) > 1 else 0, above[0] if above else "", words[1] if len(words) > 1 else None)
    return found


# What ends the session at once, and what may be its command, whose end is the session's as any other end.  With the rest of its
# parts it goes on or not.
FATAL = {"bawn", "bawn-keeper", "bawn-recorder", "bawn-box"}
COMMANDS = {"sh inside", "bawn-box inside"}


def is_in_box(what):
    return what == "bawn-box" or what.endswith(" inside")


def is_none_of_ours(what):
    """Whose end is nobody's interruption: a program in the box, and who looks at it from outside."""
    return what == "viewer" or what.endswith(" inside")


class Killed:
    """Who was killed, when, and when the last of the box, and of the session, was last seen.

    A process that was killed needs a processor to end, and so do we to see it.  Where many wait for one, a second of the clock
    says little: `fair` counts what we computed and slept, so what would have passed with a processor for each of us."""

    LOOKS = 4                       # that find nobody: a parent's end hands its children on between two parts of one look

    def __init__(self, at, labels, words):
        self.at, self.labels, self.words = at, labels, words
        self.box = self.all = at
        self.fair, self.seen = 0.0, ""
        self.gone = False           # no process of the box is left

    def watch(self):
        """Until they are gone, for as long as that may take; where the session may go on, not so long."""
        may_go_on = not FATAL & set(self.labels)
        end = self.at + (0.3 if may_go_on else 5) * SLOW
        none, none_inside, slept, began = 0, 0, 0.0, time.thread_time()
        while True:
            there = present()
            now = time.monotonic()
            inside = [pid for pid, what in there.items() if is_in_box(what)]
            others = [pid for pid, what in there.items() if what != "viewer"]
            none, none_inside = 0 if others else none + 1, 0 if inside else none_inside + 1
            if inside:
                self.box, self.fair = now, slept + time.thread_time() - began
                self.seen = ", ".join(f"{there[pid]} ({(proc_stat(pid) or '??')[1]} {read(f'/proc/{pid}/wchan')})" for pid in inside)
            if others:
                self.all = now
            self.gone = none_inside >= self.LOOKS
            if none >= self.LOOKS or now > end and (inside or self.gone):
                return
            time.sleep(0.003)
            slept += 0.003


class Killer(threading.Thread):
    """Kills one process of the session, or several, so many seconds from now."""

    def __init__(self, life, dice, seconds):
        super().__init__(daemon=True)
        self.life, self.dice, self.moment = life, dice, time.monotonic() + seconds
        self.over = False

    def choose(self, there):
        kinds = sorted(set(there.values()))
        how = self.dice.random()
        if how < 0.05:
            return list(there)
        wanted = self.dice.sample(kinds, min(len(kinds), self.dice.randint(2, 4) if how < 0.2 else 1))
        # All of one kind, or one of them.
        return [pid for kind in wanted for pid in self.pick([p for p, k in there.items() if k == kind])]

    def pick(self, pids):
        return pids if self.dice.random() < 0.3 else [self.dice.choice(sorted(pids))]

    def run(self):
        while time.monotonic() < self.moment and not self.over:
            time.sleep(0.0005)
        there = {} if self.over else present()
        if not there:
            return
        wanted, hit = self.choose(there), []
        self.life.striking = True
        at = time.monotonic()
        for pid in wanted:
            try:
                os.kill(pid, signal.SIGKILL)
                hit.append(there[pid])
            except ProcessLookupError:
                pass
        if hit:
            killed = Killed(at, hit, ", ".join(sorted(hit)))
            self.life.on_killed(killed)
            killed.watch()
        self.life.striking = False


class Traced(threading.Thread):
    """fault/nth kills at a system call, and leaves a line."""

    def __init__(self, life, program, told):
        super().__init__(daemon=True)
        self.life, self.program, self.told, self.over = life, program, told, False

    def run(self):
        while not os.path.exists(self.told):
            if self.over:
                return
            time.sleep(0.002)
        at, call, above, *where = read(self.told).split()
        inside = int(where[1]) if len(where) > 1 else 0
        killed = Killed(int(at) / 1e9, [label(self.program, inside, above)], f"{self.program} below {above} at call {call}, {where}")
        self.life.on_killed(killed)
        killed.watch()


# -- a life --------------------------------------------------------------------------

class Life:
    def __init__(self, number, token, folder, trace=()):
        self.number, self.token, self.folder = number, token, folder
        self.name = "life-" + token.strip("-").replace("-", "x")
        self.trace, self.told = list(trace), os.path.join(folder, token + ".told")
        self.killed, self.striking = None, False
        self.dead = None            # from here on it cannot have sent anything
        self.step = "start"
        self.said, self.wrong = [], []
        self.published = None
        self.seconds = 0.0

    def bad(self, promise, *what):
        self.wrong.append((promise, " ".join(str(w) for w in what)))

    def struck(self):
        """Somebody was killed, or is at this very moment."""
        return self.killed or self.striking or os.path.exists(self.told)

    def on_killed(self, killed):
        killed.step = self.step
        self.killed = killed

    def start(self):
        command = [BAWN, "run", "--quiet", "--review", "--name", self.name, "--detach", "--publish", str(SERVED), *LIMITS, "--", "sh", "-c", COMMAND,
                   "life", str(self.number), self.token, CLIENT]
        self.err = os.path.join(self.folder, self.token + ".err")
        with open(self.err, "w") as err:
            self.first = subprocess.Popen([*self.trace, *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err, text=True)

    def named(self):
        """Waits until it says its name; whether it did."""
        limit = threading.Timer(HANG, self.first.kill)
        limit.start()
        line = self.first.stdout.readline().strip()
        limit.cancel()
        if not self.trace:
            self.first.stdout.close()
            self.ended()
        found = re.search(r"http://127\.0\.0\.1:(\d+) leads to port", read(self.err))
        self.published = int(found.group(1)) if found else SERVED
        return bool(line)

    def ended(self):
        """Waits for the first process; one that stays is killed, so that the next life has a chance."""
        try:
            self.first.wait(HANG)
        except subprocess.TimeoutExpired:
            self.bad("ends", f"bawn run --detach does not end: {present()}")
            self.first.kill()
            self.first.wait()

    def verb(self, *words, wanted=0, **more):
        r = bawn(*words, timeout=HANG / SLOW, **more)
        if r.timed_out:
            self.bad("ends", f"bawn {' '.join(words)} hangs: {r}")
        if r.status != wanted and not self.struck():
            self.bad("lives", f"bawn {' '.join(words)}: {r}")
        return r

    # The steps.  Each is what somebody does; none has to succeed once a process was killed.

    def ready(self):
        end = time.monotonic() + HANG
        while not arrivals(self.folder, self.token) and not self.killed:
            if time.monotonic() > end:
                return self.bad("lives", "the client reaches nothing")
            time.sleep(0.01)

    def write(self):
        word = f"acked-{len(self.said)}"
        if self.verb("exec", "--session", self.name, "--", "sh", "-c", f"echo {word} >> acked-{self.number}").status == 0:
            self.said.append(word)

    def attach(self):
        with Terminal(BAWN, "attach", self.name, env=environment(TERM="xterm")) as t:
            t.send("typed\n")
            if not self.meets(t, "got:typed"):
                return
            t.send(b"\x1c")
            self.meets(t, "detached")

    def meets(self, t, pattern):
        end = time.monotonic() + HANG
        while not re.search(pattern.encode(), t.seen):
            ended = not t.pump(0.02)
            if self.struck() and (ended or self.killed and time.monotonic() > self.killed.at + 0.5 * SLOW):
                return False
            if ended or time.monotonic() > end:
                self.bad("lives", f"a terminal waits for {pattern}: {t.seen!r}")
                return False
        return True

    def send(self):
        self.verb("send", "--session", self.name, "--", "word")

    def reach(self):
        try:
            with socket.create_connection(("127.0.0.1", self.published or 1), 5 * SLOW) as s:
                s.sendall(b"through")
                got = s.recv(100)
        except OSError as e:
            got = e
        if got != b"through" and not self.struck():
            self.bad("lives", f"the published port {self.published}: {got!r}")

    def pause(self):
        self.verb("pause", self.name)

    def resume(self):
        self.verb("resume", self.name)

    def list(self):
        self.verb("sessions")

    def end(self):
        # Who was killed may be the one that said it: then nobody did.
        if self.verb("send", "--session", self.name, "--", "end").status == 0 and not self.struck():
            self.verb("wait", self.name, wanted=7)

    STEPS = ("ready", "write", "attach", "send", "reach", "pause", "list", "resume", "write", "end")

    def live(self, killer=None):
        began = time.monotonic()
        self.start()
        if killer:
            killer.start()
        named = self.named()
        if named:
            for step in self.STEPS:
                if self.killed:
                    break
                self.step = step
                getattr(self, step)()
        self.seconds = time.monotonic() - began
        if killer:
            killer.over = True
            killer.join()
        if not named and not self.killed:
            self.bad("lives", f"it does not start: {read(self.err)}")
        self.dead = self.killed.at if self.killed and self.killed.gone else time.monotonic()

    # -- afterwards ----------------------------------------------------------------

    def listed(self):
        r = bawn("sessions", "--json")
        try:
            return next((s for s in json.loads(r.out) if self.name in (s["name"], s.get("called"))), {})
        except ValueError:
            self.bad("listed", f"bawn sessions --json: {r}")
            return {}

    def goes_on(self):
        """Only where that may be: then it is as good as ever, and ends at once when it is told."""
        s = self.listed()
        if not s.get("running"):
            return
        if self.killed and FATAL & set(self.killed.labels) and self.killed.step != "start":
            self.bad("gone", f"it goes on after {self.killed.words}: {s}")
        if s.get("paused"):
            self.verb("resume", self.name)
        r = run(BAWN, "exec", "--session", self.name, "--", "true", timeout=HANG / SLOW)
        if r.status != 0 and not self.has_ended():
            self.bad("listed", f"it is said to run, and does not: {r}")
        at = self.dead = time.monotonic()
        r = run(BAWN, "kill", self.name, timeout=HANG / SLOW)
        ended = Killed(at, ["bawn"], "bawn kill")
        ended.watch()
        if r.status != 0 and not self.has_ended():
            self.bad("ends", f"bawn kill: {r}")
        if not ended.gone or ended.fair > SECOND:
            self.bad("gone", f"bawn kill: after {ended.box - at:.2f} s there is {present()}")

    def has_ended(self):
        return not self.listed().get("running")

    def judge(self, dice):
        k = self.killed
        if k is None or not k.gone:
            self.goes_on()
        if self.trace:
            self.first.stdout.close()
            self.ended()
        left = left_processes(3)
        if left:
            self.bad("gone", f"left: {left}")
        if k and k.fair > SECOND and (k.gone or FATAL & set(k.labels) and k.step != "start"):
            self.bad("gone", f"{k.words}: the box was there for {k.box - k.at:.2f} s, of which {k.fair:.2f} s had a processor; last seen: {k.seen}")
        came = arrivals(self.folder, self.token)
        self.judge_network(came)
        self.judge_list(came)
        self.judge_left()
        return self

    def late(self):
        """From when on nothing may arrive: a second after the kill, or when its last process was seen, where that had no processor."""
        return max(self.dead + SECOND, self.killed.box + 0.5 * SECOND if self.killed and self.killed.gone else 0)

    def judge_network(self, came):
        late = [t - self.dead for t in came if t > self.late()]
        if late:
            self.bad("network", f"{len(late)} arrivals, the last {late[-1]:.2f} s after its end")
        closed = read(os.path.join(self.folder, "closed"))
        if closed:
            self.bad("network", f"reached without a rule: {closed[:200]}")

    def judge_list(self, came):
        """The list, the changes and the record.  What was written before the kill is known from what the client, which comes
        after it, sent by then, and from commands that said that they had."""
        k, s = self.killed, self.listed()
        if s.get("running"):
            self.bad("listed", f"it runs: {s}")
        wrote = [t for t in came if not k or t < k.at]
        if not wrote:
            return self.forget(s)
        if not s:
            self.bad("listed", "it is not listed")
            return None
        labels = set(k.labels) if k else set()
        meant = all(is_none_of_ours(what) for what in labels)
        if FATAL & labels and not COMMANDS & labels and k.step != "end" and not s["interrupted"]:
            self.bad("listed", f"{k.words} in {k.step}: not interrupted: {s}")
        if s["interrupted"] and meant:
            self.bad("listed", f"{k.words if k else 'nobody was killed'}: interrupted: {s}")
        r = run(BAWN, "record", "verify", self.name)
        whole = not k or not {"bawn-recorder", "bawn-syncer"} & labels
        if r.status != 0 and (whole or r.status != 3):
            self.bad("record", f"{k.words if k else 'nobody'}: {r}")
        self.judge_changes()
        return None

    def judge_changes(self):
        r = run(BAWN, "diff", "--session", self.name, "--patch")
        missing = [w for w in (f"kept-{self.number}", *(f"+{word}\n" for word in self.said)) if w not in r.out]
        if r.status != 0 or missing:
            self.bad("changes", f"{missing} not in {r}")
        self.decide()

    def decide(self):
        """Applied and undone, or discarded, or gone on with: one after the other."""
        kept, way = f"kept-{self.number}", ("apply", "discard", "continue", "rm")[self.number % 4]
        if way == "apply":
            r = run(BAWN, "apply", "--yes", "--session", self.name)
            if r.status != 0 or read(kept) != "kept\n" or not set(self.said) <= set(read(f"acked-{self.number}").split()):
                self.bad("changes", f"apply: {r}")
            r = run(BAWN, "undo", "--yes")
            if r.status != 0 or os.path.exists(kept):
                self.bad("changes", f"undo: {r}")
        elif way == "discard":
            r = run(BAWN, "discard", "--yes", "--session", self.name)
            if r.status != 0 or self.listed():
                self.bad("changes", f"discard: {r}")
        elif way == "continue":
            r = run(BAWN, "run", "--quiet", "--review", "--continue", self.name, "--", "cat", kept)
            if (r.status, r.out) != (0, "kept\n"):
                self.bad("changes", f"continue: {r}")
        self.forget(self.listed())

    def forget(self, listed):
        """So that ten thousand lives leave no more than one does."""
        r = run(BAWN, "rm", "--yes", self.name)
        if r.status != 0 and (listed or r.status != 125):
            self.bad("changes", f"rm: {r}")

    def judge_left(self):
        tops = (os.path.join(state_dir(), "run"), os.path.join(os.environ.get("XDG_RUNTIME_DIR", "/nonexistent"), "bawn"))
        left = [name for top in tops if os.path.isdir(top) for name in os.listdir(top)]
        if left:
            self.bad("left", f"in the folder of sockets: {left}")
        self.judge_cgroups()
        for name in (self.err, self.told):
            if os.path.exists(name):
                os.unlink(name)


    def judge_cgroups(self):
        """Where boxes have one (LIMITS).  That of a killed session is removed by who lists sessions, as we did."""
        left = [os.path.join(top, name) for top, names, _ in os.walk("/sys/fs/cgroup") for name in names if name.startswith(f"bawn-{self.name}.")]
        if left:
            self.bad("left", f"cgroups: {left}")


NTH = test_program("nth")


def killed_at(token, number, folder, program, n):
    """A life in which the Nth call of a program is its last, and who looks on."""
    life = Life(number, token, folder)
    life.trace = [NTH, "kill", program, str(n), life.told, "--"]
    return life, Traced(life, program, life.told)
