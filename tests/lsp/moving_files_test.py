#!/usr/bin/env python3
"""Folders and files that go, come back, are renamed or stand behind links while dtype-lint --lsp has them open; editors that die.

usage: moving_files_test.py DTYPE_LINT"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import project
from client import FULL, Client, uri

LINT = ""
BOTH = ["attention-implicit-promotion", "autocast-fp32-operator"]
WITHOUT = "    k = k * make_scale()\n"
# An editor that starts a server and is killed.
DIES = """import os, signal, sys
sys.path.insert(0, sys.argv[1])
from client import Client
client = Client(sys.argv[2], "--no-cache")
client.start(sys.argv[3])
print(client.process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def is_running(process):
    return pathlib.Path(f"/proc/{process}").exists()


class MovingFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.top = pathlib.Path(self.folder.name).resolve()
        self.root = project.write(self.top / "one")
        self.path = self.root / "sample/attention.py"
        self.text = self.path.read_text()
        self.client = Client(LINT, "--no-cache")

    def tearDown(self):
        self.client.__exit__()
        self.folder.cleanup()

    def begin(self, *folders, path=None, **options):
        self.client.start(*(folders or (self.root,)), options={"exactAfter": 0}, **options)
        self.client.open(path or self.path, self.text)
        self.client.settle_exactly(path or self.path)

    def codes(self, path=None):
        return sorted(each["code"] for each in self.client.shown(path or self.path))

    def watched(self, *changes):
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(path), "type": kind} for path, kind in changes]})

    def test_the_folder_goes_and_comes_back(self):
        self.begin()
        self.assertEqual(self.codes(), BOTH)
        shutil.rmtree(self.root)
        self.watched((self.path, 3))
        self.client.change(self.path, 2, {"text": self.text + "\n"})
        self.client.settle_exactly(self.path)
        told = [each["params"]["message"] for each in list(self.client.notices.queue) if each["method"] == "window/showMessage"]
        self.assertTrue(any("no such source file" in each for each in told), told)
        self.assertEqual(self.codes(), ["autocast-fp32-operator"])  # by itself, without what it imports
        project.write(self.root)
        self.watched((self.path, 1))
        self.client.settle_exactly(self.path)
        self.assertEqual(self.codes(), BOTH)
        self.assertEqual(self.client.stop(), 0)

    def test_a_file_is_renamed(self):
        self.begin()
        other = self.root / "sample/renamed.py"
        self.path.rename(other)
        self.client.close(self.path)
        self.client.open(other, self.text)
        self.watched((self.path, 3), (other, 1))
        self.client.settle_exactly(other)
        self.assertEqual((self.codes(), self.codes(other)), ([], BOTH))
        self.assertEqual(self.client.stop(), 0)

    def test_a_file_is_renamed_under_an_open_one(self):
        self.begin()
        other = self.root / "sample/renamed.py"
        self.path.rename(other)
        self.client.change(self.path, 2, {"text": self.text + "\n"})
        self.client.settle_exactly(self.path)
        self.assertEqual(self.codes(), BOTH)  # as one that is not on disk yet
        self.client.saved(self.path)
        self.client.settle_exactly(self.path)
        self.assertEqual((self.codes(), self.codes(other)), (BOTH, BOTH))

    # What an import means changes with files that nothing has read before.
    def test_an_imported_file_comes_and_goes(self):
        scales = self.root / "sample/scales.py"
        self.text = self.text.replace("from sample.tables", "from sample.scales")
        self.path.write_text(self.text)
        self.begin()
        one, two = BOTH[1:], BOTH
        self.assertEqual(self.codes(), one)
        text = "import torch\n\n\ndef make_scale():\n    return torch.ones(1)\n"
        for where in ("on disk", "in the editor"):
            with self.subTest(where):
                if where == "on disk":
                    scales.write_text(text)
                    self.watched((scales, 1))
                else:
                    self.client.open(scales, text)
                self.client.settle_exactly(self.path)
                self.assertEqual(self.codes(), two)
                if where == "on disk":
                    scales.unlink()
                    self.watched((scales, 3))
                else:
                    self.client.close(scales)
                self.client.settle_exactly(self.path)
                self.assertEqual(self.codes(), one)
        self.assertEqual(self.client.stop(), 0)

    def test_a_folder_behind_a_link(self):
        link = self.top / "link"
        link.symlink_to(self.root)
        path = link / "sample/attention.py"
        self.begin(link, path=path)
        self.assertEqual({address: len(each) for address, each in self.client.diagnostics.items() if each}, {uri(path): 2})
        self.client.change(path, 2, {"text": self.text.replace(WITHOUT, "")})
        self.client.settle_exactly(path)
        self.assertEqual(self.codes(path), ["autocast-fp32-operator"])

    def test_a_file_behind_a_link(self):
        shutil.move(self.path, self.top / "elsewhere.py")
        self.path.symlink_to(self.top / "elsewhere.py")
        (self.root / "sample/loop").symlink_to(self.root)  # followed by no walk
        self.begin()
        self.assertEqual({address: len(each) for address, each in self.client.diagnostics.items() if each}, {uri(self.path): 2})
        self.client.change(self.path, 2, {"text": self.text.replace(WITHOUT, "")})
        self.client.settle_exactly(self.path)
        self.assertEqual(self.codes(), ["autocast-fp32-operator"])

    def test_one_folder_in_another(self):
        inner = project.write(self.root / "inner")
        path = inner / "sample/attention.py"
        self.begin(self.root, inner, path=path)
        self.assertEqual((self.codes(), self.codes(path)), (BOTH, BOTH))
        remove = lambda folder: self.client.notify("workspace/didChangeWorkspaceFolders",
                                                   {"event": {"added": [], "removed": [{"uri": uri(folder), "name": "x"}]}})
        remove(inner)
        self.client.settle_exactly(path)
        self.assertEqual((self.codes(), self.codes(path)), (BOTH, BOTH))
        remove(self.root)
        self.client.settle_exactly(path)
        self.assertEqual(self.codes(), [])
        self.assertEqual(self.client.stop(), 0)

    def test_lines_that_end_in_two_characters(self):
        self.text = self.text.replace("\n", "\r\n")
        self.path.write_bytes(self.text.encode())
        self.begin()
        promoted = next(each for each in self.client.shown(self.path) if each["code"] == BOTH[0])
        self.assertEqual(promoted["range"], {"start": {"line": 9, "character": 8}, "end": {"line": 9, "character": 24}})
        actions = self.client.call("textDocument/codeAction", {"textDocument": {"uri": uri(self.path)}, "range": promoted["range"], "context": {"diagnostics": []}})
        accept = next(each for each in actions if each["title"].startswith("Accept attention"))
        edit, = accept["edit"]["documentChanges"][0]["edits"]
        self.assertEqual(edit["range"]["start"], {"line": 9, "character": 24})  # before the line's end, not between its two
        self.client.change(self.path, 2, {"range": {"start": {"line": 9, "character": 0}, "end": {"line": 10, "character": 0}}, "text": ""})
        self.client.settle_exactly(self.path)
        self.assertEqual(self.codes(), ["autocast-fp32-operator"])

    def test_an_edit_into_half_a_character(self):
        self.text = "# \U0001f600\U0001f600\n" + self.text
        self.begin(capabilities={**FULL, "general": {"positionEncodings": ["utf-16"]}})
        self.client.change(self.path, 2, {"range": {"start": {"line": 0, "character": 3}, "end": {"line": 0, "character": 5}}, "text": "x"})
        self.client.settle_exactly(self.path)
        self.assertEqual(self.codes(), BOTH)
        self.assertEqual(self.client.stop(), 0)

    def test_an_editor_that_dies(self):
        self.begin()
        children = pathlib.Path(f"/proc/{self.client.process.pid}/task/{self.client.process.pid}/children").read_text().split()
        self.client.process.stdin.close()
        self.assertEqual(self.client.process.wait(20), 1)
        run = subprocess.run([sys.executable, "-c", DIES, pathlib.Path(__file__).parent, LINT, self.root], stdout=subprocess.PIPE, text=True)
        self.assertEqual(run.returncode, -signal.SIGKILL)
        left = [*children, run.stdout.strip()]
        end = time.monotonic() + 20
        while any(map(is_running, left)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual([each for each in left if is_running(each)], [])


if __name__ == "__main__":
    LINT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
