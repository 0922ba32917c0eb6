"""Tensors that are made in the default dtype, where another file of the program sets one.

    default_dtypes.py DTYPE_LINT
"""
import json
import unittest

from command_line import Case

MODEL = """import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, 3 * dim)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mask = torch.full((n, n), float("-inf"), device=x.device).triu(1)
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
"""
SCRIPT = """import sys

import torch
from model import Attention


def load(path):
    torch.set_default_dtype(DTYPE)
    model = Attention(64, 4)
    model.load_state_dict(torch.load(path))
    return model


def main():
    print(load(sys.argv[1])(torch.randn(1, 8, 64)))


if __name__ == "__main__":
    main()
"""
CONTEXT = """import contextlib

import torch
from model import Attention


@contextlib.contextmanager
def default_dtype(dtype):
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def build():
    with default_dtype(torch.bfloat16):
        return Attention(64, 4)
"""


class DefaultDtypes(Case):
    def found(self, **more):
        self.write(model__py=MODEL, **more)
        report = json.loads(self.lint("--format=json", ".").stdout)
        return [(each["rule"], each["location"]["file"], each["location"]["line"]) for each in report["findings"]]

    def test_what_a_script_sets_before_it_makes_its_model_holds_there(self):
        mask = [("attention-mask-dtype", "model.py", 14)]
        self.assertEqual(self.found(), mask)
        self.assertEqual(self.found(run__py=SCRIPT.replace("DTYPE", "torch.bfloat16")), [])
        self.assertEqual(self.found(run__py=SCRIPT.replace("DTYPE", "torch.float32")), mask)
        # A script of another model says nothing of this one.
        self.assertEqual(self.found(run__py=SCRIPT.replace("DTYPE", "torch.bfloat16").replace("from model", "from other")), mask)

    def test_what_a_context_sets_back_holds_within(self):
        self.assertEqual(self.found(build__py=CONTEXT), [("attention-mask-dtype", "model.py", 14)])


if __name__ == "__main__":
    unittest.main()
