# run: go(Attention(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers
# fixed: yes
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Attention(nn.Module):
    """A helper gives float32 back, and its caller takes a logarithm of that, too: the call alone wants it narrow."""

    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, 3 * dim)
        self.register_buffer("scale", torch.full((heads, 1), 0.5))

    def scaled(self, q):
        return q * self.scale  # expect: attention-implicit-promotion

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = self.scaled(q)
        spread = q.abs().log().mean()
        return flash_attn_func(q, k, v) + spread.to(k.dtype)  #! bad
        return flash_attn_func(q.to(k.dtype), k, v) + spread.to(k.dtype)  #! ok
