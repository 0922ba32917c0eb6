# run: go(A(64, 4), x(2, 4, 8, 16), (x(8, 16), x(8, 16)))
# breaks: fp32-buffers, bf16
from __future__ import annotations

import torch
import torch.nn as nn
import torch.nn.functional as F


def turned(t, cos, sin):
    first, second = t.chunk(2, dim=-1)
    return t * cos + torch.cat((-second, first), dim=-1) * sin


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.register_buffer("scale", torch.ones(dim // heads), persistent=False)

    def forward(self, x: torch.Tensor, tables: tuple[torch.Tensor, torch.Tensor] | None = None):
        cos, sin = tables
        q, k = turned(x, cos, sin), turned(x, cos, sin)
        q = q * self.scale.float()  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale.to(q.dtype)  #! ok
        return F.scaled_dot_product_attention(q, k, k)
