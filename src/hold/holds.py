# SPDX-License-Identifier: Apache-2.0
"""Writes share/holds.yaml as a C table: the list of holds is data, and part of the program.  No
file is looked up at run time, so none can be put in its place.

    holds.py table|names OUTPUT INPUT

`table` is all of it, for src/hold; `names` is the part that the policy needs.

The file is YAML of one shape, which is all that is read here; anything else ends the build."""
import pathlib
import re
import sys

LEVELS = {"off": "HOLD_NOT", "flag": "HOLD_FLAG", "leave": "HOLD_LEAVE", "hold": "HOLD_HOLD"}
CONTENTS = ["name", "hook", "git-config", "attributes", "bare", "submodules", "pointer", "package",
            "hosts", "archives", "schema", "invisible", "staged", "link", "commits",
            "objects", "ignored", "being-link", "known", "worktrees", "kept", "compiled", "whole",
            "started"]
SCALARS = ["name", "row", "level", "gone", "what", "why", "content", "hook"]
LISTS = ["paths", "but", "direct"]


def fail(number, text):
    sys.exit(f"share/holds.yaml:{number}: {text}")


def scalar(text):
    if text.startswith('"') and text.endswith('"') and "\\" not in text and '"' not in text[1:-1]:
        return text[1:-1]
    return text if re.fullmatch(r"[A-Za-z0-9._][^\"\\#]*", text) and ": " not in text else None


def read(path):
    rules, into = [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if match := re.fullmatch(r"(- |  )([a-z]+):(?: (.+))?", line):
            lead, key, value = match.groups()
            if lead == "- ":
                rules.append({})
            rule = rules[-1] if rules else fail(number, "no rule has begun")
            if key in rule or (lead == "- ") != (key == "name"):
                fail(number, f"{key} has no place here")
            if key in LISTS and value is None:
                into = rule[key] = []
            elif key in SCALARS and value and scalar(value):
                into, rule[key] = None, scalar(value)
            else:
                fail(number, f"{key} is not understood")
        elif (match := re.fullmatch(r"    - (.+)", line)) and into is not None:
            item = scalar(match[1]) or fail(number, "not an item")
            if into is not rules[-1].get("direct") and item != item.lower():
                fail(number, "a pattern is in lower case")
            into.append(item)
        else:
            fail(number, "not understood")
    return rules


def check(rules):
    names = [rule["name"] for rule in rules]
    if len(set(names)) != len(names):
        sys.exit("share/holds.yaml: a name stands there twice")
    for rule in rules:
        missing = [key for key in ("row", "level", "gone", "what", "why") if key not in rule]
        if missing or rule["level"] not in LEVELS or rule["gone"] not in LEVELS or \
                rule.get("content", "name") not in CONTENTS or rule.get("hook", "true") != "true":
            sys.exit(f"share/holds.yaml: {rule['name']} is not whole: {missing}")


def names(rules):
    lines = ["/* Made by holds.py from share/holds.yaml. */", '#include "holds.h"', "",
             "const struct policy_hold policy_holds[] = {"]
    lines += [f'\t{{"{rule["name"]}", {list(LEVELS).index(rule["level"])}}},' for rule in rules]
    return lines + ["};", f"const size_t policy_hold_count = {len(rules)};", ""]


def table(rules):
    lines = ["/* Made by holds.py from share/holds.yaml. */", '#include "hold_parts.h"', ""]
    for number, rule in enumerate(rules):
        for key in LISTS:
            lines.append(f"static const char *const hold_{key}_{number}[] = {{")
            lines += [f'\t"{item}",' for item in rule.get(key, [])]
            lines += ["\tNULL,", "};"]
    lines += ["", "const struct hold_row hold_rows[] = {"]
    for number, rule in enumerate(rules):
        content = "HOLD_BY_" + rule.get("content", "name").upper().replace("-", "_")
        lines.append("\t{" + ", ".join(
            [f'"{rule[key]}"' for key in ("name", "row", "what", "why")] +
            [LEVELS[rule["level"]], LEVELS[rule["gone"]], content, rule.get("hook", "false")] +
            [f"hold_{key}_{number}" for key in LISTS]) + "},")
    lines += ["};", f"const size_t hold_row_count = {len(rules)};", ""]
    return lines


def main():
    kind, output, source = sys.argv[1:]
    rules = read(pathlib.Path(source))
    check(rules)
    made = {"table": table, "names": names}[kind](rules)
    pathlib.Path(output).write_text("\n".join(made))


main()
