#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Policy for AppArmor, as the kernel reads it: for guests whose parser is older than the rule "userns" (4.0).

    policy.py withhold NAME     loads a profile that allows everything but user namespaces
    policy.py load FILE         loads bawn's own profile
    policy.py remove NAME

It knows as much of the language as bawn's own profile has, and refuses the rest.
"""

import re
import struct
import sys

LOADER = "/sys/kernel/security/apparmor/"
CLASS_NS, NS_CREATE = 21, 0xc
EXEC = 1
# Every right to a file, for its owner and for others; what is executed has its own profile, or this one (pix).
ALL = 0xb7f | 0xb7f << 14
ENFORCE, UNCONFINED = 0, 3


class Refused(Exception):
    """The text is not what it should be."""


# -- the text --

def attachments(word, variables):
    """Paths, in the few forms that are used here: the parser wants a / or a variable at the beginning, also before a {."""
    found = re.fullmatch(r"@\{(\w+)\}", word)
    if found and found[1] in variables:
        return [p for value in variables[found[1]] for p in attachments(value, {})]
    if not re.fullmatch(r"/[\w./+-]+", word):
        raise Refused(f"what a profile is for begins with / or is a variable that is set: {word}")
    return [word]


def read(text):
    """(name, paths, mode, allows userns) of bawn's profile."""
    lines = [line for line in (part.strip() for part in text.splitlines()) if line and not line.startswith("#")]
    variables, head, rules = {}, None, []
    for line in lines:
        found = re.fullmatch(r"@\{(\w+)\} = (.*)", line)
        if found and not head:
            variables[found[1]] = found[2].split()
        elif line.startswith("profile ") and not head:
            head = re.fullmatch(r"profile (\w+) (\S+) flags=\((\w+)\) \{", line)
            if not head:
                raise Refused(f"not a profile: {line}")
        elif head:
            rules.append(line)
        elif not re.fullmatch(r"abi <abi/4\.0>,|include <tunables/global>", line):
            raise Refused(f"an unknown line: {line}")
    if not head or head[3] != "unconfined" or rules != ["userns,", "include if exists <local/bawn>", "}"]:
        raise Refused(f"not bawn's profile: {head and head[0]} {rules}")
    return head[1], attachments(head[2], variables), UNCONFINED, True


# -- the automaton --

class Automaton:
    """States are numbers: 0 goes nowhere and 1 is where it begins."""

    def __init__(self):
        self.next, self.accept = [{}, {}], [0, 0]

    def state(self, accept=0):
        self.next.append({})
        self.accept.append(accept)
        return len(self.next) - 1

    def word(self, word, accept):
        """One word and nothing else."""
        at = 1
        for byte in word.encode():
            if byte not in self.next[at]:
                self.next[at][byte] = self.state()
            at = self.next[at][byte]
        self.accept[at] = accept

    def tables(self):
        """As read by aa_dfa_unpack; every state has room for every byte, since there are few."""
        count = len(self.next)
        chosen = [to.get(byte, 0) for to in self.next for byte in range(256)]
        tables = [(1, 4, self.accept), (7, 4, [0] * count), (2, 4, [256 * s for s in range(count)]), (4, 2, [0] * count),
                  (8, 2, chosen), (3, 2, [i // 256 for i in range(count * 256)])]
        body = b""
        for name, size, values in tables:
            body += struct.pack(f">HHII{len(values)}{'HI'[size == 4]}", name, size, 0, len(values), *values)
            body += bytes(-len(body) % 8)
        return struct.pack(">IIIH10s", 0x1b5e783d, 24, 24 + len(body), 0, b"notflex") + body


# -- what the kernel reads --

def word(code, text):
    return struct.pack("<BH", code, len(text) + 1) + text.encode() + b"\0"


def name(text):
    return word(4, text)


def number(value):
    return struct.pack("<BI", 2, value)


def automaton(a):
    # Of a size that is a multiple of 8 it needs no padding, wherever it lies.
    tables = a.tables()
    return name("aadfa") + struct.pack("<BI", 6, len(tables)) + tables


def profile(title, paths, mode, userns):
    out = name("version") + number(7) + name("profile") + b"\x07" + word(5, title)
    if paths:
        matched = Automaton()
        for path in paths:
            matched.word(path, EXEC)
        out += automaton(matched) + number(1)
    out += name("flags") + b"\x07" + number(0) + number(mode) + number(0) + b"\x08"
    out += number(0xffffffff) + 3 * number(0)
    out += name("caps64") + b"\x07" + number(0xffffffff) + 3 * number(0) + b"\x08"
    # A class that is named is one that is withheld, but for what is accepted.
    classes = Automaton()
    classes.next[1][CLASS_NS] = classes.state(NS_CREATE if userns else 0)
    out += name("policydb") + b"\x07" + automaton(classes) + b"\x08"
    files = Automaton()
    below = files.state(ALL)
    files.next[1][ord("/")] = below
    files.next[below] = {byte: below for byte in range(256)}
    return out + automaton(files) + b"\x08"


def tell(file, data):
    with open(LOADER + file, "wb", buffering=0) as f:
        f.write(data)


def main(verb, what):
    if verb == "withhold":
        tell(".replace", profile(what, [], ENFORCE, False))
    elif verb == "load":
        with open(what) as f:
            tell(".replace", profile(*read(f.read())))
    elif verb == "remove":
        tell(".remove", what.encode())
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(*sys.argv[1:3])
