# run: decode(go, x)
# breaks: fp32-buffers, bf16
# fixed: yes
import torch
import torch.nn as nn
import torch.nn.functional as F


class Cache:
    def __init__(self, batch, length, dim, dtype=torch.float32):
        self.k = torch.zeros(batch, length, dim, dtype=dtype)  # expect: attention-mixed-dtypes
        self.v = torch.zeros(batch, length, dim, dtype=dtype)  # expect: attention-mixed-dtypes


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(dim, dim), nn.Linear(dim, dim), nn.Linear(dim, dim)

    def forward(self, x, start, cache: Cache):
        q, k, v = self.q(x), self.k(x), self.v(x)
        cache.k[:, start : start + x.shape[1]] = k
        cache.v[:, start : start + x.shape[1]] = v
        return F.scaled_dot_product_attention(q, cache.k, cache.v)


def empty_cache(batch, length, dim, dtype):
    return Cache(batch, length, dim)  #! bad
    return Cache(batch, length, dim, dtype)  #! ok


def decode(go, x):
    inputs = x(2, 8, 64)
    return go(Attention(64), inputs, 0, empty_cache(2, 8, 64, inputs.dtype))
