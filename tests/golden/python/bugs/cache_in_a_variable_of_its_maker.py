# run: go(build(64, 16), x(4, 64))
# breaks: autocast, fp32-buffers
from typing import Optional
import torch
from torch import nn
from flash_attn import flash_attn_func


class Cache(nn.Module):
    def __init__(self, length: int, dim: int, dtype: torch.dtype = torch.float32):
        super().__init__()
        self.register_buffer("k", torch.zeros(length, dim, dtype=dtype), persistent=False)

    def update(self, k):
        return self.k[: k.shape[0]] + k  # expect: attention-implicit-promotion  #! bad
        return self.k[: k.shape[0]].to(k.dtype) + k  #! ok


class Attention(nn.Module):
    """What a function makes its object with may stand in a variable, and may be None."""

    def __init__(self, dim, cache: Optional[Cache] = None):
        super().__init__()
        self.q, self.cache = nn.Linear(dim, dim), cache

    def forward(self, x: torch.Tensor):
        q = self.q(x)
        k = q
        if self.cache is not None:
            k = self.cache.update(k)
        return flash_attn_func(q, k, q)


def build(dim: int, length: Optional[int] = None):
    cache = Cache(length, dim) if length is not None else None
    return Attention(dim, cache)
