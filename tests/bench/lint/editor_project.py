#!/usr/bin/env python3
"""Writes a Python project of many files for bench_editor.py: packages of layers that import each other, and one long file.

usage: editor_project.py FOLDER [FILES [LINES of the long file]]"""
import pathlib
import sys

LAYER = '''

class {name}(nn.Module):
    def __init__(self, dim, heads, scale=None):
        super().__init__()
        self.heads = heads
        self.to_q = nn.Linear(dim, dim)
        self.to_k = nn.Linear(dim, dim)
        self.to_v = nn.Linear(dim, dim)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, dim)
        self.scale = scale

    def split(self, x):
        batch, length, dim = x.shape
        return x.view(batch, length, self.heads, dim // self.heads)

    def forward(self, x, cos, sin, mask=None):
        h = self.norm(x)
        q, k, v = self.split(self.to_q(h)), self.split(self.to_k(h)), self.split(self.to_v(h))
        q = rotate(q, cos, sin)
        k = rotate(k, cos, sin)
        if self.scale is not None:
            q = q * self.scale
        if mask is not None:
            out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        else:
            out = flash_attn_func(q, k, v, causal=True)
        return x + self.out(out.flatten(2))
'''
HEAD = '''import torch
import torch.nn.functional as F
from flash_attn import flash_attn_func
from torch import nn

from {package}.common.rotary import rotate
{imports}'''
ROTARY = '''import torch


def rotate_half(x):
    a, b = x.chunk(2, dim=-1)
    return torch.cat((-b, a), dim=-1)


def rotate(x, cos, sin):
    return x * cos.to(x.dtype) + rotate_half(x) * sin.to(x.dtype)
'''
MODEL = '''

class Model{number}(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.first = {first}(dim, heads)
        self.second = {second}(dim, heads)

    def forward(self, x, cos, sin):
        return self.second(self.first(x, cos, sin), cos, sin)
'''


def write(folder, files=500, lines=2000):
    root = pathlib.Path(folder)
    texts = {"pyproject.toml": "[project]\nname = 'zoo'\n", "zoo/__init__.py": "", "zoo/common/__init__.py": "",
             "zoo/common/rotary.py": ROTARY}
    number = 0
    while len(texts) < files:
        other = max(number - 7, 0)
        imports = f"from zoo.part{other // 20}.layer{other} import Layer{other}A\n" if number else ""
        first = f"Layer{other}A" if number else "Layer0B"
        text = HEAD.format(package="zoo", imports=imports) + LAYER.format(name=f"Layer{number}A") + LAYER.format(name=f"Layer{number}B")
        texts[f"zoo/part{number // 20}/layer{number}.py"] = text + MODEL.format(number=number, first=first, second=f"Layer{number}B")
        number += 1
    long = HEAD.format(package="zoo", imports="from zoo.part0.layer3 import Layer3A\n")
    count = 0
    while long.count("\n") < lines:
        long += LAYER.format(name=f"Long{count}")
        count += 1
    texts["zoo/long.py"] = long
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root / "zoo/long.py"


if __name__ == "__main__":
    print(write(sys.argv[1], *(int(each) for each in sys.argv[2:])))
