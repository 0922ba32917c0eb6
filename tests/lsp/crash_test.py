#!/usr/bin/env python3
"""A crash of the analysis in one file ends the answer for that file, never dtype-lint --lsp; seeded by crash_on_open.c.

usage: crash_test.py DTYPE_LINT CRASH_ON_OPEN.so"""
import pathlib
import sys
import tempfile
import unittest

import project
from client import Client, uri

LINT = PRELOAD = ""


class Crash(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = project.write(self.folder.name)
        self.good = self.root / "sample/attention.py"
        self.bad = self.root / "sample/other.py"
        self.bad.write_text(self.good.read_text())
        self.armed = self.bad.with_name(self.bad.name + ".armed")
        self.client = Client(LINT, "--no-cache", env={"LD_PRELOAD": PRELOAD, "CRASH_ON_OPEN": str(self.bad)})

    def tearDown(self):
        self.client.__exit__()
        self.folder.cleanup()

    def codes(self, path):
        return sorted(each["code"] for each in self.client.shown(path))

    def told(self, words):
        messages = [each["params"]["message"] for each in list(self.client.notices.queue) if each["method"] == "window/showMessage"]
        return any(words in each for each in messages)

    def saved(self):
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(self.bad), "type": 2}]})

    BOTH = ["attention-implicit-promotion", "autocast-fp32-operator"]

    def test_one_file(self):
        self.armed.touch()
        self.client.start(self.root)
        self.client.open(self.good, self.good.read_text())
        self.client.wait(lambda: self.told("left out until it changes"))
        self.client.wait(lambda: self.codes(self.good) == self.BOTH)
        self.client.wait(lambda: self.codes(self.bad) == ["crash"])
        self.assertEqual(self.client.errors.count(b"the analysis ended: signal 11 at " + str(self.bad).encode()), 1)
        # The others' answers go on.
        self.client.change(self.good, 2, {"text": self.good.read_text().replace("    k = k * make_scale()\n", "")})
        self.client.settle(self.good)
        self.assertEqual(self.codes(self.good), ["autocast-fp32-operator"])
        self.assertEqual(self.codes(self.bad), ["crash"])
        # It is tried again once it changes, and left out again.
        self.saved()
        self.client.wait(lambda: self.client.errors.count(b"the analysis ended") == 2)
        self.client.wait(lambda: self.codes(self.bad) == ["crash"])
        self.armed.unlink()
        self.saved()
        self.client.wait(lambda: self.codes(self.bad) == self.BOTH)
        self.assertEqual(self.client.stop(), 0)

    def test_imported_file(self):
        # Another file's import parses it first.
        self.bad.write_text("import torch\n\n\ndef make_wide():\n    return torch.ones(1)\n")
        first = self.root / "sample/a_first.py"
        first.write_text(self.good.read_text().replace("sample.tables import make_scale", "sample.other import make_wide as make_scale"))
        self.client.start(self.root)
        self.client.open(self.good, self.good.read_text())
        self.client.settle(self.good)
        self.assertEqual(self.codes(first), self.BOTH)
        self.armed.touch()
        self.bad.write_text(self.bad.read_text() + "\n")
        first.write_text(first.read_text() + "\n")
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(first), "type": 2}, {"uri": uri(self.bad), "type": 2}]})
        self.client.wait(lambda: self.codes(self.bad) == ["crash"])
        self.client.settle_exactly(self.good)
        self.assertEqual((self.codes(self.good), self.codes(first)), (self.BOTH, ["autocast-fp32-operator"]))
        self.assertEqual(self.client.errors.count(b"the analysis ended"), 1)
        self.assertEqual(self.client.stop(), 0)

    def test_while_it_answers(self):
        self.client.start(self.root)
        self.client.open(self.good, self.good.read_text())
        self.client.settle(self.good)
        self.assertEqual(self.codes(self.bad), self.BOTH)
        self.armed.touch()
        self.bad.write_text(self.good.read_text() + "\n")
        self.saved()
        # What is asked while it crashes has an answer: a result, or that there is none.
        answer = self.client.settle(self.good)
        self.assertTrue("result" in answer or answer["error"]["code"] == -32603, answer)
        self.client.wait(lambda: self.codes(self.bad) == ["crash"])
        hover = self.client.call("textDocument/hover", {"textDocument": {"uri": uri(self.good)}, "position": {"line": 10, "character": 27}})
        self.assertIn("float32", hover["contents"]["value"])
        self.assertEqual(self.client.stop(), 0)


if __name__ == "__main__":
    LINT, PRELOAD = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main(verbosity=2)
