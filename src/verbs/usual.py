# SPDX-License-Identifier: Apache-2.0
"""Writes share/usual.tsv as a C array: it is data, and part of the program.

    usual.py OUTPUT INPUT"""
import pathlib
import sys

KINDS = ("telemetry", "file", "own", "debug", "namespace")

output, source = sys.argv[1:]
lines = ["/* Made by usual.py from share/usual.tsv. */", '#include "usual.h"', "", "const struct usual usual[] = {"]
count = 0
for number, line in enumerate(pathlib.Path(source).read_text().splitlines(), 1):
    if not line or line.startswith("#"):
        continue
    kind, name, *rest = line.split("\t")
    if kind not in KINDS or len(rest) != 1 or set(name) & set('"\\'):
        sys.exit(f"{source}:{number}: not a kind, a name and whose it is")
    lines.append(f'\t{{USUAL_{kind.upper()}, "{name}", "{rest[0]}"}},')
    count += 1
lines += ["};", f"const size_t usual_count = {count};", ""]
pathlib.Path(output).write_text("\n".join(lines))
