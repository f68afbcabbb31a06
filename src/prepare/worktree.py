# SPDX-License-Identifier: Apache-2.0
"""Writes worktree.sh as a C array: it is part of the program, and of the plan of each session that
has a branch of its own.

    worktree.py OUTPUT INPUT"""
import pathlib
import sys

output, source = sys.argv[1:]
data = pathlib.Path(source).read_bytes() + b"\0"
lines = ["/* Made by worktree.py from worktree.sh. */", '#include "worktree.h"', "", "const char worktree_script[] = {"]
for at in range(0, len(data), 16):
    lines.append("\t" + " ".join(f"{byte}," for byte in data[at : at + 16]))
lines += ["};", ""]
pathlib.Path(output).write_text("\n".join(lines))
