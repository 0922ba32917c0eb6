#!/usr/bin/env python3
"""The calls between the source files of a library form no circle.

Usage: check_calls.py BUILD. An edge is a symbol that one object file defines and another of the same library wants, as
`nm` lists them; the objects are those of BUILD's compile_commands.json, so that one which an earlier build left is not
looked at. What a file calls through an interface's virtual functions is no edge: that is how recursion re-enters the
engine (analyzer/flow/engine/evaluator.h). Nor is what a header defines inline, which each file has a copy of; but what such
a copy calls is an edge of that file, so that no circle is hidden behind one.
How many files of a library are in circles stands in calls.json, with the reason, and may only fall: none where the
library has no row."""
import json
import pathlib
import re
import subprocess
import sys

from check_includes import circles

TABLE = pathlib.Path(__file__).with_name("calls.json")
OBJECT = re.compile(r" -o (\S*CMakeFiles/([^/]+)\.dir/(\S+)\.o) ")
DEFINED = "T"


def objects_of(commands):
    """By library, the object files: [(source, path)]. The tests' own have no part in it."""
    out = {}
    for each in commands:
        found = OBJECT.search(each["command"])
        if found and not found.group(1).startswith("tests/"):
            out.setdefault(found.group(2), []).append((found.group(3), pathlib.Path(each["directory"], found.group(1))))
    return out


def symbols_of(paths):
    """Of each object file, what `nm` says: [(kind, mangled name)]. One call for all of them."""
    said = subprocess.run(["nm", "-A", *map(str, paths)], capture_output=True, text=True, check=True).stdout
    out = {str(path): [] for path in paths}
    for line in said.splitlines():
        path, _, rest = line.partition(":")
        words = rest.split()
        if path in out and len(words) >= 2:
            out[path].append((words[-2], words[-1]))
    return out


def call_graph(symbols):
    """{source: [(kind, name)]} to {source: the sources whose symbols it wants}."""
    home = {name: source for source, all_of in symbols.items() for kind, name in all_of if kind == DEFINED}
    return {source: {home[name] for kind, name in all_of if kind == "U" and home.get(name, source) != source}
            for source, all_of in symbols.items()}


def hold_against(library, found, allowed):
    """What is wrong with a library's circles, of which `allowed` files may be in one."""
    inside = sum(map(len, found))
    if inside > allowed:
        return [f"{library}: {inside} files call each other in circles, {allowed} may: {', '.join(sorted(circle))}. Move what "
                "both need into a file below them, or re-enter through an interface" for circle in sorted(found, key=sorted)]
    if inside < allowed:
        return [f"{library}: only {inside} files are in circles of calls, well done: write that into {TABLE.name}"]
    return []


def main():
    build = pathlib.Path(sys.argv[1])
    libraries = objects_of(json.loads((build / "compile_commands.json").read_text(encoding="utf-8")))
    known = json.loads(TABLE.read_text(encoding="utf-8"))["files_in_circles"]
    wrong, looked_at = [f"{TABLE.name}: {name} is no library of {build}" for name in known if name not in libraries], 0
    for library, objects in sorted(libraries.items()):
        there = [(source, path) for source, path in objects if path.exists()]
        if not there:
            continue
        looked_at += 1
        symbols = symbols_of([path for _, path in there])
        graph = call_graph({source: symbols[str(path)] for source, path in there})
        wrong += hold_against(library, circles(graph), known.get(library, {"files": 0})["files"])
    if not looked_at:
        print(f"{build} has no object files: build first", file=sys.stderr)
        return 1
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
