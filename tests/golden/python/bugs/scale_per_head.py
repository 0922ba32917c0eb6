# run: go(ScaledAttention(64, 4), x(2, 8, 64))
# breaks: autocast
import math

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class ScaledAttention(nn.Module):
    def __init__(self, dim, num_heads):
        super().__init__()
        self.num_heads = num_heads
        self.qkv = nn.Linear(dim, dim * 3)
        self.scale = nn.Parameter(torch.full((1, 1, num_heads, 1), math.log(10.0)))

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.num_heads, c // self.num_heads).unbind(2)
        q = q * self.scale.clamp(max=4.6)  # expect: attention-implicit-promotion  #! bad
        q = q * self.scale.clamp(max=4.6).to(q.dtype)  #! ok
        return flash_attn_func(q, k, v)
