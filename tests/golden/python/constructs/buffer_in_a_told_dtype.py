# run: go(A(64, 4), x(2, 8, 64))
# breaks: autocast, fp32-buffers, bf16
import torch
import torch.nn as nn
from flash_attn import flash_attn_func


class Cache(nn.Module):
    def __init__(self, like, dtype: torch.dtype = torch.bfloat16):
        super().__init__()
        k = torch.zeros(like.shape, device=like.device)  # expect: attention-mixed-dtypes  #! bad
        k = torch.zeros(like.shape, device=like.device, dtype=dtype)  #! ok
        self.register_buffer("k", k, persistent=False)


class A(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads, self.qkv = heads, nn.Linear(dim, dim * 3)

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).unbind(2)
        cache = Cache(k, k.dtype)
        cache.k[:, :8] = k
        return attend_to(q, cache, v)


def attend_to(q, cache: Cache, v):
    return flash_attn_func(q, cache.k, v)
