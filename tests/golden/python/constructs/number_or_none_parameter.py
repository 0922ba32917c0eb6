# run: go(Attention(64, 4), x(2, 8, 64), gain=2.0)
# breaks: fp32-buffers, bf16, autocast
from typing import Optional

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


def prepared(q, k, gain: Optional[float] = None, shift: torch.Tensor | float | None = None):
    if gain is not None:
        q, k = q * gain, k / gain
    return (q, k) if shift is None else (q + shift, k + shift)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.register_buffer("angles", torch.ones(dim // heads), persistent=False)

    def forward(self, x, gain: float | None = None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q, k = prepared(q, k, gain)
        k = k * self.angles.float()  # expect: attention-implicit-promotion  #! bad
        k = (k * self.angles.float()).to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
