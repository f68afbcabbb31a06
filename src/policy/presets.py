# SPDX-License-Identifier: Apache-2.0
"""Writes share/presets/NAME.yaml as C arrays: presets are data, and part of the
program.  No file is looked up at run time, so none can be put in its place."""
import pathlib
import sys

output, *inputs = sys.argv[1:]
files = sorted(map(pathlib.Path, inputs), key=lambda path: path.stem)

lines = ["/* Made by presets.py from share/presets. */", '#include "presets.h"', ""]
for number, path in enumerate(files):
    data = path.read_bytes()
    lines.append(f"static const uint8_t preset_{number}[{max(len(data), 1)}] = {{")
    for at in range(0, len(data), 16):
        lines.append("\t" + " ".join(f"{byte}," for byte in data[at : at + 16]))
    lines += ["};", ""]
lines.append("const struct policy_source presets[] = {")
for number, path in enumerate(files):
    size = path.stat().st_size
    lines.append(f'\t{{POLICY_PRESET, "preset {path.stem}", {{preset_{number}, {size}}}}},')
lines += ["};", f"const size_t preset_count = {len(files)};", ""]
lines.append("const char *const preset_names[] = {")
lines += [f'\t"{path.stem}",' for path in files]
lines += ["\tNULL,", "};", ""]
pathlib.Path(output).write_text("\n".join(lines))
