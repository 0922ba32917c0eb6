#!/usr/bin/env python3
"""Processor time from a key to its diagnostics, of dtype-lint --lsp on a project of 500 Python files, in one of 2,000 lines.

usage: bench_editor.py DTYPE_LINT [FOLDER FILE]    without a folder one is written by editor_project.py

Times are of the server and of the process that analyses, together, from /proc; the pause before an analysis begins is
not in them."""
import os
import pathlib
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


def measure(lint, folder, path):
    with tempfile.TemporaryDirectory() as cache, Client(lint, "--cache", cache) as client:
        begin = time.monotonic()
        client.start(folder, options={"exactAfter": 600_000})
        text = path.read_text()
        client.open(path, text)
        client.settle(path)
        print(f"first answer: {spent(client.process.pid):.0f} ms of processor time, {time.monotonic() - begin:.1f} s; "
              f"{text.count(chr(10))} lines")
        line = text.count("\n") - 8
        before = spent(client.process.pid)
        for key in range(KEYS):
            seen = len(client.notices.queue)
            client.change(path, 2 + key, {"range": {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 0}},
                                          "text": "        x = x + 1\n" if key % 2 else "\n"})
            client.wait(lambda: any(each["method"] == "dtypeLint/state" for each in list(client.notices.queue)[seen:]))
        mean = (spent(client.process.pid) - before) / KEYS
        print(f"after a key: {mean:.0f} ms of processor time in the mean of {KEYS} keys")
        return 0


def main():
    lint = sys.argv[1]
    if len(sys.argv) > 3:
        return measure(lint, pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[2]) / sys.argv[3])
    with tempfile.TemporaryDirectory() as folder:
        return measure(lint, pathlib.Path(folder), editor_project.write(folder))


if __name__ == "__main__":
    sys.exit(main())
