# SPDX-License-Identifier: Apache-2.0
"""Mutants: small changes of a C file, each compiled in behind a number (mutant.h).

What is changed: a condition of an if (negated), a comparison, && and ||, a whole number (one more, one
less), a call whose result nobody takes (left out), what a function returns (success for an error, an error
for success, the other truth).  What only makes words, frees or closes is left alone.
"""

import os
import random
import re
import shlex

from clang import cindex
from clang.cindex import CursorKind as K

OTHER = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&"}
QUIET = re.compile(r"^(error_\w+|text_\w+|show_\w+|\w*printf|buf_putf|\w*_say|say|\w*complain\w*|fputs|puts|perror|free|\w+_free|"
                   r"\w+_fini|fd_close|close|fclose|closedir|va_start|va_end|assert|abort)$")
WORDS = re.compile(r"show|words|say|print|explain|describe|complain|usage|help")
PER_FILE = 3


class Mutant:
    def __init__(self, path, folder, kind, span, new, line, function, old):
        self.path, self.folder, self.kind, self.span, self.new = path, folder, kind, span, new
        self.line, self.function, self.old, self.number = line, function, old, 0

    def text(self):
        """The old text with the mutant beside it."""
        if self.kind == "call":
            return f"do {{ if (!bawn_mutant({self.number})) {{ {self.old}; }} }} while (0)"
        return f"(bawn_mutant({self.number}) ? ({self.new}) : ({self.old}))"

    def __str__(self):
        old, new = (re.sub(r"\s+", " ", x)[:60] for x in (self.old, self.new))
        return f"{self.number} {self.path}:{self.line} {self.function}: {self.kind}: {old} -> {new or 'nothing'}"


class File:
    """The candidates of one file."""

    def __init__(self, root, path, folder, arguments):
        self.path, self.folder, self.found = path, folder, []
        self.name = os.path.join(root, path)
        with open(self.name, encoding="latin-1") as f:
            self.data = f.read()
        unit = cindex.Index.create().parse(self.name, args=arguments)
        if any(d.severity >= 3 for d in unit.diagnostics):
            raise SystemExit(f"{path}: {unit.diagnostics[0]}")
        for cursor in unit.cursor.get_children():
            if cursor.kind == K.FUNCTION_DECL and cursor.is_definition() and self.is_here(cursor) \
                    and not WORDS.search(cursor.spelling):
                self.function = cursor
                self.walk(cursor, None)

    def is_here(self, cursor):
        at = cursor.extent.start
        return at.file is not None and at.file.name == self.name

    def source(self, cursor):
        return self.data[cursor.extent.start.offset:cursor.extent.end.offset]

    def add(self, kind, cursor, new):
        old = self.source(cursor)
        if old.strip() and is_whole(old):
            span = (cursor.extent.start.offset, cursor.extent.end.offset)
            self.found.append(Mutant(self.path, self.folder, kind, span, new, cursor.extent.start.line, self.function.spelling, old))

    def walk(self, cursor, parent):
        if not self.is_here(cursor):
            return
        children = list(cursor.get_children())
        if cursor.kind == K.VAR_DECL and cursor.storage_class == cindex.StorageClass.STATIC:
            return
        if cursor.kind == K.ENUM_DECL:
            return  # the compiler wants a constant
        if cursor.kind == K.CASE_STMT:
            children = children[1:]
        if cursor.kind == K.CALL_EXPR and QUIET.match(cursor.spelling or ""):
            return
        self.look(cursor, children, parent)
        for child in children:
            self.walk(child, cursor)

    def look(self, cursor, children, parent):
        if cursor.kind == K.IF_STMT and children:
            self.add("if", children[0], f"!({self.source(children[0])})")
        elif cursor.kind == K.BINARY_OPERATOR and len(children) == 2:
            self.operator(cursor, *children)
        elif cursor.kind == K.INTEGER_LITERAL and parent is not None and parent.kind != K.VAR_DECL:
            text = self.source(cursor)
            if re.fullmatch(r"[0-9]\w*", text):
                self.add("number", cursor, f"{text} + 1")
                if not re.fullmatch("0+", text):
                    self.add("number", cursor, f"{text} - 1")
        elif cursor.kind == K.CALL_EXPR and parent is not None and parent.kind == K.COMPOUND_STMT:
            # What never returns is taken for granted by the compiler, which would leave the mutant out.
            if not cursor.referenced or "_Noreturn" not in [t.spelling for t in cursor.referenced.get_tokens()][:4]:
                self.add("call", cursor, "")
        elif cursor.kind == K.CSTYLE_CAST_EXPR and parent is not None and parent.kind == K.COMPOUND_STMT \
                and cursor.type.spelling == "void" and children and self.has_call(children[-1]):
            self.add("call", cursor, "")
        elif cursor.kind == K.RETURN_STMT and children:
            self.returned(children[0])

    def has_call(self, cursor):
        return cursor.kind == K.CALL_EXPR and not QUIET.match(cursor.spelling or "")

    def operator(self, cursor, left, right):
        between = self.data[left.extent.end.offset:right.extent.start.offset].strip()
        if between in OTHER:
            sides = self.source(left), self.source(right)
            self.add("operator", cursor, f"{sides[0]} {OTHER[between]} {sides[1]}")

    def returned(self, value):
        kind, text = self.function.result_type.spelling, self.source(value)
        if kind in ("bool", "_Bool"):
            self.add("return", value, f"!({text})")
        elif kind == "int":
            self.add("return", value, "-22" if text == "0" else "0")


def is_whole(text):
    """As many brackets closed as opened, no directive in it."""
    bare = re.sub(r"\"(\\.|[^\"\\])*\"|'(\\.|[^'\\])*'", "", text)
    depth = 0
    for c in bare:
        depth += (c in "([{") - (c in ")]}")
        if depth < 0:
            return False
    return depth == 0 and "#" not in bare and "/*" not in bare


def arguments_of(command):
    """What libclang needs of a compiler's command line."""
    words, found = shlex.split(command["command"])[1:], []
    for i, word in enumerate(words):
        if word.startswith("-I"):
            found.append("-I" + os.path.normpath(os.path.join(command["directory"], word[2:])))
        elif word.startswith(("-D", "-std")):
            found.append(word)
        elif word in ("-include", "-isystem"):
            found += [word, os.path.normpath(os.path.join(command["directory"], words[i + 1]))]
    return found


def candidates(root, commands, folders):
    """By folder and file; every file once."""
    found = {}
    for command in commands:
        path = os.path.relpath(os.path.normpath(os.path.join(command["directory"], command["file"])), root)
        parts = path.split("/")
        if path.endswith("_gen.c"):
            continue  # it has made its file before a mutant is chosen
        if parts[0] == "src" and len(parts) == 3 and parts[1] in folders and path not in found.setdefault(parts[1], {}):
            found[parts[1]][path] = File(root, path, parts[1], arguments_of(command)).found
    return found


def draw(found, count, seed):
    """As many of each folder, at most three of a file, none within another."""
    rng, drawn = random.Random(seed), []
    for folder in sorted(found):
        files = {path: rng.sample(all_of, len(all_of)) for path, all_of in sorted(found[folder].items())}
        taken, want = [], count // len(found) + (sorted(found).index(folder) < count % len(found))
        while len(taken) < want and any(files.values()):
            path = rng.choices(list(files), [len(x) if sum(m.path == p for m in taken) < PER_FILE else 0
                                             for p, x in files.items()])[0] if any(
                x and sum(m.path == p for m in taken) < PER_FILE for p, x in files.items()) else None
            if path is None:
                break
            m = files[path].pop()
            if all(m.path != t.path or m.span[1] <= t.span[0] or t.span[1] <= m.span[0] for t in taken):
                taken.append(m)
        drawn += taken
    for number, m in enumerate(drawn, 1):
        m.number = number
    return drawn


def write(root, drawn):
    """The files with all mutants in them."""
    for path in {m.path for m in drawn}:
        name = os.path.join(root, path)
        with open(name, encoding="latin-1") as f:
            data = f.read()
        for m in sorted((m for m in drawn if m.path == path), key=lambda m: -m.span[0]):
            data = data[:m.span[0]] + m.text() + data[m.span[1]:]
        with open(name, "w", encoding="latin-1") as f:
            f.write(data)
