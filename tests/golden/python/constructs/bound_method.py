# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: fp32-buffers, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """Which of its methods scales the queries is decided where the module is made."""

    def __init__(self, dim, heads, kind="gain"):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.register_buffer("gain", torch.ones(dim // heads), persistent=False)
        self.scale = self.by_gain if kind == "gain" else self.by_number

    def by_gain(self, q):
        return q * self.gain  # expect: attention-implicit-promotion  #! bad
        return q * self.gain.to(q.dtype)  #! ok

    def by_number(self, q):
        return q * 0.5

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        scale = self.scale
        return flash_attn_func(scale(q), k, v)
