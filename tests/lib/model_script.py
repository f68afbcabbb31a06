# SPDX-License-Identifier: Apache-2.0
"""What a scripted model answers, in words of no protocol and of no agent.

    Script(Think("I look first."), Edit("/p/app.py", "hello", "hi"), Run("make"), Say("All is done."))

A script is a list of steps.  Each agent has tools of its own, and says in each request what they are called
and what they take; turns() says the steps in those tools, so that one script is for all agents:

    Run(COMMAND)              its tool for commands: Bash, exec_command, run_shell_command, ...
    Edit(FILE, OLD, NEW)      its tool for edits, behind its tool for reading where it has one: some agents refuse
                              to edit what they did not read.  FILE is absolute
    Fetch(URL)                curl, as a command; with own=True its tool for pages, where it has one
    Say(TEXT), Think(TEXT)    beside the call that follows; a script ends with something said
    Error(STATUS, TEXT)       before the answer that follows, once
    RateLimit(SECONDS)        the same, as providers say it: 429, and when to come back

How far an agent has come is read from its request: it has the results of all calls so far.  So it may ask twice.
"""

import json
import shlex
from collections import namedtuple

Run = namedtuple("Run", "command")
Edit = namedtuple("Edit", "file old new")
Fetch = namedtuple("Fetch", "url own", defaults=(False,))
Say = namedtuple("Say", "text")
Think = namedtuple("Think", "text")
Error = namedtuple("Error", "status text seconds", defaults=("the script says so", None))


def RateLimit(seconds=1):
    return Error(429, "too many requests", seconds)


Tool = namedtuple("Tool", "name schema free", defaults=(False,))    # free: it takes a text, and no JSON
Call = namedtuple("Call", "tool arguments")                          # a dict, or the text of a free tool

# Names of tools, in small letters, the best first.
RUNS = ("bash", "exec_command", "run_shell_command", "shell_command", "shell", "exec")
EDITS = ("edit", "replace", "str_replace_editor", "apply_patch")
READS = ("read", "read_file", "view")
FETCHES = ("webfetch", "web_fetch")

# What an argument means, by its name in small letters without "_".
MEANS = {"command": "command", "cmd": "command",
         "filepath": "file", "path": "file", "absolutepath": "file",
         "oldstring": "old", "oldtext": "old", "oldstr": "old",
         "newstring": "new", "newtext": "new", "newstr": "new", "url": "url",
         "input": "patch", "patch": "patch"}
WHY = "as the script says"


class Turn:
    """One answer: what is thought and said, and one call, or none at the end."""

    def __init__(self):
        self.errors = []         # (number of the step, Error): each is given once, before the rest
        self.thoughts, self.texts, self.call = [], [], None


class Script:
    def __init__(self, *steps):
        self.steps = steps

    def turns(self, tools):
        """The answers, in the words of these tools."""
        turns, turn = [], Turn()
        for number, step in enumerate(self.steps):
            if isinstance(step, Error):
                turn.errors.append((number, step))
            elif isinstance(step, Think):
                turn.thoughts.append(step.text)
            elif isinstance(step, Say):
                turn.texts.append(step.text)
            else:
                for turn.call in calls(step, tools):
                    turns.append(turn)
                    turn = Turn()
        turn.texts = turn.texts or ["All is done."]
        return [*turns, turn]


def find(tools, names):
    by_name = {t.name.lower(): t for t in tools}
    return next((by_name[n] for n in names if n in by_name), None)


def can_work(tools):
    """Whether this request is of an agent at work, and not one for a title or a summary."""
    return find(tools, RUNS) is not None


def calls(step, tools):
    """One step as calls of tools, one after the other."""
    run = find(tools, RUNS)
    if run.free:
        return [Call(run, javascript(step))]
    if isinstance(step, Run):
        return [call(run, command=step.command)]
    if isinstance(step, Fetch):
        own = find(tools, FETCHES) if step.own else None
        if own and "url" in own.schema.get("properties", {}):
            return [call(own, url=step.url)]
        return [call(run, command=curl(step))]
    edit, read = find(tools, EDITS), find(tools, READS)
    reading = [call(read, file=step.file)] if read else []
    if not edit:
        return reading + [call(run, command=f"apply_patch <<'END'\n{patch(step)}END")]
    if edit.free:
        return [Call(edit, patch(step))]
    return reading + [call(edit, file=step.file, old=step.old, new=step.new, patch=patch(step))]


def curl(fetch):
    return f"curl -sS -m 20 {shlex.quote(fetch.url)}"


def javascript(step):
    """The same for codex's tool `exec`, which runs a program that calls the others."""
    if isinstance(step, Edit):
        return f"text(await tools.apply_patch({json.dumps(patch(step))}))"
    command = step.command if isinstance(step, Run) else curl(step)
    return f"text((await tools.exec_command({json.dumps({'cmd': command})})).output)"


def patch(edit):
    """An edit in the words of apply_patch; OLD and NEW are whole lines there."""
    def lines(sign, text):
        return "".join(f"{sign}{line}\n" for line in text.splitlines())
    return (f"*** Begin Patch\n*** Update File: {edit.file}\n@@\n{lines('-', edit.old)}{lines('+', edit.new)}*** End Patch\n")


def call(tool, **values):
    return Call(tool, fill(tool.schema, values))


def kind_of(schema):
    kind = schema.get("type", "")
    return (next((k for k in kind if k != "null"), "") if isinstance(kind, list) else kind).lower()


def fill(schema, values):
    """An object of this JSON schema with these values, where its names mean them; else what it demands."""
    made = {}
    for name, of in schema.get("properties", {}).items():
        meant = MEANS.get(name.lower().replace("_", ""))
        items = of.get("items", {})
        if name == "command" and "str_replace" in of.get("enum", []):
            made[name] = "str_replace"
        elif meant in values:
            made[name] = ["bash", "-lc", values[meant]] if kind_of(of) == "array" else values[meant]
        elif kind_of(of) == "array" and any(MEANS.get(n.lower().replace("_", "")) in values for n in items.get("properties", {})):
            made[name] = [fill(items, values)]
        elif name in schema.get("required", []):
            made[name] = anything(of)
    return made


def anything(schema):
    """The least that this JSON schema takes."""
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    for several in ("anyOf", "oneOf"):
        if schema.get(several):
            return anything(schema[several][0])
    kind = kind_of(schema)
    if kind == "object" or "properties" in schema:
        return fill(schema, {})
    return {"array": [], "boolean": False, "integer": 1, "number": 1, "null": None}.get(kind, WHY)


def aside(schema):
    """An answer to a request that is not of an agent at work: a title, a choice of models."""
    turn = Turn()
    turn.texts = [json.dumps(anything(schema)) if schema else "A greeting"]
    return turn
