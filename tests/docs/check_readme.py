#!/usr/bin/env python3
"""Runs the commands that a Markdown file shows and compares what they print with what the file says.

    check_readme.py FILE --root DIR --build DIR --tools DIR[:DIR] --have LIST

A fenced block is checked when the line before it is a marker:

    <!-- check -->                            every command ends with status 0
    <!-- check: exit 1 -->                    the last command ends with status 1, those before it with 0
    <!-- check: exit 1, needs torch -->       left out where --have does not name torch

Inside the block a line "$ command" is run by sh in --root with --tools in front of PATH; the lines up to the next
"$ " are its output and error output. The word build, or a path that begins with build/, stands for --build, in the
command and in what it prints. Paths below --root are shown relative to it. In the expected lines

    ...     alone on a line stands for any number of lines
    …       stands for any text within the line

Exit 0: all blocks agree; 1: a difference (printed), or FILE has no block to check.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

MARKER = re.compile(r"^\s*<!--\s*check(?::\s*(?P<terms>.*?))?\s*-->\s*$")
FENCE = re.compile(r"^\s*```")


class Block:
    def __init__(self, line, terms):
        self.line, self.exit, self.needs, self.steps = line, 0, [], []
        for term in filter(None, (term.strip() for term in (terms or "").split(","))):
            word, _, value = term.partition(" ")
            if word == "exit" and value.isdigit():
                self.exit = int(value)
            elif word == "needs" and value:
                self.needs.append(value)
            else:
                sys.exit(f"line {line}: unknown term '{term}' in a check marker; known: exit N, needs NAME")


def read_blocks(text):
    """The marked blocks; each step is (line, command, expected output lines)."""
    blocks, block, marker, inside = [], None, None, False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            inside = not inside
            block = Block(number, marker["terms"]) if inside and marker else None
            if block:
                blocks.append(block)
            marker = None
        elif not inside:
            marker = MARKER.match(line)
        elif block and line.startswith("$ "):
            block.steps.append((number, line[2:], []))
        elif block and block.steps:
            block.steps[-1][2].append(line)
    return blocks


def pattern(expected):
    """The expected lines as a regular expression over the whole output."""
    parts = []
    for line in expected:
        if line.strip() == "...":
            parts.append(r"(?:.*\n)*?")
        else:
            parts.append(".*?".join(map(re.escape, line.split("…"))) + r"\n")
    return re.compile("".join(parts))


def scrub(text, root, build):
    text = text.replace(str(build), "build").replace(f"{root}/", "").replace(str(root), ".")
    if build.parent == root:
        text = re.sub(rf"(?<![\w./-]){re.escape(build.name)}(?=/|\b(?!-))", "build", text)
    return re.sub(r"[ \t]+$", "", text, flags=re.M).rstrip("\n")


def check_step(step, status, args, environment):
    number, command, expected = step
    there = os.path.relpath(args.build, args.root)
    quoted = "'" + there.replace("'", "'\\''") + "'"
    real = re.sub(r"(?<![\w./-])build(?=/|\s|$)", lambda _: quoted, command)
    done = subprocess.run(["sh", "-c", real], cwd=args.root, env=environment, text=True, timeout=600,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    printed = scrub(done.stdout, args.root, args.build)
    while expected and not expected[-1].strip():
        expected = expected[:-1]
    good = True
    if done.returncode != status:
        print(f"line {number}: $ {command}\nexit status {done.returncode}, the file says {status}")
        good = False
    if not pattern(expected).fullmatch(printed + "\n" if printed else ""):
        print(f"line {number}: $ {command}\n--- the file says\n" + "\n".join(expected) +
              f"\n--- it printed\n{printed}\n---")
        good = False
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=pathlib.Path)
    for name in ("root", "build"):
        parser.add_argument(f"--{name}", type=lambda path: pathlib.Path(path).resolve(), required=True)
    parser.add_argument("--tools", default="")
    parser.add_argument("--have", default="", type=lambda names: names.split(","))
    args = parser.parse_args()

    environment = dict(os.environ, PATH=f"{args.tools}:{os.environ['PATH']}", LC_ALL="C.UTF-8")
    blocks = read_blocks(args.file.read_text(encoding="utf-8"))
    if not any(block.steps for block in blocks):
        print(f"{args.file}: no block is marked with <!-- check -->")
        return 1
    good = True
    for block in blocks:
        lacking = [name for name in block.needs if name not in args.have]
        if lacking:
            print(f"line {block.line}: left out, this build is without {', '.join(lacking)}")
            continue
        for step in block.steps:
            last = step is block.steps[-1]
            good = check_step(step, block.exit if last else 0, args, environment) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
