# run: decode(go, x)
# breaks: fp32-buffers, bf16, autocast
from dataclasses import dataclass

import torch
from torch import nn
from flash_attn import flash_attn_func


@dataclass
class CacheEntry:
    keys: torch.Tensor
    values: torch.Tensor

    @classmethod
    def empty(cls, batch: int, heads: int, dim: int, dtype: torch.dtype):
        shape = (batch, 0, heads, dim)
        return cls(keys=torch.empty(shape), values=torch.empty(shape))  #! bad
        return cls(keys=torch.empty(shape, dtype=dtype), values=torch.empty(shape, dtype=dtype))  #! ok

    def append(self, k: torch.Tensor, v: torch.Tensor):
        self.keys = torch.cat([self.keys, k], dim=1)  # expect: attention-implicit-promotion
        self.values = torch.cat([self.values, v], dim=1)  # expect: attention-implicit-promotion
        return self.keys, self.values


class Attention(nn.Module):
    def __init__(self, dim: int, heads: int):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)

    def forward(self, x: torch.Tensor, entry: CacheEntry):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        k, v = entry.append(k, v)
        return flash_attn_func(q, k, v)


def decode(go, x):
    inputs = x(2, 8, 64)
    return go(Attention(64, 4), inputs, CacheEntry.empty(2, 4, 16, inputs.dtype))
