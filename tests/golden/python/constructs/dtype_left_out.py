# run: go(Attention(64), x(2, 8, 64))
# breaks: autocast, fp32-buffers
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Projection(nn.Module):
    def __init__(self, dim, device=None, dtype=None):
        super().__init__()
        self.linear = nn.Linear(dim, 3 * dim, device=device, dtype=dtype)

    def forward(self, x):
        return self.linear(x)


class Attention(nn.Module):
    def __init__(self, dim, heads=4):
        super().__init__()
        self.heads, self.qkv = heads, Projection(dim)
        self.register_buffer("gain", torch.ones(dim // heads))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = q * self.gain  # expect: attention-implicit-promotion  #! bad
        q = q * self.gain.to(v.dtype)  #! ok
        return flash_attn_func(q, k, v)
