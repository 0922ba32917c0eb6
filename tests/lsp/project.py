"""A small project whose findings cross files, for the tests of the language server."""
import pathlib

FILES = {
    "pyproject.toml": "[project]\nname = 'sample'\n",
    "sample/__init__.py": "",
    "sample/tables.py": """import torch


def make_scale():
    return torch.ones(1)


def rotate(x, cos):
    return x * cos
""",
    "sample/attention.py": """import torch
import torch.nn.functional as F
from flash_attn import flash_attn_func

from sample.tables import make_scale


def attend(q, k, v):
    q = F.normalize(q, dim=-1)
    k = k * make_scale()
    return flash_attn_func(q, k, v, causal=True)


def fine(q, k, v):
    return flash_attn_func(q, k, v)
""",
    "sample/layers.py": """import torch
from torch import nn

from sample.attention import attend


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.to_q = nn.Linear(dim, dim)

    def forward(self, x):
        q = self.to_q(x)
        return attend(q, x, x)
""",
}


def write(folder):
    for name, text in FILES.items():
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return pathlib.Path(folder)
