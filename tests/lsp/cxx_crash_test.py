#!/usr/bin/env python3
"""A crash of Clang in one C++ file ends the answer for that file, never dtype-lint --lsp; seeded by Clang's own pragmas.

usage: cxx_crash_test.py DTYPE_LINT MINI_TORCH_H"""
import json
import pathlib
import sys
import tempfile
import unittest

import project
from client import Client, uri

LINT, TORCH = "", pathlib.Path()
GOOD = """#include "mini_torch.h"
std::vector<at::Tensor> mha_fwd(at::Tensor& q, const at::Tensor& k, const at::Tensor& v);
void attend(at::Tensor q, at::Tensor k, at::Tensor v) {
  q = q * torch::ones({1});
  mha_fwd(q, k, v);
}
"""
# A trap, a crash within the parser, an error that LLVM ends a process for.
CRASHES = [f"#pragma clang __debug {each}\n" for each in ("crash", "parser_crash", "llvm_fatal_error")]


class CxxCrash(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = project.write(self.folder.name)
        self.python = self.root / "sample/attention.py"
        self.good, self.bad = self.root / "good.cpp", self.root / "bad.cpp"
        for each in (self.good, self.bad):
            each.write_text(GOOD)
        (self.root / "build").mkdir()
        (self.root / "build/compile_commands.json").write_text(json.dumps([
            {"directory": str(self.root), "file": str(each), "command": f"c++ -std=c++17 -I{TORCH.parent} -c {each}"}
            for each in (self.bad, self.good)]))
        self.client = Client(LINT, "--no-cache")

    def tearDown(self):
        self.client.__exit__()
        self.folder.cleanup()

    def codes(self, path):
        return sorted(each["code"] for each in self.client.shown(path))

    PROMOTED = ["attention-implicit-promotion"]
    BOTH = ["attention-implicit-promotion", "autocast-fp32-operator"]

    def begin(self):
        self.client.start(self.root, options={"exactAfter": 0})
        for path, language in ((self.python, "python"), (self.good, "cpp"), (self.bad, "cpp")):
            self.client.open(path, path.read_text(), language=language)
        self.client.settle_exactly(self.good)
        self.assertEqual([self.codes(each) for each in (self.python, self.good, self.bad)], [self.BOTH, self.PROMOTED, self.PROMOTED])

    # As the editor sees it; whether Clang came back or its process ended is the server's.
    def wait_for_crash(self):
        self.client.wait(lambda: self.codes(self.bad) == ["crash"], 30)
        self.assertIn("left out until it changes", self.client.shown(self.bad)[0]["message"])
        self.assertIsNone(self.client.process.poll())

    def test_while_typing(self):
        self.begin()
        version = 1
        for crash in CRASHES:
            with self.subTest(crash):
                version += 2
                self.client.change(self.bad, version, {"text": GOOD.replace("void attend", crash + "void attend")})
                self.wait_for_crash()
                # The others' answers go on, in both languages.
                self.client.change(self.good, version, {"text": GOOD.replace("  q = q * torch::ones({1});\n", "")})
                self.client.settle_exactly(self.good)
                self.assertEqual([self.codes(each) for each in (self.python, self.good, self.bad)], [self.BOTH, [], ["crash"]])
                self.client.change(self.good, version + 1, {"text": GOOD})
                # It is looked at again once it changes.
                self.client.change(self.bad, version + 1, {"text": GOOD})
                self.client.settle_exactly(self.good)
                self.assertEqual([self.codes(each) for each in (self.good, self.bad)], [self.PROMOTED, self.PROMOTED])
        self.assertEqual(self.client.stop(), 0)

    def test_in_a_header(self):
        self.begin()
        header = self.root / "own.h"
        header.write_text("#pragma clang __debug parser_crash\n")
        self.client.change(self.bad, 2, {"text": '#include "own.h"\n' + GOOD})
        self.wait_for_crash()
        self.assertEqual([self.codes(each) for each in (self.python, self.good)], [self.BOTH, self.PROMOTED])
        header.write_text("\n")
        self.client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri(header), "type": 2}]})
        self.client.change(self.bad, 3, {"text": '#include "own.h"\n' + GOOD + "\n"})
        self.client.settle_exactly(self.good)
        self.assertEqual(self.codes(self.bad), self.PROMOTED)
        self.assertEqual(self.client.stop(), 0)


if __name__ == "__main__":
    LINT, TORCH = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
