#!/usr/bin/env python3
"""What dtype-lint --lsp shows and offers before its last word: first answers, fixes that were found before, results that come late.

usage: first_answers_test.py DTYPE_LINT"""
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

import project
from answers_test import ALL, applied
from client import Client, uri

LINT = ""


class FirstAnswers(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = project.write(pathlib.Path(self.folder.name) / "one")
        self.path = self.root / "sample/attention.py"
        self.text = self.path.read_text()
        self.client = Client(LINT, "--no-cache")

    def tearDown(self):
        self.client.__exit__()
        self.folder.cleanup()

    def begin(self, **options):
        self.client.start(self.root, **options)
        self.client.open(self.path, self.text)
        self.client.settle_exactly(self.path)

    def codes(self, path=None):
        return sorted(each["code"] for each in self.client.shown(path or self.path))

    # What kept roots ran is not known once functions are numbered anew: then those that may come to the next change are evaluated.
    def test_first_answers_where_functions_come_and_go(self):
        tables, layers = self.root / "sample/tables.py", self.root / "sample/layers.py"
        texts = {path: path.read_text() for path in (tables, layers)}
        self.begin(options={"exactAfter": 600_000})
        for path, text in texts.items():
            self.client.open(path, text)
        self.client.settle(tables)
        both = ["attention-implicit-promotion", "autocast-fp32-operator"]
        for version in (2, 4):
            self.client.change(layers, version, {"text": texts[layers] + "\n\ndef new(q, k, v):\n    return attend(q, k, v)\n"})
            self.client.settle(tables)
            self.assertEqual((self.codes(), self.client.exact), (both, False))
            self.client.change(tables, version, {"text": texts[tables].replace("torch.ones(1)", "1.0")})
            self.client.settle(tables)
            self.assertEqual((self.codes(), self.client.exact), (both[1:], False))
            self.client.change(layers, version + 1, {"text": texts[layers]})
            self.client.settle(tables)
            self.assertEqual((self.codes(), self.client.exact), (both[1:], False))
            self.client.change(tables, version + 1, {"text": texts[tables]})
            self.client.settle(tables)
            self.assertEqual((self.codes(), self.client.exact), (both, False))

    # A fix that was found before another file came to rest on what it changes.
    def test_fix_all_is_tried_on_the_text(self):
        self.text = """import torch
from flash_attn import flash_attn_func


def scaled(x):
    return x * torch.ones(1)


def attend(q, k, v):
    k = scaled(k)
    return flash_attn_func(q, k, v)
"""
        self.path.write_text(self.text)
        layers = self.root / "sample/layers.py"
        before = "import torch.nn.functional as F\n\nfrom sample.attention import scaled\n"
        layers.write_text(before)
        self.begin(options={"exactAfter": 600_000})
        self.client.open(layers, before)
        self.client.settle(layers)
        every = lambda: [applied(self.text, each["edit"]["documentChanges"][0]["edits"]) for each in self.client.call("textDocument/codeAction", {
            "textDocument": {"uri": uri(self.path)}, "range": ALL, "context": {"diagnostics": [], "only": ["source.fixAll"]}})]
        cast_back = self.text.replace("x * torch.ones(1)", "(x * torch.ones(1)).to(x.dtype)")
        self.assertEqual((self.codes(), every()), (["attention-implicit-promotion"], [cast_back]))
        # All three are wide here, until that fix makes one of them half.
        self.client.change(layers, 2, {"text": before + "\n\ndef wide(q, k, v):\n    k = scaled(k)\n"
                                       "    return F.scaled_dot_product_attention(q.float(), k, v.float())\n"})
        self.client.settle(layers)
        self.assertEqual((self.codes(), self.codes(layers), self.client.exact),
                         (["attention-implicit-promotion", "silent-attention-fallback"], [], False))
        self.assertEqual(every(), [])
        # Searched for anew, there is another.
        self.client.notify("workspace/didChangeConfiguration", {"settings": {"dtypeLint": {"exactAfter": 0}}})
        self.client.settle_exactly(layers)
        self.assertEqual(every(), [self.text.replace("q, k, v)\n", "q, k.to(q.dtype), v)\n")])

    # The server sleeps while the analysis has its last word on a text, and the client sends the next one and asks.
    def test_a_result_that_comes_too_late(self):
        client, text = self.client, self.text
        self.begin(options={"exactAfter": 1500})
        client.change(self.path, 2, {"text": text.replace("k = k * make_scale()", "pass")})
        client.settle(self.path)
        self.assertFalse(client.exact)
        os.kill(client.process.pid, signal.SIGSTOP)
        answers = client.from_analysis()
        end = time.monotonic() + 60
        while client.waits_in(answers) == 0 and time.monotonic() < end:
            time.sleep(0.01)
        self.assertGreater(client.waits_in(answers), 0)
        client.change(self.path, 3, {"text": text})
        number = client.ask("textDocument/hover", {"textDocument": {"uri": uri(self.path)}, "position": {"line": 0, "character": 0}})
        os.kill(client.process.pid, signal.SIGCONT)
        client.answer(number)
        client.wait(lambda: client.exact)
        shown = [[each["code"] for each in notice["params"]["diagnostics"]] for notice in list(client.notices.queue)
                 if notice["method"] == "textDocument/publishDiagnostics" and notice["params"].get("version") == 3]
        self.assertEqual(shown, [["autocast-fp32-operator", "attention-implicit-promotion"]])


if __name__ == "__main__":
    LINT = sys.argv.pop(1)
    unittest.main(verbosity=2)
