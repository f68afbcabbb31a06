# SPDX-License-Identifier: Apache-2.0
"""What tests/fault/storm runs inside a box, commanded by lines on its standard input.

    measure SECONDS     latencies of a connection with one byte, and of a question, as JSON
    storm KIND NUMBER   begins one, in processes of their own; `stop` ends it and tells of it
    traffic             of every kind, until `after`, which tells how each kind has ended
"""

import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import threading
import time

from inside import SERVICE, raise_limit, word

ECHO, SOURCE, HOLE_PORT = 7001, 7002, 7010
TIMEOUT = 1.0       # of one question; then it is asked again, as resolvers do


def say(thing):
    print(json.dumps(thing), flush=True)


def address(name, port):
    return socket.getaddrinfo(name, port, socket.AF_INET, socket.SOCK_STREAM)[0][4]


def question(name, number):
    labels = b"".join(bytes([len(n)]) + n for n in name.encode().split(b"."))
    return struct.pack(">HHHHHH", number & 0xffff, 0x100, 1, 0, 0, 0) + labels + b"\0\0\1\0\1"


# -- measuring -------------------------------------------------------------------

def ends_with_reset(s):
    """Ends that linger by the thousand would make the search for a free port what is measured."""
    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    return s


def connect_once(to):
    with ends_with_reset(socket.create_connection(to, 5)) as s:
        s.sendall(b"x")
        return s.recv(1) == b"x"


def ask_once(number):
    """From a port of its own, as programs do; a lost one is asked again."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect((SERVICE, 53))
        s.settimeout(TIMEOUT)
        for _ in range(4):
            s.send(question("echo.test", number))
            try:
                return s.recv(2048)[:2] == struct.pack(">H", number & 0xffff)
            except TimeoutError:
                continue
    return False


def summed(times, failed):
    times = sorted(times) or [0]
    return {"count": len(times) + failed, "failed": failed, "median": times[len(times) // 2],
            "p99": times[min(len(times) - 1, int(len(times) * 0.99))], "most": times[-1]}


def measure(seconds):
    """Turn by turn, with a rest between, so that it is no storm itself."""
    to = address("echo.test", ECHO)
    times, failed = {"connect": [], "dns": []}, {"connect": 0, "dns": 0}
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        number += 1
        for what, once in (("connect", lambda: connect_once(to)), ("dns", lambda: ask_once(number))):
            began = time.monotonic()
            try:
                good = once()
            except OSError:
                good = False
            if good:
                times[what].append((time.monotonic() - began) * 1000)
            else:
                failed[what] += 1
        time.sleep(0.002)
    return {what: summed(times[what], failed[what]) for what in times}


# -- storms: each is a process, told to end by a signal --------------------------------

def until_told():
    """A function that says whether the storm is over."""
    over = []
    signal.signal(signal.SIGTERM, lambda *_: over.append(1))
    return lambda: bool(over)


def opened(count, over):
    to, poll, open_, answered, began = address("echo.test", ECHO), select.epoll(), {}, 0, time.monotonic()
    failed = {}
    for _ in range(count):
        s = ends_with_reset(socket.socket())
        s.setblocking(False)
        s.connect_ex(to)
        poll.register(s, select.EPOLLOUT)
        open_[s.fileno()] = s
    left = set(open_)
    while left and not over():
        for fd, events in poll.poll(0.2):
            try:
                if events & select.EPOLLOUT and not events & (select.EPOLLERR | select.EPOLLHUP):
                    open_[fd].send(b"?")
                    poll.modify(fd, select.EPOLLIN)
                    continue
                if open_[fd].recv(1) == b"?":
                    answered += 1
                else:
                    failed["closed"] = failed.get("closed", 0) + 1
            except OSError as e:
                failed[word(e)] = failed.get(word(e), 0) + 1
            poll.unregister(fd)
            left.discard(fd)
    seconds = time.monotonic() - began
    while not over():
        time.sleep(0.05)
    return {"answered": answered, "failed": failed, "unanswered": len(left), "seconds": seconds}


def slow(count, over):
    to, held, sent = address("slow.test", ECHO), [], 0
    hello = b"\x16\3\1\2\0\1\0\1\xfc\3\3" + bytes(500)
    for _ in range(count):
        held.append(ends_with_reset(socket.create_connection(to, 5)))
    at = 0
    while not over():
        began = time.monotonic()
        for s in held:
            if over():
                break
            try:
                sent += s.send(hello[at:at + 1])
            except OSError:
                pass
        at = min(at + 1, len(hello) - 1)
        while not over() and time.monotonic() < began + 1:
            time.sleep(0.02)
    return {"sent": sent}


def pending(count, over):
    to, held = address("hole.test", HOLE_PORT), []
    for _ in range(count):
        held.append(ends_with_reset(socket.create_connection(to, 5)))
    while not over():
        time.sleep(0.02)
    return {"opened": len(held)}


def questions(ports, over):
    sockets = []
    for _ in range(ports):
        s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        s.connect((SERVICE, 53))
        sockets.append(s)
    asked, began = 0, time.monotonic()
    while not over():
        q = question(f"n{asked}.flood.test", asked)
        for s in sockets if ports > 1 else sockets * 32:
            try:
                s.send(q)
            except OSError:
                pass
            asked += 1
    seconds, began = time.monotonic() - began, time.monotonic()
    # Whoever has stopped is heard again.
    s, heard = sockets[0], False
    s.settimeout(0.1)
    while not heard and time.monotonic() < began + 12:
        try:
            s.send(question("echo.test", 7))
            heard = s.recv(2048)[7] > 0      # what was answered before has no address
        except OSError:
            pass
    return {"asked": asked, "seconds": seconds, "heard": heard, "after": time.monotonic() - began}


def greedy(count, over):
    to, total, began = address("echo.test", SOURCE), 0, time.monotonic()
    into = bytearray(1 << 20)
    sockets = []
    for _ in range(count):
        s = socket.create_connection(to, 5)
        s.sendall(struct.pack("<Q", 1 << 40))
        sockets.append(s)
    while not over():
        for s in select.select(sockets, [], [], 0.2)[0]:
            total += s.recv_into(into)
    return {"bytes": total, "seconds": time.monotonic() - began}


STORMS = {"opened": opened, "slow": slow, "pending": pending, "questions": questions, "greedy": greedy}


def begin(kind, number):
    """A process that storms: (pid, where it tells what came of it)."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        raise_limit()
        over = until_told()
        try:
            out = STORMS[kind](number, over)
        except OSError as e:
            out = {"error": word(e)}
        os.write(writer, json.dumps(out).encode())
        os._exit(0)
    os.close(writer)
    return pid, reader


def stop(running):
    pid, reader = running
    os.kill(pid, signal.SIGTERM)
    told = b""
    while more := os.read(reader, 65536):
        told += more
    os.close(reader)
    os.waitpid(pid, 0)
    return json.loads(told or b"null")


# -- traffic until the gate is gone ----------------------------------------------------

def repeat(what, ended, kind):
    """Does it again and again, and notes that it failed."""
    while not ended["over"]:
        try:
            what()
        except OSError as e:
            ended[kind] = word(e)
            time.sleep(0.005)


def download(to):
    with socket.create_connection(to, 2) as s:
        s.sendall(struct.pack("<Q", 1 << 34))
        s.settimeout(None)      # nothing but an error ends it
        while s.recv(1 << 18):
            pass


def traffic(echo, source):
    ended = {"over": False}
    held = socket.socket()
    try:
        held.connect(echo)
    except OSError:     # so soon
        pass
    for kind, what in (("connect", lambda: connect_once(echo)), ("download", lambda: download(source)),
                       ("lookup", lambda: socket.getaddrinfo("echo.test", 80))):
        threading.Thread(target=repeat, args=(what, ended, kind), daemon=True).start()
    return ended, held, echo


def after(ended, held, echo):
    """Each kind once more: (whether it failed, as it must; the ms it took)."""
    def timed(what):
        began = time.monotonic()
        try:
            good = not what()
        except OSError:
            good = True
        return [good, (time.monotonic() - began) * 1000]

    def one_byte():
        held.settimeout(5)
        held.sendall(b"x")
        return held.recv(1)
    def under_way(kind):
        end = time.monotonic() + 5
        while kind not in ended and time.monotonic() < end:
            time.sleep(0.005)
        return kind not in ended
    found = {f"a {kind} under way": timed(lambda k=kind: under_way(k)) for kind in ("download", "connect", "lookup")}
    found |= {"a connection that stood": timed(one_byte), "a new one": timed(lambda: connect_once(echo)),
             "a bare address": timed(lambda: connect_once(("203.0.113.10", 80))),
             "a name": timed(lambda: socket.getaddrinfo("slow.test", 80))}
    ended["over"] = True
    return found


def main():
    running = going = None
    echo, source = address("echo.test", ECHO), address("echo.test", SOURCE)
    say("ready")
    for line in sys.stdin:
        words = line.split()
        if words[0] == "measure":
            say(measure(float(words[1])))
        elif words[0] == "storm":
            running = begin(words[1], int(words[2]))
        elif words[0] == "stop":
            say(stop(running))
        elif words[0] == "traffic":
            going = traffic(echo, source)
        elif words[0] == "after":
            say(after(*going))
    os._exit(0)


if __name__ == "__main__":
    main()
