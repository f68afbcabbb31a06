# SPDX-License-Identifier: Apache-2.0
"""Writes share/presets/NAME.yaml (or share/bundles, share/secrets) as C arrays: they are data, and
part of the program.  No file is looked up at run time, so none can be put in its place.

    presets.py preset|bundle|secret OUTPUT INPUT..."""
import pathlib
import sys

kind, output, *inputs = sys.argv[1:]
files = sorted(map(pathlib.Path, inputs), key=lambda path: path.stem)

lines = [f"/* Made by presets.py from share/{kind}s. */", '#include "presets.h"', ""]
for number, path in enumerate(files):
    data = path.read_bytes()
    lines.append(f"static const uint8_t {kind}_{number}[{max(len(data), 1)}] = {{")
    for at in range(0, len(data), 16):
        lines.append("\t" + " ".join(f"{byte}," for byte in data[at : at + 16]))
    lines += ["};", ""]
lines.append(f"const struct policy_source {kind}s[] = {{")
for number, path in enumerate(files):
    size = path.stat().st_size
    lines.append(f'\t{{POLICY_PRESET, "{kind} {path.stem}", {{{kind}_{number}, {size}}}}},')
lines += ["};", f"const size_t {kind}_count = {len(files)};", ""]
lines.append(f"const char *const {kind}_names[] = {{")
lines += [f'\t"{path.stem}",' for path in files]
lines += ["\tNULL,", "};", ""]
pathlib.Path(output).write_text("\n".join(lines))
