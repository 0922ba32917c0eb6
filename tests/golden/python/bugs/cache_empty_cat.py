# run: decode(go, x)
# breaks: fp32-buffers, bf16, autocast
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Cache:
    def __init__(self, batch, heads, head_dim, dtype):
        self.keys = torch.empty((batch, 0, heads, head_dim))  #! bad
        self.values = torch.empty((batch, 0, heads, head_dim))  #! bad
        self.keys = torch.empty((batch, 0, heads, head_dim), dtype=dtype)  #! ok
        self.values = torch.empty((batch, 0, heads, head_dim), dtype=dtype)  #! ok

    def append(self, k, v):
        self.keys = torch.cat([self.keys, k], dim=1)  # expect: attention-implicit-promotion
        self.values = torch.cat([self.values, v], dim=1)  # expect: attention-implicit-promotion
        return self.keys, self.values


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, dim * 3)

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = self.qkv(x).view(b, n, 3, self.heads, -1).unbind(2)
        cache = Cache(b, self.heads, d // self.heads, q.dtype)
        k, v = cache.append(k, v)
        return flash_attn_func(q, k, v)


def decode(go, x):
    return go(Attention(64, 4), x(2, 1, 64))
