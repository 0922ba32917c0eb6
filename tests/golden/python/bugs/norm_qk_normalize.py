# run: go(CosineAttention(64, 4), x(2, 8, 64))
# breaks: autocast
"""Cosine attention: queries and keys of length one, a learned temperature per head."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from flash_attn import flash_attn_func


class CosineAttention(nn.Module):
    def __init__(self, dim: int, num_heads: int):
        super().__init__()
        self.num_heads, self.head_dim = num_heads, dim // num_heads
        self.qkv = nn.Linear(dim, 3 * dim, bias=False)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x):
        B, L, C = x.shape
        q, k, v = self.qkv(x).view(B, L, 3, self.num_heads, self.head_dim).unbind(dim=2)
        q = F.normalize(q, dim=-1)  # expect: autocast-fp32-operator  #! bad
        k = F.normalize(k, dim=-1)  # expect: autocast-fp32-operator  #! bad
        q = F.normalize(q, dim=-1).to(v.dtype)  #! ok
        k = F.normalize(k, dim=-1).to(v.dtype)  #! ok
        out = flash_attn_func(q, k, v, causal=True)
        return self.proj(out.reshape(B, L, C))
