# run: go(A(64, 4), x(2, 8, 64), Cache(2, 4, 16))
# breaks: fp32-buffers, bf16, autocast
from typing import Optional

import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Cache:
    def __init__(self, batch, heads, size):
        self.k = torch.zeros(batch, 4, heads, size)

    def extended(self, k):
        return torch.cat((self.k, k), dim=1)  # expect: attention-implicit-promotion  #! bad
        return torch.cat((self.k.to(k.dtype), k), dim=1)  #! ok


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x, cache: Optional[Cache] = None):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        if cache is not None:
            k = cache.extended(k)
        return flash_attn_func(q, k, v)
