#!/usr/bin/env python3
"""After any sequence of edits, saves, closes, cancels and configuration changes the diagnostics of dtype-lint --lsp are those of
a run of dtype-lint from scratch on the same texts.

usage: random_edits.py DTYPE_LINT ACTIONS [SEED [MINI_TORCH_H [FROM_SCRATCH]]]

With the header the project has C++ as well; FROM_SCRATCH is another dtype-lint for the runs that are compared with, where DTYPE_LINT is slow."""
import collections
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import project
from client import Client, uri

# What edits put in: lines that make findings and lines that take them away, and text that is no Python.
LINES = [
    "    q = q.float()", "    k = k.to(torch.float32)", "    q = F.normalize(q, dim=-1)", "    k = k * make_scale()",
    "    q = rotate(q, torch.ones(1))", "    v = v.half()", "    q = q.to(v.dtype)", "    return flash_attn_func(q, k, v)",
    "    return attend(q, k, v)", "def attend(q, k, v):", "def other(q, k, v, flag=False):", "    if flag:", "    else:",
    "class Layer(nn.Module):", "    def forward(self, x):", "        return attend(x, x, x.float())",
    "from sample.attention import attend", "from sample.tables import make_scale, rotate", "import torch",
    "import torch.nn.functional as F", "from flash_attn import flash_attn_func",
    "    return flash_attn_func(q, k, v)  # dtype-lint: ignore[attention-mixed-dtypes] tried", "# \U0001f600 \u00e4",
    "    s = '\U0001f600'; q = q.float()", "    )(", "    x = (", '"""', "\tq = 1", "", "    pass", "SCALE = torch.ones(1)",
    "def make_scale(): return torch.ones(1).half()", "    with torch.autocast('cuda', dtype=torch.bfloat16):",
]
# The same in C++.
CXX_LINES = [
    "  auto wide = torch::ones({1});", "  q = q * torch::ones({1});", "  k = given(k);", "  q = q.to(torch::kHalf);", "  if (q.dim() == 3) {", "  }",
    "  mha_fwd(q, k, v);", "void other(at::Tensor q, at::Tensor k, at::Tensor v) {", "}", "  attend(q, k, v.to(torch::kFloat));", "#define WIDE torch::kFloat",
    "  v = v.to(WIDE);", "#include <vector>", "#include \"nowhere.h\"", "#include \"own.h\"", "  q = q *", "/*", "*/ // \U0001f600", "",
    "  mha_fwd(q, k, v);  // NOLINT(dtype-attention-implicit-promotion) tried",
]
CXX = {
    "cxx/attend.cpp": """#include "mini_torch.h"
#include "own.h"
std::vector<at::Tensor> mha_fwd(at::Tensor& q, const at::Tensor& k, const at::Tensor& v);
void attend(at::Tensor q, at::Tensor k, at::Tensor v) {
  q = q * torch::ones({1});
  k = given(k);
  mha_fwd(q, k, v);
}
""",
    "cxx/own.h": "#pragma once\ninline at::Tensor given(at::Tensor x) {\n  return x;\n}\n",
}
ARGUMENTS = [[], ["--strict"], ["--precision", "bf16-fp32-buffers"], ["--rules", "-attention-implicit-promotion"],
             ["--torch", "1.13..2.7"], ["--device", "cpu"], ["--no-such-option"]]
Shown = collections.namedtuple("Shown", "line column level rule message")
LEVELS = {1: "error", 2: "warning", 3: "note"}


class Play:
    def __init__(self, lint, seed, mini_torch=None, from_scratch=None):
        self.lint, self.random, self.mini_torch, self.other_lint = lint, random.Random(seed), mini_torch, from_scratch or lint
        self.folder = tempfile.TemporaryDirectory()
        top = pathlib.Path(self.folder.name)
        self.root, self.mirror, self.cache = top / "project", top / "mirror", top / "cache"
        project.write(self.root)
        self.texts = {**project.FILES, **(CXX if mini_torch else {})}
        for name, text in CXX.items() if mini_torch else ():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)
        self.write_commands(self.root)
        self.open = {}  # path: (version, text)
        self.arguments = []
        self.log = collections.deque(maxlen=60)
        self.compared = self.inexact = self.first_was_right = 0
        self.findings = 0
        self.client = Client(lint, "--cache", str(self.cache))
        self.client.start(self.root, options={"exactAfter": 0})

    def write_commands(self, root):
        if self.mini_torch:
            file = str(root / "cxx/attend.cpp")
            command = f"c++ -std=c++17 -I{pathlib.Path(self.mini_torch).parent} -c {file}"
            (root / "build").mkdir(exist_ok=True)
            (root / ".git").mkdir(exist_ok=True)  # the root of what is reported
            (root / "build/compile_commands.json").write_text(json.dumps([{"directory": str(root), "file": file, "command": command}]))

    # Of the server, in the units of UTF-8 that it was asked for.
    def shown(self):
        out = {}
        for address, diagnostics in self.client.diagnostics.items():
            name = str(pathlib.Path(address.removeprefix("file://")).relative_to(self.root))
            found = sorted(Shown(each["range"]["start"]["line"] + 1, each["range"]["start"]["character"] + 1,
                                 LEVELS[each["severity"]], each["code"], each["message"])
                           for each in diagnostics if each["code"] != "parse-error")
            broken = any(each["code"] == "parse-error" for each in diagnostics)
            if found or broken:
                out[name] = (found, broken)
        return out

    def from_scratch(self):
        shutil.rmtree(self.mirror, ignore_errors=True)
        shutil.copytree(self.root, self.mirror)
        self.write_commands(self.mirror)
        for path, (_, text) in self.open.items():
            copy = self.mirror / path.relative_to(self.root)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(text.encode("utf-8"))
        run = subprocess.run([self.other_lint, str(self.mirror), "--no-cache", "--format", "json", *self.arguments],
                             capture_output=True, text=True)
        if run.returncode not in (0, 1, 3) or not run.stdout:
            raise AssertionError(f"status {run.returncode}: {run.stderr}")
        report = json.loads(run.stdout)
        out = {}
        for each in report["findings"]:
            if each.get("suppression") or each.get("baseline") in ("unchanged", "fixed"):
                continue
            place = each["location"]
            message = ("possibly: " if each["certainty"] == "possible" else "") + each["message"]
            entry = out.setdefault(place["file"], ([], False))
            entry[0].append(Shown(place["line"], max(place.get("column", 1), 1), each["level"], each["rule"], message))
        for each in report["not_analysed"]:
            if each["reason"] == "parse-error":
                out[each["file"]] = (out.get(each["file"], ([], False))[0], True)
        return {name: (sorted(found), broken) for name, (found, broken) in out.items()}

    def compare(self):
        path = next(iter(self.open), self.root / "sample/tables.py")
        self.client.settle(path)
        first, is_exact = self.shown(), self.client.exact
        self.client.settle_exactly(path)
        there, here = self.from_scratch(), self.shown()
        self.compared += 1
        self.inexact += not is_exact
        self.first_was_right += first == there
        self.findings += sum(len(found) for found, _ in there.values())
        if there != here:
            names = sorted(name for name in there.keys() | here.keys() if there.get(name) != here.get(name))
            lines = [f"{name}\n  server:       {here.get(name)}\n  from scratch: {there.get(name)}" for name in names]
            texts = [f"--- {name} as edited:\n{self.open[self.root / name][1]}" for name in names if self.root / name in self.open]
            raise AssertionError("\n".join([*self.log, *texts, *lines, self.client.errors.decode(errors="replace")[-2000:]]))

    def paths(self):
        return sorted([*self.root.rglob("*.py"), *self.root.rglob("*.cpp")])

    def lines_for(self, path):
        return LINES if path.suffix == ".py" else CXX_LINES

    def text_of(self, path):
        return self.open[path][1] if path in self.open else path.read_text()

    def do(self):
        actions = [self.edit] * 12 + [self.open_one] * 3 + [self.save, self.close, self.ask, self.cancel, self.whole, self.undo]
        actions += [self.configure, self.on_disk, self.new_file, self.delete] if self.random.random() < 0.4 else []
        self.random.choice(actions)()

    def open_one(self):
        closed = [path for path in self.paths() if path not in self.open]
        if not closed:
            return
        path = self.random.choice(closed)
        self.open[path] = (1, path.read_text())
        self.client.open(path, self.open[path][1], language="python" if path.suffix == ".py" else "cpp")
        self.log.append(f"open {path.name}")

    def edit(self):
        if not self.open:
            return self.open_one()
        path = self.random.choice(sorted(self.open))
        version, text = self.open[path]
        changes = []
        for _ in range(self.random.choice([1, 1, 1, 2, 4])):
            lines = text.split("\n")
            first = self.random.randrange(len(lines))
            kind = self.random.random()
            if kind < 0.45:  # a line comes
                start, end, new = (first, 0), (first, 0), self.random.choice(self.lines_for(path)) + "\n"
            elif kind < 0.7:  # lines go
                last = min(first + self.random.choice([1, 1, 2, 5]), len(lines) - 1)
                start, end, new = (first, 0), (last, 0), ""
            elif kind < 0.85:  # a line becomes another
                start, end, new = (first, 0), (first, len(lines[first].encode())), self.random.choice(self.lines_for(path))
            else:  # single characters
                at = self.random.randint(0, len(lines[first]))
                to = min(at + self.random.choice([0, 1, 3]), len(lines[first]))
                start, end = (first, len(lines[first][:at].encode())), (first, len(lines[first][:to].encode()))
                new = self.random.choice(["", " ", "x", "(", "\n", ".float()", "\u00e4", "\U0001f600", "#"])
            offset = lambda place: sum(len(line.encode()) + 1 for line in lines[: place[0]]) + place[1]
            data = text.encode()
            text = (data[: offset(start)] + new.encode() + data[offset(end):]).decode()
            changes.append({"range": {"start": {"line": start[0], "character": start[1]},
                                      "end": {"line": end[0], "character": end[1]}}, "text": new})
        self.open[path] = (version + 1, text)
        self.client.change(path, version + 1, *changes)
        self.log.append(f"edit {path.name} {json.dumps(changes)[:300]}")

    def whole(self):
        if self.open:
            path = self.random.choice(sorted(self.open))
            text = self.texts.get(str(path.relative_to(self.root)), "x = 1\n")
            self.open[path] = (self.open[path][0] + 1, text)
            self.client.change(path, self.open[path][0], {"text": text})
            self.log.append(f"whole {path.name}")

    def undo(self):
        if self.open:
            path = self.random.choice(sorted(self.open))
            text = path.read_text() if path.exists() else ""
            self.open[path] = (self.open[path][0] + 1, text)
            self.client.change(path, self.open[path][0], {"text": text})
            self.log.append(f"undo {path.name}")

    def save(self):
        if self.open:
            path = self.random.choice(sorted(self.open))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(self.open[path][1].encode())
            self.client.saved(path)
            self.log.append(f"save {path.name}")

    def close(self):
        if self.open:
            path = self.random.choice(sorted(self.open))
            del self.open[path]
            self.client.close(path)
            self.log.append(f"close {path.name}")

    def place(self):
        path = self.random.choice(self.paths())
        lines = self.text_of(path).split("\n")
        return path, {"line": self.random.randrange(len(lines)), "character": self.random.randrange(30)}

    def ask(self):
        path, place = self.place()
        what = self.random.choice(["hover", "definition", "codeAction", "inlayHint"])
        params = {"textDocument": {"uri": uri(path)}, "position": place, "context": {"diagnostics": []},
                  "range": {"start": {"line": 0, "character": 0}, "end": {"line": 1000, "character": 0}}}
        self.log.append(f"ask {what} {path.name}")
        return self.client.ask(f"textDocument/{what}", params)

    def cancel(self):
        self.client.notify("$/cancelRequest", {"id": self.ask()})

    def configure(self):
        arguments = self.random.choice(ARGUMENTS)
        self.client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": {"arguments": arguments, "exactAfter": 0}}})
        if arguments == ["--no-such-option"]:  # refused: a run would be as well, so it is taken back
            self.client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": {"arguments": self.arguments, "exactAfter": 0}}})
        else:
            self.arguments = arguments
        self.log.append(f"configure {arguments}")

    def watched(self, path, kind):
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(path), "type": kind}]})

    def on_disk(self):
        path = self.random.choice([*self.paths(), *self.root.rglob("*.h")])
        lines = path.read_text().split("\n")
        lines.insert(self.random.randrange(len(lines)), self.random.choice(self.lines_for(path)))
        path.write_text("\n".join(lines))
        self.watched(path, 2)
        self.log.append(f"on disk {path.name}")

    def new_file(self):
        path = self.root / f"sample/new{self.random.randrange(4)}.py"
        if path in self.open or path.exists():
            return
        text = project.FILES["sample/attention.py"]
        if self.random.random() < 0.5:  # in the editor, and not yet on disk
            self.open[path] = (1, text)
            self.client.open(path, text)
        else:
            path.write_text(text)
            self.watched(path, 1)
        self.log.append(f"new {path.name}")

    def delete(self):
        path = self.random.choice(self.paths())
        if path in self.open or not path.name.startswith("new"):
            return
        path.unlink()
        self.watched(path, 3)
        self.log.append(f"delete {path.name}")


def main():
    lint, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(10**6)
    play = Play(lint, seed, *sys.argv[4:6])
    try:
        for number in range(count):
            play.do()
            if play.random.random() < 0.3 or number == count - 1:
                play.compare()
        status = play.client.stop()
        ended = "the analysis ended" in play.client.errors.decode(errors="replace")
        print(f"{count} actions, seed {seed}: {play.compared} comparisons, {play.findings} findings in all, "
              f"{play.inexact} first answers rested on kept roots, {play.first_was_right} were right, exit status {status}")
        return 1 if status or ended or not play.findings else 0
    except AssertionError as error:
        print(f"seed {seed}: {error}")
        return 1
    finally:
        play.client.__exit__()
        play.folder.cleanup()


if __name__ == "__main__":
    sys.exit(main())
