#!/usr/bin/env python3
"""From a key to its diagnostics, of dtype-lint --lsp on a project of 500 Python files, in one of 2,000 lines; beside a run of
dtype-lint from scratch and CPython's parser on the same files.

usage: bench_editor.py DTYPE_LINT [FOLDER FILE]    without a folder one is written by editor_project.py

Processor times are of the server and of the process that analyses, together, from /proc. Times on the clock have the pause in them
that the server makes before it begins; on a machine that does other things besides, only the processor times say something."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import editor_project

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "lsp"))
from client import Client  # noqa: E402

KEYS = 20


def spent(process):
    """Milliseconds on a processor of the process and its child, with threads that have ended; in steps of 10."""
    children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    fields = [pathlib.Path(f"/proc/{each}/stat").read_text().rpartition(")")[2].split() for each in [process, *children]]
    return sum(int(each[11]) + int(each[12]) for each in fields) * 1000 / os.sysconf("SC_CLK_TCK")


def keys(path, text):
    """What is typed, each name with lines to insert one after the other: their number and text."""
    last = text.count("\n") - 8
    return {
        "in the last method": [(last, "        x = x + 1\n" if key % 2 else "\n") for key in range(KEYS)],
        "a call there": [(last, "        q = rotate(q, cos, sin)\n" if key % 2 else "        k = k.float()\n") for key in range(KEYS)],
        "in the first line, so that all others move": [(0, "\n") for key in range(KEYS)],
    }


def type_keys(client, path, version, insertions):
    """Seconds on the clock, each; an answer that came before the next key."""
    out = []
    for number, (line, text) in enumerate(insertions):
        seen, begin = len(client.notices.queue), time.monotonic()
        place = {"line": line, "character": 0}
        client.change(path, version + number, {"range": {"start": place, "end": place}, "text": text})
        client.wait(lambda: any(each["method"] == "dtypeLint/state" for each in list(client.notices.queue)[seen:]))
        out.append(time.monotonic() - begin)
    return sorted(out)


def peers(lint, folder):
    """Milliseconds on a processor, of a run from scratch and of CPython's parser."""
    parse = "import ast, pathlib, sys\nfor each in pathlib.Path(sys.argv[1]).rglob('*.py'): ast.parse(each.read_text())"
    commands = {"dtype-lint from scratch": [lint, "--no-cache", "-q", folder], "CPython's ast.parse of all files": [sys.executable, "-c", parse, folder]}
    out = {}
    for name, command in commands.items():
        before = os.times()
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = os.times()
        out[name] = 1000 * (after.children_user + after.children_system - before.children_user - before.children_system)
    return out


def measure(lint, folder, path):
    with tempfile.TemporaryDirectory() as cache, Client(lint, "--cache", cache) as client:
        begin = time.monotonic()
        client.start(folder, options={"exactAfter": 600_000})
        text = path.read_text()
        client.open(path, text)
        client.settle(path)
        print(f"first answer: {spent(client.process.pid):.0f} ms of processor time, {time.monotonic() - begin:.1f} s; "
              f"{text.count(chr(10))} lines")
        version = 2
        means = {}
        for name, insertions in keys(path, text).items():
            client.change(path, version, {"text": text})
            client.settle(path)
            before = spent(client.process.pid)
            times = type_keys(client, path, version + 1, insertions)
            version += 1 + KEYS
            means[name] = (spent(client.process.pid) - before) / KEYS
            print(f"after a key {name}: {means[name]:.0f} ms of processor time in the mean of {KEYS}; on the clock "
                  f"{1000 * times[0]:.0f} to {1000 * times[-1]:.0f} ms, median {1000 * times[KEYS // 2]:.0f}")
    worst = max(means.values())
    for name, took in peers(lint, folder).items():
        print(f"{name}: {took:.0f} ms of processor time, {took / worst:.1f} times the slowest kind of key")
    return 0


def main():
    lint = sys.argv[1]
    if len(sys.argv) > 3:
        return measure(lint, pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[2]) / sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        return measure(lint, pathlib.Path(folder), editor_project.write(folder))


if __name__ == "__main__":
    sys.exit(main())
