#!/usr/bin/env python3
"""Tests python_packages.py and contract_calls.py on two small packages: what they count, and that they can fail.

    check_python_packages.py DTYPE_LINT
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
LINT = sys.argv.pop(1)

FILES = {
    "good/good/__init__.py": "",
    "good/good/spellings.py": "from torch.nn.functional import scaled_dot_product_attention as attend\n",
    "good/good/model.py": """import torch
import torch.nn.functional as F
from torch import Tensor, nn

from . import spellings
from .spellings import attend


def scaled_dot_product_attention(q, k, v):
    return q


class Attention(nn.Module):
    def forward(self, q: Tensor, k: Tensor, v: Tensor):
        a = F.scaled_dot_product_attention(q, k, v)
        b = attend(query=q, key=k, value=v, attn_mask=None)
        c = spellings.attend(q, *[k, v])
        return a + b + c + scaled_dot_product_attention(q, k, v)


def interface(module, q: Tensor, k: Tensor, v: Tensor):
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    attention = ALL_ATTENTION_FUNCTIONS[module.config._attn_implementation]
    return attention(module, q, k, v)
""",
    "good/good/python2.py": "print 'x'\n",
    "bad/bad.py": """import torch.nn.functional as F
from torch import Tensor


def attend(q: Tensor, k: Tensor, v: Tensor):
    return F.scaled_dot_product_attention(F.normalize(q, dim=-1).float(), k.half(), v.half())
""",
}


class Scripts(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        for name, text in FILES.items():
            path = self.folder / "packages" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def run_packages(self, *arguments, tool=LINT):
        command = [sys.executable, HERE / "python_packages.py", "--tool", tool, "--packages", self.folder / "packages",
                   "--out", self.folder / "out", *arguments]
        return subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)

    def test_calls_are_counted_by_what_they_resolve_to(self):
        contracts = HERE.parents[1] / "rules" / "contracts"
        run = subprocess.run([sys.executable, HERE / "contract_calls.py", contracts, self.folder / "packages" / "good"],
                             capture_output=True, text=True, check=True)
        lines = [line.split(" ") for line in run.stdout.splitlines()]
        self.assertEqual([[line[0].rpartition(":")[0], line[2]] for line in lines],
                         [["good/model.py:15", "k,q,v"], ["good/model.py:16", "k,q,v"], ["good/model.py:17", "q"],
                          ["good/model.py:24", "k,q,v"]])

    def test_a_package_is_measured(self):
        run = self.run_packages("good")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        row = json.loads((self.folder / "out" / "good.row.json").read_text(encoding="utf-8"))
        self.assertEqual((row["status"], row["expected"], row["operands"], row["definite"]), (3, 4, 10, 0))
        self.assertEqual(row["unparsed_by_ast"], 1)
        self.assertEqual(row["refused_though_ast_reads"], [])
        self.assertGreaterEqual(row["reached"], 3)

    def test_a_definite_finding_is_listed(self):
        run = self.run_packages("bad")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r"bad\.py:6:\d+: attention-mixed-dtypes: ")
        self.assertIn("1 definite finding", run.stdout)

    def test_crashes_and_hangs_are_told(self):
        for name, text, word in (("crash", "kill -SEGV $$", "-11"), ("hang", "while :; do :; done", "hang"),
                                 ("odd", "exit 5", "5")):
            with self.subTest(name):
                tool = self.folder / name
                tool.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
                tool.chmod(0o755)
                run = self.run_packages("--seconds=1", "good", tool=tool)
                self.assertEqual(run.returncode, 1, run.stdout)
                self.assertIn(f"good: {word}", run.stderr)


if __name__ == "__main__":
    unittest.main()
