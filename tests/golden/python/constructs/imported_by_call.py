# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import torch
import torch.nn as nn

if TYPE_CHECKING:
    from jaxtyping import Float

flash = importlib.import_module("flash_attn")


def attend(q: Float[torch.Tensor, "b n h d"], k: Float[torch.Tensor, "b n h d"], v: Float[torch.Tensor, "b n h d"]):
    return flash.flash_attn_func(q, k, v)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)
        self.q_norm = nn.LayerNorm(dim // heads)

    def forward(self, x: Float[torch.Tensor, "b n d"]):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.q_norm(q)  # expect: autocast-fp32-operator  #! bad
        q = self.q_norm(q).to(v.dtype)  #! ok
        return attend(q, k, v)
