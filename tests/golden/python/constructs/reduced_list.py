# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers
import functools

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.register_buffer("gain", torch.ones(dim // heads), persistent=False)
        self.register_buffer("decay", torch.ones(dim // heads), persistent=False)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        q = functools.reduce(torch.mul, (q, self.gain, self.decay))  # expect: attention-implicit-promotion  #! bad
        q = functools.reduce(torch.mul, (q, self.gain, self.decay)).to(k.dtype)  #! ok
        return flash_attn_func(q, k, v)
