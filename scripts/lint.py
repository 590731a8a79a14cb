#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The lint that anyone can run in two seconds: scripts/lint.py

Checks every source file for: the SPDX line, a final newline, tabs, trailing spaces, lines over 100
columns, leftover marks, functions over 80 lines; and the room law: a room of src/ includes only
itself and the rooms above it.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".c", ".h", ".py", ".sh", ".cmake", ".mjs"}
COLUMNS = 100
FUNCTION_LINES = 80

# The rooms in the order of the layers; fabric, format and graph do not know each other.
ROOMS = ["base", "number", "op", "graph", "bounds", "kernel", "run", "stage", "lower", "format",
         "artifact", "codec", "import", "conform", "fabric", "cli"]
# A library of its own: of the rooms above it, it knows these alone; and no room but cli knows it.
FABRIC_KNOWS = {"base", "number", "fabric"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([a-z0-9_]+)/[^"]+"')
MARKS = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")


def names():
    """The files of the tree: git's own list where there is git, else all that is not built."""
    try:
        listed = subprocess.run(
            ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True, check=True)
        return listed.stdout.split("\n")
    except (OSError, subprocess.CalledProcessError):
        found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file())
        return [str(name) for name in found if not name.parts[0].startswith(("build", ".git"))]


def files():
    for name in names():
        path = ROOT / name
        if name and path.is_file() and (path.suffix in SOURCES or path.name == "CMakeLists.txt"):
            yield path


def text_faults(path, text):
    head = "\n".join(text.split("\n")[:3])
    if "SPDX-License-Identifier: Apache-2.0" not in head:
        yield 1, "no SPDX line"
    if not text.endswith("\n"):
        yield text.count("\n") + 1, "no final newline"
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            yield number, "a tab"
        if line != line.rstrip():
            yield number, "trailing space"
        if len(line) > COLUMNS:
            yield number, f"{len(line)} columns"
        if MARKS.search(line):
            yield number, "a leftover mark"


def room_faults(path, text):
    parts = path.relative_to(ROOT).parts
    if parts[0] != "src" or parts[1] not in ROOMS:
        return
    own = ROOMS.index(parts[1])
    for number, line in enumerate(text.split("\n"), 1):
        match = INCLUDE.match(line)
        if match and match.group(1) in ROOMS and ROOMS.index(match.group(1)) > own:
            yield number, f"room {parts[1]} includes room {match.group(1)}, which lies below it"
        if match and parts[1] == "fabric" and match.group(1) not in FABRIC_KNOWS | {"quipu"}:
            yield number, f"room fabric includes {match.group(1)}: it knows base and number only"


def function_faults(path, text):
    """A function runs from a '{' in column 1 to a '}' in column 1."""
    if path.suffix != ".c" or path.relative_to(ROOT).parts[0] != "src":
        return
    start = 0
    for number, line in enumerate(text.split("\n"), 1):
        if line == "{":
            start = number
        elif line == "}" and start:
            if number - start - 1 > FUNCTION_LINES:
                yield start, f"a function of {number - start - 1} lines"
            start = 0


def main():
    count, faults = 0, 0
    for path in files():
        text = path.read_text(encoding="utf-8")
        count += 1
        for check in (text_faults, room_faults, function_faults):
            for number, fault in check(path, text):
                print(f"{path.relative_to(ROOT)}:{number}: {fault}")
                faults += 1
    print(f"{count} files, {faults} faults")
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
